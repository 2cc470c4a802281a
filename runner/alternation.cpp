// SPDX-License-Identifier: MIT
#include "runner/alternation.hpp"

#include <bit>

namespace mprof {
namespace {

/// By all of its digits: a step may count in more than one of them.
bool is_even(Alternation::Step step) {
  return std::popcount(step) % 2 == 0;
}

bool is_limit(const std::optional<Ending>& ending) {
  return ending && *ending != Ending::confidence;
}

}  // namespace

bool Alternation::sample_together() {
  const auto& [a, b] = places_;
  return a.samples && b.samples && a.step == b.step;
}

void Alternation::arrive(Side side, Step step) {
  std::unique_lock lock(mutex_);
  of(side).step = step;
  changed_.notify_all();
  const Place& rival = of(other(side));
  changed_.wait(lock, [&] { return rival.has_left || rival.step >= step; });
}

void Alternation::meet(Side side, Step step) {
  std::unique_lock lock(mutex_);
  of(side) = {.step = step, .samples = true};
  if (sample_together()) {
    met_ = step;
    next_ = is_even(step) ? Side::baseline : Side::candidate;
  }
  changed_.notify_all();
  const Place& rival = of(other(side));
  changed_.wait(lock, [&] { return rival.has_left || rival.step > step || met_ == step; });
}

void Alternation::note(Side side, std::optional<Ending> ending) {
  const std::scoped_lock lock(mutex_);
  of(side).ending = ending;
}

bool Alternation::wants_another(Side side) {
  const std::scoped_lock lock(mutex_);
  const Place &own = of(side), &rival = of(other(side));
  if (!sample_together()) return !own.ending;
  return !is_limit(own.ending) && !is_limit(rival.ending) && !(own.ending && rival.ending);
}

void Alternation::part(Side side) {
  const std::scoped_lock lock(mutex_);
  of(side).samples = false;
  next_.reset();
  changed_.notify_all();
}

void Alternation::leave(Side side, bool has_failed) {
  part(side);
  const std::scoped_lock lock(mutex_);
  of(side).has_left = true;
  of(side).has_failed = has_failed;
  changed_.notify_all();
}

bool Alternation::other_failed(Side side) {
  const std::scoped_lock lock(mutex_);
  return of(other(side)).has_failed;
}

void Alternation::Turn::change() {
  {
    const std::scoped_lock lock(alternation_.mutex_);
    if (alternation_.sample_together()) alternation_.next_ = other(side_);
  }
  give();
  take();
}

void Alternation::Turn::take() {
  std::unique_lock lock(alternation_.mutex_);
  alternation_.changed_.wait(
      lock, [&] { return !alternation_.is_taken_ && (!alternation_.next_ || alternation_.next_ == side_); });
  alternation_.next_.reset();
  alternation_.is_taken_ = is_held_ = true;
}

void Alternation::Turn::give() {
  if (!is_held_) return;
  const std::scoped_lock lock(alternation_.mutex_);
  alternation_.is_taken_ = is_held_ = false;
  alternation_.changed_.notify_all();
}

}  // namespace mprof
