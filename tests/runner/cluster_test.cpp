// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "model/run_file.hpp"
#include "runner/cluster/progress.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/cluster/submission.hpp"
#include "runner/plan.hpp"
#include "runner/shards.hpp"
#include "tests/model/messages.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

/// Five cases of equal work, each in `rounds` rounds of timing and in a trace.
mprof::Run run_of_five(std::uint32_t rounds) {
  mprof::Run run;
  run.started = "2026-11-21T02:51:07Z";
  run.plan.rounds = rounds;
  run.plan.variants = {"fake/right"};
  run.plan.passes = {Pass::timing, Pass::trace};
  run.variants = {test::fake_variant("fake/right").info};
  run.families = {test::fake_family()};
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U})
    run.families[0].problems.push_back({test::size_of(size), {}});
  run.cases = planned_cases(run.plan, run.variants, run.families);
  return run;
}

void time_rounds(Case& c, std::uint32_t rounds, double seconds) {
  c.passes[0] = {.pass = Pass::timing, .status = Status::ok, .seconds = seconds};
  c.passes[0].rounds.assign(rounds, Sampling{.samples = 3});
  c.passes[0].sampling = Sampling{.samples = 3 * rounds};
}

TEST(ShardProgress, CountsWhatIsThrough) {
  mprof::Run run = run_of_five(3);
  time_rounds(run.cases[0], 3, 6);
  run.cases[0].passes[1] = {.pass = Pass::trace, .status = Status::skipped};
  time_rounds(run.cases[1], 2, 4);
  run.cases[2].passes[0] = {.pass = Pass::timing, .status = Status::crashed, .reason = "signal 11\nand more"};
  run.cases[2].passes[1] = {.pass = Pass::trace, .status = Status::ok, .seconds = 1};
  run.cases[3].passes[0] = {.pass = Pass::timing, .status = Status::interrupted};
  const ShardProgress progress = progress_of(run, "x");
  EXPECT_EQ(progress.state, ShardState::stopped);
  EXPECT_EQ(progress.cases, 5U);
  EXPECT_EQ(progress.done, 1U) << "in all of its rounds";
  EXPECT_EQ(progress.failed, 1U);
  EXPECT_EQ(progress.left(), 3U);
  EXPECT_EQ(progress.failures, std::vector<std::string>{"fake/right@3 timing: crashed: signal 11"});
  EXPECT_DOUBLE_EQ(progress.seconds, 11);
  EXPECT_NEAR(progress.work_done / (progress.work_done + progress.work_left), 2.5 / 5, 1e-9);
}

TEST(ShardProgress, ACompleteRunHasNothingLeft) {
  mprof::Run run = run_of_five(3);
  run.state = RunState::complete;
  const ShardProgress progress = progress_of(run, "x");
  EXPECT_EQ(progress.state, ShardState::complete);
  EXPECT_EQ(progress.done, 5U);
  EXPECT_EQ(progress.left(), 0U);
  EXPECT_EQ(progress.work_left, 0);
}

TEST(ShardProgress, ACompleteRunSparedWhatFailedItsOtherRounds) {
  mprof::Run run = run_of_five(3);
  run.cases[0].passes[0] = {.pass = Pass::timing, .status = Status::wrong, .reason = "NaN"};
  run.state = RunState::complete;
  const ShardProgress progress = progress_of(run, "x");
  EXPECT_EQ(progress.failed, 1U);
  EXPECT_EQ(progress.done, 4U);
  EXPECT_EQ(progress.left(), 0U);
}

/// Of five cases of equal work; of three shards 1 has those of the sizes 1 and 4, 2 of 2 and 5, 3 of 3.
std::vector<mprof::Run> begun(const std::vector<std::uint32_t>& indices, std::uint32_t count) {
  std::vector<mprof::Run> shards;
  for (const std::uint32_t index : indices) {
    mprof::Run& run = shards.emplace_back(run_of_five(1));
    run.shard = Shard{index, count};
    run.cases = cases_of_shard(run.cases, *run.shard, nullptr);
  }
  return shards;
}

