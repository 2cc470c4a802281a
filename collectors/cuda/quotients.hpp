// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// What to count instead of metrics that are quotients of two counts. For such a metric, CUPTI takes both
/// counts from code that it adds to the kernel at each access of memory. Where the hardware counts one of the
/// two, less code is added. A kernel of many loads took 48 times as long with the whole code, and 29 times
/// with the lesser code (H200). The values are the same, to the last digit in 70 kernels.
class Quotients {
 public:
  /// `has` says whether the GPU counts all of these.
  Quotients(std::vector<std::string> metrics, const std::function<bool(std::span<const std::string>)>& has);

  /// What must be counted, each once.
  [[nodiscard]] const std::vector<std::string>& parts() const { return parts_; }
  /// The values of the metrics, in their order, from the values of parts(). 0 where there was nothing to
  /// divide by, as CUPTI has it.
  [[nodiscard]] std::vector<double> values(std::span<const double> of_parts) const;

 private:
  [[nodiscard]] double part(std::string_view name, std::span<const double> of_parts) const;

  std::vector<std::string> metrics_;
  std::vector<std::string> parts_;
};

}  // namespace mprof
