// SPDX-License-Identifier: MIT
#include "runner/result_directory.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <functional>
#include <system_error>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "kernels/sources.hpp"
#include "model/case_file.hpp"
#include "model/run_file.hpp"
#include "model/trace/writer.hpp"
#include "runner/source/parts.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Where runs without --out go.
constexpr const char* results_folder = "results";

/// Whether the directory has files that mprof did not make. A run that was killed at its very beginning
/// leaves the temporary file of its first record, and nothing else. One that is merged from shards has them
/// beside it.
bool holds_others_files(const fs::path& path) {
  std::error_code error;
  const fs::directory_iterator entries(path, error);
  return std::any_of(begin(entries), end(entries), [](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    return !is_temporary_name(name) && name != shards_folder;
  });
}

/// What one can do about a run that is there.
std::string ways_on(ResultDirectory::Offers offers) {
  std::string ways;
  if (offers.resume) ways += "go on with it by --resume, ";
  if (offers.overwrite) ways += "replace it by --overwrite, ";
  return ways + (ways.empty() ? "choose another directory" : "or choose another directory");
}

}  // namespace

bool holds_a_run(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "run.json", error);
}

void ResultDirectory::require(const fs::path& path, Mode mode, Offers offers) {
  std::error_code error;
  const bool exists = fs::exists(path, error);
  if (exists && !fs::is_directory(path, error)) {
    throw Error(ExitCode::usage, fmt::format("--out {}: this is a file; give a directory", path.string()));
  }
  const bool is_run = exists && holds_a_run(path);
  if (mode == Mode::resume && !is_run) {
    throw Error(
        ExitCode::usage,
        fmt::format(
            "--resume: {} holds no run.json, so there is nothing to go on with; leave --resume out to start",
            path.string()));
  }
  if (mode == Mode::create && is_run) {
    throw Error(ExitCode::usage,
                fmt::format("--out {}: it holds a run already; {}", path.string(), ways_on(offers)));
  }
  const bool foreign = exists && !is_run && holds_others_files(path);
  if (foreign) {
    throw Error(ExitCode::usage,
                fmt::format("--out {}: the directory has files in it that are no run of mprof; choose "
                            "another one",
                            path.string()));
  }
}

ResultDirectory::ResultDirectory(fs::path path, Mode mode, Offers offers)
    : path_(std::move(path)), mode_(mode) {
  require(path_, mode, offers);
  if (const std::error_code error = make_folders(path_)) {
    throw Error(ExitCode::environment,
                fmt::format("cannot make the result directory {}: {}. Choose another one with --out.",
                            path_.string(), error.message()));
  }
  lock_.emplace(path_);
  if (mode_ == Mode::resume) trace::recover_trace(trace_file());
}

Run ResultDirectory::load() const {
  return read_record(path_);
}

void ResultDirectory::save_sources(const Run& run) const {
  for (const PluginSource& source : run.plan.sources) {
    const std::vector<fs::path> parts = parts_of(source.path);
    const std::string id = source.family.empty() ? source.variant : source.family + "/family";
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::string name = parts[i].filename().string();
      const bool is_taken = std::any_of(parts.begin() + 1, parts.begin() + static_cast<std::ptrdiff_t>(i),
                                        [&](const fs::path& part) { return part.filename() == name; });
      write_file_below(path_,
                       fs::path("kernels") / (is_taken ? fmt::format("{}+{}-{}", id, i + 1, name)
                                                       : fmt::format("{}+{}", id, name)),
                       read_file(parts[i]));
    }
    for (const char* ending : {"", ".md", ".svg"}) {
      const fs::path file =
          *ending == '\0' ? parts.front() : fs::path(parts.front()).replace_extension(ending);
      const fs::path kept = fs::path("kernels") / (id + file.extension().string());
      std::error_code error;
      if (file.extension() != ".so" && fs::is_regular_file(file, error))
        write_file_below(path_, kept, read_file(file));
    }
  }
  for (const VariantInfo& variant : run.variants) {
    for (const std::string& file : {variant.source_file, variant.id + ".md", variant.id + ".svg"}) {
      if (const auto text = source_text(file)) write_file_below(path_, fs::path("kernels") / file, *text);
    }
  }
}

void ResultDirectory::save(const Run& run) {
  const bool is_first = stamp_.empty();
  stamp_ = run_stamp(run);
  // An older mprof kept the results in the file that is written next.
  if (is_first && mode_ == Mode::resume) keep_results(run);
  write_run(run, path_);
  if (!is_first || mode_ == Mode::resume) return;
  if (mode_ == Mode::overwrite) remove_replaced_run();
  keep_results(run);
}

void ResultDirectory::save(const Case& c) {
  write_case(c, stamp_, path_);
  written_[c.id] = std::hash<std::string>()(case_to_json(c, stamp_));
}

bool ResultDirectory::was_changed(const Case& c) const {
  const auto written = written_.find(c.id);
  if (written == written_.end()) return false;
  try {
    return std::hash<std::string>()(read_file_within(path_, path_ / case_file(c.id))) != written->second;
  } catch (const Error&) {
    return true;  // it is gone, or cannot be read any more
  }
}

/// Until it is done, the old case files are no danger: they carry the stamp of their run.
void ResultDirectory::remove_replaced_run() const {
  std::error_code ignored;  // there is none, mostly
  fs::remove_all(path_ / case_folder, ignored);
  for (const char* file : {"trace.sqlite", "trace.sqlite-journal", "sanitizer.json", "check.json"})
    fs::remove(path_ / file, ignored);
}

void ResultDirectory::keep_results(const Run& run) {
  std::error_code error;
  for (const Case& c : run.cases) {
    if (has_results(c) && !fs::exists(path_ / case_file(c.id), error)) save(c);
  }
}

fs::path default_result_path(const std::string& utc_time, const std::string& device_name) {
  std::string name = utc_time;
  std::replace(name.begin(), name.end(), ':', '-');
  name += '-';
  for (const char c : device_name) {
    const auto byte = static_cast<unsigned char>(c);
    const char next = std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '-';
    if (next != '-' || name.back() != '-') name += next;
  }
  name.erase(name.find_last_not_of('-') + 1);
  return fs::path(results_folder) / name;
}

fs::path newest_result() {
  fs::path newest;
  fs::file_time_type written;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(results_folder, error)) {
    const auto at = fs::last_write_time(entry.path() / "run.json", error);
    if (error || (!newest.empty() && at <= written)) continue;
    newest = entry.path();
    written = at;
  }
  if (!newest.empty()) return newest;
  throw Error(ExitCode::usage,
              fmt::format("there is no run below {}/: give the directory of a run.", results_folder));
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace mprof
