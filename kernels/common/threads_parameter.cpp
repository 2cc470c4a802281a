// SPDX-License-Identifier: MIT
#include "kernels/common/threads_parameter.hpp"

#include <string>

#include <fmt/format.h>

#include "kernels/common/parallel.hpp"

namespace mprof {

ParameterInfo threads_parameter(std::string_view shared) {
  return {.name = "threads",
          .meaning = fmt::format("threads that share {}; all: one for each CPU that can be used", shared),
          .default_value = "all",
          .values = {"all", "1", "2", "4", "8", "16", "32", "64"}};
}

std::size_t threads_of(const Parameters& parameters) {
  const std::string& value = parameters.at("threads");
  return value == "all" ? hardware_threads() : std::stoul(value);
}

}  // namespace mprof
