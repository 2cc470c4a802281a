// SPDX-License-Identifier: MIT
#include "report/analysis/standing/brief.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "report/page/report.hpp"
#include "report/views/answer_sentences.hpp"
#include "report/views/views.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

/// A baseline, two that build on it of which one calls a library, and one with a root of its own.
mprof::Run ladder() {
  mprof::Run run = samples::empty_run();
  run.variants = {samples::variant("conv/slow"), samples::variant("conv/alone"),
                  samples::variant("conv/better", "conv/slow"), samples::variant("conv/rival", "conv/slow")};
  run.variants[3].library = "cuBLAS";
  run.cases = {
      samples::timed_case(run.variants[0], 100, 4, 8), samples::timed_case(run.variants[1], 100, 5, 9),
      samples::timed_case(run.variants[2], 100, 1, 2), samples::timed_case(run.variants[3], 100, 2, 1.5)};
  return run;
}

nlohmann::json view_of(const mprof::Run& run) {
  const RunAnalysis analysis = analyse(run);
  const Materials materials{.evidence = {std::nullopt, "nothing was traced"}};
  PagePlan plan;
  PageContext page;
  page.materials = &materials;
  page.plan = &plan;
  return brief_view(analysis.families.front(), brief_of(analysis.families.front()), page);
}

/// No-break spaces are typed as spaces here.
std::string line_text(const nlohmann::json& line) {
  std::string text = line["text"];
  for (std::size_t at = 0; (at = text.find("\u00a0", at)) != std::string::npos;) text.replace(at, 2, " ");
  return text;
}

std::string texts_of(const nlohmann::json& lines) {
  std::string text;
  for (const nlohmann::json& line : lines) text += line_text(line) + "\n";
  return text;
}

TEST(Brief, OrdersByTheOpsTogetherOverTheBaselineOfMost) {
  const mprof::Run run = ladder();
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_NE(brief.common, nullptr);
  EXPECT_EQ(brief.common->info.id, "conv/slow");
  ASSERT_EQ(brief.rows.size(), 4U);
  std::vector<std::string> ids;
  for (const BriefRow& row : brief.rows) ids.push_back(row.variant->info.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"conv/better", "conv/rival", "conv/slow", "conv/alone"}));
  EXPECT_NEAR(*brief.rows[0].ops_time, 3, 0.01);
  EXPECT_NEAR(*brief.rows[0].over, 4, 0.02);
  EXPECT_NEAR(*brief.rows[2].over, 1, 1e-9);
  EXPECT_LT(*brief.rows[3].over, 1) << "a root of its own is held against the same baseline";
}

TEST(Brief, HoldsTheOwnBestAgainstTheBestOfTheLibraries) {
  const mprof::Run run = ladder();
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.rivals.size(), 3U) << "two ops and the whole";
  EXPECT_EQ(brief.rivals[0].library, "cuBLAS");
  EXPECT_EQ(brief.rivals[0].own->key.variant, "conv/better");
  EXPECT_EQ(brief.rivals[0].rival->key.variant, "conv/rival");
  EXPECT_NEAR(*brief.rivals[0].speed_up.factor, 2, 0.02);
  EXPECT_LT(*brief.rivals[1].speed_up.factor, 1) << "where the library is faster, it is said";
  mprof::Run without = ladder();
  without.variants[3].library.clear();
  const RunAnalysis own_alone = analyse(without);
  EXPECT_TRUE(brief_of(own_alone.families.front()).rivals.empty());
}

/// Variants are allowed an error of their own: 2e-3 where half precision multiplies.
mprof::Run ladder_of_precisions(double better, double rival) {
  mprof::Run run = ladder();
  for (Verification& v : samples::timing(run.cases[2]).verification) v.tolerance = better;
  for (Verification& v : samples::timing(run.cases[3]).verification) v.tolerance = rival;
  return run;
}

