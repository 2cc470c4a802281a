// SPDX-License-Identifier: MIT
#include "cli/options.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "runner/source/compiler.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace po = boost::program_options;
/// The name under which the library keeps words that the verb has no place for.
constexpr const char* words_too_many = "words too many";

/// Whether a word of a verb's positional arguments stands for any number of them.
bool takes_many(std::string_view positional) {
  return positional.ends_with("...");
}

/// "out,o": as the library has a name with its short form.
std::string library_name(const Option& option) {
  return option.letter() == 0 ? option.name : fmt::format("{},{}", option.name, option.letter());
}

po::options_description described(const Verb& verb) {
  po::options_description out;
  for (const Option& option : verb.options) {
    const std::string name = library_name(option);
    if (option.argument.empty()) {
      out.add_options()(name.c_str(), po::bool_switch());
      continue;
    }
    if (option.repeatable) {
      auto* value = po::value<std::vector<std::string>>()->composing();
      if (!verb.sides && !takes_many(verb.positional)) value->multitoken();  // it would take those as well
      out.add_options()(name.c_str(), value);
      continue;
    }
    auto* value = po::value<std::string>();
    if (!option.default_value.empty()) value->default_value(option.default_value);
    if (!option.implicit_value.empty()) value->implicit_value(option.implicit_value);
    out.add_options()(name.c_str(), value);
  }
  out.add_options()("help,h", po::bool_switch());
  return out;
}

bool is_negative_number(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isdigit(static_cast<unsigned char>(word[1])) != 0;
}

/// "--size -1" as "--size=-1": a number is never an option, so it shall reach what says what is
/// wrong.
std::vector<std::string> with_numbers_attached(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const bool attach = is_negative_number(word) && !out.empty() && out.back().starts_with("--") &&
                        out.back().find('=') == std::string::npos;
    if (attach) {
      out.back() += "=" + word;
    } else {
      out.push_back(word);
    }
  }
  return out;
}

std::vector<std::string> known_options(const Verb& verb) {
  std::vector<std::string> names{"--help"};
  for (const Option& option : verb.options) names.push_back("--" + option.name);
  return names;
}

bool names_source(const std::string& word) {
  return word == "--source" || word.starts_with("--source=") || is_source_name(word);
}

bool is_list_of_numbers(const std::string& text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0 || c == ','; });
}

/// "--rows 3" and "--rows=3" as "--problem=rows=3" where the table has no such option: which axes the
/// families of sources have is known when those are built.
std::vector<std::string> with_axes_of_sources(const Verb& verb, const std::vector<std::string>& words) {
  if (!verb.takes_sources || std::ranges::none_of(words, names_source)) return words;
  const std::vector<std::string> known = known_options(verb);
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string option = words[i].substr(0, equals);
    const bool is_own = !option.starts_with("--") || std::ranges::find(known, option) != known.end();
    const bool is_attached = equals != std::string::npos;
    std::string value;
    if (is_attached) value = words[i].substr(equals + 1);
    if (!is_attached && i + 1 < words.size()) value = words[i + 1];
    if (is_own || !is_list_of_numbers(value)) {
      out.push_back(words[i]);
      continue;
    }
    out.push_back("--problem=" + option.substr(2) + "=" + value);
    if (!is_attached) ++i;
  }
  return out;
}

[[noreturn]] void fail(const Verb& verb, const std::string& message) {
  throw Error(ExitCode::usage, fmt::format("{} See `mprof {} --help`.", message, verb.name));
}

void require_lists(const Verb& verb, const Arguments& arguments) {
  for (const Option& option : verb.options) {
    if (option.argument != "LIST" || !arguments.given(option.name)) continue;
    const std::vector<std::string> lists =
        option.repeatable ? arguments.texts(option.name) : std::vector{arguments.text(option.name)};
    const bool empty = std::ranges::any_of(lists, [](const std::string& list) { return list.empty(); });
    if (empty) fail(verb, fmt::format("mprof {} --{}: the list is empty.", verb.name, option.name));
  }
}

po::variables_map stored(const std::vector<std::string>& words, const po::options_description& all,
                         const po::positional_options_description& positional) {
  namespace style = po::command_line_style;
  po::variables_map values;
  po::store(po::command_line_parser(with_numbers_attached(words))
                .options(all)
                .positional(positional)
                .style(style::unix_style & ~style::allow_guessing)
                .run(),
            values);
  po::notify(values);
  return values;
}

/// "a1 a2 -- b1 b2", or "a b": the lists A and B. Options may stand on either side.
po::variables_map parsed_sides(const Verb& verb, std::vector<std::string> words) {
  using Words = std::vector<std::string>;
  po::options_description all = described(verb);
  po::positional_options_description positional;
  all.add_options()("A", po::value<Words>());
  positional.add("A", -1);
  const auto given = [](const po::variables_map& values) {
    return values.count("A") > 0 ? values["A"].as<Words>() : Words{};
  };
  const auto between = std::ranges::find(words, "--");
  const bool separated = between != words.end();
  std::size_t before = 1;
  if (separated) {
    before = given(stored({words.begin(), between}, all, positional)).size();
    words.erase(between);
  }
  po::variables_map values = stored(words, all, positional);
  Words side = given(values);
  if (!separated && side.size() > 2) {
    fail(verb, fmt::format("mprof {} takes {}, and was given more: put -- between several of each.",
                           verb.name, verb.positional));
  }
  if (before == 0) values.erase("A");
  if (side.size() <= before) return values;
  values.insert({"B", po::variable_value(
                          Words(side.begin() + static_cast<std::ptrdiff_t>(before), side.end()), false)});
  side.resize(before);
  if (before > 0) values.at("A").value() = side;
  return values;
}

