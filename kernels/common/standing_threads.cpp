// SPDX-License-Identifier: MIT
#include "kernels/common/standing_threads.hpp"

#include <utility>

namespace mprof {

StandingThreads::StandingThreads(std::size_t count) : StandingThreads() {
  // From here on the destructor runs when a thread cannot be had, and ends those that were.
  for (std::size_t member = 1; member < count; ++member) {
    Thread& other = others_.emplace_back();
    other.thread = std::jthread([this, member, &other] { wait_for_work(member, other.start); });
  }
}

StandingThreads::~StandingThreads() {
  body_ = nullptr;
  for (Thread& other : others_) other.start.release();
}

void StandingThreads::run(std::size_t members, const std::function<void(std::size_t)>& body) {
  body_ = &body;
  for (std::size_t member = 1; member < members; ++member) others_[member - 1].start.release();
  call(0);
  for (std::size_t member = 1; member < members; ++member) done_.acquire();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void StandingThreads::wait_for_work(std::size_t member, std::binary_semaphore& start) {
  for (;;) {
    start.acquire();
    if (body_ == nullptr) return;
    call(member);
    done_.release();
  }
}

void StandingThreads::call(std::size_t member) {
  try {
    (*body_)(member);
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace mprof
