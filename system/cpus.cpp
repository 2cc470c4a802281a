// SPDX-License-Identifier: MIT
#include "system/cpus.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

namespace mprof {
namespace {

/// Takes a number off the front of `text`; none when it does not begin with one that a cpu_set_t can hold.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number >= CPU_SETSIZE) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;  // more CPUs than cpu_set_t holds
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

unsigned usable_cpus() {
  const auto allowed = allowed_cpus().size();
  return allowed > 0 ? static_cast<unsigned>(allowed) : std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::vector<int>> allowed_cores() {
  std::map<int, std::vector<int>> by_first;
  for (const int cpu : allowed_cpus()) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string line;
    std::getline(file, line);
    const std::vector<int> siblings = cpus_of_list(line);
    by_first[siblings.empty() ? cpu : siblings.front()].push_back(cpu);
  }
  std::vector<std::vector<int>> cores;
  for (auto& [first, cpus] : by_first) cores.push_back(std::move(cpus));
  return cores;
}

bool stay_on(std::span<const int> cpus) {
  if (cpus.empty()) return false;
  cpu_set_t only;
  CPU_ZERO(&only);
  for (const int cpu : cpus) CPU_SET(cpu, &only);
  return sched_setaffinity(0, sizeof only, &only) == 0;
}

std::vector<int> cpus_of_list(std::string_view text) {
  std::vector<int> cpus;
  do {
    const std::optional<int> first = take_number(text);
    const std::optional<int> last = first && take(text, '-') ? take_number(text) : first;
    if (!first || !last) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  } while (take(text, ','));
  take(text, '\n');
  return text.empty() ? cpus : std::vector<int>();
}

}  // namespace mprof
