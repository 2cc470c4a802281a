// SPDX-License-Identifier: MIT
#include "runner/result_directory.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "model/case_file.hpp"
#include "model/run_file.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// A run of these cases, none of which was reached.
mprof::Run run_of(const std::vector<std::string>& variants, std::uint64_t seed) {
  mprof::Run run;
  run.started = "2026-11-21T02:51:07Z";
  run.plan.variants = variants;
  run.plan.passes = {Pass::timing};
  run.plan.seed = seed;
  for (const std::string& variant : variants) {
    Case& c = run.cases.emplace_back();
    c.key = {variant, {}, {{{"size", 8}}}};
    c.id = variant + "@8";
    c.passes = {{.pass = Pass::timing, .reason = "not run yet"}};
  }
  return run;
}

void finish(Case& c, double seconds) {
  c.passes[0] = {.pass = Pass::timing, .status = Status::ok, .seconds = seconds};
}

class ResultDirectoryTest : public ::testing::Test {
 protected:
  using Mode = ResultDirectory::Mode;

  test::TemporaryDirectory temporary;
  fs::path path = temporary.path() / "run";
};

TEST_F(ResultDirectoryTest, SavesARunAndItsCasesApart) {
  mprof::Run run = run_of({"f/a", "f/b"}, 1);
  ResultDirectory directory(path, Mode::create);
  directory.save(run);
  EXPECT_EQ(directory.load(), run);
  const std::string run_text = read_file(path / "run.json");
  finish(run.cases[1], 2);
  directory.save(run.cases[1]);
  EXPECT_EQ(directory.load(), run);
  EXPECT_EQ(read_file(path / "run.json"), run_text) << "a case that ends costs nothing but its own file";
  EXPECT_FALSE(fs::exists(path / case_file("f/a@8")));
}

TEST_F(ResultDirectoryTest, KeepsEachFileOfASource) {
  mprof::Run run = run_of({"f/a"}, 1);
  const fs::path folder = temporary.path() / "sources";
  const std::vector<fs::path> parts{folder / "a.cpp", folder / "t.cpp", folder / "one/t.cpp",
                                    folder / "two/t.cpp"};
  std::string joined;
  for (const fs::path& part : parts) {
    fs::create_directories(part.parent_path());
    write_file(part, "// " + part.string());
    joined += (joined.empty() ? "" : "+") + part.string();
  }
  run.plan.sources = {{.path = joined, .variant = "f/a"}};
  ResultDirectory(path, Mode::create).save_sources(run);
  const char* const kept[] = {"a.cpp", "a+t.cpp", "a+3-t.cpp", "a+4-t.cpp"};
  for (std::size_t i = 0; i < parts.size(); ++i)
    EXPECT_EQ(read_file(path / "kernels/f" / kept[i]), "// " + parts[i].string());
}

TEST_F(ResultDirectoryTest, KeepsWhatACaseHasToTellBeforeItRuns) {
  mprof::Run run = run_of({"f/a", "f/b"}, 1);
  run.cases[0].passes[0] = {.pass = Pass::timing, .status = Status::skipped, .reason = "no such device here"};
  ResultDirectory directory(path, Mode::create);
  directory.save(run);
  EXPECT_EQ(directory.load(), run);
}

TEST_F(ResultDirectoryTest, OverwritingRemovesWhatTheOldRunLeftAndNothingElse) {
  mprof::Run old_run = run_of({"f/a", "f/gone"}, 1);
  finish(old_run.cases[0], 1);
  finish(old_run.cases[1], 1);
  write_record(old_run, path);
  for (const char* file :
       {"trace.sqlite", "trace.sqlite-journal", "sanitizer.json", "check.json", "notes/mine.md"})
    write_file(path / file, "old");

  ResultDirectory directory(path, Mode::overwrite);
  EXPECT_EQ(directory.load(), old_run) << "until the first save";
  const mprof::Run run = run_of({"f/a"}, 2);
  directory.save(run);
  EXPECT_EQ(directory.load(), run);
  EXPECT_FALSE(fs::exists(path / "cases"));
  for (const char* file : {"trace.sqlite", "trace.sqlite-journal", "sanitizer.json", "check.json"})
    EXPECT_FALSE(fs::exists(path / file)) << file;
  EXPECT_EQ(read_file(path / "notes/mine.md"), "old");
}

