// SPDX-License-Identifier: MIT
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "model/run_file.hpp"
#include "model/sanitizer_file.hpp"
#include "model/trace/gpu_samples.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/tallies.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/fleet_page.hpp"
#include "report/page/history_page.hpp"
#include "report/page/ranks_page.hpp"
#include "report/page/report.hpp"
#include "system/files.hpp"
#include "tests/report/fabricated_world.hpp"
#include "tests/report/history_runs.hpp"
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

/// Each metric of the GPU, 20 us apart, with a gap of 2 ms in them.
mprof::trace::GpuSamples gpu_samples(std::uint32_t device, const mprof::trace::Interval& window) {
  constexpr std::int64_t interval = 20'000, gap = 2'000'000;
  mprof::trace::GpuSamples samples;
  samples.device = device;
  for (const mprof::trace::GpuMetricInfo& metric : mprof::trace::gpu_metrics()) {
    if (metric.id != mprof::trace::GpuMetric::dram)  // it stands for reads and writes
      samples.curves.push_back({.name = std::string(metric.name), .values = {}});
  }
  const std::int64_t late = window.start + window.length() * 9 / 10;
  for (std::int64_t end = window.start + interval; end <= window.end; end += interval) {
    if (end > late && end < late + gap) continue;
    samples.times.push_back({end, end});
    for (std::size_t i = 0; i < samples.curves.size(); ++i) {
      const float value = static_cast<float>((end / interval * static_cast<std::int64_t>(i + 3)) % 100);
      const bool is_clock = mprof::trace::gpu_metrics()[i].id == mprof::trace::GpuMetric::clock;
      samples.curves[i].values.push_back(is_clock ? 1980.F : value);
    }
  }
  mprof::trace::find_beginnings(samples);
  return samples;
}

/// A copy of the recorded program, of whose GPU and kernels' lines there are samples too. Returns its place.
std::filesystem::path add_samples(mprof::Run& run, const std::filesystem::path& recorded,
                                  const std::filesystem::path& directory) {
  mprof::trace::Trace trace = mprof::trace::read_trace(recorded / "trace.sqlite");
  trace.gpu_samples = {gpu_samples(trace.gpus.at(0).id, trace.cases.at(0).window)};
  mprof::trace::add_sample_tallies(trace);
  mprof::samples::write_traces({trace}, directory);
  const auto line = [](const char* file, std::uint32_t number, std::uint64_t samples,
                       std::map<std::string, std::uint64_t> stalls) {
    return mprof::SourceLine{.op = {},
                             .kernel = "relax(float const*, float*, int)",
                             .file = file,
                             .line = number,
                             .samples = samples,
                             .stalls = std::move(stalls)};
  };
  run.cases.at(0).passes.push_back(
      {.pass = mprof::Pass::source,
       .status = mprof::Status::ok,
       .source_lines = {line("heat.cu", 24, 700, {{"long_scoreboard", 500}, {"selected", 200}}),
                        line("<img src=x onerror=alert(1)>.cu", 25, 200, {{"wait", 150}, {"selected", 50}}),
                        line("", 0, 100, {{"wait", 100}})}});
  return directory;
}

void add_hostile_notes(const std::filesystem::path& directory) {
  const std::string attack =
      "<script>document.title='owned'</script>\n\n[x](javascript:owned) <img src=x onerror=y> `|` " +
      std::string(2000, 'n') + "\n\n| a |\n|---|\n| <b onclick=x>b</b> |\n";
  for (const char* name : {"introduction", "conclusion", "<img src=x>"})
    mprof::write_file(directory / "notes" / (std::string(name) + ".md"), attack);
}

