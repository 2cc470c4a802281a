// SPDX-License-Identifier: MIT
#include "injection/session_plan.hpp"

#include <algorithm>
#include <utility>

namespace mprof::injection {
namespace {

/// So many launches before it tell a place in the program from others.
constexpr std::size_t lead_length = 8;
/// Launches without a new kernel after which the first pass takes in no more.
constexpr std::size_t enough = 16;
/// Launches that a pass waits for its place, beside what the first kernel's rhythm suggests.
constexpr std::uint64_t patience = 1024;
constexpr std::uint32_t most_attempts = 4;

}  // namespace

std::size_t SessionPlan::add_kernel(void* context, bool is_wanted) {
  kernels_.push_back({.context = context, .state = is_wanted ? State::wanted : State::unwanted});
  return kernels_.size() - 1;
}

bool SessionPlan::may_begin(const Kernel& kernel) const {
  return kernel.state == State::wanted && kernel.launches > launches_before_;
}

SessionPlan::Choice SessionPlan::at_launch(std::size_t number) {
  Kernel& kernel = kernels_[number];
  ++kernel.launches;
  ++launches_;
  kernel.gap = launches_ - std::exchange(kernel.last_launch, launches_);
  std::vector<std::size_t>& history = history_[kernel.context];
  Choice choice;
  if (!is_on_) {
    if (may_begin(kernel)) {
      begin(number, history);
      choice.begins_session = choice.counts = true;
    }
  } else if (kernel.context == context_) {
    choose_in_pass(number, history, choice);
  }
  if (history.size() == lead_length) history.erase(history.begin());
  history.push_back(number);
  return choice;
}

void SessionPlan::begin(std::size_t number, const std::vector<std::size_t>& before) {
  is_on_ = true;
  context_ = kernels_[number].context;
  done_ = position_ = 0;
  take_in(number);
  lead_ = is_by_itself() ? std::vector<std::size_t>{} : before;
}

void SessionPlan::take_in(std::size_t number) {
  const bool is_new = kernels_[number].state == State::wanted && std::ranges::count(sequence_, number) == 0;
  nothing_new_ = is_new ? 0 : nothing_new_ + 1;
  sequence_.push_back(number);
  taken_.push_back(number);
  passes_.push_back(0);
}

bool SessionPlan::is_at_begin(std::size_t number, const std::vector<std::size_t>& before) const {
  if (number != sequence_.front() || lead_.size() > before.size()) return false;
  return std::equal(lead_.rbegin(), lead_.rend(), before.rbegin());
}

void SessionPlan::choose_in_pass(std::size_t number, const std::vector<std::size_t>& before, Choice& choice) {
  if (position_ == 0) {  // a later pass, which waits for its place
    choice.counts = is_at_begin(number, before);
    const std::uint64_t gap = kernels_[sequence_.front()].gap;
    choice.ends_session = !choice.counts && ++waited_ > patience + 4 * gap;
  } else if (done_ == 0) {
    choice.ends_pass = kernels_[number].state == State::left_out || is_at_begin(number, before);
    choice.counts = !choice.ends_pass;
    if (choice.counts) take_in(number);
  } else {
    choice.counts = number == sequence_[position_];
    choice.ends_pass = !choice.counts;
    if (choice.ends_pass) sequence_.resize(position_);
  }
}

bool SessionPlan::counted() {
  ++passes_[position_];
  ++position_;
  if (done_ > 0) return position_ == sequence_.size();
  return position_ == most_launches_ || nothing_new_ == enough || is_by_itself();
}

bool SessionPlan::passed(bool was_last) {
  sequence_.resize(std::min(sequence_.size(), position_));  // it may have been ended before its time
  ++done_;
  is_through_ = was_last;
  position_ = 0;
  waited_ = 0;
  return was_last || sequence_.empty();
}

std::vector<std::size_t> SessionPlan::members() const {
  std::vector<std::size_t> members;
  for (const std::size_t number : taken_) {
    if (kernels_[number].state == State::wanted && std::ranges::count(members, number) == 0)
      members.push_back(number);
  }
  return members;
}

std::vector<SessionPlan::Counted> SessionPlan::finish(bool is_valid) {
  std::vector<Counted> all;
  for (const std::size_t number : members()) {
    Kernel& kernel = kernels_[number];
    Counted best{.kernel = number};
    for (std::size_t range = 0; range < taken_.size(); ++range) {
      if (taken_[range] == number && passes_[range] > best.passes) {
        best.range = range;
        best.passes = passes_[range];
      }
    }
    const bool is_whole = is_valid && is_through_ && best.passes == done_;
    if (is_whole || ++kernel.attempts == most_attempts) kernel.state = State::unwanted;
    if (is_valid && best.passes > 0) all.push_back(best);
  }
  is_on_ = is_through_ = false;
  sequence_.clear();
  taken_.clear();
  passes_.clear();
  lead_.clear();
  position_ = nothing_new_ = 0;
  waited_ = 0;
  return all;
}

void SessionPlan::leave_out(std::size_t number) {
  kernels_[number].state = State::left_out;
}

}  // namespace mprof::injection
