#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "model/run_file.hpp"
#include "report/compare.hpp"
#include "report/report.hpp"
#include "tests/report/sample_runs.hpp"

/// render_run OUT [RUN_DIR ...]: the reports of the sample runs, and of these recorded ones, for the tests in
/// a browser.
int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: render_run OUT [RUN_DIR ...]\n");
    return 2;
  }
  using namespace mprof;
  const std::filesystem::path out = argv[1];
  std::map<std::string, Run> runs{{"healthy", samples::healthy()}, {"troubled", samples::troubled()},
                                  {"hostile", samples::hostile()}, {"gpu", samples::gpu()},
                                  {"empty", samples::empty_run()}, {"large", samples::large(18)}};
  std::map<std::string, std::filesystem::path> traces;
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path directory = argv[i];
    runs[directory.filename().string()] = read_run(directory);
    traces[directory.filename().string()] = directory / "trace.sqlite";
  }
  const ReportOptions both{{"md", "html"}, {}, {}};
  for (const auto& [name, run] : runs) {
    ReportOptions options = both;
    options.out = out / name;
    options.trace = traces[name];
    if (name == "gpu") options.trace = samples::write_traces(samples::traces_of(run, 2), options.out);
    if (name == "hostile") {
      const std::string attack = "void <img src=x onerror=alert(1)>`|" + std::string(600, 'k');
      options.trace = samples::write_traces(samples::traces_of(run, 2, attack), options.out);
    }
    write_report(run, options);
  }
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  for (const char* format : {"text", "md", "html", "json"}) {
    write_file(out / ("compare." + std::string(format)), render_comparison(comparison, format, {80, {}}));
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "render_run: %s\n", error.what());
  return 1;
}
