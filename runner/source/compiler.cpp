// SPDX-License-Identifier: MIT
#include "runner/source/compiler.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr double version_limit = 60;                           // s
constexpr std::size_t longest_printed = std::size_t{1} << 20;  // B
constexpr std::array<std::string_view, 4> host_sources{".cpp", ".cc", ".cxx", ".c++"};

std::vector<fs::path> nvcc_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string toolkit = environment_variable(variable); !toolkit.empty())
      folders.push_back(fs::path(toolkit) / "bin");
  }
  for (const fs::path& folder : search_path(environment_variable("PATH"))) folders.push_back(folder);
  return folders;
}

fs::path find_nvcc(const fs::path& source) {
  if (const auto found = find_program("nvcc", nvcc_folders())) return *found;
  throw Error(
      ExitCode::environment,
      fmt::format("{} needs nvcc, which is neither in the bin folder of CUDA_HOME or CUDA_PATH nor on "
                  "PATH. Install the CUDA toolkit, or set CUDA_HOME to where it is.",
                  source.string()));
}

fs::path find_host_compiler(const fs::path& source) {
  const std::vector<fs::path> folders = search_path(environment_variable("PATH"));
  std::vector<std::string> names{"c++", "g++", "clang++"};
  if (const std::string chosen = environment_variable("CXX"); !chosen.empty()) names = {chosen};
  for (const std::string& name : names) {
    if (name.find('/') != std::string::npos && is_program(name)) return name;
    if (const auto found = find_program(name, folders)) return *found;
  }
  throw Error(
      ExitCode::environment,
      fmt::format("{} needs a C++ compiler, and PATH has no {}. Install one (Debian: g++), or set CXX.",
                  source.string(), fmt::join(names, " or ")));
}

/// The line that tells versions apart: nvcc's comes last, other compilers' first.
std::string version_line(const std::string& text, bool is_nvcc) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    const bool has_number = std::ranges::any_of(line, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (has_number && (found.empty() || is_nvcc)) found = line;
  }
  return found;
}

}  // namespace

bool is_source_name(const fs::path& file) {
  return file.extension() == ".cu" || std::ranges::count(host_sources, file.extension().string()) > 0;
}

bool is_library_name(const fs::path& file) {
  return file.extension() == ".so";
}

Printed run_program(const std::vector<std::string>& command, const Clock& clock, double limit,
                    int interrupt_fd) {
  // The shell gives one stream of both, in the order in which they were written.
  std::vector<std::string> both{"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"};
  both.insert(both.end(), command.begin(), command.end());
  Process process(both, "");
  Printed printed;
  const double deadline = clock.now() + limit;
  while (true) {
    const Process::Event event = process.next(clock, deadline, interrupt_fd);
    switch (event.kind) {
      case Process::Event::Kind::line:
        if (printed.text.size() + event.line.size() < longest_printed)
          printed.text += event.line + "\n";
        else
          printed.is_whole = false;
        break;
      case Process::Event::Kind::ended:
        printed.succeeded = process.ended_well();
        if (!printed.is_whole) printed.text += "It printed more.\n";
        return printed;
      case Process::Event::Kind::interrupted:
        throw Error(ExitCode::interrupted, "interrupted");
      case Process::Event::Kind::deadline:
      case Process::Event::Kind::flooded:
        throw Error(ExitCode::environment, fmt::format("{} did not end within {:g} s, or wrote without end.",
                                                       command.front(), limit));
    }
  }
}

Compiler find_compiler(const fs::path& source, const Clock& clock) {
  Compiler tool{.is_nvcc = source.extension() == ".cu"};
  tool.program = tool.is_nvcc ? find_nvcc(source) : find_host_compiler(source);
  const Printed printed = run_program({tool.program.string(), "--version"}, clock, version_limit, -1);
  tool.version = version_line(printed.text, tool.is_nvcc);
  return tool;
}

std::vector<std::string> options_of(const Compiler& tool) {
  const std::string arch = MPROF_CPU_ARCH;
  std::vector<std::string> options{"-std=c++20", "-O3", "-shared"};
  std::vector<std::string> host{"-fPIC", "-fvisibility=hidden"};
  if (!arch.empty()) host.push_back("-march=" + arch);
  if (!tool.is_nvcc) {
    host.emplace_back("-pthread");
    options.insert(options.end(), host.begin(), host.end());
    return options;
  }
  options.insert(options.end(), {"-lineinfo", "--expt-relaxed-constexpr"});
  // For the GPU that is here; without one, for what every later one can run.
  std::error_code error;
  if (fs::exists("/dev/nvidiactl", error)) options.emplace_back("-arch=native");
  for (const std::string& option : host) options.push_back("-Xcompiler=" + option);
  for (const char* call :
       {"cudaLaunchKernel", "__cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC",
        "cudaMalloc", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyToSymbol"})
    options.push_back(fmt::format("-Xlinker=--wrap={}", call));
  return options;
}

}  // namespace mprof
