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

std::string_view to_string(CheckTool tool) {
  return tools.at(static_cast<std::size_t>(tool));
}
std::string_view to_string(CheckStatus status) {
  return statuses.at(static_cast<std::size_t>(status));
}
bool from_string(std::string_view text, CheckTool& value) {
  return value_of(tools, text, value);
}
bool from_string(std::string_view text, CheckStatus& value) {
  return value_of(statuses, text, value);
}

const std::vector<CheckTool>& check_tools() {
  static const std::vector<CheckTool> all{CheckTool::memcheck, CheckTool::racecheck, CheckTool::initcheck,
                                          CheckTool::synccheck};
  return all;
}

const CheckResult* find_result(const Check& check, std::string_view variant, CheckTool tool) {
  const auto found = std::find_if(check.results.begin(), check.results.end(), [&](const CheckResult& result) {
    return result.variant == variant && result.tool == tool;
  });
  return found == check.results.end() ? nullptr : &*found;
}

bool is_checked(const CheckResult& result) {
  return result.status == CheckStatus::clean || result.status == CheckStatus::errors;
}

}  // namespace mprof
