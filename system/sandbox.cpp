// SPDX-License-Identifier: MIT
#include "system/sandbox.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"
#include "system/strays.hpp"

extern char** environ;

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t gib = std::uint64_t{1} << 30;
constexpr double probe_limit = 20;      // s
constexpr std::uint64_t scratch = gib;  // B, of each folder in memory
constexpr auto guard_step = std::chrono::milliseconds(50);
constexpr std::uint64_t kept_for_others = gib / 4;  // B, of the machine's memory

/// What a compiler, a loader or a library of mathematics reads; nothing that could be a secret.
constexpr std::array<std::string_view, 14> passed_on{"PATH=",         "LANG=",          "LC_",   "CUDA_",
                                                     "NVIDIA_",       "NVCC_",          "CXX=",  "OMP_",
                                                     "KMP_",          "GOMP_",          "DNNL_", "ONEDNN_",
                                                     "OPENBLAS_NUM_", "GLIBC_TUNABLES="};
constexpr std::array<std::string_view, 2> library_paths{"LD_LIBRARY_PATH=", "LIBRARY_PATH="};

std::uint64_t memory_of_machine(std::string_view name) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    return std::strtoull(line.c_str() + name.size() + 1, nullptr, 10) * 1024;
  }
  return 0;
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

/// Folders with libraries that programs are told of, and toolkits that are not below /usr.
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

/// What a process and all below it take.
struct Taken {
  std::uint64_t threads = 0;
  std::uint64_t own = 0;     ///< B
  std::uint64_t shared = 0;  ///< B: the most of one; what several share counts once

  [[nodiscard]] std::uint64_t memory() const { return own + shared; }
};

/// Of one process; nothing of one that has ended.
void add_process(pid_t pid, Taken& taken) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string text;
  if (std::ifstream stat(folder + "/stat"); !std::getline(stat, text)) return;
  const std::size_t name = text.rfind(')');  // it may hold anything
  if (name == std::string::npos) return;
  std::istringstream fields(text.substr(name + 1));
  std::string skipped;
  constexpr int before_threads = 17;
  for (int i = 0; i < before_threads; ++i) fields >> skipped;
  std::uint64_t threads = 0, size = 0, resident = 0, shared = 0;
  fields >> threads;
  std::ifstream(folder + "/statm") >> size >> resident >> shared;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  taken.threads += threads;
  taken.own += (resident - std::min(resident, shared)) * page;
  taken.shared = std::max(taken.shared, shared * page);
}

/// Ends early where it is more than `most` threads: what forks without end is faster than anybody who counts.
Taken taken_by(pid_t process, std::uint64_t most) {
  Taken taken;
  std::vector<pid_t> left{process};
  while (!left.empty() && taken.threads <= most) {
    const pid_t pid = left.back();
    left.pop_back();
    add_process(pid, taken);
    for (const pid_t child : children_of(pid)) left.push_back(child);
  }
  return taken;
}

std::string excess(const Taken& taken, const SandboxLimits& limits) {
  if (taken.threads > limits.processes)
    return fmt::format("it had more than {} processes and threads", limits.processes);
  if (taken.memory() > limits.memory)
    return fmt::format("it took more than {:.3g} GiB of memory",
                       static_cast<double>(limits.memory) / static_cast<double>(gib));
  return "";
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
  std::vector<std::string> words{"/usr/bin/env",      "-i",            bwrap_,       "--unshare-all",
                                 "--die-with-parent", "--new-session", "--cap-drop", "ALL"};
  add_system(words);
  add_devices(words);
  std::vector<fs::path> readable = view.readable;
  for (const fs::path& folder : folders_of_libraries()) readable.push_back(folder);
  add_views(words, readable, "--ro-bind");
  add_views(words, view.writable, "--bind");
  add_variables(words);
  add(words, {"--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--", prlimit_, "--core=0",
              "--nofile=1024", fmt::format("--nproc={}", limits_.processes),
              fmt::format("--fsize={}", limits_.file), fmt::format("--cpu={}", limits_.cpu)});
  if (limits_.limits_data) words.push_back(fmt::format("--data={}", limits_.memory));
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
  while (!ends_) {
    std::map<pid_t, Taken> all;
    for (const pid_t child : children_of(::getpid())) all[child] = taken_by(child, limits_.processes);
    std::uint64_t most = 0;
    for (const auto& [child, taken] : all) most = std::max(most, taken.memory());
    const bool is_short = most > kept_for_others && memory_of_machine("MemAvailable:") < kept_for_others;
    for (const auto& [child, taken] : all) {
      std::string why = excess(taken, limits_);
      if (why.empty() && is_short && taken.memory() == most) why = "it left the machine no memory";
      if (why.empty()) continue;
      ::kill(child, SIGKILL);  // and the kernel all of its processes with it
      const std::lock_guard lock(mutex_);
      reason_ = why;
    }
    std::this_thread::sleep_for(guard_step);
  }
}

}  // namespace mprof