/// Sixty GPUs: one is slow, one has other bits, and one failed.
std::vector<mprof::FleetMember> sample_members() {
  std::vector<mprof::FleetMember> members;
  for (std::size_t g = 0; g < 60; ++g) {
    mprof::FleetMember member{.name = fmt::format("fleet/node{}", g),
                              .gpu = fmt::format("GPU-{}", g),
                              .model = "Fake <GPU>",
                              .started = "2025-03-01T12:34:56Z"};
    const double nature = mprof::samples::noisy(0.02, g);
    for (std::size_t c = 0; c < 45; ++c) {
      const std::string time = fmt::format("fake/case{}@1000 op", c);
      const double seconds = 1e-3 * nature * (g == 7 ? 1.5 : 1);
      member.times[time] = {seconds, seconds * 1.001, seconds * 0.999};
      member.outputs[time] = g == 9 && c == 3 ? "b" : "a";
    }
    if (g == 11) member.failures = {"fake/case1@1000: wrong"};
    member.facts = {{"SM clock", g == 7 ? 1.3e9 : 1.98e9}, {"power", 500 * nature}, {"PCIe link width", 16}};
    members.push_back(std::move(member));
  }
  return members;
}

/// A training of 24 ranks, one of which is late from the tenth step on.
std::string ranks_html() {
  mprof::FabricatedWorld fabricated{.ranks = 24, .steps = 40, .jitter = 0.01};
  fabricated.nature = [](std::size_t rank) {
    return mprof::RankNature{.slower = rank == 5 ? 1.15 : 1.0, .since = 10};
  };
  std::vector<mprof::RankSummary> ranks;
  for (const mprof::trace::Trace& trace : mprof::fabricate(fabricated)) {
    ranks.push_back(mprof::summary_of_rank(trace, 0, trace.cases.front().process));
    ranks.back().name = ranks.back().clock = fmt::format("rank{}.sqlite", ranks.size() - 1);
  }
  mprof::sort_ranks(ranks);
  return mprof::render_ranks(mprof::world_of(ranks));
}

/// `members` must outlive it.
mprof::Fleet sample_fleet(const std::vector<mprof::FleetMember>& members) {
  mprof::Fleet fleet = mprof::judge_fleet(members);
  const auto slower = [](std::size_t run) { return run < 4 ? 1e-3 : 1.2e-3; };
  fleet.histories = {mprof::judge_history(members[7], mprof::samples::daily(6, slower, slower))};
  return fleet;
}

/// Thirty runs with a step in one op, a change of the newest run in the other, and a run without the case.
mprof::History sample_history() {
  using mprof::samples::noisy;
  const auto first = [](std::size_t i) { return (i < 12 ? 1e-3 : 1.03e-3) * noisy(0.002, i); };
  const auto second = [](std::size_t i) { return (i < 29 ? 2e-3 : 1.8e-3) * noisy(0.002, 100 + i); };
  std::vector<mprof::RecordedRun> runs = mprof::samples::daily(30, first, second);
  runs[20].cases.clear();
  return mprof::history_of(std::move(runs), {});
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
    const std::string name = directory.filename().string();
    runs[name] = read_run(directory);
    directories[name] = directory;
    if (name == "solver") directories[name] = add_samples(runs[name], directory, out / "solver");
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
  Run before = samples::healthy(), after = samples::later();
  samples::add_kernel(before.cases[0], "layer1", "scale", 40, 80);
  samples::add_kernel(after.cases[0], "layer1", "scale", 62, 71);
  const Comparison comparison = compare(before, after, {});
  for (const char* format : {"text", "md", "html", "json"}) {
    write_file(out / ("compare." + std::string(format)), render_comparison(comparison, format, {80, {}}));
  }
  const std::vector<FleetMember> members = sample_members();
  write_file(out / "fleet.html", render_fleet(sample_fleet(members)));
  write_file(out / "ranks.html", ranks_html());
  const History history = sample_history();
  for (const char* format : {"text", "md", "html", "json"})
    write_history(history, format, {.width = 80, .templates = {}}, out / ("history." + std::string(format)));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "render_run: %s\n", error.what());
  return 1;
}
