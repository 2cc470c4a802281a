// SPDX-License-Identifier: MIT
#include "collectors/cuda/kernel_counting.hpp"

#include <algorithm>
#include <exception>
#include <set>

namespace mprof {
namespace {

std::uint64_t threads_of(const cuda::KernelLaunch& launch) {
  return launch.grid.count() * launch.block.count();
}

/// Whether there is something left to count of it.
bool is_open(const CountedKernel& kernel) {
  return kernel.counts.empty() && kernel.uncounted.empty();
}

/// Why `action` could not be done; "" when it was.
template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

KernelCounting::~KernelCounting() {
  if (together_ || has_failed_) leave_passes();
}

void KernelCounting::begin_sample() {
  passes_before_ = passes_;
  has_looked_ = false;
}

void KernelCounting::end_sample() {
  if (passes_ == passes_before_ && !has_looked_) give_up();
}

void KernelCounting::begin_stage(std::string_view op, Stage stage) {
  op_ = op;
  const auto [seen, is_new] = stages_.try_emplace({op_, stage});
  stage_ = &seen->second;
  is_first_run_ = is_new;
  has_looked_ |= is_first_run_;
  launched_.clear();
  has_counted_ = false;
}

void KernelCounting::end_stage() {
  op_.clear();
  if (is_in_pass_) disband();  // the last one was not launched
  if (has_failed_) leave_passes();
}

bool KernelCounting::again() const {
  return (has_counted_ || is_first_run_) &&
         std::ranges::any_of(launched_, [&](std::size_t kernel) { return is_open(kernels_[kernel]); });
}

bool KernelCounting::wants_more() const {
  return std::ranges::any_of(kernels_, is_open);
}

void KernelCounting::launching(const cuda::KernelLaunch& launch) {
  if (op_.empty()) return;  // between two stages: the runner's own
  const std::size_t index = index_of(launch);
  CountedKernel& kernel = kernels_[index];
  if (is_first_run_) {
    stage_->add(index, threads_of(launch));
    if (threads_of(launch) > threads_of(kernel.launch)) kernel.launch = launch;
  }
  if (threads_of(launch) == threads_of(kernel.launch) && std::ranges::count(launched_, index) == 0) {
    launched_.push_back(index);
    // In the first run a larger launch may come, and passes that were begun must be ended.
    if (!is_first_run_ && is_open(kernel)) count(index);
  }
  if (is_in_pass_) ++place_;
}

/// Before the launch at which a kernel is counted.
void KernelCounting::count(std::size_t index) {
  if (!together_) {
    together_ = counted_with(index);
    of_stage_ = stage_;
    is_as_seen_ = true;
    refuse_where_failing([&] { counter_.begin(); });
  }
  const std::optional<std::size_t> place = together_ ? together_->place_of(index) : std::nullopt;
  // Another stage may launch one of several, and not the others.
  if (!place || (together_->kernels.size() > 1 && stage_ != of_stage_)) return;
  counting_ = index;
  refuse_where_failing([&] {
    counter_.make_cold();
    if (is_in_pass_) {
      place_ += counter_.cold_launches();
    } else {
      counter_.start();
      is_in_pass_ = true;
      place_ = 0;
    }
    is_as_seen_ &= place_ == *place;
  });
}

void KernelCounting::launched() {
  const std::optional<std::size_t> counted = std::exchange(counting_, std::nullopt);
  if (!counted) return;
  refuse_where_failing([&] {
    counter_.wait();
    if (*counted != together_->kernels.back()) return;
    is_in_pass_ = false;
    ++passes_;
    has_counted_ = true;
    if (counter_.stop()) take_counts();
  });
}

/// Once all passes are through.
void KernelCounting::take_counts() {
  const CountedTogether counted = *std::exchange(together_, std::nullopt);
  if (is_as_seen_ && counter_.counted_launches() == counted.launches) {
    for (std::size_t i = 0; i < counted.kernels.size(); ++i)
      kernels_[counted.kernels[i]].counts = counter_.counts(counted.at[i]);
  } else if (counted.kernels.size() > 1) {
    of_stage_->is_the_same_each_time = false;
  } else {
    kernels_[counted.kernels.front()].uncounted = "CUPTI counted nothing at its launches";
  }
}

/// What cannot be counted stays without, with the reason.
template <class Action>
void KernelCounting::refuse_where_failing(const Action& action) {
  if (!together_) return;
  const CountedTogether counted = *together_;
  const std::string reason = refusal_of(action);
  if (reason.empty()) return;
  for (const std::size_t kernel : counted.kernels) kernels_[kernel].uncounted = reason;
  let_go();
  has_failed_ = true;
}

void KernelCounting::let_go() {
  together_.reset();
  counting_.reset();
  is_in_pass_ = false;
}

void KernelCounting::SeenStage::add(std::size_t kernel, std::uint64_t threads) {
  const std::thread::id self = std::this_thread::get_id();
  if (launches.empty()) thread = self;
  is_the_same_each_time &= thread == self;  // else the order is anybody's
  launches.push_back({kernel, threads});
}

/// The kernel and those that are counted in the same passes.
CountedTogether KernelCounting::counted_with(std::size_t index) const {
  if (!stage_->is_the_same_each_time) return counted_alone(index);
  std::vector<StageLaunch> stage;
  std::set<std::size_t> met;
  for (const auto& [kernel, threads] : stage_->launches) {
    const bool is_the_one = threads == threads_of(kernels_[kernel].launch) && met.insert(kernel).second;
    stage.push_back({kernel, is_the_one && is_open(kernels_[kernel])});
  }
  return counted_together(index, stage, counter_.cold_launches(), counter_.most_launches());
}

/// Kernels that were to be counted together were not launched so: from now on they are counted one by one.
void KernelCounting::disband() {
  let_go();
  has_counted_ = true;  // with what was left of the passes
  ++passes_;
  of_stage_->is_the_same_each_time = false;
  leave_passes();
}

/// Ends those that were begun, as far as the counter lets it.
void KernelCounting::leave_passes() {
  has_failed_ = false;
  (void)refusal_of([&] { counter_.leave_passes(); });
}

/// Its place in kernels_, where it is put if it was not there.
std::size_t KernelCounting::index_of(const cuda::KernelLaunch& launch) {
  const auto known = std::ranges::find_if(kernels_, [&](const CountedKernel& kernel) {
    return kernel.op == op_ && kernel.launch.symbol == launch.symbol;
  });
  if (known != kernels_.end()) return static_cast<std::size_t>(known - kernels_.begin());
  kernels_.emplace_back(CountedKernel{op_, launch}).uncounted = counter_.refusal();
  return kernels_.size() - 1;
}

/// A whole execution has counted nothing: what was to be counted stays without, and what waited for it has
/// its turn; else all that is open stays without.
void KernelCounting::give_up() {
  const auto close = [](CountedKernel& kernel) {
    kernel.uncounted = "it was not launched again when the op was run for its other counters";
  };
  if (together_) {
    for (const std::size_t kernel : together_->kernels) close(kernels_[kernel]);
    let_go();
    leave_passes();
    return;
  }
  for (CountedKernel& kernel : kernels_) {
    if (is_open(kernel)) close(kernel);
  }
}

}  // namespace mprof
