// Speed-of-Light, traffic and durations as mprof sees them, beside what Nsight Compute says of the same
// kernels. It cleans the caches before each kernel, as mprof does before each op; and then it writes some
// megabytes of its own, which are written back while the kernel runs and counted as the kernel's.
#include "tests/gpu/ncu.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "model/derive/derive.hpp"
#include "model/kernel_name.hpp"
#include "model/run_file.hpp"
#include "model/statistics/median.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Points of percent by which the two may differ.
constexpr double allowed_points = 3;
/// By which part bytes may differ, and the times of kernels that are long enough for it to show.
constexpr double allowed_bytes = 0.03, allowed_time = 0.02, long_enough = 50e-6;
constexpr std::array throughputs{
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
};
constexpr std::array durations{"gpu__time_duration.sum"};
constexpr int timed_launches = 30;
/// Of a pass of their own: what restores memory between two passes leaves its traces.
constexpr std::array traffic{"dram__bytes_read.sum", "dram__bytes_write.sum"};
/// Single-kernel variants, so that the first two launches of the kernel are the two layers.
const std::map<std::string, std::string> kernels{
    {"conv/baseline", "conv_baseline"},
    {"conv/constant_mask", "conv_constant_mask"},
    {"conv/shared_2d", "conv_shared_2d"},
    {"conv/fused_matmul", "conv_fused_matmul"},
    {"conv/coarsened", "conv_coarsened"},
    {"conv/restrict_unroll", "conv_restrict_unroll"},
    {"conv/register_tiled", "conv_register_tiled"},
    {"conv/tensor_core", "conv_tensor_core"},
    {"conv/per_layer", "conv_layer"},
};

/// What ncu says of the first launches of a kernel, which are those of the two layers in turn.
std::vector<test::NcuLaunch> counted_by_ncu(std::span<const char* const> metrics, const std::string& variant,
                                            const std::string& kernel, const std::string& run_options,
                                            const fs::path& out, int launches) {
  return test::counted_by_ncu(metrics, fmt::format("-k regex:^{} --launch-count {}", kernel, launches),
                              fmt::format("{} run --variant {} --passes timing --quick {} --out {}",
                                          test::program("mprof"), variant, run_options, out.string()));
}

/// The shortest and the longest of the launches of a kernel, s: of two the one takes some percent longer.
using Times = std::pair<double, double>;

/// Of those that are like `launch`.
Times times_like(const test::NcuLaunch& launch, const std::vector<test::NcuLaunch>& all) {
  Times times{std::numeric_limits<double>::infinity(), 0};
  for (const test::NcuLaunch& each : all) {
    if (each.kernel != launch.kernel || each.grid != launch.grid) continue;
    const double seconds = each.metrics.at("gpu__time_duration.sum") * 1e-9;
    times = {std::min(times.first, seconds), std::max(times.second, seconds)};
  }
  return times;
}

/// What ncu itself writes to DRAM while a kernel runs that drives everything out of the L2: of such a kernel
/// that only reads, and writes nothing, the median of several launches.
double bytes_written_by_ncu(const std::string& run_options, const fs::path& out) {
  std::vector<double> written;
  for (const test::NcuLaunch& launch :
       test::counted_by_ncu(traffic, "-k regex:^read_beyond_cache --launch-skip 1 --launch-count 5",
                            fmt::format("{} run --variant conv/per_layer --passes timing --quick {} --out {}",
                                        test::program("mprof"), run_options, out.string()))) {
    written.push_back(launch.metrics.at("dram__bytes_write.sum"));
  }
  return written.empty() ? -1 : median(written);
}

/// What a pass kept of a kernel in an op.
double seen(const Case& c, const std::string& metric, const std::string& op, const std::string& kernel) {
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (m.metric != metric || m.op != op || !m.kernel.starts_with(kernel)) continue;
      EXPECT_FALSE(m.samples.empty()) << m.absent;
      return m.samples.empty() ? -1 : m.samples.front();
    }
  }
  ADD_FAILURE() << c.id << " has no " << metric << " of " << kernel << " in " << op;
  return -1;
}

