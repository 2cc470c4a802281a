// SPDX-License-Identifier: MIT
// Programs as users have them, on a real GPU: what the passes see of them, and that they end as they do
// alone.
#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/kernel_name.hpp"
#include "model/run_file.hpp"
#include "model/statistics/median.hpp"
#include "model/trace/reader.hpp"
#include "tests/gpu/ncu.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* instructions = "smsp__inst_executed.sum";
constexpr const char* blocks = "launch__grid_size";

/// A program's run, with its passes.
class ProgramRun {
 public:
  ProgramRun(const std::string& options, const std::string& command) {
    const std::string line = fmt::format("{} run --rounds 1 --quiet --out {} {} -- {} >&2",
                                         test::program("mprof"), directory().string(), options, command);
    status_ = std::system(line.c_str());
    run_ = read_run(directory());
  }

  [[nodiscard]] fs::path directory() const { return temporary_.path() / "run"; }
  [[nodiscard]] bool succeeded() const { return status_ == 0; }
  [[nodiscard]] const PassResult& pass(Pass which) const {
    static const PassResult none;
    for (const PassResult& pass : run_.cases.at(0).passes) {
      if (pass.pass == which) return pass;
    }
    ADD_FAILURE() << "no such pass";
    return none;
  }
  [[nodiscard]] ProgramOutcome outcome(Pass which) const {
    return pass(which).outcome.value_or(ProgramOutcome{});
  }
  [[nodiscard]] std::string notes(Pass which) const {
    std::string all;
    for (const std::string& note : outcome(which).notes) all += note + '\n';
    return all;
  }
  [[nodiscard]] trace::Trace trace() const { return trace::read_trace(directory() / trace::file_name); }

  /// How many launches of a kernel were traced.
  [[nodiscard]] long traced(const std::string& kernel) const {
    const trace::Trace all = trace();
    return std::ranges::count_if(all.kernels,
                                 [&](const trace::Kernel& k) { return all.names[k.short_name] == kernel; });
  }

  /// What a metric of a kernel was counted to be; why not, where it was not.
  [[nodiscard]] std::pair<std::optional<double>, std::string> counted(const std::string& kernel,
                                                                      const std::string& metric) const {
    for (const Measurement& row : pass(Pass::counters).measurements) {
      if (row.metric != metric || row.kernel.text().find(kernel) == std::string::npos) continue;
      if (row.samples.empty()) return {std::nullopt, row.absent};
      return {row.samples.front(), ""};
    }
    return {std::nullopt, "there is no row"};
  }

 private:
  test::TemporaryDirectory temporary_;
  int status_ = 0;
  mprof::Run run_;
};

std::string program_with(const std::string& how) {
  return test::program("mprof_gpu_program") + " " + how;
}

/// Each of the 32768 warps of `scale` executes the same instructions, at least a multiply-add a step.
void expect_scale_was_counted(const ProgramRun& run) {
  const auto [value, absent] = run.counted("scale", instructions);
  ASSERT_TRUE(value) << absent;
  EXPECT_GE(*value, 32768 * 16);
  EXPECT_EQ(std::fmod(*value, 32768), 0);
}

/// It was compiled with -lineinfo.
TEST(Programs, HasTheHottestLinesOfItsKernels) {
  const ProgramRun run("--passes timing,source", program_with("layers"));
  EXPECT_TRUE(run.succeeded());
  const PassResult& pass = run.pass(Pass::source);
  ASSERT_EQ(pass.status, Status::ok) << pass.reason;
  for (const std::string kernel : {"scale", "shift"}) {
    double all = 0, with_line = 0;
    for (const SourceLine& line : pass.source_lines) {
      if (line.kernel != kernel) continue;
      all += static_cast<double>(line.samples);
      if (line.file.ends_with("gpu_program.cu")) with_line += static_cast<double>(line.samples);
    }
    EXPECT_GT(all, 100) << kernel;
    EXPECT_GT(with_line, 0.9 * all) << kernel;
  }
}

