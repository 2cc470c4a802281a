#pragma once

#include <cstdint>

#include "model/run.hpp"

namespace mprof {

/// Whether samples that something on the host disturbed are worth taking again. They are, once, while that
/// helps: what a neighbour on the host or its hypervisor does for minutes disturbs the second ones as well,
/// and each case would take twice as long for nothing.
class HostRetries {
 public:
  /// What the next case in the order of the run went through.
  void add(const Sampling& sampling) {
    if (sampling.host_disturbance.empty())
      vain_ = 0;
    else if (sampling.retries > 0)
      ++vain_;
  }

  /// Until a case is undisturbed, where the last ones were tried again in vain.
  [[nodiscard]] bool are_worth_it() const { return vain_ < most_vain; }

 private:
  static constexpr std::uint32_t most_vain = 3;
  std::uint32_t vain_ = 0;
};

}  // namespace mprof
