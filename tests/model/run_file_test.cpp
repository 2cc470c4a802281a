#include "model/run_file.hpp"

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "model/json_archive.hpp"
#include "sample_run.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using test::full_run;

std::string message_of(const std::function<void()>& action, ExitCode code = ExitCode::usage) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not contain \"" << part << "\"";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(RunFile, ReadsBackWhatItWrote) {
  EXPECT_EQ(parse_run(run_to_json(full_run()), "run.json"), full_run());
}

TEST(RunFile, AnEmptyRunReadsBack) {
  EXPECT_EQ(parse_run(run_to_json(mprof::Run{}), "run.json"), mprof::Run{});
}

TEST(RunFile, TheSameRunGivesTheSameText) {
  const std::string text = run_to_json(full_run());
  EXPECT_EQ(run_to_json(parse_run(text, "run.json")), text);
  EXPECT_EQ(text.back(), '\n');
}

TEST(RunFile, ASampleSeriesIsOneLine) {
  mprof::Run run = full_run();
  run.cases[0].passes[0].measurements[0].samples.assign(500, 0.125);
  const std::string text = run_to_json(run);
  const std::size_t start = text.find("\"samples\": [0.125, 0.125, ");
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(text.substr(start, text.find('\n', start) - start).size(),
            std::string("\"samples\": []").size() + 500 * 7 - 2);
}

TEST(RunFile, ANonFiniteNumberIsNeverWritten) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    mprof::Run run = full_run();
    run.cases[0].passes[0].measurements[0].samples = {bad};
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
        BadText{"Nan", "[0.1, ", "[NaN, ", "not valid JSON at line"},
        BadText{"Overflow", "[0.1, ", "[1e999, ", "run.json"},
        BadText{"WrongType", "\"batch\": 100", "\"batch\": \"100\"",
                "cases[0].key.batch: expected a whole number"},
        BadText{"Negative", "\"batch\": 100", "\"batch\": -1", "found -1"},
        BadText{"Fraction", "\"batch\": 100", "\"batch\": 1.5", "found 1.5"},
        BadText{"Null", "\"batch\": 100", "\"batch\": null", "found null"},
        BadText{"TextForSample", "[0.1, ", "[\"x\", ", "samples[0]: expected a number, found \"x\""},
        BadText{"UnknownWord", "\"wrong\"", "\"wronk\"",
                "status: expected one of the known words, found \"wronk\""},
        BadText{"MissingField", "\"started\"", "\"begun\"", "\"started\" is missing"},
        BadText{"UnknownField", "\"finished\"", "\"finnished\"", "\"finnished\" is not known"},
        BadText{"NewerSchema", "\"schema_version\": 1", "\"schema_version\": 2", "use the newer mprof"},
        BadText{"SchemaText", "\"schema_version\": 1", "\"schema_version\": \"1\"",
                "schema_version: expected a whole"},
        BadText{"Samples32", "\"samples\": 3,", "\"samples\": 4294967296,", "found 4294967296"},
        BadText{"BadFact", "\"cores\": 2.0", "\"cores\": [2]",
                "environment.cpu.cores: expected text, a number"}),
    [](const auto& test) { return test.param.name; });

TEST(RunFile, EveryTruncationIsRefused) {
  const std::string text = run_to_json(full_run());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    message_of([&] { static_cast<void>(parse_run(text.substr(0, length), "run.json")); });
  }
}

TEST(RunFile, OtherJsonIsNoRun) {
  for (const char* text : {"[]", "{}", "3", "null", "{\"version\": 1}"}) {
    expect_contains(message_of([&] { static_cast<void>(parse_run(text, "x.json")); }),
                    "no run record of mprof");
  }
}

TEST(RunFile, SaysWhatIsWrongWithADirectory) {
  const test::TemporaryDirectory temporary;
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

TEST(RunFile, WritesAndReadsADirectory) {
  const test::TemporaryDirectory temporary;
  write_run(full_run(), temporary.path() / "a" / "b");
  EXPECT_EQ(read_run(temporary.path() / "a" / "b"), full_run());
  EXPECT_FALSE(std::filesystem::exists(temporary.path() / "a" / "b" / "run.json.tmp"));
}

TEST(RunFile, AFullDiskLeavesTheOldRecord) {
  // /dev/full fails each write with ENOSPC: the temporary file is a link to it.
  const test::TemporaryDirectory temporary;
  write_run(full_run(), temporary.path());
  std::filesystem::create_symlink("/dev/full", temporary.path() / "run.json.tmp");
  const std::string message =
      message_of([&] { write_run(mprof::Run{}, temporary.path()); }, ExitCode::environment);
  expect_contains(message, "No space left on device");
  expect_contains(message, "unchanged");
  EXPECT_EQ(read_run(temporary.path()), full_run());
}

TEST(RunFile, ALongValueIsQuotedShort) {
  const std::string message =
      message_of([] { json::fail("x", "a number", json::Json(std::string(5000, 'a'))); });
  EXPECT_LT(message.size(), 150U);
}

TEST(FileWriter, LeavesTheOldFileUntilItIsDone) {
  const test::TemporaryDirectory temporary;
  const std::filesystem::path path = temporary.write("file", "old");
  const std::string part(300'000, 'x');
  {
    FileWriter given_up(path);
    given_up.write(part);
  }
  EXPECT_EQ(read_file(path), "old");
  FileWriter file(path);
  for (int i = 0; i < 3; ++i) file.write(part);
  EXPECT_EQ(read_file(path), "old");
  file.commit();
  EXPECT_EQ(read_file(path), part + part + part);
  EXPECT_FALSE(std::filesystem::exists(temporary.path() / "file.tmp"));
}

}  // namespace
}  // namespace mprof
