// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What made a time say less than it seems to: another process, a GPU that throttled, a hypervisor.
namespace mprof {

struct Disturbance {
  std::string cause{};   ///< "another process used the GPU": the same for each time that it disturbed
  std::string detail{};  ///< who, or how much: "pid 4242 (2.1 GiB)"; empty: that is not known
  bool operator==(const Disturbance&) const = default;
};

using Disturbances = std::vector<Disturbance>;

/// As the record has them: "CAUSE: DETAIL; CAUSE".
[[nodiscard]] std::string to_text(const Disturbances& disturbances);
/// The inverse: the one place that reads such text.
[[nodiscard]] Disturbances disturbances_in(std::string_view text);

/// What disturbed a time that several rounds took, by the first of them that was disturbed.
struct Disturbed {
  Disturbances by{};
  std::size_t rounds = 0;     ///< that were disturbed
  std::size_t of_rounds = 0;  ///< all of them

  [[nodiscard]] bool empty() const { return by.empty(); }
  bool operator==(const Disturbed&) const = default;
};

/// Of a time as derive() has it: the same text, and "(in 1 of 3 rounds)" behind it.
[[nodiscard]] Disturbed disturbed_in(std::string_view text);

}  // namespace mprof
