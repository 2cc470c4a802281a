// SPDX-License-Identifier: MIT
#include "system/sandbox.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"
#include "system/strays.hpp"

extern char** environ;

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kib = 1024, gib = std::uint64_t{1} << 30;
constexpr double probe_limit = 20;  // s
constexpr std::uint64_t most_open_files = 1024;
constexpr std::uint64_t scratch = gib;  // B, of each folder in memory
constexpr auto guard_step = std::chrono::milliseconds(50);
constexpr std::uint64_t kept_for_others = gib / 4;  // B, of the machine's memory

/// What a compiler, a loader or a library of mathematics reads; nothing that could be a secret.
constexpr std::array<std::string_view, 14> passed_on{"PATH=",         "LANG=",          "LC_",   "CUDA_",
                                                     "NVIDIA_",       "NVCC_",          "CXX=",  "OMP_",
                                                     "KMP_",          "GOMP_",          "DNNL_", "ONEDNN_",
                                                     "OPENBLAS_NUM_", "GLIBC_TUNABLES="};
constexpr std::array<std::string_view, 2> library_paths{"LD_LIBRARY_PATH=", "LIBRARY_PATH="};

std::string folder_of(pid_t pid) {
  return fmt::format("/proc/{}/", pid);
}

/// Of a file that the kernel makes. What cannot be read is left out, as when its process ends meanwhile: a
/// buffer that is read without its stream would throw then.
std::string text_in(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The number behind `name`, with which a line begins; 0 where none does.
std::uint64_t number_in(const std::string& text, const std::string& name) {
  const std::size_t at = text.starts_with(name) ? 0 : text.find("\n" + name);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + text.find(name, at) + name.size(), nullptr, 10);
}

std::uint64_t memory_of_machine(const std::string& name) {
  return number_in(text_in("/proc/meminfo"), name) * kib;
}