/// Of one kernel in one op: what mprof says, and what ncu does.
class Beside {
 public:
  Beside(std::string where, std::function<double(const std::string&)> own, std::map<std::string, double> ncu,
         Times times, double written_by_ncu)
      : where_(std::move(where)),
        own_(std::move(own)),
        ncu_(std::move(ncu)),
        times_(times),
        written_by_ncu_(written_by_ncu) {}

  void expect_points(const std::string& metric) const {
    const double own = own_(metric), ncu = ncu_.at(metric);
    print(metric, own, ncu, own - ncu);
    EXPECT_NEAR(own, ncu, allowed_points) << where_ << ' ' << metric;
  }

  void expect_bytes() const {
    const double own = own_("dram__bytes_read.sum") + own_("dram__bytes_write.sum");
    const double ncu = ncu_.at("dram__bytes_read.sum") + ncu_.at("dram__bytes_write.sum") - written_by_ncu_;
    print("bytes from and to DRAM", own, ncu, 100 * (own / ncu - 1));
    EXPECT_NEAR(own / ncu, 1, allowed_bytes) << where_;
  }

  void expect_time() const {
    const auto& [shortest, longest] = times_;
    for (const char* metric : {"kernel_time", "gpu__time_duration.sum"}) {
      const double own = own_(metric);
      const double nearest = std::clamp(own, shortest, longest);
      print(metric, own * 1e6, nearest * 1e6, 100 * (own / nearest - 1));
      if (nearest >= long_enough) {
        EXPECT_NEAR(own / nearest, 1, allowed_time) << where_ << ' ' << metric;
      }
    }
  }

 private:
  void print(const std::string& what, double own, double ncu, double differ) const {
    std::printf("%-30s %-66s %12.5g %12.5g %+7.2f\n", where_.c_str(), what.c_str(), own, ncu, differ);
  }

  std::string where_;
  std::function<double(const std::string&)> own_;
  std::map<std::string, double> ncu_;
  Times times_;
  double written_by_ncu_;
};

TEST(Ncu, AgreesOnSpeedOfLightTrafficAndDurations) {
  MPROF_NEED_IMAGES();
  if (!test::has_ncu()) GTEST_SKIP() << "ncu is not on PATH";
  const InputPaths inputs = conv::test::input_paths();
  const std::string options =
      fmt::format("--batch 1000 --data {} --weights {}", inputs.at("data"), inputs.at("weights"));
  const test::TemporaryDirectory of_ncu;
  const double written_by_ncu = bytes_written_by_ncu(options, of_ncu.path() / "run");
  ASSERT_GE(written_by_ncu, 0) << "ncu counted no kernel that only reads";
  std::printf("bytes written by a kernel that only reads, by ncu: %.0f; taken from its bytes below\n",
              written_by_ncu);
  std::printf("%-30s %-66s %12s %12s %7s\n", "variant and op", "points, or times in us with percent", "mprof",
              "ncu", "differ");
  for (const auto& entry : kernels) {
    const std::string& variant = entry.first;
    const std::string& kernel = entry.second;
    const test::TemporaryDirectory temporary;
    const fs::path own = temporary.path() / "own";
    const std::string command =
        fmt::format("{} run --variant {} --passes trace,counters {} --out {} --quiet >&2",
                    test::program("mprof"), variant, options, own.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    mprof::Run run = read_run(own);
    derive(run, own);
    std::array<std::map<std::string, double>, 2> launches;
    std::array<Times, 2> times;
    for (const std::span<const char* const> group :
         {std::span<const char* const>(throughputs), {durations}, {traffic}}) {
      const bool are_times = group.front() == std::string_view(durations.front());
      const fs::path out = temporary.path() / group.front();
      const std::vector<test::NcuLaunch> counted =
          counted_by_ncu(group, variant, kernel, options, out, are_times ? timed_launches : 2);
      ASSERT_GE(counted.size(), 2U) << variant << ' ' << group.front();
      for (std::size_t i = 0; i < launches.size(); ++i) {
        launches[i].insert(counted[i].metrics.begin(), counted[i].metrics.end());
        if (are_times) times[i] = times_like(counted[i], counted);
      }
    }
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const std::string op = run.cases.at(0).ops.at(layer).name;
      for (const char* metric : throughputs) ASSERT_TRUE(launches[layer].contains(metric)) << metric;
      for (const char* metric : durations) ASSERT_TRUE(launches[layer].contains(metric)) << metric;
      for (const char* metric : traffic) ASSERT_TRUE(launches[layer].contains(metric)) << metric;
      const Beside beside(
          variant + ' ' + op,
          [&](const std::string& metric) { return seen(run.cases.at(0), metric, op, kernel); },
          launches[layer], times[layer], written_by_ncu);
      for (const char* metric : throughputs) beside.expect_points(metric);
      beside.expect_bytes();
      beside.expect_time();
    }
  }
}

