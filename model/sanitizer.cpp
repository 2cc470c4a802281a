// SPDX-License-Identifier: MIT
#include "model/sanitizer.hpp"

#include <algorithm>

#include "model/enum_names.hpp"

namespace mprof {
namespace {

constexpr EnumNames<SanitizerTool, 4> tool_names{{{SanitizerTool::memcheck, "memcheck"},
                                                  {SanitizerTool::racecheck, "racecheck"},
                                                  {SanitizerTool::initcheck, "initcheck"},
                                                  {SanitizerTool::synccheck, "synccheck"}}};
constexpr EnumNames<SanitizerStatus, 5> outcome_names{{{SanitizerStatus::clean, "clean"},
                                                       {SanitizerStatus::errors, "errors"},
                                                       {SanitizerStatus::failed, "failed"},
                                                       {SanitizerStatus::timeout, "timeout"},
                                                       {SanitizerStatus::skipped, "skipped"}}};

}  // namespace

std::string_view to_string(SanitizerTool tool) {
  return name_of(tool_names, tool);
}
std::string_view to_string(SanitizerStatus status) {
  return name_of(outcome_names, status);
}
bool from_string(std::string_view text, SanitizerTool& value) {
  return value_of(tool_names, text, value);
}
bool from_string(std::string_view text, SanitizerStatus& value) {
  return value_of(outcome_names, text, value);
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
