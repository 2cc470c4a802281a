// SPDX-License-Identifier: MIT
#include "device/host_load.hpp"

#include <array>

#include <gtest/gtest.h>

#include "device/probe.hpp"

namespace mprof {
namespace {

constexpr std::string_view stat_of_two_cpus =
    "cpu  3000 200 500 9000 100 7 9 60 40 0\n"
    "cpu0 1000 100 200 4000 50 3 4 20 40 0\n"
    "cpu1 2000 100 300 5000 50 4 5 40 0 0\n"
    "intr 20206686 0 1\n"
    "ctxt 1\n";

constexpr double tick = 0.01;

TEST(CpuTimes, AreThoseOfTheCpusThatAreNamed) {
  const auto all = parse_cpu_times(stat_of_two_cpus, {}, tick);
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(all->busy, 37);
  EXPECT_DOUBLE_EQ(all->idle, 91);
  EXPECT_DOUBLE_EQ(all->steal, 0.6);
  EXPECT_DOUBLE_EQ(parse_cpu_times(stat_of_two_cpus, std::array{1}, tick)->busy, 24);
  EXPECT_DOUBLE_EQ(parse_cpu_times(stat_of_two_cpus, std::array{0, 1}, tick)->steal, 0.6);
}

TEST(CpuTimes, AreAbsentWhereTheTextHasNone) {
  EXPECT_FALSE(parse_cpu_times("", {}, tick));
  EXPECT_FALSE(parse_cpu_times("cpux 1 2 3 4\nintr 5\n", {}, tick));
  EXPECT_FALSE(parse_cpu_times(stat_of_two_cpus, std::array{7}, tick));
  EXPECT_FALSE(parse_cpu_times("cpu one two\n", {}, tick));
  EXPECT_DOUBLE_EQ(parse_cpu_times("cpu 1 2 3 4\n", {}, tick)->steal, 0) << "of an old kernel";
}

TEST(Pressure, IsTheTotalOfSome) {
  EXPECT_DOUBLE_EQ(*parse_pressure("some avg10=40.73 avg60=23.28 avg300=24.39 total=14970478\n"
                                   "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"),
                   14.970478);
  EXPECT_FALSE(parse_pressure(""));
  EXPECT_FALSE(parse_pressure("some avg10=1.00\nfull avg10=0.00 total=5\n"));
  EXPECT_FALSE(parse_pressure("some total=unknown\n"));
}

/// Two CPUs after a second in which this process kept `own` of them busy and all together `busy`.
HostLoad load_of_a_second(double own, double busy, double steal = 0) {
  const HostReading before{.at = 10, .own = 5, .cpus = CpuTimes{100, 200, 3}, .pressure = 7};
  const HostReading after{.at = 11,
                          .own = 5 + own,
                          .cpus = CpuTimes{100 + busy, 202 - busy - steal, 3 + steal},
                          .pressure = 7.25};
  return load_between(before, after);
}

TEST(HostLoad, IsWhatThisProcessDidNotUseItself) {
  const HostLoad load = load_of_a_second(1, 1.5, 0.1);
  EXPECT_NEAR(*load.others, 0.5, 1e-12);
  EXPECT_NEAR(*load.steal, 0.05, 1e-12);
  EXPECT_NEAR(*load.pressure, 0.25, 1e-12);
  EXPECT_EQ(load_of_a_second(1, 0.98).others, 0) << "the kernel's steps are 10 ms";
}

TEST(HostLoad, IsAbsentWhereTheKernelCountsNothing) {
  const HostReading never{.at = 10, .own = 5, .cpus = CpuTimes{}};
  HostReading later = never;
  later.at = 11;
  later.own = 6;
  EXPECT_FALSE(load_between(never, later).others);
  EXPECT_FALSE(load_between(never, later).pressure);
  EXPECT_FALSE(load_between({.at = 1, .own = 0}, {.at = 2, .own = 1}).others);
  EXPECT_FALSE(load_between(later, later).others) << "no time has passed";
}

TEST(HostLoad, DisturbsFromATenthOfTheUsableCpusOn) {
  EXPECT_EQ(what_disturbs(load_of_a_second(1, 1.19), 2), "");
  EXPECT_EQ(what_disturbs(load_of_a_second(1, 1.5), 2),
            "other processes used the CPUs: 0.5 of the 2 usable ones busy, and 25 % of the time a task "
            "waited for one");
  EXPECT_EQ(what_disturbs({.others = 1.5}, 16), "");
  EXPECT_EQ(what_disturbs({.others = 1.7}, 16),
            "other processes used the CPUs: 1.7 of the 16 usable ones busy");
}

TEST(HostLoad, DisturbsWhenAHypervisorTakesTime) {
  EXPECT_EQ(what_disturbs(load_of_a_second(1, 1, 0.03), 2), "");
  EXPECT_EQ(what_disturbs(load_of_a_second(1, 1, 0.2), 2),
            "a hypervisor took CPU time: 10 % of the time of the 2 usable CPUs");
}

TEST(HostLoad, WaitingAloneIsNoSignOfOthers) {
  EXPECT_EQ(what_disturbs({.others = 0, .steal = 0, .pressure = 0.9}, 2), "");
  EXPECT_EQ(what_disturbs({}, 2), "");
}

TEST(HostReading, OfThisMachineNeverFallsBack) {
  const HostReading before = read_host(0);
  double sum = 0;
  while (read_host(0).own < before.own + 0.05) sum += 1;
  const HostReading after = read_host(1);
  EXPECT_GT(sum, 0);
  EXPECT_GE(after.own, before.own + 0.05);
  EXPECT_TRUE(!before.cpus || after.cpus->busy >= before.cpus->busy);
  EXPECT_TRUE(!before.pressure || *after.pressure >= *before.pressure);
}

TEST(Probe, OfTheLoadOfOthers) {
  const Probe quiet = probe_host_load({.others = 0.1, .steal = 0, .pressure = 0.04}, 2);
  EXPECT_EQ(quiet.state, ProbeState::ok);
  EXPECT_EQ(
      quiet.found,
      "0.1 of the 2 usable CPUs busy, 0 % taken by a hypervisor, tasks waited for a CPU 4 % of the time");
  const Probe busy = probe_host_load({.others = 1.5}, 2);
  EXPECT_EQ(busy.state, ProbeState::limited);
  EXPECT_FALSE(busy.remedy.empty());
  EXPECT_EQ(probe_host_load({}, 2).state, ProbeState::limited);
  EXPECT_EQ(probe_host_load({}, 2).found, "/proc/stat does not tell");
}

}  // namespace
}  // namespace mprof
