// SPDX-License-Identifier: MIT
// A merged run whose cases two GPU models measured: each in its own column, against its own peaks.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "model/derive/derive.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/machines/environment.hpp"
#include "report/materials/materials.hpp"
#include "report/views/views.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// Every other case was measured on another model, with peaks twice as high.
mprof::Run of_two_models() {
  mprof::Run run = samples::gpu();
  RunPart small, large;
  small.environment["gpu"]["name"] = "Small GPU";
  large.environment["gpu"]["name"] = "Large GPU";
  small.ceilings = large.ceilings = run.ceilings;
  for (Ceiling& ceiling : large.ceilings) {
    if (ceiling.value) *ceiling.value *= 2;
  }
  for (std::size_t i = 0; i < run.cases.size(); ++i)
    (i % 2 == 0 ? small : large).cases.push_back(run.cases[i].id);
  run.parts = {small, large};
  run.environment["gpu"]["name"] = Absent{"not the same in all merged runs"};
  derive(run, std::filesystem::temp_directory_path());
  return run;
}

json models_of(const mprof::Run& run) {
  return milestone_page(analyse(run), {}).view["families"][0]["models"];
}

TEST(GpuModels, StandEachInAColumnOfItsOwn) {
  const json table = models_of(of_two_models());
  ASSERT_TRUE(table.is_object()) << table;
  ASSERT_EQ(table["columns"].size(), 4U);
  EXPECT_EQ(table["columns"][2]["head"], "Large GPU");
  EXPECT_EQ(table["columns"][3]["head"], "Small GPU");
  EXPECT_FALSE(table["rows"].empty());
  EXPECT_EQ(models_of(samples::gpu()), false) << "of one model there is nothing to tell apart";
}

TEST(GpuModels, AreHeldAgainstTheirOwnPeaks) {
  mprof::Run alone = samples::gpu();
  derive(alone, std::filesystem::temp_directory_path());
  const mprof::Run merged = of_two_models();
  const RunAnalysis before = analyse(alone), after = analyse(merged);
  std::size_t compared = 0;
  for (std::size_t v = 0; v < before.families[0].variants.size(); ++v) {
    const VariantResult &own = before.families[0].variants[v], &now = after.families[0].variants[v];
    for (std::size_t i = 0; i < own.cases.size(); ++i) {
      for (std::size_t op = 0; op < own.cases[i].ops.size(); ++op) {
        const Value &was = own.cases[i].ops[op].memory_throughput,
                    &is = now.cases[i].ops[op].memory_throughput;
        if (!was || now.cases[i].gpu_model.empty()) continue;
        ASSERT_TRUE(is);
        EXPECT_NEAR(is->median, was->median / (now.cases[i].gpu_model == "Large GPU" ? 2 : 1), 1e-9);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0U);
}

TEST(GpuModels, AreNamedInTheTitleAndSaidToBeSeveral) {
  const mprof::Run run = of_two_models();
  EXPECT_EQ(machine_name(run), "Large GPU and Small GPU");
  const RunAnalysis analysis = analyse(run);
  EXPECT_TRUE(std::ranges::any_of(analysis.findings, [](const Finding& finding) {
    const auto* const several = std::get_if<finding::SeveralGpuModels>(&finding.what);
    return several != nullptr && several->models == std::vector<std::string>{"Large GPU", "Small GPU"};
  }));
}

}  // namespace
}  // namespace mprof
