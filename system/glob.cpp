// SPDX-License-Identifier: MIT
#include "system/glob.hpp"

#include <fnmatch.h>

namespace mprof {

bool matches(const std::string& pattern, const std::string& text) {
  return text == pattern || ::fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace mprof
