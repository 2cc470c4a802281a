// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace mprof {

/// By how much something that only grows (host time, CPU time, page faults) grew in one sample of a case.
/// Pauses are left out, and each forward stage counts as if it had run once. The runner may repeat a forward
/// stage. Everything from its start until it starts again is left out, so that the last one counts, as a
/// whole.
///
/// `Reading` has + and -, and a default value that is nothing.
template <typename Reading>
class SampleGrowth {
 public:
  void begin(const Reading& now) {
    start_ = now;
    left_out_ = {};
    forwards_.clear();
  }

  void pause(const Reading& now) { paused_at_ = now; }
  void resume(const Reading& now) { left_out_ = left_out_ + (now - paused_at_); }

  void begin_forward(std::string_view op, const Reading& now) {
    const Reading here = now - left_out_;
    const auto [forward, first] = forwards_.try_emplace(std::string(op), here);
    if (first) return;
    // What lay in between is left out from now on; on the shortened axis this forward starts where the last
    // one did.
    left_out_ = left_out_ + (here - forward->second);
  }

  [[nodiscard]] Reading end(const Reading& now) const { return now - start_ - left_out_; }

 private:
  Reading start_{};
  Reading left_out_{};
  Reading paused_at_{};
  std::map<std::string, Reading> forwards_;  // op -> its forward's start, with all that is left out taken off
};

}  // namespace mprof
