// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/clock.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

char process_state(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  return text.at(text.rfind(") ") + 2);
}

TEST(ProcessTree, StandsStillInEverySessionAndGoesOn) {
  // One in a session of its own, as a sandbox has it: the signals of a group do not reach it.
  Process process({"/bin/sh", "-c", "setsid sh -c 'ulimit -t 20; echo $$; while :; do :; done' & wait"}, "");
  const Process::Event event = process.next(steady_clock(), std::nullopt, -1);
  ASSERT_EQ(event.kind, Process::Event::Kind::line);
  const std::vector<pid_t> all{process.id(), std::stoi(event.line)};
  process.pause();
  EXPECT_EQ(process_state(all[1]), 'R') << "another session";
  stop_tree(process.id());
  for (const pid_t one : all) EXPECT_EQ(process_state(one), 'T');
  resume_tree(process.id());
  for (const pid_t one : all) EXPECT_NE(process_state(one), 'T');
  stop_tree(process.id());
  for (const pid_t one : all) EXPECT_EQ(process_state(one), 'T');
  for (const pid_t child : children_of(process.id())) ::kill(child, SIGKILL);
}

/// Until it holds, for as long as a busy machine may take; false: it never did.
bool comes(const std::function<bool()>& holds) {
  for (int i = 0; i < 5000; ++i) {
    if (holds()) return true;
    ::usleep(1000);
  }
  return false;
}

TEST(ProcessTree, StandsStillWithoutItsFirstThread) {
  void* const page = ::mmap(nullptr, sizeof(std::atomic<std::uint64_t>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& turns = *new (page) std::atomic<std::uint64_t>(0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([&] {
      while (true) ++turns;
    }).detach();
    ::syscall(SYS_exit, 0);
  }
  ASSERT_TRUE(comes([&] { return turns > 0 && process_state(child) == 'Z'; }));
  stop_tree(child);
  const auto is_still = [&] {
    const std::uint64_t before = turns;
    ::usleep(20'000);
    return turns == before;
  };
  EXPECT_TRUE(comes(is_still));
  const std::uint64_t stopped = turns;
  resume_tree(child);
  EXPECT_TRUE(comes([&] { return turns > stopped; }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::munmap(page, sizeof(std::atomic<std::uint64_t>));
}

}  // namespace
}  // namespace mprof
