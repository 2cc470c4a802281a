#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options/variables_map.hpp>

namespace mprof::cli {

/// One option of one verb. This table is what is parsed, what --help prints and what docs/cli.md is made
/// from.
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
};

/// The parsed command line of one verb.
class Arguments {
 public:
  Arguments(boost::program_options::variables_map values, std::vector<std::string> command_line,
            std::vector<Option> options, std::vector<std::string> program)
      : values_(std::move(values)),
        command_line_(std::move(command_line)),
        options_(std::move(options)),
        program_(std::move(program)) {}

  [[nodiscard]] bool flag(const std::string& name) const;
  [[nodiscard]] bool given(const std::string& name) const;
  /// The value or its default; "" where there is neither.
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  /// The whole command line, for the record.
  [[nodiscard]] const std::vector<std::string>& command_line() const { return command_line_; }
  /// What stands behind "--", of a verb that takes a program.
  [[nodiscard]] const std::vector<std::string>& program() const { return program_; }
  /// The verb's options.
  [[nodiscard]] const std::vector<Option>& options() const { return options_; }

 private:
  boost::program_options::variables_map values_;
  std::vector<std::string> command_line_;
  std::vector<Option> options_;
  std::vector<std::string> program_;
};

struct Verb {
  std::string name;
  std::string positional;   ///< "DIR", "A B", or empty; each word must be given, "DIR..." once or more
  std::string summary;      ///< one line
  std::string description;  ///< sentences, on one line: help and docs/cli.md break it
  std::vector<Option> options;
  std::function<int(const Arguments&)> run;
  bool hidden = false;
  /// Takes a program and its arguments behind "--".
  bool takes_program = false;
  /// Its two arguments are lists, "--" between them; without it, one word each. B may be missing: what it
  /// means then is the verb's.
  bool sides = false;
  /// Its words may name sources of the user's, whose families have axes that only those know: an option that
  /// is not in the table, with whole numbers, is one of them.
  bool takes_sources = false;
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
[[nodiscard]] Verb tune_verb();
[[nodiscard]] Verb history_verb();
[[nodiscard]] Verb fleet_verb();
[[nodiscard]] Verb stats_verb();
[[nodiscard]] Verb export_verb();
[[nodiscard]] Verb import_verb();
[[nodiscard]] Verb doctor_verb();
[[nodiscard]] Verb new_verb();
[[nodiscard]] Verb watch_verb();
[[nodiscard]] Verb worker_verb();

/// Parses what follows the verb. Throws Error(usage) with the option at fault and the nearest known ones.
[[nodiscard]] Arguments parse(const Verb& verb, const std::vector<std::string>& command_line);

/// `mprof --help`, `mprof VERB --help`, in lines of at most `width` columns; and docs/cli.md.
[[nodiscard]] std::string help(const std::vector<Verb>& verbs, unsigned width);
[[nodiscard]] std::string help(const Verb& verb, unsigned width);
[[nodiscard]] std::string markdown_help(const std::vector<Verb>& verbs);

/// Splits at commas; an empty text has no parts.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator = ',');

}  // namespace mprof::cli
