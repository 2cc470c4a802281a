// SPDX-License-Identifier: MIT
#include "model/run_file.hpp"

#include <filesystem>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/case_file.hpp"
#include "model/json_archive.hpp"
#include "sample_run.hpp"
#include "system/files.hpp"
#include "tests/support/limit_on_files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::expect_contains;
using test::full_run;
using test::message_of;
using test::replaced;
using test::TemporaryDirectory;

namespace fs = std::filesystem;

/// As run.json has it: the results stand elsewhere.
Run without_results(Run run) {
  for (Case& c : run.cases) {
    c.passes.clear();
    for (const Pass pass : run.plan.passes) c.passes.push_back({.pass = pass, .reason = "not run yet"});
  }
  return run;
}

TEST(RunFile, ReadsBackWhatItWrote) {
  EXPECT_EQ(parse_run(run_to_json(full_run()), "run.json"), without_results(full_run()));
}

TEST(RunFile, AnEmptyRunReadsBack) {
  EXPECT_EQ(parse_run(run_to_json(mprof::Run{}), "run.json"), mprof::Run{});
}

TEST(RunFile, TheSameRunGivesTheSameText) {
  const std::string text = run_to_json(full_run());
  EXPECT_EQ(run_to_json(parse_run(text, "run.json")), text);
  EXPECT_EQ(text.back(), '\n');
}

TEST(RunFile, HoldsNoResults) {
  mprof::Run run = full_run();
  const std::string text = run_to_json(run);
  run.cases[0].passes[0].measurements[0].samples.assign(500, 0.125);
  EXPECT_EQ(run_to_json(run), text);
}

TEST(RunFile, HoldsTheOpsOnceAProblem) {
  mprof::Run run = full_run();
  const std::size_t one = run_to_json(run).size();
  run.cases.push_back(run.cases[0]);
  run.cases.back().id = "conv/b[tile=8]@again";
  const std::string text = run_to_json(run);
  EXPECT_LT(text.size(), one + 200);
  EXPECT_EQ(parse_run(text, "run.json").cases[1].ops, run.cases[0].ops);
}

TEST(RunFile, FieldsOfALaterVersionAreLeftAlone) {
  const std::string text = replaced(run_to_json(full_run()), "\"quick\"", "\"brisk\": [1], \"quick\"");
  EXPECT_EQ(parse_run(text, "run.json"), without_results(full_run()));
}

TEST(RunFile, ANonFiniteNumberIsNeverWritten) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    mprof::Run run = full_run();
    run.plan.timeout = bad;
    message_of([&] { static_cast<void>(run_to_json(run)); }, ExitCode::fault);
  }
}

struct BadText {
  const char* name;
  const char* from;
  const char* to;
  const char* says;
};

class BadRunFile : public ::testing::TestWithParam<BadText> {};

TEST_P(BadRunFile, IsRefusedByFieldAndValue) {
  const std::string text = replaced(run_to_json(full_run()), GetParam().from, GetParam().to);
  const std::string message = message_of([&] { static_cast<void>(parse_run(text, "run.json")); });
  expect_contains(message, "run.json");
  expect_contains(message, GetParam().says);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadRunFile,
    ::testing::Values(
        BadText{"Nan", "1.5,", "NaN,", "not valid JSON at line"},
        BadText{"Overflow", "1.5,", "1e999,", "run.json"},
        BadText{"WrongType", "\"problem\": {\"size\": 100", "\"problem\": {\"size\": \"100\"",
                "families[0].problems[0].problem.size: expected a whole number"},
        BadText{"Negative", "\"max\": 8192", "\"max\": -1",
                "axes[0].max: expected a whole number that is not negative, found -1"},
        BadText{"Fraction", "\"max\": 8192", "\"max\": 1.5", "found 1.5"},
        BadText{"Null", "\"max\": 8192", "\"max\": null", "found null"},
        BadText{"UnknownWord", "\"interrupted\"", "\"interrupt\"",
                "state: expected one of the known words, found \"interrupt\""},
        BadText{"UnknownUnit", "\"unit\": \"count\"", "\"unit\": \"m\"",
                "qualities[0].unit: expected one of the known words"},
        BadText{"MissingField", "\"started\"", "\"begun\"", "\"started\" is missing"},
        BadText{"MissingCases", "\"cases\"", "\"cues\"", "\"cases\" is missing"},
        BadText{"NewerSchema", "\"schema_version\": 2", "\"schema_version\": 3",
                "written in schema version 3 by mprof \"1.2.3\""},
        BadText{"NewerSchemaSaysWhatToDo", "\"schema_version\": 2", "\"schema_version\": 2000000000",
                "reads versions up to 2: use the newer mprof"},
        BadText{"NoSuchSchema", "\"schema_version\": 2", "\"schema_version\": 0", "schema version 0"},
        BadText{"SchemaText", "\"schema_version\": 2", "\"schema_version\": \"2\"",
                "schema_version: expected a whole"},
        BadText{"Samples32", "\"min_samples\": 3", "\"min_samples\": 4294967296", "found 4294967296"},
        BadText{"BadFact", "\"cores\": 2.0", "\"cores\": [2]",
                "environment.cpu.cores: expected text, a number"}),
    [](const auto& test) { return test.param.name; });

