// SPDX-License-Identifier: MIT
#include "inputs/suite_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs/suite_presets.hpp"
#include "inputs/toml_text.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

bool is_lower_word(std::string_view text) {
  return !text.empty() && std::islower(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(
             text, [](unsigned char c) { return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_'; });
}

/// Goes through a text: what stands in braces and is a word goes to `axis`, all else to `text`.
void walk(std::string_view text, const std::function<void(std::string_view)>& plain,
          const std::function<void(std::string_view)>& axis) {
  while (!text.empty()) {
    const std::size_t close = text.find('}');
    const bool is_axis =
        text.front() == '{' && close != std::string_view::npos && is_lower_word(text.substr(1, close - 1));
    if (is_axis) {
      axis(text.substr(1, close - 1));
      text.remove_prefix(close + 1);
      continue;
    }
    plain(text.substr(0, 1));
    text.remove_prefix(text.starts_with("{{") ? 2 : 1);
  }
}

/// A table of the file. What it holds is asked for by key; a key that is none is refused before.
class Section {
 public:
  Section(const toml::table& table, const std::string& file, std::string path,
          std::initializer_list<std::string_view> keys)
      : table_(table), file_(file), path_(std::move(path)) {
    if (keys.size() > 0) require_keys({keys.begin(), keys.end()});
  }

  [[noreturn]] void refuse(std::string_view key, std::string_view why) const {
    refuse_at(table_.get(key), key, why);
  }
  [[noreturn]] void refuse_at(const toml::node* node, std::string_view key, std::string_view why) const {
    const auto line = (node == nullptr ? table_ : *node).source().begin.line;
    const std::string name = path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}: {}.", file_, line, name, why));
  }

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] bool is_text(std::string_view key) const { return has(key) && table_.get(key)->is_string(); }
  [[nodiscard]] std::size_t line_of(std::string_view key) const {
    return table_.get(key)->source().begin.line;
  }

  [[nodiscard]] std::string text(std::string_view key, const std::string& without = {}) const {
    if (!has(key)) return without;
    const auto value = table_.get(key)->value_exact<std::string>();
    if (!value) refuse(key, "this must be a text, in quotes");
    return *value;
  }
  [[nodiscard]] std::string required_text(std::string_view key, std::string_view example) const {
    if (!has(key)) refuse(key, fmt::format("this key is missing; write for example {}", example));
    std::string value = text(key);
    if (value.empty()) refuse(key, "this is empty");
    return value;
  }
  [[nodiscard]] std::vector<std::string> texts(std::string_view key, std::string_view example) const {
    std::vector<std::string> all;
    if (!has(key)) return all;
    const toml::array* const list = table_.get(key)->as_array();
    if (list == nullptr) refuse(key, fmt::format("this must be a list of texts, as in {}", example));
    for (const toml::node& node : *list) {
      const auto value = node.value_exact<std::string>();
      if (!value) refuse_at(&node, key, fmt::format("each must be a text in quotes, as in {}", example));
      all.push_back(*value);
    }
    if (all.empty()) refuse(key, fmt::format("this list is empty; write for example {}", example));
    return all;
  }
  /// A command line.
  [[nodiscard]] std::vector<std::string> command(std::string_view key) const {
    std::vector<std::string> words = texts(key, R"(["./program", "argument"])");
    if (has(key) && words.front().empty()) refuse(key, "its first word is empty, and no program");
    return words;
  }
  [[nodiscard]] std::optional<double> number(std::string_view key) const {
    if (!has(key)) return std::nullopt;
    const auto value = table_.get(key)->value<double>();
    if (!value || !table_.get(key)->is_number() || !std::isfinite(*value))
      refuse(key, "this must be a number");
    return value;
  }
  [[nodiscard]] std::vector<std::uint64_t> whole_numbers(std::string_view key) const {
    std::vector<std::uint64_t> all;
    if (!has(key)) return all;
    constexpr std::string_view why = "this must be a list of whole numbers of at least 1, as in [100, 1000]";
    const toml::array* const list = table_.get(key)->as_array();
    if (list == nullptr || list->empty()) refuse(key, why);
    for (const toml::node& node : *list) {
      const auto value = node.value_exact<std::int64_t>();
      if (!value || *value < 1) refuse_at(&node, key, why);
      all.push_back(static_cast<std::uint64_t>(*value));
    }
    return all;
  }
  [[nodiscard]] const toml::table* table(std::string_view key) const {
    if (!has(key)) return nullptr;
    const toml::table* const found = table_.get(key)->as_table();
    if (found == nullptr) refuse(key, fmt::format("this must be a table, as in [{}]", key));
    return found;
  }
  /// Those of [[key]].
  [[nodiscard]] std::vector<const toml::table*> tables(std::string_view key) const {
    std::vector<const toml::table*> all;
    if (!has(key)) return all;
    const toml::array* const list = table_.get(key)->as_array();
    if (list == nullptr) refuse(key, fmt::format("these are tables: write [[{}]]", key));
    for (const toml::node& node : *list) {
      if (!node.is_table()) refuse_at(&node, key, fmt::format("these are tables: write [[{}]]", key));
      all.push_back(node.as_table());
    }
    return all;
  }
  /// In the order of the file.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::pair<toml::source_position, std::string>> found;
    for (const auto& [key, node] : table_) found.emplace_back(key.source().begin, std::string(key.str()));
    std::ranges::sort(found);
    std::vector<std::string> all;
    for (auto& [place, key] : found) all.push_back(std::move(key));
    return all;
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] Section within(const toml::table& table, const std::string& key,
                               std::initializer_list<std::string_view> keys = {}) const {
    return {table, file_, path_.empty() ? key : path_ + "." + key, keys};
  }

 private:
  void require_keys(const std::vector<std::string>& known) const {
    for (const std::string& key : keys()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      refuse(key, fmt::format("there is no such key here.{} There are {}", did_you_mean(key, known),
                              fmt::join(known, ", ")));
    }
  }

  const toml::table& table_;
  const std::string& file_;
  std::string path_;
};

