// SPDX-License-Identifier: MIT
#include "kernels/common/parallel.hpp"

#include <atomic>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace mprof {
namespace {

/// The threads that each index of [0, count) was called on, by the kernel's numbers, which are not soon used
/// again.
std::vector<pid_t> threads_of_each(std::size_t count, std::size_t threads) {
  std::vector<std::atomic<int>> calls(count);
  std::vector<pid_t> ids(count);
  parallel_for(count, threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ++calls[i];
      ids[i] = ::gettid();
    }
  });
  for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(calls[i], 1) << i << " of " << count;
  return ids;
}

TEST(ParallelFor, CallsEachIndexOnceOnSoManyThreadsAtMost) {
  for (const std::size_t count : {0U, 1U, 7U, 1000U}) {
    for (const std::size_t threads : {1U, 2U, 3U, 40U}) {
      const auto ids = threads_of_each(count, threads);
      EXPECT_LE(std::set(ids.begin(), ids.end()).size(), threads);
    }
  }
}

TEST(ParallelFor, CallsOnTheSameThreadsAgain) {
  std::set<pid_t> all;
  for (int i = 0; i < 50; ++i) {
    for (const pid_t id : threads_of_each(1000, hardware_threads())) all.insert(id);
  }
  EXPECT_LE(all.size(), hardware_threads());
}

TEST(ParallelFor, MayBeCalledByABody) {
  std::atomic<int> calls = 0;
  parallel_for(6, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      parallel_for(10, hardware_threads(),
                   [&](std::size_t from, std::size_t to) { calls += static_cast<int>(to - from); });
    }
  });
  EXPECT_EQ(calls, 60);
}

TEST(ParallelFor, HandsOnAnExceptionAndWorksOn) {
  for (const std::size_t threads : {std::size_t{1}, hardware_threads(), hardware_threads() + 3}) {
    EXPECT_THROW(parallel_for(100, threads,
                              [](std::size_t begin, std::size_t /*end*/) {
                                if (begin == 0) throw std::runtime_error("no");
                              }),
                 std::runtime_error);
    threads_of_each(100, threads);
  }
}

}  // namespace
}  // namespace mprof
