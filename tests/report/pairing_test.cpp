// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/pairing.hpp"

#include <gtest/gtest.h>

#include "report/analysis/judgement/compare.hpp"
#include "report/analysis/judgement/likeness.hpp"
#include "system/error.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

std::string usage_error(const mprof::Run& a, const mprof::Run& b, const Pairing& pairing) {
  try {
    (void)pair_cases(a, b, pairing);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
}

/// The variant of this id is called otherwise.
mprof::Run renamed(mprof::Run run, const std::string& from, const std::string& to) {
  for (VariantInfo& variant : run.variants) {
    if (variant.id == from) variant.id = to;
  }
  for (Case& c : run.cases) {
    if (c.key.variant != from) continue;
    c.key.variant = to;
    c.id = to + c.id.substr(from.size());
  }
  return run;
}

/// A variant of one parameter, at two points and two problems.
mprof::Run two_points() {
  mprof::Run run = samples::empty_run();
  VariantInfo info = samples::variant("conv/tiled");
  info.parameters = {{"tile_width", "", "8", {"8", "16"}}};
  run.variants = {info};
  for (const std::uint64_t batch : {10U, 20U}) {
    run.cases.push_back(samples::timed_case(info, batch, 1e-3, 2e-3, {{"tile_width", "8"}}));
    run.cases.push_back(samples::timed_case(info, batch, 2e-3, 2e-3, {{"tile_width", "16"}}));
  }
  return run;
}

TEST(PairCases, ARenamedVariantIsTheSameOne) {
  const mprof::Run a = samples::healthy(), b = renamed(a, "conv/cpu_threads", "conv/cpu_lanes");
  EXPECT_EQ(pair_cases(a, b, {}).only_in_a.size(), 3U);
  const PairedCases paired = pair_cases(a, b, {.renamed = {{"conv/cpu_threads", "conv/cpu_lanes"}}});
  EXPECT_EQ(paired.pairs.size(), a.cases.size());
  EXPECT_TRUE(paired.only_in_a.empty());
  EXPECT_TRUE(paired.only_in_b.empty());
  const Comparison comparison =
      compare(a, b, {.pairing = {.renamed = {{"conv/cpu_threads", "conv/cpu_lanes"}}}});
  const auto found = std::ranges::find(comparison.cases, "conv/cpu_threads@100", &CaseComparison::id);
  ASSERT_NE(found, comparison.cases.end());
  EXPECT_EQ(found->id_b, "conv/cpu_lanes@100");
}

TEST(PairCases, ANewParameterIsAtItsDefault) {
  mprof::Run a = two_points();
  std::erase_if(a.cases, [](const Case& c) { return c.key.parameters.at("tile_width") != "8"; });
  for (Case& c : a.cases) c.key.parameters.clear();
  const mprof::Run old = renamed(a, "conv/tiled", "conv/plain");
  const mprof::Run now = two_points();
  const PairedCases paired = pair_cases(old, now, {.renamed = {{"conv/plain", "conv/tiled"}}});
  ASSERT_EQ(paired.pairs.size(), 2U);
  EXPECT_EQ(paired.pairs[0].b->key.parameters.at("tile_width"), "8");
  EXPECT_EQ(paired.only_in_b.size(), 2U);
}

/// The same variant with another default: its cases are named by what is not at it.
mprof::Run with_default(mprof::Run run, const std::string& value) {
  run.variants[0].parameters[0].default_value = value;
  for (Case& c : run.cases) c.id = case_id(c.key, run.variants[0]);
  return run;
}

TEST(PairCases, AnotherDefaultIsPairedByIdAndNamed) {
  mprof::Run a = two_points(), b = with_default(two_points(), "16");
  std::erase_if(a.cases, [](const Case& c) { return c.key.parameters.at("tile_width") != "8"; });
  std::erase_if(b.cases, [](const Case& c) { return c.key.parameters.at("tile_width") != "16"; });
  const PairedCases paired = pair_cases(a, b, {});
  ASSERT_EQ(paired.pairs.size(), 2U);
  EXPECT_TRUE(paired.pairs[0].is_by_id);
  EXPECT_TRUE(paired.only_in_a.empty());
  EXPECT_TRUE(paired.only_in_b.empty());
  EXPECT_EQ(compare(a, b, {}).notes,
            std::vector<std::string>{"conv/tiled: default of tile_width: 8 in A, 16 in B"});
}

TEST(PairCases, OneValueIsPairedBeforeOneName) {
  const mprof::Run a = two_points(), b = with_default(two_points(), "16");
  const PairedCases paired = pair_cases(a, b, {});
  ASSERT_EQ(paired.pairs.size(), 4U);
  for (const CasePair& pair : paired.pairs) {
    EXPECT_EQ(pair.a->key, pair.b->key);
    EXPECT_FALSE(pair.is_by_id);
  }
}

TEST(PairCases, UnknownNamesAreRefusedWithTheNearest) {
  const mprof::Run run = samples::healthy();
  const std::string message = usage_error(run, run, {.renamed = {{"conv/cpu_thread", "conv/cpu_threads"}}});
  EXPECT_NE(message.find("A has no case of a variant conv/cpu_thread. Did you mean conv/cpu_threads"),
            std::string::npos)
      << message;
  EXPECT_NE(usage_error(run, run, {.renamed = {{"conv/cpu_threads", "none"}}}).find("B has no case"),
            std::string::npos);
}

TEST(PairCases, TwoVariantsOfOneRun) {
  const mprof::Run run = samples::healthy();
  const PairedCases paired = pair_cases(run, run, {.of = "conv/cpu_naive", .with = "conv/cpu_threads"});
  ASSERT_EQ(paired.pairs.size(), 3U);
  for (const CasePair& pair : paired.pairs) {
    EXPECT_EQ(pair.a->key.variant, "conv/cpu_naive");
    EXPECT_EQ(pair.b->key.variant, "conv/cpu_threads");
    EXPECT_EQ(pair.a->key.problem, pair.b->key.problem);
  }
  EXPECT_TRUE(paired.only_in_a.empty()) << "other variants take no part";
  EXPECT_TRUE(paired.only_in_b.empty());
}

TEST(PairCases, TwoPointsOfOneVariant) {
  const mprof::Run run = two_points();
  const PairedCases paired = pair_cases(run, run, {.of = "conv/tiled", .with = "conv/tiled[tile_width=16]"});
  ASSERT_EQ(paired.pairs.size(), 2U);
  EXPECT_EQ(paired.pairs[0].a->key.parameters.at("tile_width"), "8") << "the default where none is named";
  EXPECT_EQ(paired.pairs[0].b->key.parameters.at("tile_width"), "16");
  for (const char* wrong : {"conv/tiled[tile_width=32]", "conv/tiled[tile_width]", "conv/tiled[tile_width=16",
                            "conv/tile", "conv/tiled[width=16]", "[]"})
    EXPECT_NE(usage_error(run, run, {.of = "conv/tiled", .with = wrong}).find("the run has no case of that"),
              std::string::npos)
        << wrong;
}

TEST(OneOrigin, RunsOfASideMustBeAlike) {
  const std::vector<std::string> names{"first", "second"};
  EXPECT_THROW(require_one_origin({samples::healthy(), samples::healthy()}, names), Error) << "one run twice";
  mprof::Run quick = samples::healthy();
  quick.started = "2025-01-15T12:00:00Z";
  quick.plan.quick = true;
  EXPECT_NO_THROW(require_one_origin({samples::healthy(), quick}, names));
  mprof::Run other = quick;
  other.tool.revision = "fedcba987654";
  other.environment["libraries"]["onednn"] = "3.0.0";
  try {
    require_one_origin({samples::healthy(), other}, names);
    FAIL() << "two builds on one side";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomparable);
    const std::string message = error.what();
    EXPECT_NE(message.find("mprof revision: 0123456789ab in first, fedcba987654 in second"),
              std::string::npos);
    EXPECT_NE(message.find("Libraries, onednn"), std::string::npos);
  }
}

}  // namespace
}  // namespace mprof
