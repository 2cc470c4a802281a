// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace mprof {

/// Something to be known of a library that a variant calls: its version, the kernels that it chose.
struct LibraryFact {
  std::string name{};  ///< "cuDNN"
  std::function<std::string()> value{};
};

}  // namespace mprof
