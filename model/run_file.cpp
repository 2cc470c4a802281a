#include "model/run_file.hpp"

#include <system_error>

#include <fmt/core.h>

#include "model/json_archive.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* run_file_name = "run.json";

}  // namespace

std::string run_to_json(const Run& run) {
  return json::print(json::to_json(run));
}

Run parse_run(std::string_view text, const std::string& name) {
  const json::Json document = json::parse(text, name);
  if (!document.is_object() || !document.contains("schema_version")) {
    throw Error(ExitCode::usage,
                name + ": this is JSON, but no run record of mprof (it has no schema_version)");
  }
  int version = 0;
  json::read(document["schema_version"], name + ".schema_version", version);
  if (version != run_schema_version) {
    throw Error(ExitCode::usage, fmt::format("{}: schema version {}, and this mprof reads version {}: {}",
                                             name, version, run_schema_version,
                                             version > run_schema_version
                                                 ? "use the newer mprof that wrote it"
                                                 : "it was written by an older mprof; record it again"));
  }
  return json::from_json<Run>(document, name);
}

Run read_run(const fs::path& directory) {
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
  const fs::path file = directory / run_file_name;
  if (!fs::exists(file, error) && !error) {
    throw Error(
        ExitCode::usage,
        fmt::format("{} holds no run.json, so it is no result directory of `mprof run`", directory.string()));
  }
  return parse_run(read_file(file), file.string());
}

void write_run(const Run& run, const fs::path& directory) {
  write_file(directory / run_file_name, run_to_json(run));
}

}  // namespace mprof
