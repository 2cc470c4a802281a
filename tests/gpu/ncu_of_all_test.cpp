// SPDX-License-Identifier: MIT
// Speed-of-Light, traffic and durations of every kernel of every variant as mprof sees them, beside what
// Nsight Compute says of the same kernels. It cleans the caches before each kernel, as mprof does before each
// op; and then it writes some megabytes of its own, which are written back while the kernel runs and counted
// as the kernel's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <tuple>
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
#include "tests/gpu/ncu.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

using test::allowed_bytes, test::allowed_points, test::allowed_time, test::long_enough;
using test::bytes_written_by_ncu, test::durations, test::throughputs, test::traffic;

/// The shortest and the longest of the launches of a kernel, s: of two the one takes some percent longer.
using Times = std::pair<double, double>;

/// Of each kernel and launch configuration of a process ncu counts so many launches: more would take minutes.
constexpr int launches_of_traffic = 1, launches_of_times = 3;
constexpr int own_runs = 3;
/// As many bytes may come from elsewhere: a row of the page table, the arguments of the launch.
constexpr double few_bytes = 64e3;

/// What CUPTI adds to each block of a kernel that it traces, s over the whole kernel: 13 of 15 kernels of
/// 100,000 blocks and more took 0.05 to 0.17 ns a block longer in the trace than under ncu, the median 0.09
/// (H200); of two 0.02 and less.
constexpr double traced_block = 9e-11;

/// ncu is asked so often, in processes of its own, until it gives what mprof does: memory lies elsewhere in
/// each, and a kernel that is bound by it takes up to 2 % longer in one than in another.
constexpr int most_processes_of_ncu = 3;

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

/// A figure of mprof's beside the nearest one of ncu's, and how far they are apart: by a part of it, or in
/// points of percent.
struct Beside {
  std::string what;
  double own = 0;
  double nearest = 0;
  double apart = 0;
  double allowed = 0;

  [[nodiscard]] bool agrees() const { return std::abs(apart) <= allowed; }
};

Beside bytes_beside(const OwnKernel& kernel, const std::vector<const test::NcuLaunch*>& launches,
                    double written_by_ncu) {
  const double own = kernel.metrics.at("dram__bytes_read.sum") + kernel.metrics.at("dram__bytes_write.sum");
  const auto all_of = [](const test::NcuLaunch& launch) {
    return launch.metrics.at("dram__bytes_read.sum") + launch.metrics.at("dram__bytes_write.sum");
  };
  // A kernel that does not drive everything out of the L2 writes back less of what ncu has left there.
  const double nearest = nearest_of(launches, own, [&](const test::NcuLaunch& launch) {
    return std::pair(std::max(all_of(launch) - written_by_ncu, 0.0), all_of(launch));
  });
  const double raw = nearest_of(launches, own, [&](const test::NcuLaunch& launch) {
    return std::pair(all_of(launch), all_of(launch));
  });
  return {fmt::format("bytes ({:+.2f} % of those that ncu prints)", 100 * (own / raw - 1)), own, nearest,
          own / nearest - 1, std::max(allowed_bytes, few_bytes / nearest)};
}

/// The time in the trace and that beside the counters, those of them that are long enough to be held.
std::vector<Beside> times_beside(const OwnKernel& kernel,
                                 const std::vector<const test::NcuLaunch*>& launches) {
  Times times{std::numeric_limits<double>::infinity(), 0};
  for (const test::NcuLaunch* launch : launches) {
    const double seconds = launch->metrics.at("gpu__time_duration.sum") * 1e-9;
    times = {std::min(times.first, seconds), std::max(times.second, seconds)};
  }
  std::vector<Beside> all;
  for (const std::string metric : {"kernel_time", "gpu__time_duration.sum"}) {
    if (!kernel.metrics.contains(metric)) continue;  // launched several times: the trace has their sum
    const double own = kernel.metrics.at(metric);
    const double added = metric == "kernel_time" ? traced_block * kernel.grid : 0;
    const double nearest = std::clamp(own, times.first, times.second + added);
    if (nearest < long_enough) continue;
    all.push_back({fmt::format("{}, s ({:+.2f} % of ncu's)", metric,
                               100 * (own / std::clamp(own, times.first, times.second) - 1)),
                   own, nearest, own / nearest - 1, allowed_time});
  }
  return all;
}

