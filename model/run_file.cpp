// SPDX-License-Identifier: MIT
#include "model/run_file.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "model/case_file.hpp"
#include "model/derive/derive.hpp"
#include "model/json_archive.hpp"
#include "model/migrate/migrate.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/helpers.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* run_file_name = "run.json";
constexpr const char* not_run_yet = "not run yet";

/// A case in run.json. Its results stand there only when an older version wrote it.
struct IndexEntry {
  std::string id{};
  CaseKey key{};
  std::optional<std::vector<PassResult>> passes{};
};

struct RunDocument {
  Run run{};
  std::vector<IndexEntry> cases{};
};

template <class Archive, Fields<IndexEntry> S>
void fields(Archive& a, S& s) {
  a.field("id", s.id);
  fields(a, s.key);
  a.optional_field("passes", s.passes);
}

template <class Archive, Fields<RunDocument> S>
void fields(Archive& a, S& s) {
  fields(a, s.run);
  a.field("cases", s.cases);
}

RunDocument document_of(std::string text, const std::string& name, Allowance& allowance) {
  return json::from_json<RunDocument>(newest_run(std::move(text), name, allowance), name, allowance);
}

/// The ops of each problem of each family: families have many cases, and can have many problems.
class Ops {
 public:
  explicit Ops(const Run& run) {
    for (const FamilyInfo& family : run.families) {
      for (const ProblemInfo& problem : family.problems)
        ops_.emplace(std::pair(family.id, problem.problem), &problem.ops);
    }
  }
  /// None when the record describes no such problem.
  [[nodiscard]] std::vector<OpInfo> of(const CaseKey& key) const {
    const auto found = ops_.find({family_of(key.variant), key.problem});
    return found == ops_.end() ? std::vector<OpInfo>{} : *found->second;
  }

 private:
  std::map<std::pair<std::string, Problem>, const std::vector<OpInfo>*> ops_;
};

std::vector<PassResult> pending(const Plan& plan, const std::string& reason) {
  std::vector<PassResult> passes;
  for (const Pass pass : plan.passes) passes.push_back({.pass = pass, .reason = reason});
  return passes;
}

/// The run, with those cases that are not in files of their own.
Run assembled(RunDocument& document, const std::string& name) {
  Run run = std::move(document.run);
  run.schema_version = run_schema_version;
  const Ops ops(run);
  std::unordered_set<std::string> ids;
  for (std::size_t i = 0; i < document.cases.size(); ++i) {
    IndexEntry& entry = document.cases[i];
    if (!ids.insert(entry.id).second) {
      throw Error(ExitCode::usage,
                  fmt::format("{}.cases[{}].id: there is a case {} before it; ids name one case each", name,
                              i, json::quote(entry.id)));
    }
    Case& c = run.cases.emplace_back();
    c.id = std::move(entry.id);
    c.key = std::move(entry.key);
    c.ops = ops.of(c.key);
    c.passes = entry.passes ? std::move(*entry.passes) : pending(run.plan, not_run_yet);
  }
  return run;
}

void require_result_directory(const fs::path& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) {
    throw Error(ExitCode::usage, fmt::format("cannot read the run {}: {}", directory.string(),
                                             error && error != std::errc::no_such_file_or_directory
                                                 ? error.message()
                                                 : "there is no such directory"));
  }
  if (!fs::is_directory(status)) {
    throw Error(ExitCode::usage,
                fmt::format("{} is a file; give the result directory that `mprof run` made (the "
                            "folder that holds run.json)",
                            directory.string()));
  }
  if (!fs::exists(directory / run_file_name, error) && !error) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} holds no run.json, so it is no result directory of `mprof run`", directory.string()));
  }
}

void require_same(const std::string& field, const std::string& expected, const std::string& found) {
  if (found != expected) json::fail(field, json::quote(expected) + ", as run.json has it", found);
}

/// A case file that lies under another one's name, or was changed by hand, must not pass for the case.
void require_same_case(const StoredCase& stored, const Case& c, const std::string& name) {
  require_same(name + ".id", c.id, stored.id);
  require_same(name + ".variant", c.key.variant, stored.key.variant);
  require_same(name + ".problem", problem_id(c.key.problem), problem_id(stored.key.problem));
  require_same(name + ".parameters", json::to_json(c.key.parameters).dump(),
               json::to_json(stored.key.parameters).dump());
}

