// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/hot_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/views/page_plan.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/variant_parts.hpp"
#include "tests/report/fabricated_program.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

SourceLine line(const std::string& op, std::uint32_t number, std::uint64_t samples,
                std::map<std::string, std::uint64_t> stalls) {
  return {op, "kernel", number > 0 ? "kernels/conv/one.cu" : "", number, samples, std::move(stalls)};
}

Case sampled_case(std::vector<SourceLine> lines) {
  Case c;
  c.ops = {{.name = "layer1"}, {.name = "layer2"}};
  c.passes = {{.pass = Pass::source, .status = Status::ok, .source_lines = std::move(lines)}};
  return c;
}

TEST(HotLines, AreTheMostSampledOnesOfEachOpWithTheMostFrequentReason) {
  const Case c = sampled_case({line("layer1", 7, 60, {{"long_scoreboard", 45}, {"selected", 15}}),
                               line("layer1", 9, 30, {{"selected", 20}, {"wait", 10}}),
                               line("layer1", 0, 10, {{"wait", 10}}), line("layer2", 7, 5, {{"wait", 5}})});
  const std::vector<HotLines> ops = hot_lines_of(c);
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].op, "layer1");
  EXPECT_EQ(ops[0].samples, 100);
  ASSERT_EQ(ops[0].lines.size(), 2U) << "what belongs to no line is none";
  EXPECT_EQ(ops[0].lines[0].line->line, 7U);
  EXPECT_DOUBLE_EQ(ops[0].lines[0].share, 0.6);
  EXPECT_EQ(ops[0].lines[0].most_frequent.reason, "long scoreboard");
  EXPECT_DOUBLE_EQ(ops[0].lines[0].most_frequent.share, 0.75);
  EXPECT_EQ(ops[0].lines[1].most_frequent.reason, "issuing");
  EXPECT_EQ(ops[1].op, "layer2");
}

/// Where many warps are, those that begin stand long at lines that cost next to nothing, and only wait for
/// their turn.
TEST(HotLines, LeaveOutWarpsThatOnlyWaitedForTheirTurn) {
  const Case c =
      sampled_case({line("layer1", 1, 500, {{"not_selected", 490}, {"selected", 10}}),
                    line("layer1", 2, 190, {{"not_selected", 100}, {"selected", 40}, {"wait", 50}})});
  const std::vector<HotLines> ops = hot_lines_of(c);
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].samples, 100);
  EXPECT_EQ(ops[0].issuing, 50);
  ASSERT_EQ(ops[0].lines.size(), 2U);
  EXPECT_EQ(ops[0].lines[0].line->line, 2U);
  EXPECT_DOUBLE_EQ(ops[0].lines[0].share, 0.9);
  EXPECT_DOUBLE_EQ(ops[0].lines[0].issued, 0.8);
  EXPECT_EQ(ops[0].lines[0].most_frequent.reason, "wait");
  EXPECT_EQ(ops[0].lines[1].most_frequent.reason, "issuing");
}

TEST(HotLines, OfManyOnlyTheFirstAndNoneThatIsNoise) {
  std::vector<SourceLine> lines;
  for (std::uint32_t i = 1; i <= 9; ++i) lines.push_back(line("layer1", i, 10 + i, {{"wait", 10 + i}}));
  lines.push_back(line("layer2", 1, 99, {{"wait", 99}}));
  lines.push_back(line("layer2", 2, 1, {{"wait", 1}}));
  const Case c = sampled_case(std::move(lines));
  const std::vector<HotLines> ops = hot_lines_of(c);
  ASSERT_EQ(ops.size(), 2U);
  ASSERT_EQ(ops[0].lines.size(), most_hot_lines);
  EXPECT_EQ(ops[0].lines[0].line->line, 9U) << "the hottest first, whatever their order in the record";
  EXPECT_EQ(ops[1].lines.size(), 1U);
}

TEST(HotLines, OfACaseThatWasNotSampledAreNone) {
  EXPECT_TRUE(hot_lines_of(sampled_case({})).empty());
  EXPECT_TRUE(hot_lines_of(Case{}).empty());
  EXPECT_TRUE(hot_lines_of(sampled_case({line("layer1", 0, 10, {})})).empty())
      << "compiled without -lineinfo";
}

