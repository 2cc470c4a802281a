// Speed-of-Light as mprof counts it, beside what Nsight Compute says of the same kernels.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "model/run_file.hpp"
#include "tests/gpu/paths.hpp"
#include "tests/kernels/lenet_support.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Points of percent by which the two may differ.
constexpr double allowed = 3;
constexpr std::array metrics{
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
};
/// Single-kernel variants, so that the first two launches of the kernel are the two layers.
const std::map<std::string, std::string> kernels{
    {"conv/baseline", "conv_baseline"},   {"conv/constant_mask", "conv_constant_mask"},
    {"conv/shared_2d", "conv_shared_2d"}, {"conv/fused_matmul", "conv_fused_matmul"},
    {"conv/coarsened", "conv_coarsened"},
};

std::string output_of(const std::string& command) {
  std::string output;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  std::array<char, 4096> chunk{};
  while (const std::size_t n = std::fread(chunk.data(), 1, chunk.size(), pipe))
    output.append(chunk.data(), n);
  ::pclose(pipe);
  return output;
}

/// The fields of a line of CSV in which every field is quoted.
std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = line.find('"'); at != std::string::npos;) {
    const std::size_t end = line.find('"', at + 1);
    if (end == std::string::npos) break;
    result.push_back(line.substr(at + 1, end - at - 1));
    at = line.find('"', end + 1);
  }
  return result;
}

/// What ncu says of the first two launches of a kernel: [launch][metric].
std::vector<std::map<std::string, double>> counted_by_ncu(const std::string& variant,
                                                          const std::string& kernel,
                                                          const std::string& run_options,
                                                          const fs::path& out) {
  std::string names;
  for (const char* metric : metrics) names += std::string(names.empty() ? "" : ",") + metric;
  const std::string csv = output_of(fmt::format(
      "ncu --clock-control none --target-processes all --csv --page raw --metrics {} -k regex:^{} "
      "--launch-count 2 {} run --variant {} --passes timing --quick {} --out {} 2>/dev/null",
      names, kernel, test::program("mprof"), variant, run_options, out.string()));
  std::istringstream lines(csv);
  std::vector<std::string> head;
  std::vector<std::map<std::string, double>> launches;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> row = fields(line);
    if (head.empty()) {
      if (!row.empty() && row.front() == "ID") head = row;
      continue;
    }
    if (row.size() != head.size() || row.front().empty()) continue;  // the line of units has no id
    auto& launch = launches.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::string number = row[i];
      std::erase(number, ',');
      launch[head[i]] = std::strtod(number.c_str(), nullptr);
    }
  }
  return launches;
}

/// What the counters pass kept of a kernel in an op.
double counted(const Case& c, const std::string& metric, const std::string& op, const std::string& kernel) {
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (m.metric != metric || m.op != op || !m.kernel.starts_with(kernel)) continue;
      EXPECT_FALSE(m.samples.empty()) << m.absent;
      return m.samples.empty() ? -1 : m.samples.front();
    }
  }
  ADD_FAILURE() << c.id << " has no " << metric << " of " << kernel << " in " << op;
  return -1;
}

TEST(Ncu, AgreesOnTheSpeedOfLightWithinThreePoints) {
  MPROF_NEED_IMAGES();
  if (std::system("command -v ncu >/dev/null") != 0) GTEST_SKIP() << "ncu is not on PATH";
  const InputPaths inputs = conv::test::input_paths();
  const std::string options =
      fmt::format("--batch 1000 --data {} --weights {}", inputs.at("data"), inputs.at("weights"));
  std::printf("%-20s %-8s %-66s %7s %7s %7s\n", "variant", "op", "metric", "mprof", "ncu", "differ");
  for (const auto& [variant, kernel] : kernels) {
    const test::TemporaryDirectory temporary;
    const fs::path own = temporary.path() / "own";
    const std::string command = fmt::format("{} run --variant {} --passes counters {} --out {} --quiet >&2",
                                            test::program("mprof"), variant, options, own.string());
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    const mprof::Run run = read_run(own);
    const auto launches = counted_by_ncu(variant, kernel, options, temporary.path() / "ncu");
    ASSERT_EQ(launches.size(), 2U) << variant;
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const std::string op = run.cases.at(0).ops.at(layer).name;
      for (const char* metric : metrics) {
        ASSERT_TRUE(launches[layer].contains(metric));
        const double mprof = counted(run.cases.at(0), metric, op, kernel);
        const double ncu = launches[layer].at(metric);
        std::printf("%-20s %-8s %-66s %7.2f %7.2f %+7.2f\n", variant.c_str(), op.c_str(), metric, mprof, ncu,
                    mprof - ncu);
        EXPECT_NEAR(mprof, ncu, allowed) << variant << ' ' << op << ' ' << metric;
      }
    }
  }
}

}  // namespace
}  // namespace mprof
