// SPDX-License-Identifier: MIT
#include "runner/sanitize/compute_sanitizer.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

/// Logs written by hand in the format of compute-sanitizer 2025.3.
namespace mprof {
namespace {

namespace fs = std::filesystem;

TEST(SanitizerLog, CleanIsASummaryOfZero) {
  const SanitizerLog log =
      parse_sanitizer_log("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  EXPECT_TRUE(log.has_summary);
  EXPECT_EQ(log.errors, 0U);
  EXPECT_EQ(log.warnings, 0U);
  EXPECT_EQ(log.first_report, "");
}

TEST(SanitizerLog, TheFirstErrorSaysWhatWhereAndWho) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at conv_x(float *, int)+0x120 in conv_x.cu:41\n"
      "=========     by thread (0,0,0) in block (3,0,0)\n"
      "=========     Access to 0x7f3c7ec00640 is out of bounds\n"
      "=========     and is 1 bytes after the nearest allocation at 0x7f3c7ec00000 of size 1600 bytes\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame: main [0x8f0d] in mprof\n"
      "========= \n"
      "========= Invalid __global__ read of size 8 bytes\n"
      "=========     at other()+0x10\n"
      "========= \n"
      "========= Target application returned an error\n"
      "========= ERROR SUMMARY: 74476 errors\n"
      "========= ERROR SUMMARY: 74376 errors were not printed. Use --print-limit option to adjust the number "
      "of printed errors\n");
  EXPECT_EQ(log.errors, 74476U);
  EXPECT_EQ(
      log.first_report,
      "Invalid __global__ write of size 4 bytes at conv_x(float *, int)+0x120 in conv_x.cu:41 by thread "
      "(0,0,0) in block (3,0,0), Access to 0x7f3c7ec00640 is out of bounds and is 1 bytes after the "
      "nearest allocation at 0x7f3c7ec00000 of size 1600 bytes");
}

TEST(SanitizerLog, OneErrorIsSingular) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= Barrier error detected. Divergent thread(s) in block.\n"
      "=========     at k()+0x15520\n"
      "========= ERROR SUMMARY: 1 error\n");
  EXPECT_EQ(log.errors, 1U);
  EXPECT_EQ(log.first_report, "Barrier error detected. Divergent thread(s) in block. at k()+0x15520");
}

TEST(SanitizerLog, RacecheckCountsErrorsAndWarnings) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Warning: Maximum number of hazards reached. Environment variable "
      "NV_COMPUTE_SANITIZER_MAX_RACECHECK_HAZARDS can be used to increase this count.\n"
      "========= \n"
      "========= Warning: Race reported between Read access at a()+0x260\n"
      "=========     and Write access at a()+0x200 [9 hazards]\n"
      "========= \n"
      "========= Error: Race reported between Write access at b()+0x50 in b.cu:7\n"
      "=========     and Read access at b()+0x90 in b.cu:9 [16 hazards]\n"
      "=========     and Read access at b()+0xb0 in b.cu:9 [32 hazards]\n"
      "========= \n"
      "========= RACECHECK SUMMARY: 100 hazards displayed (4528176 errors, 661824 warnings)\n");
  EXPECT_TRUE(log.has_summary);
  EXPECT_EQ(log.errors, 4528176U);
  EXPECT_EQ(log.warnings, 661824U);
  EXPECT_EQ(log.first_report,
            "Race reported between Write access at b()+0x50 in b.cu:7 and Read access at b()+0x90 in "
            "b.cu:9 [16 hazards] and Read access at b()+0xb0 in b.cu:9 [32 hazards]");
}

TEST(SanitizerLog, CleanRacecheck) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n");
  EXPECT_TRUE(log.has_summary);
  EXPECT_EQ(log.errors + log.warnings, 0U);
}

TEST(SanitizerLog, AWarningAloneIsReported) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= Warning: Race reported between Read access at a()+0x260\n"
      "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n");
  EXPECT_EQ(log.errors, 0U);
  EXPECT_EQ(log.warnings, 1U);
  EXPECT_EQ(log.first_report, "Race reported between Read access at a()+0x260");
}

