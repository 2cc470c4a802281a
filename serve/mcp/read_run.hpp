// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/analysis/analysis.hpp"
#include "report/materials/materials.hpp"
#include "serve/mcp/answer.hpp"
#include "serve/mcp/root.hpp"

namespace mprof::mcp {

/// A case of a run, and what it belongs to.
struct FoundCase {
  const FamilyResult* family = nullptr;
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;
};

/// A run below the root with all that its report is made of.
class ReadRun {
 public:
  /// Throws Trouble where there is no such run, and Error where it cannot be read.
  explicit ReadRun(const std::string& path);
  ReadRun(const ReadRun&) = delete;
  ReadRun& operator=(const ReadRun&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const Run& run() const { return run_; }
  [[nodiscard]] const Materials& materials() const { return materials_; }
  [[nodiscard]] const RunAnalysis& analysis() const { return analysis_; }
  /// All cases, in the order of their families and variants.
  [[nodiscard]] std::vector<FoundCase> cases() const;
  /// By its id, or by the key that rows have of it. Throws Trouble with the nearest ones.
  [[nodiscard]] FoundCase find(const std::string& case_or_key) const;

 private:
  std::string path_;
  OpenedDirectory directory_;
  Run run_;
  Materials materials_;
  RunAnalysis analysis_;
};

/// Its key in rows.
[[nodiscard]] std::string case_key(const CaseResult& result);
/// Of a kernel, as `counters` and `lines` have it.
[[nodiscard]] std::string kernel_key(std::string_view op, std::string_view kernel);

/// A kernel of an op.
struct NamedKernel {
  std::string op;
  std::string kernel;
  friend bool operator==(const NamedKernel&, const NamedKernel&) = default;
};
/// The kernels of a case that were counted or sampled, each once.
[[nodiscard]] std::vector<NamedKernel> known_kernels(const Case& c);
/// Whether that is its key or its name.
[[nodiscard]] bool is_called(const NamedKernel& kernel, std::string_view key_or_name);
[[nodiscard]] bool is_called_op(std::string_view op, std::string_view key_or_name);

/// Adds NAME, NAME_low and NAME_high; NAME is null where it is absent, and NAME_absent says why.
void add_value(Json& row, const std::string& name, const Value& value);
/// Adds speed_up, speed_up_low, speed_up_high and verdict, with `verdict_why` where it is open.
void add_speed_up(Json& row, const SpeedUp& speed_up);

/// Adds the passes that the run was made without, and what would make them.
void lack_passes(Answer& answer, const Run& run, std::initializer_list<Pass> wanted);

}  // namespace mprof::mcp
