// SPDX-License-Identifier: MIT
#include "collectors/os_runtime.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <unistd.h>

#include "collectors/injection.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/system_call_file.hpp"
#include "system/programs.hpp"

namespace mprof::os_runtime {
namespace {

constexpr const char* library_name = "libmprof_os_runtime.so";

/// `value` with what the environment has of the variable beside it.
std::string with_own(const char* variable, const std::string& value, bool is_first) {
  const std::string own = environment_variable(variable);
  if (own.empty()) return value;
  return is_first ? value + ":" + own : own + ":" + value;
}

/// Processes that called CUDA or NVTX.
std::set<std::int64_t> other_processes(const trace::Trace& trace) {
  std::set<std::int64_t> processes;
  for (const trace::Call& call : trace.calls) processes.insert(trace::nsys::process_of(call.thread));
  for (const trace::Range& range : trace.ranges) processes.insert(trace::nsys::process_of(range.thread));
  return processes;
}

}  // namespace

std::map<std::string, std::string> variables() {
  const std::optional<std::filesystem::path> library = find_injection(library_name);
  if (!library || library->string().find_first_of(" :") != std::string::npos) return {};
  // A program with GCC's address sanitizer ends at once where its library is not the first, unless told so.
  return {{"LD_PRELOAD", with_own("LD_PRELOAD", library->string(), true)},
          {"ASAN_OPTIONS", with_own("ASAN_OPTIONS", "verify_asan_link_order=0", false)}};
}

std::vector<std::string> add_calls(const std::filesystem::path& folder, trace::Trace& trace) {
  constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> notes;
  std::set<std::int64_t> without = other_processes(trace);
  for (const system_calls::CallFile& file : system_calls::read_folder(folder)) {
    const std::int64_t process = trace::nsys::global_process(file.process);
    without.erase(process);
    system_calls::add_calls(file, {0, latest}, trace);
    const bool is_known = std::ranges::any_of(
        trace.processes, [&](const trace::ProcessInfo& other) { return other.id == process; });
    if (!is_known) trace.processes.push_back({process, file.name, 0});
    if (file.dropped > 0)
      notes.push_back(fmt::format("Process {}: {} of its calls of the operating system found no room.",
                                  file.process, file.dropped));
  }
  for (const std::int64_t process : without)
    notes.push_back(fmt::format(
        "Process {}: its calls of the operating system are not known: mprof's library for them was "
        "not loaded (the program is linked statically, or runs with another user's rights, or "
        "was started without LD_PRELOAD).",
        trace::nsys::native_process(process)));
  return notes;
}

void add_own_calls(const trace::Interval& window, const std::vector<trace::Interval>& pauses,
                   trace::Trace& trace) {
  const std::string folder = environment_variable(journal::folder_variable);
  if (folder.empty()) return;
  const auto own = static_cast<std::uint32_t>(::getpid());
  const auto is_in_a_pause = [&](const trace::Call& call) {
    return std::ranges::any_of(pauses, [&](const trace::Interval& pause) {
      return call.time.start >= pause.start && call.time.start < pause.end;
    });
  };
  for (const system_calls::CallFile& file : system_calls::read_folder(folder)) {
    if (file.process == own) system_calls::add_calls(file, window, trace);
  }
  std::erase_if(trace.system_calls, is_in_a_pause);
}

}  // namespace mprof::os_runtime
