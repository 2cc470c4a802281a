// SPDX-License-Identifier: MIT
#include "collectors/host_state.hpp"

#include "model/metric.hpp"
#include "tests/collectors/fixture.hpp"

namespace mprof {
namespace {

/// A host of four CPUs in made-up time, and the collector that watches it.
class HostState : public test::CollectorTest {
 protected:
  HostState() {
    collector = make_host_state([this] { return now; }, 4);
    now.cpus = CpuTimes{};
    now.pressure = 0;
  }

  /// A sample of `seconds` in which this process keeps one CPU busy and others `others` of them.
  void sample(double seconds, double others, double steal = 0) {
    collector->begin_sample();
    now.at += seconds;
    now.own += seconds;
    if (now.cpus) {
      now.cpus->busy += seconds * (1 + others);
      now.cpus->steal += seconds * steal;
      now.cpus->idle += seconds * (3 - others - steal);
    }
    if (now.pressure) *now.pressure += seconds / 10;
    collector->end_sample();
  }

  Measurement finished(const char* metric) {
    measurements.clear();
    collector->finish(measurements);
    return test::row_of(measurements, metric);
  }

  HostReading now;
  std::unique_ptr<Collector> collector;
};

TEST_F(HostState, InTurnsWhatPassesBetweenSamplesIsNobodysDisturbance) {
  for (const bool in_turns : {false, true}) {
    collector = make_host_state([this] { return now; }, 4, std::nullopt,
                                in_turns ? BetweenSamples::is_a_turn : BetweenSamples::counts);
    for (int i = 0; i < 4; ++i) {
      sample(0.1, 0);
      now.at += 1;  // the other side's turn: it keeps two CPUs busy
      now.cpus->busy += 2;
      now.cpus->idle += 2;
    }
    EXPECT_EQ(collector->host_disturbance().has_value(), !in_turns);
  }
  for (int i = 0; i < 8; ++i) sample(0.1, 2);
  EXPECT_TRUE(collector->host_disturbance()) << "others, in our own turns";
}

TEST_F(HostState, IsOfEachSampleThatIsLongEnough) {
  sample(1, 0.25);
  sample(1, 0.5, 0.04);
  EXPECT_EQ(finished("other_cpu_load").samples.size(), 2U);
  EXPECT_NEAR(finished("other_cpu_load").samples.at(0), 0.25, 1e-9);
  EXPECT_NEAR(finished("other_cpu_load").samples.at(1), 0.5, 1e-9);
  EXPECT_NEAR(finished("cpu_steal").samples.at(1), 1, 1e-9);
  EXPECT_NEAR(finished("cpu_pressure").samples.at(0), 10, 1e-9);
}

TEST_F(HostState, IsOfSeveralShortSamplesTogether) {
  for (int i = 0; i < 10; ++i) sample(0.0625, 1);
  EXPECT_EQ(finished("other_cpu_load").samples.size(), 2U);
  EXPECT_NEAR(finished("other_cpu_load").samples.at(1), 1, 1e-9);
}

TEST_F(HostState, IsAbsentOfWhatTheKernelCannotTell) {
  sample(0.1, 3);
  EXPECT_NE(finished("other_cpu_load").absent.find("less than 0.25 s"), std::string::npos);
  EXPECT_EQ(collector->host_disturbance(), std::nullopt);
  now.cpus.reset();
  now.pressure.reset();
  sample(1, 3);
  EXPECT_NE(finished("other_cpu_load").absent.find("/proc/stat"), std::string::npos);
  EXPECT_NE(finished("cpu_pressure").absent.find("/proc/pressure/cpu"), std::string::npos);
  EXPECT_EQ(collector->host_disturbance(), std::nullopt);
}

TEST_F(HostState, OfTooShortSamplesIsThatSinceTheProcessBegan) {
  const HostReading earlier = now;
  const auto idle = [&](double seconds, double others) {
    now.at += seconds;
    now.cpus->busy += seconds * others;
    now.cpus->idle += seconds * (4 - others);
  };
  idle(0.1, 2);
  collector = make_host_state([this] { return now; }, 4, earlier);
  sample(0.1, 2);
  EXPECT_EQ(collector->host_disturbance(), std::nullopt) << "0.2 s are too short as well";
  EXPECT_FALSE(finished("other_cpu_load").absent.empty());
  sample(0.1, 2);
  ASSERT_TRUE(collector->host_disturbance());
  EXPECT_NEAR(finished("other_cpu_load").samples.at(0), 2, 1e-9);
  for (int i = 0; i < 4; ++i) sample(0.1, 0);
  EXPECT_NEAR(finished("other_cpu_load").samples.at(0), 4.0 / 3, 1e-9)
      << "they are long enough themselves now";
}

TEST_F(HostState, OthersDisturbTheHostByWhatTheyDidOverAllSamples) {
  sample(1, 0.6);
  EXPECT_TRUE(collector->host_disturbance());
  sample(1, 0);
  EXPECT_EQ(collector->host_disturbance(), std::nullopt) << "0.3 of 4 CPUs, over both";
  sample(2, 1.1);
  EXPECT_NE(
      collector->host_disturbance()->find("other processes used the CPUs: 0.7 of the 4 usable ones busy"),
      std::string::npos);
  EXPECT_EQ(collector->disturbance(), std::nullopt) << "a GPU's clock takes no notice";
}

TEST_F(HostState, IsRegisteredForAnyDevice) {
  const auto watching = make("host_state");
  watching->begin_sample();
  clock.advance(1);
  watching->end_sample();
  watching->finish(measurements);
  for (const char* metric : {"other_cpu_load", "cpu_steal", "cpu_pressure"}) {
    const Measurement row = test::row_of(measurements, metric);
    EXPECT_TRUE(row.samples.empty() != row.absent.empty()) << metric;
    EXPECT_NE(find_metric(metric), nullptr);
  }
}

}  // namespace
}  // namespace mprof
