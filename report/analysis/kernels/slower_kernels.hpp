// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// Why kernels take longer somewhere, on one GPU or in one step, than usually.
namespace mprof {

/// A kernel against the same one elsewhere. Times in ns.
struct SlowerKernel {
  std::string_view name{};
  double factor = 1;        ///< its mean time over the usual one
  double time = 0;          ///< of all its launches
  double more = 0;          ///< of all its launches, as the next
  double more_by_some = 0;  ///< by single launches that take longer than most
};

/// ns, by which the mean of launches exceeds their median: what single ones of them take longer. A GPU that
/// is shared lets a part of the launches wait.
[[nodiscard]] double excess_of_mean(double mean, double median);

struct Slowness {
  enum class Of : std::uint8_t {
    some_launches,  ///< some launches take longer, and others of the same kernels do not
    all_kernels,    ///< nearly all of them do, by much the same factor
    one_kernel,     ///< one of them explains most of it
  };
  Of of = Of::all_kernels;
  double factor = 1;             ///< 1 of some launches
  std::string_view kernel = {};  ///< of one_kernel
};

/// What explains half of `more` ns at least; nullopt: nothing does.
[[nodiscard]] std::optional<Slowness> slowness_of(const std::vector<SlowerKernel>& kernels, double more);

}  // namespace mprof
