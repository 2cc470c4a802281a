// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/views.hpp"
#include "report/wording/comparison.hpp"
#include "report/wording/why.hpp"

/// A comparison as JUnit XML, as Jenkins, GitLab and GitHub's actions read it.
namespace mprof {
namespace {

/// Text from anywhere as XML 1.0 can hold it: no control characters, no half of UTF-16, no U+FFFE and U+FFFF.
std::string escaped(std::string_view text) {
  std::string out;
  const std::string plain = format::one_line(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const std::string_view rest = std::string_view(plain).substr(i);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      out += "\xEF\xBF\xBD";
      i += 2;
      continue;
    }
    out += plain[i];
  }
  return format::xml_text(out);
}

/// One case, as a test.
struct TestCase {
  std::string name;
  std::optional<double> seconds{};  ///< of one execution in B
  std::string failure{};            ///< of which type
  std::vector<std::string> failures{};
  std::vector<std::string> details{};    ///< its times, in words
  std::string skipped{};                 ///< why nothing can be said; empty: something can
  std::vector<std::string> undecided{};  ///< times that may have changed, in words
};

std::string time_text(const Words& words, const TimeComparison& time) {
  const std::string name = named_time(words, time);
  if (!time.ratio) return fmt::format("{}: {}", name, say(time.speed_up.reason, of_runs));
  return fmt::format("{}: {} -> {} ({}), {}", name, format::quantity(time.a->median, Unit::second),
                     format::quantity(time.b->median, Unit::second), format::signed_percent(*time.ratio - 1),
                     to_string(time.speed_up.verdict));
}

/// Why nothing can be said of a case that does not fail; empty when something can.
std::string why_skipped(const Words& words, const CaseComparison& c) {
  if (c.status_b != Status::ok)
    return fmt::format("{} in B{}{}", to_string(c.status_b), c.reason_b.empty() ? "" : ": ", c.reason_b);
  if (c.status_a != Status::ok) return {};  // it is right again
  if (c.importance != Importance::inconclusive) return {};
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> times;
  for (const TimeComparison& time : c.times) {
    if (time.speed_up.verdict != Verdict::inconclusive) continue;
    const std::string reason = say(time.speed_up.reason, of_runs);
    std::vector<std::string>& of_reason = times[reason];
    if (of_reason.empty()) reasons.push_back(reason);
    of_reason.push_back(
        time.ratio ? fmt::format("{} {}", named_time(words, time), format::signed_percent(*time.ratio - 1))
                   : named_time(words, time));
  }
  std::vector<std::string> texts;
  for (const std::string& reason : reasons)
    texts.push_back(fmt::format("{}: {}", format::list(times.at(reason)), reason));
  return fmt::format("inconclusive: {}", fmt::join(texts, "; "));
}

/// What fails a case, in a word.
std::string_view failure_of(const Comparison& comparison, const CaseComparison& c) {
  const auto fails = [&](const Regression& one) {
    return one.kind != Worse::slower || comparison.fail_on.slower;
  };
  if (std::ranges::any_of(c.regressions, fails)) return "regression";
  return c.status_b == Status::ok ? "inconclusive" : "missing";
}

TestCase test_of(const Comparison& comparison, const CaseComparison& c) {
  TestCase test{.name = c.id == c.id_b ? c.id : fmt::format("{} -> {}", c.id, c.id_b),
                .failure = std::string(failure_of(comparison, c)),
                .failures = {}};
  const Words& words = words_of(comparison, c);
  for (const Regression& failure : comparison.failures_of(c))
    test.failures.push_back(regression_text(words, c, failure));
  for (const TimeComparison& time : c.times) {
    test.details.push_back(time_text(words, time));
    if (time.metric == "total_time" && time.b) test.seconds = time.b->median;
    if (comparison.is_beyond_threshold(time))
      test.undecided.push_back("undecided: " + undecided_text(words, time));
  }
  if (test.failures.empty()) test.skipped = why_skipped(words, c);
  return test;
}

/// A case that B has not at all.
TestCase missing_test(const Comparison& comparison, const std::string& id) {
  TestCase test{.name = id, .failure = "missing", .skipped = "only in A"};
  if (comparison.fail_on.missing) test.failures.emplace_back("missing in B");
  return test;
}

/// The id of the variant in that of a case.
std::string variant_of(const std::string& id) {
  return id.substr(0, id.find_first_of("[@"));
}

std::string case_xml(const std::string& variant, const TestCase& test) {
  const std::string time =
      test.seconds ? fmt::format(" time=\"{}\"", format::plain(*test.seconds, 9)) : std::string();
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\"{}>\n", escaped(variant),
                                escaped(test.name), time);
  if (!test.failures.empty()) {
    xml += fmt::format("      <failure type=\"{}\" message=\"{}\">", test.failure,
                       escaped(fmt::format("{}", fmt::join(test.failures, "; "))));
    for (const auto* lines : {&test.failures, &test.details}) {
      for (const std::string& line : *lines) xml += escaped(line) + "\n";
    }
    xml += "</failure>\n";
  } else if (!test.skipped.empty()) {
    xml += fmt::format("      <skipped message=\"{}\"/>\n", escaped(test.skipped));
  } else if (!test.undecided.empty()) {
    xml += "      <system-out>";
    for (const std::string& line : test.undecided) xml += escaped(line) + "\n";
    xml += "</system-out>\n";
  }
  return xml + "    </testcase>\n";
}

/// How many tests there are, and how many of them failed or were skipped, as attributes.
std::string counts_of(const std::vector<TestCase>& tests) {
  std::size_t failed = 0, skipped = 0;
  for (const TestCase& test : tests) {
    failed += test.failures.empty() ? 0 : 1;
    skipped += test.failures.empty() && !test.skipped.empty() ? 1 : 0;
  }
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", tests.size(), failed,
                     skipped);
}

}  // namespace

std::string comparison_junit(const Comparison& comparison) {
  std::map<std::string, std::vector<TestCase>> suites;
  std::vector<TestCase> all;
  for (const CaseComparison& c : comparison.cases) suites[c.key.variant].push_back(test_of(comparison, c));
  for (const std::string& id : comparison.only_in_a)
    suites[variant_of(id)].push_back(missing_test(comparison, id));
  std::string xml;
  for (const auto& [variant, tests] : suites) {
    xml += fmt::format("  <testsuite name=\"{}\" {}>\n", escaped(variant), counts_of(tests));
    for (const TestCase& test : tests) xml += case_xml(variant, test);
    xml += "  </testsuite>\n";
    all.insert(all.end(), tests.begin(), tests.end());
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mprof compare\" {}>\n{}"
      "</testsuites>\n",
      counts_of(all), xml);
}

}  // namespace mprof
