// SPDX-License-Identifier: MIT
#include "device/cpu_facts.hpp"

#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

constexpr std::string_view amd_with_two_threads_a_core = R"(processor	: 0
model name	: AMD EPYC 7763 64-Core Processor
physical id	: 0
core id		: 0
flags		: fpu sse4_2 avx f16c fma avx2 hypervisor

processor	: 1
model name	: AMD EPYC 7763 64-Core Processor
physical id	: 0
core id		: 0
flags		: fpu

processor	: 2
model name	: AMD EPYC 7763 64-Core Processor
physical id	: 1
core id		: 0
flags		: fpu

processor	: 3
model name	: AMD EPYC 7763 64-Core Processor
physical id	: 1
core id		: 0
)";

constexpr std::string_view arm = R"(processor	: 0
BogoMIPS	: 243.75
Features	: fp asimd sve
CPU implementer	: 0x41
CPU part	: 0xd0c

processor	: 1
Features	: fp asimd sve
CPU implementer	: 0x41
CPU part	: 0xd0c
)";

std::string text_of(const Fact& fact) {
  const auto* text = std::get_if<std::string>(&fact);
  return text != nullptr ? *text : "(no text)";
}
double number_of(const Fact& fact) {
  const auto* number = std::get_if<double>(&fact);
  return number != nullptr ? *number : -1;
}
std::string reason_of(const Fact& fact) {
  const auto* absent = std::get_if<Absent>(&fact);
  return absent != nullptr ? absent->reason : "(not absent)";
}