void add(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

void add_system(std::vector<std::string>& words) {
  add(words, {"--ro-bind", "/usr", "/usr"});
  for (const char* name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
    std::error_code error;
    if (fs::is_symlink(name, error))
      add(words, {"--symlink", fs::read_symlink(name, error).string(), name});
    else if (fs::exists(name, error))
      add(words, {"--ro-bind", name, name});
  }
  for (const char* name : {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
                           "/etc/OpenCL", "/sys/devices", "/sys/module", "/sys/bus/pci"})
    add(words, {"--ro-bind-try", name, name});
}

/// The GPU's nodes, which are not there without one.
void add_devices(std::vector<std::string>& words) {
  add(words, {"--proc", "/proc", "--dev", "/dev"});
  std::error_code error;
  for (fs::directory_iterator entry("/dev", error), end; entry != end && !error; entry.increment(error)) {
    const std::string path = entry->path().string();
    if (path.starts_with("/dev/nvidia")) add(words, {"--dev-bind-try", path, path});
  }
  for (const char* folder : {"/dev/shm", "/tmp"})
    add(words, {"--size", std::to_string(scratch), "--tmpfs", folder});
}

void add_variables(std::vector<std::string>& words) {
  add(words, {"--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp"});
  const auto begins = [](std::string_view entry) {
    return [entry](std::string_view name) { return entry.starts_with(name); };
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!std::ranges::any_of(passed_on, begins(text)) && !std::ranges::any_of(library_paths, begins(text)))
      continue;
    const std::size_t equals = text.find('=');
    add(words, {"--setenv", std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
}

/// Folders with libraries that variables name, and toolkits that are not below /usr.
std::vector<fs::path> folders_of_libraries() {
  std::vector<fs::path> folders = search_path(environment_variable("LD_LIBRARY_PATH"));
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string folder = environment_variable(variable); !folder.empty())
      folders.emplace_back(folder);
  }
  std::erase_if(folders, [](const fs::path& folder) { return !folder.is_absolute(); });
  return folders;
}

void add_views(std::vector<std::string>& words, std::vector<fs::path> paths, const char* how) {
  std::ranges::sort(paths);  // what lies within another comes behind it
  for (const fs::path& path : paths) {
    std::error_code error;
    if (path.empty() || !fs::exists(path, error)) continue;
    const std::string absolute = fs::absolute(path).lexically_normal().string();
    if (absolute.starts_with("/usr/") || absolute == "/usr") continue;  // is there already
    add(words, {how, fs::canonical(path, error).string(), absolute});
  }
}

/// For prlimit, which cannot raise what this process was given.
std::string limit_word(std::string_view name, __rlimit_resource resource, std::uint64_t wanted) {
  rlimit own{};
  const bool is_known = ::getrlimit(resource, &own) == 0 && own.rlim_max != RLIM_INFINITY;
  return fmt::format("--{}={}", name, is_known ? std::min<std::uint64_t>(wanted, own.rlim_max) : wanted);
}

/// The thread by which the kernel tells what its process has: the process's first one may have ended.
pid_t speaker_of(pid_t pid) {
  if (text_in(folder_of(pid) + "status").find("VmRSS:") != std::string::npos) return pid;
  std::error_code error;
  fs::directory_iterator thread(folder_of(pid) + "task", error);
  for (const fs::directory_iterator end; !error && thread != end; thread.increment(error)) {
    const std::string name = thread->path().filename().string();
    if (text_in(thread->path() / "status").find("VmRSS:") != std::string::npos)
      return static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
  }
  return pid;
}

/// A process and all below it.
struct Tree {
  std::vector<pid_t> speakers{};  ///< speaker_of() each
  std::uint64_t threads = 0;
  std::uint64_t most_memory = 0;  ///< B: each process has all that it shares
};

/// B of one process, which counts all that it shares; in memory or swapped out.
std::uint64_t most_memory_of(const std::string& status) {
  return (number_in(status, "VmRSS:") + number_in(status, "VmSwap:")) * kib;
}

/// Ends early where it is more than `most` threads: what forks without end is faster than anybody who counts.
Tree tree_below(pid_t process, std::uint64_t most) {
  Tree tree;
  std::vector<pid_t> left{process};
  while (!left.empty() && tree.threads <= most) {
    const pid_t pid = left.back();
    left.pop_back();
    tree.speakers.push_back(speaker_of(pid));
    const std::string status = text_in(folder_of(tree.speakers.back()) + "status");
    tree.threads += number_in(status, "Threads:");
    tree.most_memory += most_memory_of(status);
    for (const pid_t child : children_of(pid)) left.push_back(child);
  }
  return tree;
}

using FilesInMemory = std::map<std::pair<dev_t, ino_t>, std::uint64_t>;

/// Open files of a process that have no name, and how many bytes of memory each of them takes. False where
/// the process hides them.
bool add_nameless_files(pid_t pid, FilesInMemory& files) {
  constexpr std::uint64_t block = 512;
  std::error_code error;
  fs::directory_iterator entry(folder_of(pid) + "fd", error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    struct stat file {};
    if (::stat(entry->path().c_str(), &file) != 0 || !S_ISREG(file.st_mode) || file.st_nlink != 0) continue;
    files[{file.st_dev, file.st_ino}] = static_cast<std::uint64_t>(file.st_blocks) * block;
  }
  return error != std::errc::permission_denied;
}

/// B: of a page that n processes share, each has its n-th part; with files that have no name. Where a process
/// hides its files, `new_files` stand for them: all that are new in the machine's memory.
std::uint64_t memory_of(const Tree& tree, std::uint64_t new_files) {
  std::uint64_t memory = 0;
  FilesInMemory files;
  bool hides = false;
  for (const pid_t pid : tree.speakers) {
    const std::string parts = text_in(folder_of(pid) + "smaps_rollup");
    memory += parts.empty() ? most_memory_of(text_in(folder_of(pid) + "status"))
                            : (number_in(parts, "Pss:") + number_in(parts, "SwapPss:")) * kib;
    if (!add_nameless_files(pid, files)) hides = true;
  }
  std::uint64_t in_files = 0;
  for (const auto& [file, bytes] : files) in_files += bytes;
  return memory + (hides ? std::max(in_files, new_files) : in_files);
}

std::string excess_of_memory(std::uint64_t memory, const SandboxLimits& limits) {
  if (memory <= limits.memory) return "";
  return fmt::format("it took more than {:.3g} GiB of memory",
                     static_cast<double>(limits.memory) / static_cast<double>(gib));
}

/// Ends the children of this process that take too much, and returns why. To count what is shared takes long
/// where there is much of it, so that it is done only where a limit may be reached. `files_before`: B of all
/// files in memory before the first child.
std::string end_excessive(const SandboxLimits& limits, std::uint64_t files_before) {
  const std::string machine = text_in("/proc/meminfo");
  const std::uint64_t files = number_in(machine, "Shmem:") * kib;
  const std::uint64_t new_files = files - std::min(files, files_before);
  const bool is_short = number_in(machine, "MemAvailable:") * kib < kept_for_others;
  const std::uint64_t looked_at = is_short ? kept_for_others : limits.memory;
  std::string why;
  const auto end = [&](pid_t child, std::string because) {
    ::kill(child, SIGKILL);  // and the kernel all of its processes with it
    why = std::move(because);
  };
  std::optional<std::pair<std::uint64_t, pid_t>> largest;
  for (const pid_t child : children_of(::getpid())) {
    const Tree tree = tree_below(child, limits.processes);
    if (tree.threads > limits.processes) {
      end(child, fmt::format("it had more than {} processes and threads", limits.processes));
    } else if (tree.most_memory + new_files > looked_at) {
      const std::uint64_t memory = memory_of(tree, new_files);
      if (std::string excess = excess_of_memory(memory, limits); !excess.empty())
        end(child, std::move(excess));
      else if (memory > kept_for_others)
        largest = std::max(largest, std::optional(std::pair(memory, child)));
    }
  }
  if (is_short && why.empty() && largest) end(largest->second, "it left the machine no memory");
  return why;
}

}  // namespace