TEST(Programs, CountsWhatIsLaunchedOftenWithoutRunningItTwice) {
  const ProgramRun run("--passes trace,counters --replay-limit 0", program_with(""));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.traced("scale"), 200);
  expect_scale_was_counted(run);
  // What takes several passes, each at a launch of its own: how busy the multiprocessors were.
  const auto [busy, absent] = run.counted("scale", "sm__throughput.avg.pct_of_peak_sustained_elapsed");
  ASSERT_TRUE(busy) << absent;
  EXPECT_GT(*busy, 1);
  EXPECT_LE(*busy, 101);
  // A launch is counted by itself: the time of nothing else is in it.
  const auto [time, no_time] = run.counted("scale", "gpu__time_duration.sum");
  ASSERT_TRUE(time) << no_time;
  std::vector<double> traced;
  const trace::Trace all = run.trace();
  for (const trace::Kernel& kernel : all.kernels) {
    if (all.names[kernel.short_name] == "scale")
      traced.push_back(1e-9 * static_cast<double>(kernel.time.end - kernel.time.start));
  }
  EXPECT_NEAR(*time, median(traced), 2e-6 + 0.05 * median(traced));
}

TEST(Programs, KernelsOfGraphsAreTracedAndTheReasonSaysWhyTheyAreNotCounted) {
  const ProgramRun run("--passes trace,counters", program_with("graph"));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.traced("scale"), 200 + 3 * 20);
  EXPECT_NE(run.notes(Pass::counters).find("CUDA graphs were launched"), std::string::npos)
      << run.notes(Pass::counters);
  expect_scale_was_counted(run);
}

/// The ranges of the program, innermost, in which the first of the copies of a node was made.
std::string captured_in(const trace::Trace& all, std::uint64_t node) {
  const trace::GraphNode* at = nullptr;
  do {
    const trace::GraphNode* next = nullptr;
    for (const trace::GraphNode& one : all.graph_nodes) {
      if (one.id == node && (next == nullptr || one.original != 0)) next = &one;
    }
    if (next == nullptr) return "nowhere";
    at = next;
    node = at->original;
  } while (node != 0);
  const trace::Range* innermost = nullptr;
  for (const trace::Range& range : all.ranges) {
    const bool holds = range.thread == at->thread && range.style == trace::RangeStyle::push_pop &&
                       range.time.start <= at->time.start && at->time.start <= range.time.end;
    if (holds && (innermost == nullptr || range.time.start > innermost->time.start)) innermost = &range;
  }
  return innermost == nullptr ? "no range" : std::string(all.text_of(*innermost));
}

/// "2 × scale in layer 0" and so on: how often each kernel of graphs ran, by where it was captured.
std::map<std::string, int> captured_kernels(const ProgramRun& run) {
  const trace::Trace all =
      trace::read_trace(run.directory() / trace::file_name, {.parts = trace::every_part});
  std::map<std::string, int> counts;
  for (const trace::Kernel& kernel : all.kernels) {
    if (kernel.graph_node != 0)
      ++counts[all.names[kernel.short_name] + " in " + captured_in(all, kernel.graph_node)];
  }
  return counts;
}

TEST(Programs, KernelsOfClonesAndChildGraphsLeadToTheRangesThatCapturedThem) {
  const ProgramRun run("--passes trace", program_with("layers"));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(captured_kernels(run),
            (std::map<std::string, int>{
                {"scale in layer 0", 40}, {"shift in layer 1", 20}, {"shift in nowhere", 20}}))
      << "CUPTI tells of no node of a child graph; the report finds its range by the graph around it";
}

TEST(Programs, AWindowHasItsPartOfTheTraceAndWhatWasCapturedBefore) {
  const ProgramRun run("--passes trace --window 'range:step[5..10]'", program_with("layers"));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(captured_kernels(run),
            (std::map<std::string, int>{
                {"scale in layer 0", 12}, {"shift in layer 1", 6}, {"shift in nowhere", 6}}));
  EXPECT_EQ(run.traced("scale"), 12) << "none of those before the steps";
  EXPECT_NE(run.notes(Pass::trace).find("--window range:step[5..10]"), std::string::npos);
}

/// The kernel is left out with a reason, and the others are counted.
void expect_all_but_what_waits(const std::string& how) {
  const ProgramRun run("--passes trace,counters", program_with(how));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.traced("wait_for"), 1);
  expect_scale_was_counted(run);
  const auto [value, absent] = run.counted("wait_for", instructions);
  EXPECT_FALSE(value);
  EXPECT_FALSE(absent.empty());
}

