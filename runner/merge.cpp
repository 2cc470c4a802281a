// SPDX-License-Identifier: MIT
#include "runner/merge.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "model/case_file.hpp"
#include "model/case_index.hpp"
#include "model/json_archive.hpp"
#include "model/parts.hpp"
#include "model/pool.hpp"
#include "model/trace/joiner.hpp"
#include "model/trace/trace.hpp"
#include "runner/plan.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of a result directory.
constexpr const char* sources_folder = "kernels";

/// What messages call a source.
std::string name_of(const MergeSource& source) {
  const std::string path = source.path.string();
  if (!source.run.shard) return path;
  return fmt::format("{} (shard {}/{})", path, source.run.shard->index, source.run.shard->count);
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ExitCode::incomparable, message);
}

/// A run whose rounds would count double.
void refuse_twice(const std::vector<MergeSource>& sources) {
  std::map<std::string, const MergeSource*> known;
  for (const MergeSource& source : sources) {
    const std::uint32_t shard = source.run.shard ? source.run.shard->index : 0;
    const auto [place, is_new] = known.emplace(fmt::format("{} {}", run_stamp(source.run), shard), &source);
    if (!is_new)
      throw Error(ExitCode::usage, fmt::format("{} and {} are one and the same run: give it once.",
                                               name_of(*place->second), name_of(source)));
  }
}

/// A plan as it is on any machine: where a source's library was built says nothing of what was built.
json::Json anywhere(Plan plan) {
  for (PluginSource& source : plan.sources) source.library.clear();
  return json::to_json(plan);
}

/// Where two plans differ, as "rounds: 5 in A, 3 in B". Of the seed hangs only the order in which cases run,
/// and inputs are compared by what is in them.
std::string difference_of_plans(const Plan& a, const Plan& b) {
  const json::Json in_a = anywhere(a), in_b = anywhere(b);
  std::vector<std::string> differences;
  std::set<std::string> fields;
  for (const json::Json& plan : {in_a, in_b}) {
    for (const auto& [field, value] : plan.items()) fields.insert(field);
  }
  const auto value = [](const json::Json& plan, const std::string& field) {
    return plan.value(field, json::Json("none"));
  };
  for (const std::string& field : fields) {
    const json::Json left = value(in_a, field), right = value(in_b, field);
    if (field == "seed" || field == "inputs" || left == right) continue;
    differences.push_back(fmt::format("{}: {} and {}", field, json::quote(left), json::quote(right)));
  }
  return fmt::format("{}", fmt::join(differences, "; "));
}

std::string share_of(const Run& run) {
  return run.shard ? fmt::format("one of {} shards", run.shard->count) : "no shard";
}

void require_one_plan(const MergeSource& first, const MergeSource& other) {
  const Tool &a = first.run.tool, &b = other.run.tool;
  if (a != b)
    refuse(fmt::format("{} was made by mprof {} ({}), and {} by {} ({}): record them with one build.",
                       name_of(first), a.version, a.revision, name_of(other), b.version, b.revision));
  const std::string plans = difference_of_plans(first.run.plan, other.run.plan);
  if (!plans.empty())
    refuse(fmt::format("{} and {} are of different plans: {}. Run the shards with the same options.",
                       name_of(first), name_of(other), plans));
  if (first.run.variants != other.run.variants || first.run.families != other.run.families)
    refuse(
        fmt::format("{} and {} describe variants or problems of one name differently: record them with "
                    "one build.",
                    name_of(first), name_of(other)));
  if (share_of(first.run) != share_of(other.run))
    refuse(fmt::format("{} is {}, and {} is {}: merge shards of one division.", first.path.string(),
                       share_of(first.run), other.path.string(), share_of(other.run)));
}

bool is_left(const Case& c) {
  return std::ranges::any_of(c.passes, [](const PassResult& pass) {
    return pass.status == Status::pending || pass.status == Status::interrupted;
  });
}

/// The first ones, and how many more.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  const std::span<const std::string> first = std::span(names).first(std::min(shown, names.size()));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > first.size()) text += fmt::format(" and {} more", names.size() - first.size());
  return text;
}

void require_through(const MergeSource& source) {
  std::vector<std::string> left;
  for (const Case& c : source.run.cases) {
    if (is_left(c)) left.push_back(c.id);
  }
  if (source.run.state == RunState::complete && left.empty()) return;
  refuse(
      fmt::format("{} is not complete: {} of its {} cases are left{}{}. Go on with it: mprof run --resume "
                  "--out {}. Or merge what is there with --incomplete.",
                  name_of(source), left.size(), source.run.cases.size(), left.empty() ? "" : ", ",
                  some_of(left), source.path.string()));
}

