// SPDX-License-Identifier: MIT
#include "report/analysis/judgement/session.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "report/views/session_view.hpp"
#include "report/wording/why.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

/// A case whose op of 0.1 s and total of 0.2 s have `rounds` rounds of three samples, and vary by 0.1 %
/// between them; `factor` is how much slower it is, `drift` how much slower each round is than the one
/// before.
Case in_rounds(std::size_t rounds, double factor, double drift = 0, double phase = 0) {
  Case c = samples::timed_case(samples::variant("conv/a"), 1000, 0.1, 0.1);
  c.ops.pop_back();
  for (Measurement& row : samples::timing(c).measurements) {
    if (row.metric != "op_time" && row.metric != "total_time" && row.metric != "group_time") continue;
    row.samples.clear();
    row.rounds.assign(rounds, 3);
    for (std::size_t i = 0; i < rounds; ++i) {
      const auto at = static_cast<double>(i);
      const double level = 0.1 * factor * (1 + 0.001 * std::sin(2.3 * at + phase)) * (1 + drift * at);
      row.samples.insert(row.samples.end(), {level, level * 1.001, level * 0.999});
    }
    row.derived.own().clock = ClockSource::device;
  }
  return c;
}

TEST(JudgeSession, TellsASmallChangeThatADriftOfBothDoesNotHide) {
  const Session session =
      judge_session(in_rounds(12, 1, 0.05), in_rounds(12, 1.01, 0.05, 1), in_rounds(12, 1, 0.05, 2));
  EXPECT_EQ(session.blocks, 6U);
  ASSERT_EQ(session.times.size(), 2U);
  EXPECT_EQ(session.times[0].speed_up.verdict, Verdict::slower) << say(session.times[0].speed_up.reason);
  EXPECT_NEAR(session.times[0].test->ratio, 1.01, 0.001);
  EXPECT_TRUE(session.told());
  EXPECT_TRUE(session.is_slower());
}

TEST(JudgeSession, WhatIsAlikeIsTheSame) {
  const Session session = judge_session(in_rounds(18, 1), in_rounds(18, 1, 0, 1), in_rounds(18, 1, 0, 2));
  EXPECT_EQ(session.times[0].speed_up.verdict, Verdict::same) << say(session.times[0].speed_up.reason);
  EXPECT_TRUE(session.told());
  EXPECT_FALSE(session.is_slower());
}

TEST(JudgeSession, AControlThatDiffersFromItselfTellsNothing) {
  const Session session =
      judge_session(in_rounds(12, 1), in_rounds(12, 1.05, 0, 1), in_rounds(12, 1.04, 0, 2));
  EXPECT_EQ(session.times[0].speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(session.times[0].speed_up.reason.because, Because::control_differs);
  EXPECT_FALSE(session.told());
}

TEST(JudgeSession, OnlyWholeBlocksCount) {
  EXPECT_EQ(judge_session(in_rounds(7, 1), in_rounds(8, 1), in_rounds(6, 1)).blocks, 3U);
  const Session one = judge_session(in_rounds(2, 1), in_rounds(2, 1), in_rounds(2, 1));
  EXPECT_FALSE(one.times[0].speed_up);
  EXPECT_EQ(one.times[0].speed_up.reason, Why(Because::too_few_blocks));
}

TEST(JudgeSession, BlocksFarApartAreNotToldWhateverTheirNumber) {
  // A's rounds are up to 5,000 times as slow as its first one.
  const Session session = judge_session(in_rounds(6, 1, 1e3), in_rounds(6, 1), in_rounds(6, 1, 0, 2));
  const SessionTime& time = session.times[0];
  EXPECT_FALSE(time.test);
  EXPECT_EQ(time.speed_up.verdict, Verdict::inconclusive);
  EXPECT_EQ(time.speed_up.reason, Why(Because::blocks_vary));
  EXPECT_FALSE(session.told()) << "more blocks may tell it";
}

TEST(RenderSession, ATimeInAnotherNumberFormatIsNotPlainlyFaster) {
  const Case a = in_rounds(12, 1), control = in_rounds(12, 1, 0, 2);
  Case b = in_rounds(12, 0.5, 0, 1);
  const Words words(FamilyInfo{}, {});
  const std::string alike = render_session(judge_session(a, b, control), {"a", "b", "1000", 1}, words, 100);
  EXPECT_NE(alike.find("faster"), std::string::npos) << alike;
  EXPECT_EQ(alike.find("FP16"), std::string::npos) << alike;
  Verification& verification = samples::timing(b).verification.front();
  verification.declared_precision = "fp16";
  verification.tolerance = 2e-3;
  verification.relative_l2 = 5e-4;
  const Session session = judge_session(a, b, control);
  const std::string text = render_session(session, {"a", "b", "1000", 1}, words, 100);
  EXPECT_NE(text.find("faster, in FP16 against FP32"), std::string::npos) << text;
  EXPECT_NE(text.find("in total, in FP16 against FP32."), std::string::npos) << text;
  EXPECT_EQ(session_json(session, {"a", "b", "1000", 1})["times"][0]["precisions"],
            nlohmann::ordered_json({{"a", "fp32"}, {"b", "fp16"}}));
}

TEST(RenderSession, FitsATerminalAndSaysWhatItIsOf) {
  const Session session = judge_session(in_rounds(12, 1), in_rounds(12, 1.01, 0, 1), in_rounds(12, 1, 0, 2));
  const Case c = in_rounds(2, 1);
  const Words words(samples::conv_family(), {c.key.problem});
  const SessionSides sides{"conv/a", "conv/b", words.at(c.key.problem), 12.5};
  const std::string text = render_session(session, sides, words, 80);
  for (const char* part :
       {"A  conv/a", "B  conv/b", "batch 1000", "layer1", "slower", "6 blocks of 6 rounds"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("6 blocks")) {
      EXPECT_LE(line.size(), 110U) << line;  // some bytes are parts of signs
    }
  }
  const nlohmann::ordered_json data = session_json(session, sides);
  EXPECT_EQ(data["blocks"], 6);
  EXPECT_EQ(data["times"][0]["verdict"], "slower");
  EXPECT_TRUE(data["times"][0]["control"]["p"].is_number());
}

}  // namespace
}  // namespace mprof
