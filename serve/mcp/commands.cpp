// SPDX-License-Identifier: MIT
#include "serve/mcp/commands.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/registry.hpp"
#include "model/compact_json.hpp"
#include "model/json_archive.hpp"
#include "report/text/format.hpp"
#include "serve/mcp/root.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/programs.hpp"
#include "system/random_name.hpp"
#include "system/suggest.hpp"

namespace mprof::mcp {
namespace {

namespace fs = std::filesystem;

void require_allowed(bool is_allowed, const char* what, const char* option) {
  if (!is_allowed)
    throw Trouble("not_allowed", fmt::format("This server may not {}.", what),
                  fmt::format("Whoever starts it may add --allow {}.", option));
}

/// A value of an option, as one word: nothing that it holds is another option.
std::string option(const char* name, const std::string& value) {
  return fmt::format("--{}={}", name, value);
}

/// Of no other job, now or later. Throws Trouble where results leads out of the root.
std::string new_run(const char* tool) {
  require_folder_or_nothing("results");
  return fmt::format("results/{}-{}", tool, random_name().substr(0, 8));
}

double limit_of(const Json& arguments, const ServerOptions& options) {
  return std::min(options.budget, arguments.value("budget_s", static_cast<double>(usual_job_s)));
}

std::string joined_passes(const Json& arguments) {
  return fmt::format("{}", fmt::join(arguments["passes"].get<std::vector<std::string>>(), ","));
}

/// The program itself is below the root, or one that PATH has.
void require_program(const std::string& program, const std::string& folder) {
  if (program.find('/') == std::string::npos) {
    if (!find_program(program, search_path(environment_variable("PATH"))))
      throw Trouble("not_found", fmt::format("PATH has no program '{}'.", foreign(program, 96)),
                    "Give its path below the root.");
    return;
  }
  require_file_below(folder.empty() ? program : folder + "/" + program);
}

/// The axes of all families, each once.
std::vector<std::string> known_axes() {
  std::set<std::string> axes;
  for (const Family* const family : Registry::instance().families()) {
    for (const AxisInfo& axis : family->info().axes) axes.insert(axis.name);
  }
  return {axes.begin(), axes.end()};
}

[[noreturn]] void refuse_problem(const std::string& problem, const std::string& why,
                                 const std::vector<std::string>& axes) {
  throw Trouble("bad_argument", fmt::format("The problem '{}': {}", foreign(problem, 96), why),
                fmt::format("Give AXIS=NUMBER for each axis, such as batch=1000 or size=64,iterations=1. "
                            "The axes are {}.",
                            format::list(axes)));
}

/// "batch=1000" or "size=64,iterations=1". Each part is a value of --problem, so that none can be another
/// option.
void add_axes(const std::string& problem, std::vector<std::string>& command) {
  const std::vector<std::string> axes = known_axes();
  for (std::size_t begin = 0; begin <= problem.size();) {
    const std::size_t end = std::min(problem.find(',', begin), problem.size());
    const std::string part = problem.substr(begin, end - begin);
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string axis = part.substr(0, equals);
    const std::string value = equals < part.size() ? part.substr(equals + 1) : "";
    if (std::ranges::find(axes, axis) == axes.end())
      refuse_problem(
          problem, fmt::format("no family has an axis '{}'.{}", foreign(axis, 48), did_you_mean(axis, axes)),
          axes);
    if (value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      refuse_problem(problem, fmt::format("'{}' has no whole number.", foreign(part, 48)), axes);
    command.push_back(option("problem", part));
    begin = end + 1;
  }
}

}  // namespace

JobRequest profile_request(const Json& arguments, const ServerOptions& options) {
  require_allowed(options.may_measure, "run programs", "measure");
  const auto program = arguments["program"].get<std::vector<std::string>>();
  const std::string folder = arguments.value("cwd", "");
  if (!folder.empty()) static_cast<void>(OpenedDirectory(folder));
  require_program(program.front(), folder);
  JobRequest request{.limit = limit_of(arguments, options), .run = new_run("profile")};
  request.command = options.sandbox;
  const fs::path here = fs::current_path();
  for (const std::string& word :
       {own_program().string(), std::string("run"), option("out", (here / request.run).string()),
        option("timeout", fmt::format("{:g}", request.limit))})
    request.command.push_back(word);
  if (arguments.contains("passes")) request.command.push_back(option("passes", joined_passes(arguments)));
  if (arguments.contains("ops"))
    request.command.push_back(option("ops", arguments["ops"].get<std::string>()));
  if (arguments.contains("rounds"))
    request.command.push_back(option("rounds", std::to_string(arguments["rounds"].get<int>())));
  request.command.emplace_back("--");
  request.command.insert(request.command.end(), program.begin(), program.end());
  request.working_folder = folder;
  return request;
}

JobRequest judge_request(const Json& arguments, const ServerOptions& options) {
  require_allowed(options.may_measure, "run programs", "measure");
  require_allowed(options.may_compile, "compile sources", "compile");
  JobRequest request{.limit = limit_of(arguments, options) + compile_s, .run = new_run("judge")};
  std::string file;
  if (arguments.contains("source")) {
    file = arguments["source"].get<std::string>();
    require_file_below(file);
    if (file.starts_with('-')) file = "./" + file;
  } else {
    request.folder = std::make_shared<const TemporaryFolder>("mprof-judge");
    file = (request.folder->path() / fmt::format("candidate.{}", arguments.value("language", "cu"))).string();
    write_file(file, arguments["code"].get<std::string>());
  }
  // What stands around the verdict takes some of the answer's bytes.
  constexpr std::size_t around = 2048;
  const std::size_t bytes = std::max(fewest_bytes, arguments.value("max_bytes", options.bytes) - around);
  request.command = {own_program().string(),
                     "judge",
                     file,
                     "--json",
                     option("out", request.run),
                     option("budget", fmt::format("{:g}", limit_of(arguments, options))),
                     option("max-bytes", std::to_string(bytes))};
  if (arguments.contains("against"))
    request.command.push_back(option("against", arguments["against"].get<std::string>()));
  if (arguments.contains("problem")) add_axes(arguments["problem"].get<std::string>(), request.command);
  if (arguments.contains("passes")) request.command.push_back(option("passes", joined_passes(arguments)));
  if (options.trusts_sources) request.command.emplace_back("--no-sandbox");
  return request;
}

std::string key_of_call(const std::string& tool, const Json& arguments) {
  if (arguments.contains("key")) return "named " + arguments["key"].get<std::string>();
  Json same = arguments;
  same.erase("max_bytes");
  std::string text = tool + json::compact(same);
  if (arguments.contains("source")) text += read_below(arguments["source"].get<std::string>(), longest_code);
  return text;
}

namespace {

/// The document that a job printed, or null.
Json printed(const std::string& output) {
  try {
    return json::parse(output, "the output");
  } catch (const Error&) {
    return nullptr;
  }
}

/// "right, faster": what the verdict of a source comes to, in words of the schema; empty: there is none.
std::string came_to(const Json& verdict) {
  std::string text;
  for (const char* member : {"status", "verdict"}) {
    const auto found = verdict.is_object() ? verdict.find(member) : verdict.end();
    if (found == verdict.end() || !found->is_string() || !is_plain(found->get<std::string>())) continue;
    text += (text.empty() ? "" : ", ") + found->get<std::string>();
  }
  return text;
}

std::string sentence_of(const JobView& job, const Json& verdict) {
  switch (job.state) {
    case JobState::queued:
      return fmt::format("The job waits; {} before it.", format::plural(job.position - 1, "job"));
    case JobState::running:
      return fmt::format("The job has run for {:.0f} s.", job.seconds);
    case JobState::done:
      if (const std::string what = came_to(verdict); !what.empty())
        return fmt::format("The source is judged, after {:.0f} s: {}.", job.seconds, what);
      return fmt::format("The job is done, after {:.0f} s.", job.seconds);
    case JobState::failed:
      return "The job failed.";
    case JobState::cancelled:
      return "The job was cancelled.";
  }
  return "";
}

Json call(const char* tool, Json arguments) {
  return {{"tool", tool}, {"arguments", std::move(arguments)}};
}

/// What mprof said last is why, where it refused to begin.
Json error_of(const JobView& job) {
  constexpr std::string_view by_mprof = "mprof: ";
  const bool was_refused = (job.exit_code == static_cast<int>(ExitCode::usage) ||
                            job.exit_code == static_cast<int>(ExitCode::environment)) &&
                           !job.log.empty() && job.log.back().starts_with(by_mprof);
  return was_refused
             ? Trouble("failed", job.log.back().substr(by_mprof.size()),
                       "Change what it names, and start another job.")
                   .document()
             : Trouble("failed", job.error, "Change the program or the budget, and start another job.")
                   .document();
}

bool is_run(const std::string& path) {
  return has_file_below(path + "/run.json");
}

/// Where an ended job left a run: in its folder, or in a part of it that the verdict names; empty: nowhere.
std::string run_of(const JobView& job, const Json& verdict) {
  if (!job.has_ended()) return {};
  if (is_run(job.run)) return job.run;
  const std::string named = verdict.is_object() && verdict.contains("run") && verdict["run"].is_string()
                                ? verdict["run"].get<std::string>()
                                : "";
  return named.starts_with(job.run + "/") && is_plain(named) && is_run(named) ? named : "";
}

}  // namespace

Json job_document(const std::string& tool, const JobView& job, std::size_t bytes) {
  Json document{{"schema", fmt::format("mprof.{}/1", tool)}};
  Json verdict = job.tool == "judge" && job.has_ended() ? printed(job.output) : Json();
  const std::string run = run_of(job, verdict);
  const bool has_run = !run.empty();
  if (has_run) document["run"] = run;
  document["answer"] = sentence_of(job, verdict);
  document["job"] = job.id;
  document["state"] = to_string(job.state);
  if (job.state == JobState::queued) document["position"] = job.position;
  document["seconds"] = number(job.seconds);
  document["log"] = job.log;
  if (job.exit_code) document["exit_code"] = *job.exit_code;
  if (!job.error.empty()) document["error"] = error_of(job);
  document["absent"] = Json::array();
  document["next"] = Json::array();
  document["untrusted"] = {"absent", "log", "error", "result"};
  if (!job.has_ended()) document["next"].push_back(call("job", {{"id", job.id}, {"wait_s", longest_wait_s}}));
  if (has_run) document["next"].push_back(call("summary", {{"run", run}}));
  if (job.tool != "judge" && job.has_ended() && !has_run && job.state != JobState::cancelled)
    document["absent"].push_back(
        {{"what", "a run"}, {"why", "the job left none"}, {"how", "Its log says more."}});
  if (job.tool == "judge" && job.has_ended()) {
    document["result"] = verdict;
    const std::size_t size = size_of(document);
    if (!verdict.is_object() || size > bytes) {
      document.erase("result");
      document["absent"].push_back(
          {{"what", "the verdict"},
           {"why", verdict.is_object() ? fmt::format("it has {} bytes", size) : "mprof judge printed none"},
           {"how", verdict.is_object() ? "Ask job with a larger max_bytes." : "Its log says more."}});
    }
  }
  Json& log = document["log"];
  while (size_of(document) > bytes && !log.empty()) log.erase(0);
  return document;
}

}  // namespace mprof::mcp