/// The words behind the first "--", which are taken from `words` with it.
std::vector<std::string> taken_program(const Verb& verb, std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> program(std::next(dashes), words.end());
  if (program.empty()) fail(verb, fmt::format("mprof {}: a program is missing after --.", verb.name));
  words.erase(dashes, words.end());
  return program;
}

[[noreturn]] void refuse_word(const Verb& verb, const std::string& word) {
  const std::string meant = verb.meant ? verb.meant(word) : "";
  fail(verb, fmt::format("mprof {}: unexpected argument '{}'.{}{}", verb.name, word, meant.empty() ? "" : " ",
                         meant));
}

po::variables_map parsed(const Verb& verb, const std::vector<std::string>& words) {
  if (verb.sides) return parsed_sides(verb, words);
  po::options_description all = described(verb);
  po::positional_options_description positional;
  for (const auto& [name, is_required] : positionals(verb)) {
    if (takes_many(name)) {
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>());
      positional.add(name.c_str(), -1);
    } else {
      all.add_options()(name.c_str(), po::value<std::string>());
      positional.add(name.c_str(), 1);
    }
  }
  if (takes_many(verb.positional)) return stored(words, all, positional);
  using Words = std::vector<std::string>;
  all.add_options()(words_too_many, po::value<Words>());
  positional.add(words_too_many, -1);
  po::variables_map values = stored(words, all, positional);
  if (values.count(words_too_many) > 0) refuse_word(verb, values[words_too_many].as<Words>().front());
  return values;
}

}  // namespace

char Option::letter() const {
  if (name == "out") return 'o';
  if (name == "quiet") return 'q';
  return name == "verbose" ? 'v' : '\0';
}

std::vector<Option> in_group(const std::string& group, std::vector<Option> options) {
  for (Option& option : options) option.group = group;
  return options;
}

void append(std::vector<Option>& options, std::vector<Option> more) {
  std::ranges::move(more, std::back_inserter(options));
}

std::vector<Positional> positionals(const Verb& verb) {
  std::vector<Positional> out;
  for (const std::string& word : split(verb.positional, ' ')) {
    const bool is_required = !word.starts_with('[');
    out.push_back({is_required ? word : word.substr(1, word.size() - 2), is_required});
  }
  return out;
}

Option chosen_from(std::string choices, Option option) {
  option.choices = std::move(choices);
  return option;
}

Option json_option() {
  return {"json", "", "", "Print JSON, the same as --format json."};
}

Option json_answer_option() {
  return {"json", "", "",
          "Print one JSON document (docs/formats/verbs-json.md). The text goes to standard error."};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string_view::npos; start = end + 1) {
    end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
  }
  return parts;
}

Arguments::Arguments(const Verb& verb, po::variables_map values, std::vector<std::string> command_line,
                     std::vector<std::string> program)
    : verb_(verb.name),
      positional_(positionals(verb)),
      options_(verb.options),
      values_(std::move(values)),
      command_line_(std::move(command_line)),
      program_(std::move(program)) {}

const po::variable_value* Arguments::find(const std::string& name) const {
  const bool is_known = name == "help" || std::ranges::count(positional_, name, &Positional::name) > 0 ||
                        std::ranges::count(options_, name, &Option::name) > 0;
  if (!is_known) throw std::logic_error(fmt::format("mprof {} has no option '{}' to ask for", verb_, name));
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

bool Arguments::flag(const std::string& name) const {
  const po::variable_value* const value = find(name);
  return value != nullptr && value->as<bool>();
}

bool Arguments::knows(const std::string& option) const {
  return std::ranges::find(options_, option, &Option::name) != options_.end();
}

bool Arguments::given(const std::string& name) const {
  const po::variable_value* const value = find(name);
  return value != nullptr && !value->defaulted();
}

std::string Arguments::text(const std::string& name) const {
  const po::variable_value* const value = find(name);
  return value == nullptr ? "" : value->as<std::string>();
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  const po::variable_value* const value = find(name);
  return value == nullptr ? std::vector<std::string>{} : value->as<std::vector<std::string>>();
}

std::string Arguments::format() const {
  if (!flag("json")) return text("format");
  if (given("format") && text("format") != "json")
    throw Error(ExitCode::usage,
                fmt::format("--json and --format {} exclude each other: give one.", text("format")));
  return "json";
}

Arguments parse(const Verb& verb, const std::vector<std::string>& command_line) {
  std::vector<std::string> words(command_line.begin() + 2, command_line.end());
  try {
    std::vector<std::string> program =
        verb.takes_program ? taken_program(verb, words) : std::vector<std::string>{};
    Arguments arguments(verb, parsed(verb, with_axes_of_sources(verb, words)), command_line,
                        std::move(program));
    if (arguments.flag("help")) return arguments;
    for (const auto& [name, is_required] : positionals(verb)) {
      if (!is_required || (verb.sides && name == "B") || !arguments.program().empty()) continue;
      if (!arguments.given(name)) fail(verb, fmt::format("mprof {}: {} is missing.", verb.name, name));
    }
    require_lists(verb, arguments);
    return arguments;
  } catch (const po::unknown_option& error) {
    const std::string& name = error.get_option_name();
    fail(verb, fmt::format("mprof {} has no option {}.{}", verb.name, name,
                           did_you_mean(name, known_options(verb))));
  } catch (const po::error& error) {
    fail(verb, fmt::format("mprof {}: {}.", verb.name, error.what()));
  }
}

}  // namespace mprof::cli
