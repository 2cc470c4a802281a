// SPDX-License-Identifier: MIT
#include "model/migrate/migrate.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/json_archive.hpp"
#include "model/json_faults.hpp"
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
json::Document newest(std::string text, const std::string& name, const std::string& kind,
                      const std::array<Step, n>& steps, Allowance& allowance) {
  const int last = static_cast<int>(n) + 1;
  json::Document document(std::move(text), name, allowance);
  const int written = require_version(document.root(), name, kind, {1, last});
  if (written == last) return document;
  if (!allowance.hold(document.bytes() + document.tree_bytes())) json::refuse_size(name);
  Json tree = document.root().tree();
  for (int from = written; from < last; ++from) {
    tree = steps.at(static_cast<std::size_t>(from) - 1)(std::move(tree));
    tree["schema_version"] = static_cast<unsigned>(from) + 1;  // as a parser would have it
  }
  document = json::Document::of_tree(tree, name, allowance);
  json::empty(tree);
  if (!allowance.hold(document.bytes())) json::refuse_size(name);
  return document;
}

/// " by mprof 0.9.0", where the document says so.
std::string by_whom(const json::Value& document) {
  const auto tool = document.find("tool");
  if (!tool || !tool->is_object()) return "";
  const auto by = tool->find("version");
  return by && by->is_text() ? " by mprof " + json::quote(*by) : "";
}

}  // namespace

int require_version(const json::Value& document, const std::string& name, const std::string& kind,
                    Versions versions) {
  const auto version_field = document.is_object() ? document.find("schema_version") : std::nullopt;
  if (!version_field) {
    throw Error(ExitCode::usage,
                fmt::format("{}: this is JSON, but no {} (it has no schema_version)", name, kind));
  }
  int found = 0;
  Allowance allowance;
  json::read(*version_field, json::Place(name, allowance).member("schema_version"), found);
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

json::Document newest_run(std::string text, const std::string& name, Allowance& allowance) {
  return newest(std::move(text), name, "run record of mprof", run_steps, allowance);
}

json::Document newest_sanitizer_record(std::string text, const std::string& name, Allowance& allowance) {
  return newest(std::move(text), name, "record of `mprof sanitize`", sanitizer_steps, allowance);
}

}  // namespace mprof
