#include "cli/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "report/text/format.hpp"
#include "runner/source/compiler.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

namespace po = boost::program_options;
using format::wrapped;

constexpr std::size_t markdown_width = 120;

struct ExitRow {
  ExitCode code;
  std::string_view meaning;
};

constexpr std::array exit_rows{
    ExitRow{ExitCode::success, "success"},
    ExitRow{ExitCode::regression, "compare, ab or run --baseline found a regression, fleet a bad GPU"},
    ExitRow{ExitCode::usage, "wrong usage, or input that cannot be read"},
    ExitRow{ExitCode::wrong_output,
            "a variant's output was wrong, or it gave none (crash, time limit, failure); a program failed; "
            "sanitize found errors"},
    ExitRow{ExitCode::incomparable, "the runs cannot be compared or combined"},
    ExitRow{ExitCode::environment, "the machine lacks something that is required, such as room on a disk"},
    ExitRow{ExitCode::fault, "a fault of mprof itself"},
    ExitRow{ExitCode::interrupted, "interrupted (Ctrl-C, SIGTERM, SIGHUP); finished cases are on disk"},
};

/// Whether a word of a verb's positional arguments stands for any number of them.
bool takes_many(std::string_view positional) {
  return positional.ends_with("...");
}

po::options_description described(const Verb& verb, unsigned width) {
  po::options_description out("Options", width, width / 2);
  for (const Option& option : verb.options) {
    if (option.argument.empty()) {
      out.add_options()(option.name.c_str(), po::bool_switch(), option.meaning.c_str());
      continue;
    }
    if (option.repeatable) {
      auto* value = po::value<std::vector<std::string>>()->composing()->value_name(option.argument);
      if (!verb.sides && !takes_many(verb.positional)) value->multitoken();  // it would take those as well
      out.add_options()(option.name.c_str(), value, option.meaning.c_str());
      continue;
    }
    auto* value = po::value<std::string>()->value_name(option.argument);
    if (!option.default_value.empty()) value->default_value(option.default_value);
    if (!option.implicit_value.empty()) value->implicit_value(option.implicit_value);
    out.add_options()(option.name.c_str(), value, option.meaning.c_str());
  }
  out.add_options()("help,h", po::bool_switch(), "Print this help.");
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
  po::options_description all = described(verb, 80);
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
  if (program.empty()) fail(verb, fmt::format("mprof {}: a program is missing behind --.", verb.name));
  words.erase(dashes, words.end());
  return program;
}

po::variables_map parsed(const Verb& verb, const std::vector<std::string>& words) {
  if (verb.sides) return parsed_sides(verb, words);
  po::options_description all = described(verb, 80);
  po::positional_options_description positional;
  for (const std::string& name : split(verb.positional, ' ')) {
    if (takes_many(name)) {
      all.add_options()(name.c_str(), po::value<std::vector<std::string>>());
      positional.add(name.c_str(), -1);
    } else {
      all.add_options()(name.c_str(), po::value<std::string>());
      positional.add(name.c_str(), 1);
    }
  }
  return stored(words, all, positional);
}

}  // namespace

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

bool Arguments::flag(const std::string& name) const {
  return values_.count(name) > 0 && values_[name].as<bool>();
}

bool Arguments::given(const std::string& name) const {
  return values_.count(name) > 0 && !values_[name].defaulted();
}

std::string Arguments::text(const std::string& name) const {
  return values_.count(name) > 0 ? values_[name].as<std::string>() : "";
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  return values_.count(name) > 0 ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

Arguments parse(const Verb& verb, const std::vector<std::string>& command_line) {
  std::vector<std::string> words(command_line.begin() + 2, command_line.end());
  try {
    std::vector<std::string> program =
        verb.takes_program ? taken_program(verb, words) : std::vector<std::string>{};
    Arguments arguments(parsed(verb, with_axes_of_sources(verb, words)), command_line, verb.options,
                        std::move(program));
    if (arguments.flag("help")) return arguments;
    for (const std::string& name : split(verb.positional, ' ')) {
      if (verb.sides && name == "B") continue;
      if (!arguments.given(name)) fail(verb, fmt::format("mprof {}: {} is missing.", verb.name, name));
    }
    require_lists(verb, arguments);
    return arguments;
  } catch (const po::unknown_option& error) {
    const std::string& name = error.get_option_name();
    fail(verb, fmt::format("mprof {} has no option {}.{}", verb.name, name,
                           did_you_mean(name, known_options(verb))));
  } catch (const po::too_many_positional_options_error&) {
    fail(verb, fmt::format("mprof {} takes {}, and was given more.", verb.name,
                           verb.positional.empty() ? "no argument beside its options" : verb.positional));
  } catch (const po::error& error) {
    fail(verb, fmt::format("mprof {}: {}.", verb.name, error.what()));
  }
}

std::string help(const std::vector<Verb>& verbs, unsigned width) {
  std::string out =
      wrapped("mprof measures every variant of a kernel, verifies its output, and writes the report.",
              width) +
      "\n\nUsage:\n";
  const auto row = [&](const std::string& head, std::string_view text, std::size_t column) {
    out += fmt::format("{:<{}}{}\n", head, column, wrapped(text, width, column));
  };
  constexpr std::size_t verb_column = 27;
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    row(fmt::format("  mprof {}{}{}", verb.name, verb.positional.empty() ? "" : " ", verb.positional),
        verb.summary, verb_column);
  }
  row("  mprof VERB --help", "all options of a verb, with their defaults", verb_column);
  row("  mprof --version", "version and git revision", verb_column);
  out += "\nExit codes:\n";
  constexpr std::size_t code_column = 7;
  for (const ExitRow& exit : exit_rows)
    row(fmt::format("  {:>3}", static_cast<int>(exit.code)), exit.meaning, code_column);
  return out;
}

std::string help(const Verb& verb, unsigned width) {
  std::ostringstream options;
  options << described(verb, width);
  return fmt::format("Usage: mprof {}{}{} [options]{}\n\n{}\n\n{}", verb.name,
                     verb.positional.empty() ? "" : " ", verb.positional,
                     verb.takes_program ? " [-- PROGRAM ARGUMENT...]" : "", wrapped(verb.description, width),
                     options.str());
}

namespace {

/// " N"; "[=FILE]" where it may be left out.
std::string argument_text(const Option& option) {
  if (option.argument.empty()) return "";
  return option.implicit_value.empty() ? " " + option.argument : "[=" + option.argument + "]";
}

}  // namespace

std::string markdown_help(const std::vector<Verb>& verbs) {
  std::string out =
      "# Command line\n\nMade by `mprof help --markdown` from the table that the program parses; a test "
      "holds the two "
      "together.\n";
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    out += fmt::format("\n## mprof {}{}{}\n\n{}\n", verb.name, verb.positional.empty() ? "" : " ",
                       verb.positional, wrapped(verb.description, markdown_width));
    if (verb.options.empty()) continue;
    out += "\n| option | default | meaning |\n|---|---|---|\n";
    for (const Option& option : verb.options) {
      out +=
          fmt::format("| `--{}{}` | {} | {} |\n", option.name, argument_text(option),
                      option.default_value.empty() ? "" : "`" + option.default_value + "`", option.meaning);
    }
  }
  out += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const ExitRow& row : exit_rows)
    out += fmt::format("| {} | {} |\n", static_cast<int>(row.code), row.meaning);
  return out;
}

}  // namespace mprof::cli