TEST(Brief, HoldsTheBestThatKeepsTheLibrarysToleranceAgainstIt) {
  const mprof::Run run = ladder_of_precisions(2e-3, 1e-5);
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  EXPECT_EQ(brief.rivals[0].own->key.variant, "conv/better");
  ASSERT_NE(brief.rivals[0].as_tight, nullptr);
  EXPECT_EQ(brief.rivals[0].as_tight->key.variant, "conv/slow");
  EXPECT_NEAR(*brief.rivals[0].as_tight_speed_up.factor, 0.5, 0.01);
  EXPECT_EQ(*tolerance_of(*brief.rivals[0].own, ""), 2e-3);
  const mprof::Run alike = ladder_of_precisions(2e-3, 2e-3);
  const RunAnalysis analysis_of_alike = analyse(alike);
  EXPECT_EQ(brief_of(analysis_of_alike.families.front()).rivals[0].as_tight, nullptr);
}

/// Own code and a library in two precisions: in FP32 2 s against 3 s in the first op, in FP16 1 s against 0.5
/// s.
mprof::Run ladder_of_kinds() {
  mprof::Run run = ladder_of_precisions(2e-3, 1e-5);
  run.cases[2].key.parameters["precision"] = "fp16";
  run.cases[3] = samples::timed_case(run.variants[3], 100, 3, 3);
  run.cases[3].key.parameters["math"] = "fp32";
  run.cases.push_back(samples::timed_case(run.variants[3], 100, 0.5, 4));
  run.cases.back().key.parameters["math"] = "fp16";
  run.cases.back().id = "conv/rival[math=fp16]@100";
  for (Verification& v : samples::timing(run.cases.back()).verification) v.tolerance = 2e-3;
  run.cases[0] = samples::timed_case(run.variants[0], 100, 2, 8);
  return run;
}

TEST(Brief, HoldsLikeAgainstLike) {
  const mprof::Run run = ladder_of_kinds();
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.rivals.size(), 5U) << "two ops in two precisions, and the whole";
  const RivalStep& first = brief.rivals[0];
  EXPECT_EQ(first.own->key.variant, "conv/better");
  EXPECT_EQ(first.rival->key.parameters.at("math"), "fp16");
  EXPECT_TRUE(first.is_like);
  EXPECT_NEAR(*first.speed_up.factor, 0.5, 0.01);
  const RivalStep& other = brief.rivals[1];
  EXPECT_TRUE(other.is_of_other_kind && other.is_like);
  EXPECT_EQ(other.own->key.variant, "conv/slow") << "it calls its numbers nothing, but keeps 1e-5";
  EXPECT_EQ(other.rival->key.parameters.at("math"), "fp32");
  EXPECT_NEAR(*other.speed_up.factor, 1.5, 0.02);
  // In the second op the library is faster in FP32 than in FP16, which is not what FP16 is held against.
  EXPECT_EQ(brief.rivals[2].own->key.variant, "conv/better");
  EXPECT_EQ(brief.rivals[2].rival->key.parameters.at("math"), "fp16");
  EXPECT_NEAR(*brief.rivals[2].speed_up.factor, 2, 0.02);
  EXPECT_NEAR(*brief.rivals[2].over_fastest.factor, 1.5, 0.02);
}

TEST(Brief, ALibraryInTF32IsNoRivalOfFP16ThoughHeldToOneTolerance) {
  mprof::Run run = ladder_of_kinds();
  run.cases.back().key.parameters["math"] = "tf32";
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  EXPECT_FALSE(is_like(*brief.rivals[0].own, *brief.rivals[0].rival, "layer1"));
  EXPECT_FALSE(brief.rivals[0].is_like) << "the fastest of the libraries, as there is none in FP16";
  EXPECT_NEAR(*brief.rivals[0].speed_up.factor, 0.5, 0.01);
}

