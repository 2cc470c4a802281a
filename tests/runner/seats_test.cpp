#include "runner/seats.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

TEST(Seats, GoToWhoHasMostLeftAndOfEqualsToWhoCameFirst) {
  Seats seats(1);
  std::vector<int> order;  // written by who has the seat
  std::vector<std::jthread> threads;
  {
    const Seats::Taken mine(seats, 0);
    const std::vector<double> left{1, 3, 2, 3};
    for (std::size_t i = 0; i < left.size(); ++i) {
      threads.emplace_back([&, i] {
        const Seats::Taken taken(seats, left[i]);
        order.push_back(static_cast<int>(i));
      });
      while (seats.waiting() <= i) std::this_thread::yield();
    }
    EXPECT_TRUE(order.empty());
  }
  threads.clear();
  EXPECT_EQ(order, (std::vector{1, 3, 2, 0}));
  EXPECT_EQ(seats.waiting(), 0U);
}

TEST(Seats, AreAsManyAsThereAre) {
  Seats seats(2);
  std::atomic<int> seated = 0, most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int turn = 0; turn < 50; ++turn) {
          const Seats::Taken taken(seats, turn);
          const int now = ++seated;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --seated;
        }
      });
    }
  }
  EXPECT_LE(most, 2);
  EXPECT_GE(most, 1);
}

}  // namespace
}  // namespace mprof