// --- every kernel of every variant ---

/// Of each kernel and launch configuration of a process ncu counts so many launches.
constexpr int launches_of_traffic = 1, launches_of_times = 5;
/// As many bytes may come from elsewhere: a row of the page table, the arguments of the launch.
constexpr double few_bytes = 64e3;

/// A variant that launches a kernel more often than this does so from several streams or threads, for which
/// ncu takes minutes: it is not timed.
constexpr double most_instances = 8;

/// A kernel at the launch that mprof counted.
struct OwnKernel {
  std::string variant;
  std::string where;  ///< variant, op and kernel
  std::string name;
  double grid = 0;
  double block = 0;
  double instances = 0;  ///< in its op, of the trace
  std::map<std::string, double> metrics{};
};

/// Of the sizes of a grid or a block, "(500, 1, 1)".
double product(std::string extent) {
  std::ranges::replace_if(
      extent, [](char c) { return c < '0' || c > '9'; }, ' ');
  std::istringstream numbers(extent);
  double of_all = 1;
  for (double size = 0; numbers >> size;) of_all *= size;
  return of_all;
}

/// All that were counted, and the time in the trace of those that an op launches once, and first: another one
/// finds what those before it have left in the L2, and writes it back (9 % of the time of permute_section).
std::vector<OwnKernel> kernels_of(const Case& c) {
  std::map<std::pair<std::string, std::string>, OwnKernel> all;
  std::map<std::pair<std::string, std::string>, double> instances;
  std::map<std::string, std::string> first;
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (m.kernel.empty() || m.samples.empty()) continue;
      if (m.metric == "kernel_instances") instances[{m.op, m.kernel}] = m.samples.front();
      if (pass.pass == Pass::counters) first.emplace(m.op, m.kernel);  // in the order of their launches
      OwnKernel& kernel = all[{m.op, m.kernel}];
      kernel.metrics[m.metric] = m.samples.front();
    }
  }
  std::vector<OwnKernel> counted;
  for (auto& [key, kernel] : all) {
    if (!kernel.metrics.contains("launch__grid_size") || !kernel.metrics.contains("dram__bytes_read.sum"))
      continue;
    kernel.variant = c.key.variant;
    kernel.where = fmt::format("{} {} {}", c.id, key.first, key.second);
    kernel.name = key.second;
    kernel.grid = kernel.metrics.at("launch__grid_size");
    kernel.block = kernel.metrics.at("launch__block_size");
    kernel.instances = instances[key];
    if (kernel.instances != 1 || first[key.first] != key.second) kernel.metrics.erase("kernel_time");
    counted.push_back(kernel);
  }
  return counted;
}

std::string brief_name(const OwnKernel& kernel) {
  return kernel.name.substr(0, kernel.name.find_first_of("< "));
}

/// Those of ncu's launches that are launches of the same kernel, in the same configuration.
std::vector<const test::NcuLaunch*> like(const OwnKernel& kernel, const std::vector<test::NcuLaunch>& all) {
  std::vector<const test::NcuLaunch*> same;
  for (const test::NcuLaunch& launch : all) {
    // ncu writes template arguments in another way.
    if (kernel_name_of_demangled(launch.kernel).brief == brief_name(kernel) &&
        product(launch.grid) == kernel.grid && product(launch.block) == kernel.block)
      same.push_back(&launch);
  }
  return same;
}

