// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <semaphore>
#include <thread>

namespace mprof {

/// Threads that wait for work, for what is called so often that to start threads each time would cost more
/// than the work. Used by one thread at a time.
class StandingThreads {
 public:
  /// `count` threads, of which the caller of run() is one; at least 1.
  explicit StandingThreads(std::size_t count);
  StandingThreads(const StandingThreads&) = delete;
  StandingThreads& operator=(const StandingThreads&) = delete;
  ~StandingThreads();

  [[nodiscard]] std::size_t count() const { return others_.size() + 1; }

  /// Calls body(0) ... body(members - 1), each on a thread of its own, body(0) on the caller's, and returns
  /// when all have. members is at least 1 and at most count(). The first exception of a body is thrown again
  /// here.
  void run(std::size_t members, const std::function<void(std::size_t member)>& body);

 private:
  struct Thread {
    std::binary_semaphore start{0};
    std::jthread thread;
  };

  StandingThreads() = default;
  void wait_for_work(std::size_t member, std::binary_semaphore& start);
  void call(std::size_t member);

  std::deque<Thread> others_;  ///< of the members from 1 on
  std::counting_semaphore<> done_{0};
  const std::function<void(std::size_t)>* body_ = nullptr;  ///< none: the threads are to end
  std::mutex failure_mutex_;
  std::exception_ptr failure_;
};

}  // namespace mprof
