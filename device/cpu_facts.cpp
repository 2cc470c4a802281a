// SPDX-License-Identifier: MIT
#include "device/cpu_facts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "model/facts.hpp"
#include "system/cpus.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view blanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Calls `use(key, value)` for each line "key <separator> value", both trimmed.
template <typename Use>
void for_each_field(std::string_view text, char separator, Use use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    if (const auto split = line.find(separator); split != std::string_view::npos) {
      use(trim(line.substr(0, split)), trim(line.substr(split + 1)));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::string> words(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trim(text);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::optional<std::string> read_line(const fs::path& path) {
  const auto text = read_text(path);
  if (!text || trim(*text).empty()) return std::nullopt;
  return std::string(trim(std::string_view(*text).substr(0, text->find('\n'))));
}

/// A size as sysfs writes it: "32768K".
std::optional<std::size_t> parse_cache_size(std::string_view text) {
  const auto number = parse_number<std::size_t>(text);
  if (!number) return std::nullopt;
  switch (text.back()) {
    case 'K':
      return *number << 10;
    case 'M':
      return *number << 20;
    case 'G':
      return *number << 30;
    default:
      return *number;
  }
}

Fact fact_or(std::optional<std::string> value, const std::string& reason) {
  if (value) return *std::move(value);
  return Absent{reason};
}

template <typename Number>
Fact number_or(std::optional<Number> value, const std::string& reason) {
  if (value) return static_cast<double>(*value);
  return Absent{reason};
}

template <typename Number>
std::optional<Number> unless_zero(Number value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

/// The extensions that the libraries under the CPU variants choose their code by, in the kernel's spelling.
constexpr std::array vector_extensions{"sse4_2",   "avx",     "f16c",        "fma",         "avx2",
                                       "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile",
                                       "asimd",    "sve",     "sve2"};

std::string instruction_sets(const CpuInfo& cpu) {
  std::string found;
  for (const std::string_view extension : vector_extensions) {
    if (!cpu.has(extension)) continue;
    if (!found.empty()) found += ' ';
    found += extension;
  }
  return found;
}

/// Those that a scheduler or `taskset` has left this process.
Fact usable_cpus_fact(const fs::path& root) {
  constexpr std::string_view key = "\nCpus_allowed_list:";
  const std::string text = read_text(root / "proc/self/status").value_or("");
  const auto at = text.find(key);
  const auto first = at == std::string::npos ? at : text.find_first_not_of(" \t", at + key.size());
  const auto cpus = first == std::string::npos
                        ? std::vector<int>()
                        : cpus_of_list(std::string_view(text).substr(first, text.find('\n', first) - first));
  if (cpus.empty()) return Absent{"/proc/self/status does not say"};
  return static_cast<double>(cpus.size());
}

std::map<std::string, Fact> cpu_facts(const fs::path& root) {
  const auto text = read_text(root / "proc/cpuinfo");
  const CpuInfo cpu = parse_cpuinfo(text.value_or(""));
  const std::string silent = text ? "/proc/cpuinfo does not say" : "/proc/cpuinfo cannot be read";
  const fs::path frequency = root / "sys/devices/system/cpu/cpu0/cpufreq";
  const std::string no_frequency = "the kernel shows no cpufreq of CPU 0 (usual in a virtual machine)";

  std::map<std::string, Fact> facts;
  facts[fact::cpu_model.name] = cpu.model.empty() ? Fact(Absent{silent}) : Fact(cpu.model);
  facts[fact::cpu_logical_cpus.name] = number_or(unless_zero(cpu.logical_cpus), silent);
  facts["usable_cpus"] = usable_cpus_fact(root);
  facts[fact::cpu_cores.name] = number_or(unless_zero(cpu.cores), silent);
  facts["threads_per_core"] =
      cpu.cores == 0 ? Fact(Absent{silent}) : Fact(double(cpu.logical_cpus) / cpu.cores);
  const std::string extensions = instruction_sets(cpu);
  facts["instruction_sets"] = extensions.empty() ? Fact(Absent{silent}) : Fact(extensions);

  const auto kilohertz = parse_number<double>(read_line(frequency / "cpuinfo_max_freq").value_or(""));
  facts["max_frequency"] = kilohertz ? Fact(*kilohertz * 1e3) : Fact(Absent{no_frequency});
  facts["governor"] = fact_or(read_line(frequency / "scaling_governor"), no_frequency);

  const auto caches = read_caches(root);
  for (unsigned level = 1; level <= 3; ++level) {
    const auto cache =
        std::find_if(caches.begin(), caches.end(), [&](const Cache& c) { return c.level == level; });
    const std::string name = level == 1 ? "l1d_cache" : "l" + std::to_string(level) + "_cache";
    facts[name] = cache == caches.end() ? Fact(Absent{"the kernel lists no such cache of CPU 0"})
                                        : Fact(static_cast<double>(cache->bytes));
  }
  facts["last_level_caches"] = caches.empty() ? Fact(Absent{"the kernel lists no caches"})
                                              : Fact(static_cast<double>(caches.back().instances));
  return facts;
}

/// How a container gives itself away: the files that its runtimes leave, and the names of its control groups.
std::string container_hint(const fs::path& root) {
  std::error_code ignored;
  if (fs::exists(root / ".dockerenv", ignored)) return "docker (found /.dockerenv)";
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman (found /run/.containerenv)";
  if (const auto name = read_line(root / "run/systemd/container"))
    return *name + " (found /run/systemd/container)";
  const auto groups = read_text(root / "proc/1/cgroup").value_or("");
  for (const std::string_view runtime : {"docker", "kubepods", "containerd", "lxc"}) {
    if (groups.find(runtime) != std::string::npos) return std::string(runtime) + " (found in /proc/1/cgroup)";
  }
  return "no sign of one";
}

/// How a virtual machine gives itself away: a CPU flag, and what its firmware calls itself.
std::string virtual_machine_hint(const fs::path& root) {
  const auto hypervisor = parse_cpuinfo(read_text(root / "proc/cpuinfo").value_or("")).has("hypervisor");
  const auto vendor = read_line(root / "sys/class/dmi/id/sys_vendor");
  const auto product = read_line(root / "sys/class/dmi/id/product_name");
  std::string firmware;
  if (vendor) firmware = *vendor;
  if (product) firmware += (firmware.empty() ? "" : " ") + *product;
  if (hypervisor)
    return "yes (CPU flag hypervisor" + (firmware.empty() ? "" : "; firmware " + firmware) + ")";
  for (const std::string_view product_of_a_hypervisor : {"KVM", "QEMU", "VMware", "VirtualBox", "HVM domU"}) {
    if (firmware.find(product_of_a_hypervisor) != std::string::npos) return "yes (firmware " + firmware + ")";
  }
  return "no sign of one" + (firmware.empty() ? "" : " (firmware " + firmware + ")");
}

std::map<std::string, Fact> os_facts(const fs::path& root) {
  const auto kernel_name = read_line(root / "proc/sys/kernel/ostype");
  const auto kernel_release = read_line(root / "proc/sys/kernel/osrelease");
  const auto release =
      read_text(root / "etc/os-release").value_or(read_text(root / "usr/lib/os-release").value_or(""));
  std::map<std::string, Fact> facts;
  facts["kernel"] = kernel_name && kernel_release ? Fact(*kernel_name + " " + *kernel_release)
                                                  : Fact(Absent{"/proc/sys/kernel/osrelease cannot be read"});
  facts["distribution"] = fact_or(parse_os_release(release), "no os-release file names one");
  facts["container"] = container_hint(root);
  facts["virtual_machine"] = virtual_machine_hint(root);
  return facts;
}

std::optional<std::uint64_t> total_memory(const fs::path& root) {
  return parse_kilobytes(read_text(root / "proc/meminfo").value_or(""), "MemTotal");
}

/// The limit of the control group that the process sees as its root, version 2 or 1. "max" is no number: no
/// limit.
std::optional<std::uint64_t> group_memory_limit(const fs::path& root) {
  for (const char* file : {"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (const auto limit = parse_number<std::uint64_t>(read_line(root / file).value_or(""))) return limit;
  }
  return std::nullopt;
}

/// Of "always [madvise] never" the one in brackets.
std::optional<std::string> chosen_of(const std::string& choices) {
  const std::size_t open = choices.find('['), close = choices.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return choices.substr(open + 1, close - open - 1);
}

std::map<std::string, Fact> memory_facts(const fs::path& root) {
  const auto total = total_memory(root);
  const auto limit = group_memory_limit(root);
  // Version 1 writes "no limit" as a number near 2^63.
  const bool limited = limit && (!total || *limit <= *total);
  std::map<std::string, Fact> facts;
  facts["total"] = number_or(total, "/proc/meminfo does not say");
  facts["limit"] = limited ? Fact(static_cast<double>(*limit)) : Fact(Absent{"the control group sets none"});
  facts["transparent_huge_pages"] =
      fact_or(chosen_of(read_line(root / "sys/kernel/mm/transparent_hugepage/enabled").value_or("")),
              "the kernel has none");
  return facts;
}

}  // namespace

bool CpuInfo::has(std::string_view flag) const {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

CpuInfo parse_cpuinfo(std::string_view text) {
  CpuInfo cpu;
  std::string implementer;
  std::string part;
  std::string package;
  std::set<std::pair<std::string, std::string>> cores;
  for_each_field(text, ':', [&](std::string_view key, std::string_view value) {
    if (key == "processor") ++cpu.logical_cpus;
    if (key == "model name" && cpu.model.empty()) cpu.model = value;
    if (key == "CPU implementer" && implementer.empty()) implementer = value;
    if (key == "CPU part" && part.empty()) part = value;
    if (key == "physical id") package = value;
    if (key == "core id") cores.emplace(package, std::string(value));
    if ((key == "flags" || key == "Features") && cpu.flags.empty()) cpu.flags = words(value);
  });
  cpu.cores = static_cast<unsigned>(cores.size());
  // ARM kernels name no model, only the numbers of who designed the core and which one it is.
  if (cpu.model.empty() && !implementer.empty() && !part.empty()) {
    cpu.model = "ARM implementer " + implementer + " part " + part;
  }
  return cpu;
}

std::string short_cpu_name(std::string_view model) {
  std::string text(model);
  for (const std::string_view mark : {"(R)", "(TM)", "(r)", "(tm)"}) {
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
      text.replace(at, mark.size(), " ");
  }
  std::string name;
  for (const std::string& word : words(text)) {
    if (word.front() == '@' || word == "with") break;  // a clock or a graphics unit follows
    if (word == "CPU" || word == "Processor" || word.ends_with("-Core")) continue;
    name += (name.empty() ? "" : " ") + word;
  }
  return name;
}

std::optional<std::string> parse_os_release(std::string_view text) {
  std::optional<std::string> name;
  for_each_field(text, '=', [&](std::string_view key, std::string_view value) {
    if (key != "PRETTY_NAME") return;
    if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
        value.back() == value.front()) {
      value = value.substr(1, value.size() - 2);
    }
    if (!value.empty()) name = value;
  });
  return name;
}

std::optional<std::uint64_t> parse_kilobytes(std::string_view text, std::string_view field) {
  std::optional<std::uint64_t> bytes;
  for_each_field(text, ':', [&](std::string_view key, std::string_view value) {
    if (key != field) return;
    if (const auto kilobytes = parse_number<std::uint64_t>(value)) bytes = *kilobytes * 1024;
  });
  return bytes;
}

std::vector<Cache> read_caches(const fs::path& root) {
  struct Seen {
    std::size_t bytes = 0;
    std::set<std::string> sharers;  // one list of CPUs an instance
  };
  std::map<unsigned, Seen> levels;
  for (unsigned cpu = 0;; ++cpu) {
    const fs::path folder = root / ("sys/devices/system/cpu/cpu" + std::to_string(cpu));
    std::error_code missing;
    if (!fs::is_directory(folder, missing)) break;
    for (const auto& index : fs::directory_iterator(folder / "cache", missing)) {
      const auto type = read_line(index.path() / "type").value_or("");
      const auto level = parse_number<unsigned>(read_line(index.path() / "level").value_or(""));
      const auto bytes = parse_cache_size(read_line(index.path() / "size").value_or(""));
      if ((type != "Data" && type != "Unified") || !level || !bytes) continue;
      levels[*level].bytes = std::max(levels[*level].bytes, *bytes);
      levels[*level].sharers.insert(
          read_line(index.path() / "shared_cpu_list").value_or(std::to_string(cpu)));
    }
  }
  std::vector<Cache> found;
  found.reserve(levels.size());
  for (const auto& [level, seen] : levels) found.push_back({level, seen.bytes, seen.sharers.size()});
  return found;
}

CacheSizes cache_sizes(const std::vector<Cache>& caches) {
  if (caches.empty()) return {};
  CacheSizes sizes{0, caches.back().bytes * caches.back().instances};
  for (const Cache& cache : caches) sizes.seen_by_a_core += cache.bytes;
  return sizes;
}

std::optional<std::uint64_t> usable_memory(const fs::path& root) {
  const auto total = total_memory(root);
  const auto limit = group_memory_limit(root);
  if (total && limit) return std::min(*total, *limit);
  return total ? total : limit;
}

Environment machine_facts(const fs::path& root) {
  return {{fact::cpu, cpu_facts(root)}, {"os", os_facts(root)}, {"memory", memory_facts(root)}};
}

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) return std::nullopt;
  return text.str();
}

}  // namespace mprof
