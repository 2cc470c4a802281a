// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/error.hpp"

namespace mprof::test {

/// Runs `work`, which must throw Error(usage), and returns its message.
template <typename Work>
std::string usage_error(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

}  // namespace mprof::test
