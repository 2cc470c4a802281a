// SPDX-License-Identifier: MIT
#include "inputs/first_suite.hpp"

#include "embedded/first_suite.hpp"

namespace mprof {

std::string_view first_suite() {
  return *embedded::first_suite("first_suite.toml");
}

}  // namespace mprof
