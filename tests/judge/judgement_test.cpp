// SPDX-License-Identifier: MIT
#include "serve/judge/judgement.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/rubric_file.hpp"
#include "model/compact_json.hpp"
#include "model/precision.hpp"
#include "serve/judge/judgement_json.hpp"
#include "serve/judge/score.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

using ::testing::HasSubstr;

Judgement right(double factor) {
  Judgement judgement{.file = "mine.cpp", .against = "a/base", .verdict = Verdict::faster};
  JudgedTime time{
      .metric = "op_time", .op = "map", .file = derived_value(1), .against = derived_value(factor)};
  time.speed_up.factor = factor;
  time.speed_up.interval = Interval{factor * 0.9, factor * 1.1};
  time.speed_up.verdict = Verdict::faster;
  judgement.times = {time};
  return judgement;
}

TEST(OwnClock, ContradictsWhatItDoesNotAllow) {
  OwnClock clock{.executions = 5, .low = -0.01, .high = 0.01};
  EXPECT_FALSE(clock.contradicts()) << "nothing is claimed";
  clock.claimed = 0.012;
  EXPECT_FALSE(clock.contradicts()) << "three quarters of it are possible";
  clock.claimed = 0.02;
  EXPECT_TRUE(clock.contradicts());
  clock.claimed = -1;
  EXPECT_FALSE(clock.contradicts()) << "a slower one claims nothing";
  EXPECT_DOUBLE_EQ(clock.resolution(), 0.01);
  EXPECT_FALSE(clock.confirms());
  clock.low = 0.001;
  EXPECT_TRUE(clock.confirms());
}

TEST(OwnClock, AllowsWhatAFileSpendsOnPreparing) {
  // 20 ms saved by its ops, 9 ms of them spent again in prepare().
  OwnClock clock{.executions = 5, .low = 0.0105, .high = 0.0115};
  clock.claimed = claimed_saving(0.011, 0.020);
  EXPECT_FALSE(clock.contradicts());
  clock.claimed = claimed_saving(0.020, 0.020);
  EXPECT_TRUE(clock.contradicts()) << "the whole is said to save all of it";
  clock.low = -0.001;
  clock.high = 0.001;
  clock.claimed = claimed_saving(0, 0.020);
  EXPECT_TRUE(clock.contradicts()) << "nothing is saved of what its ops are said to save";
  EXPECT_DOUBLE_EQ(claimed_saving(-0.01, -0.02), -0.01);
}

TEST(OwnClock, CountsByTheWholeWhatTheWholeDoesNotSave) {
  const OwnClock own{.executions = 5, .low = 0.38, .high = 0.42};
  EXPECT_FALSE(counts_by_whole(1.0, 1.0, std::nullopt));
  EXPECT_TRUE(counts_by_whole(1.0, 0.7, std::nullopt)) << "the worker's own times of the whole say less";
  EXPECT_TRUE(counts_by_whole(1.0, 1.0, own)) << "mprof's clock does not allow it";
  EXPECT_FALSE(counts_by_whole(0.5, 0.5, own));
  EXPECT_FALSE(counts_by_whole(-0.1, -0.2, own)) << "a slower file claims nothing";
}

TEST(ExitCodeOfAJudgement, TellsRightSlowerAndTheRest) {
  Judgement judgement = right(2);
  EXPECT_EQ(exit_code_of(judgement), 0);
  judgement.verdict = Verdict::slower;
  EXPECT_EQ(exit_code_of(judgement), 1);
  judgement.verdict = Verdict::inconclusive;
  EXPECT_EQ(exit_code_of(judgement), 0);
  for (const JudgeStatus status : {JudgeStatus::wrong, JudgeStatus::suspect, JudgeStatus::crashed,
                                   JudgeStatus::timeout, JudgeStatus::compile_failed}) {
    judgement.status = status;
    EXPECT_EQ(exit_code_of(judgement), 3);
  }
}

