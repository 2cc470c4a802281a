// SPDX-License-Identifier: MIT
#include "system/strays.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/started_processes.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

bool adopts = false;

/// Shared with copies.
std::atomic<std::size_t>* copies = nullptr;
bool is_copy = false;

bool has_ended(pid_t child) {
  siginfo_t info{};
  const int rc = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return rc == 0 && info.si_pid == child;
}

void reap(pid_t child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

/// The letter that the kernel has for its state; 0: it is gone.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name = text.rfind(") ");  // it may hold anything
  return name == std::string::npos || name + 2 >= text.size() ? '\0' : text[name + 2];
}

/// A process and all below it, up to so many: what forks without end is faster than anybody who counts.
std::vector<pid_t> tree_of(pid_t process) {
  constexpr std::size_t most = 10'000;
  std::vector<pid_t> all{process};
  for (std::size_t i = 0; i < all.size() && all.size() < most; ++i) {
    for (const pid_t child : children_of(all[i])) all.push_back(child);
  }
  return all;
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::error_code error;
  fs::directory_iterator thread("/proc/" + std::to_string(process) + "/task", error);
  for (const fs::directory_iterator end; thread != end && !error; thread.increment(error)) {
    std::ifstream list(thread->path() / "children");
    for (pid_t child = 0; list >> child;) all.push_back(child);
  }
  return all;
}

void stop_tree(pid_t process) noexcept {
  constexpr std::string_view at_rest("TtX\0", 4);  // stopped, or gone
  constexpr int most_tries = 200;
  constexpr useconds_t between_tries = 1000;
  for (int i = 0; i < most_tries; ++i) {
    bool is_running = false;
    for (const pid_t one : tree_of(process)) {
      const char state = state_of(one);
      if (at_rest.find(state) != std::string_view::npos) continue;
      // A process whose first thread has ended says Z as well, though its other threads run.
      if (state != 'Z') is_running = true;
      ::kill(one, SIGSTOP);
    }
    if (!is_running) return;
    ::usleep(between_tries);
  }
}

void resume_tree(pid_t process) noexcept {
  for (const pid_t one : tree_of(process)) ::kill(one, SIGCONT);
}

void adopt_strays() {
  if (children_of(::getpid()).empty()) adopts = ::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

std::size_t end_strays() {
  if (!adopts) return 0;
  // What ends leaves its own children to this process. Whoever starts new ones faster than that is given up
  // on.
  constexpr int most_generations = 1000;
  std::size_t running = 0;
  const StartedProcesses::Held started = StartedProcesses::hold();
  for (int generation = 0; generation < most_generations; ++generation) {
    bool found = false;
    for (const pid_t child : children_of(::getpid())) {
      if (started.contains(child)) continue;
      found = true;
      if (!has_ended(child)) ++running;
      ::kill(child, SIGKILL);
      reap(child);
    }
    if (!found) break;
  }
  return running;
}

void reap_strays() {
  if (!adopts) return;
  const StartedProcesses::Held started = StartedProcesses::hold();
  while (true) {
    siginfo_t info{};
    const int rc = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
    if (rc != 0 || info.si_pid == 0 || started.contains(info.si_pid)) return;
    reap(info.si_pid);
  }
}

void watch_for_copies() {
  void* const page = ::mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  copies = new (page) std::atomic<std::size_t>(0);
  ::pthread_atfork(nullptr, nullptr, [] { is_copy = true; });
}

void end_copy() {
  if (!is_copy) return;
  ++*copies;
  ::_exit(EXIT_FAILURE);
}

std::size_t copies_that_came_back() {
  return copies == nullptr ? 0 : copies->exchange(0);
}

}  // namespace mprof
