// SPDX-License-Identifier: MIT
#include "runner/suite/verification.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runner/suite/suite_run.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/numbers.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr const char* output_variable = "MPROF_OUTPUT";
constexpr std::size_t longest_quote = 120;

std::string quoted(std::string_view text) {
  return fmt::format("\"{}\"{}", text.substr(0, longest_quote), text.size() > longest_quote ? "..." : "");
}

std::string_view last_line(std::string_view text) {
  return text.substr(text.find_last_of('\n') + 1);  // npos + 1 is 0
}

OutputVerdict by_command(const SuiteCase& of, const std::vector<std::string>& command,
                         const fs::path& printed) {
  ProgramLaunch launch = of.launch;
  launch.command.clear();
  for (const std::string& word : command) launch.command.push_back(at_problem(word, of.problem));
  OutputVerdict verdict{.by = fmt::format("by `{}`", fmt::join(launch.command, " "))};
  launch.command.front() = program_below(launch.folder, launch.command.front());
  launch.variables[output_variable] = printed.string();
  const ProgramEnd end = run_to_end(launch, *of.clock);
  if (end.succeeded()) return verdict;
  verdict.is_interrupted = end.how == ProgramEnd::How::interrupted;
  verdict.finding =
      fmt::format("its output is wrong {}: {}", verdict.by, how_it_ended(end, launch.time_limit));
  if (!end.output.empty()) verdict.finding += fmt::format("; {}", quoted(last_line(end.output)));
  return verdict;
}

/// Blanks and line ends part words.
std::optional<std::string_view> next_word(std::string_view& text) {
  constexpr std::string_view blank = " \t\r\n,;";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  if (text.empty()) return std::nullopt;
  const std::string_view word = text.substr(0, text.find_first_of(blank));
  text.remove_prefix(word.size());
  return word;
}

std::optional<double> number_of(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  return parse_as<double>(word);
}

bool is_near(std::string_view word, std::string_view expected, double tolerance) {
  if (word == expected) return true;
  const auto value = number_of(word), wanted = number_of(expected);
  return value && wanted && std::abs(*value - *wanted) <= tolerance * std::abs(*wanted);
}

/// What is wrong; empty when nothing is. Without a tolerance byte for byte, but for the end of the last line;
/// with one word for word, numbers within it.
std::string difference(std::string_view output, std::string_view expected, double tolerance) {
  if (tolerance == 0) {
    const auto without_end = [](std::string_view text) {
      return text.substr(0, text.find_last_not_of("\r\n") + 1);
    };
    const std::string_view a = without_end(output), b = without_end(expected);
    if (a == b) return {};
    const auto [at, other] = std::ranges::mismatch(a, b);
    const auto line = 1 + std::count(a.begin(), at, '\n');
    const auto line_at = [](std::string_view text, std::size_t place) {
      const std::size_t begin = text.substr(0, place).find_last_of('\n') + 1;
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    const auto place = static_cast<std::size_t>(at - a.begin());
    return fmt::format("line {} is {} and must be {}", line, quoted(line_at(a, place)),
                       quoted(line_at(b, place)));
  }
  for (std::size_t number = 1;; ++number) {
    const auto word = next_word(output), wanted = next_word(expected);
    if (!word && !wanted) return {};
    if (!word) return fmt::format("it ends before word {}, which must be {}", number, quoted(*wanted));
    if (!wanted) return fmt::format("word {}, {}, is one too many", number, quoted(*word));
    if (!is_near(*word, *wanted, tolerance))
      return fmt::format("word {} is {} and must be {}, within {:g} of it", number, quoted(*word),
                         quoted(*wanted), tolerance);
  }
}

OutputVerdict by_file(const SuiteCase& of, const SuiteVerification& verification, const fs::path& printed) {
  const fs::path expected = of.suite->folder() / at_problem(verification.expected, of.problem);
  const bool is_printed = verification.output.empty();
  const fs::path output =
      is_printed ? printed : of.launch.folder / at_problem(verification.output, of.problem);
  const std::string what = is_printed ? "what it printed" : output.filename().string();
  OutputVerdict verdict{.by = fmt::format("by holding {} against {}", what, expected.filename().string())};
  try {
    const std::string found = difference(read_file(output), read_file(expected), verification.tolerance);
    if (!found.empty())
      verdict.finding =
          fmt::format("its output is wrong, compared with {}: {}", expected.filename().string(), found);
  } catch (const Error& error) {
    verdict.finding = fmt::format("its output could not be verified: {}", error.what());
  }
  return verdict;
}

OutputVerdict by_number(const SuiteVerification& verification, const PrintedNumbers& numbers) {
  OutputVerdict verdict{.by = fmt::format("by the {} that it prints, which must be {:g} within {:g}",
                                          verification.number, *verification.value, verification.tolerance)};
  const auto found = numbers.find(verification.number);
  const PrintedNumber* const last = found == numbers.end() ? nullptr : last_that_fits(found->second);
  if (last == nullptr)
    verdict.finding = fmt::format("its output could not be verified: it printed no {}", verification.number);
  else if (!last->value)
    verdict.finding = fmt::format("its output is wrong: {} is {}", verification.number, last->text);
  else if (std::abs(*last->value - *verification.value) > verification.tolerance)
    verdict.finding =
        fmt::format("its output is wrong: {} is {:g} and must be {:g}, within {:g}", verification.number,
                    *last->value, *verification.value, verification.tolerance);
  return verdict;
}

}  // namespace

const PrintedNumber* last_that_fits(const std::vector<PrintedNumber>& numbers) {
  const auto last = std::find_if(numbers.rbegin(), numbers.rend(), [](const auto& one) { return one.fits; });
  return last == numbers.rend() ? nullptr : &*last;
}

OutputVerdict verify_output(const SuiteCase& of, const fs::path& printed, const PrintedNumbers& numbers) {
  const SuiteVerification& verification = *of.program->verification;
  if (!verification.command.empty()) return by_command(of, verification.command, printed);
  if (!verification.expected.empty()) return by_file(of, verification, printed);
  return by_number(verification, numbers);
}

}  // namespace mprof