std::vector<PassResult> read_results(const Case& c, const Run& run, const fs::path& directory,
                                     Allowance& allowance) {
  const fs::path relative = case_file(c.id);
  const fs::path file = directory / relative;
  std::error_code error;
  if (!fs::exists(file, error) && !error) return pending(run.plan, not_run_yet);
  StoredCase stored = read_case(directory, file, allowance);
  if (stored.run != run_stamp(run)) {
    return pending(run.plan,
                   fmt::format("not run yet: {} is of another run in this directory", relative.string()));
  }
  require_same_case(stored, c, file.string());
  return std::move(stored.passes);
}

/// Calls work(i) for each i below `count`, on several threads where there are enough for that.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t share_of_thread = 8;
  std::atomic<std::size_t> next = 0;
  const auto take_turns = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> helpers = start_helpers(count, share_of_thread, take_turns);
  take_turns();
  for (std::future<void>& helper : helpers) helper.get();
}

/// A case that was read before its turn, and the memory that it took.
struct ReadAhead {
  static constexpr std::uintmax_t small_documents = std::uintmax_t{16} << 20;
  Allowance own{small_documents};
  std::optional<std::vector<PassResult>> passes{};
};

ReadAhead read_ahead(const Case& c, const Run& run, const fs::path& directory) {
  ReadAhead ahead;
  try {
    ahead.passes = read_results(c, run, directory, ahead.own);
  } catch (const Error&) {
    // It is read again when it is its turn, and that says what is wrong.
  }
  return ahead;
}

/// Of those cases that have files of their own. Several are read at once, and what comes of it, also an
/// error, is what reading one after the other gives.
void read_all_results(Run& run, std::span<const std::size_t> cases, const fs::path& directory,
                      Allowance& allowance) {
  constexpr std::size_t most_ahead = 64;
  while (!cases.empty()) {
    const auto some = cases.first(std::min(cases.size(), most_ahead));
    cases = cases.subspan(some.size());
    std::vector<ReadAhead> ahead(some.size());
    on_threads(some.size(),
               [&](std::size_t i) { ahead[i] = read_ahead(run.cases[some[i]], run, directory); });
    for (std::size_t i = 0; i < some.size(); ++i) {
      Case& c = run.cases[some[i]];
      c.passes = ahead[i].passes && allowance.join(ahead[i].own) ? std::move(*ahead[i].passes)
                                                                 : read_results(c, run, directory, allowance);
    }
  }
}

}  // namespace

std::string run_to_json(const Run& run) {
  json::Json document = json::to_json(run);
  json::Json& cases = document["cases"] = json::Json::array();
  for (const Case& c : run.cases) cases.push_back(json::to_json(IndexEntry{c.id, c.key, {}}));
  return json::print(document);
}

Run parse_run(std::string_view text, const std::string& name) {
  Allowance allowance;
  RunDocument document = document_of(std::string(text), name, allowance);
  return assembled(document, name);
}

Run read_record(const fs::path& directory) {
  require_result_directory(directory);
  const fs::path file = directory / run_file_name;
  Allowance allowance;
  RunDocument document =
      document_of(read_file_within(directory, file, json::largest_document), file.string(), allowance);
  std::vector<std::size_t> in_files;
  for (std::size_t i = 0; i < document.cases.size(); ++i) {
    if (!document.cases[i].passes) in_files.push_back(i);
  }
  Run run = assembled(document, file.string());
  read_all_results(run, in_files, directory, allowance);
  return run;
}

Run read_run(const fs::path& directory) {
  Run run = read_record(directory);
  derive(run, directory);
  return run;
}

TracedRun read_traced_run(const fs::path& directory, const trace::Parts& parts) {
  TracedRun traced{.run = read_record(directory)};
  traced.trace = derive_and_keep_trace(traced.run, directory, parts);
  return traced;
}

void write_run(const Run& run, const fs::path& directory) {
  write_file(directory / run_file_name, run_to_json(run));
}

void write_case(const Case& c, std::string_view stamp, const fs::path& directory) {
  write_file_below(directory, case_file(c.id), case_to_json(c, stamp));
}

void write_record(const Run& run, const fs::path& directory) {
  write_run(run, directory);
  for (const Case& c : run.cases) {
    if (has_results(c)) write_case(c, run_stamp(run), directory);
  }
}

}  // namespace mprof
