// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

namespace mprof {

/// What fewer threads may do at once than there are. Of the threads that wait, the one with the most left to
/// do is next: then all are done the soonest.
class Seats {
 public:
  explicit Seats(std::size_t count) : free_(count) {}

  /// A seat, for as long as it lives.
  class Taken {
   public:
    /// Waits for one. `left`: how much the caller has left to do, in any unit; of equals, who came first.
    Taken(Seats& seats, double left) : seats_(seats) { seats_.take(left); }
    ~Taken() { seats_.give_back(); }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

   private:
    Seats& seats_;
  };

  [[nodiscard]] std::size_t waiting() const;

 private:
  void take(double left);
  void give_back();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t free_;
  std::uint64_t came_ = 0;
  std::set<std::pair<double, std::uint64_t>> waiting_;  ///< how much is left, negative, and when each came
};

}  // namespace mprof
