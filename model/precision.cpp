// SPDX-License-Identifier: MIT
#include "model/precision.hpp"

namespace mprof {
namespace {

/// Up to the stroke of "fp16/tf32", and after it; the second one is empty of a single format.
std::array<std::string_view, 2> names_of(std::string_view format) {
  const std::size_t stroke = format.find('/');
  if (stroke == std::string_view::npos) return {format.empty() ? "fp32" : format, ""};
  return {format.substr(0, stroke), format.substr(stroke + 1)};
}

}  // namespace

bool may_be_one_format(std::string_view a, std::string_view b) {
  for (const std::string_view of_a : names_of(a)) {
    for (const std::string_view of_b : names_of(b)) {
      if (!of_a.empty() && of_a == of_b) return true;
    }
  }
  return false;
}

}  // namespace mprof
