#include "model/sanitizer_file.hpp"

#include <system_error>

#include <fmt/core.h>

#include "model/json_archive.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {

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

std::string sanitizer_record_to_json(const SanitizerRecord& record) {
  return json::print(json::to_json(record));
}

SanitizerRecord parse_sanitizer_record(std::string_view text, const std::string& name) {
  const json::Json document = json::parse(text, name);
  if (!document.is_object() || !document.contains("schema_version")) {
    throw Error(ExitCode::usage,
                name +
                    ": this is JSON, but no record of `mprof sanitize` (it has no schema_version). Move it "
                    "away, and make a new one with `mprof sanitize`.");
  }
  int version = 0;
  json::read(document["schema_version"], name + ".schema_version", version);
  if (version != sanitizer_schema_version) {
    throw Error(ExitCode::usage, fmt::format("{}: schema version {}, and this mprof reads version {}: {}",
                                             name, version, sanitizer_schema_version,
                                             version > sanitizer_schema_version
                                                 ? "use the newer mprof that wrote it"
                                                 : "run the variants again with `mprof sanitize`"));
  }
  return json::from_json<SanitizerRecord>(document, name);
}

std::filesystem::path sanitizer_file(const std::filesystem::path& directory) {
  return directory / "sanitizer.json";
}

std::optional<SanitizerRecord> read_sanitizer_record(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  return parse_sanitizer_record(read_file(file), file.string());
}

void write_sanitizer_record(const SanitizerRecord& record, const std::filesystem::path& file) {
  write_file(file, sanitizer_record_to_json(record));
}

}  // namespace mprof
