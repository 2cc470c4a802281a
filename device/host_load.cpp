// SPDX-License-Identifier: MIT
#include "device/host_load.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/cpu_facts.hpp"
#include "system/cpus.hpp"
#include "system/numbers.hpp"

namespace mprof {
namespace {

constexpr double much_load = 0.1;    // of the usable CPUs
constexpr double much_steal = 0.02;  // of their time

/// The number of a line of one CPU: 0 of "cpu0", -1 of "cpu", which is all of them; nullopt of any other
/// line.
std::optional<int> cpu_of(std::string_view word) {
  if (!word.starts_with("cpu")) return std::nullopt;
  word.remove_prefix(3);
  if (word.empty()) return -1;
  return parse_as<int>(word);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_cpu_time() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);  // cannot fail: it is one of the two, and a valid address
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

std::optional<double> part_of_time(std::optional<double> before, std::optional<double> after, double time) {
  if (!before || !after || !(time > 0)) return std::nullopt;
  return std::clamp((*after - *before) / time, 0.0, 1.0);
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view stat, std::span<const int> cpus, double tick) {
  std::istringstream lines{std::string(stat)};
  std::optional<CpuTimes> sum;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, steal = 0;
    fields >> name;
    const auto cpu = cpu_of(name);
    const bool wanted = cpu && (cpus.empty() ? *cpu == -1 : std::ranges::find(cpus, *cpu) != cpus.end());
    if (!wanted || !(fields >> user >> nice >> system >> idle)) continue;
    fields >> waiting >> interrupts >> soft >> steal;  // old kernels end sooner
    if (!sum) sum.emplace();
    sum->busy += (user + nice + system) * tick;
    sum->idle += (idle + waiting) * tick;
    sum->steal += steal * tick;
  }
  return sum;
}

std::optional<double> parse_pressure(std::string_view text) {
  constexpr std::string_view key = "total=";
  const auto line = text.find("some ");
  const auto at = line == std::string_view::npos ? line : text.find(key, line);
  if (at == std::string_view::npos || text.substr(line, at - line).find('\n') != std::string_view::npos)
    return std::nullopt;
  const std::string_view number = text.substr(at + key.size());
  unsigned long long microseconds = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), microseconds);
  return error == std::errc() ? std::optional(1e-6 * static_cast<double>(microseconds)) : std::nullopt;
}

HostReading read_host(double at) {
  static const std::vector<int> cpus = allowed_cpus();
  static const double tick = 1.0 / static_cast<double>(std::max(1L, sysconf(_SC_CLK_TCK)));
  return {at, own_cpu_time(), parse_cpu_times(read_text("/proc/stat").value_or(""), cpus, tick),
          parse_pressure(read_text("/proc/pressure/cpu").value_or(""))};
}

HostLoad load_between(const HostReading& before, const HostReading& after) {
  const double time = after.at - before.at;
  HostLoad load;
  load.pressure = part_of_time(before.pressure, after.pressure, time);
  if (!before.cpus || !after.cpus || !(time > 0)) return load;
  const double busy = after.cpus->busy - before.cpus->busy;
  const double all = busy + after.cpus->idle - before.cpus->idle + after.cpus->steal - before.cpus->steal;
  if (!(all > 0)) return load;  // a kernel that shows the file and counts nothing
  load.others = std::max(0.0, busy - (after.own - before.own)) / time;
  load.steal = part_of_time(before.cpus->steal, after.cpus->steal, all);
  return load;
}

std::string what_disturbs(const HostLoad& load, unsigned cpus) {
  std::string text;
  if (load.others && *load.others > much_load * cpus) {
    text = fmt::format("other processes used the CPUs: {:.1f} of the {} usable one{} busy", *load.others,
                       cpus, cpus == 1 ? "" : "s");
    if (load.pressure)
      text += fmt::format(", and {:.0f} % of the time a task waited for one", 100 * *load.pressure);
  }
  if (load.steal && *load.steal > much_steal) {
    text += fmt::format("{}a hypervisor took CPU time: {:.0f} % of the time of the {} usable CPU{}",
                        text.empty() ? "" : "; ", 100 * *load.steal, cpus, cpus == 1 ? "" : "s");
  }
  return text;
}

}  // namespace mprof
