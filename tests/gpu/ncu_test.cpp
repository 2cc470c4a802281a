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
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "model/run_file.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

using test::allowed_bytes, test::allowed_points, test::allowed_time, test::long_enough;
using test::bytes_written_by_ncu, test::durations, test::throughputs, test::traffic;

constexpr int timed_launches = 30;
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

}  // namespace
}  // namespace mprof
