#include "kernels/common/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

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
  if (threads == 1) {
    if (count != 0) body(0, count);
    return;
  }
  const std::size_t step = std::max<std::size_t>(1, count / (threads * ranges_per_thread));
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::size_t begin = next.fetch_add(step); begin < count; begin = next.fetch_add(step)) {
        body(begin, std::min(begin + step, count));
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace mprof