TEST(TamedText, IsOneLineOfBoundedLengthWithoutControlCharacters) {
  EXPECT_EQ(tamed("a\x1b[2J\n\nb\x7f"), "a [2J b");
  EXPECT_EQ(tamed(std::string(400, 'x'), 10), "xxxxxxxxxx...");
  EXPECT_EQ(tamed("aaaaaaaaa\xc3\xa9zz", 10), "aaaaaaaaa...") << "no half of a character is left";
  EXPECT_EQ(tamed("a\xc2\x9b"
                  "b\xe2\x80\xae"
                  "c\xff"),
            "a b\xef\xbf\xbd"
            "c\xef\xbf\xbd")
      << "a control of two bytes, one that turns text around, and half a character";
  EXPECT_EQ(tamed(std::string(20, '\xff'), 10), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd...");
}

TEST(TamedText, KeepsTheLinesOfAnEnd) {
  EXPECT_EQ(tamed_end("", 10), "");
  EXPECT_EQ(tamed_end("one\n\x1b[2Jtwo\x9b\n", 100), "one\n [2Jtwo\xef\xbf\xbd");
  EXPECT_EQ(tamed_end("0123456789", 4), "6789");
  EXPECT_EQ(tamed_end(std::string(9, '\xff'), 10), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(JudgementJson, NamesTheFileInCommandsAsAShellTakesIt) {
  Judgement judgement = right(2);
  judgement.file = "a'b $(x).cpp";
  judgement.device = "cuda";
  EXPECT_THAT(judgement_json(judgement, 8192)["next"].dump(),
              HasSubstr(R"(mprof judge 'a'\\''b $(x).cpp' --passes)"));
}

TEST(JudgementJson, FitsIntoItsBytesAndSaysWhatItLeftOut) {
  Judgement judgement{.file = "mine.cpp", .status = JudgeStatus::crashed, .reason = "it ended"};
  judgement.untrusted_output = std::string(2000, 'x');
  for (int i = 0; i < 60; ++i)
    judgement.absent.push_back({"what" + std::to_string(i), std::string(100, 'y')});
  const auto json = judgement_json(judgement, fewest_judge_bytes);
  EXPECT_LE(json::compact(json).size(), fewest_judge_bytes);
  EXPECT_THAT(json["truncated"].dump(), HasSubstr("untrusted_output"));
  EXPECT_THAT(json["truncated"].dump(), HasSubstr("absent"));
  EXPECT_TRUE(judgement_json(judgement, 100000)["truncated"].empty());
}

TEST(JudgementText, BeginsWithTheAnswerAndHasTenLinesAtMost) {
  Judgement judgement = right(2);
  EXPECT_EQ(judgement_answer(judgement), "mine.cpp is right, and 2.00× as fast as a/base in map.");
  judgement.status = JudgeStatus::compile_failed;
  judgement.compiler = CompilerWords{std::vector<std::string>(30, "error"), 0};
  judgement.suspicions.assign(20, {"worker", "seen", "limit"});
  const std::string text = judgement_text(judgement);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 10);
}

TEST(Rubric, GivesPointsInStepsAndInBetween) {
  const Rubric rubric = parse_rubric(
      "right = 50\n[[time]]\nname = \"a\"\nspeed_up = 2.1\npoints = 10\n[[time]]\nname = \"b\"\nspeed_up = "
      "2.3\npoints = 10\n"
      "[[time]]\nname = \"c\"\nfrom = 1\nto = 4\npoints = 20\n[[time]]\nname = \"d\"\nseconds = 0.5\npoints "
      "= 5\n"
      "[expectations]\npoints = 4\n",
      "rubric.toml");
  Judgement judgement = right(2);
  judgement.expectations = 4;
  judgement.expectations_met = 1;
  add_score(rubric, judgement);
  ASSERT_EQ(judgement.items.size(), 6U);
  EXPECT_DOUBLE_EQ(judgement.items[1].points, 10) << "its interval reaches 2.2";
  EXPECT_DOUBLE_EQ(judgement.items[2].points, 0);
  EXPECT_NEAR(judgement.items[3].points, 10, 1e-9) << "half of the way by the logarithm";
  EXPECT_DOUBLE_EQ(judgement.items[4].points, 0);
  EXPECT_DOUBLE_EQ(judgement.items[5].points, 1);
  EXPECT_NEAR(judgement.score(), 71, 1e-9);
  EXPECT_DOUBLE_EQ(judgement.most_points(), 99);
  const auto results = gradescope_json(judgement);
  EXPECT_NEAR(results["score"].get<double>(), 71, 1e-9);
  EXPECT_EQ(results["tests"][0]["status"], "passed");
  EXPECT_EQ(results["tests"][2]["max_score"], 10);
}

TEST(Rubric, GivesNothingForAnIntervalThatIsWideAlone) {
  const Rubric rubric = parse_rubric(
      "[[time]]\nname = \"a\"\nspeed_up = 3\npoints = 1\n[[time]]\nname = \"b\"\nspeed_up = 2.1\npoints = "
      "1\n[[time]]\nname = \"c\"\nseconds = 0.9\npoints = 1\n[[time]]\nname = \"d\"\nseconds = "
      "0.96\npoints = 1\n",
      "rubric.toml");
  Judgement judgement = right(2);  // in 1 s
  judgement.times[0].speed_up.interval = Interval{0.1, 40};
  judgement.times[0].file.estimate->interval = Interval{0.05, 20};
  add_score(rubric, judgement);
  ASSERT_EQ(judgement.items.size(), 5U);
  EXPECT_DOUBLE_EQ(judgement.items[1].points, 0);
  EXPECT_DOUBLE_EQ(judgement.items[2].points, 1) << "2.00 of 2.1 is within 5 %";
  EXPECT_DOUBLE_EQ(judgement.items[3].points, 0);
  EXPECT_DOUBLE_EQ(judgement.items[4].points, 1) << "1 s of 0.96 s is within 5 %";
}

TEST(Judgement, SaysInWhichPrecisionAFileIsRight) {
  Judgement judgement = right(2);
  EXPECT_EQ(judgement_answer(judgement).find("FP"), std::string::npos);
  EXPECT_EQ(judgement_json(judgement, 8192)["correct"]["precision"], nullptr);
  judgement.outputs = 1;
  judgement.tolerance = half_or_tf32.tolerance;
  judgement.precision = "fp16/tf32";
  EXPECT_NE(judgement_answer(judgement).find(" is right in FP16 or TF32, not in FP32, and "),
            std::string::npos);
  EXPECT_EQ(judgement_json(judgement, 8192)["correct"]["precision"], "fp16/tf32");
}

TEST(Rubric, GivesNothingToWhatIsNotRight) {
  Judgement judgement = right(2);
  judgement.status = JudgeStatus::suspect;
  judgement.times.clear();
  add_score(parse_rubric("right = 5\n[[time]]\nname = \"a\"\nspeed_up = 1\npoints = 1\n", "r"), judgement);
  EXPECT_DOUBLE_EQ(judgement.score(), 0);
  EXPECT_DOUBLE_EQ(judgement.most_points(), 6);
}

TEST(Rubric, ThatIsNoneIsRefusedWithItsLine) {
  const auto refusal = [](const char* text) -> std::string {
    try {
      static_cast<void>(parse_rubric(text, "r.toml"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("right = \n"), HasSubstr("r.toml:1"));
  EXPECT_THAT(refusal("rihgt = 5\n"),
              HasSubstr("r.toml:1: rihgt: there is no such key. Did you mean right?"));
  EXPECT_THAT(refusal("right = 5\nright_ = 1\n"), HasSubstr("r.toml:2"));
  EXPECT_THAT(refusal("[[time]]\nname = \"a\"\npoints = 3\n"), HasSubstr("give one of speed_up, seconds"));
  EXPECT_THAT(refusal("[[time]]\nname = \"a\"\npoints = 3\nfrom = 2\nto = 1\n"),
              HasSubstr("be less than it"));
  EXPECT_THAT(refusal("[[time]]\nname = \"a\"\nspeed_up = 2\n"), HasSubstr("points: this is missing"));
  EXPECT_THAT(refusal("right = -1\n"), HasSubstr("a number from 0"));
}

}  // namespace
}  // namespace mprof
