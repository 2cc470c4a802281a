#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/page/comparison_page.hpp"
#include "system/error.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

using nlohmann::json;

const CaseComparison& pair_of(const Comparison& comparison, std::string_view id) {
  const auto found = std::find_if(comparison.cases.begin(), comparison.cases.end(),
                                  [&](const CaseComparison& c) { return c.id == id; });
  if (found == comparison.cases.end()) throw std::out_of_range(std::string(id));
  return *found;
}

std::string refusal(const Run& a, const Run& b, const CompareOptions& options = {}) {
  try {
    (void)compare(a, b, options);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::incomparable);
    return error.what();
  }
}

TEST(Compare, ARunWithItselfIsTheSame) {
  const Comparison comparison = compare(samples::healthy(), samples::healthy(), {});
  EXPECT_FALSE(comparison.regression());
  EXPECT_EQ(comparison.count(Verdict::same), 12U * 3);
  EXPECT_TRUE(comparison.only_in_a.empty());
  EXPECT_TRUE(comparison.only_in_b.empty());
  EXPECT_TRUE(comparison.notes.empty());
}

TEST(Compare, FindsWhatBecameWorse) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  EXPECT_TRUE(comparison.regression());
  const CaseComparison& slower = pair_of(comparison, "conv/cpu_threads@1000");
  EXPECT_EQ(slower.times[1].speed_up.verdict, Verdict::slower);
  EXPECT_NEAR(*slower.times[1].ratio, 1.12, 1e-9);
  EXPECT_NEAR(*slower.times[1].speed_up.factor, 1 / 1.12, 1e-9);
  EXPECT_EQ(slower.regressions, std::vector<std::string>{"layer2 slower by 12.0\u00a0%"});
  const CaseComparison& wrong = pair_of(comparison, "conv/cpu_im2col_gemm@1000");
  EXPECT_TRUE(wrong.times.empty()) << "a wrong result has no speed";
  EXPECT_EQ(wrong.regressions, std::vector<std::string>{"was ok, is wrong"});
  EXPECT_EQ(pair_of(comparison, "conv/cpu_onednn@10000").regressions,
            std::vector<std::string>{"accuracy \u22120.0056"});
  EXPECT_EQ(pair_of(comparison, "conv/cpu_onednn@1000").times[0].speed_up.verdict, Verdict::faster);
  EXPECT_TRUE(pair_of(comparison, "conv/cpu_onednn@1000").regressions.empty());
  EXPECT_EQ(pair_of(comparison, "conv/cpu_naive@100").times[0].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.only_in_a, std::vector<std::string>{"conv/cpu_naive@10000"});
  EXPECT_EQ(compare(samples::later(), samples::healthy(), {}).only_in_b,
            std::vector<std::string>{"conv/cpu_naive@10000"});
}

struct StatusChange {
  Status before, after;
  bool regression;
};

class StatusChanges : public testing::TestWithParam<StatusChange> {};

