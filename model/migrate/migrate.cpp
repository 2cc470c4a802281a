// SPDX-License-Identifier: MIT
#include "model/migrate/migrate.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "model/json_archive.hpp"
#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "model/version.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// Makes a document of one version from one of the version before.
using Step = Json (*)(Json);

constexpr std::array<Step, run_schema_version - 1> run_steps{migrate_1_to_2};
constexpr std::array<Step, sanitizer_schema_version - 1> sanitizer_steps{migrate_sanitizer_1_to_2};

template <std::size_t n>
Json migrate(Json document, const std::string& name, const std::string& kind,
             const std::array<Step, n>& steps) {
  const int newest = static_cast<int>(n) + 1;
  const int written = require_version(document, name, kind, {1, newest});
  for (int from = written; from < newest; ++from) {
    document = steps.at(static_cast<std::size_t>(from) - 1)(std::move(document));
    document["schema_version"] = static_cast<unsigned>(from) + 1;  // as a parser would have it
  }
  return document;
}

/// " by mprof 0.9.0", where the document says so.
std::string by_whom(const Json& document) {
  const auto tool = document.find("tool");
  if (tool == document.end() || !tool->is_object()) return "";
  const auto by = tool->find("version");
  return by != tool->end() && by->is_string() ? " by mprof " + json::quote(*by) : "";
}

}  // namespace

int require_version(const Json& document, const std::string& name, const std::string& kind,
                    Versions versions) {
  if (!document.is_object() || !document.contains("schema_version")) {
    throw Error(ExitCode::usage,
                fmt::format("{}: this is JSON, but no {} (it has no schema_version)", name, kind));
  }
  int found = 0;
  Allowance allowance;
  json::read(document["schema_version"], json::Place(name, allowance).member("schema_version"), found);
  if (found > versions.newest) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: it was written in schema version {}{}, and this mprof ({}) reads versions up to "
                    "{}: use the newer mprof that wrote it",
                    name, found, by_whom(document), version, versions.newest));
  }
  if (found < versions.oldest) {
    throw Error(
        ExitCode::usage,
        fmt::format("{}: schema version {}, and the oldest that there is of a {} is {}: something else "
                    "wrote it; put the file of the run there",
                    name, found, kind, versions.oldest));
  }
  return found;
}

Json migrate_run(Json document, const std::string& name) {
  return migrate(std::move(document), name, "run record of mprof", run_steps);
}

Json migrate_sanitizer_record(Json document, const std::string& name) {
  return migrate(std::move(document), name, "record of `mprof sanitize`", sanitizer_steps);
}

}  // namespace mprof
