// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace mprof {

/// The orders in which a workload's items can be had without moving any: its inputs hold the first ones again
/// behind the last one, and an order begins at one of these. An output of another order is wrong in every
/// item, so that no cached output passes for a new one.
class Turning {
 public:
  /// At most `most` orders: 1 where no input would change with them.
  explicit Turning(std::size_t items, std::size_t most = most_turns)
      : items_(items),
        // Far apart and at powers of two, so that the inputs of all orders are aligned alike.
        step_(std::bit_floor(std::clamp<std::size_t>(items / most_turns, 1, largest_step))),
        turns_(std::clamp<std::size_t>(items, 1, most)) {}

  [[nodiscard]] std::size_t turns() const { return turns_; }
  /// The item that comes first.
  [[nodiscard]] std::size_t first(std::size_t turn) const { return turn * step_; }
  /// The item at a place of the order that begins with `first`.
  [[nodiscard]] std::size_t item(std::size_t first, std::size_t place) const {
    return (first + place) % items_;
  }
  /// Items that the inputs hold, including the ones that are there twice.
  [[nodiscard]] std::size_t held() const { return items_ + first(turns_ - 1); }

 private:
  static constexpr std::size_t most_turns = 8;
  static constexpr std::size_t largest_step = 256;

  std::size_t items_;
  std::size_t step_;
  std::size_t turns_;
};

}  // namespace mprof