/// Every case of the plan must be in one of the sources.
void require_all_cases(const std::vector<Case>& planned, const std::vector<MergeSource>& sources) {
  std::set<CaseKey> present;
  std::set<std::uint32_t> shards;
  for (const MergeSource& source : sources) {
    for (const Case& c : source.run.cases) present.insert(c.key);
    if (source.run.shard) shards.insert(source.run.shard->index);
  }
  std::vector<std::string> missing;
  for (const Case& c : planned) {
    if (!present.contains(c.key)) missing.push_back(c.id);
  }
  if (missing.empty()) return;
  const std::uint32_t count = sources.front().run.shard ? sources.front().run.shard->count : 0;
  std::vector<std::string> absent;
  for (std::uint32_t i = 1; i <= count; ++i) {
    if (!shards.contains(i)) absent.push_back(fmt::format("{}/{}", i, count));
  }
  refuse(fmt::format(
      "{} of the plan's {} cases are in none of these runs: {}.{} Or merge what is there with "
      "--incomplete.",
      missing.size(), planned.size(), some_of(missing),
      absent.empty() ? " Were the shards divided by different earlier runs (--balance-by)?"
                     : fmt::format(" What is missing: shard {}. Run it with --shard.", some_of(absent))));
}

void refuse_shared_cases(const std::vector<MergeSource>& sources) {
  std::map<CaseKey, const MergeSource*> owners;
  for (const MergeSource& source : sources) {
    for (const Case& c : source.run.cases) {
      const auto [owner, is_new] = owners.emplace(c.key, &source);
      if (!is_new)
        refuse(
            fmt::format("{} is in {} and in {}: leave one of them out, or take the rounds of both with "
                        "--pool.",
                        c.id, name_of(*owner->second), name_of(source)));
    }
  }
}

void refuse_unplanned(const std::vector<Case>& planned, const std::vector<MergeSource>& sources) {
  std::set<CaseKey> known;
  for (const Case& c : planned) known.insert(c.key);
  for (const MergeSource& source : sources) {
    for (const Case& c : source.run.cases) {
      if (!known.contains(c.key))
        refuse(fmt::format("{} has {}, which is no case of its plan: the record was changed.",
                           name_of(source), c.id));
    }
  }
}

/// Rounds of one case on two GPU models are no rounds of one time.
void refuse_other_models(const std::vector<MergeSource>& sources) {
  std::map<CaseKey, std::pair<const MergeSource*, std::string>> owners;
  for (const MergeSource& source : sources) {
    const std::vector<std::string> models = gpu_models(source.run);
    if (models.empty()) continue;
    for (const Case& c : source.run.cases) {
      const auto& [owner, model] = owners.emplace(c.key, std::pair(&source, models.front())).first->second;
      if (model != models.front())
        refuse(
            fmt::format("{} was measured on {} in {} and on {} in {}, whose times do not belong in one: "
                        "leave one of them out, or compare the two runs with mprof compare.",
                        c.id, model, name_of(*owner), models.front(), name_of(source)));
    }
  }
}

/// Of a merged run those that it has, and what it measured itself since then.
void add_parts(const Run& source, std::vector<RunPart>& parts) {
  std::set<std::string_view> known;
  for (const RunPart& part : source.parts) known.insert(part.cases.begin(), part.cases.end());
  RunPart own = as_part(source);
  std::erase_if(own.cases, [&](const std::string& id) { return known.contains(id); });
  std::ranges::copy(source.parts, std::back_inserter(parts));
  if (source.parts.empty() || !own.cases.empty()) parts.push_back(std::move(own));
}

/// What all of them say; a fact that is not the same everywhere is none of the whole.
Environment common_environment(const std::vector<MergeSource>& sources) {
  Environment common;
  for (const MergeSource& source : sources) {
    for (const auto& [group, facts] : source.run.environment) {
      for (const auto& [name, fact] : facts) {
        const auto [known, is_new] = common[group].emplace(name, fact);
        if (!is_new && known->second != fact) known->second = Absent{"not the same in all merged runs"};
      }
    }
  }
  return common;
}

