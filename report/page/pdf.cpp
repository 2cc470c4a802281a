#include "report/page/pdf.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

extern char** environ;

namespace mprof {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr std::array names{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};
constexpr std::chrono::milliseconds between_looks{20};

[[noreturn]] void fail(const std::string& message) {
  throw Error(ExitCode::environment, message);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool can_run(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> on_path(const std::string& name) {
  const std::string path = variable("PATH");
  for (std::size_t start = 0; start <= path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const fs::path file = fs::path(path.substr(start, end - start)) / name;
    if (end > start && can_run(file)) return file;
    start = end + 1;
  }
  return std::nullopt;
}

/// A folder of our own, gone with its object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "mprof-pdf-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      fail(fmt::format(
          "cannot make a folder {} to print in: {}. Let TMPDIR name a folder that can be written.", pattern,
          std::strerror(errno)));
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Chromium and the processes it starts, in a group of their own: all of them end with this object.
class Browser {
 public:
  Browser(std::vector<std::string> command, const fs::path& folder) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, (folder / "log").c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    const int error = ::posix_spawn(&pid_, arguments.front(), &files, &attributes, arguments.data(), environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (error != 0) fail(fmt::format("cannot start {}: {}.", command.front(), std::strerror(error)));
  }
  ~Browser() {
    ::kill(-pid_, SIGKILL);
    while (!ended_ && ::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Whether it ended within this time.
  [[nodiscard]] bool ends_within(Seconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!ended_ && std::chrono::steady_clock::now() < deadline) {
      ended_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
      if (!ended_) std::this_thread::sleep_for(between_looks);
    }
    return ended_;
  }

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
};

/// A path as a URL: whatever is not plain is written as %XX.
std::string file_url(const fs::path& path) {
  std::string url = "file://";
  for (const char c : fs::absolute(path).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/-._~", c) != nullptr;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

std::vector<std::string> print_command(const fs::path& chromium, const fs::path& folder) {
  std::vector<std::string> command{
      chromium.string(),
      "--headless",
      "--disable-gpu",
      "--disable-dev-shm-usage",  // containers have a small one
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-extensions",
      "--disable-sync",
      "--no-first-run",
      "--no-default-browser-check",
      "--user-data-dir=" + (folder / "profile").string(),
      "--no-pdf-header-footer",
      "--generate-pdf-document-outline",
      "--print-to-pdf=" + (folder / "page.pdf").string(),
  };
  // Chromium's sandbox cannot work for root; the page is mprof's own and its policy lets nothing in.
  if (::geteuid() == 0) command.emplace_back("--no-sandbox");
  command.push_back(file_url(folder / "page.html"));
  return command;
}

bool is_whole(std::string_view pdf) {
  constexpr std::size_t tail = 1024;  // where readers look for the end mark
  return pdf.starts_with("%PDF-") &&
         pdf.substr(pdf.size() - std::min(pdf.size(), tail)).find("%%EOF") != std::string_view::npos;
}

/// What Chromium complained of last, for an error message.
std::string last_words(const fs::path& folder) {
  std::string log = fs::exists(folder / "log") ? read_file(folder / "log") : "";
  log.erase(log.find_last_not_of(" \n\r\t") + 1);
  const std::size_t line = log.find_last_of('\n');
  const std::string last = format::one_line(line == std::string::npos ? log : log.substr(line + 1));
  return last.empty() ? "and did not say why" : "and said last: " + format::elide(last, 300);
}

}  // namespace

fs::path find_chromium() {
  const std::string chosen = variable("CHROMIUM");
  if (!chosen.empty()) {
    const auto found = chosen.find('/') == std::string::npos ? on_path(chosen) : fs::path(chosen);
    if (found && can_run(*found)) return *found;
    fail(fmt::format(
        "a report in PDF is printed by Chromium, and CHROMIUM={} names no program that can run. Let it "
        "name one, or unset it. The formats md and html need no Chromium.",
        format::one_line(chosen)));
  }
  for (const char* name : names) {
    if (const auto found = on_path(name)) return *found;
  }
  fail(fmt::format(
      "a report in PDF is printed by Chromium, and none of {} is on the PATH. Install one (Debian: apt-get "
      "install chromium), or let the environment variable CHROMIUM name it. The formats md and "
      "html need no Chromium.",
      fmt::join(names, ", ")));
}

std::string print_to_pdf(const fs::path& chromium, std::string_view html, Seconds limit) {
  const TemporaryFolder folder;
  write_file(folder.path() / "page.html", html);
  {
    Browser browser(print_command(chromium, folder.path()), folder.path());
    if (!browser.ends_within(limit)) {
      fail(fmt::format(
          "{} did not print the report within {:g} s. Try again when the machine is less busy, or print "
          "milestone.html from a browser.",
          chromium.string(), limit.count()));
    }
  }
  const fs::path file = folder.path() / "page.pdf";
  std::string pdf = fs::exists(file) ? read_file(file) : "";
  if (is_whole(pdf)) return pdf;
  fail(fmt::format(
      "{} made no PDF {}. Print milestone.html from a browser instead, or let the environment variable "
      "CHROMIUM name another one.",
      chromium.string(), last_words(folder.path())));
}

}  // namespace mprof
