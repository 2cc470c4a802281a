// SPDX-License-Identifier: MIT
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/time.h>

#include "collectors/collector.hpp"
#include "collectors/sample_growth.hpp"
#include "device/cpu_facts.hpp"

namespace mprof {
namespace {

/// What getrusage counts for the process, all threads.
struct Usage {
  double user_time = 0;    ///< s
  double system_time = 0;  ///< s
  double minor_page_faults = 0;
  double major_page_faults = 0;

  Usage operator+(const Usage& other) const {
    return {user_time + other.user_time, system_time + other.system_time,
            minor_page_faults + other.minor_page_faults, major_page_faults + other.major_page_faults};
  }
  Usage operator-(const Usage& other) const {
    return {user_time - other.user_time, system_time - other.system_time,
            minor_page_faults - other.minor_page_faults, major_page_faults - other.major_page_faults};
  }
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Usage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);  // cannot fail: RUSAGE_SELF and a valid address
  return {seconds(usage.ru_utime), seconds(usage.ru_stime), static_cast<double>(usage.ru_minflt),
          static_cast<double>(usage.ru_majflt)};
}

/// The process's largest resident set, in bytes. From the kernel's record of this address space: ru_maxrss of
/// a process that was forked and executed starts with its parent's.
std::optional<double> peak_resident_bytes() {
  const auto bytes = parse_kilobytes(read_text("/proc/self/status").value_or(""), "VmHWM");
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

class ResourceUsage final : public Collector {
 public:
  void begin_sample() override { growth_.begin(usage_now()); }
  void end_sample() override { samples_.push_back(growth_.end(usage_now())); }
  void pause() override { growth_.pause(usage_now()); }
  void resume() override { growth_.resume(usage_now()); }
  void begin_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) growth_.begin_forward(op, usage_now());
  }

  void finish(std::vector<Measurement>& measurements) override {
    constexpr std::pair<const char*, double Usage::*> rows[] = {
        {"user_time", &Usage::user_time},
        {"system_time", &Usage::system_time},
        {"minor_page_faults", &Usage::minor_page_faults},
        {"major_page_faults", &Usage::major_page_faults},
    };
    for (const auto& [metric, field] : rows) {
      Measurement row{metric, "", "", Source::measured, {}, samples_.empty() ? "no sample was taken" : ""};
      for (const Usage& sample : samples_) row.samples.push_back(sample.*field);
      measurements.push_back(std::move(row));
    }
    Measurement peak{"peak_memory", "", "", Source::measured, {}, ""};
    if (const auto bytes = peak_resident_bytes()) {
      peak.samples.push_back(*bytes);
    } else {
      peak.absent = "/proc/self/status has no VmHWM";
    }
    measurements.push_back(std::move(peak));
  }

 private:
  SampleGrowth<Usage> growth_;
  std::vector<Usage> samples_;
};

const bool registered = (CollectorKinds::instance().add({
                             "resource_usage",
                             Pass::timing,
                             "",
                             10,
                             [] { return std::nullopt; },
                             [](const CaseContext&) { return std::make_unique<ResourceUsage>(); },
                         }),
                         true);

}  // namespace
}  // namespace mprof