/// The value between `low` and `high`, of any launch, that is next to `own`.
template <class Range>
double nearest_of(const std::vector<const test::NcuLaunch*>& launches, double own, const Range& range) {
  double nearest = std::numeric_limits<double>::quiet_NaN();
  for (const test::NcuLaunch* launch : launches) {
    const auto& [low, high] = range(*launch);
    const double value = std::clamp(own, low, high);
    if (!(std::abs(value - own) >= std::abs(nearest - own))) nearest = value;
  }
  return nearest;
}

void expect_bytes(const OwnKernel& kernel, const std::vector<test::NcuLaunch>& ncu, double written_by_ncu) {
  const double own = kernel.metrics.at("dram__bytes_read.sum") + kernel.metrics.at("dram__bytes_write.sum");
  const auto launches = like(kernel, ncu);
  ASSERT_FALSE(launches.empty()) << "ncu saw no " << kernel.where;
  // A kernel that does not drive everything out of the L2 writes back less of what ncu has left there.
  const double nearest = nearest_of(launches, own, [&](const test::NcuLaunch& launch) {
    const double all = launch.metrics.at("dram__bytes_read.sum") + launch.metrics.at("dram__bytes_write.sum");
    return std::pair(std::max(all - written_by_ncu, 0.0), all);
  });
  const double raw = nearest_of(launches, own, [](const test::NcuLaunch& launch) {
    const double all = launch.metrics.at("dram__bytes_read.sum") + launch.metrics.at("dram__bytes_write.sum");
    return std::pair(all, all);
  });
  std::printf("%-70s bytes   %12.6g %12.6g %+7.2f %% (raw %+.2f %%)\n", kernel.where.c_str(), own, nearest,
              100 * (own / nearest - 1), 100 * (own / raw - 1));
  EXPECT_NEAR(own, nearest, std::max(allowed_bytes * nearest, few_bytes)) << kernel.where;
}

void expect_times(const OwnKernel& kernel, const std::vector<test::NcuLaunch>& ncu) {
  const auto launches = like(kernel, ncu);
  ASSERT_FALSE(launches.empty()) << "ncu timed no " << kernel.where;
  Times times{std::numeric_limits<double>::infinity(), 0};
  for (const test::NcuLaunch* launch : launches) {
    const double seconds = launch->metrics.at("gpu__time_duration.sum") * 1e-9;
    times = {std::min(times.first, seconds), std::max(times.second, seconds)};
  }
  for (const char* metric : {"kernel_time", "gpu__time_duration.sum"}) {
    if (!kernel.metrics.contains(metric)) continue;  // launched several times: the trace has their sum
    const double own = kernel.metrics.at(metric);
    const double nearest = std::clamp(own, times.first, times.second);
    std::printf("%-70s %s %.2f us, ncu %.2f to %.2f us, %+.2f %%\n", kernel.where.c_str(), metric, own * 1e6,
                times.first * 1e6, times.second * 1e6, 100 * (own / nearest - 1));
    if (nearest >= long_enough) {
      EXPECT_NEAR(own / nearest, 1, allowed_time) << kernel.where << ' ' << metric;
    }
  }
}

void expect_throughputs(const OwnKernel& kernel, const std::vector<test::NcuLaunch>& ncu) {
  const auto launches = like(kernel, ncu);
  ASSERT_FALSE(launches.empty()) << "ncu counted no " << kernel.where;
  for (const char* metric : throughputs) {
    const double own = kernel.metrics.at(metric);
    const double nearest = nearest_of(launches, own, [&](const test::NcuLaunch& launch) {
      return std::pair(launch.metrics.at(metric), launch.metrics.at(metric));
    });
    std::printf("%-70s %.12s %.2f, ncu %.2f, %+.2f points\n", kernel.where.c_str(), metric, own, nearest,
                own - nearest);
    EXPECT_NEAR(own, nearest, allowed_points) << kernel.where << ' ' << metric;
  }
}

std::string options_for(const std::set<std::string>& variants) {
  std::string options;
  for (const std::string& variant : variants) options += " --variant " + variant;
  return options;
}