SandboxLimits usual_sandbox_limits() {
  constexpr std::uint64_t some = 256, of_a_cpu = 4, hours = 4;
  return {.memory = memory_of_machine("MemTotal:") / 4 * 3,
          .file = 4 * gib,
          .processes = some + of_a_cpu * std::max(1U, std::thread::hardware_concurrency()),
          .cpu = hours * 3600};
}

Sandbox::Sandbox(const SandboxLimits& limits, const Clock& clock) : limits_(limits) {
  const std::vector<fs::path> folders = search_path(environment_variable("PATH"));
  const auto bwrap = find_program("bwrap", folders), prlimit = find_program("prlimit", folders);
  if (!bwrap || !prlimit)
    throw Error(
        ExitCode::environment,
        fmt::format(
            "A file that is judged runs in a sandbox, and PATH has no {}. Install it (Debian: {}), or "
            "judge files that you trust with --no-sandbox.",
            bwrap ? "prlimit" : "bwrap", bwrap ? "util-linux" : "bubblewrap"));
  bwrap_ = bwrap->string();
  prlimit_ = prlimit->string();
  std::vector<std::string> probe = command({});
  probe.emplace_back("/bin/true");
  Process process(probe, "");
  const auto event = process.next(clock, clock.now() + probe_limit, -1);
  if (event.kind == Process::Event::Kind::ended && process.ended_well()) return;
  process.kill();
  const std::string words = process.last_words();
  throw Error(
      ExitCode::environment,
      fmt::format("bwrap cannot make a sandbox here: {}. Let this user make namespaces (a container needs "
                  "--security-opt seccomp=unconfined), or judge files that you trust with "
                  "--no-sandbox.",
                  words.empty() ? process.how_it_ended() : words));
}

std::vector<std::string> Sandbox::command(const SandboxView& view) const {
  // bwrap itself stays in the sandbox as process 1, whose variables everything in there can read.
  std::vector<std::string> words{"/usr/bin/env",  "-i",         bwrap_, "--unshare-all", "--die-with-parent",
                                 "--new-session", "--cap-drop", "ALL"};
  add_system(words);
  add_devices(words);
  std::vector<fs::path> readable = view.readable;
  for (const fs::path& folder : folders_of_libraries()) readable.push_back(folder);
  add_views(words, readable, "--ro-bind");
  add_views(words, view.writable, "--bind");
  add_variables(words);
  add(words, {"--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--", prlimit_, "--core=0",
              limit_word("nofile", RLIMIT_NOFILE, most_open_files),
              limit_word("nproc", RLIMIT_NPROC, limits_.processes),
              limit_word("fsize", RLIMIT_FSIZE, limits_.file), limit_word("cpu", RLIMIT_CPU, limits_.cpu)});
  if (limits_.limits_data) words.push_back(limit_word("data", RLIMIT_DATA, limits_.memory));
  words.emplace_back("--");
  return words;
}

SandboxGuard::SandboxGuard(const SandboxLimits& limits) : limits_(limits), thread_([this] { watch(); }) {}

SandboxGuard::~SandboxGuard() {
  ends_ = true;
  thread_.join();
}

std::string SandboxGuard::take_reason() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reason_, {});
}

void SandboxGuard::watch() {
  const std::uint64_t files_before = memory_of_machine("Shmem:");
  while (!ends_) {
    if (std::string why = end_excessive(limits_, files_before); !why.empty()) {
      const std::lock_guard lock(mutex_);
      reason_ = std::move(why);
    }
    std::this_thread::sleep_for(guard_step);
  }
}

}  // namespace mprof
