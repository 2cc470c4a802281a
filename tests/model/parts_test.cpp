// SPDX-License-Identifier: MIT
#include "model/parts.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

using Ids = std::vector<std::string>;

RunPart part_on(const std::string& gpu, Ids cases, double peak) {
  RunPart part{.started = gpu.empty() ? "2026-01-01" : "2026-01-02",
               .ceilings = {{.id = "memory_bandwidth", .device = "cuda", .value = peak}},
               .cases = std::move(cases)};
  if (!gpu.empty()) part.environment["gpu"]["UUID"] = gpu;
  return part;
}

mprof::Run run_of(const Ids& cases, std::vector<RunPart> parts) {
  mprof::Run run;
  for (const std::string& id : cases) run.cases.emplace_back().id = id;
  run.environment["gpu"]["UUID"] = Absent{"not the same in all merged runs"};
  run.parts = std::move(parts);
  return run;
}

/// A machine as it is shown: its GPU, its cases, its peak.
struct Shown {
  std::string gpu{};
  Ids cases{};
  double peak = 0;
  bool operator==(const Shown&) const = default;
};

std::vector<Shown> shown(const mprof::Run& run) {
  std::vector<Shown> machines;
  visit_machines(run, [&](const mprof::Run& machine) {
    Shown& one = machines.emplace_back(Shown{.gpu = gpu_uuid(machine)});
    for (const Case& c : machine.cases) one.cases.push_back(c.id);
    if (!machine.ceilings.empty()) one.peak = machine.ceilings[0].value.value_or(0);
    EXPECT_TRUE(machine.parts.empty());
  });
  return machines;
}

TEST(VisitMachines, ShowsEachGpuWithItsCasesAndPeaks) {
  const mprof::Run run =
      run_of({"a", "b", "c", "d"},
             {part_on("GPU-1", {"a", "d"}, 1), part_on("GPU-2", {"c"}, 2), part_on("GPU-1", {"b"}, 3)});
  EXPECT_EQ(shown(run), (std::vector<Shown>{{"GPU-1", {"a", "b", "d"}, 1}, {"GPU-2", {"c"}, 2}}));
}

TEST(VisitMachines, KnowsNoMachineOfCasesThatSeveralMeasuredOrNone) {
  const mprof::Run run =
      run_of({"a", "b", "c"}, {part_on("GPU-1", {"a", "b"}, 1), part_on("GPU-2", {"b"}, 2)});
  EXPECT_EQ(shown(run), (std::vector<Shown>{{"GPU-1", {"a"}, 1}}));
  EXPECT_EQ(shown(run_of({"a"}, {part_on("GPU-1", {"a"}, 1), part_on("GPU-1", {"a"}, 2)})),
            (std::vector<Shown>{{"GPU-1", {"a"}, 1}}))
      << "rounds of one GPU are its own, pooled or not";
}

TEST(MostGpusOfACase, CountsEachGpuOnce) {
  EXPECT_EQ(most_gpus_of_a_case(run_of({"a"}, {})), 0U);
  const RunPart one = part_on("GPU-1", {"a", "b"}, 1), other = part_on("GPU-2", {"b"}, 1);
  EXPECT_EQ(most_gpus_of_a_case(run_of({"a", "b"}, {one, one, part_on("", {"a"}, 1)})), 1U);
  EXPECT_EQ(most_gpus_of_a_case(run_of({"a", "b"}, {one, other, one})), 2U);
}

TEST(VisitMachines, TakesPartsWithoutAGpuForMachinesOfTheirOwn) {
  const mprof::Run run = run_of({"a", "b"}, {part_on("", {"a"}, 1), part_on("", {"b"}, 2)});
  EXPECT_EQ(shown(run), (std::vector<Shown>{{"", {"a"}, 1}, {"", {"b"}, 2}}));
}

TEST(VisitMachines, ShowsARunThatWasNotMergedAsItIs) {
  mprof::Run run = run_of({"a", "b"}, {});
  run.environment["gpu"]["UUID"] = "GPU-1";
  EXPECT_EQ(shown(run), (std::vector<Shown>{{"GPU-1", {"a", "b"}, 0}}));
}

}  // namespace
}  // namespace mprof