TEST(BriefView, SaysInWhichPrecisionALibraryIsHeldAgainst) {
  const nlohmann::json view = view_of(ladder_of_kinds());
  const std::string details = texts_of(view["details"]);
  EXPECT_NE(details.find("2.00× as fast as cuBLAS (conv/rival[math=fp16])"), std::string::npos) << details;
  EXPECT_NE(details.find(" Both are allowed FP16."), std::string::npos) << details;
  EXPECT_NE(details.find("1.50× as fast as cuBLAS (conv/rival"), std::string::npos) << details;
  EXPECT_NE(details.find(" Both must meet 1.0e-5."), std::string::npos) << details;
}

TEST(BriefView, AFastestOfALibraryHasOwnCodesLikeBesideIt) {
  mprof::Run run = ladder_of_kinds();
  samples::timing(run.cases[2]).status = Status::wrong;
  const std::string details = texts_of(view_of(run)["details"]);
  EXPECT_NE(details.find("conv/slow is 1.50× as fast as cuBLAS (conv/rival"), std::string::npos) << details;
  EXPECT_NE(
      details.find(" Both must meet 1.0e-5. It is 0.250× as fast as the fastest library, cuBLAS (95 %: "),
      std::string::npos)
      << details;
}

TEST(Brief, TakesABaselineThatWasMeasuredWhereThereIsOne) {
  mprof::Run run = ladder();
  // Most come from conv/slow, which was skipped here.
  run.cases.erase(run.cases.begin());
  run.variants.push_back(samples::variant("conv/lonely", "conv/alone"));
  run.cases.push_back(samples::timed_case(run.variants.back(), 100, 2.5, 4.5));
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_NE(brief.common, nullptr);
  EXPECT_EQ(brief.common->info.id, "conv/alone");
  for (const BriefRow& row : brief.rows) {
    if (row.variant->info.id == "conv/lonely") {
      EXPECT_NEAR(*row.over, 2, 0.02);
    }
  }
}

TEST(Brief, WithoutAMeasuredBaselineNothingIsHeldAgainstIt) {
  mprof::Run run = ladder();
  run.cases.erase(run.cases.begin(), run.cases.begin() + 2);
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.rows.size(), 2U);
  for (const BriefRow& row : brief.rows) EXPECT_FALSE(row.over);
  EXPECT_EQ(brief.common, nullptr);
  const nlohmann::json view = view_of(run);
  for (const nlohmann::json& column : view["table"]["columns"]) EXPECT_NE(column["head"], "Over baseline");
  EXPECT_FALSE(view["chart"]);
  EXPECT_EQ(line_text(view["best"][0]), "conv/better in 1.000 s.");
  const std::string rows = line_text(view["details"][0]);
  EXPECT_TRUE(
      rows.starts_with("conv/better is 2.00× as fast as the fastest library, cuBLAS (conv/rival) (95 %: "))
      << rows;
  EXPECT_TRUE(rows.ends_with("): 1.000 s where the library takes 2.000 s.")) << rows;
}

TEST(Brief, NamesTheLibrariesThatNothingTellsApartFromTheRival) {
  mprof::Run run = ladder();
  run.variants.push_back(samples::variant("conv/level", "conv/slow"));
  run.variants.back().library = "cuDNN";
  run.cases.push_back(samples::timed_case(run.variants.back(), 100, 2, 6));
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.rivals[0].level.size(), 1U) << "as fast in the first op";
  EXPECT_NE(brief.rivals[0].level[0]->key.variant, brief.rivals[0].rival->key.variant);
  EXPECT_TRUE(brief.rivals[1].level.empty()) << "four times slower in the second";
  const std::string rows = line_text(view_of(run)["details"][0]);
  EXPECT_TRUE(rows.find("cuBLAS (conv/rival; tied with conv/level)") != std::string::npos ||
              rows.find("cuDNN (conv/level; tied with conv/rival)") != std::string::npos)
      << rows;
}

