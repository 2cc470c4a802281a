// SPDX-License-Identifier: MIT
#include "runner/merge.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/writer.hpp"
#include "runner/plan.hpp"
#include "runner/shards.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/model/messages.hpp"
#include "tests/support/sample_trace.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

/// A plan of five cases, nothing of it run.
mprof::Run planned() {
  mprof::Run run;
  run.tool = {"0.1.0", "abc"};
  run.started = "2026-11-21T02:51:07Z";
  run.plan.variants = {"fake/right"};
  run.plan.passes = {Pass::timing};
  run.plan.timeout = 20;
  run.families = {test::fake_family()};
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U}) {
    run.plan.problems["fake"].push_back(test::size_of(size));
    run.families[0].problems.push_back({test::size_of(size), test::FakeFamily().ops(test::size_of(size))});
  }
  run.variants = {test::fake_variant("fake/right").info};
  run.cases = planned_cases(run.plan, run.variants, run.families);
  return run;
}

/// Each case took as many samples as its size, of that value.
void complete(mprof::Run& run) {
  for (Case& c : run.cases) {
    const auto size = static_cast<std::uint32_t>(*value_on(c.key.problem, "size"));
    PassResult& timing = c.passes.at(0);
    timing = {.pass = Pass::timing, .status = Status::ok, .seconds = 1};
    timing.sampling = Sampling{.samples = size};
    timing.measurements = {
        {.metric = "op_time", .op = "op1", .samples = std::vector<double>(size, size), .rounds = {}}};
  }
  run.state = RunState::complete;
  run.finished = "2026-11-21T03:00:00Z";
}

/// Shard `index` of `count`, complete, in a directory that need not exist.
MergeSource shard(std::uint32_t index, std::uint32_t count) {
  MergeSource source{"shards/" + std::to_string(index), planned()};
  source.run.plan.seed = index;
  source.run.shard = Shard{index, count};
  source.run.cases = cases_of_shard(source.run.cases, *source.run.shard, nullptr);
  source.run.environment["gpu"] = {{"UUID", "GPU-" + std::to_string(index)}, {"name", "Fake"}};
  source.run.ceilings = {{.id = "fp32_flop_rate", .device = "cuda", .value = index * 1e12, .method = "m"}};
  complete(source.run);
  return source;
}

trace::Trace sample() {
  trace::Recording recording = test::sample_recording();
  trace::attribute(recording);
  return std::move(recording.trace);
}

mprof::Run merged_of(std::vector<MergeSource> sources, const MergeOptions& options = {}) {
  return merged(sources, options);
}

std::string refused(std::vector<MergeSource> sources, ExitCode code = ExitCode::incomparable,
                    const MergeOptions& options = {}) {
  return message_of([&] { static_cast<void>(merged(sources, options)); }, code);
}

