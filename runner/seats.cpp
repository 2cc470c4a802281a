// SPDX-License-Identifier: MIT
#include "runner/seats.hpp"

namespace mprof {

void Seats::take(double left) {
  std::unique_lock lock(mutex_);
  const auto me = waiting_.emplace(-left, came_++).first;
  changed_.wait(lock, [&] { return free_ > 0 && waiting_.begin() == me; });
  waiting_.erase(me);
  --free_;
  if (free_ > 0) changed_.notify_all();
}

std::size_t Seats::waiting() const {
  const std::scoped_lock lock(mutex_);
  return waiting_.size();
}

void Seats::give_back() {
  const std::scoped_lock lock(mutex_);
  ++free_;
  changed_.notify_all();
}

}  // namespace mprof
