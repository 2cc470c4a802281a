// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/advice/advice.hpp"
#include "report/analysis/kernels/kernels.hpp"
#include "report/analysis/kernels/speed_of_light.hpp"
#include "report/analysis/reasons/explanations.hpp"
#include "report/text/format.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/reasons.hpp"
#include "report/wording/why.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/read_run.hpp"
#include "system/suggest.hpp"

/// Why a case is faster or slower than its baseline, what bounds it, and what to do next.
namespace mprof::mcp {
namespace {

constexpr std::size_t most_reasons = 5, most_advice = 3, usual_explanation = 24;

/// The numbers that a reason cites.
Json evidence_of(const Reason& reason) {
  Json list = Json::array();
  for (std::size_t i = 0; i < reason.cited.size() && i < reason.rule->cites.size(); ++i) {
    const std::string_view metric = reason.rule->cites[i].metric;
    const std::optional<Unit> unit = unit_of(metric);
    list.push_back({{"metric", foreign(metric)},
                    {"unit", unit ? unit_symbol(*unit) : ""},
                    {"before", number(reason.cited[i].before)},
                    {"after", number(reason.cited[i].after)}});
  }
  return list;
}

/// What of a case is asked for: an op, a kernel with the op that it is of, or all.
class Scope {
 public:
  /// Throws Trouble where the case has no such op, or the op no such kernel.
  Scope(const Case& c, const Json& arguments)
      : op_(arguments.value("op", "")), kernel_(arguments.value("kernel", "")) {
    if (!op_.empty()) require_op(c);
    if (!kernel_.empty()) find_kernels(c);
  }

  [[nodiscard]] bool has(std::string_view op) const {
    if (!kernel_.empty()) return std::ranges::find(kernels_, op, &NamedKernel::op) != kernels_.end();
    return op_.empty() || is_called_op(op, op_);
  }
  [[nodiscard]] bool has(const KernelCounters& kernel) const {
    return kernel_.empty()
               ? has(kernel.op)
               : std::ranges::find(kernels_, NamedKernel{kernel.op, kernel.kernel}) != kernels_.end();
  }
  [[nodiscard]] bool is_whole() const { return op_.empty() && kernel_.empty(); }
  [[nodiscard]] bool is_of_kernel() const { return !kernel_.empty(); }

 private:
  void require_op(const Case& c) const {
    std::vector<std::string> known;
    for (const OpInfo& op : c.ops) {
      if (is_called_op(op.name, op_)) return;
      known.push_back(key_of("op", op.name));
    }
    throw Trouble("bad_argument",
                  fmt::format("The case has no op '{}'.{}", foreign(op_, 96), did_you_mean(op_, known)),
                  "The tool rows with table ops lists them.");
  }

  void find_kernels(const Case& c) {
    for (const NamedKernel& kernel : known_kernels(c)) {
      if (is_called(kernel, kernel_) && (op_.empty() || is_called_op(kernel.op, op_)))
        kernels_.push_back(kernel);
    }
    if (kernels_.empty())
      throw Trouble("bad_argument",
                    fmt::format("No kernel '{}' of this {} was counted or sampled.", foreign(kernel_, 96),
                                op_.empty() ? "case" : "op"),
                    "Give a key that the table counters or lines of the tool rows has as kernel.");
  }

  std::string op_;
  std::string kernel_;
  std::vector<NamedKernel> kernels_{};  ///< that are asked for, where a kernel is
};

/// What a rule lacks comes from these two passes.
std::string how_to_get_evidence(const Run& run) {
  std::vector<std::string> lacking;
  for (const Pass pass : {Pass::trace, Pass::counters}) {
    if (std::ranges::count(run.plan.passes, pass) == 0) lacking.emplace_back(to_string(pass));
  }
  return lacking.empty() ? "It was measured for, and cannot be had here. The other rows do without it."
                         : fmt::format("Measure with {} too, then ask again.", format::list(lacking));
}

class Explaining {
 public:
  Explaining(Answer& answer, FoundCase of, const Scope& scope, const Run& run)
      : answer_(answer), of_(of), scope_(scope), how_(how_to_get_evidence(run)) {}

  /// The kernels that take the longest come first: a program has many that hardly matter.
  void add_bottlenecks() {
    std::vector<const KernelResult*> bound;
    for (const KernelResult& kernel : of_.family->speed_of_light.kernels) {
      if (kernel.result == of_.result && kernel.bottleneck && scope_.has(kernel.counters))
        bound.push_back(&kernel);
    }
    std::ranges::stable_sort(bound, [](const KernelResult* a, const KernelResult* b) {
      return b->counters.busy() < a->counters.busy();
    });
    for (const KernelResult* const kernel : bound) {
      const double seconds = kernel->counters.busy();
      answer_.add({{"key", "bound:" + kernel_key(kernel->counters.op, kernel->counters.kernel)},
                   {"kind", "bottleneck"},
                   {"op", foreign(kernel->counters.op)},
                   {"kernel", kernel_key(kernel->counters.op, kernel->counters.kernel)},
                   {"name", foreign(kernel->counters.kernel, 96)},
                   {"text", foreign(bound_text(*kernel->bottleneck))},
                   {"busy", seconds > 0 ? number(seconds) : Json(nullptr)},
                   {"compute", number(kernel->bottleneck->compute)},
                   {"memory", number(kernel->bottleneck->memory)}});
    }
    if (bound.empty() && scope_.is_of_kernel())
      answer_.lack("what bounds the kernel", why_no_bottleneck(),
                   "Measure this case with the counters pass.");
  }