/// Makes a suite of its file.
class SuiteReader {
 public:
  SuiteReader(const toml::table& table, const std::string& file)
      : top_(table, file, "",
             {"name", "title", "preset", "nouns", "axes", "numbers", "ops", "verify", "folder", "environment",
              "timeout", "build", "programs"}) {}

  Suite read() {
    suite_.name = name_in(top_);
    if (suite_.name == "program") top_.refuse("name", "programs that are in no suite are called so");
    suite_.title = top_.text("title", "The suite " + suite_.name);
    read_axes();
    read_preset();
    read_nouns();
    read_numbers();
    if (top_.has("ops")) suite_.ops = top_.texts("ops", R"(["forward", "backward"])");
    defaults_ = shared(top_, {});
    for (const toml::table* table : top_.tables("programs")) read_program(*table);
    if (suite_.programs.empty())
      top_.refuse("programs", "it is missing; a program is a table [[programs]] with a name and a command");
    require_baselines();
    return std::move(suite_);
  }

 private:
  static std::string name_in(const Section& section) {
    const std::string name = section.required_text("name", R"(name = "first")");
    const bool is_name = name.front() != '.' && std::ranges::all_of(name, [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
                         });
    if (!is_name)
      section.refuse("name",
                     fmt::format("'{}' is no name: letters, digits, '.', '_', '-' and '+' make one", name));
    return name;
  }

  void read_axes() {
    const toml::table* const axes = top_.table("axes");
    if (axes == nullptr) return;
    const Section all = top_.within(*axes, "axes");
    for (const std::string& name : all.keys()) {
      if (!is_lower_word(name)) all.refuse(name, "an axis is called with lower-case letters, digits and '_'");
      const toml::table* const table = all.table(name);
      const Section axis = all.within(*table, name, {"values", "quick", "title", "plural", "meaning"});
      if (!axis.has("values"))
        axis.refuse("values", "this key is missing: on which values the programs are run, as in [100, 1000]");
      SuiteAxis read{.values = axis.whole_numbers("values"), .quick = axis.whole_numbers("quick")};
      if (read.quick.empty()) read.quick = {std::ranges::min(read.values)};
      read.info = {.name = name,
                   .plural = axis.text("plural", name.size() == 1 ? name : name + "s"),
                   .title = axis.text("title", name),
                   .meaning = axis.text("meaning", "an argument of the programs"),
                   .default_value = read.values.front()};
      suite_.axes.push_back(std::move(read));
    }
  }

