// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/common/parallel.hpp"
#include "kernels/conv/lenet/variant.hpp"
#include "system/error.hpp"
#include "tests/kernels/each_convolution.hpp"
#include "tests/kernels/each_map.hpp"

namespace mprof {

namespace conv {
INSTANTIATE_TEST_SUITE_P(Cpu, EachConvolution, ::testing::ValuesIn(mprof::test::variants_of("conv", "cpu")),
                         mprof::test::name_of);

namespace {

/// Where the CPU has AVX-512, the tests above are of sixteen lanes.
class EightLanes : public EachConvolution {};

TEST_P(EightLanes, AreRightAtEveryWidthAndNumberOfMaps) {
  const auto convolution = make({{"lanes", "8"}});
  expect_right_at_every_width(*convolution);
  expect_right_at_every_number_of_maps(*convolution);
}

INSTANTIATE_TEST_SUITE_P(Cpu, EightLanes, ::testing::Values("conv/cpu_threads"), mprof::test::name_of);

}  // namespace
}  // namespace conv

namespace elementwise {
INSTANTIATE_TEST_SUITE_P(Cpu, EachMap, ::testing::ValuesIn(mprof::test::variants_of("elementwise", "cpu")),
                         mprof::test::name_of);
}  // namespace elementwise

namespace {

const std::vector<ParameterInfo>& parameters_of_threads() {
  return declaration_of<conv::Convolution>("conv/cpu_threads").parameters;
}

TEST(Parameters, DefaultsFillWhatIsNotGiven) {
  const auto& declared = parameters_of_threads();
  EXPECT_EQ(resolve_parameters(declared, "conv/cpu_threads", {}),
            (Parameters{{"lanes", "widest"}, {"threads", "all"}}));
  EXPECT_EQ(resolve_parameters(declared, "conv/cpu_threads", {{"threads", "2"}}),
            (Parameters{{"lanes", "widest"}, {"threads", "2"}}));
}

TEST(Parameters, UnknownNamesAndValuesAreRefusedWithThoseThatAreKnown) {
  const auto message = [&](const Parameters& given) -> std::string {
    try {
      static_cast<void>(resolve_parameters(parameters_of_threads(), "conv/cpu_threads", given));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(message({{"tile", "8"}}), "conv/cpu_threads has no parameter \"tile\". It has: threads, lanes.");
  EXPECT_EQ(message({{"threads", "3"}}),
            "conv/cpu_threads does not know threads=3. Use one of: all, 1, 2, 4, 8, 16, 32, 64.");
}

TEST(ParallelFor, CoversEachIndexOnce) {
  for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
    for (const std::size_t threads : {1U, 2U, 5U}) {
      std::vector<int> visits(count);
      parallel_for(count, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(count, 1)) << count << " on " << threads << " threads";
    }
  }
}

TEST(ParallelFor, ThrowsWhatABodyThrew) {
  const auto fail = [](std::size_t, std::size_t) { throw Error(ExitCode::fault, "no"); };
  EXPECT_THROW(parallel_for(100, 4, fail), Error);
  EXPECT_THROW(parallel_for(1, 1, fail), Error);
}

}  // namespace
}  // namespace mprof
