// SPDX-License-Identifier: MIT
// The reader of suites must answer any bytes with programs that can be run at each problem, or with an Error
// that names the file.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "inputs/suite_file.hpp"
#include "system/error.hpp"

namespace {

void expect_programs(const mprof::Suite& suite) {
  if (suite.name.empty() || suite.programs.empty()) __builtin_trap();
  mprof::Problem problem;
  for (const mprof::SuiteAxis& axis : suite.axes) {
    if (axis.values.empty() || axis.quick.empty()) __builtin_trap();
    problem.coordinates.push_back({axis.info.name, axis.values.front()});
  }
  for (const mprof::SuiteProgram& program : suite.programs) {
    if (program.command.empty() || program.line == 0) __builtin_trap();
    if (!program.baseline.empty() && suite.program(program.baseline) == nullptr) __builtin_trap();
    for (const std::string& word : program.command) static_cast<void>(mprof::at_problem(word, problem));
  }
}

}  // namespace

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const mprof::Suite suite = mprof::parse_suite(text, "fuzz.toml");
    expect_programs(suite);
    for (const mprof::SuiteNumber& number : suite.numbers) static_cast<void>(number.pattern.find(text));
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
    if (!std::string_view(error.what()).starts_with("fuzz.toml:")) __builtin_trap();
  }
  return 0;
}
