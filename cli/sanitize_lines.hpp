// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "runner/sanitize/sanitize.hpp"

namespace mprof::cli {

/// A line for each result, and one for each reason why a result is missing. On a terminal also one for what
/// goes on, since a tool can take a minute over a variant.
class SanitizeLines final : public SanitizeProgress {
 public:
  SanitizeLines(std::size_t steps, bool quiet);
  void step_begins(const SanitizeStep& step) override;
  void step_ends(const SanitizerResult& result) override;

 private:
  std::size_t steps_;
  std::size_t done_ = 0;
  bool quiet_;
  bool live_;
  std::set<std::string> skip_reasons_;
};

[[nodiscard]] std::size_t number_of(const std::vector<SanitizerResult>& results, SanitizerStatus status);

/// "72 results: 70 clean, 1 with errors, 1 skipped."
[[nodiscard]] std::string summary(const std::vector<SanitizerResult>& results);

}  // namespace mprof::cli