TEST(Programs, AKernelThatWaitsForTheHostIsLeftOut) {
  expect_all_but_what_waits("host");
}

TEST(Programs, AKernelThatWaitsForAnotherIsLeftOut) {
  expect_all_but_what_waits("partner");
}

TEST(Programs, TwoProcessesAreToldApart) {
  const ProgramRun run("--passes trace,counters", program_with("child"));
  EXPECT_TRUE(run.succeeded());
  const trace::Trace all = run.trace();
  std::map<std::int64_t, int> launches;
  for (const trace::Kernel& kernel : all.kernels) ++launches[kernel.process];
  ASSERT_EQ(launches.size(), 2U);
  for (const auto& [process, count] : launches) EXPECT_EQ(count, 400) << process;
  expect_scale_was_counted(run);
}

TEST(Programs, OfOneThatAbortsWhatWasGatheredIsKept) {
  const ProgramRun run("--passes trace", program_with("abort"));
  EXPECT_FALSE(run.succeeded());
  EXPECT_EQ(run.pass(Pass::trace).status, Status::crashed);
  EXPECT_EQ(run.outcome(Pass::trace).signal, SIGABRT);
  EXPECT_EQ(run.traced("scale"), 200);
  EXPECT_FALSE(run.notes(Pass::trace).empty());
}

TEST(Programs, OfOneThatEndsByExitWhatWasGatheredIsKept) {
  const ProgramRun run("--passes trace", program_with("exit"));
  EXPECT_TRUE(run.succeeded());
  EXPECT_EQ(run.traced("scale"), 200);
  EXPECT_FALSE(run.notes(Pass::trace).empty());
}

/// The training of examples/pytorch, where PyTorch is installed.
class Training : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("python3 -c 'import torch' 2>/dev/null") != 0) GTEST_SKIP() << "there is no PyTorch";
  }

  static std::string script() {
    const fs::path bundled = fs::path(test::program("mprof")).parent_path() / "../share/mprof/train.py";
    return fs::exists(bundled) ? fs::canonical(bundled).string()
                               : MPROF_SOURCE_DIR "/examples/pytorch/train.py";
  }

  /// Of each process, in no order of theirs.
  static std::multiset<std::string> losses(const ProgramRun& run, Pass pass) {
    const std::string output = run.outcome(pass).output;
    const std::regex line("Loss: [0-9.]+");
    std::multiset<std::string> all;
    for (auto found = std::sregex_iterator(output.begin(), output.end(), line);
         found != std::sregex_iterator{}; ++found) {
      all.insert(found->str());
    }
    return all;
  }

  /// All passes end, and leave the losses as they are without them, to the bit.
  static void expect_the_same_loss(const ProgramRun& run, std::size_t processes) {
    EXPECT_TRUE(run.succeeded());
    const std::multiset<std::string> plain = losses(run, Pass::timing);
    EXPECT_EQ(plain.size(), processes) << run.outcome(Pass::timing).output;
    EXPECT_EQ(losses(run, Pass::trace), plain);
    EXPECT_EQ(losses(run, Pass::counters), plain);
  }

  /// Of the ranges.
  static std::set<std::string> ops_with_kernels(const ProgramRun& run) {
    std::set<std::string> ops;
    for (const Measurement& row : run.pass(Pass::counters).measurements) {
      if (row.metric == instructions && !row.samples.empty()) ops.insert(row.op);
    }
    ops.erase("outside");  // of the ranges: what is drawn before the first step
    return ops;
  }
};

const std::string small = " --steps 150 --batch 64 --size 32 --width 32 --deterministic";

/// Blocks of the kernel that a row is of.
double blocks_of(const ProgramRun& run, const Measurement& row) {
  for (const Measurement& other : run.pass(Pass::counters).measurements) {
    if (other.metric == blocks && other.op == row.op && other.kernel == row.kernel && !other.samples.empty())
      return other.samples.front();
  }
  return -1;
}

/// A kernel, an op, and the blocks that it has there.
using Launch = std::tuple<std::string, std::string, double>;

/// How often each is launched.
std::map<Launch, int> launches_of(const ProgramRun& run) {
  std::map<Launch, int> launches;
  const trace::Trace all = run.trace();
  for (const trace::Kernel& kernel : all.kernels) {
    const trace::Size grid = kernel.grid.value();
    ++launches[{kernel_name_of_demangled(all.names[kernel.name]).brief, all.places[kernel.place].op,
                static_cast<double>(grid[0]) * grid[1] * grid[2]}];
  }
  return launches;
}

