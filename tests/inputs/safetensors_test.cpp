// SPDX-License-Identifier: MIT
#include "inputs/safetensors.hpp"

#include <array>
#include <cstring>
#include <filesystem>

#include "tests/inputs/expect_error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::usage_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Sizes = std::vector<std::size_t>;

/// A file: the header's length, the header, `data_bytes` bytes 0, 1, 2, ...
std::string file(std::string_view header, std::size_t data_bytes) {
  std::string result(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(result.data(), &length, sizeof length);
  result += header;
  for (std::size_t i = 0; i < data_bytes; ++i) result += static_cast<char>(i);
  return result;
}

Safetensors parse(const std::string& contents) {
  return {std::as_bytes(std::span(contents)), "weights"};
}

std::string error_of(const std::string& contents) {
  return usage_error([&] { static_cast<void>(parse(contents)); });
}

/// The error for a file with one tensor "a" that the header describes by `entry`.
std::string error_of_entry(std::string_view entry, std::size_t data_bytes) {
  return error_of(file("{\"a\":" + std::string(entry) + "}", data_bytes));
}

constexpr std::string_view two_tensors = R"({"__metadata__":{"format":"pt"},)"
                                         R"("b":{"dtype":"U8","shape":[2,2],"data_offsets":[8,12]},)"
                                         R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}   )";

TEST(Safetensors, ReadsTensorsOfBothTypes) {
  std::string contents = file(two_tensors, 12);
  const std::array<float, 2> values{1.5F, -2.0F};
  std::memcpy(contents.data() + 8 + two_tensors.size(), values.data(), sizeof values);
  const Safetensors parsed = parse(contents);
  EXPECT_EQ(parsed.tensors().size(), 2U);
  EXPECT_THAT(parsed.f32("a", Sizes{2}), ElementsAre(1.5F, -2.0F));
  EXPECT_THAT(parsed.u8("b", Sizes{2, 2}), ElementsAre(8, 9, 10, 11));
}

TEST(Safetensors, ReadsScalarsAndEmptyTensors) {
  const Safetensors parsed = parse(file(R"({"scalar":{"dtype":"U8","shape":[],"data_offsets":[0,1]},)"
                                        R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[1,1]}})",
                                        1));
  EXPECT_THAT(parsed.u8("scalar", Sizes{}), ElementsAre(0));
  EXPECT_TRUE(parsed.f32("none", Sizes{0, 3}).empty());
}

TEST(Safetensors, SaysWhatATensorIsInsteadOfWhatWasAskedFor) {
  const Safetensors parsed = parse(file(two_tensors, 12));
  const auto f32_error = [&](const char* name, const Sizes& shape) {
    return usage_error([&] { static_cast<void>(parsed.f32(name, shape)); });
  };
  EXPECT_THAT(f32_error("c", {2}), HasSubstr("has no tensor \"c\""));
  EXPECT_THAT(f32_error("a", {3, 1}), HasSubstr("tensor \"a\" is F32 [2], expected F32 [3, 1]"));
  EXPECT_THAT(f32_error("b", {2, 2}), HasSubstr("tensor \"b\" is U8 [2, 2], expected F32 [2, 2]"));
}

TEST(Safetensors, EachErrorNamesTheFileAndTheNextStep) {
  EXPECT_THAT(error_of("short"), StartsWith("weights: 5 bytes long"));
  EXPECT_THAT(error_of("short"), HasSubstr("tools/train_lenet.py"));
}

TEST(Safetensors, RefusesAHeaderLongerThanTheFile) {
  std::string contents = file("{}", 0);
  contents[0] = 3;
  EXPECT_THAT(error_of(contents), HasSubstr("its header has 3 bytes, expected at most 2"));
  contents.replace(0, 8, 8, '\xFF');  // 8 + length would wrap around
  EXPECT_THAT(error_of(contents), HasSubstr("its header has 18446744073709551615 bytes, expected at most 2"));
}

TEST(Safetensors, RefusesEveryTruncation) {
  const std::string whole = file(two_tensors, 12);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(error_of(whole.substr(0, size)).empty()) << size << " of " << whole.size() << " bytes";
  }
}

TEST(Safetensors, RefusesAHeaderThatIsNoJsonObject) {
  EXPECT_THAT(error_of(file("{\"a\":", 0)), HasSubstr("the header is no valid JSON"));
  EXPECT_THAT(error_of(file("{\"\xFF\":1}", 0)), HasSubstr("the header is no valid JSON"));
  EXPECT_THAT(error_of(file("", 0)), HasSubstr("the header is no valid JSON"));
  EXPECT_THAT(error_of(file("[1]", 0)), HasSubstr("the header is a JSON array, expected an object"));
  EXPECT_THAT(error_of(file("{\"a\":NaN}", 0)), HasSubstr("the header is no valid JSON"));
}