/// The table of the first variant of a run whose GPU case was sampled.
nlohmann::json table_of(const VariantSource& source, const std::vector<SourceLine>& lines) {
  mprof::Run run = samples::gpu();
  for (Case& c : run.cases)
    c.passes.push_back({.pass = Pass::source, .status = Status::ok, .source_lines = lines});
  const RunAnalysis analysis = analyse(run);
  const FamilyResult& family = analysis.families[0];
  for (const VariantResult& variant : family.variants) {
    Materials materials;
    materials.sources[variant.info.id] = source;
    PagePlan plan;
    PageContext page{.materials = &materials, .plan = &plan};
    nlohmann::json view = hot_lines_view(family, variant, page);
    if (view.is_object()) return view;
  }
  return false;
}

TEST(HotLines, StandWithTheCodeThatTheRunKeeps) {
  VariantSource source;
  source.file = "kernels/conv/one.cu";
  source.code = "first\n  sum += x[i];  \n";
  const nlohmann::json view = table_of(
      source, {line("layer1", 2, 90, {{"lg_throttle", 90}}), line("layer1", 9, 10, {{"selected", 10}})});
  ASSERT_TRUE(view.is_object());
  ASSERT_EQ(view["rows"].size(), 2U);
  std::vector<std::string> texts;
  for (const auto& cell : view["rows"][0]["cells"]) texts.push_back(cell["text"]);
  EXPECT_EQ(texts[0], "layer1");
  EXPECT_EQ(texts[1], "one.cu:2");
  EXPECT_EQ(texts[2], "sum += x[i];");
  EXPECT_EQ(texts[3], "90.0\u00a0%");
  EXPECT_EQ(texts[4], "0.0\u00a0%") << "all that was issued is elsewhere";
  EXPECT_EQ(texts[5], "lg throttle (100\u00a0%)");
  EXPECT_TRUE(view["rows"][1]["cells"][2]["absent"]) << "the file has no ninth line";
}

TEST(HotLines, WithoutSamplesThereIsNoTable) {
  EXPECT_FALSE(table_of({}, {}).is_object());
}

// --- Of programs

/// A run of a program whose kernel `scale` takes nearly all of the time, with what was sampled of it.
nlohmann::json details_of_scale(std::vector<SourceLine> lines) {
  test::FabricatedProgram program;
  for (int step = 0; step < 8; ++step) program.range("step", [&] { program.launch("scale", 1000); });
  Case record;
  record.passes = {{.pass = Pass::source, .status = Status::ok, .source_lines = std::move(lines)}};
  PagePlan plan;
  const PageContext page{.plan = &plan};
  return kernel_details_view(program.picture(std::move(record)), page).at("list").at(0);
}

SourceLine sampled(const std::string& kernel, const std::string& file, std::uint64_t waiting,
                   std::uint64_t issuing) {
  return {"whole program",
          kernel,
          file,
          7,
          waiting + issuing,
          {{"long_scoreboard", waiting}, {"selected", issuing}}};
}

TEST(HotLines, OfAProgramStandWithTheirKernel) {
  const nlohmann::json kernel =
      details_of_scale({sampled("scale<1>", "scale.cu", 50, 10), sampled("scale<2>", "scale.cu", 20, 10),
                        sampled("other", "other.cu", 500, 0), sampled("scale<2>", "", 10, 0)});
  EXPECT_EQ(kernel.at("lines").back(),
            "Of 100 samples of its warps: long scoreboard 80.0\u00a0% and issuing 20.0\u00a0%.");
  const nlohmann::json& rows = kernel.at("hot").at("rows");
  ASSERT_EQ(rows.size(), 1U) << "a line of two instances is one";
  EXPECT_EQ(rows.at(0).at("cells").at(0).at("text"), "scale.cu:7");
}

TEST(HotLines, OfAKernelWithoutALineTableSayHowToGetOne) {
  const nlohmann::json kernel = details_of_scale({sampled("scale", "", 50, 50)});
  EXPECT_EQ(kernel.at("hot"), false);
  EXPECT_THAT(kernel.at("lines").back().get<std::string>(),
              testing::HasSubstr("no line table (-lineinfo), so its lines are not known"));
}

}  // namespace
}  // namespace mprof
