// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"
#include "runner/result_directory.hpp"

namespace mprof {

/// A file of another tool, and the program that it is of.
struct ProfileFile {
  std::string program{};  ///< empty: called after the file, or for counters the only program that was traced
  std::filesystem::path path{};
};

struct ImportOptions {
  std::vector<ProfileFile> traces{};    ///< databases of `nsys export --type sqlite`
  std::vector<ProfileFile> torch{};     ///< what PyTorch's profiler wrote (inputs/torch_trace.hpp)
  std::vector<ProfileFile> counters{};  ///< what `ncu --csv` printed
  std::string ops{};                    ///< a glob of the NVTX ranges that are ops; empty: the outermost
  std::filesystem::path out{};
  ResultDirectory::Mode mode = ResultDirectory::Mode::create;
  std::vector<std::string> command_line{};
};

struct Imported {
  Run run{};
  std::vector<std::string> notes{};  ///< sentences: what was left out of the files, and why
  /// What each traced program's file has beside kernels, copies, calls and ranges, in the order of the cases.
  std::vector<std::vector<trace::Tally>> tallies{};
};

/// Makes a result directory of files of other tools. Each program is a variant of the family `program`, which
/// has no axes. Its ops are the programs' NVTX ranges (model/trace/program.hpp), and the first program is the
/// others' baseline. Nothing was timed without a profiler, and nothing was verified, so there is no timing
/// pass.
///
/// All files are read before anything is written. Throws Error(usage) for a file that is missing, broken or
/// empty, for two traces of one program, and for counters that could be of several.
[[nodiscard]] Imported import_profiles(const ImportOptions& options);

}  // namespace mprof
