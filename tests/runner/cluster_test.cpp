#include <algorithm>

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "model/run_file.hpp"
#include "runner/cluster/progress.hpp"
#include "runner/cluster/slurm.hpp"
#include "runner/cluster/submission.hpp"
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
  for (const std::uint64_t size : {1U, 2U, 3U, 4U, 5U}) {
    Case& c = run.cases.emplace_back();
    c.key = {"fake/right", {}, test::size_of(size)};
    c.id = "fake/right@" + std::to_string(size);
    c.passes = {{.pass = Pass::timing, .reason = "not run yet"},
                {.pass = Pass::trace, .reason = "not run yet"}};
  }
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
  EXPECT_EQ(progress.done, 2U) << "one in all of its rounds, one that failed";
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
  EXPECT_EQ(progress.work_left, 0);
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

}  // namespace
}  // namespace mprof
