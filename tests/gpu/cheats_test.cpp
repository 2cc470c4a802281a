// SPDX-License-Identifier: MIT
// The suite of cheats on a GPU: each is found out, for the right reason, by a run as the product makes it, at
// every size. And of what is honest nothing is said.
#include <algorithm>
#include <cstdio>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/statistics/median.hpp"
#include "tests/gpu/coordinated.hpp"

namespace mprof {
namespace {

using ::testing::ContainsRegex;

constexpr std::uint64_t sizes[] = {1024, 2048, 4096};

/// What a run of the variant gave at each size: of the pass that had most to say against it.
struct Verdict {
  std::uint64_t size = 0;
  Status status = Status::ok;
  std::string reason{};
  double op_time = 0;   ///< s
  double gpu_time = 0;  ///< s
};

double median_of(const Case& c, const std::string& metric) {
  const Measurement* found = find_measurement(c, metric, "map");
  return found == nullptr || found->samples.empty() ? -1 : median(found->samples);
}

std::vector<Verdict> verdicts(const std::string& name) {
  std::vector<Problem> problems;
  for (const std::uint64_t size : sizes) problems.push_back({{{"size", size}, {"iterations", 5}}});
  const Run run =
      test::coordinated("elementwise", {"elementwise/cheat_" + name}, problems, {Pass::timing, Pass::trace},
                        {.min_samples = 7, .max_samples = 12, .max_seconds = 3, .relative_half_width = 0.01});
  std::vector<Verdict> all;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const Case& c = run.cases[i];
    Verdict verdict{.size = sizes[i]};
    for (const PassResult& pass : c.passes) {
      if (pass.status == Status::ok || verdict.status != Status::ok) continue;
      verdict.status = pass.status;
      verdict.reason = pass.reason;
    }
    verdict.op_time = median_of(c, "op_time");
    verdict.gpu_time = median_of(c, "gpu_time");
    std::printf("%s@%lu: %s, op time %.2f us, GPU time %.2f us: %s\n", name.c_str(),
                static_cast<unsigned long>(verdict.size), std::string(to_string(verdict.status)).c_str(),
                verdict.op_time * 1e6, verdict.gpu_time * 1e6, verdict.reason.c_str());
    all.push_back(verdict);
  }
  return all;
}

struct Cheat {
  const char* name;
  Status status;
  const char* reason;  ///< a regular expression: what finds it first may depend on the size
};

class EachCheatOnGpu : public ::testing::TestWithParam<Cheat> {};

TEST_P(EachCheatOnGpu, IsFoundOutForTheRightReason) {
  for (const Verdict& verdict : verdicts(GetParam().name)) {
    const bool is_right_here = std::string(GetParam().name) == "one_shape" && verdict.size == 1024;
    EXPECT_EQ(verdict.status, is_right_here ? Status::ok : GetParam().status) << verdict.size;
    if (!is_right_here) {
      EXPECT_THAT(verdict.reason, ContainsRegex(GetParam().reason)) << verdict.size;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, EachCheatOnGpu,
    ::testing::Values(Cheat{"replay", Status::wrong, "in timed execution 1, map: the relative"},
                      Cheat{"once", Status::wrong, "elements were never written"},
                      Cheat{"ten_times", Status::wrong, "map: the relative"},
                      Cheat{"warm_up", Status::wrong, "it does not do the same work each time"},
                      Cheat{"first_call", Status::suspect, "for the first time after prepare"},
                      Cheat{"remembers", Status::suspect,
                            "inputs that it has never been given|may have kept an output|timer does not see"},
                      Cheat{"stream_alone", Status::suspect, "while it was watched, map:"},
                      Cheat{"prepare", Status::suspect, "the timer does not see all of the work"},
                      Cheat{"finish", Status::suspect, "the timer does not see all of the work"},
                      Cheat{"thread", Status::suspect, "the timer does not see all of the work"},
                      Cheat{"overwrites", Status::wrong, "its inputs were overwritten"},
                      Cheat{"one_shape", Status::wrong, "elements were never written"},
                      Cheat{"half", Status::wrong, "the relative L2 error"},
                      Cheat{"timer", Status::suspect, "the timer does not see all of the work"},
                      Cheat{"carved_out", Status::suspect, "of the L2 cache aside"},
                      Cheat{"profiled", Status::suspect, "while it was watched, map:"},
                      Cheat{"other_kernel", Status::suspect, "launches other kernels when it is timed"}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(HonestVariantOnGpu, IsNotSuspected) {
  for (const Verdict& verdict : verdicts("honest"))
    EXPECT_EQ(verdict.status, Status::ok) << verdict.size << ": " << verdict.reason;
}

/// Its op time is that of its work, and so there is nothing to find out.
TEST(HonestVariantOnGpu, MayWorkOnAStreamOfItsOwn) {
  for (const Verdict& verdict : verdicts("own_stream")) {
    EXPECT_EQ(verdict.status, Status::ok) << verdict.size << ": " << verdict.reason;
    EXPECT_GT(verdict.op_time, 0.8 * verdict.gpu_time) << verdict.size;
  }
}

}  // namespace
}  // namespace mprof