TEST(Merge, IsTheWholeRunWhateverTheOrder) {
  mprof::Run whole = planned();
  complete(whole);
  std::vector<std::uint32_t> order{1, 2, 3};
  const mprof::Run first = merged_of({shard(1, 3), shard(2, 3), shard(3, 3)});
  do {
    std::vector<MergeSource> sources;
    for (const std::uint32_t index : order) sources.push_back(shard(index, 3));
    const mprof::Run run = merged_of(std::move(sources));
    EXPECT_EQ(run.cases, whole.cases);
    EXPECT_EQ(run, first);
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(first.state, RunState::complete);
  EXPECT_EQ(first.shard, std::nullopt);
}

TEST(Merge, KeepsWhatItsPartsHadOfTheirOwn) {
  const mprof::Run run = merged_of({shard(2, 2), shard(1, 2)});
  ASSERT_EQ(run.parts.size(), 2U);
  EXPECT_EQ(run.parts[1].shard, (Shard{2, 2}));
  EXPECT_EQ(run.parts[1].seed, 2U);
  EXPECT_EQ(run.parts[0].cases.size() + run.parts[1].cases.size(), run.cases.size());
  EXPECT_EQ(std::get<std::string>(run.parts[1].environment.at("gpu").at("UUID")), "GPU-2");
  EXPECT_TRUE(std::holds_alternative<Absent>(run.environment.at("gpu").at("UUID"))) << "it is of no whole";
  EXPECT_EQ(std::get<std::string>(run.environment.at("gpu").at("name")), "Fake");
  ASSERT_EQ(run.ceilings.size(), 1U);
  EXPECT_EQ(run.ceilings[0].value, 2e12);
}

TEST(Merge, TakesMoreShardsThanCases) {
  std::vector<MergeSource> sources;
  for (std::uint32_t i = 1; i <= 8; ++i) sources.push_back(shard(i, 8));
  EXPECT_TRUE(sources.back().run.cases.empty());
  const mprof::Run run = merged_of(std::move(sources));
  EXPECT_EQ(run.cases.size(), 5U);
  EXPECT_EQ(run.state, RunState::complete);
}

TEST(Merge, NamesAShardThatIsMissing) {
  const std::string message = refused({shard(1, 3), shard(3, 3)});
  expect_contains(message, "2/3");
  for (const Case& c : shard(2, 3).run.cases) expect_contains(message, c.id);
  const mprof::Run part = merged_of({shard(1, 3), shard(3, 3)}, {.incomplete = true});
  EXPECT_EQ(part.state, RunState::interrupted);
  EXPECT_EQ(part.cases.size(), 5U);
  EXPECT_EQ(
      std::ranges::count_if(part.cases, [](const Case& c) { return case_status(c) == Status::pending; }),
      static_cast<std::ptrdiff_t>(shard(2, 3).run.cases.size()));
}

TEST(Merge, NamesAShardThatIsNotThrough) {
  MergeSource interrupted = shard(2, 2);
  interrupted.run.state = RunState::interrupted;
  interrupted.run.cases[0].passes[0] = {.pass = Pass::timing, .status = Status::interrupted, .reason = "r"};
  const std::string message = refused({shard(1, 2), interrupted});
  expect_contains(message, "shards/2 (shard 2/2) is not complete: 1 of its");
  expect_contains(message, interrupted.run.cases[0].id);
  expect_contains(message, "mprof run --resume --out shards/2");
  MergeSource running = shard(2, 2);
  running.run.state = RunState::running;
  expect_contains(refused({shard(1, 2), running}), "not complete: 0 of its");
}

TEST(Merge, RefusesOneShardTwice) {
  MergeSource copy = shard(1, 2);
  copy.path = "copy";
  expect_contains(refused({shard(1, 2), shard(2, 2), copy}, ExitCode::usage, {.pool = true}),
                  "one and the same run");
}

TEST(Merge, RefusesACaseOfTwoRunsUnlessAskedToPoolIt) {
  MergeSource again = shard(1, 2);
  again.path = "again";
  again.run.plan.seed = 9;
  const std::string message = refused({shard(1, 2), shard(2, 2), again});
  expect_contains(message, again.run.cases[0].id + " is in shards/1 (shard 1/2) and in again (shard 1/2)");
  expect_contains(message, "--pool");
  const mprof::Run run = merged_of({again, shard(2, 2), shard(1, 2)}, {.pool = true});
  for (const Case& c : run.cases) {
    const bool twice = find_case(again.run, c.key) != nullptr;
    EXPECT_EQ(rounds_of(c.passes[0]), twice ? 2U : 1U) << c.id;
    const std::uint64_t size = *value_on(c.key.problem, "size");
    EXPECT_EQ(c.passes[0].measurements[0].samples.size(), twice ? 2 * size : size);
  }
}

TEST(Merge, PoolsNoRoundsOfTwoGpuModels) {
  std::vector<MergeSource> sources{shard(1, 2), shard(1, 2)};
  sources[1].path = "again";
  sources[1].run.started = "2026-11-22T02:51:07Z";
  sources[1].run.environment["gpu"]["name"] = "Other";
  const std::string message = refused(sources, ExitCode::incomparable, {.pool = true, .incomplete = true});
  expect_contains(message, "was measured on Fake in shards/1");
  expect_contains(message, "on Other in again");
  expect_contains(message, "mprof compare");
}

TEST(Merge, OfTwoGpuModelsHoldsEachCaseAgainstThePeaksOfItsOwn) {
  std::vector<MergeSource> sources{shard(1, 2), shard(2, 2)};
  sources[1].run.environment["gpu"]["name"] = "Other";
  const mprof::Run run = merged_of(sources);
  EXPECT_EQ(gpu_models(run), (std::vector<std::string>{"Fake", "Other"}));
  const PartIndex parts(run);
  std::set<double> peaks;
  for (const Case& c : run.cases) {
    ASSERT_EQ(parts.ceilings(c.id).size(), 1U);
    const double peak = *parts.ceilings(c.id)[0].value;
    EXPECT_EQ(parts.gpu_model(c.id), peak == 1e12 ? "Fake" : "Other") << c.id;
    peaks.insert(peak);
  }
  EXPECT_EQ(peaks, (std::set<double>{1e12, 2e12}));
  EXPECT_EQ(parts.ceilings("another/case@1")[0].value, 2e12) << "the highest, where nobody says";
}

TEST(Merge, PoolsWholeRunsOfOnePlan) {
  MergeSource a{"a", planned()}, b{"b", planned()};
  b.run.started = "2026-11-22T02:51:07Z";
  complete(a.run);
  complete(b.run);
  const mprof::Run run = merged_of({b, a}, {.pool = true});
  EXPECT_EQ(rounds_of(run.cases[0].passes[0]), 2U);
  EXPECT_EQ(run.started, a.run.started);
}

/// On GPU-1 and GPU-2, or others.
mprof::Run merged_on(const std::string& started, std::uint32_t first_gpu = 1) {
  std::vector<MergeSource> shards{shard(1, 2), shard(2, 2)};
  for (MergeSource& source : shards) {
    source.run.started = started;
    source.run.environment["gpu"]["UUID"] = fmt::format("GPU-{}", first_gpu++);
    source.run.spent = {{.pass = Pass::timing, .workers = 1, .seconds = 2}};
  }
  return merged_of(std::move(shards));
}

TEST(Merge, OfMergedRunsKeepsTheirParts) {
  const mprof::Run run =
      merged_of({{"a", merged_on("2026-11-21T02:51:07Z")}, {"b", merged_on("2026-11-22T02:51:07Z", 3)}},
                {.pool = true});
  std::vector<std::string> gpus;
  for (const RunPart& part : run.parts) {
    gpus.push_back(std::get<std::string>(part.environment.at("gpu").at("UUID")));
    EXPECT_EQ(part.spent.size(), 1U);
  }
  EXPECT_EQ(gpus, (std::vector<std::string>{"GPU-1", "GPU-2", "GPU-3", "GPU-4"}));
  EXPECT_EQ(most_gpus_of_a_case(run), 2U);
  EXPECT_TRUE(run.spent.empty());
}

/// What was left of the shards is no part's, and what was measured since then is a part of its own.
TEST(Merge, GoesOnAsAPartOfItsOwn) {
  std::vector<MergeSource> shards{shard(1, 2), shard(2, 2)};
  Case& left = shards[1].run.cases.back();
  const std::string id = left.id;
  left.passes = {{.pass = Pass::timing}};
  mprof::Run resumed = merged_of(shards, {.incomplete = true});
  EXPECT_EQ(std::ranges::count(resumed.parts[1].cases, id), 0);
  complete(resumed);
  resumed.spent = {{.pass = Pass::timing, .workers = 1, .seconds = 3}};
  const mprof::Run again = merged_of({{"resumed", resumed}});
  ASSERT_EQ(again.parts.size(), 3U);
  EXPECT_EQ(again.parts[0].cases, resumed.parts[0].cases);
  EXPECT_EQ(again.parts[2].cases, std::vector<std::string>{id});
  EXPECT_EQ(again.parts[2].spent, resumed.spent);
}

TEST(Merge, NamesWhatIsOfAnotherPlanBuildOrDivision) {
  MergeSource other = shard(2, 2);
  other.run.plan.rounds = 3;
  expect_contains(refused({shard(1, 2), other}), "of different plans: rounds: 1 and 3");
  other = shard(2, 2);
  other.run.plan.variants.emplace_back("fake/other");
  expect_contains(refused({shard(1, 2), other}), "variants: ");
  other = shard(2, 2);
  other.run.tool.revision = "def";
  expect_contains(refused({shard(1, 2), other}), "(abc), and shards/2 (shard 2/2) by 0.1.0 (def)");
  expect_contains(refused({shard(1, 2), shard(2, 3)}), "one of 2 shards, and shards/2 is one of 3 shards");
  other = shard(2, 2);
  other.run.variants[0].title = "another";
  expect_contains(refused({shard(1, 2), other}), "differently");
  other = shard(2, 2);
  other.run.cases[0].key.problem = test::size_of(77);
  expect_contains(refused({shard(1, 2), other}), "no case of its plan");
}

TEST(Merge, LooksAtWhatASourceHoldsAndNotAtWhereItWasBuilt) {
  MergeSource one = shard(1, 2), other = shard(2, 2);
  one.run.plan.sources = {{.path = "/sources/a.cu", .variant = "fake/a", .checksum = "sha256:1"}};
  other.run.plan.sources = one.run.plan.sources;
  one.run.plan.sources[0].library = "/node1/cache/a.so";
  other.run.plan.sources[0].library = "/node2/cache/a.so";
  EXPECT_EQ(merged_of({one, other}).cases.size(), 5U);
  other.run.plan.sources[0].checksum = "sha256:2";
  expect_contains(refused({one, other}), "of different plans: sources: ");
}

TEST(Merge, WritesTheRunWithSourcesAndTraces) {
  const test::TemporaryDirectory temporary;
  std::vector<MergeSource> sources{shard(2, 2), shard(1, 2)};
  for (MergeSource& source : sources) {
    source.path = temporary.path() / source.path;
    const std::string name = source.path.filename().string();
    temporary.write("shards/" + name + "/kernels/fake/" + name + ".cpp", name);
    trace::write_trace(source.path / trace::file_name, test::moved(sample(), source.run.cases[0].id, 0));
  }
  const mprof::Run run = merged(sources, {});
  ResultDirectory directory(temporary.path(), ResultDirectory::Mode::create);
  write_merged(run, sources, directory);
  EXPECT_EQ(directory.load(), run);
  EXPECT_EQ(read_file(temporary.path() / "kernels/fake/2.cpp"), "2");
  EXPECT_EQ(trace::traced_cases(directory.trace_file()),
            (std::vector{run.parts[0].cases[0], run.parts[1].cases[0]}));
}

}  // namespace
}  // namespace mprof