  /// False where nothing that is asked for is explained at this problem.
  bool add_reasons(const Explanations& explanations) {
    bool found = false;
    for (const Explanation& explanation : explanations.of_ops) {
      if (explanation.problem != of_.result->key.problem || !scope_.has(explanation.op)) continue;
      found = true;
      add_verdict(explanation);
      add_list("reason", explanation, explanation.reasons, most_reasons);
      add_list("explains_little", explanation, explanation.little, 2);
      add_list("against", explanation, explanation.against, 3);
      add_list("context", explanation, explanation.context, 2);
      for (const MissingEvidence& missing : explanation.missing)
        answer_.lack(fmt::format("evidence of {}", key_of("op", explanation.op)), missing_text(missing),
                     how_);
    }
    return found;
  }

  void add_advice(const VariantAdvice& advice) {
    const auto add = [&](const OpAdvice& of_op) {
      if (!scope_.has(of_op.op)) return;
      std::size_t number_of = 0;
      for (const Advice& one : of_op.advice) {
        if (++number_of > most_advice) break;
        answer_.add({{"key", fmt::format("advice:{}:{}", key_of("op", of_op.op.empty() ? "total" : of_op.op),
                                         one.rule->id)},
                     {"kind", "advice"},
                     {"op", foreign(of_op.op)},
                     {"rule", one.rule->id},
                     {"text", foreign(change_text(*one.rule))},
                     {"example", foreign(example_text(one))},
                     {"at_most", number(one.gain)},
                     {"evidence", Json::array({{{"metric", one.rule->limit},
                                                {"unit", unit_symbol(one.rule->unit)},
                                                {"is", number(one.value)},
                                                {"at_best", number(one.best)}}})}});
      }
      for (const NotJudged& missing : of_op.missing) answer_.lack("advice", not_judged_text(missing), how_);
    };
    for (const OpAdvice& of_op : advice.ops) add(of_op);
    add(advice.whole);
  }

 private:
  [[nodiscard]] std::string why_no_bottleneck() const {
    const std::vector<KernelCounters> counted = kernels_of(*of_.result->source);
    const auto is_asked = [&](const KernelCounters& kernel) { return scope_.has(kernel); };
    if (std::ranges::none_of(counted, is_asked)) {
      const std::string why = say(why_not_counted(*of_.result->source));
      return counted.empty() && !why.empty() ? why : "the counters pass did not count it";
    }
    const auto& shown = of_.family->speed_of_light.kernels;
    return std::ranges::find(shown, of_.result, &KernelResult::result) == shown.end()
               ? "kernels are judged at one problem of a family, and this is another one"
               : "the counters that tell it were not read";
  }

  void add_verdict(const Explanation& explanation) {
    Json row{{"key", fmt::format("verdict:{}:{}", key_of("op", explanation.op), explanation.time)},
             {"kind", "verdict"},
             {"op", foreign(explanation.op)},
             {"time", explanation.time},
             {"text", foreign(fmt::format("{} over {}", of_.result->id, of_.result->baseline))}};
    add_value(row, "before", explanation.before);
    add_value(row, "after", explanation.after);
    add_speed_up(row, explanation.speed_up);
    answer_.add(std::move(row));
  }

  void add_list(std::string_view kind, const Explanation& explanation, const std::vector<Reason>& reasons,
                std::size_t most) {
    std::size_t number_of = 0;
    for (const Reason& reason : reasons) {
      if (++number_of > most) break;
      answer_.add({{"key", fmt::format("{}:{}:{}:{}", kind, key_of("op", explanation.op), explanation.time,
                                       reason.rule->id)},
                   {"kind", kind},
                   {"op", foreign(explanation.op)},
                   {"rule", reason.rule->id},
                   {"text", foreign(reason_text(reason, of_.family->words), 480)},
                   {"strength", number(reason.strength)},
                   {"evidence", evidence_of(reason)}});
    }
  }

