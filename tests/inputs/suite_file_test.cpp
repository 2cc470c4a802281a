// SPDX-License-Identifier: MIT
#include "inputs/suite_file.hpp"

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inputs/first_suite.hpp"
#include "tests/inputs/expect_error.hpp"

namespace mprof {
namespace {

using test::usage_error;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The shortest suite, with these lines before its programs.
std::string suite_with(const std::string& lines, const std::string& of_program = {}) {
  return "name = \"mine\"\n" + lines + "[[programs]]\nname = \"first\"\ncommand = [\"./first\"]\n" +
         of_program;
}

std::string suite_error(const std::string& text) {
  return usage_error([&] { static_cast<void>(parse_suite(text, "folder/mprof.toml")); });
}

std::optional<double> number_in(const NumberPattern& pattern, std::string_view line) {
  const std::optional<PrintedNumber> found = pattern.find(line);
  return found ? found->value : std::nullopt;
}

TEST(NumberPattern, ReadsANumberInItsUnitWhereverItStandsInTheLine) {
  const NumberPattern pattern("Op Time: {ms} ms");
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: 1.5 ms"), 1.5e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "[GPU 0]  Op Time:   +2e3   ms, done"), 2);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: no, Op Time: 3 ms"), 3e-3);
  EXPECT_EQ(number_in(pattern, "Op Time: 1.5 kB"), std::nullopt);
  EXPECT_EQ(number_in(pattern, "Op Time: ms"), std::nullopt);
  EXPECT_EQ(number_in(pattern, ""), std::nullopt);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("{%} of the peak"), "reached 93.5 of the peak"), 93.5);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("rate {GB/s}"), "rate 2"), 2e9);
}

TEST(NumberPattern, SaysWhatStandsWhereANumberMustBe) {
  const NumberPattern pattern("Op Time: {ms} ms");
  EXPECT_EQ(pattern.unit_word(), "ms");
  for (const char* text : {"nan", "-nan", "inf", "-inf"}) {
    const auto found = pattern.find(std::string("Op Time: ") + text + " ms");
    ASSERT_TRUE(found) << text;
    EXPECT_TRUE(found->fits);
    EXPECT_EQ(found->value, std::nullopt);
    EXPECT_EQ(found->text, text);
  }
  for (const char* text : {"1,23,4 ms", "1.23.4 ms", "12345,678.9 ms", "1.2 kB", "0x1p3 ms", "- 5 ms"}) {
    const auto found = pattern.find(std::string("Op Time: ") + text);
    ASSERT_TRUE(found) << text;
    EXPECT_FALSE(found->fits) << text;
    EXPECT_EQ(found->text, text);
  }
  EXPECT_FALSE(pattern.find("op time: 1 ms"));
  EXPECT_EQ(pattern.find("Op Time: nan ms, Op Time: 2 ms")->value, 2e-3);
  EXPECT_EQ(pattern.find("Op Time: " + std::string(5000, 'x'))->text.size(), 40U);
  EXPECT_FALSE(NumberPattern("{} left").find("none left")) << "nothing says where it would begin";
}

TEST(NumberPattern, ReadsOneTimeInManyDresses) {
  const NumberPattern pattern("Op Time: {ms} ms");
  for (const char* text :
       {"1234.5 ms",       "1.2345e+03 ms",   "1.2345E3 ms",     "1.2345D+03 ms",       "+1234.5 ms",
        "1234.5ms",        "1,234.5 ms",      "1.234,5 ms",      "1234,5 ms",           "1'234.5 ms",
        "1\u2019234,5 ms", "1 234.5 ms",      "1\u00a0234,5 ms", "1\u202f234.5 ms",     "1_234.5 ms",
        "01234.50 ms",     "1.2345 s",        "1.2345s",         "1,2345 seconds",      "1.2345 sec",
        "1234500 \u00b5s", "1234500 \u03bcs", "1,234,500 us",    "1.234.500 us",        "1234500. usec",
        "1234.5 msec",     "1234.5 MSEC",     "1234500000 ns",   "1234.5 milliseconds", "1.2345 Seconds",
        "1234.5 ms/image", "1234.5 ms, done", "1 234 500 us",    "1234500 microseconds"}) {
    const auto found = pattern.find(std::string("Op Time: ") + text);
    ASSERT_TRUE(found && found->value) << text;
    EXPECT_DOUBLE_EQ(*found->value, 1.2345) << text;
  }
}

