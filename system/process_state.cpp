// SPDX-License-Identifier: MIT
#include "system/process_state.hpp"

#include <algorithm>
#include <cfenv>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

extern char** environ;

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Without what the libraries of CUDA say to each other by variables.
std::vector<std::string> environment_variables() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_of_cuda = std::ranges::any_of(std::array{"CUDA_", "CUPTI_", "NVTX_"},
                                                [&](const char* prefix) { return text.starts_with(prefix); });
    if (!is_of_cuda) all.emplace_back(text);
  }
  return all;
}

std::vector<int> open_descriptors() {
  std::vector<int> all;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename().string();
    std::from_chars(name.data(), name.data() + name.size(), all.emplace_back());
  }
  return all;
}

/// Its inode, since a path may be gone.
std::string current_directory() {
  struct stat status {};
  if (::stat(".", &status) != 0) return "none";
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

bool is_same(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_handler == b.sa_handler && a.sa_flags == b.sa_flags &&
         std::memcmp(&a.sa_mask, &b.sa_mask, sizeof(unsigned long)) == 0;
}

bool is_same(const rlimit& a, const rlimit& b) {
  return a.rlim_cur == b.rlim_cur && a.rlim_max == b.rlim_max;
}

/// Whether both are set, or neither: one that runs has another value each time.
bool is_same(const itimerval& a, const itimerval& b) {
  const auto is_set = [](const itimerval& timer) {
    return timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
  };
  return is_set(a) == is_set(b);
}

bool are_same(const auto& a, const auto& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return is_same(x, y); });
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  state.environment_ = environment_variables();
  state.directory_ = current_directory();
  for (int signal = 1; signal < NSIG; ++signal)
    static_cast<void>(::sigaction(signal, nullptr, &state.handlers_[static_cast<std::size_t>(signal)]));
  ::pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked_);
  for (std::size_t i = 0; i < state.limits_.size(); ++i)
    static_cast<void>(::getrlimit(static_cast<__rlimit_resource>(i), &state.limits_[i]));
  for (std::size_t i = 0; i < state.timers_.size(); ++i)
    static_cast<void>(::getitimer(static_cast<__itimer_which>(i), &state.timers_[i]));
  for (const int descriptor : open_descriptors()) {  // that of the list itself is closed by now
    struct stat status {};
    if (::fstat(descriptor, &status) == 0)
      state.files_.push_back({.descriptor = descriptor, .device = status.st_dev, .inode = status.st_ino});
  }
  CPU_ZERO(&state.cpus_);
  static_cast<void>(::sched_getaffinity(0, sizeof state.cpus_, &state.cpus_));
  state.mask_ = ::umask(0);
  ::umask(state.mask_);
  state.priority_ = ::getpriority(PRIO_PROCESS, 0);
  state.rounding_ = std::fegetround();
  return state;
}

std::string ProcessState::changes_since(const ProcessState& before) const {
  std::string all;
  const auto note = [&](bool is_different, const char* what) {
    if (is_different) all += (all.empty() ? "" : ", ") + std::string(what);
  };
  note(environment_ != before.environment_, "the environment");
  note(directory_ != before.directory_, "the current directory");
  note(!are_same(handlers_, before.handlers_), "a signal handler");
  note(std::memcmp(&blocked_, &before.blocked_, sizeof(unsigned long)) != 0, "the blocked signals");
  note(!are_same(limits_, before.limits_), "a resource limit");
  note(!are_same(timers_, before.timers_), "a timer");
  const bool has_lost = std::ranges::any_of(
      before.files_, [&](const File& file) { return std::ranges::find(files_, file) == files_.end(); });
  note(has_lost || files_.size() > limits_[RLIMIT_NOFILE].rlim_cur / 2, "the open files");
  note(CPU_EQUAL(&cpus_, &before.cpus_) == 0, "the CPUs that it may use");
  note(mask_ != before.mask_, "the file mode mask");
  note(priority_ != before.priority_, "the priority");
  note(rounding_ != before.rounding_, "the rounding of numbers");
  return all;
}

}  // namespace mprof
