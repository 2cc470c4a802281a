// SPDX-License-Identifier: MIT
#include "cli/help.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/version.hpp"
#include "report/text/format.hpp"
#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

using format::wrapped;

constexpr std::size_t markdown_width = 120;
constexpr std::size_t option_column = 28;
constexpr std::size_t longest_aligned_example = 44;

struct ExitRow {
  ExitCode code;
  std::string_view meaning;
};

constexpr std::array exit_rows{
    ExitRow{ExitCode::success, "success"},
    ExitRow{ExitCode::regression, "compare, ab, judge or run --baseline found a regression, fleet a bad GPU"},
    ExitRow{ExitCode::usage, "wrong usage, or input that cannot be read"},
    ExitRow{ExitCode::wrong_output,
            "a variant's output was wrong, or it gave none (crash, time limit, failure); a program failed; "
            "sanitize found errors"},
    ExitRow{ExitCode::incomparable, "the runs cannot be compared or combined"},
    ExitRow{ExitCode::environment,
            "the machine lacks something that is required: a GPU for the only variants of a run, room on a "
            "disk"},
    ExitRow{ExitCode::fault, "a fault of mprof itself"},
    ExitRow{ExitCode::interrupted, "interrupted (Ctrl-C, SIGTERM, SIGHUP); finished cases are on disk"},
};

struct SectionRow {
  Section section;
  std::string_view title;
};

constexpr std::array section_rows{
    SectionRow{Section::start, "Start"},
    SectionRow{Section::compare, "Compare"},
    SectionRow{Section::data, "Data"},
    SectionRow{Section::cluster, "Cluster"},
};

std::vector<Verb> shown(const std::vector<Verb>& verbs, Section section) {
  std::vector<Verb> out;
  std::ranges::copy_if(verbs, std::back_inserter(out),
                       [&](const Verb& verb) { return !verb.hidden && verb.section == section; });
  return out;
}

/// " N"; "[=FILE]" where it may be left out.
std::string argument_text(const Option& option) {
  if (option.argument.empty()) return "";
  return option.implicit_value.empty() ? " " + option.argument : "[=" + option.argument + "]";
}

/// "-o, --out DIR"
std::string spelled(const Option& option) {
  const char letter = option.letter();
  return fmt::format("{}--{}{}", letter == 0 ? "    " : fmt::format("-{}, ", letter), option.name,
                     argument_text(option));
}

std::string meaning_of(const Option& option) {
  return option.default_value.empty() ? option.meaning
                                      : fmt::format("{} Default: {}.", option.meaning, option.default_value);
}

using Group = std::pair<std::string, std::vector<Option>>;

/// The options by their headings, in the table's order.
std::vector<Group> groups_of(const Verb& verb) {
  std::vector<Group> groups;
  const auto add = [&](const std::string& title, const Option& option) {
    auto found = std::ranges::find(groups, title, &Group::first);
    if (found == groups.end()) found = groups.insert(groups.end(), {title, {}});
    found->second.push_back(option);
  };
  for (const Option& option : verb.options)
    add(option.group.empty() ? std::string("Options") : option.group, option);
  return groups;
}

void add_row(std::string& out, const std::string& head, std::string_view text, std::size_t column,
             unsigned width) {
  const bool fits = head.size() + 2 <= column;
  out += fits ? fmt::format("{:<{}}", head, column) : fmt::format("{}\n{:<{}}", head, "", column);
  out += wrapped(text, width, column) + "\n";
}

std::string usage_of(const Verb& verb) {
  return fmt::format("mprof {}{}{}{}{}", verb.name, verb.positional.empty() ? "" : " ", verb.positional,
                     verb.options.empty() ? "" : " [options]",
                     verb.takes_program ? fmt::format(" [-- {}]", verb.program_words) : "");
}

std::string examples_text(const Verb& verb, unsigned width) {
  std::size_t column = 0;
  for (const Example& example : verb.examples) {
    if (example.command.size() <= longest_aligned_example)
      column = std::max(column, example.command.size() + 4);
  }
  std::string out = "Examples:\n";
  for (const Example& example : verb.examples)
    add_row(out, "  " + example.command, example.meaning, column, width);
  return out;
}

}  // namespace

