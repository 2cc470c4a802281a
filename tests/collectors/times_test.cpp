// SPDX-License-Identifier: MIT
#include "tests/collectors/fixture.hpp"

namespace mprof {
namespace {

using Samples = std::vector<double>;

class TimesTest : public test::CollectorTest {
 protected:
  /// layer1 and layer2 once each, with work between the stages that belongs to the total alone.
  void plain_sample(Collector& times, double scale) {
    times.begin_sample();
    clock.advance(1 * scale);
    stage(times, "layer1", Stage::prepare, 2 * scale);
    stage(times, "layer1", Stage::forward, 4 * scale);
    stage(times, "layer1", Stage::finish, 8 * scale);
    clock.advance(16 * scale);
    stage(times, "layer2", Stage::prepare, 32 * scale);
    stage(times, "layer2", Stage::forward, 64 * scale);
    stage(times, "layer2", Stage::finish, 128 * scale);
    clock.advance(256 * scale);
    times.end_sample();
  }
};

TEST_F(TimesTest, AreExactForPlainSamples) {
  const auto times = make("times");
  clock.advance(1000);
  plain_sample(*times, 1);
  clock.advance(1000);  // between samples: nobody's
  plain_sample(*times, 2);
  times->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "op_time", "layer1").samples, (Samples{4, 8}));
  EXPECT_EQ(test::row_of(measurements, "op_time", "layer2").samples, (Samples{64, 128}));
  EXPECT_EQ(test::row_of(measurements, "group_time", "layer1").samples, (Samples{14, 28}));
  EXPECT_EQ(test::row_of(measurements, "group_time", "layer2").samples, (Samples{224, 448}));
  EXPECT_EQ(test::row_of(measurements, "total_time").samples, (Samples{511, 1022}));
  EXPECT_EQ(measurements.size(), 5U);
}

TEST_F(TimesTest, LeavePausesOut) {
  const auto times = make("times");
  times->begin_sample();
  stage(*times, "layer1", Stage::prepare, 2);
  times->pause();
  clock.advance(100);
  times->resume();
  stage(*times, "layer1", Stage::forward, 4);
  times->pause();
  clock.advance(50);
  times->resume();
  stage(*times, "layer1", Stage::finish, 8);
  times->end_sample();
  times->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "group_time", "layer1").samples, Samples{14});
  EXPECT_EQ(test::row_of(measurements, "total_time").samples, Samples{14});
}

TEST_F(TimesTest, OfARepeatedForwardCountEachAsOpTimeAndTheLastInTheOthers) {
  const auto times = make("times");
  times->begin_sample();
  clock.advance(1);
  stage(*times, "layer1", Stage::prepare, 2);
  for (const double seconds : {32.0, 64.0, 4.0}) {
    times->pause();
    clock.advance(100);
    times->resume();
    clock.advance(
        0.5);  // between repeats; of these, too, the total holds one: the one before the first forward
    stage(*times, "layer1", Stage::forward, seconds);
  }
  stage(*times, "layer1", Stage::finish, 8);
  times->end_sample();
  times->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "op_time", "layer1").samples, (Samples{32, 64, 4}));
  EXPECT_EQ(test::row_of(measurements, "group_time", "layer1").samples, Samples{14});
  EXPECT_EQ(test::row_of(measurements, "total_time").samples, Samples{15.5});
}

TEST_F(TimesTest, OfTheNextSampleKnowNothingOfRepeatsInTheLast) {
  const auto times = make("times");
  for (int sample = 0; sample < 2; ++sample) {
    times->begin_sample();
    stage(*times, "layer1", Stage::forward, 32);
    stage(*times, "layer1", Stage::forward, 4);
    times->end_sample();
    clock.advance(1000);
  }
  times->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "total_time").samples, (Samples{4, 4}));
}

TEST_F(TimesTest, DoNotHideTheWaitForTheDevice) {
  // A device at work when forward() returns: finish() would wait for it. Reading the timer earlier would wait
  // instead, outside of every stage.
  device.wait_seconds = 512;
  const auto times = make("times");
  plain_sample(*times, 1);
  times->finish(measurements);
  EXPECT_EQ(test::row_of(measurements, "op_time", "layer2").samples, Samples{64});
  EXPECT_EQ(test::row_of(measurements, "group_time", "layer2").samples, Samples{224});
  // layer1's timer is read when layer2 needs it, by when finish() has waited; layer2's after the sample.
  EXPECT_EQ(test::row_of(measurements, "total_time").samples, Samples{511 + 512});
}

TEST_F(TimesTest, OfAnOpThatNeverRanAreAbsent) {
  const auto times = make("times");
  times->begin_sample();
  stage(*times, "layer1", Stage::forward, 4);
  times->end_sample();
  times->finish(measurements);
  for (const char* metric : {"op_time", "group_time"}) {
    const Measurement row = test::row_of(measurements, metric, "layer2");
    EXPECT_TRUE(row.samples.empty());
    EXPECT_EQ(row.absent, "no sample was taken");
  }
}

TEST_F(TimesTest, AreTheInnermostCollectorThatWatches) {
  const auto kinds = CollectorKinds::instance().of(Pass::timing, "cpu");
  std::vector<std::string> ids;
  for (const CollectorKind* kind : kinds) ids.push_back(kind->id);
  EXPECT_EQ(ids, (std::vector<std::string>{"cpu_wait", "host_state", "clock_check", "resource_usage",
                                           "stage_work", "times"}));
}

}  // namespace
}  // namespace mprof
