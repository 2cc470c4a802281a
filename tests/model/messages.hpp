// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "system/error.hpp"

namespace mprof::test {

/// The message that refuses an action; a test that expects a refusal fails without one.
inline std::string message_of(const std::function<void()>& action, ExitCode code = ExitCode::usage) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not contain \"" << part << "\"";
}

/// The text with the first `from` replaced, which must be there.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << " is not in " << text;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// A JSON list of this element again and again, of at least so many bytes.
inline std::string list_of(const std::string& element, std::size_t bytes) {
  std::string block;
  while (block.size() < 10'000) block += "," + element;
  std::string text = "[" + element;
  while (text.size() < bytes) text += block;
  return text + "]";
}

}  // namespace mprof::test
