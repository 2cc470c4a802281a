// SPDX-License-Identifier: MIT
#pragma once

#include "model/run.hpp"

namespace mprof {

/// Whether samples that something on the host disturbed are worth taking again. They are, once, where the
/// disturbance may be over. What a neighbour on the host or its hypervisor does for minutes disturbs the
/// second samples as well. Each case would then take twice as long for nothing.
class HostRetries {
 public:
  /// What the next case in the order of the run went through.
  void add(const Sampling& sampling) {
    if (sampling.host_disturbance.empty())
      was_in_vain_ = false;
    else if (sampling.retries > 0)
      was_in_vain_ = true;
  }

  /// False until a case is undisturbed, where the last one was tried again without success.
  [[nodiscard]] bool are_worth_it() const { return !was_in_vain_; }

 private:
  bool was_in_vain_ = false;
};

}  // namespace mprof
