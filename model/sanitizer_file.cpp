#include "model/sanitizer_file.hpp"

#include <system_error>

#include <fmt/core.h>

#include "model/json_archive.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {

template <class Archive, Fields<CheckResult> S>
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

template <class Archive, Fields<Check> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("results", s.results);
}

std::string check_to_json(const Check& check) {
  return json::print(json::to_json(check));
}

Check parse_check(std::string_view text, const std::string& name) {
  const json::Json document = json::parse(text, name);
  if (!document.is_object() || !document.contains("schema_version")) {
    throw Error(ExitCode::usage,
                name +
                    ": this is JSON, but no record of `mprof check` (it has no schema_version). Move it "
                    "away, and make a new one with `mprof check`.");
  }
  int version = 0;
  json::read(document["schema_version"], name + ".schema_version", version);
  if (version != check_schema_version) {
    throw Error(ExitCode::usage,
                fmt::format("{}: schema version {}, and this mprof reads version {}: {}", name, version,
                            check_schema_version,
                            version > check_schema_version ? "use the newer mprof that wrote it"
                                                           : "check the run again with `mprof check`"));
  }
  return json::from_json<Check>(document, name);
}

std::filesystem::path check_file(const std::filesystem::path& directory) {
  return directory / "check.json";
}

std::optional<Check> read_check(const std::filesystem::path& file) {
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  return parse_check(read_file(file), file.string());
}

void write_check(const Check& check, const std::filesystem::path& file) {
  write_file(file, check_to_json(check));
}

}  // namespace mprof
