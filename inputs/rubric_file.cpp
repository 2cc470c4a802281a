// SPDX-License-Identifier: MIT
#include "inputs/rubric_file.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "inputs/toml_text.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

constexpr double most_points = 1e6;

/// A table of the file, of these keys alone.
class RubricTable {
 public:
  RubricTable(const toml::table& table, const std::string& file, std::initializer_list<std::string_view> keys)
      : table_(table), file_(file) {
    for (const auto& [key, node] : table) {
      if (std::ranges::find(keys, key.str()) != keys.end()) continue;
      const std::vector<std::string> known(keys.begin(), keys.end());
      refuse(node, key.str(),
             fmt::format("there is no such key.{} A rubric has {}",
                         did_you_mean(std::string(key.str()), known), fmt::join(known, ", ")));
    }
  }

  [[noreturn]] void refuse(const toml::node& node, std::string_view key, const std::string& why) const {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}: {}.", file_, node.source().begin.line, key, why));
  }

  [[nodiscard]] std::optional<double> number(std::string_view key, double least, double most) const {
    const toml::node* const node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !(*value >= least && *value <= most))
      refuse(*node, key, fmt::format("this must be a number from {:g} to {:g}", least, most));
    return value;
  }
  [[nodiscard]] double points() const {
    const auto value = number("points", 0, most_points);
    if (!value) refuse(table_, "points", "this is missing: say how many there are");
    return *value;
  }
  [[nodiscard]] std::string name() const {
    const toml::node* const node = table_.get("name");
    const auto value = node == nullptr ? std::nullopt : node->value_exact<std::string>();
    if (!value || value->empty())
      refuse(node == nullptr ? table_ : *node, "name", "this must be a text, in quotes");
    return *value;
  }
  [[nodiscard]] const toml::table& table() const { return table_; }

 private:
  const toml::table& table_;
  const std::string& file_;
};

TimeRule time_rule(const toml::table& table, const std::string& file) {
  constexpr double most = 1e9, least = 1e-12;
  const RubricTable read(table, file, {"name", "points", "speed_up", "seconds", "from", "to"});
  TimeRule rule{.name = read.name(),
                .points = read.points(),
                .speed_up = read.number("speed_up", least, most),
                .seconds = read.number("seconds", least, most),
                .from = read.number("from", least, most),
                .to = read.number("to", least, most)};
  const int kinds = (rule.speed_up ? 1 : 0) + (rule.seconds ? 1 : 0) + (rule.from || rule.to ? 1 : 0);
  if (kinds != 1) read.refuse(table, rule.name, "give one of speed_up, seconds, and from with to");
  if (rule.from.has_value() != rule.to.has_value() || (rule.from && !(*rule.from < *rule.to)))
    read.refuse(table, rule.name, "from must be given with to, and be less than it");
  return rule;
}

}  // namespace

Rubric parse_rubric(std::string_view text, const std::string& file) {
  const toml::table table = parse_toml(text, file);
  const RubricTable whole(table, file, {"right", "time", "expectations"});
  Rubric rubric{.right = whole.number("right", 0, most_points).value_or(0)};
  if (const toml::node* const times = table.get("time")) {
    const toml::array* const array = times->as_array();
    if (array == nullptr || !array->is_homogeneous<toml::table>())
      whole.refuse(*times, "time", "write each one as a table below [[time]]");
    for (const toml::node& time : *array) rubric.times.push_back(time_rule(*time.as_table(), file));
  }
  if (const toml::node* const expectations = table.get("expectations")) {
    if (!expectations->is_table())
      whole.refuse(*expectations, "expectations", "write it as a table below [expectations]");
    rubric.expectations = RubricTable(*expectations->as_table(), file, {"points"}).points();
  }
  return rubric;
}

Rubric read_rubric(const std::filesystem::path& file) {
  constexpr std::uintmax_t largest = std::uintmax_t{1} << 20;
  return parse_rubric(read_file(file, largest), file.string());
}

}  // namespace mprof
