// SPDX-License-Identifier: MIT
// The reader of CPython's frames on memory that is made up: valid frames, and then anything.
#include "injection/python_frames.hpp"

#include <array>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mprof::injection {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t python_3_9 = 0x030900F0, python_3_11 = 0x030B07F0, python_3_12 = 0x030C03F0,
                        python_3_13 = 0x030D05F0, python_3_14 = 0x030E00F0;

/// What Python 3.13.5 and 3.14 publish of themselves.
std::array<std::uint64_t, 81> published(std::uint32_t version) {
  std::array<std::uint64_t, 81> words{};
  words[0] = 0x7970677562656478;
  words[1] = version;
  const bool is_later = version >= python_3_14;
  const std::size_t thread = is_later ? 22 : 19, frame = is_later ? 31 : 28, code = is_later ? 39 : 34,
                    object = is_later ? 50 : 44, text = is_later ? 77 : 67;
  words[thread + 4] = 72;
  words[thread + 7] = 232;
  words[frame + 1] = 8;
  words[frame + 3] = 56;
  words[frame + 5] = is_later ? 74 : 70;
  words[code + 1] = 112;
  words[code + 3] = 128;
  words[code + 5] = 68;
  words[code + 9] = is_later ? 208 : 200;
  words[object + 1] = 8;
  words[text + 1] = 32;
  words[text + 2] = 16;
  words[text + 3] = 40;
  return words;
}

/// A thread with a stack of two functions, in 64 KiB of memory.
class MadeUpThread {
 public:
  explicit MadeUpThread(const PythonLayout& layout) : layout_(layout) {
    const std::uintptr_t frames[]{at(0x2000), at(0x2100)}, codes[]{at(0x3000), at(0x3400)},
        names[]{at(0x4000), at(0x4100)};
    if (layout.c_frame != PythonLayout::none) {
      put(thread() + layout.c_frame, at(0x1000));
      put(at(0x1000) + layout.current_frame, frames[0]);
    } else {
      put(thread() + layout.current_frame, frames[0]);
    }
    if (layout.chunk != PythonLayout::none) {
      put(thread() + layout.chunk, at(0x1800));
      put(at(0x1800) + 8, std::uint64_t{0x1000});
    }
    for (std::size_t i = 0; i < 2; ++i) {
      put(frames[i] + layout.previous, i == 0 ? frames[1] : std::uintptr_t{0});
      put(frames[i] + layout.code, codes[i]);
      if (layout.index_unit == 0)
        put(frames[i] + layout.instruction, codes[i] + layout.instructions + 10 * i);
      else
        put(frames[i] + layout.instruction, static_cast<std::int32_t>(5 * i));
      put(codes[i] + layout.type, code_type());
      put(codes[i] + layout.function, names[i]);
      put(codes[i] + layout.file, names[i]);
      put(codes[i] + layout.first_line, static_cast<std::uint32_t>(100 * (i + 1)));
      text(names[i], i == 0 ? "inner" : "outer");
    }
  }

  [[nodiscard]] std::uintptr_t at(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(memory_.data()) + offset;
  }
  [[nodiscard]] std::uintptr_t thread() const { return at(0); }
  [[nodiscard]] std::uintptr_t code_type() const { return at(0xF000); }
  std::vector<std::uint64_t>& memory() { return memory_; }

  template <class Value>
  static void put(std::uintptr_t where, const Value& value) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): of the memory above
    std::memcpy(reinterpret_cast<void*>(where), &value, sizeof value);
  }
  void text(std::uintptr_t where, const std::string& characters) const {
    put(where + layout_.text_length, characters.size());
    put(where + layout_.text_state, std::uint32_t{0x64});  // compact, ASCII, of one byte each
    // NOLINTNEXTLINE(performance-no-int-to-ptr): likewise
    std::memcpy(reinterpret_cast<void*>(where + layout_.ascii), characters.data(), characters.size());
  }

 private:
  PythonLayout layout_;
  std::vector<std::uint64_t> memory_ = std::vector<std::uint64_t>(0x2000);
};

class EachPythonVersion : public testing::TestWithParam<std::uint32_t> {
 protected:
  PythonLayout layout = python_layout(GetParam(), published(GetParam())).value_or(PythonLayout{});
};

TEST_P(EachPythonVersion, HasTheFramesOfAThread) {
  const MadeUpThread made(layout);
  PythonFrames reader(layout, made.code_type());
  std::array<PythonFrame, 8> frames{};
  for (int i = 0; i < 100; ++i) {  // the later ones without checks
    ASSERT_EQ(reader.read(made.thread(), frames), 2U) << i;
    EXPECT_EQ(frames[0].first_line, 100U);
    EXPECT_EQ(frames[1].offset, layout.index_unit == 0 ? 10 : 5 * static_cast<int>(layout.index_unit));
    const auto inner = reader.place_of(frames[0]), outer = reader.place_of(frames[1]);
    ASSERT_TRUE(inner && outer);
    EXPECT_EQ(inner->function, "inner");
    EXPECT_EQ(outer->file, "outer");
  }
  std::array<PythonFrame, 1> one{};
  EXPECT_EQ(reader.read(made.thread(), one), 1U) << "as many as fit, the innermost first";
  EXPECT_THAT(reader.obstacle(), IsEmpty());
}

/// Nothing that is found there may end the process, whether it was checked before or not.
TEST_P(EachPythonVersion, SurvivesAnyMemory) {
  std::mt19937_64 random(17);  // NOLINT(cert-msc51-cpp): the same each time
  std::array<PythonFrame, 64> frames{};
  std::size_t found = 0, given_up = 0;
  for (int round = 0; round < 400; ++round) {
    MadeUpThread made(layout);
    PythonFrames reader(layout, made.code_type());
    const bool is_trusted = round % 2 == 0;
    for (int i = 0; i < 80 && is_trusted; ++i) found += reader.read(made.thread(), frames);
    for (int change = 0; change < 30; ++change) {
      for (int i = 0; i < 5; ++i) {
        std::uint64_t& word = made.memory()[random() % 0x900];  // threads, frames and codes
        const std::uint64_t kind = random() % 4;
        word = kind == 0   ? random()
               : kind == 1 ? made.at(random() % 0x10000)
               : kind == 2 ? 0
                           : random() % 4096;
      }
      const std::size_t number = reader.read(made.thread(), frames);
      for (std::size_t i = 0; i < number; ++i) (void)reader.place_of(frames[i]);
    }
    if (!reader.obstacle().empty()) ++given_up;
  }
  EXPECT_GT(found, 0U);
  EXPECT_GT(given_up, 100U) << "what makes no sense is given up, with a reason";
}

INSTANTIATE_TEST_SUITE_P(PythonFrames, EachPythonVersion,
                         testing::Values(python_3_9, 0x030A0000U, python_3_11, python_3_12, python_3_13,
                                         python_3_14));

TEST(PythonFrames, OfUnknownVersionsAreNotRead) {
  EXPECT_FALSE(python_layout(0x03080000, {}));
  EXPECT_FALSE(python_layout(0x030F0000, published(0x030F0000)));
  EXPECT_FALSE(python_layout(python_3_13, {})) << "it must say where its frames are";
  EXPECT_FALSE(python_layout(python_3_13, published(python_3_14)));
  auto words = published(python_3_14);
  words[2] = 1;
  EXPECT_FALSE(python_layout(python_3_14, words)) << "a build without the lock has other frames";
  words = published(python_3_14);
  words[26] = 1U << 20U;
  EXPECT_FALSE(python_layout(python_3_14, words)) << "a field a megabyte away";
}

}  // namespace
}  // namespace mprof::injection