TEST(Safetensors, RefusesAKeyThatIsThereTwice) {
  constexpr std::string_view entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(error_of(file("{\"a\":" + std::string(entry) + ",\"a\":" + std::string(entry) + "}", 1)),
              HasSubstr("the header has the key \"a\" twice"));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","dtype":"F32","shape":[1],"data_offsets":[0,1]})", 1),
              HasSubstr("the header has the key \"dtype\" twice"));
}

TEST(Safetensors, NamesATypeThatItDoesNotRead) {
  EXPECT_THAT(error_of_entry(R"({"dtype":"BF16","shape":[1],"data_offsets":[0,2]})", 2),
              HasSubstr("tensor \"a\": has dtype BF16, expected F32 or U8"));
}

TEST(Safetensors, RefusesEntriesThatLackSomething) {
  EXPECT_THAT(error_of_entry("7", 0), HasSubstr("tensor \"a\": is a JSON number, expected an object"));
  EXPECT_THAT(error_of_entry(R"({"shape":[1],"data_offsets":[0,1]})", 1), HasSubstr("has no \"dtype\""));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","data_offsets":[0,1]})", 1),
              HasSubstr("has no list \"shape\""));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","shape":[1]})", 1), HasSubstr("has no list \"data_offsets\""));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[0]})", 1),
              HasSubstr("1 data_offsets"));
}

TEST(Safetensors, RefusesSizesThatAreNoWholeNumbers) {
  for (const char* shape : {"-1", "1.0", "\"1\"", "null", "18446744073709551616"}) {
    EXPECT_THAT(
        error_of_entry(std::string(R"({"dtype":"U8","shape":[)") + shape + R"(],"data_offsets":[0,1]})", 1),
        HasSubstr("expected whole numbers from 0"))
        << shape;
  }
}

TEST(Safetensors, RefusesOffsetsOutOfBoundsOrInReverse) {
  EXPECT_THAT(
      error_of_entry(R"({"dtype":"U8","shape":[4],"data_offsets":[0,4]})", 3),
      HasSubstr("lies at bytes 0 to 4, expected them in order and within the file's 3 bytes of data"));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[2,1]})", 3),
              HasSubstr("bytes 2 to 1"));
  EXPECT_THAT(error_of_entry(R"({"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551615]})", 3),
              HasSubstr("bytes 0 to 18446744073709551615"));
}

TEST(Safetensors, RefusesASizeThatShapeAndTypeDoNotGive) {
  EXPECT_THAT(error_of_entry(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})", 4),
              HasSubstr("has 4 bytes, expected 8 for F32 [2]"));
}

TEST(Safetensors, RefusesAShapeThatOverflows) {
  // 2^62 floats are 2^64 bytes, which wrap around to the 0 that the offsets give.
  EXPECT_THAT(error_of_entry(R"({"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]})", 0),
              HasSubstr("more bytes than memory has addresses"));
}

TEST(Safetensors, RefusesOverlapsHolesAndBytesThatNobodyOwns) {
  const auto two = [](const char* first, const char* second) {
    return std::string(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)") + first +
           R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" + second + "}}";
  };
  EXPECT_THAT(error_of(file(two("[0,2]", "[1,3]"), 3)), HasSubstr("tensors overlap"));
  EXPECT_THAT(error_of(file(two("[0,2]", "[0,2]"), 2)), HasSubstr("tensors overlap"));
  EXPECT_THAT(error_of(file(two("[0,2]", "[3,5]"), 5)), HasSubstr("tensors leave a hole"));
  EXPECT_THAT(error_of(file(two("[0,2]", "[2,4]"), 5)),
              HasSubstr("5 bytes of data, expected the 4 of its tensors"));
}

TEST(Safetensors, ReadsTheTrainedWeights) {
  const Safetensors weights =
      Safetensors::read(std::filesystem::path(MPROF_SOURCE_DIR) / "data" / "lenet.safetensors");
  EXPECT_EQ(weights.tensors().size(), 6U);
  EXPECT_EQ(weights.f32("conv2.weight", Sizes{16, 4, 7, 7}).size(), 16U * 4 * 7 * 7);
}

TEST(Safetensors, SaysWhichFileIsMissing) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "absent.safetensors";
  const std::string message = usage_error([&] { static_cast<void>(Safetensors::read(path)); });
  EXPECT_THAT(message, HasSubstr(path.string()));
  EXPECT_THAT(message, HasSubstr("mprof needs the trained weights"));
}

}  // namespace
}  // namespace mprof
