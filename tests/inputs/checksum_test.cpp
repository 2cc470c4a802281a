// SPDX-License-Identifier: MIT
#include "inputs/checksum.hpp"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

std::string checksum_of(const std::string& content) {
  const test::TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  std::ofstream(path, std::ios::binary) << content;
  return sha256_of_file(path);
}

// The examples of FIPS 180-2, and the empty message.
TEST(Checksum, IsSha256) {
  EXPECT_EQ(checksum_of(""), "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(checksum_of("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(checksum_of(std::string(1'000'000, 'a')),
            "sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Checksum, EndsWhenItIsAskedToStop) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(sha256_of_file("/dev/zero", stop.get_token()), "");
}

TEST(Checksum, OfAFileThatIsNotThereNamesIt) {
  try {
    static_cast<void>(sha256_of_file("/absent/file"));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("/absent/file: No such file"));
  }
}

}  // namespace
}  // namespace mprof