std::string help(const std::vector<Verb>& verbs, unsigned width) {
  std::string out =
      wrapped("mprof measures every variant of a kernel, verifies its output, and writes the report.",
              width) +
      "\n";
  constexpr std::size_t verb_column = 27;
  for (const SectionRow& row : section_rows) {
    out += fmt::format("\n{}:\n", row.title);
    for (const Verb& verb : shown(verbs, row.section)) {
      add_row(out,
              fmt::format("  mprof {}{}{}", verb.name, verb.positional.empty() ? "" : " ", verb.positional),
              verb.summary, verb_column, width);
    }
  }
  out += "\nHelp:\n";
  add_row(out, "  mprof VERB --help", "examples and all options of a verb", verb_column, width);
  add_row(out, "  mprof help --man [VERB]", "a man page: mprof help --man run | man -l -", verb_column,
          width);
  add_row(out, "  mprof help --completion SHELL", "completion for bash, zsh or fish", verb_column, width);
  add_row(out, "  mprof --version", "version and git revision", verb_column, width);
  out += "\nExit codes:\n";
  constexpr std::size_t code_column = 7;
  for (const ExitRow& exit : exit_rows)
    add_row(out, fmt::format("  {:>3}", static_cast<int>(exit.code)), exit.meaning, code_column, width);
  return out;
}

std::string help(const Verb& verb, unsigned width) {
  std::string out = fmt::format("Usage: {}\n\n", usage_of(verb));
  if (!verb.examples.empty()) out += examples_text(verb, width) + "\n";
  out += wrapped(verb.description, width) + "\n";
  std::vector<Group> groups = groups_of(verb);
  if (groups.empty()) groups.push_back({"Options", {}});
  groups.back().second.push_back({"help", "", "", "Print this help."});
  for (const auto& [title, options] : groups) {
    out += fmt::format("\n{}:\n", title);
    for (const Option& option : options)
      add_row(out, "  " + spelled(option), meaning_of(option), option_column, width);
  }
  return out;
}

std::string markdown_help(const std::vector<Verb>& verbs) {
  std::string out =
      "# Command line\n\nMade by `mprof help --markdown` from the table that the program parses. A test "
      "compares the two.\n";
  for (const SectionRow& row : section_rows) {
    for (const Verb& verb : shown(verbs, row.section)) {
      out += fmt::format("\n## mprof {}{}{}\n\n{}\n", verb.name, verb.positional.empty() ? "" : " ",
                         verb.positional, wrapped(verb.description, markdown_width));
      if (!verb.examples.empty()) {
        out += "\n| example | what it does |\n|---|---|\n";
        for (const Example& example : verb.examples)
          out += fmt::format("| `{}` | {} |\n", example.command, example.meaning);
      }
      for (const auto& [title, options] : groups_of(verb)) {
        out += fmt::format("\n| {} | default | meaning |\n|---|---|---|\n", title);
        for (const Option& option : options) {
          const char letter = option.letter();
          out += fmt::format("| {}`--{}{}` | {} | {} |\n", letter == 0 ? "" : fmt::format("`-{}`, ", letter),
                             option.name, argument_text(option),
                             option.default_value.empty() ? "" : "`" + option.default_value + "`",
                             option.meaning);
        }
      }
    }
  }
  out += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
  for (const ExitRow& row : exit_rows)
    out += fmt::format("| {} | {} |\n", static_cast<int>(row.code), row.meaning);
  return out;
}

// --- Man pages: groff_man(7) ---

namespace {

/// Text of a page, in which nothing is a request of roff's and a hyphen can be copied into a shell.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '.' && out.empty())
      out += "\\&.";
    else if (c != '`')
      out += c;
  }
  return out;
}

std::string page_head(std::string_view name, std::string_view summary) {
  return fmt::format(".TH {} 1 \"\" \"mprof {}\" \"mprof manual\"\n.SH NAME\n{} \\- {}\n", roff(name),
                     version, roff(name), roff(summary));
}

std::string exit_status() {
  std::string out = ".SH EXIT STATUS\n";
  for (const ExitRow& row : exit_rows)
    out += fmt::format(".TP\n.B {}\n{}\n", static_cast<int>(row.code), roff(row.meaning));
  return out;
}

}  // namespace

