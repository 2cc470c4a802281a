// SPDX-License-Identifier: MIT
#include "kernels/common/parallel.hpp"

#include <algorithm>
#include <atomic>

#include "system/cpus.hpp"

namespace mprof {
namespace {

constexpr std::size_t ranges_per_thread = 8;

void share_out(std::size_t count, StandingThreads& threads, std::size_t members,
               const std::function<void(std::size_t begin, std::size_t end)>& body) {
  const std::size_t step = std::max<std::size_t>(1, count / (members * ranges_per_thread));
  std::atomic<std::size_t> next = 0;
  threads.run(members, [&](std::size_t /*member*/) {
    try {
      for (std::size_t begin = next.fetch_add(step); begin < count; begin = next.fetch_add(step)) {
        body(begin, std::min(begin + step, count));
      }
    } catch (...) {
      next = count;  // the others need not go on
      throw;
    }
  });
}

/// Whether the threads that stand ready for everybody are at work; a body may itself ask for threads.
std::atomic_flag ready_ones_work;

}  // namespace

std::size_t hardware_threads() {
  static const std::size_t threads = usable_cpus();
  return threads;
}

void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body) {
  threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(count, 1));
  if (threads > hardware_threads() || ready_ones_work.test_and_set()) {
    StandingThreads for_this(threads);
    share_out(count, for_this, threads, body);
    return;
  }
  const struct Return {
    ~Return() { ready_ones_work.clear(); }
  } when_done;
  static StandingThreads& ready = *new StandingThreads(hardware_threads());  // a body may end the process
  share_out(count, ready, threads, body);
}

void parallel_for(std::size_t count, StandingThreads& threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body) {
  share_out(count, threads, std::clamp<std::size_t>(count, 1, threads.count()), body);
}

}  // namespace mprof
