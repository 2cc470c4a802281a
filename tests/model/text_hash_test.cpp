// SPDX-License-Identifier: MIT
#include "system/text_hash.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

// Names of files and keys of rows stay what they are: these are the published values of FNV-1a.
TEST(TextHash, IsTheSameInEachVersion) {
  static_assert(text_hash("") == 0xcbf29ce484222325);
  static_assert(text_hash("a") == 0xaf63dc4c8601ec8c);
  EXPECT_EQ(text_hash("foobar"), 0x85944171f73967e8);
  EXPECT_EQ(text_hash("bar", text_hash("foo")), text_hash("foobar"));
}

}  // namespace
}  // namespace mprof
