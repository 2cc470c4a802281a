// SPDX-License-Identifier: MIT
#include "model/sanitizer_file.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "model/run_file.hpp"
#include "system/error.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

SanitizerRecord sample() {
  SanitizerResult clean{
      .variant = "conv/baseline", .tool = SanitizerTool::racecheck, .problem = {{{"size", 100}}}};
  clean.status = SanitizerStatus::clean;
  clean.warnings = 2;
  clean.first_report = "Race reported";
  clean.started = "2026-11-21T02:51:07Z";
  clean.seconds = 4.25;
  clean.mprof = {"0.1.0", "0123456789ab"};
  clean.device = "NVIDIA H200";
  clean.sanitizer = "2025.3.1.0";
  clean.command = {"/usr/local/cuda/bin/compute-sanitizer", "--tool", "racecheck", "mprof", "worker"};
  SanitizerResult wrong = clean;
  wrong.tool = SanitizerTool::memcheck;
  wrong.status = SanitizerStatus::errors;
  wrong.errors = 3;
  wrong.warnings = 0;
  SanitizerResult skipped{
      .variant = "conv/cpu_naive", .tool = SanitizerTool::synccheck, .problem = {{{"size", 100}}}};
  skipped.reason = "compute-sanitizer reads CUDA code only";
  skipped.started = clean.started;
  return {.results = {clean, wrong, skipped}};
}

std::string refused(const std::string& text) {
  try {
    static_cast<void>(parse_sanitizer_record(text, "sanitizer.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(SanitizerFile, ReadsBackWhatItWrote) {
  const test::TemporaryDirectory directory;
  const auto file = sanitizer_file(directory.path());
  EXPECT_EQ(read_sanitizer_record(file), std::nullopt);
  EXPECT_EQ(read_sanitizer_record({}), std::nullopt);
  write_sanitizer_record(sample(), file);
  EXPECT_EQ(*read_sanitizer_record(file), sample());
  EXPECT_EQ(parse_sanitizer_record(sanitizer_record_to_json({}), "sanitizer.json"), SanitizerRecord{});
}

TEST(SanitizerFile, WhatIsNoRecordIsRefusedWithTheField) {
  EXPECT_NE(refused("{\"schema_version\": 2, ").find("sanitizer.json: not valid JSON at line 1"),
            std::string::npos);
  EXPECT_NE(refused("[]").find("no record of `mprof sanitize`"), std::string::npos);
  EXPECT_NE(refused("{\"schema_version\": 3, \"results\": []}").find("use the newer mprof"),
            std::string::npos);
  EXPECT_NE(refused("{\"schema_version\": 2}").find("\"results\" is missing"), std::string::npos);
  std::string text = sanitizer_record_to_json(sample());
  text.replace(text.find("\"racecheck\""), 11, "\"lintcheck\"");
  EXPECT_EQ(refused(text),
            "sanitizer.json.results[0].tool: expected one of the known words, found \"lintcheck\"");
}

TEST(SanitizerFile, IsFoundByVariantAndTool) {
  const SanitizerRecord record = sample();
  EXPECT_EQ(find_result(record, "conv/baseline", SanitizerTool::memcheck), &record.results[1]);
  EXPECT_EQ(find_result(record, "conv/baseline", SanitizerTool::synccheck), nullptr);
  EXPECT_TRUE(is_conclusive(record.results[0]));
  EXPECT_FALSE(is_conclusive(record.results[2]));
}

}  // namespace
}  // namespace mprof