/// A kill between the new run.json and the removal of the old cases, which share their names with the new
/// ones.
TEST_F(ResultDirectoryTest, AKillWhileOverwritingLeavesNoOldCaseInTheNewRun) {
  mprof::Run old_run = run_of({"f/a"}, 1);
  finish(old_run.cases[0], 1);
  write_record(old_run, path);
  mprof::Run run = run_of({"f/a"}, 2);
  write_run(run, path);

  ResultDirectory directory(path, Mode::resume);
  mprof::Run resumed = directory.load();
  EXPECT_EQ(case_status(resumed.cases[0]), Status::pending);
  directory.save(resumed);
  finish(resumed.cases[0], 3);
  directory.save(resumed.cases[0]);
  EXPECT_EQ(directory.load(), resumed);
  EXPECT_EQ(directory.load().cases[0].passes[0].seconds, 3);
}

TEST_F(ResultDirectoryTest, ResumingLeavesFinishedCasesAsTheyAre) {
  mprof::Run run = run_of({"f/a", "f/b"}, 1);
  finish(run.cases[0], 1);
  write_record(run, path);
  write_file(path / "sanitizer.json", "{}");
  const auto written = fs::last_write_time(path / case_file("f/a@8"));
  ResultDirectory directory(path, Mode::resume);
  run = directory.load();
  directory.save(run);
  EXPECT_EQ(fs::last_write_time(path / case_file("f/a@8")), written);
  EXPECT_TRUE(fs::exists(path / "sanitizer.json"));
  EXPECT_EQ(directory.load(), run);
}

/// Version 1 had the results in run.json, which the first save replaces.
TEST_F(ResultDirectoryTest, GoingOnWithAnOldRecordLosesNothing) {
  fs::create_directories(path);
  fs::copy_file(fs::path(MPROF_SOURCE_DIR) / "tests/golden/run_a/run.json", path / "run.json");
  ResultDirectory directory(path, Mode::resume);
  const mprof::Run run = directory.load();
  EXPECT_FALSE(fs::exists(path / "cases")) << "loading changes nothing";
  ASSERT_FALSE(run.cases.empty());
  directory.save(run);
  EXPECT_EQ(directory.load(), run);
}

TEST_F(ResultDirectoryTest, RefusesWhatItWouldDestroy) {
  const auto refused = [](const fs::path& given, Mode mode) {
    try {
      const ResultDirectory directory(given, mode);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const fs::path run = temporary.path() / "run";
  write_run(mprof::Run{}, run);
  EXPECT_TRUE(refused(run, Mode::create).ends_with(": it holds a run already; choose another directory"));
  EXPECT_EQ(refused(run, Mode::overwrite), "");
  EXPECT_EQ(refused(run, Mode::resume), "");
  EXPECT_EQ(read_run(run), mprof::Run{}) << "opening it must not change it";

  temporary.write("killed/.mprof-0123456789abcdef.tmp", "{");
  EXPECT_EQ(refused(temporary.path() / "killed", Mode::create), "") << "a run killed at its first save";

  temporary.write("mine/thesis.txt", "x");
  EXPECT_NE(refused(temporary.path() / "mine", Mode::overwrite).find("files in it that are no run"),
            std::string::npos);
  EXPECT_NE(refused(temporary.path() / "mine/thesis.txt", Mode::create).find("this is a file"),
            std::string::npos);
  EXPECT_NE(refused(temporary.path() / "none", Mode::resume).find("nothing to go on with"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(temporary.path() / "none"));
}

TEST_F(ResultDirectoryTest, OneCoordinatorAtATime) {
  const ResultDirectory first(path, Mode::create);
  EXPECT_THROW(ResultDirectory(path, Mode::create), Error);
}

TEST_F(ResultDirectoryTest, DefaultNameIsTimeAndDevice) {
  EXPECT_EQ(default_result_path("2026-11-21T02:51:07Z", "AMD EPYC (TM)"),
            fs::path("results/2026-11-21T02-51-07Z-amd-epyc-tm"));
  EXPECT_EQ(default_result_path("2026-11-21T02:51:07Z", "../../x"),
            fs::path("results/2026-11-21T02-51-07Z-x"));
}

}  // namespace
}  // namespace mprof
