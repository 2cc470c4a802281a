// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>

#include "model/run.hpp"

namespace mprof {

/// Two coordinators that measure the same cases at the same time. Only one of them works at any moment. While
/// both sample a case they change after each sample, so that what slows the machine down for longer than a
/// sample slows down both sides.
///
/// G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd edition, Wiley 2005,
/// chapter 3 (paired comparisons).
class Alternation {
 public:
  enum class Side : std::size_t { baseline, candidate };
  /// Where a side is in the schedule, which is the same for both; ascending, except for cases that run once
  /// more, alone.
  using Step = std::uint64_t;

  /// Waits until the other side is at this step as well, or beyond it. Not to be called in a turn.
  void arrive(Side side, Step step);
  /// The same before a side samples the case of this step. The first turn is the baseline's at half of
  /// the steps, so that no side is always the later one.
  void meet(Side side, Step step);
  /// The rule by which a side has enough samples of the case; nothing where it has not.
  void note(Side side, std::optional<Ending> ending);
  /// Whether the side takes another sample, to be asked when it has its turn again. It does until there are
  /// enough of both sides, or no more time for one of them.
  [[nodiscard]] bool wants_another(Side side);
  /// The side is done with the case, however it ended.
  void part(Side side);
  /// The side measures nothing more: the other one goes on alone, or stops where this one failed.
  void leave(Side side, bool has_failed);
  /// Whether the other side failed: what is left of this one has nothing to be compared with.
  [[nodiscard]] bool other_failed(Side side);

  /// The right to work, held for as long as it lives.
  class Turn {
   public:
    Turn(Alternation& alternation, Side side) : alternation_(alternation), side_(side) { take(); }
    ~Turn() { give(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// After a sample: the other side's turn is next, if it samples the same case. Waits for the own one.
    void change();
    void take();
    void give();

   private:
    Alternation& alternation_;
    Side side_;
    bool is_held_ = false;
  };

 private:
  struct Place {
    Step step = 0;
    bool samples = false;  ///< the case of that step
    bool has_left = false;
    bool has_failed = false;
    std::optional<Ending> ending{};
  };
  [[nodiscard]] Place& of(Side side) { return places_[static_cast<std::size_t>(side)]; }
  [[nodiscard]] static Side other(Side side) {
    return side == Side::baseline ? Side::candidate : Side::baseline;
  }
  [[nodiscard]] bool sample_together();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Place, 2> places_{};
  Step met_ = 0;  ///< where both sides met last
  bool is_taken_ = false;
  std::optional<Side> next_{};  ///< whose turn is next, where both sample a case
};

}  // namespace mprof
