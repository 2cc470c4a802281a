#include "cli/compare_options.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "system/error.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {

double parse_threshold(const std::string& text) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || end != text.data() + text.size() || !(percent >= 0 && percent < 100)) {
    throw Error(ExitCode::usage, fmt::format("--threshold {}: give a percentage from 0 to below 100.", text));
  }
  return percent / 100;
}

std::string parse_comparison_format(const std::string& text, std::string_view what) {
  const std::vector<std::string> known{"text", "md", "html", "json"};
  if (std::find(known.begin(), known.end(), text) != known.end()) return text;
  throw Error(ExitCode::usage,
              fmt::format("--format {}: a {} has no such format.{} The formats are text, md, html and json.",
                          text, what, did_you_mean(text, known)));
}

}  // namespace mprof::cli
