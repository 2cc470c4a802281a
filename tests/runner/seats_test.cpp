// SPDX-License-Identifier: MIT
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
  std::atomic<bool> has_third = false;
  std::jthread third;
  {
    const Seats::Taken first(seats, 0);
    {
      const Seats::Taken second(seats, 0);
      third = std::jthread([&] {
        const Seats::Taken taken(seats, 1);
        has_third = true;
      });
      while (seats.waiting() == 0) std::this_thread::yield();
      EXPECT_FALSE(has_third);
    }
    third.join();
    EXPECT_TRUE(has_third) << "one was given back";
  }
}

}  // namespace
}  // namespace mprof