std::string man_page(const Verb& verb) {
  std::string out = page_head("mprof-" + verb.name, verb.summary);
  out += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(usage_of(verb)));
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(verb.description));
  if (!verb.examples.empty()) out += ".SH EXAMPLES\n";
  for (const Example& example : verb.examples)
    out += fmt::format(".TP\n.B {}\n{}\n", roff(example.command), roff(example.meaning));
  if (!verb.options.empty()) out += ".SH OPTIONS\n";
  for (const auto& [title, options] : groups_of(verb)) {
    out += fmt::format(".SS {}\n", roff(title));
    for (const Option& option : options) {
      const std::string head = spelled(option);
      out += fmt::format(".TP\n.B {}\n{}\n", roff(head.substr(head.find('-'))), roff(meaning_of(option)));
    }
  }
  return out + exit_status() + ".SH SEE ALSO\n.BR mprof (1)\n";
}

std::string man_page(const std::vector<Verb>& verbs) {
  std::string out = page_head("mprof", "measure kernels and programs, verify them, and write the report");
  out += ".SH SYNOPSIS\n.B mprof\n.I VERB\n[options]\n.SH DESCRIPTION\n";
  out += roff(
             "mprof runs variants of a kernel or programs, verifies every output, measures them, and writes "
             "a report. Each verb has a page of its own.") +
         "\n";
  std::vector<std::string> pages;
  for (const SectionRow& row : section_rows) {
    out += fmt::format(".SS {}\n", row.title);
    for (const Verb& verb : shown(verbs, row.section)) {
      out += fmt::format(".TP\n.B {}\n{}\n", roff(verb.name), roff(verb.summary));
      pages.push_back(fmt::format(".BR mprof\\-{} (1)", verb.name));
    }
  }
  return out + exit_status() + fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

// --- Completion ---

namespace {

enum class Completed { nothing, file, folder, variant };

/// What an argument of this name is completed with.
Completed completed(std::string_view argument) {
  if (argument.find("DIR") != std::string_view::npos) return Completed::folder;
  if (argument.find("FILE") != std::string_view::npos || argument.find("PATH") != std::string_view::npos)
    return Completed::file;
  static constexpr std::array<std::string_view, 3> variants{"ID", "GLOB", "VARIANT"};
  return std::ranges::find(variants, argument) != variants.end() ? Completed::variant : Completed::nothing;
}

/// --ops takes a glob as well, but of a program's NVTX ranges.
Completed completed(const Option& option) {
  return option.name == "ops" ? Completed::nothing : completed(option.argument);
}

/// What the words of a verb may be, with blanks between them; empty: files, or anything.
std::string words_for(const Verb& verb, const std::string& variants) {
  for (const Positional& word : positionals(verb)) {
    if (completed(word.name) == Completed::variant) return variants;
  }
  return verb.choices;
}

/// The first sentence of a meaning, as the word in a shell's single quotes.
std::string brief(std::string_view meaning) {
  const std::size_t end = meaning.find(". ");
  std::string text(meaning.substr(0, end == std::string_view::npos ? meaning.size() : end));
  if (text.ends_with('.')) text.pop_back();
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c != '`')
      out += c;
  }
  return out;
}

std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> words_of(const Verb& verb) {
  std::vector<std::string> words{"--help"};
  for (const Option& option : verb.options) {
    words.push_back("--" + option.name);
    if (option.letter() != 0) words.push_back(std::string("-") + option.letter());
  }
  return words;
}

std::vector<std::string> names_of(const std::vector<Verb>& verbs) {
  std::vector<std::string> names{"help"};
  for (const Verb& verb : verbs) {
    if (!verb.hidden) names.push_back(verb.name);
  }
  return names;
}

std::string bash_completion(const std::vector<Verb>& verbs, std::span<const std::string> variants) {
  std::string options, arguments, positional;
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    options += fmt::format("    {}) options='{}' ;;\n", verb.name, fmt::join(words_of(verb), " "));
    if (const std::string words = words_for(verb, "$variants"); !words.empty())
      positional +=
          fmt::format("      {}) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")) ;;\n", verb.name, words);
    for (const Option& option : verb.options) {
      const Completed with = completed(option);
      if (option.argument.empty() || with == Completed::file) continue;
      const std::string words = with == Completed::folder    ? "-d"
                                : with == Completed::variant ? "-W \"$variants\""
                                                             : fmt::format("-W '{}'", option.choices);
      const std::string letter =
          option.letter() == 0 ? "" : fmt::format("|{}:-{}", verb.name, option.letter());
      arguments += fmt::format("    {}:--{}{}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n",
                               verb.name, option.name, letter, words);
    }
  }
  return fmt::format(R"(# Completion of mprof for bash: source <(mprof help --completion bash)
_mprof() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} verb=${{COMP_WORDS[1]}} options=
  local variants='{}'
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case $verb in
{}  esac
  case $verb:$before in
{}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) case $verb in
      help) COMPREPLY=($(compgen -W '{}' -- "$word")) ;;
{}    esac ;;
  esac
}}
complete -o bashdefault -o default -F _mprof mprof
)",
                     fmt::join(variants, " "), fmt::join(names_of(verbs), " "), options, arguments,
                     fmt::join(names_of(verbs), " "), positional);
}

