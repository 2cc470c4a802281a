// SPDX-License-Identifier: MIT
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/trace/id_map.hpp"
#include "model/trace/trace.hpp"

namespace mprof {
namespace {

using trace::Kernel;

Kernel some_kernel(std::int64_t i) {
  return {.time = {i * 10, i * 10 + 5},
          .correlation = i,
          .process = 7,
          .name = 3,
          .queue = {0, 1, static_cast<std::uint32_t>(i % 2)},
          .graph_node = static_cast<std::uint64_t>(i) << 30,
          .grid = trace::Size{1, 2, 3},
          .grid_id = i * 3};
}

TEST(Kernels, AreWholeAgainWhenLookedAt) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  std::vector<Kernel> written;
  for (std::int64_t i = 0; i < 100; ++i) written.push_back(some_kernel(i));
  written.push_back({.correlation = largest, .graph_node = ~std::uint64_t{0}, .grid_id = -1});
  written.push_back({.correlation = -1, .in_case = 9, .place = 4, .grid_id = largest});
  trace::Kernels kernels;
  for (const Kernel& kernel : written) kernels.push_back(kernel);
  ASSERT_EQ(kernels.size(), written.size());
  for (std::size_t i = 0; i < written.size(); ++i) EXPECT_EQ(kernels[i], written[i]) << i;
  EXPECT_EQ(kernels.correlation(kernels.rows()[100]), largest);
}

TEST(Kernels, ShareWhatIsAlike) {
  trace::Kernels kernels;
  for (std::int64_t i = 0; i < 100; ++i) {
    Kernel kernel = some_kernel(i);
    kernel.graph_node = 0;
    kernels.push_back(kernel);
  }
  for (std::size_t i = 0; i < kernels.size(); ++i)
    EXPECT_EQ(&kernels.shared(kernels.rows()[i]), &kernels.shared(kernels.rows()[i % 2])) << i;
}

TEST(Kernels, AreChangedOneByOne) {
  trace::Kernels kernels;
  for (std::int64_t i = 0; i < 4; ++i) kernels.push_back(some_kernel(i));
  const trace::Kernels before = kernels;
  kernels.change(2, [](Kernel& kernel) { kernel.queue.stream = 13; });
  EXPECT_EQ(kernels[2].queue.stream, 13U);
  EXPECT_EQ(kernels[0], before[0]);
  kernels.set_correlation(kernels.rows()[1], std::int64_t{5} << 32);
  EXPECT_EQ(kernels[1].correlation, std::int64_t{5} << 32);
  EXPECT_EQ(kernels[3], before[3]);
  EXPECT_FALSE(kernels == before);
}

TEST(IdMap, HasANumberForEachIdOfEachProcess) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::pair<std::int64_t, std::int64_t>> ids{{1, 0}, {1, 1},  {1, 17},
                                                               {2, 1}, {1, -1}, {1, least}};
  trace::IdMap map;
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(map.find(ids[i].first, ids[i].second), 0U);
    map(ids[i].first, ids[i].second) = i + 1;
  }
  for (std::uint32_t i = 0; i < ids.size(); ++i) EXPECT_EQ(map.find(ids[i].first, ids[i].second), i + 1);
  EXPECT_EQ(map.find(3, 1), 0U);
  std::vector<std::pair<std::int64_t, std::uint32_t>> in_order;
  map.for_each_in_order([&](std::int64_t id, std::uint32_t number) { in_order.emplace_back(id, number); });
  const std::vector<std::pair<std::int64_t, std::uint32_t>> expected{{least, 6}, {-1, 5}, {0, 1},
                                                                     {1, 2},     {17, 3}, {1, 4}};
  EXPECT_EQ(in_order, expected);
}

}  // namespace
}  // namespace mprof