/// "2/3: 2 cases, 3/3: 1 cases, 0 of either"
std::string told(const std::vector<mprof::Run>& shards) {
  const AbsentShards absent = absent_shards(shards);
  std::string text;
  for (const ShardProgress& shard : absent.shards) {
    EXPECT_EQ(shard.state, ShardState::not_begun);
    text += fmt::format("{}/{}: {} cases, ", shard.shard.index, shard.shard.count,
                        shard.has_known_cases ? std::to_string(shard.left()) : "?");
  }
  return text + fmt::format("{} of either", absent.unassigned);
}

TEST(AbsentShardsTest, AreToldByThoseThatAreThere) {
  EXPECT_EQ(told(begun({1}, 3)), "2/3: 2 cases, 3/3: 1 cases, 0 of either");
  EXPECT_EQ(told(begun({2}, 3)), "1/3: 2 cases, 3/3: 1 cases, 0 of either");
  EXPECT_EQ(told(begun({1, 3}, 3)), "2/3: 2 cases, 0 of either");
  EXPECT_EQ(told(begun({7}, 7)).substr(0, 23), "1/7: 1 cases, 2/7: 1 ca") << "of those that have none";
}

TEST(AbsentShardsTest, AreNoneWhereNothingIsMissing) {
  EXPECT_EQ(told({}), "0 of either");
  EXPECT_EQ(told({run_of_five(1)}), "0 of either") << "a run without shards";
  EXPECT_EQ(told(begun({1, 2, 3}, 3)), "0 of either");
  EXPECT_EQ(told(begun({1, 2, 3, 4, 5}, 7)), "0 of either") << "two are empty";
  std::vector<mprof::Run> unlike = begun({1}, 3);
  unlike.push_back(begun({2}, 4).front());
  EXPECT_EQ(told(unlike), "0 of either") << "of what division?";
}

TEST(AbsentShardsTest, HaveUnknownCasesWhereTimesDividedThem) {
  std::vector<mprof::Run> shards = begun({1}, 3);
  shards[0].cases.pop_back();
  EXPECT_EQ(told(shards), "2/3: ? cases, 3/3: ? cases, 4 of either");
  shards.push_back(begun({2}, 3).front());
  EXPECT_EQ(told(shards), "3/3: 2 cases, 0 of either") << "what the others have not";
}

ShardProgress shard_in(ShardState state, double done, double left) {
  return {.state = state, .seconds = 2 * done, .work_done = done, .work_left = left};
}

TEST(ShardProgress, TellsWhenAllShouldBeThrough) {
  using enum ShardState;
  EXPECT_EQ(seconds_left(std::vector{shard_in(running, 0, 5)}), std::nullopt) << "nothing to reckon with";
  EXPECT_EQ(seconds_left(std::vector{shard_in(stopped, 3, 5)}), std::nullopt) << "nobody is at it";
  EXPECT_EQ(seconds_left(std::vector{shard_in(complete, 5, 0)}), std::nullopt);
  EXPECT_EQ(seconds_left(std::vector{shard_in(running, 3, 5), shard_in(running, 1, 2)}), 10);
  EXPECT_EQ(
      seconds_left(std::vector{shard_in(running, 3, 5), shard_in(running, 1, 2), shard_in(waiting, 0, 7)}),
      18)
      << "behind the one that is through first";
  EXPECT_EQ(seconds_left(std::vector{shard_in(running, 3, 5), shard_in(stopped, 1, 90)}), 10);
}