TEST(NumberPattern, ACommaBeforeThreeDigitsMayBeEither) {
  const NumberPattern pattern("Op Time: {ms} ms");
  for (const char* text : {"1,234", "12,345", "123,456", "+1,234", "1,234e2"}) {
    const auto found = pattern.find(fmt::format("Op Time: {} ms", text));
    ASSERT_TRUE(found) << text;
    EXPECT_TRUE(found->is_ambiguous) << text;
    EXPECT_EQ(found->value, std::nullopt) << text;
    EXPECT_EQ(found->text, text);
  }
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: 0,234 ms"), 0.234e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: 1234,567 ms"), 1.234567);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: 1.234 ms"), 1.234e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "Op Time: 1,2 ms"), 1.2e-3);
}

TEST(NumberPattern, APrintedUnitCountsWhereNothingFollowsTheBraces) {
  const NumberPattern pattern("took {ms}");
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5"), 5e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5 s"), 5);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5us."), 5e-6);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5, then 3"), 5e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5."), 5e-3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "took 5 steps"), 5e-3);
  EXPECT_EQ(pattern.find("took 5 s")->unit_word, "s");
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("rate {GB/s} GB/s"), "rate 500 MB/s"), 5e8);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("took {s}."), "took 5."), 5);
}

TEST(NumberPattern, TwoNumbersAreNotOne) {
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("batch * {ms} ms"), "batch 1 100 ms"), 0.1);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("loss {}"), "loss 1 234"), 1);
  EXPECT_EQ(number_in(NumberPattern("sizes {}"), "sizes 1,2,3"), std::nullopt);
  EXPECT_EQ(number_in(NumberPattern("{%} of it"), "1,2,3 of it"), std::nullopt);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("loss {}"), "loss 0.5, 3"), 0.5);
}

TEST(NumberPattern, ACommaNextToTheBracesSeparatesFields) {
  struct Sample {
    const char* pattern;
    const char* line;
    double value;
  };
  for (const Sample& sample : {Sample{"conv,{s}", "conv,0.125,3", 0.125},
                               {"conv,{s}", "conv,3.125,64", 3.125},
                               {"conv,{s}", "conv,12,5", 12},
                               {"conv,{s}", "conv,1,234", 1},
                               {"conv,{ms},*", "conv,12.5,100", 12.5e-3},
                               {"conv,{ms},*", "conv,12,500,3", 12e-3},
                               {"conv,{ms} ms", "conv,1,234.5 ms", 1.2345},
                               {"[{s},*]", "[3.1,5]", 3.1},
                               {"[{s},*]", "[3,500,700]", 3},
                               {"took {ms}, done", "took 1,234.5, done", 1.2345},
                               {"took {ms},", "took 5, then 3", 5e-3}}) {
    const auto value = number_in(NumberPattern(sample.pattern), sample.line);
    ASSERT_TRUE(value) << sample.line;
    EXPECT_DOUBLE_EQ(*value, sample.value) << sample.line;
  }
}

TEST(NumberPattern, WhatMayBeTwoNumbersIsNone) {
  for (const auto& [pattern, line] : {std::pair{"took {s}", "took 3.125,64"},
                                      {"took {s}", "took 3.125,64 ms"},
                                      {"took {s}*", "took 3.125,64"},
                                      {"took {s},", "took 1,234.5, then"},
                                      {"n {}_*", "n 12_500_x"}}) {
    const auto found = NumberPattern(pattern).find(line);
    ASSERT_TRUE(found) << line;
    EXPECT_TRUE(found->fits && found->is_ambiguous) << line;
    EXPECT_EQ(found->value, std::nullopt) << line;
  }
  EXPECT_EQ(number_in(NumberPattern("took {s}"), "took 0.125,3"), std::nullopt);
  EXPECT_EQ(number_in(NumberPattern("took {s}"), "took 0.125.375,3"), std::nullopt);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("took {s}"), "took 12,5"), 12.5);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("took {s}"), "took 1,234.5"), 1234.5);
}

