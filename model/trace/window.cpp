// SPDX-License-Identifier: MIT
#include "model/trace/window.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace mprof::trace {
namespace {

constexpr std::string_view usage =
    "give step:10..20, range:NAME, range:NAME[3..5], profiler-api or seconds:1.5..3";

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && !text.empty() ? std::optional(number) : std::nullopt;
}

/// What stands before and behind `..`; one bound alone is both.
std::pair<std::string_view, std::string_view> bounds_of(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {text, text};
  return {text.substr(0, dots), text.substr(dots + 2)};
}

/// False: these are no numbers from 1 on, in ascending order.
bool read_counts(std::string_view text, Window& window) {
  const auto [first, last] = bounds_of(text);
  const auto from = number_of<std::uint64_t>(first);
  const auto to = last.empty() ? std::optional(Window::open) : number_of<std::uint64_t>(last);
  if (!from || !to || *from == 0 || *to < *from) return false;
  window.first = *from;
  window.last = *to;
  return true;
}

bool read_seconds(std::string_view text, Window& window) {
  if (text.find("..") == std::string_view::npos) return false;
  const auto [first, last] = bounds_of(text);
  const auto from = number_of<double>(first);
  const auto to = last.empty() ? std::optional(window.to) : number_of<double>(last);
  constexpr double longest = 1e9;  // s, which nanoseconds since 1970 bear
  if (!from || !to || !(*from >= 0) || !(*from <= longest) || !(*to > *from)) return false;
  if (!std::isinf(*to) && *to > longest) return false;
  window.from = *from;
  window.to = *to;
  return true;
}

std::optional<Window> range_window(std::string_view text, std::string& wrong) {
  Window window{.kind = Window::Kind::ranges, .last = 1};
  if (text.ends_with(']') && text.find('[') != std::string_view::npos) {
    const std::size_t bracket = text.rfind('[');
    if (!read_counts(text.substr(bracket + 1, text.size() - bracket - 2), window)) {
      wrong = "the brackets hold whole numbers from 1 on, as in range:NAME[3..5]";
      return std::nullopt;
    }
    text = text.substr(0, bracket);
  }
  window.range = text;
  if (!text.empty()) return window;
  wrong = "range: needs the name of an NVTX range, as in range:forward";
  return std::nullopt;
}

}  // namespace

std::optional<Window> parse_window(std::string_view text, std::string& wrong) {
  constexpr std::string_view step = "step:", range = "range:", seconds = "seconds:";
  Window window;
  if (text == "profiler-api") return window;
  if (text.starts_with(range)) return range_window(text.substr(range.size()), wrong);
  if (text.starts_with(step)) {
    window.kind = Window::Kind::steps;
    if (read_counts(text.substr(step.size()), window)) return window;
    wrong = "step: needs whole numbers from 1 on, the smaller one first, as in step:10..20";
    return std::nullopt;
  }
  if (text.starts_with(seconds)) {
    window.kind = Window::Kind::seconds;
    if (read_seconds(text.substr(seconds.size()), window)) return window;
    wrong = "seconds: needs two times, the smaller one first, as in seconds:1.5..3";
    return std::nullopt;
  }
  wrong = usage;
  return std::nullopt;
}

std::string written_window(const Window& window, std::int64_t since) {
  const auto second = [](double value) {
    return std::isinf(value) ? std::string("inf") : std::to_string(value);
  };
  return std::to_string(static_cast<int>(window.kind)) + '\n' + std::to_string(window.first) + '\n' +
         std::to_string(window.last) + '\n' + second(window.from) + '\n' + second(window.to) + '\n' +
         std::to_string(since) + '\n' + window.range;
}

std::optional<GivenWindow> given_window(std::string_view text) {
  std::array<std::string_view, 6> words;
  for (std::string_view& word : words) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    word = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  const auto kind = number_of<int>(words[0]);
  const auto first = number_of<std::uint64_t>(words[1]), last = number_of<std::uint64_t>(words[2]);
  const auto from = number_of<double>(words[3]), to = number_of<double>(words[4]);
  const auto since = number_of<std::int64_t>(words[5]);
  if (!kind || *kind < 0 || *kind > static_cast<int>(Window::Kind::seconds) || !first || !last || !from ||
      !to || !since)
    return std::nullopt;
  return GivenWindow{{.kind = static_cast<Window::Kind>(*kind),
                      .range = std::string(text),
                      .first = *first,
                      .last = *last,
                      .from = *from,
                      .to = *to},
                     *since};
}

}  // namespace mprof::trace
