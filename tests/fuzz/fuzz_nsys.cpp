// SPDX-License-Identifier: MIT
// The reader of exports of Nsight Systems must answer any bytes with a trace of which a case can be made, or
// with an Error.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <unistd.h>

#include "model/derive/subjects.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace {

void read(const std::filesystem::path& file) {
  mprof::trace::Trace trace = mprof::trace::read_trace(file, {.parts = {.kernels = true,
                                                                        .kernel_details = true,
                                                                        .transfers = true,
                                                                        .calls = true,
                                                                        .system_calls = true,
                                                                        .ranges = true,
                                                                        .synchronizations = true,
                                                                        .overheads = true,
                                                                        .allocations = true}});
  std::vector<mprof::OpInfo> ops;
  for (const std::string& name : mprof::trace::make_program_case(trace, {.case_id = "program/x"}))
    ops.push_back({.name = name});
  if (!ops.empty()) (void)mprof::trace_metrics(trace, 0, ops);
}

}  // namespace

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("mprof-fuzz-" + std::to_string(::getpid()) + ".sqlite");
  try {
    mprof::write_file(file, {reinterpret_cast<const char*>(data), size});
    read(file);
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
  }
  std::filesystem::remove(file);
  return 0;
}
