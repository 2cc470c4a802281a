#include "model/sanitizer.hpp"

#include <algorithm>
#include <array>

namespace mprof {
namespace {

constexpr std::array<std::string_view, 4> tools{"memcheck", "racecheck", "initcheck", "synccheck"};
constexpr std::array<std::string_view, 5> statuses{"clean", "errors", "failed", "timeout", "skipped"};

template <class Enum, std::size_t n>
bool value_of(const std::array<std::string_view, n>& names, std::string_view text, Enum& value) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return false;
  value = static_cast<Enum>(found - names.begin());
  return true;
}

}  // namespace

std::string_view to_string(SanitizerTool tool) {
  return tools.at(static_cast<std::size_t>(tool));
}
std::string_view to_string(SanitizerStatus status) {
  return statuses.at(static_cast<std::size_t>(status));
}
bool from_string(std::string_view text, SanitizerTool& value) {
  return value_of(tools, text, value);
}
bool from_string(std::string_view text, SanitizerStatus& value) {
  return value_of(statuses, text, value);
}

const std::vector<SanitizerTool>& sanitizer_tools() {
  static const std::vector<SanitizerTool> all{SanitizerTool::memcheck, SanitizerTool::racecheck,
                                              SanitizerTool::initcheck, SanitizerTool::synccheck};
  return all;
}

const SanitizerResult* find_result(const SanitizerRecord& record, std::string_view variant,
                                   SanitizerTool tool) {
  const auto found = std::find_if(
      record.results.begin(), record.results.end(),
      [&](const SanitizerResult& result) { return result.variant == variant && result.tool == tool; });
  return found == record.results.end() ? nullptr : &*found;
}

bool is_conclusive(const SanitizerResult& result) {
  return result.status == SanitizerStatus::clean || result.status == SanitizerStatus::errors;
}

}  // namespace mprof
