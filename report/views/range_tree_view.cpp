// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "report/analysis/program/range_tree.hpp"
#include "report/text/format.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/table.hpp"
#include "report/wording/range_tree.hpp"

/// The tree of a program's NVTX ranges, line by line.
namespace mprof {
namespace {

using nlohmann::json;

/// A line of the tree.
struct Line {
  const RangeNode* node = nullptr;
  std::string name;
  std::size_t depth = 0;
  std::size_t closes = 0;  ///< how many lists end behind it
};

void add_lines(const std::vector<RangeNode>& nodes, std::size_t depth, std::vector<Line>& lines) {
  constexpr std::size_t longest_name = 72;
  std::vector<std::string> names;
  for (const RangeNode& node : nodes) names.push_back(range_name(node));
  names = format::elide_apart(names, longest_name);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    lines.push_back({&nodes[i], names[i], depth});
    add_lines(nodes[i].children, depth + 1, lines);
    if (!nodes[i].children.empty()) ++lines.back().closes;
  }
}

/// What a step takes of a sum over all of them.
class PerStep {
 public:
  explicit PerStep(const RangeTree& tree) : tree_(tree) {}
  [[nodiscard]] double seconds(std::int64_t ns) const {
    constexpr double second_of_ns = 1e-9;
    return static_cast<double>(ns) * second_of_ns / steps();
  }
  [[nodiscard]] std::string time(std::int64_t ns) const {
    return ns == 0 ? "–" : format::quantity(seconds(ns), Unit::second);
  }
  [[nodiscard]] double calls(const RangeNode& node) const {
    return static_cast<double>(node.calls) / steps();
  }
  [[nodiscard]] double share(const RangeNode& node) const {
    return tree_.gpu > 0 ? static_cast<double>(node.gpu) / static_cast<double>(tree_.gpu) : 0;
  }

 private:
  [[nodiscard]] double steps() const { return static_cast<double>(tree_.steps); }
  const RangeTree& tree_;
};

json rows_view(const std::vector<Line>& lines, const RangeTree& tree) {
  const PerStep per_step(tree);
  json rows = json::array();
  for (const Line& line : lines) {
    const RangeNode& node = *line.node;
    const bool unfolds = !node.children.empty();
    rows.push_back({{"name", line.name},
                    {"folded", node.folded > 0},
                    {"gpu", per_step.time(node.gpu)},
                    {"gpu_self", per_step.time(node.gpu_self)},
                    {"has_backward", tree.has_backward},
                    {"backward", per_step.time(node.gpu_backward)},
                    {"host", per_step.time(node.host)},
                    {"host_self", per_step.time(node.host_self)},
                    {"calls", format::significant(per_step.calls(node), 3)},
                    {"share", format::percent(per_step.share(node))},
                    {"percent", fmt::format("{:.1f}", 100 * std::min(1.0, per_step.share(node)))},
                    {"elsewhere", node.elsewhere},
                    {"captured", node.captured},
                    {"unfolds", unfolds},
                    {"open", unfolds && line.depth == 0 && tree.roots.size() == 1},
                    {"closes", std::vector<std::string>(line.closes, "1")}});
  }
  return rows;
}

/// Behind the name of a range that did not itself launch its work on the steps' thread.
std::string where_of(const RangeNode& node) {
  if (node.captured) return " (captured)";
  return node.elsewhere ? " (another thread)" : "";
}

/// The same for Markdown: a point for each range that a range lies in.
Table table_of(const std::vector<Line>& lines, const RangeTree& tree, const PageContext& page) {
  const PerStep per_step(tree);
  Table table(page.anchor("program ranges"), range_tree_caption(tree));
  table.text("Range").numbers("GPU", Unit::second).numbers("GPU self", Unit::second);
  if (tree.has_backward) table.numbers("Its backward pass", Unit::second);
  table.numbers("Host", Unit::second).numbers("Host self", Unit::second);
  table.numbers("Calls a step").numbers("Share of GPU");
  const auto time = [&](std::int64_t ns) {
    return ns == 0 ? Cell::dash() : Cell::bare(derived_value(per_step.seconds(ns)));
  };
  for (const Line& line : lines) {
    std::string name;
    for (std::size_t i = 0; i < line.depth; ++i) name += "· ";
    const double calls = per_step.calls(*line.node), share = per_step.share(*line.node);
    std::vector<Cell> cells{Cell::words(name + line.name + where_of(*line.node)), time(line.node->gpu),
                            time(line.node->gpu_self)};
    if (tree.has_backward) cells.push_back(time(line.node->gpu_backward));
    cells.push_back(time(line.node->host));
    cells.push_back(time(line.node->host_self));
    cells.push_back(Cell::figure(format::significant(calls, 3)).valued(calls));
    cells.push_back(Cell::figure(format::percent(share)).valued(share));
    table.row(std::move(cells));
  }
  return table;
}

}  // namespace

json range_tree_view(const ProgramPicture& picture, const PageContext& page) {
  constexpr std::size_t most_lines = 250;
  if (!picture.steps) return false;
  const trace::Trace& trace = *page.materials->evidence.profile;
  const auto whole = range_tree_of(trace, picture.index, *picture.steps);
  if (!whole || whole->roots.empty()) return false;
  const RangeTree tree = folded(*whole, most_lines);
  std::vector<Line> lines;
  add_lines(tree.roots, 0, lines);
  return {{"caption", range_tree_caption(tree)},
          {"has_backward", tree.has_backward},
          {"rows", rows_view(lines, tree)},
          {"remarks", range_tree_remarks(*whole)},
          {"table", table_of(lines, tree, page).view()}};
}

}  // namespace mprof