/// Those that each of two processes launches as often as one alone does. Others are training in parallel's
/// own, or share their names and blocks with such as are, which average gradients.
std::set<Launch> launched_as_alone(const ProgramRun& parallel, const ProgramRun& alone) {
  const std::map<Launch, int> by_both = launches_of(parallel);
  std::set<Launch> same;
  for (const auto& [launch, count] : launches_of(alone)) {
    const auto found = by_both.find(launch);
    if (found != by_both.end() && found->second == 2 * count) same.insert(launch);
  }
  return same;
}

/// Instructions that a kernel executes depend on its inputs alone, so two tools see the same. `command`: a
/// training in one process, of whose second or third step on more than a whole one is counted; `comparable`:
/// of its launches; all where it is empty.
void expect_instructions_as_ncu_has_them(const ProgramRun& run, const std::string& command,
                                         const std::set<Launch>& comparable = {}) {
  constexpr std::array metrics{instructions, blocks};
  std::map<std::pair<std::string, double>, std::vector<double>> ncu;  // by name and blocks
  for (const test::NcuLaunch& launch :
       test::counted_by_ncu(metrics, "--launch-skip 400 --launch-count 400", command)) {
    const std::string name = kernel_name_of_demangled(launch.kernel).brief;
    ncu[{name, launch.metrics.at(blocks)}].push_back(launch.metrics.at(instructions));
  }
  ASSERT_FALSE(ncu.empty());
  int compared = 0;
  for (const Measurement& row : run.pass(Pass::counters).measurements) {
    if (row.metric != instructions || row.samples.empty()) continue;
    const std::string name = kernel_name_of_demangled(row.kernel).brief;
    const double of_launch = blocks_of(run, row);
    const auto counts = ncu.find({name, of_launch});
    const bool is_comparable = comparable.empty() || comparable.contains({name, row.op, of_launch});
    if (counts == ncu.end() || !is_comparable) continue;
    ++compared;
    const double own = row.samples.front();
    const double nearest =
        *std::ranges::min_element(counts->second, {}, [&](double c) { return std::abs(own - c); });
    EXPECT_NEAR(own / nearest, 1, 0.03)
        << row.kernel.text() << " in " << row.op.text() << ": " << own << ", and " << nearest << " by ncu";
  }
  std::cout << compared << " kernels were compared with ncu's\n";
  EXPECT_GE(compared, 10);
}

TEST_F(Training, IsCountedByStepsAndItsLossStays) {
  const std::string command = "python3 " + script() + small;
  const ProgramRun run("--replay-limit 0", command);
  expect_the_same_loss(run, 1);
  EXPECT_EQ(ops_with_kernels(run), (std::set<std::string>{"load", "forward", "backward", "update"}));
  if (test::has_ncu()) expect_instructions_as_ncu_has_them(run, command);
}

TEST_F(Training, InParallelItEndsAndItsLossStays) {
  if (std::system("test $(nvidia-smi --list-gpus | wc -l) -ge 2") != 0) GTEST_SKIP() << "there is one GPU";
  const std::string command = "torchrun --nproc-per-node 2 " + script() + small;
  const ProgramRun run("--replay-limit 0", command);
  expect_the_same_loss(run, 2);
  const trace::Trace all = run.trace();
  std::set<std::int64_t> processes;
  for (const trace::Kernel& kernel : all.kernels) processes.insert(kernel.process);
  EXPECT_EQ(processes.size(), 2U);
  // Under ncu one of the processes would wait in NCCL for the other, which ncu holds back meanwhile. Alone on
  // its part of each batch, one launches the same kernels.
  if (!test::has_ncu()) return;
  const std::string one = "python3 " + script() + small + " --batch 32";
  const ProgramRun alone("--passes trace", one);
  EXPECT_TRUE(alone.succeeded());
  const std::set<Launch> comparable = launched_as_alone(run, alone);
  ASSERT_FALSE(comparable.empty());
  expect_instructions_as_ncu_has_them(run, one, comparable);
}

}  // namespace
}  // namespace mprof
