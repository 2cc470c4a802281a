#include "model/run_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "model/error.hpp"
#include "model/json_archive.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* run_file_name = "run.json";

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const char* next = error == ENOSPC || error == EDQUOT ? "free some space, or write elsewhere with --out"
                                                        : "choose another place with --out";
  throw Error(ExitCode::environment,
              fmt::format("cannot write {}: {}. What was there before is unchanged; {}.", path.string(),
                          std::strerror(error), next));
}

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  /// close() itself can report a write that failed late.
  [[nodiscard]] int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

int write_all(int fd, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(fd, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// Returns 0 or the errno of the first step that failed.
int write_durably(const fs::path& path, std::string_view contents) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return errno;
  if (const int error = write_all(file.get(), contents)) return error;
  if (::fsync(file.get()) != 0) return errno;
  return file.close() == 0 ? 0 : errno;
}

void sync_directory(const fs::path& directory) {
  const Descriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() >= 0) ::fsync(handle.get());
}

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

std::string read_file(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: it is a directory, not a file", path.string()));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream contents;
  if (file) contents << file.rdbuf();
  if (!file && errno != 0) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  return std::move(contents).str();
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

void write_file(const fs::path& path, std::string_view contents) {
  std::error_code error;
  const fs::path directory = path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::create_directories(directory, error);
  if (error) fail_to_write(path, error.value());
  const fs::path temporary = path.string() + ".tmp";
  if (const int failure = write_durably(temporary, contents)) {
    fs::remove(temporary, error);
    fail_to_write(path, failure);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int failure = errno;
    fs::remove(temporary, error);
    fail_to_write(path, failure);
  }
  sync_directory(directory);
}

void write_run(const Run& run, const fs::path& directory) {
  write_file(directory / run_file_name, run_to_json(run));
}

}  // namespace mprof