TEST(Brief, HoldsTheBestAgainstTheBaselineOfMost) {
  const mprof::Run run = ladder();
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.leaders.size(), 3U) << "two ops and the whole";
  EXPECT_EQ(brief.leaders[0].best->fastest->key.variant, "conv/better");
  EXPECT_NEAR(*brief.leaders[0].over.factor, 4, 0.02);
  EXPECT_EQ(brief.leaders[1].best->fastest->key.variant, "conv/rival");
  EXPECT_TRUE(brief.leaders[2].best->op.empty());
  mprof::Run alone = ladder();
  alone.variants.resize(1);
  alone.cases.resize(1);
  const RunAnalysis of_one = analyse(alone);
  EXPECT_FALSE(brief_of(of_one.families.front()).leaders.at(0).over) << "it is the baseline itself";
}

/// Adds a traced execution whose kernels take so long in each op, s.
void trace(Case& c, double layer1, double layer2) {
  std::erase_if(c.passes, [](const PassResult& pass) { return pass.pass == Pass::trace; });
  PassResult& pass = c.passes.emplace_back(PassResult{.pass = Pass::trace, .status = Status::ok});
  pass.measurements = {{"gpu_time", "layer1", "", Source::measured, {layer1}, ""},
                       {"gpu_time", "layer2", "", Source::measured, {layer2}, ""}};
}

TEST(BriefView, AWholeThatIsAheadDespiteItsKernelsOwesItToItsCopies) {
  constexpr std::string_view says =
      " Its kernels take longer (2.00 → 5.80 s), so the gain is outside of them.";
  mprof::Run run = ladder();
  for (Measurement& m : samples::timing(run.cases[2]).measurements) {
    if (m.metric == "total_time") std::ranges::fill(m.samples, 1.0);
  }
  const auto whole = [&run] { return line_text(view_of(run)["details"].back()); };
  const auto is_said = [&] { return whole().find(says) != std::string::npos; };
  ASSERT_NE(whole().find("as fast as the fastest library, cuBLAS (conv/rival)"), std::string::npos)
      << whole();
  EXPECT_FALSE(is_said()) << "nothing was traced: " << whole();
  trace(run.cases[2], 1.9, 3.9);
  trace(run.cases[3], 1, 1);
  EXPECT_TRUE(is_said()) << whole();
  trace(run.cases[3], 1.9, 3.8);
  EXPECT_FALSE(is_said()) << "as long: " << whole();
}

TEST(BriefView, ADisturbedTimeIsWithoutAVerdictAndNotLevel) {
  mprof::Run run = ladder();
  run.variants.push_back(samples::variant("conv/far", "conv/slow"));
  run.variants.back().library = "cuDNN";
  run.cases.push_back(samples::timed_case(run.variants.back(), 100, 9, 9));
  for (Case& c : run.cases) {
    for (Measurement& m : samples::timing(c).measurements)
      m.derived.own().disturbed = "other processes used the CPUs";
  }
  const std::string rows = line_text(view_of(run)["details"][0]);
  EXPECT_NE(rows.find("2.00× as fast as the fastest library, cuBLAS (conv/rival) (no verdict: a time was "
                      "disturbed)"),
            std::string::npos)
      << rows;
}

TEST(BriefView, AnswersInTheOrderInWhichALeadAsks) {
  const nlohmann::json view = view_of(ladder());
  std::vector<std::string> leads;
  for (const char* part : {"best", "outlook", "right"}) {
    for (const nlohmann::json& line : view[part]) leads.push_back(line["lead"]);
  }
  EXPECT_EQ(leads, (std::vector<std::string>{"layer1", "layer2", "Sum of the ops", "Whole execution",
                                             "Why, against conv/slow", "What bounds it",
                                             "Where the time goes", "Is it right"}));
  EXPECT_EQ(view["together"], nlohmann::json::array({view["best"][2]}))
      << "where ops have cards, it is a line";
  const std::string rows = line_text(view["best"][0]);
  EXPECT_EQ(rows.find("tolerance"), std::string::npos) << rows;
  EXPECT_TRUE(rows.starts_with("conv/better in 1.000 s, 4.00× as fast as conv/slow (95 %: ")) << rows;
  EXPECT_EQ(rows.find("cuBLAS"), std::string::npos) << "the headline has no rival: " << rows;
  const std::string columns = line_text(view["details"][1]);
  EXPECT_TRUE(columns.starts_with("conv/better is 0.75")) << columns;
  EXPECT_NE(columns.find("× as fast as the fastest library, cuBLAS (conv/rival)"), std::string::npos)
      << columns;
  EXPECT_EQ(line_text(view["outlook"][2]), "Not known (nothing was traced).");
}

