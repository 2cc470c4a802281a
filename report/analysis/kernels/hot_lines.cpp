// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/hot_lines.hpp"

#include <algorithm>
#include <functional>
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
  Wait most;
  const double all = telling_samples(line);
  for (const auto& [stall, count] : line.stalls) {
    const double share = all > 0 ? static_cast<double>(count) / all : 0;
    if (stall == not_selected || share <= most.share) continue;
    most = {stall == selected ? "issuing" : stall, share};
  }
  std::ranges::replace(most.reason, '_', ' ');
  return most;
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
