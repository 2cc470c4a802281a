// SPDX-License-Identifier: MIT
#include "runner/tuning/tuned_file.hpp"

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

/// A variant of a GPU with two parameters, at two sizes.
mprof::Run run_of_tiled() {
  mprof::Run run;
  run.variants = {test::fake_variant("fake/tiled", {{"tile", "its width", "16", {"8", "16", "32"}},
                                                    {"precision", "of products", "fp32", {"fp32", "fp16"}}})
                      .info};
  run.variants[0].device = "cuda";
  run.plan.variants = {"fake/tiled"};
  run.plan.problems["fake"] = {test::size_of(1), test::size_of(2)};
  run.plan.sources = {{.path = "tiled.cu", .variant = "fake/tiled", .checksum = "sha256:1"}};
  run.environment["gpu"] = {{"name", "GPU A"}, {"driver", "1.0"}, {"CUDA runtime", "13.0"}};
  run.environment["cpu"] = {{"model", "CPU A"}, {"logical_cpus", 64.0}};
  run.environment["build"] = {{"compiler", "C"}, {"flags", Absent{"unknown"}}};
  return run;
}

TunedEntry entry_at(std::uint64_t size, const std::string& tile) {
  TunedEntry entry{.variant = "fake/tiled", .problem = test::size_of(size), .metric = "op_time"};
  entry.holds_for = tuned_for(run_of_tiled(), run_of_tiled().variants[0]);
  entry.parameters = {{"tile", tile}, {"precision", "fp32"}};
  entry.value = 0.5;
  entry.interval = {0.4, 0.6};
  entry.level = {{{"tile", "8"}, {"precision", "fp32"}}};
  entry.strategy = "grid";
  entry.finished = "2026-01-01T00:00:00Z";
  return entry;
}

