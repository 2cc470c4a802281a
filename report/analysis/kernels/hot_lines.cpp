// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/hot_lines.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace mprof {
namespace {

/// Lines with less are noise to whoever looks for the hot ones.
constexpr double least_share = 0.02;

constexpr std::string_view not_selected = "not_selected", selected = "selected";

double samples_of(const SourceLine& line, std::string_view stall) {
  const auto found =
      std::ranges::find(line.stalls, stall, [](const auto& one) -> std::string_view { return one.first; });
  return found == line.stalls.end() ? 0 : static_cast<double>(found->second);
}

double telling_samples(const SourceLine& line) {
  return static_cast<double>(line.samples) - samples_of(line, not_selected);
}

Wait most_frequent_wait(const SourceLine& line) {
  const std::vector<Wait> waits = waits_of({&line, 1});
  return waits.empty() ? Wait{} : waits.front();
}

HotLines hottest(const std::vector<const SourceLine*>& lines, std::size_t most) {
  HotLines hot;
  for (const SourceLine* line : lines) {
    hot.samples += telling_samples(*line);
    hot.issuing += samples_of(*line, selected);
  }
  const auto part = [](double some, double whole) { return whole > 0 ? some / whole : 0; };
  for (const SourceLine* line : lines) {
    const double share = part(telling_samples(*line), hot.samples);
    if (line->file.empty() || share < least_share) continue;
    hot.lines.push_back(
        {line, share, part(samples_of(*line, selected), hot.issuing), most_frequent_wait(*line)});
  }
  std::ranges::stable_sort(hot.lines, std::greater{}, &HotLine::share);
  if (hot.lines.size() > most) hot.lines.resize(most);
  return hot;
}

}  // namespace

std::vector<Wait> waits_of(std::span<const SourceLine> lines) {
  std::map<std::string_view, double> counts;
  for (const SourceLine& line : lines) {
    for (const auto& [stall, count] : line.stalls) {
      if (stall != not_selected && count > 0) counts[stall] += static_cast<double>(count);
    }
  }
  const double all = telling_samples(lines);
  std::vector<Wait> waits;
  for (const auto& [stall, count] : counts) {
    Wait& wait = waits.emplace_back(Wait{std::string(stall == selected ? "issuing" : stall), count / all});
    std::ranges::replace(wait.reason, '_', ' ');
  }
  std::ranges::stable_sort(waits, std::greater{}, &Wait::share);
  return waits;
}

double telling_samples(std::span<const SourceLine> lines) {
  double all = 0;
  for (const SourceLine& line : lines) all += telling_samples(line);
  return all;
}

HotLines hottest_of(std::span<const SourceLine> lines, std::size_t most) {
  std::vector<const SourceLine*> all;
  for (const SourceLine& line : lines) all.push_back(&line);
  return hottest(all, most);
}

std::vector<HotLines> hot_lines_of(const Case& c, std::size_t most) {
  const PassResult* const source = find_pass(c, Pass::source);
  if (source == nullptr) return {};
  std::vector<std::string> ops;
  for (const SourceLine& line : source->source_lines) {
    if (std::ranges::count(ops, line.op) == 0) ops.push_back(line.op);
  }
  std::vector<HotLines> all;
  for (const std::string& op : ops) {
    std::vector<const SourceLine*> own;
    for (const SourceLine& line : source->source_lines) {
      if (line.op == op) own.push_back(&line);
    }
    HotLines hot = hottest(own, most);
    hot.op = op;
    if (!hot.lines.empty()) all.push_back(std::move(hot));
  }
  return all;
}

}  // namespace mprof