TEST(SubmissionTest, IsReadAsItWasWritten) {
  const test::TemporaryDirectory temporary;
  EXPECT_EQ(read_submission(temporary.path()), std::nullopt);
  const Submission written{.scheduler = "slurm", .job = "mprof-1", .shards = 7, .options = {"--gres=gpu:1"}};
  write_submission(written, temporary.path());
  EXPECT_EQ(read_submission(temporary.path()), written);
  temporary.write("shards/submission.json", R"({"schema_version": 1, "scheduler": "slurm"})");
  expect_contains(message_of([&] { static_cast<void>(read_submission(temporary.path())); }),
                  "submission.json");
  EXPECT_NE(new_job_name(), new_job_name());
}

TEST(SubmissionTest, PreparesEachShardOnce) {
  const test::TemporaryDirectory temporary;
  mprof::Run run = run_of_five(1);
  const Submission submission{.scheduler = "slurm", .job = "mprof-1", .shards = 6};
  prepare_shards(run, submission, nullptr, temporary.path());
  fs::remove_all(shard_path(temporary.path(), 2));
  run.started = "2026-11-22T00:00:00Z";
  prepare_shards(run, submission, nullptr, temporary.path());
  std::size_t cases = 0;
  for (std::uint32_t i = 1; i <= 6; ++i) {
    const mprof::Run shard = read_record(shard_path(temporary.path(), i));
    EXPECT_EQ(shard.shard, (Shard{i, 6}));
    EXPECT_EQ(shard.started == run.started, i == 2) << "what is there stays";
    cases += shard.cases.size();
  }
  EXPECT_EQ(cases, 5U);
}

TEST(SlurmCommands, NameShardsAndWhatTheyWaitFor) {
  const Submission submission{
      .scheduler = "slurm", .job = "mprof-1", .shards = 9, .options = {"--gres=gpu:1", "--comment=it's"}};
  const slurm::Work work{.program = "/bin/mprof", .directory = "/data/50%/a run", .folder = "/data"};
  const std::vector<std::string> array = slurm::array_command(submission, work, {1, 2, 3, 5, 8, 9});
  EXPECT_NE(std::ranges::find(array, "--array=1-3,5,8-9"), array.end());
  EXPECT_NE(std::ranges::find(array, "--output=/data/50%%/a run/shards/log/%a.txt"), array.end())
      << "a % of the path is no pattern";
  EXPECT_EQ(array.back(), "/data/50%/a run/shards/shard.sh");
  const std::vector<std::string> merge = slurm::merge_command(submission, work, "12");
  EXPECT_NE(std::ranges::find(merge, "--dependency=afterany:12"), merge.end());
  EXPECT_EQ(std::ranges::find(merge, "--gres=gpu:1"), merge.end()) << "merging needs no GPU";
  expect_contains(slurm::typed(array), R"('--comment=it'\''s')");
  expect_contains(slurm::shard_script(work), "shard='/data/50%/a run/shards'/$SLURM_ARRAY_TASK_ID\n");
  expect_contains(slurm::merge_script(work),
                  "merge '/data/50%/a run/shards'/[0-9]* --out '/data/50%/a run' ");
}

TEST(SlurmCommands, SetWhatNobodyElseMaySet) {
  const Submission submission{.scheduler = "slurm", .job = "mprof-1", .shards = 9};
  const slurm::Work work{.program = "/bin/mprof", .directory = "/data/run", .folder = "/data"};
  std::vector<std::string> words = slurm::array_command(submission, work, {1});
  std::ranges::copy(slurm::merge_command(submission, work, "12"), std::back_inserter(words));
  std::erase_if(words, [](const std::string& word) { return !word.starts_with("--"); });
  for (const std::string& word : words) EXPECT_NE(slurm::own_option(word), nullptr) << word;
  for (const char* word : {"-a1-3", "-o x", "-J", "-d afterok:1", "-D/", "--arr=1", "--dep=afterok:1"})
    EXPECT_NE(slurm::own_option(word), nullptr) << word;
  for (const char* word : {"--account=a", "-A", "--error=x", "-p main", "--no-requeue", "--hold", "-", "--"})
    EXPECT_EQ(slurm::own_option(word), nullptr) << word;
}

}  // namespace
}  // namespace mprof
