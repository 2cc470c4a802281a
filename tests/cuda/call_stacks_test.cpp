// SPDX-License-Identifier: MIT
// Stacks of launches, with a stand-in for CUPTI and a real CPython: MPROF_TEST_PYTHON, or python3.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/cuda/injected_trace.hpp"
#include "collectors/native_lines.hpp"
#include "model/trace/journal_reader.hpp"
#include "system/clock.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

const std::string stand_in_cupti = std::string(MPROF_STANDINS) + "/130001/libcupti.so.13";

/// What a command printed, with the trace library's journals in `folder`.
std::string output_of(const std::string& command, const std::filesystem::path& folder, int& status) {
  const std::string whole =
      std::string(journal::folder_variable) + "='" + folder.string() + "' " + command + " 2>&1";
  FILE* const pipe = ::popen(whole.c_str(), "r");
  std::string text;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, pipe)) text.append(part, size);
  status = ::pclose(pipe);
  return text;
}

std::string python() {
  const char* const told = std::getenv("MPROF_TEST_PYTHON");
  return told != nullptr ? told : "python3";
}

/// "function\tfile\tline" of each frame of Python that the trace has for a launch.
std::string python_frames(const trace::Trace& trace, trace::StackIndex stack) {
  std::string text;
  for (const trace::StackFrame& frame : trace.stacks[stack]) {
    if (!frame.is_python()) continue;
    text += "\t" + trace.names[frame.function] + "\t" + trace.names[frame.file] + "\t" +
            std::to_string(frame.line);
  }
  return text;
}

class CallStacks : public ::testing::Test {
 protected:
  InjectedPass read() { return read_injected_trace(journal::read_journals(folder.path())); }
  test::TemporaryDirectory folder;
};

TEST_F(CallStacks, OfPythonAreWhatPythonSaysItself) {
  int status = 0;
  output_of(python() + " -c ''", folder.path(), status);
  if (status != 0) GTEST_SKIP() << "there is no " << python();
  const std::string printed =
      output_of(python() + " '" MPROF_SOURCE_DIR "/tests/programs/python_launches.py' '" + stand_in_cupti +
                    "' '" MPROF_TRACE_LIBRARY "'",
                folder.path(), status);
  ASSERT_EQ(status, 0) << printed.substr(0, 2000);
  const InjectedPass pass = read();
  EXPECT_THAT(pass.notes, testing::Each(testing::Not(testing::HasSubstr("lines of Python"))));
  std::map<std::int64_t, trace::StackIndex> stacks;
  for (const trace::Call& call : pass.trace.calls) stacks[call.correlation] = call.stack;
  std::istringstream lines(printed);
  std::size_t launches = 0, differ = 0;
  for (std::string line; std::getline(lines, line); ++launches) {
    const std::size_t tab = line.find('\t');
    const std::string found = python_frames(pass.trace, stacks.at(std::stoll(line.substr(0, tab))));
    // A very deep stack has its innermost frames.
    std::string expected = line.substr(tab);
    if (expected != found && ++differ <= 3) ADD_FAILURE() << "expected" << expected << "\nfound" << found;
  }
  EXPECT_EQ(differ, 0U) << "of " << launches;
  EXPECT_GT(launches, 1000U);
  EXPECT_LT(pass.trace.stacks.size(), launches / 4) << "each stack is kept once";
}

TEST_F(CallStacks, OfMachineCodeHaveFunctionsAndLines) {
  int status = 0;
  const std::string printed =
      output_of("'" MPROF_CUPTI_PROGRAM "' '" + stand_in_cupti + "' '" MPROF_TRACE_LIBRARY "' stacks",
                folder.path(), status);
  ASSERT_EQ(status, 0) << printed;
  InjectedPass pass = read();
  find_native_lines(pass.trace, steady_clock());
  ASSERT_EQ(pass.trace.calls.size(), 400U);
  std::map<std::int64_t, std::string> innermost;
  for (const trace::Call& call : pass.trace.calls) {
    const auto stack = pass.trace.stacks[call.stack];
    for (const trace::StackFrame& frame : stack) {
      const std::string& function = pass.trace.names[frame.function];
      if (function.find("launch_") == std::string::npos) continue;
      innermost[call.correlation] += function.substr(function.find("launch_")) + " ";
    }
  }
  // As the program has them: even ones by one way, odd ones by another, each through a function of its own.
  for (const auto& [correlation, functions] : innermost)
    EXPECT_EQ(functions, correlation % 2 == 0 ? "launch_directly() launch_many(int) "
                                              : "launch_deeper(int) launch_deeper(int) launch_deeper(int) "
                                                "launch_many(int) ")
        << correlation;
  EXPECT_EQ(innermost.size(), 400U) << "each is recognized, however often it comes";
}

/// Of an address that is in none of the functions that the library shows.
TEST_F(CallStacks, OfAStrippedLibraryHaveNoNamesOfOtherFunctions) {
  const std::string stripped = (folder.path() / "stripped.so").string();
  int status = 0;
  output_of("strip -o '" + stripped + "' '" MPROF_TRACE_LIBRARY "'", folder.path(), status);
  if (status != 0) GTEST_SKIP() << "there is no strip";
  const std::string symbols = output_of("nm '" MPROF_TRACE_LIBRARY "'", folder.path(), status);
  const std::size_t line = symbols.find("read_memory");
  ASSERT_NE(line, std::string::npos);
  const std::uint64_t address = std::stoull(symbols.substr(symbols.rfind('\n', line) + 1), nullptr, 16) + 4;
  const auto named = [&](const std::string& module) {
    trace::Trace trace;
    trace.calls.push_back(
        {.stack = trace.stacks.index({{.module = trace.names.index(module), .address = address}})});
    find_native_lines(trace, steady_clock());
    const trace::StackFrame frame = trace.stacks[trace.calls[0].stack].front();
    return trace.names[frame.function] + " " + std::to_string(frame.line != 0);
  };
  EXPECT_THAT(named(MPROF_TRACE_LIBRARY), testing::HasSubstr("read_memory"));
  EXPECT_THAT(named(MPROF_TRACE_LIBRARY), testing::EndsWith(" 1"));
  EXPECT_EQ(named(stripped), " 0");
}

TEST_F(CallStacks, AreNotTakenWhereNobodyWantsThem) {
  int status = 0;
  output_of(
      "MPROF_STACKS=0 '" MPROF_CUPTI_PROGRAM "' '" + stand_in_cupti + "' '" MPROF_TRACE_LIBRARY "' stacks",
      folder.path(), status);
  const InjectedPass pass = read();
  ASSERT_EQ(pass.trace.calls.size(), 400U);
  for (const trace::Call& call : pass.trace.calls) EXPECT_EQ(call.stack, trace::no_stack);
}

}  // namespace
}  // namespace mprof
