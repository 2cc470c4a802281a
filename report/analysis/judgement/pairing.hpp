// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/run.hpp"

/// Which cases of two runs belong together.
namespace mprof {

/// What a reader may say of it; nothing: cases of one key.
struct Pairing {
  std::map<std::string, std::string> renamed{};  ///< variants of A by id, and what each is called in B
  /// Two variants by id, or two points of their parameters as ids of cases write them
  /// ("map/tiled[width=16]"). Cases of `of` in A are paired with cases of `with` in B at the same problem.
  /// Both are given or neither. A parameter that is not named is at its default.
  std::string of{};
  std::string with{};
};

struct CasePair {
  const Case* a = nullptr;
  const Case* b = nullptr;
  bool is_by_id = false;  ///< their parameters differ: a default did
};

/// The cases that take part. Nothing of them in `a` and `b` outlives the runs.
struct PairedCases {
  std::vector<CasePair> pairs;  ///< in the order of A
  std::vector<const Case*> only_in_a;
  std::vector<const Case*> only_in_b;
};

/// Cases of one key belong together. Otherwise cases of one id do: parameters that the id does not name are
/// at another default in B, or in one of the runs alone. A renamed variant may have lost or gained
/// parameters. What only one side has is left out of the key where A lacks it, at B's default. Throws
/// Error(usage), with the nearest known names, when a variant or a point is in no case of its run.
[[nodiscard]] PairedCases pair_cases(const Run& a, const Run& b, const Pairing& pairing);

}  // namespace mprof