Beside throughput_beside(const OwnKernel& kernel, const std::vector<const test::NcuLaunch*>& launches,
                         const char* metric) {
  const double own = kernel.metrics.at(metric);
  const double nearest = nearest_of(launches, own, [&](const test::NcuLaunch& launch) {
    return std::pair(launch.metrics.at(metric), launch.metrics.at(metric));
  });
  return {metric, own, nearest, own - nearest, allowed_points};
}

std::string options_for(const std::set<std::string>& variants) {
  std::string options;
  for (const std::string& variant : variants) options += " --variant " + variant;
  return options;
}

/// All kernels of all variants, at the batch at which what the caches hold matters most, as mprof counts
/// them: the median of several runs, since each has one launch of a kernel, of which some differ by 5 %. Once
/// for all tests of a process.
class OwnRuns {
 public:
  static const OwnRuns& made() {
    static const OwnRuns runs;
    return runs;
  }

  std::string problem;
  std::vector<OwnKernel> counted;

  /// Those for whose times ncu does not take minutes.
  [[nodiscard]] std::vector<OwnKernel> timed() const {
    std::set<std::string> left_out;
    for (const OwnKernel& kernel : counted) {
      if (kernel.instances > most_instances) left_out.insert(kernel.variant);
    }
    std::vector<OwnKernel> others = counted;
    std::erase_if(others, [&](const OwnKernel& kernel) { return left_out.contains(kernel.variant); });
    return others;
  }

 private:
  OwnRuns() {
    const InputPaths inputs = conv::test::input_paths();
    problem = fmt::format("--batch 1000 --data {} --weights {}", inputs.at("data"), inputs.at("weights"));
    std::set<std::string> variants;
    for (const RegisteredVariant* variant : Registry::instance().variants()) {
      if (variant->info.family == "conv" && variant->info.device == "cuda") variants.insert(variant->info.id);
    }
    std::map<std::string, std::map<std::string, std::vector<double>>> values;
    for (int i = 0; i < own_runs; ++i) {
      counted = kernels_of_run(options_for(variants));
      for (const OwnKernel& kernel : counted) {
        for (const auto& [metric, value] : kernel.metrics) values[kernel.where][metric].push_back(value);
      }
    }
    for (OwnKernel& kernel : counted) {
      for (auto& [metric, value] : kernel.metrics) value = median(values.at(kernel.where).at(metric));
    }
    std::printf("%zu kernels of %zu variants\n", counted.size(), variants.size());
  }

  [[nodiscard]] std::vector<OwnKernel> kernels_of_run(const std::string& options) const {
    const test::TemporaryDirectory temporary;
    const fs::path path = temporary.path() / "own";
    const std::string command = fmt::format("{} run --passes trace,counters {} {} --out {} --quiet >&2",
                                            test::program("mprof"), problem, options, path.string());
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    mprof::Run run = read_run(path);
    derive(run, path);
    std::vector<OwnKernel> all;
    for (const Case& c : run.cases) {
      const std::vector<OwnKernel> of_case = kernels_of(c);
      EXPECT_FALSE(of_case.empty()) << c.id;
      all.insert(all.end(), of_case.begin(), of_case.end());
    }
    return all;
  }
};

/// Variants that ncu can watch together.
struct Group {
  std::set<std::string> variants{};
  std::set<std::string> kernels{};  ///< brief names
  std::set<std::tuple<std::string, double, double>> configurations{};
};

/// No two variants of a group have a kernel of the same name and launch configuration: ncu counts the first
/// launches of each, and does not say of whom they are.
std::vector<Group> groups_of(const std::vector<OwnKernel>& kernels) {
  std::map<std::string, Group> alone;
  for (const OwnKernel& kernel : kernels) {
    Group& one = alone[kernel.variant];
    one.variants = {kernel.variant};
    one.kernels.insert(brief_name(kernel));
    one.configurations.insert({brief_name(kernel), kernel.grid, kernel.block});
  }
  std::vector<Group> groups;
  for (auto& [variant, one] : alone) {
    const auto takes = [&one = one](const Group& group) {
      return std::ranges::none_of(one.configurations,
                                  [&](const auto& each) { return group.configurations.contains(each); });
    };
    const auto at = std::ranges::find_if(groups, takes);
    Group& group = at == groups.end() ? groups.emplace_back() : *at;
    group.variants.merge(one.variants);
    group.kernels.merge(one.kernels);
    group.configurations.merge(one.configurations);
  }
  return groups;
}

class NcuOfAll : public testing::Test {
 protected:
  using Launches = std::vector<test::NcuLaunch>;