TEST(RunFile, EveryTruncationIsRefused) {
  const std::string text = run_to_json(full_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    message_of([&] { static_cast<void>(parse_run(text.substr(0, length), "run.json")); });
  }
}

/// Each level costs a reader some of its stack.
TEST(RunFile, ThatNestsDeeplyIsRefused) {
  for (const std::string open : {"[", "{\"a\": "}) {
    std::string text = "{\"schema_version\": 2, \"zzz\": ";
    for (int i = 0; i < 100'000; ++i) text += open;
    expect_contains(message_of([&] { static_cast<void>(parse_run(text, "run.json")); }),
                    "run.json: not usable JSON at line 1, column");
  }
  const std::string brackets(1000, '[');
  expect_contains(message_of([&] { static_cast<void>(parse_run("\"\\\"" + brackets + "\"", "x.json")); }),
                  "no run record of mprof");
}

TEST(RunFile, OtherJsonIsNoRun) {
  for (const char* text : {"[]", "{}", "3", "null", "{\"version\": 1}"}) {
    expect_contains(message_of([&] { static_cast<void>(parse_run(text, "x.json")); }),
                    "no run record of mprof");
  }
}

TEST(RunFile, SaysWhatIsWrongWithADirectory) {
  const TemporaryDirectory temporary;
  const auto read = [](const std::filesystem::path& path) {
    return message_of([&] { static_cast<void>(read_run(path)); });
  };
  expect_contains(read(temporary.path() / "none"), "no such directory");
  expect_contains(read(temporary.path()), "holds no run.json");
  write_file(temporary.path() / "file", "x");
  expect_contains(read(temporary.path() / "file"), "is a file");
  std::filesystem::create_directories(temporary.path() / "odd" / "run.json");
  expect_contains(read(temporary.path() / "odd"), "is a directory");
}

TEST(RunFile, TwoCasesOfOneIdAreRefused) {
  mprof::Run run = full_run();
  run.cases.push_back(run.cases[0]);
  expect_contains(message_of([&] { static_cast<void>(parse_run(run_to_json(run), "run.json")); }),
                  "run.json.cases[1].id: there is a case \"conv/b[tile=8]@size=100,iterations=2\" before it");
}

class Record : public ::testing::Test {
 protected:
  Record() { write_record(full_run(), directory); }

  [[nodiscard]] std::string refusal() const {
    return message_of([&] { static_cast<void>(read_record(directory)); });
  }
  /// What stands in the one case's file.
  void rewrite(const std::string& from, const std::string& to) const {
    write_file(file, replaced(read_file(file), from, to));
  }

  TemporaryDirectory temporary;
  fs::path directory = temporary.path() / "a" / "b";
  fs::path file = directory / case_file(test::full_case().id);
};

TEST_F(Record, ReadsBack) {
  EXPECT_EQ(read_record(directory), full_run());
  EXPECT_EQ(file.filename(), "conv.b[tile=8]@size=100,iterations=2.json");
  for (const auto& entry : fs::directory_iterator(directory))
    EXPECT_FALSE(is_temporary_name(entry.path().filename().string())) << entry.path();
}

TEST_F(Record, AFullDiskLeavesTheOldOne) {
  for (const fs::path& target : {directory / "run.json", file}) {
    const std::string message = message_of(
        [&] {
          const test::LimitOnFiles full;
          if (target == file)
            write_case(full_run().cases[0], "another", directory);
          else
            write_run(mprof::Run{}, directory);
        },
        ExitCode::environment);
    expect_contains(message, "File too large");
    expect_contains(message, "unchanged");
    EXPECT_EQ(read_record(directory), full_run());
  }
}

TEST_F(Record, ACaseWithoutAFileIsPending) {
  fs::remove(file);
  EXPECT_EQ(read_record(directory), without_results(full_run()));
  fs::remove(directory / "cases");
  EXPECT_EQ(read_record(directory), without_results(full_run()));
}

TEST_F(Record, ACaseThatIsPendingHasNoFile) {
  const fs::path other = temporary.path() / "other";
  write_record(without_results(full_run()), other);
  EXPECT_FALSE(fs::exists(other / "cases"));
}

TEST_F(Record, ACaseOfTheRunThatWasThereBeforeIsPendingAndNamed) {
  mprof::Run next = full_run();
  next.plan.seed += 1;
  write_run(next, directory);
  const Case c = read_record(directory).cases.at(0);
  ASSERT_EQ(c.passes.size(), 2U);
  EXPECT_EQ(case_status(c), Status::pending);
  EXPECT_EQ(
      case_reason(c),
      "not run yet: cases/conv.b[tile=8]@size=100,iterations=2.json is of another run in this directory");
  EXPECT_TRUE(c.passes[0].measurements.empty());
}

TEST_F(Record, ATornCaseFileIsRefusedByName) {
  const std::string whole = read_file(file);
  write_file(file, std::string_view(whole).substr(0, whole.size() / 2));
  expect_contains(refusal(), file.string() + ": not valid JSON at line");
  write_file(file, "");
  expect_contains(refusal(), file.string() + ": not valid JSON at line");
}

TEST_F(Record, AnotherCasesFileIsRefusedByField) {
  rewrite("\"id\": \"conv/b", "\"id\": \"conv/c");
  expect_contains(refusal(),
                  file.string() + ".id: expected \"conv/b[tile=8]@size=100,iterations=2\", as run.json");
  rewrite("\"id\": \"conv/c", "\"id\": \"conv/b");
  rewrite("\"tile\": \"8\"", "\"tile\": \"9\"");
  expect_contains(refusal(), file.string() + ".parameters: expected");
  rewrite("\"tile\": \"9\"", "\"tile\": \"8\"");
  rewrite("\"size\": 100", "\"size\": 101");
  expect_contains(refusal(), file.string() + ".problem: expected");
}

TEST_F(Record, ALinkThatLeadsOutIsNotFollowed) {
  const fs::path secret = temporary.write("secret.json", read_file(file));
  fs::remove(file);
  fs::create_symlink(secret, file);
  expect_contains(refusal(), file.string() + " leads out of " + directory.string() + " by a symbolic link");

  fs::remove(file);
  fs::rename(directory / "cases", temporary.path() / "moved");
  fs::create_directory_symlink(temporary.path() / "moved", directory / "cases");
  write_file(temporary.path() / "moved" / file.filename(), read_file(secret));
  expect_contains(refusal(), "by a symbolic link");
  expect_contains(message_of([&] { write_case(full_run().cases[0], "", directory); }),
                  "cases: it is a symbolic link, which is not followed");

  fs::remove(directory / "cases");
  fs::rename(directory / "run.json", temporary.path() / "run.json");
  fs::create_symlink(temporary.path() / "run.json", directory / "run.json");
  expect_contains(refusal(), "run.json leads out of");
}

TEST_F(Record, IsReadThroughALinkToItsDirectory) {
  fs::create_directory_symlink(directory, temporary.path() / "latest");
  EXPECT_EQ(read_record(temporary.path() / "latest"), full_run());
}

/// A run of as many cases, in files of their own below the directory.
mprof::Run write_cases(std::size_t cases, const fs::path& directory) {
  mprof::Run run = full_run();
  for (std::size_t i = 1; i < cases; ++i) {
    run.cases.push_back(run.cases[0]);
    run.cases.back().id = "conv/b@" + std::to_string(100'000 + i);
  }
  run.cases[0].id = "conv/b@100000";
  write_run(run, directory);
  for (const Case& c : run.cases) write_case(c, run_stamp(run), directory);
  return run;
}

/// Ten times the cases are ten times the bytes, in files whose size is that of their case, and one more file
/// each: nothing is written or read of the others when a case ends.
TEST(RecordOfManyCases, CostsWhatItsCasesHold) {
  const auto bytes = [](const fs::path& directory) {
    std::uintmax_t sum = 0;
    for (const auto& entry : fs::recursive_directory_iterator(directory)) {
      if (entry.is_regular_file()) sum += entry.file_size();
    }
    return static_cast<double>(sum);
  };
  const TemporaryDirectory temporary;
  const mprof::Run few = write_cases(10, temporary.path() / "few");
  const mprof::Run many = write_cases(100, temporary.path() / "many");
  EXPECT_NEAR(bytes(temporary.path() / "many" / "cases") / bytes(temporary.path() / "few" / "cases"), 10,
              0.001);
  EXPECT_LT(bytes(temporary.path() / "many") / bytes(temporary.path() / "few"), 10.001);
  EXPECT_EQ(read_record(temporary.path() / "many"), many);
  EXPECT_EQ(read_record(temporary.path() / "few"), few);
}

/// Several cases are read at once, but the first in the order of the record is named.
TEST(RecordOfManyCases, IsRefusedForTheFirstThatIsWrong) {
  const TemporaryDirectory temporary;
  const mprof::Run run = write_cases(200, temporary.path());
  const auto damage = [&](std::size_t i) {
    const fs::path file = temporary.path() / case_file(run.cases[i].id);
    write_file(file, "[" + std::to_string(i));
    return file.string() + ": not valid JSON at line 1, column ";
  };
  for (const std::size_t i : {199U, 131U, 130U, 65U, 64U, 1U}) {
    const std::string expected = damage(i);
    for (int tries = 0; tries < 5; ++tries)
      expect_contains(message_of([&] { static_cast<void>(read_record(temporary.path())); }), expected);
  }
}

TEST(RunFile, ALongValueIsQuotedShort) {
  const std::string message =
      message_of([] { mprof::json::fail("x", "a number", mprof::json::Json(std::string(5000, 'a'))); });
  EXPECT_LT(message.size(), 150U);
}

}  // namespace
}  // namespace mprof
