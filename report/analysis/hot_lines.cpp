#include "report/analysis/hot_lines.hpp"

#include <algorithm>

namespace mprof {
namespace {

/// Lines with less are noise to whoever looks for the hot ones.
constexpr double least_share = 0.02;

Wait most_frequent_wait(const SourceLine& line) {
  const auto most = std::ranges::max_element(line.stalls, {}, [](const auto& stall) { return stall.second; });
  if (most == line.stalls.end() || line.samples == 0) return {};
  std::string reason = most->first == "selected" ? "issuing" : most->first;
  std::ranges::replace(reason, '_', ' ');
  return {std::move(reason), static_cast<double>(most->second) / static_cast<double>(line.samples)};
}

HotLines hot_lines_of(const std::string& op, const std::vector<SourceLine>& all) {
  HotLines hot{.op = op};
  for (const SourceLine& line : all) {
    if (line.op == op) hot.samples += static_cast<double>(line.samples);
  }
  for (const SourceLine& line : all) {
    const double share = hot.samples > 0 ? static_cast<double>(line.samples) / hot.samples : 0;
    if (line.op != op || line.file.empty() || share < least_share) continue;
    hot.lines.push_back({&line, share, most_frequent_wait(line)});
  }
  std::ranges::stable_sort(hot.lines, std::greater{}, &HotLine::share);
  if (hot.lines.size() > most_hot_lines) hot.lines.resize(most_hot_lines);
  return hot;
}

}  // namespace

std::vector<HotLines> hot_lines_of(const Case& c) {
  const PassResult* const source = find_pass(c, Pass::source);
  if (source == nullptr) return {};
  std::vector<HotLines> all;
  for (const OpInfo& op : c.ops) {
    HotLines hot = hot_lines_of(op.name, source->source_lines);
    if (!hot.lines.empty()) all.push_back(std::move(hot));
  }
  return all;
}

}  // namespace mprof
