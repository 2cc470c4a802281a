// SPDX-License-Identifier: MIT
#include "device/probe.hpp"

#include <algorithm>
#include <cerrno>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "device/perf_event.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;

TEST(Probe, OfInstructionSets) {
  CpuInfo cpu{"Some CPU", 1, 1, {"sse2", "avx2", "fma", "avx512f"}};
  EXPECT_EQ(probe_instruction_sets(cpu).state, ProbeState::ok);
#if defined(__AVX2__)
  cpu.flags = {"sse2"};
  const Probe old = probe_instruction_sets(cpu);
  EXPECT_EQ(old.state, ProbeState::missing);
  EXPECT_TRUE(contains(old.found, "Some CPU lacks avx2, fma")) << old.found;
  EXPECT_TRUE(contains(old.remedy, "MPROF_CPU_ARCH")) << old.remedy;
#endif
  cpu.flags.clear();
  EXPECT_EQ(probe_instruction_sets(cpu).state, ProbeState::limited);
}

TEST(Probe, OfMemoryAsksForFourGibibytes) {
  EXPECT_EQ(probe_memory(4 * gibibyte).state, ProbeState::ok);
  const Probe small = probe_memory(4 * gibibyte - 1);
  EXPECT_EQ(small.state, ProbeState::limited);
  EXPECT_TRUE(contains(small.remedy, "smaller ones")) << small.remedy;
  EXPECT_EQ(probe_memory(std::nullopt).state, ProbeState::limited);
}

TEST(Probe, OfCores) {
  EXPECT_EQ(probe_cores(2).state, ProbeState::ok);
  EXPECT_EQ(probe_cores(1).state, ProbeState::limited);
}

TEST(Probe, OfTheDriverTellsTheCasesApart) {
  DriverFindings driver;
  driver.load_error = "libcuda.so.1: cannot open shared object file: No such file or directory";
  EXPECT_TRUE(contains(probe_nvidia_driver(driver).remedy, "install NVIDIA's driver"));
  driver = {"", 100, 0, 12040};
  EXPECT_TRUE(contains(probe_nvidia_driver(driver).found, "sees no GPU"));
  driver = {"", 803, 0, std::nullopt};
  EXPECT_TRUE(contains(probe_nvidia_driver(driver).found, "CUDA error 803"));
  driver = {"", 0, 2, 12040};
  const Probe two = probe_nvidia_driver(driver);
  EXPECT_EQ(two.state, ProbeState::ok);
  EXPECT_EQ(two.found, "2 GPUs, CUDA 12.4");
}

TEST(Probe, OfCounterPermission) {
  EXPECT_EQ(probe_counter_permission("RmProfilingAdminOnly: 0\n", false).state, ProbeState::ok);
  EXPECT_EQ(probe_counter_permission("RmProfilingAdminOnly: 1\n", true).state, ProbeState::ok);
  const Probe refused = probe_counter_permission("RmProfilingAdminOnly: 1\n", false);
  EXPECT_EQ(refused.state, ProbeState::limited);
  EXPECT_TRUE(contains(refused.remedy, "NVreg_RestrictProfilingToAdminUsers=0")) << refused.remedy;
  EXPECT_EQ(probe_counter_permission(std::nullopt, true).state, ProbeState::limited);
}

TEST(Probe, OfTheBrowserLooksAlongPath) {
  const test::TemporaryDirectory folder;
  const std::string path = "/nowhere:" + folder.path().string();
  EXPECT_EQ(probe_browser(path).state, ProbeState::limited);
  const auto program = folder.write("chromium", "#!/bin/sh\n");
  EXPECT_EQ(probe_browser(path).state, ProbeState::limited);  // not executable
  ASSERT_EQ(chmod(program.c_str(), 0755), 0);
  EXPECT_EQ(probe_browser(path).found, program.string());
}

TEST(Probe, OfThisMachineHasARemedyForWhateverIsNotOk) {
  const auto probes = probe_machine();
  EXPECT_GE(probes.size(), 6U);
  for (const Probe& probe : probes) {
    EXPECT_FALSE(probe.found.empty()) << probe.name;
    EXPECT_EQ(probe.remedy.empty(), probe.state == ProbeState::ok) << probe.name;
  }
}

TEST(PerfRefusal, NamesTheErrorTheSettingAndTheRemedy) {
  const Refusal strict = explain_refusal(EACCES, {4, true, false});
  EXPECT_EQ(strict.reason, "perf_event_open: Permission denied; perf_event_paranoid is 4");
  EXPECT_TRUE(contains(strict.remedy, "kernel.perf_event_paranoid=2"));
  const Refusal filtered = explain_refusal(EPERM, {2, true, false});
  EXPECT_TRUE(contains(filtered.reason, "system-call filter"));
  EXPECT_TRUE(contains(filtered.remedy, "PERFMON"));
  const Refusal virtual_machine = explain_refusal(ENOENT, {2, false, true});
  EXPECT_EQ(
      virtual_machine.reason,
      "perf_event_open: No such file or directory; perf_event_paranoid is 2; this virtual machine has no "
      "performance monitoring unit");
  EXPECT_TRUE(contains(virtual_machine.remedy, "PMU"));
  EXPECT_TRUE(contains(explain_refusal(ENOENT, {2, true, false}).reason, "no such counter"));
  EXPECT_TRUE(contains(explain_refusal(ENOSYS, {std::nullopt, false, true}).remedy, "CONFIG_PERF_EVENTS"));
  EXPECT_TRUE(contains(explain_refusal(EMFILE, {1, true, false}).remedy, "ulimit -n"));
}

TEST(HardwareCounter, CountsTheInstructionsOfALoop) {
  const auto events = hardware_events();
  const auto event = std::ranges::find(events, "instructions", &HardwareEvent::metric);
  ASSERT_NE(event, events.end());
  const auto opened = open_counter(*event);
  if (const auto* refusal = std::get_if<Refusal>(&opened)) GTEST_SKIP() << refusal->text();
  HardwareCounter& counter = *std::get<std::unique_ptr<HardwareCounter>>(opened);
  const CounterReading before = counter.read();
  volatile int rounds = 0;
  while (rounds < 1'000'000) rounds = rounds + 1;
  const CounterReading growth = counter.read() - before;
  EXPECT_GT(growth.count, 1e6);
  EXPECT_LT(growth.count, 1e8);
}

}  // namespace
}  // namespace mprof
