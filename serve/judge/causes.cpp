// SPDX-License-Identifier: MIT
#include "serve/judge/causes.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "model/derive/derive.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/advice/advice.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/evidence.hpp"
#include "report/text/format.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/kernels.hpp"
#include "runner/begin.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_kernels = 5, most_advice = 5, most_stalls = 2;

/// Both cases in one run, so that one is the other's baseline.
Run joined(const Run& of_other, const Run& of_file) {
  Run run = of_file;
  for (const VariantInfo& variant : of_other.variants) {
    if (find_variant(run, variant.id) == nullptr) run.variants.push_back(variant);
  }
  run.plan.variants.insert(run.plan.variants.begin(), of_other.plan.variants.begin(),
                           of_other.plan.variants.end());
  run.cases.insert(run.cases.begin(), of_other.cases.begin(), of_other.cases.end());
  return run;
}

std::string fact(const Run& run, const char* group, const char* name) {
  const auto facts = run.environment.find(group);
  if (facts == run.environment.end()) return "";
  const auto found = facts->second.find(name);
  const auto* text = found == facts->second.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? "" : *text;
}

const VariantResult* find_result(const RunAnalysis& analysis, const std::string& variant) {
  for (const FamilyResult& family : analysis.families) {
    if (const VariantResult* found = family.find_variant(variant)) return found;
  }
  return nullptr;
}

void add_expectations(const VariantResult& variant, Judgement& judgement) {
  judgement.expectations = variant.expectations.size();
  judgement.expectations_met = static_cast<std::size_t>(
      std::ranges::count_if(variant.expectations, [](const ExpectationResult& result) {
        const ExpectationAt* const at = result.deciding();
        return at != nullptr && at->outcome == Outcome::met;
      }));
}

std::vector<std::string> reasons_of(const KernelResult& kernel) {
  std::vector<std::string> because;
  if (kernel.bottleneck) because.push_back(bound_text(*kernel.bottleneck));
  for (std::size_t i = 0; i < std::min(most_stalls, kernel.stalls.size()); ++i)
    because.push_back(fmt::format("warps wait {} cycles for an instruction: {}",
                                  format::significant(kernel.stalls[i].cycles), kernel.stalls[i].reason));
  if (!kernel.limited_by.empty())
    because.push_back(fmt::format("occupancy is limited by {}", fmt::join(kernel.limited_by, ", ")));
  return because;
}

void add_advice(const RunAnalysis& analysis, const VariantResult& variant, Judgement& judgement) {
  const Evidence evidence{.profile = std::nullopt, .absent = why_not_traced(*analysis.run)};
  const RunAdvice advice = advise(analysis, evidence);
  const VariantAdvice* const of_variant = advice.find_variant(variant);
  if (of_variant == nullptr) return;
  for (const OpAdvice& op : of_variant->ops) {
    for (const Advice& one : op.advice) {
      if (judgement.advice.size() == most_advice) return;
      judgement.advice.push_back({.rule = std::string(one.rule->id),
                                  .op = op.op,
                                  .text = std::string(change_text(*one.rule)),
                                  .bound_gain = one.gain,
                                  .evidence = fmt::format("{}: {} → {}", one.rule->limit,
                                                          format::quantity(one.value, one.rule->unit),
                                                          format::quantity(one.best, one.rule->unit))});
    }
  }
}

}  // namespace

void add_causes(const Run& of_other, const Run& of_file, const std::filesystem::path& directory,
                Judgement& judgement) {
  Run run = joined(of_other, of_file);
  derive(run, directory);
  const bool is_on_gpu = judgement.device == "cuda";
  judgement.machine = fact(run, is_on_gpu ? "gpu" : "cpu", is_on_gpu ? "name" : "model");
  const RunAnalysis analysis = analyse(run);
  std::set<std::string> disturbed;
  for (const JudgedTime& time : judgement.times)
    disturbed.insert(time.speed_up.disturbed.begin(), time.speed_up.disturbed.end());
  judgement.disturbed.assign(disturbed.begin(), disturbed.end());
  const VariantResult* const variant = find_result(analysis, judgement.variant);
  const JudgedTime* const decisive = judgement.decisive();
  if (variant == nullptr || variant->cases.empty()) return;
  add_expectations(*variant, judgement);
  const OpResult* const op = decisive == nullptr ? nullptr : variant->cases.front().find_op(decisive->op);
  if (op == nullptr || !op->of_possible || !op->limit || is_beyond_measured_peaks(*op)) return;
  judgement.of_possible = op->of_possible->median;
  judgement.bound = std::string(short_name(*op->limit));
}

ExtraPass extra_pass(const ExtraPassRequest& request) {
  ExtraPass watched{.run = request.run};
  Run& run = watched.run;
  run.plan.passes.push_back(request.pass);
  run.cases.at(0).passes.push_back({.pass = request.pass});
  run.cases.at(0).passes.back().status = Status::pending;
  ResultDirectory directory(request.directory, ResultDirectory::Mode::create);
  Progress silent;
  const fs::path trace = request.written / trace::file_name;
  CoordinatorContext context{request.worker_command, directory, request.clock, silent, request.interrupt_fd};
  context.trace_file = trace;
  coordinate(run, context);
  if (run.state == RunState::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  const PassResult* const pass = find_pass(run.cases.at(0), request.pass);
  if (pass->status == Status::suspect || pass->status == Status::wrong)
    watched.suspect = pass->reason;
  else if (pass->status != Status::ok)
    watched.absent = pass->reason;
  if (!watched.absent.empty() || !watched.suspect.empty()) return watched;
  // The worker has ended, and may have left anything in its folder.
  std::error_code error;
  if (fs::is_regular_file(fs::symlink_status(trace, error))) fs::rename(trace, directory.trace_file());
  derive(run, request.directory);
  for (const PassResult& result : run.cases.at(0).passes) {
    if (result.status == Status::suspect) watched.suspect = result.reason;
  }
  return watched;
}

void add_kernels(const Run& counted, Judgement& judgement) {
  const RunAnalysis analysis = analyse(counted);
  const VariantResult* const variant = find_result(analysis, judgement.variant);
  if (variant == nullptr) return;
  for (const FamilyResult& family : analysis.families) {
    for (const KernelResult& kernel : family.speed_of_light.kernels) {
      if (kernel.variant != variant || judgement.kernels.size() == most_kernels) continue;
      judgement.kernels.push_back(
          {.name = tamed(kernel.counters.kernel),
           .share = kernel.share,
           .bottleneck = kernel.bottleneck ? std::string(to_string(kernel.bottleneck->bound)) : "",
           .because = reasons_of(kernel)});
    }
  }
  add_advice(analysis, *variant, judgement);
}

}  // namespace mprof