std::string zsh_argument(const Option& option) {
  const std::string_view argument = option.argument;
  switch (completed(option)) {
    case Completed::folder:
      return fmt::format(":{}:_files -/", escaped(std::string(argument), ":[]"));
    case Completed::file:
      return fmt::format(":{}:_files", escaped(std::string(argument), ":[]"));
    case Completed::variant:
      return fmt::format(":{}:($variants)", argument);
    case Completed::nothing:
      break;
  }
  return fmt::format(":{}:{}", escaped(std::string(argument), ":[]"),
                     option.choices.empty() ? " " : fmt::format("({})", option.choices));
}

std::string zsh_completion(const std::vector<Verb>& verbs, std::span<const std::string> variants) {
  std::string named, cases;
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    named += fmt::format("    '{}:{}'\n", verb.name, escaped(brief(verb.summary), ":"));
    cases += fmt::format("    {})\n      _arguments -s \\\n", verb.name);
    for (const Option& option : verb.options) {
      const std::string argument = option.argument.empty() ? "" : zsh_argument(option);
      cases +=
          fmt::format("        \"{}--{}{}\"'[{}]'\"{}\" \\\n", option.repeatable ? "*" : "", option.name,
                      option.argument.empty() ? "" : "=", escaped(brief(option.meaning), "[]:"), argument);
    }
    const std::string words = words_for(verb, "$variants");
    cases += fmt::format("        '--help[Print this help]' {} ;;\n",
                         words.empty() ? "'*:file:_files'" : fmt::format("\"*:word:({})\"", words));
  }
  return fmt::format(R"(#compdef mprof
# Completion of mprof for zsh: mprof help --completion zsh > a folder of $fpath/_mprof
_mprof() {{
  local -a verbs
  local variants='{}'
  verbs=(
{}  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{}  esac
}}
if [ "$funcstack[1]" = _mprof ]; then
  _mprof "$@"
else
  compdef _mprof mprof
fi
)",
                     fmt::join(variants, " "), named, cases);
}

std::string fish_completion(const std::vector<Verb>& verbs, std::span<const std::string> variants) {
  std::string out =
      "# Completion of mprof for fish: mprof help --completion fish > "
      "~/.config/fish/completions/mprof.fish\n";
  for (const Verb& verb : verbs) {
    if (verb.hidden) continue;
    out += fmt::format("complete -c mprof -f -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                       brief(verb.summary));
    if (const std::string words = words_for(verb, fmt::format("{}", fmt::join(variants, " ")));
        !words.empty())
      out +=
          fmt::format("complete -c mprof -f -n '__fish_seen_subcommand_from {}' -a '{}'\n", verb.name, words);
    for (const Option& option : verb.options) {
      const Completed with = completed(option);
      std::string rest;
      if (option.letter() != 0) rest += fmt::format(" -s {}", option.letter());
      if (!option.argument.empty()) rest += with == Completed::nothing ? " -x" : " -r";
      if (with == Completed::folder) rest += " -f -a '(__fish_complete_directories)'";
      if (with == Completed::variant) rest += fmt::format(" -f -a '{}'", fmt::join(variants, " "));
      if (!option.choices.empty()) rest += fmt::format(" -f -a '{}'", option.choices);
      out += fmt::format("complete -c mprof -n '__fish_seen_subcommand_from {}' -l {}{} -d '{}'\n", verb.name,
                         option.name, rest, brief(option.meaning));
    }
  }
  return out;
}

}  // namespace

std::string completion(std::string_view shell, const std::vector<Verb>& verbs,
                       std::span<const std::string> variants) {
  if (shell == "bash") return bash_completion(verbs, variants);
  if (shell == "zsh") return zsh_completion(verbs, variants);
  if (shell == "fish") return fish_completion(verbs, variants);
  throw Error(ExitCode::usage,
              fmt::format("mprof help --completion {}: mprof completes for bash, zsh and fish.{}", shell,
                          did_you_mean(std::string(shell), {"bash", "zsh", "fish"})));
}

}  // namespace mprof::cli
