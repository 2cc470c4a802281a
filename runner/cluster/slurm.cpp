// SPDX-License-Identifier: MIT
#include "runner/cluster/slurm.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/numbers.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"
#include "system/shell.hpp"

namespace mprof::slurm {
namespace {

namespace fs = std::filesystem;

constexpr double answer_limit = 120;  // s; a busy controller takes its time
/// Before the end of its time limit a shard is told, in s: it ends at once, but Slurm counts by half minutes.
constexpr int notice = 60;

/// A file name in which Slurm shall find no pattern of its own.
std::string without_patterns(const fs::path& path) {
  std::string out;
  for (const char c : path.string()) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out;
}

/// All that common_options(), array_command() and merge_command() set.
constexpr OwnOption own_options[] = {
    {"array", 'a', "--shards says how many elements it has"},
    {"chdir", 'D', "the jobs start in the folder that you submit from"},
    {"dependency", 'd', "by it the job that merges waits for the shards"},
    {"job-name", 'J', "by it mprof finds the jobs again"},
    {"open-mode", 0, "what the jobs print is added to what earlier ones printed"},
    {"output", 'o', "what the jobs print is in shards/log of --out"},
    {"parsable", 0, "by it mprof learns the number of the job"},
    {"requeue", 0, "by it a shard goes on when its node dies"},
    {"signal", 0, "by it a shard learns that its time limit is near, which --time sets"},
};

fs::path log_folder(const Work& work) {
  return shards_of(work.directory) / "log";
}

std::string merge_name(const Submission& submission) {
  return submission.job + "-merge";
}

/// 1,2,4-7
std::string ranges(const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    parts.push_back(last == i ? std::to_string(numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<std::string> common_options(const Work& work, const std::string& name, const std::string& log) {
  return {"sbatch",
          "--parsable",
          "--job-name=" + name,
          "--chdir=" + work.folder.string(),
          "--output=" + without_patterns(log_folder(work)) + "/" + log,
          "--open-mode=append"};
}

struct Answer {
  std::vector<std::string> lines{};
  std::string failure{};  ///< empty: it ended well
};

std::optional<fs::path> on_path(std::string_view name) {
  return find_program(name, search_path(environment_variable("PATH")));
}

Answer ask(std::vector<std::string> command) {
  if (const auto program = on_path(command.front())) command.front() = program->string();
  Process process(command, "");
  const Clock& clock = steady_clock();
  const double deadline = clock.now() + answer_limit;
  Answer answer;
  for (;;) {
    const Process::Event event = process.next(clock, deadline, -1);
    if (event.kind == Process::Event::Kind::line) {
      answer.lines.push_back(event.line);
      continue;
    }
    if (event.kind == Process::Event::Kind::ended && process.ended_well()) return answer;
    if (event.kind != Process::Event::Kind::ended) process.kill();
    const std::string words = process.last_words();
    answer.failure = words.empty() ? process.how_it_ended() : words;
    return answer;
  }
}

std::vector<std::string> columns(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == '|')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

}  // namespace

std::string shard_script(const Work& work) {
  std::string options;
  for (const std::string& option : work.options) options += " " + shell_quoted(option);
  return fmt::format(R"(#!/bin/bash
# One shard of a run, as `mprof submit` wrote it. It may be run again at any time: what is finished stays.
shard={0}/$SLURM_ARRAY_TASK_ID
began={1}/$SLURM_ARRAY_TASK_ID.began
touch "$began"

stop() {{
  kill -TERM "$mprof" 2>/dev/null
  wait "$mprof"
  exit 130
}}
# The time limit is near. Without a case finished since this began, another try would come no further.
near_limit() {{
  finished=$(find "$shard/cases" -newer "$began" -name '*.json' -print -quit 2>/dev/null)
  kill -TERM "$mprof" 2>/dev/null
  wait "$mprof"
  if [ -n "$finished" ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
  else
    echo "No case was finished within the time limit: submit again with a longer one." >&2
  fi
  exit 130
}}
trap stop TERM INT
trap near_limit USR1

{2} run --resume --out "$shard" --quiet{3} &
mprof=$!
wait "$mprof"
)",
                     shell_quoted(shards_of(work.directory).string()),
                     shell_quoted(log_folder(work).string()), shell_quoted(work.program.string()), options);
}

std::string merge_script(const Work& work) {
  return fmt::format(R"(#!/bin/bash
# The shards of a run as one, as `mprof submit` wrote it.
exec {} merge {}/[0-9]* --out {} --overwrite --quiet
)",
                     shell_quoted(work.program.string()), shell_quoted(shards_of(work.directory).string()),
                     shell_quoted(work.directory.string()));
}

const OwnOption* own_option(std::string_view word) {
  const bool is_long = word.starts_with("--");
  const std::string_view name = is_long ? word.substr(2, word.find('=') - 2) : "";
  const auto* const found = std::ranges::find_if(own_options, [&](const OwnOption& own) {
    if (!is_long) return own.letter != 0 && word.size() > 1 && word[1] == own.letter;
    return !name.empty() && own.name.starts_with(name);  // sbatch takes a name that is cut short
  });
  return found == std::end(own_options) ? nullptr : found;
}

std::vector<std::string> array_command(const Submission& submission, const Work& work,
                                       const std::vector<std::uint32_t>& shards) {
  std::vector<std::string> command = common_options(work, submission.job, "%a.txt");
  command.push_back("--array=" + ranges(shards));
  command.emplace_back("--requeue");
  command.push_back(fmt::format("--signal=B:USR1@{}", notice));
  command.insert(command.end(), submission.options.begin(), submission.options.end());
  command.push_back((shards_of(work.directory) / "shard.sh").string());
  return command;
}

std::vector<std::string> merge_command(const Submission& submission, const Work& work,
                                       const std::optional<std::string>& after) {
  std::vector<std::string> command = common_options(work, merge_name(submission), "merge.txt");
  if (after) command.push_back("--dependency=afterany:" + *after);
  // It computes nothing on a GPU.
  std::ranges::copy_if(submission.options, std::back_inserter(command), [](const std::string& option) {
    return !option.starts_with("--gres") && !option.starts_with("--gpus");
  });
  command.push_back((shards_of(work.directory) / "merge.sh").string());
  return command;
}

std::string typed(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

bool is_here() {
  return on_path("sbatch") && on_path("squeue");
}

std::string submit(const std::vector<std::string>& command) {
  const Answer answer = ask(command);
  if (!answer.failure.empty() || answer.lines.empty())
    throw Error(ExitCode::environment,
                fmt::format("Slurm did not take the job: {} (from `{}`)", answer.failure, typed(command)));
  return answer.lines.back().substr(0, answer.lines.back().find(';'));  // JOB;CLUSTER
}

Queue queued_jobs(const Submission& submission) {
  const std::string names = submission.job + "," + merge_name(submission);
  const Answer answer =
      ask({"squeue", "--noheader", "--array", "--name=" + names, "--format=%j|%K|%T|%N|%r"});
  Queue queue{.failure = answer.failure};
  for (const std::string& line : answer.lines) {
    const std::vector<std::string> fields = columns(line);
    if (fields.size() < 5) continue;
    queue.jobs.push_back({fields[0] == submission.job ? parse_as<std::uint32_t>(fields[1]).value_or(0) : 0,
                          fields[2], fields[3], fields[4]});
  }
  return queue;
}

}  // namespace mprof::slurm