TEST(SanitizerLog, WithoutAnInstrumentedCallThereIsNoSummary) {
  const SanitizerLog log = parse_sanitizer_log(
      "========= COMPUTE-SANITIZER\n"
      "========= Error: Target application terminated before first instrumented API call\n"
      "========= Tracking kernels launched by child processes requires the --target-processes all option.\n");
  EXPECT_FALSE(log.has_summary);
  EXPECT_EQ(log.first_report, "Target application terminated before first instrumented API call");
}

TEST(SanitizerLog, GarbageSaysNothing) {
  for (const std::string& text :
       {std::string(), std::string("\n\n"), std::string("ERROR SUMMARY: 0 errors\n"),
        std::string("\x00\xff\x1b[31m", 7), std::string("========= ERROR SUMMARY: no errors\n"),
        std::string("=========")}) {
    const SanitizerLog log = parse_sanitizer_log(text);
    EXPECT_FALSE(log.has_summary) << text;
    EXPECT_EQ(log.first_report, "") << text;
  }
  EXPECT_EQ(parse_sanitizer_log("========= ERROR SUMMARY: 99999999999999999999 errors").errors, 4294967295U);
}

/// A kernel's name can be pages long, and may hold anything.
TEST(SanitizerLog, AReportIsOneLineOfBoundedLengthWithBothItsEnds) {
  std::string name;
  for (int i = 0; i < 1000; ++i) name += "é\t";
  const SanitizerLog log = parse_sanitizer_log(
      "========= Invalid __shared__ read of size 4 bytes\n=========     at " + name +
      "\n=========     by thread (7,0,0) in block (0,0,0)\r\n========= ERROR SUMMARY: 1 error\n");
  EXPECT_LT(log.first_report.size(), 500U);
  EXPECT_TRUE(log.first_report.starts_with("Invalid __shared__ read of size 4 bytes at é é"));
  EXPECT_TRUE(log.first_report.ends_with(" by thread (7,0,0) in block (0,0,0)")) << log.first_report;
  for (const char c : log.first_report) EXPECT_GE(static_cast<unsigned char>(c), 0x20U);
}

class FindSanitizer : public ::testing::Test {
 protected:
  /// A program of this name in a folder below the temporary one.
  std::string program(const std::string& folder, const std::string& script) const {
    const fs::path file = temporary.write(folder + "/compute-sanitizer", "#!/bin/sh\n" + script);
    fs::permissions(file, fs::perms::owner_all);
    return file.parent_path().string();
  }
  test::TemporaryDirectory temporary;
};

TEST_F(FindSanitizer, TheFirstFolderThatHasItWins) {
  const std::string old = program("old", "echo 'Version 2023.1.1'\n");
  const std::string recent = program("recent",
                                     "echo 'NVIDIA (R) Compute Sanitizer'\n"
                                     "echo 'Copyright (c) 2020-2025 NVIDIA Corporation'\n"
                                     "echo 'Version 2025.3.1.0 (build 36400806) (public-release)'\n");
  fs::create_directories(temporary.path() / "folder/compute-sanitizer");  // no program
  const Sanitizer found =
      find_sanitizer({"/nowhere", (temporary.path() / "folder").string(), recent, old}, steady_clock());
  EXPECT_EQ(found.absent, "");
  EXPECT_EQ(found.version, "2025.3.1.0");
  EXPECT_EQ(found.program, recent + "/compute-sanitizer");
}

TEST_F(FindSanitizer, WhereThereIsNoneItSaysWhatToDo) {
  const Sanitizer found = find_sanitizer({"/nowhere", temporary.path().string()}, steady_clock());
  EXPECT_EQ(found.program, "");
  EXPECT_NE(found.absent.find("neither on PATH nor"), std::string::npos) << found.absent;
  EXPECT_NE(found.absent.find("CUDA_HOME"), std::string::npos) << found.absent;
}

TEST_F(FindSanitizer, OneThatDoesNotStartIsAbsentWithItsWords) {
  const std::string broken = program("broken", "echo 'libsanitizer.so: cannot open' >&2\nexit 127\n");
  const Sanitizer found = find_sanitizer({broken}, steady_clock());
  EXPECT_EQ(found.version, "");
  EXPECT_NE(found.absent.find("exit code 127: libsanitizer.so: cannot open"), std::string::npos)
      << found.absent;
}

}  // namespace
}  // namespace mprof