  Answer& answer_;
  FoundCase of_;
  const Scope& scope_;
  std::string how_;  ///< to get evidence that is missing
};

/// The problem is explained, and what is asked for is not.
std::string why_not_here(const ReadRun& read, const FoundCase& found, const Scope& scope) {
  const std::vector<FoundCase> all = read.cases();
  const auto baseline = std::ranges::find(
      all, found.result->baseline, [](const FoundCase& one) -> const std::string& { return one.result->id; });
  const bool has_op =
      baseline != all.end() &&
      std::ranges::any_of(baseline->result->ops, [&](const OpResult& op) { return scope.has(op.info.name); });
  return has_op ? "the reasons at the variant's other explained problem hold here too"
                : "its baseline has no op of this name to compare with";
}

/// Of the variant's other problems, the ones that are explained.
void point_to_explained(Answer& answer, const ReadRun& read, const FoundCase& found, const Scope& scope,
                        const Explanations& explanations) {
  const bool is_explained_here = std::ranges::find(explanations.of_ops, found.result->key.problem,
                                                   &Explanation::problem) != explanations.of_ops.end();
  const std::string why = explanations.of_ops.empty() ? say(explanations.absent)
                          : is_explained_here
                              ? why_not_here(read, found, scope)
                              : "a variant is explained at its largest counted problem, and at its smallest";
  answer.lack(scope.is_whole() ? "reasons at this problem" : "reasons for this op at this problem",
              why.empty() ? "no rule could be asked" : why, "Ask for the case in next, where there is one.");
  std::vector<Problem> problems;
  for (const Explanation& explanation : explanations.of_ops) {
    if (std::ranges::find(problems, explanation.problem) != problems.end()) continue;
    problems.push_back(explanation.problem);
    const CaseResult* const other = found.variant->representative(explanation.problem);
    if (other != nullptr && other != found.result)
      answer.lead_on("explain", {{"run", read.path()}, {"case", case_key(*other)}});
  }
}

/// "2 reasons for its time over its baseline, 7 hints on what to do next, and what bounds 6 kernels."
std::string counted(const Answer& answer, bool is_baseline) {
  const auto count = [&](std::string_view kind) {
    return static_cast<std::size_t>(
        std::ranges::count_if(answer.rows(), [&](const Json& row) { return row.value("kind", "") == kind; }));
  };
  const std::size_t reasons = count("reason"), hints = count("advice"), kernels = count("bottleneck");
  return fmt::format(
      "{}, {} on what to do next{}.",
      is_baseline ? "No reasons, for it is a baseline"
                  : format::plural(reasons, "reason") + " for its time over its baseline",
      hints == 0 ? "no advice" : format::plural(hints, "hint"),
      kernels == 0 ? "" : fmt::format(", and what bounds {}", format::plural(kernels, "kernel")));
}

}  // namespace

Answer answer_explain(const Json& arguments) {
  const ReadRun read(arguments["run"].get<std::string>());
  const FoundCase found = read.find(arguments["case"].get<std::string>());
  Answer answer("explain", arguments);
  const CaseResult& result = *found.result;
  const Scope scope(*result.source, arguments);
  Explaining explaining(answer, found, scope, read.run());
  if (!result.ok()) {
    answer.lack("reasons", fmt::format("the case is {}: {}", to_string(result.status), result.reason),
                "A case that is not ok has no time to explain.");
  }
  const bool is_baseline = found.variant->info.baseline.empty();
  const Explanations explanations = is_baseline ? Explanations{} : explain(*found.family, *found.variant);
  answer.set_usual_rows(usual_explanation);
  if (is_baseline) {
    answer.lack("reasons", "its variant is a baseline, and is compared with no other",
                "Ask for a case of a variant that has a baseline.");
  } else if (result.ok() && !explaining.add_reasons(explanations)) {
    point_to_explained(answer, read, found, scope, explanations);
  }
  const RunAdvice advice = advise(read.analysis(), read.materials().evidence);
  if (const VariantAdvice* const of = advice.find_variant(*found.variant); of != nullptr) {
    if (of->result == &result) {
      explaining.add_advice(*of);
    } else if (of->result == nullptr) {
      answer.lack("advice", say(of->absent),
                  "Advice is given for variants for a GPU that have a verified time.");
    } else {
      answer.lack("advice", "it is given at the largest problem with a verified time",
                  "Ask for the case in next.");
      answer.lead_on("explain", {{"run", read.path()}, {"case", case_key(*of->result)}});
    }
  }
  explaining.add_bottlenecks();
  answer.say(counted(answer, is_baseline));
  answer.set_units({{"before", "s"},
                    {"after", "s"},
                    {"speed_up", "1"},
                    {"at_most", "1"},
                    {"busy", "s"},
                    {"compute", "%"},
                    {"memory", "%"}});
  answer.mark_foreign({"op", "name", "text", "example", "evidence"});
  if (find_pass(*result.source, Pass::source) != nullptr)
    answer.lead_on("lines", {{"run", read.path()}, {"case", case_key(result)}});
  answer.lead_on("rows", {{"run", read.path()}, {"table", "ops"}, {"case", case_key(result)}});
  return answer;
}

}  // namespace mprof::mcp
