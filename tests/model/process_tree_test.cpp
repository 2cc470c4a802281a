// SPDX-License-Identifier: MIT
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

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

}  // namespace
}  // namespace mprof
