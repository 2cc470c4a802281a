// SPDX-License-Identifier: MIT
#include "runner/suite/suite_run.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/device.hpp"
#include "inputs/checksum.hpp"
#include "runner/begin.hpp"
#include "runner/suite/printed_output.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t most_rounds = 5;  // where --rounds does not say
constexpr double longest_timing = 60;     // s, of each case, likewise: no round begins later
constexpr double longest_build = 3600;    // s
constexpr std::uintmax_t largest_named = std::uintmax_t{64} << 20;  // B, of files whose contents are noted

/// By the id of its variant.
const SuiteProgram& program_in(const Suite& suite, const std::string& variant) {
  return *suite.program(variant.substr(suite.name.size() + 1));
}

fs::path folder_of(const Suite& suite, const SuiteProgram& program, const Problem& problem) {
  return (suite.folder() / at_problem(program.folder, problem)).lexically_normal();
}

std::vector<std::string> command_of(const Suite& suite, const SuiteProgram& program, const Problem& problem) {
  std::vector<std::string> words;
  for (const std::string& word : program.command) words.push_back(at_problem(word, problem));
  const fs::path folder = folder_of(suite, program, problem);
  try {
    if (!fs::is_directory(folder))
      throw Error(ExitCode::usage, fmt::format("{}: there is no such folder.", folder.string()));
    words.front() = program_below(folder, words.front());
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("{}:{}: command of the program '{}': {}", suite.file.string(),
                                             program.line, program.name, error.what()));
  }
  return words;
}

/// The program, and what its command line names beside it that is a file of moderate size: a script, say.
std::vector<fs::path> files_of(const Suite& suite, const SuiteProgram& program, const Problem& problem) {
  const fs::path folder = folder_of(suite, program, problem);
  std::vector<fs::path> files;
  for (const std::string& word : command_of(suite, program, problem)) {
    std::error_code error;
    const fs::path file = folder / word;
    if (fs::is_regular_file(file, error) && (files.empty() || fs::file_size(file, error) <= largest_named))
      files.push_back(file);
  }
  return files;
}

PluginSource source_of(const Suite& suite, const std::string& variant, const Problem& problem) {
  const std::vector<fs::path> files = files_of(suite, program_in(suite, variant), problem);
  std::string contents = sha256_of_file(suite.file);
  for (const fs::path& file : files) contents += sha256_of_file(file);
  return {.path = suite.file.string(),
          .variant = variant,
          .checksum = sha256_of_text(contents),
          .library = files.front().string()};
}

std::vector<PluginSource> sources_of(const Suite& suite, const Run& run) {
  std::vector<PluginSource> sources;
  for (const std::string& variant : run.plan.variants)
    sources.push_back(source_of(suite, variant, run.plan.problems.at(suite.name).front()));
  return sources;
}

}  // namespace

std::string program_below(const fs::path& folder, const std::string& word) {
  return program_path(word.find('/') == std::string::npos ? word
                                                          : (folder / word).lexically_normal().string());
}

Run planned_suite_run(const RunRequest& request, const std::string& ranges, const Registry& registry,
                      std::vector<std::string> command_line) {
  Plan plan = make_plan(request, registry, Devices::instance());
  plan.ops = ranges;
  plan.replay_limit = usual_replay_limit;
  plan.rounds = request.rounds.value_or(request.quick ? 1 : most_rounds);
  // A sample a round; the time in which rounds may begin.
  plan.stopping = {.min_samples = 1, .max_samples = 1, .max_seconds = request.rounds ? 0 : longest_timing};
  return begin_run(std::move(plan), registry, std::move(command_line));
}

void find_programs(const Suite& suite, Run& run) {
  for (const Case& c : run.cases)
    static_cast<void>(command_of(suite, program_in(suite, c.key.variant), c.key.problem));
  run.plan.sources = sources_of(suite, run);
}

void build_suite(const Suite& suite, const std::vector<std::string>& variants, const Clock& clock,
                 int interrupt_fd, const std::function<void(const std::string& command)>& begins) {
  std::set<std::vector<std::string>> built;
  for (const std::string& variant : variants) {
    const SuiteProgram& program = program_in(suite, variant);
    if (program.build.empty() || !built.insert(program.build).second) continue;
    const std::string text = fmt::format("{}", fmt::join(program.build, " "));
    begins(text);
    ProgramLaunch launch{.command = program.build,
                         .folder = suite.folder(),
                         .time_limit = longest_build,
                         .interrupt_fd = interrupt_fd};
    launch.command.front() = program_below(launch.folder, launch.command.front());
    const ProgramEnd end = run_to_end(launch, clock);
    if (end.how == ProgramEnd::How::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    if (!end.succeeded())
      throw Error(ExitCode::usage, fmt::format("{}: build of the program '{}', `{}`: {}. Its last lines:\n{}",
                                               suite.file.string(), program.name, text,
                                               how_it_ended(end, longest_build), end.output));
  }
}

void require_unchanged(const Suite& suite, const Run& run) {
  const std::vector<PluginSource> now = sources_of(suite, run);
  for (const PluginSource& source : run.plan.sources) {
    const auto same = std::ranges::find(now, source.variant, &PluginSource::variant);
    if (same != now.end() && same->checksum == source.checksum) continue;
    throw Error(
        ExitCode::incomparable,
        fmt::format("{}, or what it is run of, has changed since the run began: record a new run, or bring "
                    "the files back.",
                    source.variant));
  }
}

CaseProgram program_of_suite(const Suite& suite, const Run& run, const Case& c, const Clock& clock,
                             int interrupt_fd) {
  const SuiteProgram& program = program_in(suite, c.key.variant);
  SuiteCase of{.suite = &suite, .program = &program, .problem = c.key.problem, .clock = &clock};
  of.launch = {.command = command_of(suite, program, c.key.problem),
               .folder = folder_of(suite, program, c.key.problem),
               .time_limit = program.timeout.value_or(run.plan.timeout),
               .interrupt_fd = interrupt_fd};
  for (const auto& [name, value] : program.environment)
    of.launch.variables[name] = at_problem(value, c.key.problem);
  return {.launch = of.launch, .reader = [of](Pass pass) { return make_printed_output(of, pass); }};
}

}  // namespace mprof