  void read_preset() {
    suite_.nouns = {.whole = "program",
                    .group = "range",
                    .groups = "ranges",
                    .op_time_title = "Op Time",
                    .group_time_title = "Range Time",
                    .total_time_title = "Total Time"};
    const std::string name = top_.text("preset");
    if (!top_.has("preset")) return;
    std::vector<std::string> known;
    for (const SuitePreset& preset : suite_presets()) {
      known.push_back(preset.name);
      if (preset.name != name) continue;
      suite_.nouns = preset.nouns;
      suite_.numbers = preset.numbers;
      suite_.qualities = preset.qualities;
      suite_.ops = preset.ops;
      return;
    }
    top_.refuse("preset", fmt::format("there is no preset '{}'.{} There is {}", name,
                                      did_you_mean(name, known), fmt::join(known, ", ")));
  }

  void read_nouns() {
    const toml::table* const table = top_.table("nouns");
    if (table == nullptr) return;
    const Section nouns = top_.within(*table, "nouns",
                                      {"item", "items", "whole", "group", "groups", "op_time_title",
                                       "group_time_title", "total_time_title"});
    Nouns& of = suite_.nouns;
    for (const auto& [key, noun] : std::initializer_list<std::pair<std::string_view, std::string*>>{
             {"item", &of.item},
             {"items", &of.items},
             {"whole", &of.whole},
             {"group", &of.group},
             {"groups", &of.groups},
             {"op_time_title", &of.op_time_title},
             {"group_time_title", &of.group_time_title},
             {"total_time_title", &of.total_time_title}}) {
      if (nouns.has(key)) *noun = nouns.required_text(key, "a word");
    }
  }

  void read_numbers() {
    const toml::table* const numbers = top_.table("numbers");
    if (numbers == nullptr) return;
    const Section all = top_.within(*numbers, "numbers");
    for (const std::string& metric : all.keys()) read_number(all, metric);
  }

  void read_number(const Section& all, const std::string& metric) {
    const bool is_of_ops = metric == "op_time" || metric == "group_time";
    if (!is_lower_word(metric))
      all.refuse(metric, "a number is called with lower-case letters, digits and '_'");
    if (!is_of_ops && find_metric(metric) != nullptr)
      all.refuse(metric, "this is a metric that mprof measures itself; give the number another name");
    const toml::table empty;
    const bool is_short = all.is_text(metric);
    const toml::table* const table = is_short ? &empty : all.table(metric);
    const Section number = all.within(*table, metric, {"pattern", "label", "meaning", "better", "tolerance"});
    const std::string text =
        is_short ? all.text(metric) : number.required_text("pattern", R"(pattern = "Time: {ms} ms")");
    const NumberPattern pattern = pattern_in(is_short ? all : number, is_short ? metric : "pattern", text);
    if (is_of_ops && pattern.unit().unit != Unit::second)
      all.refuse(metric, "this is a time: say in braces whether it is in {s}, {ms}, {us} or {ns}");
    std::erase_if(suite_.numbers, [&](const SuiteNumber& known) { return known.metric == metric; });
    suite_.numbers.push_back({metric, pattern});
    if (!is_of_ops) add_quality(number, metric, pattern);
  }

  static NumberPattern pattern_in(const Section& section, const std::string& key, const std::string& text) {
    try {
      return NumberPattern(text);
    } catch (const std::invalid_argument& error) {
      section.refuse(key, error.what());
    }
  }

  void add_quality(const Section& number, const std::string& metric, const NumberPattern& pattern) {
    QualityInfo quality{.metric = metric,
                        .label = number.text("label", metric),
                        .meaning = number.text("meaning", "A number that the program prints."),
                        .unit = pattern.unit().unit,
                        .better = Better::neither};
    const std::string better = number.text("better", "neither");
    if (!from_string(better, quality.better))
      number.refuse("better", fmt::format("'{}' is not one of higher, lower and neither.{}", better,
                                          did_you_mean(better, {"higher", "lower", "neither"})));
    quality.tolerance = not_negative(number, "tolerance") * pattern.unit().scale;
    std::erase_if(suite_.qualities, [&](const QualityInfo& known) { return known.metric == metric; });
    suite_.qualities.push_back(std::move(quality));
  }

