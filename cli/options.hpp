// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options/variables_map.hpp>

namespace mprof::cli {

/// One option of one verb. This table is what is parsed, and what help, man pages, completions and
/// docs/cli.md are made from.
struct Option {
  /// Whether the verb has it of itself, or as an axis or an input of the registered families.
  enum class Origin { verb, axis, input };

  std::string name;           ///< without dashes
  std::string argument;       ///< how help calls its argument; empty: a flag; LIST: must not be empty
  std::string default_value;  ///< empty: none
  std::string meaning;
  bool repeatable = false;  ///< takes several values and may be given several times
  Origin origin = Origin::verb;
  std::string implicit_value{};  ///< without its argument it means this; empty: it must have one
  std::string group{};           ///< the heading in help; empty: "Options"
  std::string choices{};  ///< what its argument may be, or each part of a list, with blanks between them

  /// The short form, which options of the same name share in all verbs; 0: it has none.
  [[nodiscard]] char letter() const;
};

/// The options under one heading.
[[nodiscard]] std::vector<Option> in_group(const std::string& group, std::vector<Option> options);

/// Adds options after the existing ones.
void append(std::vector<Option>& options, std::vector<Option> more);

/// A command that a user may try, and what it does.
struct Example {
  std::string command;
  std::string meaning;
};

/// The headings of `mprof help`.
enum class Section { start, compare, data, cluster };

class Arguments;

struct Verb {
  std::string name;
  /// "DIR", "A B", or empty. Each word must be given, but for one in brackets; "DIR..." once or more.
  std::string positional{};
  std::string choices{};      ///< what its first word may be, with blanks between them; empty: see its help
  std::string summary{};      ///< one line
  std::string description{};  ///< sentences, on one line: help and docs/cli.md break it
  std::vector<Example> examples{};
  Section section = Section::start;
  std::vector<Option> options{};
  std::function<int(const Arguments&)> run{};
  bool hidden = false;
  /// Takes a program and its arguments behind "--", in place of its words.
  bool takes_program = false;
  /// How help calls what stands behind "--".
  std::string program_words = "PROGRAM ARGUMENT...";
  /// Its two arguments are lists, "--" between them; without it, one word each. B may be missing: what it
  /// means then is the verb's.
  bool sides = false;
  /// Its words may name sources of the user's, whose families have axes that only they know. An option with
  /// whole numbers that is not in the table is then such an axis.
  bool takes_sources = false;
  /// What a user may have meant by a word too many, as a sentence with the command; or nothing.
  std::function<std::string(const std::string& word)> meant{};
};

/// The names of a verb's arguments, without brackets.
struct Positional {
  std::string name;
  bool is_required = true;
};
[[nodiscard]] std::vector<Positional> positionals(const Verb& verb);

/// The parsed command line of one verb. To ask for a name that the verb does not have is a fault of the
/// program: std::logic_error.
class Arguments {
 public:
  Arguments(const Verb& verb, boost::program_options::variables_map values,
            std::vector<std::string> command_line, std::vector<std::string> program);

  /// Whether the verb has such an option.
  [[nodiscard]] bool knows(const std::string& option) const;
  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] bool given(const std::string& name) const;
  /// The value or its default; "" where there is neither.
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  /// The value of --format; "json" where --json says so. Throws Error(usage) where they contradict.
  [[nodiscard]] std::string format() const;
  /// The whole command line, for the record.
  [[nodiscard]] const std::vector<std::string>& command_line() const { return command_line_; }
  /// What stands behind "--", of a verb that takes a program.
  [[nodiscard]] const std::vector<std::string>& program() const { return program_; }
  /// The verb's options.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

 private:
  /// nullptr: it was not given, and has no default.
  [[nodiscard]] const boost::program_options::variable_value* find(const std::string& name) const;

  std::string verb_;
  std::vector<Positional> positional_;
  std::vector<Option> options_;
  boost::program_options::variables_map values_;
  std::vector<std::string> command_line_;
  std::vector<std::string> program_;
};

/// One per verb, each in its own file.
[[nodiscard]] Verb list_verb();
[[nodiscard]] Verb run_verb();
[[nodiscard]] Verb submit_verb();
[[nodiscard]] Verb status_verb();
[[nodiscard]] Verb merge_verb();
[[nodiscard]] Verb sanitize_verb();
[[nodiscard]] Verb report_verb();
[[nodiscard]] Verb compare_verb();
[[nodiscard]] Verb ab_verb();
[[nodiscard]] Verb judge_verb();
[[nodiscard]] Verb tune_verb();
[[nodiscard]] Verb history_verb();
[[nodiscard]] Verb fleet_verb();
[[nodiscard]] Verb ranks_verb();
[[nodiscard]] Verb stats_verb();
[[nodiscard]] Verb export_verb();
[[nodiscard]] Verb import_verb();
[[nodiscard]] Verb doctor_verb();
[[nodiscard]] Verb new_verb();
[[nodiscard]] Verb watch_verb();
[[nodiscard]] Verb mcp_verb();
[[nodiscard]] Verb answer_verb();
[[nodiscard]] Verb worker_verb();

/// Parses what follows the verb. Throws Error(usage) with the option at fault and the nearest known ones.
[[nodiscard]] Arguments parse(const Verb& verb, const std::vector<std::string>& command_line);

/// --json, for verbs that have --format.
[[nodiscard]] Option json_option();

/// The same option, whose argument shells complete with one of `choices`, which have blanks between them.
[[nodiscard]] Option chosen_from(std::string choices, Option option);

/// --json, for verbs that tell people something else without it.
[[nodiscard]] Option json_answer_option();

/// Splits at commas; an empty text has no parts.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator = ',');

}  // namespace mprof::cli
