// SPDX-License-Identifier: MIT
#include "kernels/common/standing_threads.hpp"

#include <atomic>
#include <set>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

TEST(StandingThreads, CallEachMemberOnceOnAThreadOfItsOwn) {
  StandingThreads threads(5);
  EXPECT_EQ(threads.count(), 5U);
  for (std::size_t members = 1; members <= 5; ++members) {
    std::vector<std::atomic<int>> calls(5);
    std::vector<std::thread::id> ids(5);
    threads.run(members, [&](std::size_t member) {
      ++calls[member];
      ids[member] = std::this_thread::get_id();
    });
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(calls[i], i < members ? 1 : 0) << i << " of " << members;
    EXPECT_EQ(ids[0], std::this_thread::get_id());
    EXPECT_EQ(std::set(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(members)).size(), members);
  }
}

TEST(StandingThreads, AreTheSameThreadsEachTime) {
  StandingThreads threads(2);
  std::set<std::thread::id> ids;
  for (int i = 0; i < 100; ++i) {
    threads.run(2, [&](std::size_t member) {
      if (member == 1) ids.insert(std::this_thread::get_id());
    });
  }
  EXPECT_EQ(ids.size(), 1U);
}

TEST(StandingThreads, HandOnAnExceptionAndWorkOn) {
  StandingThreads threads(3);
  for (const std::size_t thrower : {0U, 2U}) {
    std::atomic<int> calls = 0;
    EXPECT_THROW(threads.run(3,
                             [&](std::size_t member) {
                               ++calls;
                               if (member == thrower) throw std::runtime_error("no");
                             }),
                 std::runtime_error);
    EXPECT_EQ(calls, 3);
  }
  int calls = 0;
  threads.run(1, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(StandingThreads, OfOneAreTheCallerAlone) {
  StandingThreads threads(1);
  std::thread::id id;
  threads.run(1, [&](std::size_t) { id = std::this_thread::get_id(); });
  EXPECT_EQ(id, std::this_thread::get_id());
}

}  // namespace
}  // namespace mprof
