#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/report.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"

namespace {

/// Each outcome of compute-sanitizer; its report is an attack with a kernel name that never ends.
mprof::SanitizerRecord spoiled_record(const mprof::Run& run) {
  mprof::SanitizerRecord check = mprof::samples::clean_record(run);
  mprof::samples::spoil(check, "Invalid __global__ write of size 4 bytes at <img src=x onerror=alert(1)>`|" +
                                   std::string(600, 'k') + "+0x120 by thread (0,0,0) in block (0,0,0)");
  return check;
}

/// A trace and a record of compute-sanitizer beside the run, with a kernel of this name.
void add_evidence(const mprof::Run& run, const std::filesystem::path& directory, const std::string& kernel) {
  mprof::samples::write_traces(mprof::samples::traces_of(run, 2, kernel), directory);
  mprof::write_sanitizer_record(spoiled_record(run), mprof::sanitizer_file(directory));
}

void add_hostile_notes(const std::filesystem::path& directory) {
  const std::string attack =
      "<script>document.title='owned'</script>\n\n[x](javascript:owned) <img src=x onerror=y> `|` " +
      std::string(2000, 'n') + "\n\n| a |\n|---|\n| <b onclick=x>b</b> |\n";
  for (const char* name : {"introduction", "conclusion", "<img src=x>"})
    mprof::write_file(directory / "notes" / (std::string(name) + ".md"), attack);
}

}  // namespace

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
                                  {"empty", samples::empty_run()}, {"large", samples::large(18)},
                                  {"swept", samples::swept()},     {"two_families", samples::two_families()}};
  std::map<std::string, std::filesystem::path> directories;
  for (int i = 2; i < argc; ++i) {
    const std::filesystem::path directory = argv[i];
    runs[directory.filename().string()] = read_run(directory);
    directories[directory.filename().string()] = directory;
  }
  for (const auto& [name, run] : runs) {
    ReportOptions options{{"md", "html"}, out / name, {}, directories[name]};
    if (name == "gpu") add_evidence(run, options.out, "scale");
    if (name == "hostile") {
      add_evidence(run, options.out, "void <img src=x onerror=alert(1)>`|" + std::string(600, 'k'));
      add_hostile_notes(options.out);
    }
    if (name == "gpu" || name == "hostile") options.directory = options.out;
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