TEST(BriefView, SaysWhereToleranceDiffersFromTheLibrarys) {
  const nlohmann::json tighter = view_of(ladder_of_precisions(2e-3, 1e-5));
  const std::string headline = line_text(tighter["best"][0]);
  EXPECT_TRUE(headline.starts_with("conv/better in 1.000 s (FP16/TF32), 4.00× as fast as")) << headline;
  EXPECT_NE(headline.find(", 2.00× at tolerance 1.0e-5 (conv/rival)"), std::string::npos) << headline;
  const std::string together = line_text(tighter["together"][0]);
  EXPECT_TRUE(together.starts_with("conv/better in 3.000 s (FP16/TF32), ")) << together;
  EXPECT_NE(together.find("× at tolerance 1.0e-5 (conv/"), std::string::npos) << together;
  EXPECT_EQ(tighter["details"][0]["lead"], "Fastest at tolerance 1.0e-5");
  const std::string tight = line_text(tighter["details"][0]);
  EXPECT_TRUE(tight.starts_with("layer1 by conv/rival in 2.000 s, 2.00× as fast as conv/slow")) << tight;
  const std::string own = line_text(tighter["details"][1]);
  EXPECT_NE(own.find(" Its tolerance is looser: 2.0e-3, not 1.0e-5; no library has a comparable time at this "
                     "precision."),
            std::string::npos)
      << own;
  const std::string looser = texts_of(view_of(ladder_of_precisions(1e-5, 2e-3))["details"]);
  EXPECT_NE(looser.find(" Its tolerance is tighter: 1.0e-5, not 2.0e-3"), std::string::npos) << looser;
  EXPECT_EQ(line_text(view_of(ladder())["details"][0]).find("tolerance"), std::string::npos);
  mprof::Run of_a_precision = ladder_of_precisions(2e-3, 1e-5);
  of_a_precision.cases[2].key.parameters["precision"] = "tf32";
  const std::string named = line_text(view_of(of_a_precision)["best"][0]);
  EXPECT_TRUE(named.starts_with("conv/better in 1.000 s (TF32), ")) << named;
}

TEST(BriefView, CallsInputsSoWhereAFamilyHasNoWordForThem) {
  FamilyResult family;
  family.verified.outputs = family.verified.passed = 1;
  family.scrutiny.executions = 7;
  family.scrutiny.orders = 3;
  EXPECT_NE(verification_sentence(family).find("with the inputs in up to 3 different orders"),
            std::string::npos);
  family.info.nouns.items = "rows";
  EXPECT_NE(verification_sentence(family).find("with the rows in up to 3 different orders"),
            std::string::npos);
}

TEST(BriefView, SaysWhatALibraryWasAskedForAndHowLittleOfTheWholeItIs) {
  mprof::Run run = ladder();
  run.cases[3].key.parameters["math"] = "fp32";
  samples::set_samples(run.cases[3], "total_time", "", samples::around(35));
  samples::set_samples(run.cases[2], "total_time", "", samples::around(7));
  const nlohmann::json details = view_of(run)["details"];
  EXPECT_NE(line_text(details[0]).find("cuBLAS (conv/rival, math=fp32) (95"), std::string::npos)
      << line_text(details[0]);
  const std::string whole = line_text(details.back());
  EXPECT_NE(whole.find(" The ops take 10.0 % of cuBLAS's time, copies and the host the rest."),
            std::string::npos)
      << whole;
  samples::set_samples(run.cases[3], "total_time", "", samples::around(4));
  EXPECT_EQ(line_text(view_of(run)["details"].back()).find("The ops take"), std::string::npos);
}

