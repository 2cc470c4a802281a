// SPDX-License-Identifier: MIT
#include "inputs/idx.hpp"

#include <algorithm>
#include <filesystem>

#include <zlib.h>

#include "inputs/gzip.hpp"
#include "tests/inputs/expect_error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::usage_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

/// 2 x 3 bytes: 1 to 6.
Bytes small_idx() {
  return bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6});
}

Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes result(deflateBound(&stream, plain.size()) + 32);
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

std::string text(const Bytes& contents) {
  return {reinterpret_cast<const char*>(contents.data()), contents.size()};
}

std::string idx_error(const Bytes& contents) {
  return usage_error([&] { static_cast<void>(parse_idx(contents, "images.idx")); });
}

std::string gzip_error(const Bytes& contents, std::size_t limit = 1000) {
  return usage_error([&] { static_cast<void>(gunzip(contents, "images.gz", limit)); });
}

TEST(Idx, ReadsShapeAndValues) {
  const IdxArray array = parse_idx(small_idx(), "small");
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(array.values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Idx, ReadsAnEmptyArray) {
  const IdxArray array = parse_idx(bytes({0, 0, 8, 1, 0, 0, 0, 0}), "empty");
  EXPECT_THAT(array.shape, ElementsAre(0));
  EXPECT_TRUE(array.values.empty());
}

TEST(Idx, DimensionsAreBigEndianAndUnsigned) {
  EXPECT_THAT(idx_error(bytes({0, 0, 8, 1, 0x80, 0x01, 0x02, 0x03})),
              HasSubstr("0 bytes of elements, expected 2147549699 for dimensions 2147549699"));
}

TEST(Idx, EachErrorNamesTheFileAndTheNextStep) {
  const std::string message = idx_error(bytes({1, 2, 3, 4}));
  EXPECT_THAT(message, StartsWith("images.idx: "));
  EXPECT_THAT(message,
              HasSubstr("Install Debian's package dataset-fashion-mnist, or point --data at a folder"));
}

TEST(Idx, RefusesAWrongMagicNumber) {
  EXPECT_THAT(idx_error(bytes({1, 2, 8, 1, 0, 0, 0, 0})),
              HasSubstr("begins with 0x0102, expected the IDX magic"));
}

TEST(Idx, RefusesAnotherElementType) {
  EXPECT_THAT(idx_error(bytes({0, 0, 0x0D, 1, 0, 0, 0, 0})), HasSubstr("element type 0x0d, expected 0x08"));
}

TEST(Idx, RefusesRankZero) {
  EXPECT_THAT(idx_error(bytes({0, 0, 8, 0})), HasSubstr("rank 0"));
}

TEST(Idx, RefusesAHeaderCutShort) {
  EXPECT_THAT(idx_error({}), HasSubstr("0 bytes long, expected an IDX header"));
  EXPECT_THAT(idx_error(bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0})),
              HasSubstr("ends within its header: 11 bytes"));
  EXPECT_THAT(idx_error(bytes({0, 0, 8, 255, 0, 0, 0, 1})), HasSubstr("expected 255 dimensions"));
}

TEST(Idx, RefusesMissingAndTrailingElements) {
  Bytes missing = small_idx();
  missing.pop_back();
  EXPECT_THAT(idx_error(missing), HasSubstr("5 bytes of elements, expected 6 for dimensions 2 x 3"));
  Bytes trailing = small_idx();
  trailing.push_back(std::byte{7});
  EXPECT_THAT(idx_error(trailing), HasSubstr("7 bytes of elements, expected 6"));
}

TEST(Idx, RefusesDimensionsWhoseProductOverflows) {
  // (2^32 - 1)^3 is above 2^64; were it to wrap around, it could look like any small size.
  Bytes huge = bytes({0, 0, 8, 3});
  huge.insert(huge.end(), 12, std::byte{0xFF});
  EXPECT_THAT(idx_error(huge), HasSubstr("more elements than memory has addresses"));
  // 2^16 x 2^16 x 2^16 x 2^16 = 2^64 wraps around to exactly 0.
  EXPECT_THAT(idx_error(bytes({0, 0, 8, 4, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0})),
              HasSubstr("more elements than memory has addresses"));
}

TEST(Gzip, GivesBackWhatWasCompressed) {
  Bytes plain(300'000);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::byte>(i * i / 7);
  EXPECT_EQ(gunzip(gzip(plain), "plain", plain.size()), plain);
  EXPECT_EQ(gunzip(gzip({}), "empty", 10), Bytes{});
}

TEST(Gzip, RefusesWhatIsNotGzip) {
  EXPECT_THAT(gzip_error(small_idx()), HasSubstr("incorrect header check"));
  EXPECT_THAT(gzip_error({}), HasSubstr("cut short after 0 compressed bytes"));
}

TEST(Gzip, RefusesEveryTruncation) {
  const Bytes whole = gzip(small_idx());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(gzip_error(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))),
                HasSubstr("cut short"))
        << size << " of " << whole.size() << " bytes";
  }
}

TEST(Gzip, RefusesAFlippedChecksum) {
  Bytes damaged = gzip(small_idx());
  damaged[damaged.size() - 8] ^= std::byte{1};  // the trailer: CRC-32, then the length
  EXPECT_THAT(gzip_error(damaged), HasSubstr("incorrect data check"));
}

TEST(Gzip, RefusesAWrongLength) {
  Bytes damaged = gzip(small_idx());
  damaged[damaged.size() - 4] ^= std::byte{1};
  EXPECT_THAT(gzip_error(damaged), HasSubstr("incorrect length check"));
}

TEST(Gzip, RefusesWhatFollowsTheEnd) {
  Bytes longer = gzip(small_idx());
  longer.insert(longer.end(), 3, std::byte{0});
  EXPECT_THAT(gzip_error(longer), HasSubstr("3 bytes follow the end of the gzip stream"));
}

TEST(Gzip, RefusesToExpandBeyondTheLimit) {
  const Bytes zeros = gzip(Bytes(1'000'000));
  EXPECT_LT(zeros.size(), 10'000U);
  EXPECT_THAT(gzip_error(zeros, 999'999), HasSubstr("more than the expected 999999 bytes"));
  EXPECT_EQ(gunzip(zeros, "zeros", 1'000'000).size(), 1'000'000U);
}

TEST(Idx, ReadsAGzipFile) {
  const test::TemporaryDirectory directory;
  const auto path = directory.write("small.gz", text(gzip(small_idx())));
  EXPECT_THAT(read_idx(path).values, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Idx, SaysWhichFileIsMissingAndWhereToGetIt) {
  const test::TemporaryDirectory directory;
  const std::string message =
      usage_error([&] { static_cast<void>(read_idx(directory.path() / "absent.gz")); });
  EXPECT_THAT(message, HasSubstr((directory.path() / "absent.gz").string()));
  EXPECT_THAT(message, HasSubstr("dataset-fashion-mnist"));
}

TEST(Idx, ReadsTheRealTestImages) {
  const std::filesystem::path debian = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(debian))
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  const IdxArray images = read_idx(debian / "t10k-images-idx3-ubyte.gz");
  EXPECT_THAT(images.shape, ElementsAre(10000, 28, 28));
  const IdxArray labels = read_idx(debian / "t10k-labels-idx1-ubyte.gz");
  EXPECT_THAT(labels.shape, ElementsAre(10000));
  EXPECT_EQ(std::ranges::count(labels.values, 9), 1000);  // each of the ten classes has a thousand
}

}  // namespace
}  // namespace mprof
