// SPDX-License-Identifier: MIT
#include "kernels/choices.hpp"

#include <utility>

namespace mprof::choices {
namespace {

All& of_the_case() {
  static All all;
  return all;
}

}  // namespace

std::optional<std::string> known(const std::string& problem) {
  const auto found = of_the_case().find(problem);
  if (found == of_the_case().end()) return std::nullopt;
  return found->second;
}

void keep(const std::string& problem, const std::string& choice) {
  of_the_case()[problem] = choice;
}

void begin(All known) {
  of_the_case() = std::move(known);
}

All end() {
  return std::exchange(of_the_case(), {});
}

}  // namespace mprof::choices