TEST_P(StatusChanges, FromOkToBrokenIsARegression) {
  mprof::Run a = samples::healthy();
  a.cases.resize(1);
  mprof::Run b = a;
  samples::timing(a.cases[0]).status = GetParam().before;
  samples::timing(b.cases[0]).status = GetParam().after;
  EXPECT_EQ(compare(a, b, {}).regression(), GetParam().regression)
      << to_string(GetParam().before) << " -> " << to_string(GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(All, StatusChanges,
                         testing::Values(StatusChange{Status::ok, Status::ok, false},
                                         StatusChange{Status::ok, Status::wrong, true},
                                         StatusChange{Status::ok, Status::failed, true},
                                         StatusChange{Status::ok, Status::crashed, true},
                                         StatusChange{Status::ok, Status::timeout, true},
                                         StatusChange{Status::ok, Status::skipped, false},
                                         StatusChange{Status::ok, Status::pending, false},
                                         StatusChange{Status::wrong, Status::wrong, false},
                                         StatusChange{Status::wrong, Status::ok, false}));

TEST(Compare, TheThresholdDecides) {
  CompareOptions generous;
  generous.threshold = 0.15;
  const Comparison comparison = compare(samples::healthy(), samples::later(), generous);
  EXPECT_EQ(pair_of(comparison, "conv/cpu_threads@1000").times[1].speed_up.verdict, Verdict::same);
}

TEST(Compare, RefusesRunsWithoutACommonCase) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  std::erase_if(a.cases, [](const Case& c) { return samples::batch_of(c) == 100; });
  std::erase_if(b.cases, [](const Case& c) { return samples::batch_of(c) != 100; });
  EXPECT_NE(refusal(a, b).find("no case in common"), std::string::npos);
  EXPECT_NE(refusal(samples::empty_run(), samples::empty_run()).find("no case in common"), std::string::npos);
}

TEST(Compare, RefusesOtherMachinesUnlessAllowed) {
  mprof::Run other = samples::healthy();
  other.environment["cpu"]["model"] = "Another 9000";
  const std::string message = refusal(samples::healthy(), other);
  EXPECT_NE(message.find("Another 9000"), std::string::npos);
  EXPECT_NE(message.find("--allow-different-machines"), std::string::npos);
  CompareOptions allowed;
  allowed.allow_different_machines = true;
  const Comparison comparison = compare(samples::healthy(), other, allowed);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_NE(comparison.notes[0].find("Different machines"), std::string::npos);
}

TEST(Compare, AFactThatOneRunLacksIsNoOtherMachine) {
  mprof::Run other = samples::healthy();
  other.environment["cpu"]["model"] = Absent{"/proc/cpuinfo cannot be read"};
  EXPECT_EQ(refusal(samples::healthy(), other), "");
}

TEST(Compare, NotesOtherDifferences) {
  const Comparison comparison = compare(samples::healthy(), samples::later(), {});
  EXPECT_EQ(comparison.notes,
            (std::vector<std::string>{"mprof revision: 0123456789ab in A, fedcba987654 in B",
                                      "Libraries, onednn: 2.6.0 in A, 3.0.0 in B"}));
}

TEST(Compare, WithoutIntervalsNothingIsSure) {
  mprof::Run a = samples::healthy(), b = samples::healthy();
  samples::set_samples(b.cases[0], "op_time", "layer1", {0.5, 0.5, 0.5});
  const Comparison comparison = compare(a, b, {});
  EXPECT_EQ(comparison.cases[0].times[0].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(comparison.cases[0].times[0].speed_up.reason, "3 samples: too few for a 95 % interval (6 do)");
  EXPECT_FALSE(comparison.regression());
}

TEST(RenderComparison, TextFitsATerminal) {
  const std::string text =
      render_comparison(compare(samples::healthy(), samples::later(), {}), "text", {80, {}});
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    const bool is_table = line.starts_with("  ") || line.starts_with("conv/");
    const bool is_note = line.find(" in B") != std::string::npos;
    EXPECT_TRUE(columns <= 80 || !is_table || is_note) << line;
  }
}

TEST(RenderComparison, JsonKeepsItsNames) {
  const json data = json::parse(render_comparison(compare(samples::healthy(), samples::later(), {}), "json"));
  EXPECT_EQ(data["regression"], true);
  EXPECT_EQ(data["threshold"], 0.05);
  const json& first = data["cases"][0];
  for (const char* name : {"id", "variant", "parameters", "problem", "status_a", "status_b", "times",
                           "qualities", "regressions"}) {
    EXPECT_TRUE(first.contains(name)) << name;
  }
  for (const char* name : {"metric", "op", "a", "b", "ratio", "change", "speed_up", "verdict", "reason"}) {
    EXPECT_TRUE(first["times"][0].contains(name)) << name;
  }
}

TEST(RenderComparison, HostileRunsAreHarmless) {
  const Comparison comparison = compare(samples::hostile(), samples::hostile(), {});
  EXPECT_EQ(render_comparison(comparison, "html").find("<script"), std::string::npos);
  EXPECT_EQ(render_comparison(comparison, "html").find("<img"), std::string::npos);
  EXPECT_FALSE(render_comparison(comparison, "text", {80, {}}).empty());
  EXPECT_TRUE(json::accept(render_comparison(comparison, "json")));
}

TEST(RenderComparison, AnUnknownFormatIsAUsageError) {
  const Comparison comparison = compare(samples::healthy(), samples::healthy(), {});
  EXPECT_THROW((void)render_comparison(comparison, "pdf"), Error);
}

}  // namespace
}  // namespace mprof