  [[nodiscard]] static const OwnRuns& own() { return OwnRuns::made(); }

  void SetUp() override {
    MPROF_NEED_IMAGES();
    if (!test::has_ncu()) GTEST_SKIP() << "ncu is not on PATH";
    ASSERT_FALSE(own().counted.empty()) << "mprof counted nothing";
  }

  using Launched = std::vector<const test::NcuLaunch*>;

  /// Holds what `beside(kernel, launches)` gives of each of `kernels` and ncu's launches of it.
  template <class Compare>
  void hold_against_ncu(const std::vector<OwnKernel>& kernels, std::span<const char* const> metrics,
                        int launches, const Compare& beside) const {
    for (Group group : groups_of(kernels)) {
      Launches seen = of_ncu(group, metrics, launches);
      const auto agrees = [&](const OwnKernel& kernel) {
        const Launched of_it = like(kernel, seen);
        return !of_it.empty() && std::ranges::all_of(beside(kernel, of_it), &Beside::agrees);
      };
      const std::vector<OwnKernel> held = of_group(kernels, group);
      for (int process = 1; process < most_processes_of_ncu; ++process) {
        std::set<std::string> open;
        for (const OwnKernel& kernel : held) {
          if (!agrees(kernel)) open.insert(kernel.variant);
        }
        if (open.empty()) break;
        group.variants = open;
        std::ranges::move(of_ncu(group, metrics, launches), std::back_inserter(seen));
      }
      for (const OwnKernel& kernel : held) {
        const Launched of_it = like(kernel, seen);
        ASSERT_FALSE(of_it.empty()) << "ncu saw no " << kernel.where;
        for (const Beside& one : beside(kernel, of_it)) {
          std::printf("%-70s %s: %.5g, ncu %.5g, %+.4f\n", kernel.where.c_str(), one.what.c_str(), one.own,
                      one.nearest, one.apart);
          EXPECT_LE(std::abs(one.apart), one.allowed) << kernel.where << ' ' << one.what;
        }
      }
    }
  }

  [[nodiscard]] fs::path folder(const char* name) const { return temporary_.path() / name; }

 private:
  static std::vector<OwnKernel> of_group(const std::vector<OwnKernel>& kernels, const Group& group) {
    std::vector<OwnKernel> some;
    std::ranges::copy_if(kernels, std::back_inserter(some),
                         [&](const OwnKernel& kernel) { return group.variants.contains(kernel.variant); });
    return some;
  }

  /// What mprof itself launches is left out: kernels that wait for the host would do so under ncu.
  [[nodiscard]] Launches of_ncu(const Group& group, std::span<const char* const> metrics,
                                int launches) const {
    return test::counted_by_ncu(
        metrics,
        fmt::format("-k 'regex:^({})$' --filter-mode per-launch-config --launch-count {}",
                    fmt::join(group.kernels, "|"), launches),
        fmt::format("{} run --passes timing --quick --sampling-time 0.01 --overwrite {} {} --out {}",
                    test::program("mprof"), own().problem, options_for(group.variants),
                    folder("ncu").string()));
  }

  test::TemporaryDirectory temporary_;
};

TEST_F(NcuOfAll, AgreesOnTheBytesOfEachKernel) {
  const double written_by_ncu = bytes_written_by_ncu(own().problem, folder("written"));
  ASSERT_GE(written_by_ncu, 0) << "ncu counted no kernel that only reads";
  hold_against_ncu(own().counted, traffic, launches_of_traffic,
                   [&](const OwnKernel& kernel, const Launched& launches) {
                     return std::array{bytes_beside(kernel, launches, written_by_ncu)};
                   });
}

TEST_F(NcuOfAll, AgreesOnTheTimesOfEachKernel) {
  hold_against_ncu(own().timed(), durations, launches_of_times, times_beside);
}

// Each by itself: where ncu replays a kernel for several, the later passes find instructions and page tables
// that the first one has loaded (a transform of cuDNN takes 8.5 us instead of 9.3, and reaches 20.8 instead
// of 19.0 % of the DRAM's throughput), and write back what was restored between them.
TEST_F(NcuOfAll, AgreesOnTheThroughputsOfEachKernel) {
  for (const char* metric : throughputs) {
    hold_against_ncu(own().timed(), std::span(&metric, 1), launches_of_times,
                     [&](const OwnKernel& kernel, const Launched& launches) {
                       return std::array{throughput_beside(kernel, launches, metric)};
                     });
  }
}

}  // namespace
}  // namespace mprof
