// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "report/analysis/judgement/compare.hpp"

namespace mprof {

/// A version of a source, compared with others.
struct VersionSides {
  std::string name{};      ///< as the user calls the source
  std::string baseline{};  ///< the variant that it is compared with
  std::size_t number = 0;
  std::size_t before = 0;             ///< the version that `since` begins with
  const Comparison* over = nullptr;   ///< of the baseline with this version; never nullptr
  const Comparison* since = nullptr;  ///< of the version before with this one; nullptr: no version before
};

/// What `mprof watch` prints of a version whose output is right: a line a time with both verdicts, then the
/// first reason of each op whose time changed. Plain text of at most `width` columns.
[[nodiscard]] std::string render_version(const VersionSides& sides, std::size_t width);

}  // namespace mprof
