// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// rubric.toml: the points that a judged file can have.
namespace mprof {

/// Points for a time. One of `speed_up`, `seconds`, and `from` with `to` is given.
struct TimeRule {
  std::string name{};
  double points = 0;
  std::optional<double> speed_up{};  ///< over what the file is compared with, at least
  std::optional<double> seconds{};   ///< s, at most
  /// Speed-ups: none of the points up to `from`, all of them from `to` on, and in between in proportion to
  /// the logarithm.
  std::optional<double> from{};
  std::optional<double> to{};
};

struct Rubric {
  double right = 0;  ///< points for what is right; without these there are no others
  std::vector<TimeRule> times{};
  double expectations = 0;  ///< points, in proportion to how many of the file's expectations were met
};

/// Throws Error(usage) "FILE:LINE: ..." for a text that is no rubric.
[[nodiscard]] Rubric parse_rubric(std::string_view text, const std::string& file);
[[nodiscard]] Rubric read_rubric(const std::filesystem::path& file);

}  // namespace mprof
