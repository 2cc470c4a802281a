// SPDX-License-Identifier: MIT
#include "cli/compare_options.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/numbers.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

/// OLD=NEW, by OLD.
std::map<std::string, std::string> parse_renamed(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> renamed;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw Error(ExitCode::usage, fmt::format("--map {}: give OLD=NEW, the id of a variant in A and what it "
                                               "is called in B.",
                                               text));
    if (!renamed.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw Error(ExitCode::usage, fmt::format("--map {}: {} has been given another name already.", text,
                                               text.substr(0, equals)));
  }
  return renamed;
}

Pairing parse_pairing(const Arguments& arguments) {
  Pairing pairing{parse_renamed(arguments.texts("map")), arguments.text("of"), arguments.text("with")};
  if (pairing.of.empty() != pairing.with.empty())
    throw Error(ExitCode::usage,
                "--of and --with belong together: two variants, or two points of their "
                "parameters.");
  if (!pairing.of.empty() && !pairing.renamed.empty())
    throw Error(ExitCode::usage,
                "--map says which variant is which, and so do --of and --with: give one of "
                "them.");
  return pairing;
}

FailOn parse_fail_on(const std::string& text) {
  FailOn fail_on{.slower = false};
  const std::vector<std::string> parts = split(text);
  for (const std::string& part : parts) {
    if (part == "slower") {
      fail_on.slower = true;
    } else if (part == "inconclusive") {
      fail_on.inconclusive = true;
    } else if (part == "missing") {
      fail_on.missing = true;
    } else if (part != "none" || parts.size() > 1) {
      throw Error(ExitCode::usage,
                  fmt::format("--fail-on {}: give slower, inconclusive, missing, or none alone.{}", text,
                              did_you_mean(part, {"slower", "inconclusive", "missing", "none"})));
    }
  }
  return fail_on;
}

}  // namespace

double parse_threshold(const std::string& text) {
  const auto percent = parse_as<double>(text);
  if (!percent || !(*percent >= 0 && *percent < 100))
    throw Error(ExitCode::usage, fmt::format("--threshold {}: give a percentage from 0 to below 100.", text));
  return *percent / 100;
}

std::string parse_comparison_format(const std::string& text, std::string_view what) {
  const std::vector<std::string> known{"text", "md", "html", "json"};
  if (std::find(known.begin(), known.end(), text) != known.end()) return text;
  throw Error(ExitCode::usage,
              fmt::format("--format {}: a {} has no such format.{} The formats are text, md, html and json.",
                          text, what, did_you_mean(text, known)));
}

CompareOptions parse_compare_options(const Arguments& arguments) {
  CompareOptions options;
  if (arguments.given("threshold")) {
    const double threshold = parse_threshold(arguments.text("threshold"));
    options.thresholds = {.device = threshold, .host = threshold};
  }
  options.allow_different_machines = arguments.flag("allow-different-machines");
  options.pairing = parse_pairing(arguments);
  options.fail_on = parse_fail_on(arguments.text("fail-on"));
  if (arguments.texts("B").empty() && options.pairing.of.empty())
    throw Error(ExitCode::usage,
                "mprof compare: B is missing: give the run to compare with A, or --of and --with for two "
                "variants of one run. See `mprof compare --help`.");
  return options;
}

}  // namespace mprof::cli