TEST(CpuInfo, CountsCoresAcrossPackagesAndThreads) {
  const CpuInfo cpu = parse_cpuinfo(amd_with_two_threads_a_core);
  EXPECT_EQ(cpu.model, "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(cpu.logical_cpus, 4U);
  EXPECT_EQ(cpu.cores, 2U);  // core 0 of package 0 and core 0 of package 1
  EXPECT_TRUE(cpu.has("avx2"));
  EXPECT_FALSE(cpu.has("avx512f"));
}

TEST(CpuInfo, OfArmHasNumbersInPlaceOfAModelAndNoCores) {
  const CpuInfo cpu = parse_cpuinfo(arm);
  EXPECT_EQ(cpu.model, "ARM implementer 0x41 part 0xd0c");
  EXPECT_EQ(cpu.logical_cpus, 2U);
  EXPECT_EQ(cpu.cores, 0U);
  EXPECT_TRUE(cpu.has("sve"));
}

TEST(CpuInfo, OfEmptyOrBrokenTextIsEmpty) {
  for (const std::string_view text : {"", "\n\n", "processor", "no separator\nat all", ":", ":\n:"}) {
    const CpuInfo cpu = parse_cpuinfo(text);
    EXPECT_EQ(cpu.model, "") << text;
    EXPECT_EQ(cpu.logical_cpus, 0U) << text;
    EXPECT_TRUE(cpu.flags.empty()) << text;
  }
}

TEST(ShortCpuName, LeavesOutWhatDoesNotNameTheCpu) {
  EXPECT_EQ(short_cpu_name("AMD EPYC"), "AMD EPYC");
  EXPECT_EQ(short_cpu_name("AMD EPYC 7763 64-Core Processor"), "AMD EPYC 7763");
  EXPECT_EQ(short_cpu_name("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz"), "Intel Xeon Platinum 8481C");
  EXPECT_EQ(short_cpu_name("AMD Ryzen 7 5800U with Radeon Graphics         "), "AMD Ryzen 7 5800U");
  EXPECT_EQ(short_cpu_name(""), "");
}

TEST(OsRelease, GivesThePrettyNameUnquoted) {
  EXPECT_EQ(parse_os_release("NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(parse_os_release("PRETTY_NAME=Alpine"), "Alpine");
  EXPECT_EQ(parse_os_release("NAME=\"Debian\"\n"), std::nullopt);
  EXPECT_EQ(parse_os_release("PRETTY_NAME=\n"), std::nullopt);
}

TEST(Kilobytes, AreBytesAfterParsing) {
  EXPECT_EQ(parse_kilobytes("MemTotal:       24684092 kB\nMemFree: 1 kB\n", "MemTotal"), 24684092ULL * 1024);
  EXPECT_EQ(parse_kilobytes("MemTotal: lots\n", "MemTotal"), std::nullopt);
  EXPECT_EQ(parse_kilobytes("", "MemTotal"), std::nullopt);
}

class FabricatedMachine : public testing::Test {
 protected:
  void cache(int cpu, int index, const std::string& level, const std::string& type, const std::string& size,
             const std::string& sharers) const {
    const std::string folder =
        "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    root.write(folder + "level", level + "\n");
    root.write(folder + "type", type + "\n");
    root.write(folder + "size", size + "\n");
    root.write(folder + "shared_cpu_list", sharers + "\n");
  }

  test::TemporaryDirectory root;
};

TEST_F(FabricatedMachine, CachesAreCountedByTheCpusThatShareThem) {
  for (int cpu = 0; cpu < 4; ++cpu) {
    cache(cpu, 0, "1", "Data", "32K", std::to_string(cpu));
    cache(cpu, 1, "1", "Instruction", "64K", std::to_string(cpu));
    cache(cpu, 2, "2", "Unified", "1M", std::to_string(cpu));
    cache(cpu, 3, "3", "Unified", "16384K", cpu < 2 ? "0-1" : "2-3");
  }
  const auto caches = read_caches(root.path());
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].bytes, 32U << 10);
  EXPECT_EQ(caches[0].instances, 4U);
  EXPECT_EQ(caches[2].bytes, 16U << 20);
  EXPECT_EQ(caches[2].instances, 2U);
  const CacheSizes sizes = cache_sizes(caches);
  EXPECT_EQ(sizes.last_level_total, 32U << 20);
  EXPECT_EQ(sizes.seen_by_a_core, (32U << 10) + (1U << 20) + (16U << 20));
}

TEST_F(FabricatedMachine, WithoutCachesHasTheAssumedSizes) {
  EXPECT_TRUE(read_caches(root.path()).empty());
  EXPECT_EQ(cache_sizes({}).last_level_total, 64U << 20);
}

TEST_F(FabricatedMachine, FactsOfAServer) {
  root.write("proc/cpuinfo", amd_with_two_threads_a_core);
  root.write("proc/meminfo", "MemTotal: 1024 kB\n");
  root.write("proc/sys/kernel/ostype", "Linux\n");
  root.write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  root.write("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
  root.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  root.write("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
  root.write("sys/class/dmi/id/product_name", "m6a.xlarge\n");
  root.write("sys/fs/cgroup/memory.max", "524288\n");
  root.write("proc/1/cgroup", "0::/kubepods/pod1\n");
  root.write("proc/self/status",
             "Name:\tx\nCpus_allowed:\tb\nCpus_allowed_list:\t0-1,3\nMems_allowed_list:\t0\n");
  root.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  auto facts = machine_facts(root.path());
  EXPECT_EQ(number_of(facts["cpu"]["cores"]), 2);
  EXPECT_EQ(number_of(facts["cpu"]["threads_per_core"]), 2);
  EXPECT_EQ(number_of(facts["cpu"]["usable_cpus"]), 3);
  EXPECT_EQ(number_of(facts["cpu"]["max_frequency"]), 3.5e9);
  EXPECT_EQ(text_of(facts["cpu"]["governor"]), "performance");
  EXPECT_EQ(text_of(facts["cpu"]["instruction_sets"]), "sse4_2 avx f16c fma avx2");
  EXPECT_EQ(text_of(facts["os"]["kernel"]), "Linux 6.1.0-18-amd64");
  EXPECT_EQ(text_of(facts["os"]["distribution"]), "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(text_of(facts["os"]["container"]), "kubepods (found in /proc/1/cgroup)");
  EXPECT_EQ(text_of(facts["os"]["virtual_machine"]),
            "yes (CPU flag hypervisor; firmware Amazon EC2 m6a.xlarge)");
  EXPECT_EQ(number_of(facts["memory"]["total"]), 1024.0 * 1024);
  EXPECT_EQ(number_of(facts["memory"]["limit"]), 524288);
  EXPECT_EQ(text_of(facts["memory"]["transparent_huge_pages"]), "madvise");
  EXPECT_EQ(usable_memory(root.path()), 524288U);
}

TEST_F(FabricatedMachine, ThatTellsNothingHasReasonsAndNoNumbers) {
  auto facts = machine_facts(root.path());
  for (const char* name : {"model", "logical_cpus", "cores", "threads_per_core", "instruction_sets"}) {
    EXPECT_EQ(reason_of(facts["cpu"][name]), "/proc/cpuinfo cannot be read") << name;
  }
  EXPECT_EQ(reason_of(facts["cpu"]["usable_cpus"]), "/proc/self/status does not say");
  EXPECT_EQ(reason_of(facts["cpu"]["governor"]),
            "the kernel shows no cpufreq of CPU 0 (usual in a virtual machine)");
  EXPECT_EQ(reason_of(facts["cpu"]["l3_cache"]), "the kernel lists no such cache of CPU 0");
  EXPECT_EQ(reason_of(facts["os"]["distribution"]), "no os-release file names one");
  EXPECT_EQ(text_of(facts["os"]["container"]), "no sign of one");
  EXPECT_EQ(reason_of(facts["memory"]["total"]), "/proc/meminfo does not say");
  EXPECT_EQ(usable_memory(root.path()), std::nullopt);
}

TEST_F(FabricatedMachine, ALimitAboveTheMemoryIsNone) {
  root.write("proc/meminfo", "MemTotal: 1024 kB\n");
  root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(reason_of(machine_facts(root.path())["memory"]["limit"]), "the control group sets none");
  EXPECT_EQ(usable_memory(root.path()), 1024U * 1024);
}

}  // namespace
}  // namespace mprof
