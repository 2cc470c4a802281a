// SPDX-License-Identifier: MIT
// Times, for people; not part of a test run, since a busy machine would fail it. To see them:
//
//     test_kernels --gtest_also_run_disabled_tests --gtest_filter='*Figures*'
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "kernels/registry.hpp"
#include "tests/kernels/lenet_support.hpp"

namespace mprof::conv {
namespace {

using Seconds = std::chrono::duration<double>;

Seconds time(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - start;
}

/// The shortest time of each stage: other load on the machine only ever adds.
class Shortest final : public StageObserver {
 public:
  void stage(std::string_view op, Stage stage, const std::function<void()>& work,
             const std::function<void()>& /*reset*/) override {
    const double seconds = time(work).count();
    stages_ += seconds;
    if (stage != Stage::forward) return;
    double& shortest =
        op_time_.try_emplace(std::string(op), std::numeric_limits<double>::max()).first->second;
    shortest = std::min(shortest, seconds);
  }
  /// Seconds in any stage since the last call.
  double take_stages() { return std::exchange(stages_, 0); }
  [[nodiscard]] double op_time(const std::string& op) const { return op_time_.at(op); }

 private:
  std::map<std::string, double> op_time_;
  double stages_ = 0;
};

void print_figures(const std::string& id, std::size_t batch, int repeats) {
  const auto workload = Registry::instance().family("conv")->load(test::batch_of(batch), test::input_paths());
  const auto execution = workload->bind(id, {});
  Shortest observer;
  double total = std::numeric_limits<double>::max(), rest = total;
  for (int i = 0; i < repeats; ++i) {
    const double seconds = time([&] { execution->run(observer, {}); }).count();
    rest = std::min(rest, seconds - observer.take_stages());
    total = std::min(total, seconds);
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%-22s %6zu  %9.2f ms %9.2f ms  total %9.2f ms  rest of the network %7.2f ms = %4.1f %%  peak %.2f "
      "GiB\n",
      id.c_str(), batch, observer.op_time("layer1") * 1e3, observer.op_time("layer2") * 1e3, total * 1e3,
      rest * 1e3, 100 * rest / total, static_cast<double>(usage.ru_maxrss) / (1 << 20));
}

TEST(Figures, DISABLED_OpTimes) {
  MPROF_NEED_IMAGES();
  for (const std::size_t batch : {100U, 1000U, 10000U}) {
    for (const char* id : {"conv/cpu_threads", "conv/cpu_im2col_gemm", "conv/cpu_onednn"}) {
      print_figures(id, batch, batch == 10000 ? 7 : 25);
    }
  }
  for (const std::size_t batch : {100U, 1000U}) print_figures("conv/cpu_naive", batch, 3);
  print_figures("conv/cpu_naive", 10000, 1);
}

}  // namespace
}  // namespace mprof::conv
