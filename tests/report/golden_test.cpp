// SPDX-License-Identifier: MIT
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"
#include "report/export/export.hpp"
#include "report/materials/materials.hpp"
#include "report/page/comparison_page.hpp"
#include "report/page/report.hpp"
#include "report/trace/profile_text.hpp"
#include "report/views/summary.hpp"
#include "report/views/views.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

/// Approved texts: what reports of committed runs look like, byte for byte. MPROF_UPDATE_GOLDEN=1 approves
/// what is made now and names what changed; read the difference before you commit it.
namespace mprof {
namespace {

namespace fs = std::filesystem;

const fs::path golden = fs::path(MPROF_SOURCE_DIR) / "tests/golden";

bool updating() {
  const char* update = std::getenv("MPROF_UPDATE_GOLDEN");
  return update != nullptr && std::string(update) == "1";
}

void expect_golden(const fs::path& file, const std::string& text) {
  const fs::path approved = golden / file;
  const bool same = fs::exists(approved) && read_file(approved) == text;
  if (same) return;
  if (updating()) {
    write_file(approved, text);
    std::printf("updated %s\n", approved.c_str());
    return;
  }
  ASSERT_TRUE(fs::exists(approved)) << approved << " is missing: approve it with MPROF_UPDATE_GOLDEN=1";
  EXPECT_EQ(read_file(approved), text)
      << approved << " differs: approve the new text with MPROF_UPDATE_GOLDEN=1";
}

/// Charts that no report makes any more are not left lying about.
void expect_no_other_charts(const fs::path& folder, const std::set<fs::path>& made) {
  if (!fs::exists(golden / folder / "charts")) return;
  for (const auto& entry : fs::directory_iterator(golden / folder / "charts")) {
    const fs::path chart = folder / "charts" / entry.path().filename();
    if (made.contains(chart)) continue;
    if (updating()) {
      fs::remove(golden / chart);
      std::printf("removed %s\n", chart.c_str());
    } else {
      ADD_FAILURE() << chart << " is approved, but not made: remove it with MPROF_UPDATE_GOLDEN=1";
    }
  }
}

void expect_golden_report(const Run& run, const fs::path& folder, const fs::path& directory_of_run = {}) {
  const test::TemporaryDirectory directory;
  std::set<fs::path> made;
  for (const fs::path& file : write_report(run, {{"md"}, directory.path(), {}, directory_of_run})) {
    const fs::path name = folder / fs::relative(file, directory.path());
    expect_golden(name, read_file(file));
    made.insert(name);
  }
  expect_no_other_charts(folder, made);
}

TEST(Golden, MilestoneOfARecordedRun) {
  const mprof::Run run = read_run(golden / "run_a");
  expect_golden_report(run, "run_a");
  expect_golden("run_a/view.json", milestone_page(analyse(run), read_materials(run, {})).view.dump(1) + "\n");
}

TEST(Golden, SummaryOfARecordedRun) {
  expect_golden("summary.txt", render_summary(read_run(golden / "run_a"), 100));
}

TEST(Summary, SaysWhichOpTimesSayLittle) {
  EXPECT_NE(render_summary(samples::gpu(), 100)
                .find("conv/streams works outside forward(): compare its layer time, not its op time."),
            std::string::npos);
  EXPECT_EQ(render_summary(samples::healthy(), 100).find("outside forward()"), std::string::npos);
}

TEST(Summary, SaysWhatTookHowLong) {
  EXPECT_EQ(render_spent(5, 0), "");
  mprof::Run run;
  run.spent = {{Pass::timing, 84, 251.2, 21, 30, 190}, {Pass::trace, 28, 30.5, 5.25, 4, 20}};
  EXPECT_EQ(render_spent(300, measuring_time(run)),
            "Took 300\u00a0s, 210\u00a0s of it measuring and verifying.\n");
}

TEST(Summary, OfSeveralDevicesTheLongestIsWhatItTook) {
  mprof::Run run;
  run.parts.resize(3);
  run.parts[0].environment["gpu"]["UUID"] = std::string("GPU-a1");
  run.parts[0].spent = {{Pass::timing, 2, 100, 1, 10, 89, 0.25}};
  run.parts[1].shard = Shard{2, 2};
  run.parts[1].spent = {{Pass::timing, 1, 60, 1, 4, 35, 0}, {Pass::trace, 1, 20, 1, 4, 15, 40}};
  EXPECT_EQ(
      render_spent_on_devices(run),
      "Took 120\u00a0s on 2 devices:\n"
      "  GPU-a1: 100\u00a0s (timing 100\u00a0s): 1\u00a0s to start 2 workers, 10\u00a0s to load and free, "
      "89\u00a0s to measure and verify.\n"
      "  Shard 2: 80\u00a0s (timing 60\u00a0s, trace 20\u00a0s): 2\u00a0s to start 2 workers, 8\u00a0s to "
      "load and free, 50\u00a0s to measure and verify, 20\u00a0s to end workers or in cases without a "
      "result; "
      "40\u00a0s of waiting for the others.\n");
  for (RunPart& part : run.parts) part.spent.clear();
  EXPECT_EQ(render_spent_on_devices(run), "") << "merged from runs of an earlier version";
}

TEST(Summary, SaysWhyCasesWereSkippedOnceAReason) {
  mprof::Run run = samples::healthy();
  std::size_t skipped = 0;
  for (Case& c : run.cases) {
    if (c.key.variant != run.variants.back().id) continue;
    ++skipped;
    for (PassResult& pass : c.passes)
      pass = {.pass = pass.pass, .status = Status::skipped, .reason = "no NVIDIA driver"};
  }
  ASSERT_GT(skipped, 1U);
  const std::string summary = render_summary(run, 100);
  const std::size_t at = summary.find("Skipped: " + run.variants.back().id);
  ASSERT_NE(at, std::string::npos) << summary;
  EXPECT_NE(summary.find(": no NVIDIA driver\n", at), std::string::npos);
  EXPECT_EQ(summary.find(run.variants.back().id), at + 9) << "and they have no row";
}

TEST(Golden, MilestoneOfARunFullOfTrouble) {
  expect_golden_report(samples::troubled(), "troubled");
}

TEST(Golden, MilestoneOfASweep) {
  expect_golden_report(samples::swept(), "swept");
}

/// Each family reads in its own words.
TEST(Golden, MilestoneOfTwoFamilies) {
  expect_golden_report(samples::two_families(), "two_families");
}

TEST(Golden, MilestoneOfAGpuRun) {
  const test::TemporaryDirectory directory;
  const mprof::Run run = samples::gpu();
  const fs::path trace = samples::write_traces(samples::traces_of(run, 2), directory.path());
  expect_golden_report(run, "gpu", trace.parent_path());
}

/// The tables of two cases that were traced on a GPU, in each format.
TEST(Golden, ProfileOfARecordedTrace) {
  const trace::Trace recorded = trace::read_trace(golden / "trace/recorded.sqlite");
  std::vector<ProfileTable> tables;
  for (const ProfileReport& report : profile_reports()) tables.push_back(report.table(recorded));
  expect_golden("stats/recorded.txt", render_profile(tables, "table"));
  expect_golden("stats/recorded.csv", render_profile(tables, "csv"));
  expect_golden("stats/recorded.json", render_profile(tables, "json"));
}

/// Two cases that were traced on a GPU, with times that are made up.
TEST(Golden, ExportOfARecordedTrace) {
  mprof::Run run = samples::gpu();
  VariantInfo matmul = samples::variant("conv/unroll_matmul", "conv/streams");
  run.variants[1].baseline.clear();
  run.variants.push_back(matmul);
  run.cases = {samples::timed_case(run.variants[1], 100, 2e-6, 2e-6, {{"streams", "4"}}),
               samples::timed_case(matmul, 100, 1e-4, 4e-4)};
  const test::TemporaryDirectory directory;
  const Exported exported = write_export(
      run, {{"perfetto-json", "csv", "json"}, directory.path(), golden / "trace/recorded.sqlite"});
  EXPECT_EQ(exported.written.size(), 9U);
  for (const fs::path& file : exported.written) expect_golden("export" / file.filename(), read_file(file));
}

/// The only recorded run with hardware counters of kernels.
TEST(Golden, MilestoneOfARecordedGpuRun) {
  expect_golden_report(read_run(golden / "h200"), "h200", golden / "h200");
}

TEST(Golden, ComparisonOfRecordedRuns) {
  CompareOptions options;
  options.name_a = "run_a";
  options.name_b = "run_b";
  const Comparison comparison = compare(read_run(golden / "run_a"), read_run(golden / "run_b"), options);
  expect_golden("compare.txt", render_comparison(comparison, "text", {80, {}}));
  expect_golden("compare.md", render_comparison(comparison, "md"));
  expect_golden("compare.json", render_comparison(comparison, "json"));
}

}  // namespace
}  // namespace mprof