/// All kernels of all variants, at the batch at which what the caches hold matters most, as mprof counts
/// them: once for all tests of a process, since it takes a minute.
class OwnRun {
 public:
  static const OwnRun& made() {
    static const OwnRun run;
    return run;
  }

  std::string problem;
  std::set<std::string> variants;
  std::vector<OwnKernel> counted;
  std::set<std::string> names;

 private:
  OwnRun() {
    const InputPaths inputs = conv::test::input_paths();
    problem = fmt::format("--batch 1000 --data {} --weights {}", inputs.at("data"), inputs.at("weights"));
    for (const RegisteredVariant* variant : Registry::instance().variants()) {
      if (variant->info.family == "conv" && variant->info.device == "cuda") variants.insert(variant->info.id);
    }
    const test::TemporaryDirectory temporary;
    const fs::path path = temporary.path() / "own";
    const std::string command =
        fmt::format("{} run --passes trace,counters {} {} --out {} --quiet >&2", test::program("mprof"),
                    problem, options_for(variants), path.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    mprof::Run run = read_run(path);
    derive(run, path);
    for (const Case& c : run.cases) {
      const std::vector<OwnKernel> of_case = kernels_of(c);
      EXPECT_FALSE(of_case.empty()) << c.id;
      counted.insert(counted.end(), of_case.begin(), of_case.end());
      for (const OwnKernel& kernel : of_case) names.insert(brief_name(kernel));
    }
    std::printf("%zu kernels of %zu variants\n", counted.size(), run.cases.size());
  }
};

class NcuOfAll : public testing::Test {
 protected:
  [[nodiscard]] static const OwnRun& own() { return OwnRun::made(); }

  void SetUp() override {
    MPROF_NEED_IMAGES();
    if (!test::has_ncu()) GTEST_SKIP() << "ncu is not on PATH";
    ASSERT_FALSE(own().counted.empty()) << "mprof counted nothing";
  }

  /// Of `variants`. What mprof itself launches is left out: kernels that wait for the host would do so under
  /// ncu.
  [[nodiscard]] std::vector<test::NcuLaunch> of_ncu(std::span<const char* const> metrics, int launches,
                                                    const std::set<std::string>& variants) const {
    return test::counted_by_ncu(
        metrics,
        fmt::format("-k 'regex:^({})$' --filter-mode per-launch-config --launch-count {}",
                    fmt::join(own().names, "|"), launches),
        fmt::format("{} run --passes timing --quick --sampling-time 0.01 {} {} --out {}",
                    test::program("mprof"), own().problem, options_for(variants), folder("ncu").string()));
  }

  [[nodiscard]] fs::path folder(const char* name) const { return temporary_.path() / name; }

 private:
  test::TemporaryDirectory temporary_;
};

TEST_F(NcuOfAll, AgreesOnTheBytesOfEachKernel) {
  const double written_by_ncu = bytes_written_by_ncu(own().problem, folder("written"));
  ASSERT_GE(written_by_ncu, 0) << "ncu counted no kernel that only reads";
  const std::vector<test::NcuLaunch> ncu = of_ncu(traffic, launches_of_traffic, own().variants);
  for (const OwnKernel& kernel : own().counted) expect_bytes(kernel, ncu, written_by_ncu);
}

TEST_F(NcuOfAll, AgreesOnTheTimesAndThroughputsOfEachKernel) {
  std::set<std::string> timed = own().variants;
  for (const OwnKernel& kernel : own().counted) {
    if (kernel.instances > most_instances) timed.erase(kernel.variant);
  }
  std::vector<const char*> metrics(durations.begin(), durations.end());
  metrics.insert(metrics.end(), throughputs.begin(), throughputs.end());
  const std::vector<test::NcuLaunch> ncu = of_ncu(metrics, launches_of_times, timed);
  for (const OwnKernel& kernel : own().counted) {
    if (!timed.contains(kernel.variant)) continue;
    expect_times(kernel, ncu);
    expect_throughputs(kernel, ncu);
  }
}

}  // namespace
}  // namespace mprof
