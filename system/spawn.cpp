// SPDX-License-Identifier: MIT
#include "system/spawn.hpp"

#include <cerrno>
#include <fstream>

#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "system/started_processes.hpp"

extern char** environ;

namespace mprof {
namespace {

class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&value_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&value_, &none);
    ::posix_spawnattr_setsigdefault(&value_, &all);
    ::posix_spawnattr_setpgroup(&value_, 0);
    ::posix_spawnattr_setflags(&value_,
                               POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&value_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

void add_unless_changed(const std::string& entry, const std::map<std::string, std::string>& changed,
                        EnvironmentVariables& all) {
  if (!changed.contains(entry.substr(0, entry.find('=')))) all.push_back(entry);
}

}  // namespace

EnvironmentVariables own_variables(const std::map<std::string, std::string>& changed) {
  EnvironmentVariables all;
  for (char** entry = environ; *entry != nullptr; ++entry) add_unless_changed(*entry, changed, all);
  for (const auto& [name, value] : changed) all.push_back(name + "=" + value);
  return all;
}

EnvironmentVariables initial_variables(const std::map<std::string, std::string>& changed) {
  EnvironmentVariables all;
  std::ifstream file("/proc/self/environ", std::ios::binary);
  for (std::string entry; std::getline(file, entry, '\0');) add_unless_changed(entry, changed, all);
  for (const auto& [name, value] : changed) all.push_back(name + "=" + value);
  return all;
}

pid_t spawn(const std::vector<std::string>& command, const EnvironmentVariables& variables, int input,
            int output, int error, const std::filesystem::path& folder) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t pid = -1;
  const SpawnAttributes attributes;
  int failure = 0;
  const pid_t started = StartedProcesses::add([&] {
    failure = ::posix_spawn(&pid, command.front().c_str(), &actions, attributes.get(),
                            pointers(command).data(), pointers(variables).data());
    return failure == 0 ? pid : -1;
  });
  ::posix_spawn_file_actions_destroy(&actions);
  errno = failure;
  return started;
}

}  // namespace mprof
