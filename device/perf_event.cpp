// SPDX-License-Identifier: MIT
#include "device/perf_event.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "device/cpu_facts.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

class FileDescriptor {
 public:
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

/// One event a thread: `inherit` covers the threads that a thread starts later, not those that run already.
class ThreadCounters final : public HardwareCounter {
 public:
  explicit ThreadCounters(std::vector<FileDescriptor> threads) : threads_(std::move(threads)) {}

  [[nodiscard]] CounterReading read() override {
    CounterReading sum;
    for (const FileDescriptor& thread : threads_) {
      struct {
        std::uint64_t value, enabled, running;  // ns; the order of PERF_FORMAT_TOTAL_TIME_*
      } counted{};
      if (::read(thread.get(), &counted, sizeof counted) != static_cast<ssize_t>(sizeof counted)) continue;
      sum.count += static_cast<double>(counted.value);
      sum.enabled += static_cast<double>(counted.enabled) * 1e-9;
      sum.running += static_cast<double>(counted.running) * 1e-9;
    }
    return sum;
  }

 private:
  std::vector<FileDescriptor> threads_;
};

int open_for_thread(const HardwareEvent& event, pid_t thread) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = event.config;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;  // user mode is what perf_event_paranoid 2, the usual setting, allows
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::vector<pid_t> threads_of_this_process() {
  std::vector<pid_t> threads;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/self/task", gone)) {
    threads.push_back(static_cast<pid_t>(std::stol(entry.path().filename())));
  }
  return threads;
}

}  // namespace

std::array<HardwareEvent, 3> hardware_events() {
  return {HardwareEvent{"cycles", PERF_COUNT_HW_CPU_CYCLES},
          HardwareEvent{"instructions", PERF_COUNT_HW_INSTRUCTIONS},
          HardwareEvent{"cache_misses", PERF_COUNT_HW_CACHE_MISSES}};
}

PerfSituation read_perf_situation() {
  PerfSituation situation;
  const auto paranoid = read_text("/proc/sys/kernel/perf_event_paranoid").value_or("");
  int level = 0;
  if (std::from_chars(paranoid.data(), paranoid.data() + paranoid.size(), level).ec == std::errc()) {
    situation.paranoid = level;
  }
  std::error_code missing;
  for (const auto& source : fs::directory_iterator("/sys/bus/event_source/devices", missing)) {
    // "cpu" on x86, "cpu_core" and "cpu_atom" on hybrid ones, "armv8_pmuv3_0" and the like on ARM.
    const std::string name = source.path().filename();
    situation.has_pmu |= name.starts_with("cpu") || name.starts_with("armv8");
  }
  situation.virtual_machine = parse_cpuinfo(read_text("/proc/cpuinfo").value_or("")).has("hypervisor");
  return situation;
}

Refusal explain_refusal(int error, const PerfSituation& situation) {
  Refusal refusal{fmt::format("perf_event_open: {}", std::generic_category().message(error)), ""};
  const bool no_permission = error == EACCES || error == EPERM;
  if (situation.paranoid) refusal.reason += fmt::format("; perf_event_paranoid is {}", *situation.paranoid);
  if (no_permission && situation.paranoid && *situation.paranoid > 2) {
    refusal.remedy =
        "Run `sysctl kernel.perf_event_paranoid=2` as root, or give mprof the capability CAP_PERFMON.";
  } else if (no_permission) {
    refusal.reason += "; a container's system-call filter refuses it";
    refusal.remedy = "Start the container with the capability PERFMON (docker: --cap-add PERFMON).";
  } else if (error == ENOSYS) {
    refusal.remedy = "Use a kernel with CONFIG_PERF_EVENTS, outside a sandbox that hides the call.";
  } else if (error == EMFILE) {
    refusal.remedy = "Raise the limit on open files (`ulimit -n`): each thread takes one a counter.";
  } else if (!situation.has_pmu && situation.virtual_machine) {
    refusal.reason += "; this virtual machine has no performance monitoring unit";
    refusal.remedy =
        "Turn the virtual PMU on in the hypervisor (QEMU: -cpu host,pmu=on), or use the bare machine.";
  } else if (!situation.has_pmu) {
    refusal.reason += "; the kernel drives no performance monitoring unit of this CPU";
    refusal.remedy = "Use a kernel that supports the counters of this CPU.";
  } else {
    refusal.reason += "; this CPU has no such counter";
    refusal.remedy = "Nothing to do: the other counters are not affected.";
  }
  return refusal;
}

std::variant<std::unique_ptr<HardwareCounter>, Refusal> open_counter(const HardwareEvent& event) {
  std::vector<FileDescriptor> threads;
  for (const pid_t thread : threads_of_this_process()) {
    const int descriptor = open_for_thread(event, thread);
    if (descriptor >= 0) {
      threads.emplace_back(descriptor);
    } else if (const int error = errno; error != ESRCH) {  // ESRCH: the thread ended meanwhile
      return explain_refusal(error, read_perf_situation());
    }
  }
  return std::make_unique<ThreadCounters>(std::move(threads));
}

}  // namespace mprof