TEST(NumberPattern, APointMayStandBeforeAnExponent) {
  const NumberPattern pattern("t {s}");
  EXPECT_DOUBLE_EQ(*number_in(pattern, "t 1.e-05"), 1e-5);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "t 5.e+03"), 5e3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "t -5.D3"), -5e3);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "t 5.east"), 5);
}

/// s of the processor; the least of some, since others may be at work.
double time_of(const NumberPattern& pattern, const std::string& line) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 5; ++i) {
    const std::clock_t begin = std::clock();
    for (int j = 0; j < 4; ++j) static_cast<void>(pattern.find(line));
    least = std::min(least, static_cast<double>(std::clock() - begin));
  }
  return least;
}

/// Whoever prints such lines shall not keep mprof busy: eight times the length takes eight times as long, and
/// not 64 or 512 times.
TEST(NumberPattern, ALongLineTakesNoLongerThanItsLength) {
  const std::pair<const char*, const char*> hostile[] = {
      {"*{ms} ms", "a1"}, {"*x*{ms} ms", "x1"}, {"*x{ms} ms", "a1"}, {"{ms} ms", "1 "}, {"*{ms} n", "nan "}};
  for (const auto& [text, part] : hostile) {
    const NumberPattern pattern(text);
    const auto line = [part = std::string(part)](std::size_t length) {
      std::string all;
      while (all.size() < length) all += part;
      return all;
    };
    EXPECT_LT(time_of(pattern, line(4096)), 30 * time_of(pattern, line(512)) + CLOCKS_PER_SEC / 1000) << text;
  }
}

TEST(NumberPattern, AStarStandsForAnyText) {
  const NumberPattern pattern("op * took {us}");
  EXPECT_DOUBLE_EQ(*number_in(pattern, "op 7 of 9 took 5"), 5e-6);
  EXPECT_DOUBLE_EQ(*number_in(pattern, "op 7 took long, took 5"), 5e-6);
  EXPECT_DOUBLE_EQ(*number_in(NumberPattern("loss*{}"), "loss of step 4"), 4);
}

TEST(NumberPattern, WhatIsNoFiniteNumberIsNone) {
  const NumberPattern pattern("loss {}");
  for (const char* line : {"loss nan", "loss inf", "loss info", "loss -inf", "loss 1e999", "loss"})
    EXPECT_EQ(number_in(pattern, line), std::nullopt) << line;
  EXPECT_EQ(number_in(NumberPattern("rate {TFLOP/s}"), "rate 1e300"), std::nullopt);
}

TEST(Suite, OfAFileHasItsProgramsAxesNumbersAndDefaults) {
  const Suite suite = parse_suite(R"(
name = "mine"
timeout = 20
environment = { SHARED = "1", OVER = "a" }
folder = "build"
[axes.batch]
values = [100, 1000]
[numbers]
op_time = "took {us} us"
error = { pattern = "error {}", better = "lower", tolerance = 1e-3 }
[verify]
command = ["./compare", "{batch}"]
[[programs]]
name = "first"
command = ["./first", "{batch}", "{{batch}"]
[[programs]]
name = "second"
baseline = "first"
command = ["./second"]
environment = { OVER = "{batch}" }
timeout = 5
verify = { number = "error", value = 0, tolerance = 0.5 }
expect = [{ metric = "error", direction = "unchanged", because = "it is the same" }]
)",
                                  "folder/mprof.toml");
  EXPECT_EQ(suite.folder().filename(), "folder");
  ASSERT_EQ(suite.programs.size(), 2U);
  const SuiteProgram &first = suite.programs[0], &second = suite.programs[1];
  EXPECT_EQ(first.timeout, 20);
  EXPECT_EQ(first.folder, "build");
  EXPECT_THAT(first.verification->command, ElementsAre("./compare", "{batch}"));
  EXPECT_EQ(second.timeout, 5);
  EXPECT_EQ(second.baseline, "first");
  EXPECT_EQ(second.environment.at("SHARED"), "1");
  EXPECT_EQ(second.environment.at("OVER"), "{batch}");
  EXPECT_EQ(second.verification->number, "error");
  EXPECT_EQ(second.expectations.front().direction, Direction::unchanged);
  EXPECT_THAT(suite.axes.front().quick, ElementsAre(100U));
  EXPECT_EQ(suite.qualities.front().better, Better::lower);
  const Problem problem{{{"batch", 100}}};
  EXPECT_EQ(at_problem(first.command[1], problem), "100");
  EXPECT_EQ(at_problem(first.command[2], problem), "{batch}");
  EXPECT_EQ(at_problem("awk '{ print $1 }' {batch}.txt", problem), "awk '{ print $1 }' 100.txt");
}

