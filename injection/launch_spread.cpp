#include "injection/launch_spread.hpp"

#include <utility>

namespace mprof::injection {
namespace {

constexpr std::uint64_t patience = 2000;  // launches of others that a begun group waits for its kernel
constexpr std::uint32_t most_attempts = 2;

}  // namespace

std::size_t LaunchSpread::add_kernel(bool only_single_passes) {
  Kernel kernel;
  for (const std::uint32_t passes : passes_)
    kernel.groups.push_back(only_single_passes && passes > 1 ? State::closed : State::open);
  kernels_.push_back(std::move(kernel));
  return kernels_.size() - 1;
}

std::optional<std::size_t> LaunchSpread::open_group(const Kernel& kernel, bool single) const {
  for (std::size_t group = 0; group < passes_.size(); ++group) {
    if (kernel.groups[group] == State::open && (passes_[group] == 1) == single) return group;
  }
  return std::nullopt;
}

void LaunchSpread::give_up_holder() {
  Kernel& kernel = kernels_[holder_->kernel];
  if (++kernel.attempts >= most_attempts) {
    for (std::size_t group = 0; group < passes_.size(); ++group) {
      if (passes_[group] > 1) kernel.groups[group] = State::closed;
    }
  }
  holder_.reset();
}

std::optional<LaunchSpread::Choice> LaunchSpread::at_launch(std::size_t number) {
  Kernel& kernel = kernels_[number];
  const std::uint64_t before = std::exchange(kernel.last_launch, ++launches_);
  if (holder_ && holder_->kernel == number) return Choice{holder_->group, false};
  if (holder_ && launches_ - kernels_[holder_->kernel].last_launch > patience) give_up_holder();
  const std::optional<std::size_t> single = open_group(kernel, true);
  if (single) last_single_ = launches_;
  if (holder_) return std::nullopt;
  if (single) return Choice{*single, true};
  const bool others_wait = last_single_ > before;
  const std::optional<std::size_t> group = open_group(kernel, false);
  if (!group || others_wait) return std::nullopt;
  return Choice{*group, true};
}

void LaunchSpread::counted(std::size_t kernel, const Choice& choice, bool completes) {
  if (completes) {
    kernels_[kernel].groups[choice.group] = State::closed;
    holder_.reset();
  } else {
    holder_ = Holder{kernel, choice.group};
  }
}

void LaunchSpread::refused(std::size_t kernel, const Choice& choice) {
  kernels_[kernel].groups[choice.group] = State::closed;
  holder_.reset();
}

void LaunchSpread::leave_out(std::size_t kernel) {
  kernels_[kernel].groups.assign(passes_.size(), State::closed);
  if (holder_ && holder_->kernel == kernel) holder_.reset();
}

std::uint32_t LaunchSpread::launches_needed(bool only_single_passes) const {
  std::uint32_t needed = 0;
  for (const std::uint32_t passes : passes_) {
    if (passes == 1 || !only_single_passes) needed += passes;
  }
  return needed;
}

}  // namespace mprof::injection
