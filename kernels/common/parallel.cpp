#include "kernels/common/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace mprof {
namespace {

constexpr std::size_t ranges_per_thread = 8;

}  // namespace

std::size_t hardware_threads() {
  return std::max(1U, std::thread::hardware_concurrency());
}

void parallel_for(std::size_t count, std::size_t threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body) {
  threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(count, 1));
  StandingThreads for_this(threads);
  parallel_for(count, for_this, body);
}

void parallel_for(std::size_t count, StandingThreads& threads,
                  const std::function<void(std::size_t begin, std::size_t end)>& body) {
  const std::size_t members = std::clamp<std::size_t>(count, 1, threads.count());
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

}  // namespace mprof