TEST(Suite, ThePresetOfTheCourseReadsItsLines) {
  const Suite suite = parse_suite(suite_with("preset = \"course\"\n"), "mprof.toml");
  EXPECT_THAT(suite.ops, ElementsAre("layer1", "layer2"));
  EXPECT_EQ(suite.nouns.group_time_title, "Layer Time");
  std::map<std::string, std::string> read;
  for (const SuiteNumber& number : suite.numbers) {
    for (const char* line : {"Layer Time: 61.1231 ms", "Op Time: 1.7483 ms", "Test Accuracy: 0.8714"}) {
      if (number_in(number.pattern, line)) read[number.metric] = line;
    }
  }
  EXPECT_EQ(read["op_time"], "Op Time: 1.7483 ms");
  EXPECT_EQ(read["group_time"], "Layer Time: 61.1231 ms");
  EXPECT_EQ(read["accuracy"], "Test Accuracy: 0.8714");
}

TEST(Suite, TheFirstOneIsRead) {
  EXPECT_EQ(parse_suite(first_suite(), "mprof.toml").programs.size(), 2U);
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

struct Bad {
  const char* name;
  std::string text;
  const char* place;  ///< line and key
  const char* why;
};

class BadSuite : public ::testing::TestWithParam<Bad> {};

TEST_P(BadSuite, IsRefusedWithFileLineAndKey) {
  const std::string said = suite_error(GetParam().text);
  EXPECT_THAT(said, StartsWith(std::string("folder/mprof.toml:") + GetParam().place));
  EXPECT_THAT(said, HasSubstr(GetParam().why));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSuite,
    ::testing::Values(
        Bad{"no_toml", "name = \n", "1: ", "this is no TOML, at column"},
        Bad{"brace", "name = \"a\"\nproblems = [\n  }\n]\n", "3: ", "where a name or a value belongs"},
        Bad{"last_brace", "name = \"a\"\nproblems = [ }", "2: ", "where a name or a value belongs"},
        Bad{"deep_name", "name = \"a\"\na" + repeated(".a", 100'000) + " = 1\n", "2: ", "nests too deep"},
        Bad{"deep_table", "[a" + repeated(".a", 100'000) + "]\n", "1: ", "nests too deep"},
        Bad{"quote", "name = \"a\"\nproblems = 0\"\u00e9\"\n", "2: ", "this is no TOML, at column"},
        Bad{"continued", "name = \"\"\"a\\\n \u00e9\"\"\"\n", "1: name: ", "'a\u00e9' is no name"},
        Bad{"strings", "name = \"a\" \t\"b\"\n", "1: ", "this is no TOML, at column"},
        Bad{"blank", "# \u00e9 may stand here\nname = \"a\"\n\u00a0[axes]\n",
            "3: ", "this is no TOML, at column 1"},
        Bad{"no_table", "name = \"a\"\n[[&]]\n", "2: ", "where a name or a value belongs"},
        Bad{"no_name", "[[programs]]\nname = \"a\"\ncommand = [\"a\"]\n", "1: name: ", "missing"},
        Bad{"name", "name = \"a/b\"\n", "1: name: ", "'a/b' is no name"},
        Bad{"reserved", "name = \"program\"\n", "1: name: ", "in no suite"},
        Bad{"no_program", "name = \"a\"\n", "1: programs: ", "it is missing"},
        Bad{"program_type", "name = \"a\"\nprograms = 3\n", "2: programs: ", "[[programs]]"},
        Bad{"unknown", suite_with("titel = \"x\"\n"), "2: titel: ", "Did you mean title?"},
        Bad{"unknown_below", suite_with("", "comand = [\"a\"]\n"),
            "5: programs[1].comand: ", "Did you mean command?"},
        Bad{"no_command", "name = \"a\"\n[[programs]]\nname = \"b\"\n",
            "2: programs[1].command: ", "missing"},
        Bad{"empty_command", "name = \"a\"\n[[programs]]\nname = \"b\"\ncommand = []\n",
            "4: programs[1].command: ", "empty"},
        Bad{"command_type", "name = \"a\"\n[[programs]]\nname = \"b\"\ncommand = \"./b\"\n",
            "4: programs[1].command: ", "a list of texts"},
        Bad{"word_type", "name = \"a\"\n[[programs]]\nname = \"b\"\ncommand = [\"./b\",\n 100]\n",
            "5: programs[1].command: ", "a text in quotes"},
        Bad{"twice", suite_with("") + "[[programs]]\nname = \"first\"\ncommand = [\"b\"]\n",
            "6: programs[2].name: ", "two programs 'first'"},
        Bad{"no_axis", suite_with("", "folder = \"{size}\"\n"),
            "5: programs[1].folder: ", "{size} is no axis of the suite"},
        Bad{"near_axis", suite_with("[axes.batch]\nvalues = [1]\n", "environment = { N = \"{bach}\" }\n"),
            "7: programs[1].environment.N: ", "Did you mean batch?"},
        Bad{"no_values", suite_with("[axes.n]\ntitle = \"N\"\n"), "2: axes.n.values: ", "missing"},
        Bad{"values", suite_with("[axes.n]\nvalues = [0]\n"), "3: axes.n.values: ", "at least 1"},
        Bad{"fraction", suite_with("[axes.n]\nvalues = [1.5]\n"), "3: axes.n.values: ", "whole numbers"},
        Bad{"preset", suite_with("preset = \"cours\"\n"), "2: preset: ", "Did you mean course?"},
        Bad{"pattern", suite_with("[numbers]\nop_time = \"Time\"\n"), "3: numbers.op_time: ", "in braces"},
        Bad{"unit", suite_with("[numbers]\nop_time = \"Time {msec}\"\n"),
            "3: numbers.op_time: ", "{msec} is no unit"},
        Bad{"time", suite_with("[numbers]\nop_time = \"Time {GB}\"\n"),
            "3: numbers.op_time: ", "this is a time"},
        Bad{"bare", suite_with("[numbers]\nx = \"{ms}\"\n"), "3: numbers.x: ", "some text"},
        Bad{"own_metric", suite_with("[numbers]\ntotal_time = \"Time {s}\"\n"),
            "3: numbers.total_time: ", "measures itself"},
        Bad{"better", suite_with("[numbers.x]\npattern = \"x {}\"\nbetter = \"high\"\n"),
            "4: numbers.x.better: ", "'high' is not one of"},
        Bad{"timeout", suite_with("timeout = 0\n"), "2: timeout: ", "above 0"},
        Bad{"baseline", suite_with("", "baseline = \"frist\"\n"),
            "5: programs[1].baseline: ", "Did you mean first?"},
        Bad{"circle", suite_with("", "baseline = \"first\"\n"),
            "5: programs[1].baseline: ", "the program itself"},
        Bad{"verify", suite_with("[verify]\ntolerance = 1\n"), "2: verify.command: ", "give one of"},
        Bad{"verify_number", suite_with("[verify]\nnumber = \"sum\"\nvalue = 1\n"),
            "3: verify.number: ", "no number 'sum'"},
        Bad{"verify_value", suite_with("[verify]\nexpected = \"a\"\nvalue = 1\n"),
            "4: verify.value: ", "give both"},
        Bad{"metric",
            suite_with("",
                       "expect = [{ metric = \"op_tme\", direction = \"decreases\", because = \"x\" }]\n"),
            "5: programs[1].expect.metric: ", "Did you mean op_time?"},
        Bad{"direction",
            suite_with("", "expect = [{ metric = \"op_time\", direction = \"faster\", because = \"x\" }]\n"),
            "5: programs[1].expect.direction: ", "'faster' is not one of"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mprof
