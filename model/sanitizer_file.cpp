// SPDX-License-Identifier: MIT
#include "model/sanitizer_file.hpp"

#include <system_error>
#include <utility>

#include "model/json_archive.hpp"
#include "model/migrate/migrate.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

constexpr const char* older_name = "check.json";  // of schema version 1

}  // namespace

template <class Archive, Fields<SanitizerResult> S>
void fields(Archive& a, S& s) {
  a.field("variant", s.variant);
  a.field("tool", s.tool);
  a.field("problem", s.problem);
  a.field("status", s.status);
  a.optional_field("reason", s.reason);
  a.optional_field("errors", s.errors);
  a.optional_field("warnings", s.warnings);
  a.optional_field("first_report", s.first_report);
  a.field("started", s.started);
  a.optional_field("seconds", s.seconds);
  a.field("mprof", s.mprof);
  a.optional_field("device", s.device);
  a.optional_field("sanitizer", s.sanitizer);
  a.optional_field("command", s.command);
}

template <class Archive, Fields<SanitizerRecord> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("results", s.results);
}

namespace {

SanitizerRecord record_of(std::string text, const std::string& name, Allowance& allowance) {
  return json::from_json<SanitizerRecord>(newest_sanitizer_record(std::move(text), name, allowance), name,
                                          allowance);
}

}  // namespace

std::string sanitizer_record_to_json(const SanitizerRecord& record) {
  return json::print(json::to_json(record));
}

SanitizerRecord parse_sanitizer_record(std::string_view text, const std::string& name) {
  Allowance allowance;
  return record_of(std::string(text), name, allowance);
}

std::filesystem::path sanitizer_file(const std::filesystem::path& directory) {
  return directory / "sanitizer.json";
}

std::optional<SanitizerRecord> read_sanitizer_record(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty()) return std::nullopt;
  for (const auto& candidate : {file, file.parent_path() / older_name}) {
    if (!std::filesystem::exists(candidate, error)) continue;
    Allowance allowance;
    return record_of(read_file_within(file.parent_path(), candidate, json::largest_document),
                     candidate.string(), allowance);
  }
  return std::nullopt;
}

void write_sanitizer_record(const SanitizerRecord& record, const std::filesystem::path& file) {
  write_file(file, sanitizer_record_to_json(record));
}

}  // namespace mprof