/// The highest of each: what the machine can do at the best.
std::vector<Ceiling> highest_ceilings(const std::vector<MergeSource>& sources) {
  std::vector<Ceiling> highest;
  for (const MergeSource& source : sources) {
    for (const Ceiling& ceiling : source.run.ceilings) {
      const auto known = std::ranges::find_if(highest, [&](const Ceiling& other) {
        return other.id == ceiling.id && other.device == ceiling.device;
      });
      if (known == highest.end())
        highest.push_back(ceiling);
      else if (ceiling.value.value_or(0) > known->value.value_or(0))
        *known = ceiling;
    }
  }
  return highest;
}

void add_inputs(std::vector<InputFile>& known, const std::vector<InputFile>& more) {
  for (const InputFile& file : more) {
    const bool is_known = std::ranges::any_of(known, [&](const InputFile& other) {
      return other.family == file.family && other.name == file.name && other.checksum == file.checksum;
    });
    if (!is_known) known.push_back(file);
  }
}

/// The record without its cases.
Run frame_of(const std::vector<MergeSource>& sources) {
  Run run = sources.front().run;
  run.cases.clear();
  run.spent.clear();
  run.parts.clear();
  run.shard.reset();
  run.environment = common_environment(sources);
  run.ceilings = highest_ceilings(sources);
  run.inputs.clear();
  for (const MergeSource& source : sources) {
    run.started = std::min(run.started, source.run.started);
    run.finished = std::max(run.finished, source.run.finished);
    add_inputs(run.inputs, source.run.inputs);
    add_parts(source.run, run.parts);
  }
  return run;
}

/// The cases of all, as the plan has them.
std::vector<Case> cases_of_all(std::vector<Case> planned, std::vector<MergeSource>& sources) {
  std::vector<Run> runs;
  for (MergeSource& source : sources) runs.push_back(std::move(source.run));
  Run all = pooled(std::move(runs));
  const CaseIndex index(all);
  for (Case& c : planned) {
    if (const auto found = index.find(c.key)) c.passes = std::move(all.cases[*found].passes);
  }
  return planned;
}

void copy_sources(const fs::path& source, const fs::path& to) {
  const fs::path from = source / sources_folder;
  std::error_code error;
  for (fs::recursive_directory_iterator file(from, error), end; file != end; file.increment(error)) {
    if (!file->is_regular_file(error)) continue;
    const fs::path name = sources_folder / fs::relative(file->path(), from);
    if (!fs::exists(to / name, error)) write_file_below(to, name, read_file_within(source, file->path()));
  }
}

void save_unfinished(Run run, ResultDirectory& directory) {
  run.state = RunState::running;
  directory.save(run);
}

}  // namespace

Run merged(std::vector<MergeSource>& sources, const MergeOptions& options) {
  std::ranges::stable_sort(sources, {}, [](const MergeSource& source) {
    return std::pair(source.run.shard ? source.run.shard->index : 0, source.run.started);
  });
  refuse_twice(sources);
  for (const MergeSource& source : sources) require_one_plan(sources.front(), source);
  const Run& first = sources.front().run;
  std::vector<Case> planned = planned_cases(first.plan, first.variants, first.families);
  refuse_unplanned(planned, sources);
  if (!options.pool) refuse_shared_cases(sources);
  refuse_other_models(sources);
  if (!options.incomplete) {
    for (const MergeSource& source : sources) require_through(source);
    require_all_cases(planned, sources);
  }
  Run run = frame_of(sources);
  run.cases = cases_of_all(std::move(planned), sources);
  run.state = std::ranges::any_of(run.cases, is_left) ? RunState::interrupted : RunState::complete;
  return run;
}

void write_merged(const Run& run, const std::vector<MergeSource>& sources, ResultDirectory& directory) {
  save_unfinished(run, directory);
  std::vector<fs::path> traces;
  for (const MergeSource& source : sources) {
    copy_sources(source.path, directory.path());
    const fs::path trace = source.path / trace::file_name;
    std::error_code error;
    if (!fs::exists(fs::symlink_status(trace, error))) continue;
    require_within(source.path, trace);
    traces.push_back(trace);
  }
  trace::add_cases(traces, directory.trace_file());
  directory.save(run);
  if (directory.load() != run)
    throw Error(ExitCode::usage,
                fmt::format("the merged run reads back from {} otherwise than it was: a record was changed "
                            "by something else than mprof. The runs that were merged are as they were.",
                            directory.path().string()));
}

}  // namespace mprof
