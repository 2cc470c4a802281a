// SPDX-License-Identifier: MIT
#include "collectors/cuda/kernel_counting.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

constexpr std::size_t passes = 20;
constexpr std::size_t room = 16;

/// Counts which kernel was launched, as CUPTI counts what a kernel does: each launch in a pass for itself,
/// and also those that no callback tells of.
class FakeCounter final : public LaunchCounter {
 public:
  /// A launch on the GPU.
  void run(const std::string& symbol) {
    if (in_pass_ && seen_.back().size() < room) seen_.back().push_back(symbol);
  }
  /// What counts() says of a kernel.
  static double value(const std::string& symbol) {
    return static_cast<double>(std::hash<std::string>{}(symbol) % 100'000);
  }
  [[nodiscard]] bool is_left_begun() const { return in_pass_ || between_passes_; }

  std::size_t fail_start_at = 0;  ///< the number of the call that fails, from 1; 0: none
  std::size_t fail_cold_at = 0;
  std::string refused{};

  [[nodiscard]] std::string refusal() const override { return refused; }
  [[nodiscard]] std::size_t most_launches() const override { return room - 1; }
  [[nodiscard]] std::size_t cold_launches() const override { return 2; }
  void make_cold() override {
    if (++colds_ == fail_cold_at) throw std::runtime_error("cold failed");
    run("code");
    run("read");
  }
  void begin() override {
    if (is_left_begun()) throw std::runtime_error("begun amid other passes");
    seen_.clear();
  }
  void start() override {
    if (in_pass_) throw std::runtime_error("started twice");
    if (++starts_ == fail_start_at) throw std::runtime_error("start failed");
    in_pass_ = between_passes_ = true;
    seen_.emplace_back();
  }
  void wait() override {}
  [[nodiscard]] bool stop() override {
    if (!in_pass_) throw std::runtime_error("stopped without a start");
    in_pass_ = false;
    between_passes_ = seen_.size() < passes;
    return !between_passes_;
  }
  [[nodiscard]] std::size_t counted_launches() override {
    std::size_t most = 0;
    for (const auto& pass : seen_) most = std::max(most, pass.size());
    return most;
  }
  /// Passes that saw different kernels there give what is no kernel's.
  [[nodiscard]] std::vector<double> counts(std::size_t launch) override {
    const std::string& first = seen_.front().at(launch);
    const bool same = std::ranges::all_of(seen_, [&](const auto& pass) { return pass.at(launch) == first; });
    return {same ? value(first) : -1};
  }
  void leave_passes() override {
    for (bool last = !is_left_begun(); !last; last = stop()) {
      if (!in_pass_) start();
    }
  }

 private:
  std::vector<std::vector<std::string>> seen_;  ///< a row a pass
  bool in_pass_ = false;
  bool between_passes_ = false;
  std::size_t colds_ = 0, starts_ = 0;
};

/// A stage of an execution: what it launches in its first, second, ... run.
struct Work {
  std::string op;
  Stage stage = Stage::forward;
  std::function<void(int run)> launches;
};

class KernelCountingTest : public testing::Test {
 protected:
  void launch(const std::string& symbol, unsigned blocks = 1) {
    cuda::KernelLaunch launch;
    launch.symbol = symbol;
    launch.grid.x = blocks;
    counting_->launching(launch);
    counter.run(symbol);
    counting_->launched();
  }
  /// Of which no callback tells.
  void launch_unseen(const std::string& symbol) { counter.run(symbol); }

  /// Runs executions as the runner does, until nothing is left to count.
  void execute(const std::vector<Work>& stages) {
    constexpr int too_many = 300;
    counting_.emplace(counter);
    std::map<const Work*, int> calls;
    do {
      counting_->begin_sample();
      for (const Work& work : stages) {
        const int before = calls[&work];
        do {
          counting_->begin_stage(work.op, work.stage);
          work.launches(++calls[&work]);
          counting_->end_stage();
        } while (work.stage == Stage::forward && counting_->again() && calls[&work] < before + too_many);
        ASSERT_LT(calls[&work], before + too_many) << "without end";
      }
      counting_->end_sample();
      ++executions;
    } while (counting_->wants_more() && executions < too_many);
    ASSERT_LT(executions, too_many) << "without end";
    runs = calls[&stages.front()];
    for (const CountedKernel& kernel : counting_->kernels()) {
      const std::string name = kernel.op + "/" + kernel.launch.symbol;
      found[name] = kernel.counts.empty() ? kernel.uncounted
                    : kernel.counts == std::vector{FakeCounter::value(kernel.launch.symbol)} ? "right"
                                                                                             : "wrong";
    }
    counting_.reset();
    EXPECT_FALSE(counter.is_left_begun());
  }

  void expect_all_right() const {
    EXPECT_FALSE(found.empty());
    for (const auto& [kernel, how] : found) EXPECT_EQ(how, "right") << kernel;
  }

  FakeCounter counter;
  std::map<std::string, std::string> found;  ///< by "op/kernel": "right", "wrong", or why there is nothing
  int executions = 0;
  int runs = 0;  ///< of the first stage

