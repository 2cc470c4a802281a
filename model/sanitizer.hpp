// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// The record of `mprof sanitize`: what NVIDIA's compute-sanitizer found in the variants of a run. Plain
/// values; docs/formats/sanitizer-record.md explains each field, model/sanitizer.schema.json is its JSON
/// Schema.
namespace mprof {

inline constexpr int sanitizer_schema_version = 2;

/// The tools of compute-sanitizer.
enum class SanitizerTool { memcheck, racecheck, initcheck, synccheck };

/// - `clean`: no error
/// - `errors`: the tool reported some
/// - `failed`: the run under it came to nothing
/// - `timeout`: it was ended at its time limit
/// - `skipped`: it cannot be made here, or not of this variant
enum class SanitizerStatus { clean, errors, failed, timeout, skipped };

/// One variant under one tool.
struct SanitizerResult {
  std::string variant{};
  SanitizerTool tool = SanitizerTool::memcheck;
  Problem problem{};
  SanitizerStatus status = SanitizerStatus::skipped;
  std::string reason{};  ///< why, when neither clean nor errors
  std::uint32_t errors = 0;
  std::uint32_t warnings = 0;          ///< hazards that racecheck calls a warning; they leave a result clean
  std::string first_report{};          ///< the first error, or without one the first warning, on one line
  std::string started{};               ///< UTC, ISO 8601
  std::optional<double> seconds{};     ///< s; absent when skipped
  Tool mprof{};                        ///< the build whose kernels were run
  std::string device{};                ///< name of the GPU; empty when skipped
  std::string sanitizer{};             ///< version of compute-sanitizer; empty when skipped
  std::vector<std::string> command{};  ///< as it was started; empty when skipped
  bool operator==(const SanitizerResult&) const = default;
};

struct SanitizerRecord {
  int schema_version = sanitizer_schema_version;
  std::vector<SanitizerResult> results{};  ///< one a variant and tool
  bool operator==(const SanitizerRecord&) const = default;
};

[[nodiscard]] std::string_view to_string(SanitizerTool tool);
[[nodiscard]] std::string_view to_string(SanitizerStatus status);
/// The inverse; false, and `value` untouched, when `text` names none.
bool from_string(std::string_view text, SanitizerTool& value);
bool from_string(std::string_view text, SanitizerStatus& value);

/// All tools, in the order in which they run and are shown.
[[nodiscard]] const std::vector<SanitizerTool>& sanitizer_tools();

/// The result of a variant under a tool; nullptr when it is missing.
[[nodiscard]] const SanitizerResult* find_result(const SanitizerRecord& record, std::string_view variant,
                                                 SanitizerTool tool);

/// Whether the tool got to the end of its work and said what it found.
[[nodiscard]] bool is_conclusive(const SanitizerResult& result);

}  // namespace mprof