TEST(BriefView, SaysNoShareOfPeaksThatAnOpIsBeyond) {
  mprof::Run run = ladder();
  const std::string op = run.cases[2].ops[0].name;
  const auto bounds = [&run] { return line_text(view_of(run)["outlook"][1]); };
  EXPECT_NE(bounds().find("layer1 (conv/better): "), std::string::npos) << bounds();
  EXPECT_NE(bounds().find(" of the speed that the measured "), std::string::npos) << bounds();
  samples::set_samples(run.cases[2], "compute_throughput", op, {412});
  EXPECT_EQ(bounds().find("layer1 (conv/better): "), std::string::npos) << bounds();
}

TEST(BriefView, SaysWhoIsFastestAtTheTightToleranceOfTheBaseline) {
  mprof::Run run = ladder_of_precisions(2e-3, 1e-5);
  run.variants[3].library.clear();
  const nlohmann::json line = view_of(run)["details"][0];
  EXPECT_EQ(line["lead"], "Fastest at tolerance 1.0e-5");
  EXPECT_TRUE(line_text(line).starts_with("layer1 by conv/rival in 2.000 s, 2.00× as fast as conv/slow"))
      << line_text(line);
}

/// Texts of a column of the brief's table, from the top.
std::vector<std::string> column(const nlohmann::json& view, const std::string& title) {
  const nlohmann::json& columns = view["table"]["columns"];
  std::size_t place = 0;
  while (place < columns.size() && columns[place]["head"] != title) ++place;
  std::vector<std::string> texts;
  if (place == columns.size()) return texts;
  for (const nlohmann::json& row : view["table"]["rows"]) texts.push_back(row["cells"][place]["text"]);
  return texts;
}

TEST(BriefView, AVerdictNamesWhatItIsOver) {
  mprof::Run run = ladder();
  EXPECT_EQ(column(view_of(run), "Verdict"),
            (std::vector<std::string>{"faster than slow", "faster than slow", "baseline", "baseline"}));
  samples::set_samples(run.cases[2], "op_time", "layer1", samples::around(9));
  EXPECT_EQ(column(view_of(run), "Verdict")[1], "faster in layer2, slower in layer1 than slow");
}

TEST(BriefView, PrecisionIsAColumnWhereItDiffers) {
  EXPECT_TRUE(column(view_of(ladder()), "Precision").empty());
  mprof::Run run = ladder_of_precisions(2e-3, 1e-5);
  EXPECT_EQ(column(view_of(run), "Precision"),
            (std::vector<std::string>{"FP16/TF32", "1.0e-5", "1.0e-5", "1.0e-5"}));
  run.cases[2].key.parameters["precision"] = "tf32";
  run.cases[3].key.parameters["math"] = "fp32";
  EXPECT_EQ(column(view_of(run), "Precision"), (std::vector<std::string>{"TF32", "FP32", "FP32", "FP32"}))
      << "what meets the tolerance of one in FP32 is as precise";
}

TEST(BriefView, SaysWhatIsTimedOfVariantsAndWhichOpsOfPrograms) {
  mprof::Run run = ladder();
  const std::string caption = view_of(run)["table"]["caption"];
  EXPECT_NE(caption.find("layer1, layer2: without allocation and copies. "), std::string::npos) << caption;
  for (VariantInfo& variant : run.variants) variant.subject = Subject::program;
  const std::string of_programs = view_of(run)["table"]["caption"];
  EXPECT_NE(of_programs.find("first. Over baseline"), std::string::npos) << of_programs;
}

