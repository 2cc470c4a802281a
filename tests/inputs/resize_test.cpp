// SPDX-License-Identifier: MIT
#include "inputs/resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "inputs/idx.hpp"
#include "inputs/safetensors.hpp"

namespace mprof {
namespace {

std::vector<float> resized(BilinearResize::Size from, BilinearResize::Size to, const std::vector<float>& in) {
  std::vector<float> out(to.height * to.width);
  BilinearResize(from, to)(in, out);
  return out;
}

TEST(BilinearResize, SameSizeChangesNothing) {
  const std::vector<float> in{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(resized({2, 3}, {2, 3}, in), in);
}

TEST(BilinearResize, CentresLieAtHalfIntegers) {
  // Doubling [0, 1]: centres at -0.25, 0.25, 0.75, 1.25 of the input, the outer two clamped to its border.
  EXPECT_EQ(resized({1, 2}, {1, 4}, {0, 1}), (std::vector<float>{0, 0.25F, 0.75F, 1}));
  EXPECT_EQ(resized({2, 1}, {4, 1}, {0, 1}), (std::vector<float>{0, 0.25F, 0.75F, 1}));
}

TEST(BilinearResize, RowsAndColumnsAreNotMixedUp) {
  EXPECT_EQ(resized({2, 3}, {2, 1}, {1, 2, 3, 4, 5, 6}), (std::vector<float>{2, 5}));
}

TEST(BilinearResize, OnePixelFillsEverything) {
  EXPECT_EQ(resized({1, 1}, {2, 3}, {7}), (std::vector<float>(6, 7.0F)));
}

TEST(BilinearResize, EqualsPyTorch) {
  const std::filesystem::path debian = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(debian))
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  constexpr std::size_t count = 16, from = 28, to = 86;
  const IdxArray pixels = read_idx(debian / "t10k-images-idx3-ubyte.gz");
  const auto expected =
      Safetensors::read(std::filesystem::path(MPROF_SOURCE_DIR) / "data" / "lenet_vectors.safetensors")
          .f32("images", std::array<std::size_t, 4>{count, 1, to, to});
  const BilinearResize resize({from, from}, {to, to});
  float largest_error = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<float, from * from> in;
    std::array<float, to * to> out;
    std::transform(&pixels.values[i * in.size()], &pixels.values[i * in.size()] + in.size(), in.begin(),
                   [](std::uint8_t pixel) { return static_cast<float>(pixel) / 255.0F; });
    resize(in, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      largest_error = std::max(largest_error, std::abs(out[k] - expected[i * out.size() + k]));
    }
  }
  RecordProperty("largest_error", std::to_string(largest_error));
  EXPECT_LE(largest_error, 1e-6F);
}

}  // namespace
}  // namespace mprof
