// SPDX-License-Identifier: MIT
#include "serve/mcp/read_run.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/run_file.hpp"
#include "report/analysis/kernels/kernels.hpp"
#include "report/wording/why.hpp"
#include "system/suggest.hpp"

namespace mprof::mcp {

ReadRun::ReadRun(const std::string& path) : path_(path), directory_(path) {
  TracedRun read = read_traced_run(directory_.path(), evidence_parts);
  run_ = std::move(read.run);
  materials_ = read_materials(run_, directory_.path(), {}, std::move(read.trace));
  analysis_ = analyse(run_, materials_.sanitizer ? &*materials_.sanitizer : nullptr);
}

std::vector<FoundCase> ReadRun::cases() const {
  std::vector<FoundCase> all;
  for (const FamilyResult& family : analysis_.families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) all.push_back({&family, &variant, &result});
    }
  }
  return all;
}

FoundCase ReadRun::find(const std::string& case_or_key) const {
  std::vector<std::string> known;
  for (const FoundCase& found : cases()) {
    const std::string key = case_key(*found.result);
    if (found.result->id == case_or_key || key == case_or_key) return found;
    known.push_back(key);
  }
  std::string how = did_you_mean(case_or_key, known);
  if (!how.empty()) how.erase(0, how.find_first_not_of(' '));
  throw Trouble("no_such_case", fmt::format("The run has no case '{}'.", foreign(case_or_key, 96)),
                how + (how.empty() ? "" : " ") + "The tool rows with table cases lists all of them.");
}

std::string case_key(const CaseResult& result) {
  return key_of("case", result.id);
}

std::string kernel_key(std::string_view op, std::string_view kernel) {
  // Names of kernels hold blanks and brackets, so that a hash stands for nearly all.
  return key_of("kernel", fmt::format("{} {}", op, kernel));
}

std::vector<NamedKernel> known_kernels(const Case& c) {
  std::vector<NamedKernel> known;
  const auto add = [&](NamedKernel kernel) {
    if (std::ranges::find(known, kernel) == known.end()) known.push_back(std::move(kernel));
  };
  for (const KernelCounters& kernel : kernels_of(c)) add({kernel.op, kernel.kernel});
  if (const PassResult* const source = find_pass(c, Pass::source)) {
    for (const SourceLine& line : source->source_lines) add({line.op, line.kernel});
  }
  return known;
}

bool is_called(const NamedKernel& kernel, std::string_view key_or_name) {
  return kernel.kernel == key_or_name || kernel_key(kernel.op, kernel.kernel) == key_or_name;
}

bool is_called_op(std::string_view op, std::string_view key_or_name) {
  return op == key_or_name || key_of("op", op) == key_or_name;
}

void add_value(Json& row, const std::string& name, const Value& value) {
  row[name] = value ? number(value->median) : Json(nullptr);
  if (!value) {
    row[name + "_absent"] = foreign(say(value.absent));
  } else if (value->interval) {
    row[name + "_low"] = number(value->interval->low);
    row[name + "_high"] = number(value->interval->high);
  }
}

void add_speed_up(Json& row, const SpeedUp& speed_up) {
  row["speed_up"] = speed_up ? number(*speed_up.factor) : Json(nullptr);
  if (!speed_up) {
    row["speed_up_absent"] = foreign(say(speed_up.absent));
    return;
  }
  if (speed_up.interval) {
    row["speed_up_low"] = number(speed_up.interval->low);
    row["speed_up_high"] = number(speed_up.interval->high);
  }
  row["verdict"] = to_string(speed_up.verdict);
  if (const std::string why = say(speed_up.reason); !why.empty()) row["verdict_why"] = foreign(why);
}

void lack_passes(Answer& answer, const Run& run, std::initializer_list<Pass> wanted) {
  for (const Pass pass : wanted) {
    if (std::ranges::count(run.plan.passes, pass) > 0) continue;
    answer.lack(fmt::format("the {} pass", to_string(pass)), "the run was made without it",
                fmt::format("Measure again with passes that include {}.", to_string(pass)));
  }
}

}  // namespace mprof::mcp