  static double not_negative(const Section& section, std::string_view key) {
    const double value = section.number(key).value_or(0);
    if (value < 0) section.refuse(key, "this must not be negative");
    return value;
  }

  /// What a program has of the suite unless it says so itself.
  SuiteProgram shared(const Section& section, SuiteProgram program) {
    if (section.has("folder")) program.folder = with_axes(section, "folder", section.text("folder"));
    if (section.has("build")) program.build = section.command("build");
    if (section.has("timeout")) {
      program.timeout = section.number("timeout");
      if (*program.timeout <= 0) section.refuse("timeout", "this must be a number of seconds above 0");
    }
    if (const toml::table* const table = section.table("environment")) {
      const Section variables = section.within(*table, "environment");
      for (const std::string& name : variables.keys()) {
        if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
          variables.refuse(name, "this is no name of a variable");
        program.environment[name] = with_axes(variables, name, variables.text(name));
      }
    }
    if (const toml::table* const table = section.table("verify"))
      program.verification = verification_in(section.within(
          *table, "verify", {"command", "expected", "output", "number", "value", "tolerance"}));
    return program;
  }

  SuiteVerification verification_in(const Section& verify) {
    const int ways =
        (verify.has("command") ? 1 : 0) + (verify.has("expected") ? 1 : 0) + (verify.has("number") ? 1 : 0);
    if (ways != 1)
      verify.refuse("command",
                    "give one of command (which ends with 0 where the output is right), expected (a "
                    "file) and number (that the program prints)");
    SuiteVerification read{.command = with_axes(verify, "command", verify.command("command")),
                           .expected = with_axes(verify, "expected", verify.text("expected")),
                           .number = verify.text("number"),
                           .output = with_axes(verify, "output", verify.text("output")),
                           .value = verify.number("value"),
                           .tolerance = not_negative(verify, "tolerance")};
    if (verify.has("output") && read.expected.empty())
      verify.refuse("output", "this is the file to compare with the one of expected, which is missing");
    if (verify.has("tolerance") && !read.command.empty())
      verify.refuse("tolerance", "a command decides by itself what is right");
    if (read.value.has_value() != verify.has("number"))
      verify.refuse("value", "value is what the number of `number` must be: give both");
    if (!read.value) return read;
    const auto number = std::ranges::find(suite_.numbers, read.number, &SuiteNumber::metric);
    if (number == suite_.numbers.end() || number->is_of_ops()) {
      std::vector<std::string> known;
      for (const QualityInfo& quality : suite_.qualities) known.push_back(quality.metric);
      verify.refuse("number", fmt::format("the suite has no number '{}'.{} They are in [numbers]",
                                          read.number, did_you_mean(read.number, known)));
    }
    const double scale = number->pattern.unit().scale;
    read.value = *read.value * scale;
    read.tolerance *= scale;
    return read;
  }

  /// Each word in braces must be an axis.
  std::string with_axes(const Section& section, std::string_view key, std::string text) const {
    walk(
        text, [](std::string_view) {},
        [&](std::string_view word) {
          std::vector<std::string> known;
          for (const SuiteAxis& axis : suite_.axes) known.push_back(axis.info.name);
          if (std::ranges::find(known, word) != known.end()) return;
          section.refuse(key,
                         fmt::format("{{{0}}} is no axis of the suite.{1} An axis is a table [axes.{0}]; "
                                     "where the braces are meant, write {{{{{0}}}",
                                     word, did_you_mean(word, known)));
        });
    return text;
  }
  std::vector<std::string> with_axes(const Section& section, std::string_view key,
                                     std::vector<std::string> words) const {
    for (const std::string& word : words) static_cast<void>(with_axes(section, key, word));
    return words;
  }

