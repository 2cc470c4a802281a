// SPDX-License-Identifier: MIT
#include "collectors/cpu_wait.hpp"

#include "tests/collectors/fixture.hpp"

namespace mprof {
namespace {

/// Threads in made-up time, and the collector that reads what the scheduler says of them.
class CpuWait : public test::CollectorTest {
 protected:
  CpuWait() {
    collector = make_cpu_wait([this] { return now; });
    now = ThreadTimes{{{1, {5, 1}}}, 5};
  }

  void work(int thread, double ran, double waited) {
    ThreadTime& time = now->threads[thread];
    time.ran += ran;
    time.waited += waited;
    now->cpu += ran;
  }

  Measurement finished() {
    measurements.clear();
    collector->finish(measurements);
    return test::row_of(measurements, "cpu_wait");
  }

  std::optional<ThreadTimes> now;
  std::unique_ptr<Collector> collector;
};

TEST_F(CpuWait, IsThatOfAllThreadsInEachSampleWithoutItsPauses) {
  collector->begin_sample();
  work(1, 1, 0.25);
  work(2, 1, 0.5);  // which is new
  collector->pause();
  work(1, 1, 8);
  collector->resume();
  work(2, 1, 0.25);
  collector->end_sample();
  work(1, 1, 8);
  collector->begin_sample();
  work(1, 1, 0);
  collector->end_sample();
  EXPECT_EQ(finished().samples, (std::vector<double>{1, 0}));
}

TEST_F(CpuWait, OfAnOpIsThatBetweenThePausesAroundItsForwardStage) {
  for (const double wait : {1.0, 2.0}) {
    collector->begin_sample();
    work(1, 1, 8);
    for (const char* op : {"layer1", "layer2"}) {
      collector->pause();
      collector->resume();
      collector->begin_stage(op, Stage::forward);
      work(1, 1, op == std::string("layer1") ? wait : 4);
      collector->end_stage(op, Stage::forward);
    }
    collector->end_sample();
  }
  EXPECT_EQ(finished().samples, (std::vector<double>{13, 14}));
  EXPECT_EQ(test::row_of(measurements, "cpu_wait", "layer1").samples, (std::vector<double>{1, 2}));
  EXPECT_EQ(test::row_of(measurements, "cpu_wait", "layer2").samples, (std::vector<double>{4, 4}));
}

TEST_F(CpuWait, IsAbsentWhereThreadsThatHaveEndedDidTheWork) {
  collector->begin_sample();
  work(2, 1, 1);
  work(1, 1, 0);
  now->threads.erase(2);
  collector->end_sample();
  EXPECT_TRUE(finished().samples.empty());
  EXPECT_NE(finished().absent.find("ended within a sample"), std::string::npos);
}

TEST_F(CpuWait, IsAbsentWhereTheKernelDoesNotTell) {
  EXPECT_EQ(finished().absent, "no sample was taken");
  now.reset();
  collector->begin_sample();
  collector->end_sample();
  EXPECT_NE(finished().absent.find("schedstat"), std::string::npos);
}

TEST(ParseSchedstat, TakesNanoseconds) {
  EXPECT_DOUBLE_EQ(parse_schedstat("2500000000 500000000 12\n")->ran, 2.5);
  EXPECT_DOUBLE_EQ(parse_schedstat("2500000000 500000000 12\n")->waited, 0.5);
  EXPECT_FALSE(parse_schedstat(""));
  EXPECT_FALSE(parse_schedstat("no such file"));
}

}  // namespace
}  // namespace mprof
