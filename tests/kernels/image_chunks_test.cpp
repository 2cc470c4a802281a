// SPDX-License-Identifier: MIT
#include "kernels/conv/device/image_chunks.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace mprof::conv::pipeline {
namespace {

struct Cut {
  std::size_t batch, lanes, least, most;
};

class ImageChunks : public ::testing::TestWithParam<Cut> {};

TEST_P(ImageChunks, HoldEachImageOnceAndNoMoreThanTheLargest) {
  const auto [batch, lanes, least, most] = GetParam();
  std::size_t next = 0;
  for (const Images& images : image_chunks(batch, lanes, least, most)) {
    EXPECT_EQ(images.first, next);
    EXPECT_LE(images.count, most);
    EXPECT_GE(images.count, std::min(least, batch - images.first));
    next += images.count;
  }
  EXPECT_EQ(next, batch);
}

INSTANTIATE_TEST_SUITE_P(All, ImageChunks,
                         ::testing::Values(Cut{0, 4, 1, 8}, Cut{1, 12, 1, 1}, Cut{1, 12, 7, 60},
                                           Cut{100, 12, 1, 9}, Cut{1000, 12, 20, 160},
                                           Cut{10000, 12, 20, 160}, Cut{9999, 1, 3, 5}));

TEST(ImageChunks, BeginSmallInEachLaneAndShrinkInTheEnd) {
  const std::vector<Images> chunks = image_chunks(1000, 2, 10, 100);
  const std::vector<std::size_t> begin{10, 10, 100};
  ASSERT_GT(chunks.size(), begin.size());
  for (std::size_t i = 0; i < begin.size(); ++i) EXPECT_EQ(chunks[i].count, begin[i]);
  EXPECT_TRUE(std::is_sorted(chunks.begin() + 2, chunks.end(),
                             [](const Images& a, const Images& b) { return a.count > b.count; }));
  EXPECT_LE(chunks.back().count, 10U);
}

}  // namespace
}  // namespace mprof::conv::pipeline
