// SPDX-License-Identifier: MIT
#include "tests/gpu/ncu.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/statistics/median.hpp"
#include "tests/gpu/paths.hpp"

namespace mprof::test {
namespace {

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

}  // namespace

bool has_ncu() {
  return std::system("command -v ncu >/dev/null") == 0;
}

std::vector<NcuLaunch> counted_by_ncu(std::span<const char* const> metrics, const std::string& options,
                                      const std::string& command) {
  const std::string csv = output_of(
      fmt::format("ncu --clock-control none --print-units base --target-processes all --csv --page raw "
                  "--metrics {} {} {} 2>/dev/null",
                  fmt::join(metrics, ","), options, command));
  std::istringstream lines(csv);
  std::vector<std::string> head;
  std::vector<NcuLaunch> launches;
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> row = fields(line);
    if (head.empty()) {
      if (!row.empty() && row.front() == "ID") head = row;
      continue;
    }
    if (row.size() != head.size() || row.front().empty()) continue;  // the line of units has no id
    NcuLaunch& launch = launches.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (head[i] == "Kernel Name") launch.kernel = row[i];
      if (head[i] == "Grid Size") launch.grid = row[i];
      if (head[i] == "Block Size") launch.block = row[i];
      if (std::ranges::find(metrics, head[i]) == metrics.end()) continue;
      std::string number = row[i];
      std::erase(number, ',');
      launch.metrics[head[i]] = std::strtod(number.c_str(), nullptr);
    }
  }
  return launches;
}

double bytes_written_by_ncu(const std::string& run_options, const std::filesystem::path& out) {
  std::vector<double> written;
  for (const NcuLaunch& launch :
       counted_by_ncu(traffic, "-k regex:^read_beyond_cache --launch-skip 1 --launch-count 5",
                      fmt::format("{} run --variant conv/per_layer --passes timing --quick {} --out {}",
                                  program("mprof"), run_options, out.string()))) {
    written.push_back(launch.metrics.at("dram__bytes_write.sum"));
  }
  return written.empty() ? -1 : median(written);
}

}  // namespace mprof::test