  void read_program(const toml::table& table) {
    const std::string path = fmt::format("programs[{}]", suite_.programs.size() + 1);
    const Section section = top_.within(table, path,
                                        {"name", "title", "idea", "baseline", "expect", "command", "build",
                                         "environment", "folder", "timeout", "verify"});
    SuiteProgram program = shared(section, defaults_);
    program.name = name_in(section);
    if (suite_.program(program.name) != nullptr)
      section.refuse("name", fmt::format("there are two programs '{}'", program.name));
    program.title = section.text("title", program.name);
    program.idea = section.text("idea");
    program.baseline = section.text("baseline");
    if (!section.has("command"))
      section.refuse("command", R"(this key is missing: what is run, as in ["./program", "argument"])");
    program.command = with_axes(section, "command", section.command("command"));
    program.line = section.line_of("command");
    for (const toml::table* row : section.tables("expect"))
      program.expectations.push_back(
          expectation_in(section.within(*row, "expect", {"metric", "op", "direction", "factor", "because"})));
    suite_.programs.push_back(std::move(program));
    sections_.push_back(section);
  }

  Expectation expectation_in(const Section& section) const {
    Expectation read{
        .metric = section.required_text("metric", R"(metric = "op_time")"),
        .op = section.text("op"),
        .factor = section.number("factor"),
        .because = section.required_text("because", R"(because = "it copies while it computes")")};
    std::vector<std::string> known;
    for (const Metric& metric : metric_catalogue()) known.emplace_back(metric.id);
    for (const QualityInfo& quality : suite_.qualities) known.push_back(quality.metric);
    const bool is_counted = read.metric.find("__") != std::string::npos;  // as Nsight Compute calls them
    if (!is_counted && std::ranges::find(known, read.metric) == known.end())
      section.refuse("metric", fmt::format("there is no metric '{}'.{} docs/formats/export.md lists them",
                                           read.metric, did_you_mean(read.metric, known)));
    const std::string direction = section.required_text("direction", R"(direction = "decreases")");
    if (!from_string(direction, read.direction))
      section.refuse("direction",
                     fmt::format("'{}' is not one of decreases, increases and unchanged.{}", direction,
                                 did_you_mean(direction, {"decreases", "increases", "unchanged"})));
    if (read.factor && *read.factor <= 1) section.refuse("factor", "a change is by a factor above 1");
    return read;
  }

  void require_baselines() const {
    for (std::size_t i = 0; i < suite_.programs.size(); ++i) {
      std::set<std::string_view> below{suite_.programs[i].name};
      for (const SuiteProgram* one = &suite_.programs[i]; !one->baseline.empty();) {
        const SuiteProgram* const next = suite_.program(one->baseline);
        std::vector<std::string> known;
        for (const SuiteProgram& program : suite_.programs) known.push_back(program.name);
        if (next == nullptr)
          sections_[i].refuse("baseline",
                              fmt::format("the suite has no program '{}'.{} It has {}", one->baseline,
                                          did_you_mean(one->baseline, known), fmt::join(known, ", ")));
        if (!below.insert(next->name).second)
          sections_[i].refuse("baseline", "this leads back to the program itself: one must have no baseline");
        one = next;
      }
    }
  }

  Section top_;
  std::vector<Section> sections_;  ///< of the programs
  SuiteProgram defaults_;
  Suite suite_;
};

}  // namespace

const SuiteProgram* Suite::program(std::string_view program) const {
  const auto found = std::ranges::find(programs, program, &SuiteProgram::name);
  return found == programs.end() ? nullptr : &*found;
}

Suite parse_suite(std::string_view text, const fs::path& file) {
  const std::string name = file.string();
  const toml::table table = parse_toml(text, name);
  Suite suite = SuiteReader(table, name).read();
  suite.file = fs::absolute(file).lexically_normal();
  return suite;
}

Suite read_suite(const fs::path& file) {
  constexpr std::uintmax_t largest = std::uintmax_t{16} << 20U;  // it is written by hand
  return parse_suite(read_file(file, largest), file);
}

std::string at_problem(std::string_view text, const Problem& problem) {
  std::string result;
  walk(
      text, [&](std::string_view plain) { result += plain; },
      [&](std::string_view axis) { result += std::to_string(value_on(problem, axis).value_or(0)); });
  return result;
}

}  // namespace mprof
