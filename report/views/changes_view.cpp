// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/views.hpp"

/// What changed with the times of two runs, in words.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_kernel_name = 40;

/// "GPU time 1.20 → 0.90 ms"; of one side "grid 128".
std::string figure_text(const FigureChange& figure) {
  const bool both = figure.before && figure.after;
  const double one = figure.after.value_or(figure.before.value_or(0));
  return fmt::format(
      "{} {}", figure.label,
      both ? format::from_to(*figure.before, *figure.after, figure.unit) : format::about(one, figure.unit));
}

std::string figures_text(const std::vector<FigureChange>& figures) {
  std::vector<std::string> texts;
  for (const FigureChange& figure : figures) texts.push_back(figure_text(figure));
  return format::list(texts);
}

std::string kernel_text(const KernelChange& kernel) {
  const auto name = [](const std::string& text) {
    return format::elide(format::one_line(text), longest_kernel_name);
  };
  std::string text = kernel.fate == KernelFate::removed ? name(kernel.before) : name(kernel.after);
  if (kernel.fate == KernelFate::changed && kernel.before != kernel.after)
    text = fmt::format("{} → {}", name(kernel.before), text);
  text = fmt::format("Kernel {}: {}", to_string(kernel.fate), text);
  return kernel.figures.empty() ? text : fmt::format("{}; {}", text, figures_text(kernel.figures));
}

json op_view(const Words& words, const OpChange& op) {
  json items = json::array(), kernels = json::array();
  for (const Explanation& explanation : op.explanations) items.push_back(explained_view(words, explanation));
  for (const KernelChange& kernel : op.kernels) kernels.push_back(kernel_text(kernel));
  return {{"op", format::one_line(op.op)},
          {"items", items},
          {"figures", format::sentence_case(figures_text(op.figures))},
          {"kernels", kernels},
          {"has_kernels", !op.kernels.empty()}};
}

/// Lines that begin with `lead`, the others as far in.
void add_lines(std::string& text, std::string_view lead, const json& words, std::size_t width) {
  const std::string sentence = words.get<std::string>();
  if (sentence.empty()) return;
  text += fmt::format("{}{}\n", lead, format::wrapped(sentence, width, lead.size()));
}

void add_item(std::string& text, const json& item, std::size_t width) {
  const std::string kernels = item["kernels"].get<std::string>();
  add_lines(text, "  ",
            fmt::format("{}: {}, {}{}{}", item["op"].get<std::string>(), item["verdict"].get<std::string>(),
                        item["times"].get<std::string>(), kernels.empty() ? "" : "; ", kernels),
            width);
  add_lines(text, "    ", item["silence"], width);
  for (const json& list : item["lists"]) {
    add_lines(text, "    ", list["head"].get<std::string>() + ":", width);
    for (const json& reason : list["reasons"]) add_lines(text, "    - ", reason["text"], width);
    add_lines(text, "    - ", list["more"], width);
  }
  add_lines(text, "    ", item["missing"], width);
}

}  // namespace

json changes_view(const Comparison& comparison, std::size_t most) {
  json changes = json::array();
  for (const CaseComparison* c : comparison.by_importance()) {
    if (changes.size() == most) break;
    if (c->ops.empty()) continue;
    json ops = json::array();
    for (const OpChange& op : c->ops) ops.push_back(op_view(words_of(comparison, *c), op));
    changes.push_back({{"name", compared_name(*c)}, {"ops", ops}});
  }
  return changes;
}

std::string change_text(const json& change, std::size_t width) {
  std::string text = change["name"].get<std::string>() + "\n";
  for (const json& op : change["ops"]) {
    if (op["items"].empty()) text += fmt::format("  {}\n", op["op"].get<std::string>());
    for (const json& item : op["items"]) add_item(text, item, width);
    add_lines(text, "    ", op["figures"], width);
    for (const json& kernel : op["kernels"]) add_lines(text, "    ", kernel, width);
  }
  return text;
}

}  // namespace mprof
