#include "model/sanitizer_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

Check sample() {
  CheckResult clean{.variant = "conv/baseline", .tool = CheckTool::racecheck, .batch = 100};
  clean.status = CheckStatus::clean;
  clean.warnings = 2;
  clean.first_report = "Race reported";
  clean.started = "2026-11-21T02:51:07Z";
  clean.seconds = 4.25;
  clean.mprof = {"0.1.0", "0123456789ab"};
  clean.device = "NVIDIA H200";
  clean.sanitizer = "2025.3.1.0";
  clean.command = {"/usr/local/cuda/bin/compute-sanitizer", "--tool", "racecheck", "mprof", "worker"};
  CheckResult wrong = clean;
  wrong.tool = CheckTool::memcheck;
  wrong.status = CheckStatus::errors;
  wrong.errors = 3;
  wrong.warnings = 0;
  CheckResult skipped{.variant = "conv/cpu_naive", .tool = CheckTool::synccheck, .batch = 100};
  skipped.reason = "compute-sanitizer reads CUDA code only";
  skipped.started = clean.started;
  return {.results = {clean, wrong, skipped}};
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(parse_check(text, "check.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(CheckFile, ReadsBackWhatItWrote) {
  const test::TemporaryDirectory directory;
  const auto file = check_file(directory.path());
  EXPECT_EQ(read_check(file), std::nullopt);
  EXPECT_EQ(read_check({}), std::nullopt);
  write_check(sample(), file);
  EXPECT_EQ(*read_check(file), sample());
  EXPECT_EQ(parse_check(check_to_json({}), "check.json"), Check{});
}

TEST(CheckFile, WhatIsNoRecordIsRefusedWithTheField) {
  EXPECT_NE(refused("{\"schema_version\": 1, ").find("check.json: not valid JSON at line 1"),
            std::string::npos);
  EXPECT_NE(refused("[]").find("no record of `mprof check`"), std::string::npos);
  EXPECT_NE(refused("{\"schema_version\": 2, \"results\": []}").find("use the newer mprof"),
            std::string::npos);
  EXPECT_NE(refused("{\"schema_version\": 1}").find("\"results\" is missing"), std::string::npos);
  std::string text = check_to_json(sample());
  text.replace(text.find("\"racecheck\""), 11, "\"lintcheck\"");
  EXPECT_EQ(refused(text),
            "check.json.results[0].tool: expected one of the known words, found \"lintcheck\"");
}

TEST(CheckFile, IsFoundByVariantAndTool) {
  const Check check = sample();
  EXPECT_EQ(find_result(check, "conv/baseline", CheckTool::memcheck), &check.results[1]);
  EXPECT_EQ(find_result(check, "conv/baseline", CheckTool::synccheck), nullptr);
  EXPECT_TRUE(is_checked(check.results[0]));
  EXPECT_FALSE(is_checked(check.results[2]));
}

}  // namespace
}  // namespace mprof
