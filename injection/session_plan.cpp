#include "injection/session_plan.hpp"

#include <utility>

namespace mprof::injection {
namespace {

/// Launches that a pass waits for kernels of its own, beside what the session's length suggests.
constexpr std::uint64_t patience = 128;
constexpr std::uint32_t most_attempts = 2;

}  // namespace

std::size_t SessionPlan::add_kernel(std::uintptr_t context) {
  kernels_.push_back({.context = context});
  return kernels_.size() - 1;
}

bool SessionPlan::is_wanted(const Kernel& kernel) const {
  return kernel.state == State::waiting && kernel.launches > launches_before_;
}

SessionPlan::Choice SessionPlan::at_launch(std::size_t number) {
  Kernel& kernel = kernels_[number];
  ++kernel.launches;
  Choice choice;
  if (!is_on_) {
    if (!is_wanted(kernel)) return choice;
    is_on_ = is_first_pass_ = true;
    context_ = kernel.context;
    launches_ = 0;
    choice.begins_session = true;
  } else if (kernel.context != context_) {
    return choice;
  }
  ++launches_;
  const bool is_member = members_.contains(number);
  if (is_member) came_back(kernel);
  if (is_first_pass_ && !is_member && is_wanted(kernel)) {
    take_in(number);
    choice.counts = true;
  } else if (is_enough()) {
    choice.ends_pass = true;
  } else {
    choice.counts = !is_first_pass_ && is_member && !kernel.is_of_this_pass;
  }
  return choice;
}

void SessionPlan::take_in(std::size_t number) {
  for (const std::size_t member : members_) kernels_[member].came_back = false;
  back_ = 0;
  Kernel& kernel = kernels_[number];
  kernel.passes = 0;
  kernel.came_back = kernel.is_of_this_pass = false;
  members_.insert(number);
  took_part_.push_back(number);
  last_taken_in_ = launches_;
}

void SessionPlan::came_back(Kernel& kernel) {
  if (is_first_pass_ && !std::exchange(kernel.came_back, true)) ++back_;
}

bool SessionPlan::is_enough() const {
  if (!is_first_pass_) return seen_ == members_.size() || launches_ > patience + 4 * length_;
  return back_ == members_.size() || launches_ - last_taken_in_ > patience + 2 * last_taken_in_;
}

bool SessionPlan::counted(std::size_t number) {
  Kernel& kernel = kernels_[number];
  ++kernel.passes;
  kernel.is_of_this_pass = true;
  ++seen_;
  return is_first_pass_ ? members_.size() == most_kernels_ : seen_ == members_.size();
}

bool SessionPlan::passed(bool was_last) {
  const bool is_full = members_.size() == most_kernels_;
  const std::set<std::size_t> members = members_;
  for (const std::size_t member : members) {
    Kernel& kernel = kernels_[member];
    const bool comes_again = was_last || !is_first_pass_ || is_full || kernel.came_back;
    if (!std::exchange(kernel.is_of_this_pass, false) || !comes_again) drop(member);
  }
  if (std::exchange(is_first_pass_, false)) length_ = launches_;
  seen_ = 0;
  launches_ = 0;
  if (was_last) {
    for (const std::size_t member : members_) kernels_[member].state = State::counted;
  }
  return was_last || members_.empty();
}

void SessionPlan::drop(std::size_t number) {
  Kernel& kernel = kernels_[number];
  members_.erase(number);
  if (++kernel.attempts >= most_attempts) kernel.state = State::left_out;
}

std::vector<SessionPlan::Counted> SessionPlan::finish() {
  std::vector<Counted> counted;
  for (const std::size_t number : took_part_) {
    if (kernels_[number].passes > 0) counted.push_back({number, kernels_[number].passes});
  }
  is_on_ = is_first_pass_ = false;
  members_.clear();
  took_part_.clear();
  back_ = seen_ = 0;
  return counted;
}

void SessionPlan::leave_out(std::size_t number) {
  Kernel& kernel = kernels_[number];
  kernel.state = State::left_out;
  std::erase(took_part_, number);
  if (members_.erase(number) == 0) return;
  if (kernel.came_back) --back_;
  if (kernel.is_of_this_pass) --seen_;
}

}  // namespace mprof::injection