TEST(BriefView, OfManyVariantsTheFastestOpsAndWholesHaveALine) {
  mprof::Run run = ladder();
  const auto ids = [](const nlohmann::json& lines) {
    std::vector<std::string> all;
    for (const nlohmann::json& line : lines) all.push_back(line["id"]);
    return all;
  };
  nlohmann::json view = view_of(run);
  EXPECT_EQ(ids(view["lead_lines"]), ids(view["lines"]));
  EXPECT_EQ(view["other_lines"], false);

  run.cases.clear();
  run.variants.clear();
  for (int i = 0; i < 20; ++i) {
    run.variants.push_back(samples::variant(fmt::format("conv/v{}", i), i == 0 ? "" : "conv/v0"));
    run.cases.push_back(samples::timed_case(run.variants.back(), 100, 1 + i, 1 + i));
    for (PassResult& pass : run.cases.back().passes) {
      for (Measurement& m : pass.measurements) {
        if (m.metric == "total_time") m.samples.assign(m.samples.size(), i == 19 ? 1.0 : 100.0 + i);
      }
    }
  }
  view = view_of(run);
  EXPECT_EQ(view["lines"].size(), 20U) << "the page has all of them";
  EXPECT_EQ(ids(view["lead_lines"]),
            (std::vector<std::string>{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v19"}));
  EXPECT_EQ(view["other_lines"],
            "Why 11 others are so fast, or so slow, is on their pages in [milestone.md](milestone.md).");
}

TEST(BriefView, WhatIsLevelIsSaidAsLevel) {
  mprof::Run run = ladder();
  run.cases[2] = samples::timed_case(run.variants[2], 100, 4, 8);
  run.variants[3].library.clear();
  run.cases[3] = samples::timed_case(run.variants[3], 100, 4, 8);
  const nlohmann::json view = view_of(run);
  EXPECT_NE(line_text(view["best"][0]).find("tied with "), std::string::npos) << line_text(view["best"][0]);
  EXPECT_EQ(line_text(view["best"][0]).find("× as fast"), std::string::npos)
      << "nothing is said to be faster than what it is tied with";
}

TEST(Brief, AWrongVariantHasNoPlaceInIt) {
  mprof::Run run = ladder();
  samples::timing(run.cases[2]).status = Status::wrong;
  const RunAnalysis analysis = analyse(run);
  const Brief brief = brief_of(analysis.families.front());
  ASSERT_EQ(brief.rows.size(), 3U);
  EXPECT_EQ(brief.rows[0].variant->info.id, "conv/rival");
}

TEST(Brief, OfARunWithoutTimesThereIsNone) {
  mprof::Run run = ladder();
  for (Case& c : run.cases) samples::timing(c).status = Status::failed;
  const RunAnalysis analysis = analyse(run);
  EXPECT_EQ(brief_of(analysis.families.front()).problem, nullptr);
}

TEST(Brief, WorkOutsideForwardIsNoFastOp) {
  const mprof::Run run = samples::gpu();
  const RunAnalysis analysis = analyse(run);
  for (const BriefRow& row : brief_of(analysis.families.front()).rows)
    EXPECT_EQ(row.ops_time.has_value(), row.variant->info.id != "conv/streams") << row.variant->info.id;
}

/// Each length leads to the others, and what one links to in another is there.
TEST(ReportLengths, LeadToEachOther) {
  const test::TemporaryDirectory directory;
  write_report(samples::two_families(), {{"md"}, directory.path(), {}});
  const auto text = [&](const char* name) { return read_file(directory.path() / name); };
  for (const char* name : {"brief.md", "milestone.md", "evidence.md"}) {
    const std::string page = text(name);
    for (const char* file : {"", "brief.md", "milestone.md", "evidence.md"}) {
      const std::string target = *file == '\0' ? page : text(file), lead = std::string("](") + file + "#";
      for (std::size_t at = page.find(lead); at != std::string::npos; at = page.find(lead, at + 1)) {
        const std::size_t begin = at + lead.size();
        const std::string anchor = page.substr(begin, page.find(')', begin) - begin);
        EXPECT_NE(target.find("<a id=\"" + anchor + "\"></a>"), std::string::npos)
            << name << " leads to " << file << "#" << anchor;
      }
    }
  }
  EXPECT_NE(text("brief.md").find("](milestone.md)"), std::string::npos);
}

}  // namespace
}  // namespace mprof