 private:
  std::optional<KernelCounting> counting_;
};

constexpr int one_look = 1, all_passes = passes;
const std::string never_again = "it was not launched again when the op was run for its other counters";

TEST_F(KernelCountingTest, AKernelTakesALookAndItsPasses) {
  execute({{"a", Stage::forward, [&](int) { launch("x"); }}});
  EXPECT_EQ(runs, one_look + all_passes);
  expect_all_right();
}

TEST_F(KernelCountingTest, KernelsOfAStageTakeTheSamePasses) {
  execute({{"a", Stage::forward,
            [&](int) {
              for (const char* kernel : {"p", "q", "r", "s", "t"}) launch(kernel);
            }},
           {"b", Stage::forward, [&](int) { launch("p"); }}});
  EXPECT_EQ(runs, one_look + all_passes);
  EXPECT_EQ(found.size(), 6U);
  expect_all_right();
}

TEST_F(KernelCountingTest, EachIsCountedAtTheFirstOfItsLargestLaunches) {
  execute({{"a", Stage::forward, [&](int) {
              launch("x", 1);
              launch("y", 2);
              launch("x", 5);
              launch("z");
              launch("x", 5);
              launch("x", 3);
            }}});
  EXPECT_EQ(runs, one_look + all_passes);
  expect_all_right();
}

TEST_F(KernelCountingTest, MoreThanAPassHasRoomForAreCountedInTurn) {
  execute({{"a", Stage::forward, [&](int) {
              for (const char* kernel : {"p", "q", "r", "s", "t", "u", "v"}) launch(kernel);
            }}});
  EXPECT_EQ(runs, one_look + 2 * all_passes - 1)
      << "the second passes begin in the run of the last first one";
  expect_all_right();
}

TEST_F(KernelCountingTest, AnotherOrderMeansOneByOne) {
  for (const int since : {2, 3}) {
    found.clear();
    executions = 0;
    execute({{"a", Stage::forward, [&](int run) {
                if (run < since) launch("x");
                launch("y");
                if (run >= since) launch("x");
              }}});
    expect_all_right();
  }
}

TEST_F(KernelCountingTest, MoreOrFewerLaunchesBetweenMeanOneByOne) {
  for (const bool more : {true, false}) {
    found.clear();
    executions = 0;
    execute({{"a", Stage::forward, [&](int run) {
                launch("x");
                if ((run > 2) == more) launch("x");
                launch("y");
              }}});
    EXPECT_GT(runs, one_look + 2 * all_passes);
    expect_all_right();
  }
}

TEST_F(KernelCountingTest, OneThatIsLeftOutOnceMeansOneByOne) {
  for (const char* left_out : {"x", "y"}) {
    found.clear();
    executions = 0;
    execute({{"a", Stage::forward, [&](int run) {
                for (const char* kernel : {"x", "y"}) {
                  if (run != 4 || std::string(kernel) != left_out) launch(kernel);
                }
              }}});
    expect_all_right();
  }
}

TEST_F(KernelCountingTest, ALaunchThatNobodyIsToldOfMeansOneByOne) {
  for (const int among : {2, 5}) {  // five fill a pass
    found.clear();
    executions = 0;
    execute({{"a", Stage::forward, [&](int) {
                for (int i = 0; i < among; ++i) {
                  if (i == 1) launch_unseen("graph");
                  launch(std::string(1, static_cast<char>('p' + i)));
                }
              }}});
    EXPECT_GT(runs, one_look + 2 * all_passes - 1);
    expect_all_right();
  }
}

TEST_F(KernelCountingTest, TwoThreadsMeanOneByOne) {
  execute({{"a", Stage::forward, [&](int) {
              launch("x");
              std::thread([&] { launch("y"); }).join();
            }}});
  EXPECT_EQ(runs, one_look + 2 * all_passes - 1);
  expect_all_right();
}

TEST_F(KernelCountingTest, WhatAnotherStageLaunchesToo) {
  execute({{"a", Stage::prepare,
            [&](int) {
              launch("x");
              launch("y");
            }},
           {"a", Stage::forward, [&](int) { launch("f"); }},
           {"a", Stage::finish, [&](int) { launch("x"); }}});
  expect_all_right();
}

TEST_F(KernelCountingTest, WhatAnotherStageLaunchesWithOthersBetween) {
  execute({{"a", Stage::prepare,
            [&](int) {
              launch("x", 1);
              launch("y", 4);
            }},
           {"a", Stage::finish, [&](int) {
              launch("x", 9);
              launch("w");
              launch("y", 4);
            }}});
  expect_all_right();
}

TEST_F(KernelCountingTest, WhatIsNeverLaunchedAgainIsLeftAndTheOthersAreNot) {
  for (const Stage other : {Stage::finish, Stage::forward}) {
    found.clear();
    executions = 0;
    execute({{"a", Stage::prepare,
              [&](int run) {
                if (run < 4) launch("x");
              }},
             {"b", other, [&](int run) {
                if (run < 5) launch("u");
                launch("v");
              }}});
    EXPECT_EQ(found["a/x"], never_again);
    EXPECT_EQ(found["b/u"], never_again);
    EXPECT_EQ(found["b/v"], "right");
  }
}

TEST_F(KernelCountingTest, AFailureIsTheReasonAndEndsItsPasses) {
  for (const bool at_start : {true, false}) {
    found.clear();
    executions = 0;
    counter = {};
    (at_start ? counter.fail_start_at : counter.fail_cold_at) = 8;  // a cold one: the second in a pass
    execute({{"a", Stage::forward,
              [&](int) {
                launch("x");
                launch("y");
              }},
             {"b", Stage::forward, [&](int) { launch("z"); }}});
    for (const char* kernel : {"a/x", "a/y"})
      EXPECT_EQ(found[kernel], at_start ? "start failed" : "cold failed");
    EXPECT_EQ(found["b/z"], "right");
  }
}

TEST_F(KernelCountingTest, WithoutCountersTheReasonIsSaid) {
  counter.refused = "none of them is there";
  execute({{"a", Stage::forward, [&](int) { launch("x"); }}});
  EXPECT_EQ(found["a/x"], "none of them is there");
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace mprof
