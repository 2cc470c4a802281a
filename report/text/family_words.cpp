// SPDX-License-Identifier: MIT
#include "report/text/family_words.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

/// The problem of a family without axes.
constexpr const char* no_problem = "this run";

Nouns with_plain_words(Nouns nouns) {
  const auto otherwise = [](std::string& word, const std::string& plain) {
    word = word.empty() ? plain : format::one_line(word);
  };
  otherwise(nouns.item, "output");
  otherwise(nouns.whole, "execution");
  otherwise(nouns.op_time_title, "Op Time");
  otherwise(nouns.total_time_title, "Total Time");
  nouns.group = format::one_line(nouns.group);
  otherwise(nouns.groups, nouns.group);
  otherwise(nouns.group_time_title, format::sentence_case(nouns.group) + " Time");
  return nouns;
}

/// As its family describes it, or by its bare name.
AxisInfo axis_of(const FamilyInfo& family, const std::string& name) {
  AxisInfo axis;
  if (const AxisInfo* known = find_axis(family, name)) axis = *known;
  axis.name = format::one_line(name);
  axis.plural = format::one_line(axis.plural.empty() ? name : axis.plural);
  axis.title = format::one_line(axis.title.empty() ? format::sentence_case(name) : axis.title);
  return axis;
}

/// In the family's order, then in that of the problems: a run made by hand may hold axes that nobody
/// described.
std::vector<std::string> axis_names(const FamilyInfo& family, const std::vector<Problem>& problems) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  const auto occurs = [&](const AxisInfo& axis) {
    return std::ranges::any_of(
        problems, [&](const Problem& problem) { return value_on(problem, axis.name).has_value(); });
  };
  for (const AxisInfo& axis : family.axes) {
    if (occurs(axis)) add(axis.name);
  }
  for (const Problem& problem : problems) {
    for (const Coordinate& coordinate : problem.coordinates) add(coordinate.axis);
  }
  return names;
}

std::string value_text(const Problem& problem, const std::string& axis) {
  const auto value = value_on(problem, axis);
  return value ? std::to_string(*value) : "none";
}

/// "Matrix Size" -> "matrix size"; what is in capitals throughout stays.
std::string lowered(std::string title) {
  for (std::size_t i = 0; i < title.size(); ++i) {
    const bool begins = i == 0 || title[i - 1] == ' ';
    const bool is_name = i + 1 < title.size() && std::isupper(static_cast<unsigned char>(title[i + 1])) != 0;
    if (begins && !is_name) title[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(title[i])));
  }
  return title;
}

}  // namespace

Words::Words(const FamilyInfo& family, const std::vector<Problem>& problems)
    : nouns_(with_plain_words(family.nouns)) {
  std::vector<AxisInfo> fixed;
  for (const std::string& name : axis_names(family, problems)) {
    std::set<std::optional<std::uint64_t>> seen;
    for (const Problem& problem : problems) seen.insert(value_on(problem, name));
    (seen.size() > 1 ? axes_ : fixed).push_back(axis_of(family, name));
  }
  if (axes_.empty()) {
    axes_ = std::move(fixed);
    return;
  }
  for (const AxisInfo& axis : fixed) {
    throughout_ += fmt::format("{}{} {}", throughout_.empty() ? "" : ", ", axis.name,
                               value_text(problems.front(), axis.name));
  }
}

std::string Words::problem(const Problem& problem) const {
  std::vector<std::string> parts;
  for (const AxisInfo& axis : axes_)
    parts.push_back(fmt::format("{} {}", axis.name, value_text(problem, axis.name)));
  return parts.empty() ? no_problem : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Words::in_full(const Problem& problem) const {
  std::vector<std::string> parts;
  for (const Coordinate& coordinate : problem.coordinates)
    parts.push_back(fmt::format("{} {}", format::one_line(coordinate.axis), coordinate.value));
  return parts.empty() ? no_problem : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Words::at(const Problem& problem) const {
  return (axes_.empty() ? "in " : "at ") + this->problem(problem);
}

std::string Words::values(const std::vector<Problem>& problems) const {
  std::vector<std::string> words;
  for (const Problem& one : problems)
    words.push_back(axes_.size() == 1 ? value_text(one, axes_.front().name) : problem(one));
  return axes_.size() == 1 ? format::list(words) : fmt::format("{}", fmt::join(words, "; "));
}

std::string Words::at(const std::vector<Problem>& problems) const {
  if (axes_.empty()) return std::string("in ") + no_problem;
  if (axes_.size() != 1) return "at " + values(problems);
  const AxisInfo& axis = axes_.front();
  return fmt::format("at {} {}", problems.size() == 1 ? axis.name : axis.plural, values(problems));
}

std::string Words::titled(const Problem& problem) const {
  std::vector<std::string> parts;
  for (const AxisInfo& axis : axes_)
    parts.push_back(fmt::format("{} {}", lowered(axis.title), value_text(problem, axis.name)));
  return parts.empty() ? this->problem(problem) : fmt::format("{}", fmt::join(parts, ", "));
}

std::string Words::at_titled(const Problem& problem) const {
  return (axes_.empty() ? "in " : "at ") + titled(problem);
}

std::string Words::one() const {
  return axes_.size() == 1 ? axes_.front().name : "problem";
}

std::string Words::several() const {
  return axes_.size() == 1 ? axes_.front().plural : "problems";
}

std::string Words::every() const {
  return "every " + one();
}

std::string Words::axis_titles() const {
  std::vector<std::string> titles;
  for (const AxisInfo& axis : axes_) titles.push_back(lowered(axis.title));
  return titles.empty() ? "problem" : format::list(titles);
}

std::string Words::an_item() const {
  return with_article(nouns_.item);
}

std::string Words::group() const {
  return has_group() ? nouns_.group : "op with its copies";
}

std::string Words::time(std::string_view metric) const {
  if (metric == "group_time" && !has_group()) return "time of the op with its copies";
  return lowered(time_title(metric));
}

std::string Words::time_label(std::string_view metric) const {
  return format::sentence_case(time(metric));
}

std::string Words::time_title(std::string_view metric) const {
  if (metric == "total_time") return nouns_.total_time_title;
  if (metric != "group_time") return nouns_.op_time_title;
  return has_group() ? nouns_.group_time_title : "Time with Copies";
}

std::string Words::timed(std::string_view op) const {
  return op.empty() ? "the whole " + nouns_.whole : format::short_id(op);
}

std::string time_name(const Words& words, std::string_view metric, std::string_view op) {
  if (metric == "step_time") return "step";
  if (op.empty()) return "total";
  const std::string name = format::one_line(op);
  if (metric == "op_time") return name;
  return fmt::format("{} ({})", name, words.has_group() ? words.time(metric) : "with its copies");
}

std::string with_article(const std::string& noun) {
  const bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + noun;
}

std::string quality_word(const QualityInfo& quality) {
  return lowered(format::one_line(quality.label));
}

std::string metric_label(const FamilyInfo& family, const Words& words, std::string_view metric) {
  for (const std::string_view time : {"op_time", "group_time", "total_time"}) {
    if (metric == time) return words.time_label(metric);
  }
  if (metric == "traced_group_time") return "Traced " + words.time("group_time");
  if (const QualityInfo* quality = find_quality(family, metric)) return format::one_line(quality->label);
  const Metric* row = find_metric(metric);
  return std::string(row == nullptr ? metric : row->label);
}

}  // namespace mprof