std::string refusal(const TunedFile& file, const mprof::Run& run, ExitCode code) {
  try {
    static_cast<void>(tuning_of(file, "tuned.json", run));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

class TunedFileTest : public ::testing::Test {
 protected:
  std::string refusal_of(std::string_view text) {
    try {
      static_cast<void>(read_tuned(temporary.write("broken.json", text)));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    ADD_FAILURE() << "it was read";
    return "";
  }

  test::TemporaryDirectory temporary;
  std::filesystem::path file = temporary.path() / "tuned.json";
};

TEST_F(TunedFileTest, ReadsWhatItWrote) {
  TunedEntry entry = entry_at(1, "32");
  entry.searched = {{"tile", {"16", "32"}}};
  add_tuned(file, entry);
  EXPECT_EQ(read_tuned(file).entries, std::vector{entry});
}

TEST_F(TunedFileTest, ReadsAnEntryThatDoesNotSayWhichValuesWereSearched) {
  add_tuned(file, entry_at(1, "32"));
  EXPECT_EQ(read_file(file).find("searched"), std::string::npos);
  EXPECT_TRUE(read_tuned(file).entries.at(0).searched.empty());
}

TEST_F(TunedFileTest, ReturnsTheEntryThatItReplaces) {
  TunedEntry narrow = entry_at(1, "8");
  narrow.searched = {{"tile", {"8", "16"}}};
  EXPECT_EQ(add_tuned(file, entry_at(1, "32")), std::nullopt);
  EXPECT_EQ(add_tuned(file, entry_at(2, "32")), std::nullopt) << "another problem";
  EXPECT_EQ(add_tuned(file, narrow), entry_at(1, "32"));
}

TEST_F(TunedFileTest, KeepsWhatIsThereAndReplacesTheSameSearch) {
  add_tuned(file, entry_at(1, "32"));
  add_tuned(file, entry_at(2, "8"));
  TunedEntry other_gpu = entry_at(1, "16");
  other_gpu.holds_for.machine["gpu name"] = "GPU B";
  add_tuned(file, other_gpu);
  TunedEntry fixed = entry_at(1, "16");
  fixed.fixed = {{"precision", "fp16"}};
  add_tuned(file, fixed);
  const TunedEntry again = entry_at(1, "8");
  add_tuned(file, again);
  EXPECT_EQ(read_tuned(file).entries, (std::vector{entry_at(2, "8"), other_gpu, fixed, again}));
}

TEST_F(TunedFileTest, ABrokenOneIsRefusedWithItsPlaceAndStaysAsItIs) {
  EXPECT_NE(refusal_of("{\"schema_version\": 1,\n\"entries\": [").find("line 2"), std::string::npos);
  EXPECT_NE(refusal_of("[]").find("broken.json: expected an object"), std::string::npos);
  EXPECT_NE(refusal_of("{\"entries\": []}").find("schema_version"), std::string::npos);
  EXPECT_NE(refusal_of("{\"schema_version\": 1, \"entries\": [{\"variant\": 3}]}").find("entries[0].variant"),
            std::string::npos);
  EXPECT_NE(refusal_of("{\"schema_version\": 99, \"entries\": []}").find("use a newer one"),
            std::string::npos);
  const std::string text = "{\"schema_version\": 1, \"entries\": 7}";
  write_file(file, text);
  EXPECT_THROW(add_tuned(file, entry_at(1, "8")), Error);
  EXPECT_EQ(read_file(file), text);
}

TEST(TunedFor, IsTheMachineThatAVariantRunsOnAndItsSource) {
  mprof::Run run = run_of_tiled();
  const TunedFor of_gpu = tuned_for(run, run.variants[0]);
  EXPECT_EQ(of_gpu.machine, (std::map<std::string, std::string>{
                                {"gpu name", "GPU A"}, {"gpu driver", "1.0"}, {"gpu CUDA runtime", "13.0"}}));
  EXPECT_EQ(of_gpu.source, "sha256:1");
  run.variants[0].device = "cpu";
  EXPECT_EQ(tuned_for(run, run.variants[0]).machine,
            (std::map<std::string, std::string>{
                {"cpu model", "CPU A"}, {"cpu logical_cpus", "64"}, {"build compiler", "C"}}));
  run.plan.sources.push_back({.path = "family.cpp", .family = "fake", .checksum = "sha256:2"});
  EXPECT_NE(tuned_for(run, run.variants[0]).source, "sha256:1") << "what is computed belongs to it";
}

TEST(Tuning, TakesWhatHoldsForEachProblem) {
  const Tuning tuning =
      tuning_of({.entries = {entry_at(1, "32"), entry_at(3, "8")}}, "tuned.json", run_of_tiled());
  EXPECT_EQ(tuning.file, "tuned.json");
  EXPECT_EQ(
      tuning.points,
      (std::vector<TunedPoint>{{"fake/tiled", test::size_of(1), {{"tile", "32"}, {"precision", "fp32"}}}}));
}

TEST(Tuning, RefusesWhatIsStaleWithWhatDiffers) {
  TunedEntry entry = entry_at(1, "32");
  entry.holds_for.machine["gpu driver"] = "0.9";
  entry.holds_for.machine.erase("gpu CUDA runtime");
  entry.holds_for.source = "sha256:0";
  const std::string message = refusal({.entries = {entry}}, run_of_tiled(), ExitCode::incomparable);
  for (const char* part :
       {"tuned.json", "fake/tiled at size=1", "gpu driver was 0.9 and is 1.0",
        "gpu CUDA runtime was not known and is 13.0", "the source of the variant has changed"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  const TunedFile with_a_fresh_one{.entries = {entry_at(1, "8"), entry}};
  EXPECT_EQ(tuning_of(with_a_fresh_one, "tuned.json", run_of_tiled()).points.at(0).parameters.at("tile"),
            "8");
}

TEST(Tuning, HoldsForTheValuesThatTheSearchWasTold) {
  TunedEntry half = entry_at(1, "8");
  half.fixed = {{"precision", "fp16"}};
  half.parameters["precision"] = "fp16";
  const TunedFile file{.entries = {entry_at(1, "32"), half}};
  mprof::Run run = run_of_tiled();
  EXPECT_EQ(tuning_of(file, "tuned.json", run).points.at(0).parameters.at("tile"), "32")
      << "its precision is not the default";
  run.plan.settings["precision"] = {"fp16"};
  EXPECT_EQ(tuning_of({.entries = {half}}, "tuned.json", run).points.at(0).parameters.at("tile"), "8");
}

TEST(Tuning, RefusesASettingOfWhatWasSearched) {
  mprof::Run run = run_of_tiled();
  run.plan.settings["tile"] = {"8"};
  const std::string message = refusal({.entries = {entry_at(1, "32")}}, run, ExitCode::usage);
  EXPECT_NE(message.find("--set tile=8 and tuned.json both say"), std::string::npos) << message;
}

TEST(Tuning, RefusesAValueThatTheVariantDoesNotTake) {
  const std::string message = refusal({.entries = {entry_at(1, "64")}}, run_of_tiled(), ExitCode::usage);
  EXPECT_NE(message.find("no such value of tile: 64"), std::string::npos) << message;
}

TEST(Tuning, RefusesAFileWithoutAnythingForTheRun) {
  const std::string message = refusal({}, run_of_tiled(), ExitCode::usage);
  EXPECT_NE(message.find("mprof tune"), std::string::npos) << message;
}

TEST(Tuning, PrefersOpTimesAndThenTheNewest) {
  TunedEntry of_groups = entry_at(1, "8"), newer = entry_at(1, "16");
  of_groups.metric = "group_time";
  newer.metric = "total_time";
  newer.finished = "2026-02-01T00:00:00Z";
  const auto tile = [](std::vector<TunedEntry> entries) {
    const TunedFile file{.entries = std::move(entries)};
    return tuning_of(file, "tuned.json", run_of_tiled()).points.at(0).parameters.at("tile");
  };
  EXPECT_EQ(tile({of_groups, newer}), "16");
  EXPECT_EQ(tile({newer, of_groups}), "16");
  EXPECT_EQ(tile({newer, entry_at(1, "32"), of_groups}), "32");
}

}  // namespace
}  // namespace mprof
