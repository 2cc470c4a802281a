#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// The record of `mprof check`: what NVIDIA's compute-sanitizer found in the variants of a run. Plain values;
/// docs/check-record.md explains each field, model/check.schema.json is its JSON Schema.
namespace mprof {

inline constexpr int check_schema_version = 1;

/// The tools of compute-sanitizer.
enum class CheckTool { memcheck, racecheck, initcheck, synccheck };

/// `clean`: no error; `errors`: the tool reported some; `failed`: the check itself came to nothing;
/// `timeout`: it was ended at its time limit; `skipped`: it cannot be made here, or not of this variant.
enum class CheckStatus { clean, errors, failed, timeout, skipped };

/// One variant under one tool.
struct CheckResult {
  std::string variant{};
  CheckTool tool = CheckTool::memcheck;
  Problem problem{};
  CheckStatus status = CheckStatus::skipped;
  std::string reason{};  ///< why, when neither clean nor errors
  std::uint32_t errors = 0;
  std::uint32_t warnings = 0;          ///< hazards that racecheck calls a warning; they leave a result clean
  std::string first_report{};          ///< the first error, or without one the first warning, on one line
  std::string started{};               ///< UTC, ISO 8601
  std::optional<double> seconds{};     ///< s; absent when skipped
  Tool mprof{};                        ///< the build whose kernels were checked
  std::string device{};                ///< name of the GPU; empty when skipped
  std::string sanitizer{};             ///< version of compute-sanitizer; empty when skipped
  std::vector<std::string> command{};  ///< as it was started; empty when skipped
  bool operator==(const CheckResult&) const = default;
};

struct Check {
  int schema_version = check_schema_version;
  std::vector<CheckResult> results{};  ///< one a variant and tool
  bool operator==(const Check&) const = default;
};

[[nodiscard]] std::string_view to_string(CheckTool tool);
[[nodiscard]] std::string_view to_string(CheckStatus status);
/// The inverse; false, and `value` untouched, when `text` names none.
bool from_string(std::string_view text, CheckTool& value);
bool from_string(std::string_view text, CheckStatus& value);

/// All tools, in the order in which they run and are shown.
[[nodiscard]] const std::vector<CheckTool>& check_tools();

/// The result of a variant under a tool; nullptr when there is none.
[[nodiscard]] const CheckResult* find_result(const Check& check, std::string_view variant, CheckTool tool);

/// Whether the tool got to the end of its work and said what it found.
[[nodiscard]] bool is_checked(const CheckResult& result);

}  // namespace mprof
