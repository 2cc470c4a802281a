// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/judgement/verification.hpp"
#include "report/analysis/standing/standings.hpp"
#include "report/text/format.hpp"
#include "report/views/advice_view.hpp"
#include "report/views/answer_sentences.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/time_budget_view.hpp"
#include "report/views/views.hpp"
#include "report/wording/judgement.hpp"

/// What the report says of a family as a whole: summary, verification, throughput, resources.
namespace mprof {
namespace {

using nlohmann::json;

void mark_best(std::vector<std::vector<Cell>>& rows, std::size_t column,
               const std::vector<const Value*>& times) {
  std::size_t best = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (times[i] == nullptr || !*times[i]) continue;
    if (best == rows.size() || (*times[i])->median < (*times[best])->median) best = i;
  }
  for (std::size_t i = 0; best < rows.size() && i < rows.size(); ++i) {
    const bool is_best = i == best || (times[i] != nullptr && is_level(*times[i], *times[best]));
    if (is_best) rows[i][column].tone = Tone::best;
  }
}

// --- Summary ---

Cell variant_cell(const Words& words, const VariantResult& variant, const CaseResult& result,
                  const std::string& anchor) {
  Cell name = Cell::words_to(result.configuration, anchor);
  if (variant.swept())
    name.note = fmt::format("the fastest verified point of its parameter sweep at this {}", words.one());
  return name;
}

/// The times of every variant, in the columns that reports of this kind have.
std::vector<Cell> time_row(const FamilyResult& family, const VariantResult& variant, const CaseResult& result,
                           const std::string& anchor) {
  Cell name = variant_cell(family.words, variant, result, anchor);
  if (!result.ran()) return {std::move(name).noted(why_without_times(result))};
  std::vector<Cell> cells{name};
  for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(family, result, op, &OpResult::op_time));
  if (family.words.has_group()) {
    for (const OpInfo& op : family.ops)
      cells.push_back(op_time_cell(family, result, op, &OpResult::group_time));
  }
  cells.push_back(judged(Cell::value(result.total_time), result));
  add_qualities(cells, result);
  return cells;
}

std::vector<Cell> gain_row(const FamilyResult& family, const VariantResult& variant, const CaseResult& result,
                           const std::string& anchor) {
  std::vector<Cell> cells{variant_cell(family.words, variant, result, anchor)};
  cells.push_back(Cell::words(variant.info.baseline.empty() ? "none" : variant.info.baseline, Tone::quiet));
  for (const OpInfo& op : family.ops) cells.push_back(speed_up_cell(family, result, op));
  cells.push_back(total_speed_up_cell(result));
  for (const OpInfo& op : family.ops) cells.push_back(of_possible_cell(result, op));
  return cells;
}

/// Calls `visit(variant, case, anchor)` for what stands for each variant at a problem.
template <class Visit>
void for_each_at(const FamilyResult& family, const Problem& problem, const std::vector<std::string>& anchors,
                 Visit visit) {
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    if (const CaseResult* result = family.variants[v].representative(problem))
      visit(family.variants[v], *result, anchors[v]);
  }
}

/// The times that may be the best of their column, in the order of time_row()'s; nullptr where one may not.
std::vector<const Value*> times_to_mark(const FamilyResult& family, const CaseResult& result) {
  std::vector<const Value*> op_times, group_times;
  for (const OpInfo& info : family.ops) {
    const OpResult* op = result.ok() ? result.find_op(info.name) : nullptr;
    op_times.push_back(op != nullptr && op->flaw == OpTimeFlaw::none ? &op->op_time : nullptr);
    group_times.push_back(op != nullptr ? &op->group_time : nullptr);
  }
  if (family.words.has_group()) op_times.insert(op_times.end(), group_times.begin(), group_times.end());
  op_times.push_back(result.ok() ? &result.total_time : nullptr);
  return op_times;
}

Table time_table(const FamilyResult& family, const Problem& problem,
                 const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  Table table(anchors.make(fmt::format("{} summary {}", family.id, problem_id(problem))),
              "Times " + family.words.at_titled(problem));
  table.variants();
  add_time_columns(table, family, "op_time");
  if (family.words.has_group()) add_time_columns(table, family, "group_time");
  table.numbers(family.words.time_title("total_time"), Unit::second);
  add_quality_columns(table, family);
  std::vector<std::vector<Cell>> rows;
  std::vector<std::vector<const Value*>> times;
  for_each_at(family, problem, variant_anchors,
              [&](const auto& variant, const auto& result, const auto& anchor) {
                rows.push_back(time_row(family, variant, result, anchor));
                times.push_back(times_to_mark(family, result));
              });
  for (std::size_t i = 0; !times.empty() && i < times.front().size(); ++i) {
    std::vector<const Value*> column;
    for (const auto& row : times) column.push_back(row[i]);
    mark_best(rows, 1 + i, column);
  }
  for (auto& row : rows) table.row(std::move(row));
  return table;
}

Table gain_table(const FamilyResult& family, const Problem& problem,
                 const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  const std::size_t ops = family.ops.size();
  Table table(anchors.make(fmt::format("{} speed-ups {}", family.id, problem_id(problem))),
              "Speed-up of each variant over its own baseline at " + family.words.titled(problem));
  table.variants().text("Baseline");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Speed-up", i, ops));
  table.numbers("Total speed-up");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Of possible", i, ops));
  for_each_at(family, problem, variant_anchors,
              [&](const auto& variant, const auto& result, const auto& anchor) {
                if (result.ran()) table.row(gain_row(family, variant, result, anchor));
              });
  return table;
}

/// Of other tools' files: mprof had no program to time.
bool is_untimed(const FamilyResult& family) {
  return !family.variants.empty() && std::ranges::all_of(family.variants, [](const VariantResult& variant) {
    return variant.info.is_imported();
  });
}

json summary_view(const FamilyResult& family, const Problem& problem,
                  const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  if (is_untimed(family)) return {{"problem", problem_id(problem)}, {"times", false}, {"gains", false}};
  const Table gains = gain_table(family, problem, variant_anchors, anchors);
  return {{"problem", problem_id(problem)},
          {"times", time_table(family, problem, variant_anchors, anchors).view()},
          {"gains", gains.empty() ? json(false) : gains.view()}};
}

// --- Verification ---

Cell scientific(double value) {
  return Cell::figure(format::scientific(value)).valued(value);
}

Cell whole(std::uint64_t value) {
  return Cell::figure(format::count(value)).valued(static_cast<double>(value));
}

Table verification_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                         Anchors& anchors) {
  Table table(anchors.make(family.id + " outputs"),
              fmt::format("Outputs against {}, the worst of all {}", reference_words(family),
                          family.words.several()));
  table.variants()
      .text("Op")
      .text("Outcome")
      .numbers("Relative L2")
      .numbers("Tolerance")
      .numbers("Largest error");
  table.numbers("Elements verified").numbers("Not finite").numbers("Never written");
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    for (const OpVerification& verified : family.variants[v].verifications) {
      const VerificationSummary& sum = verified.summary;
      Cell outcome = Cell::words(fmt::format("{} of {} passed", sum.passed, sum.outputs),
                                 sum.all_passed() ? Tone::good : Tone::bad);
      if (!sum.all_passed())
        outcome.note = fmt::format("{}: {}", family.words.problem(sum.worst_problem),
                                   format::one_line(sum.worst->finding));
      table.row({Cell::words_to(family.variants[v].info.id, variant_anchors[v]), Cell::words(verified.op),
                 outcome, scientific(sum.worst->relative_l2), scientific(sum.worst->tolerance),
                 scientific(sum.max_error), whole(sum.elements), whole(sum.non_finite),
                 whole(sum.never_written)});
    }
  }
  return table;
}

// --- Throughput and resources ---

/// Calls `visit(variant, anchor, case)` for what stands for each variant at each problem, unless its output
/// is wrong.
template <class Visit>
void for_each_representative(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                             Visit visit) {
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    for (const Problem& problem : family.problems) {
      const CaseResult* result = family.variants[v].representative(problem);
      if (result != nullptr && result->ok()) visit(variant_anchors[v], *result);
    }
  }
}

bool has_special_work(const FamilyResult& family) {
  return std::ranges::any_of(family.ops, [](const OpInfo& op) { return op.special_operations > 0; });
}

Table throughput_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                       Anchors& anchors) {
  Table table(anchors.make(family.id + " throughput"),
              "Useful work over op time, and what part of the measured peaks that is");
  const bool special = has_special_work(family);
  table.variants();
  add_problem_columns(table, family.words);
  table.text("Op").numbers("Useful FLOP rate", Unit::flop_per_second);
  table.numbers("Of FLOP peak", Unit::percent).numbers("Useful byte rate", Unit::byte_per_second);
  table.numbers("Of memory bandwidth", Unit::percent);
  if (special) {
    table.numbers("Special functions", Unit::per_second);
    table.numbers("Of special-function peak", Unit::percent);
  }
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    for (const OpResult& op : result.ops) {
      // An op time that holds next to nothing of the work would make a throughput out of thin air.
      const auto cell = [&](const Value& value) {
        return op.flaw != OpTimeFlaw::none ? Cell::missing(op.of_possible.absent) : Cell::bare(value);
      };
      std::vector<Cell> cells{Cell::words_to(result.configuration, anchor)};
      add_problem(cells, family.words, result.key.problem);
      for (Cell& next : std::array{Cell::words(op.info.name), cell(op.flop_rate), cell(op.compute_throughput),
                                   cell(op.byte_rate), cell(op.memory_throughput)})
        cells.push_back(std::move(next));
      if (special) {
        cells.push_back(cell(op.special_rate));
        cells.push_back(cell(op.special_throughput));
      }
      table.row(std::move(cells));
    }
  });
  return table;
}

/// The GPU models that measured cases of the family, where the run has several.
std::vector<std::string> models_in(const FamilyResult& family) {
  std::set<std::string> models;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (!result.gpu_model.empty()) models.insert(result.gpu_model);
    }
  }
  return {models.begin(), models.end()};
}

/// At the largest problem that the model measured.
Cell of_possible_on(const FamilyResult& family, const VariantResult& variant, const OpInfo& op,
                    const std::string& model) {
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    const CaseResult* const result = variant.representative(*problem);
    if (result == nullptr || !result->ok() || result->gpu_model != model) continue;
    Cell cell = of_possible_cell(*result, op);
    if (cell.absent.empty()) cell.detail = fmt::format("({})", family.words.problem(*problem));
    return cell;
  }
  return Cell::missing(fmt::format("{} measured no case of it that is right", format::one_line(model)));
}

/// A column for each model: times of different GPUs do not compare, what each reaches of its own peaks does.
Table models_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                   Anchors& anchors) {
  const std::vector<std::string> models = models_in(family);
  if (models.empty()) return {{}, {}};
  Table table(
      anchors.make(family.id + " models"),
      "Of the time that each GPU's own measured peaks allow, at the largest problem that it measured");
  table.variants().text("Op");
  for (const std::string& model : models) table.numbers(format::one_line(model));
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    const VariantResult& variant = family.variants[v];
    if (variant.info.device != "cuda") continue;
    for (const OpInfo& op : family.ops) {
      std::vector<Cell> cells{Cell::words_to(variant.info.id, variant_anchors[v]), Cell::words(op.name)};
      for (const std::string& model : models) cells.push_back(of_possible_on(family, variant, op, model));
      table.row(std::move(cells));
    }
  }
  return table;
}

/// Metrics of a case as a whole that become columns of the resource table, in this order.
constexpr std::array resource_metrics{"user_time", "system_time", "minor_page_faults", "major_page_faults",
                                      "peak_memory"};

Table resource_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                     Anchors& anchors) {
  Table table(anchors.make(family.id + " resources"), "Resources of one " + family.words.whole());
  table.variants();
  add_problem_columns(table, family.words);
  table.numbers("Cores busy");
  for (const char* metric : resource_metrics)
    table.numbers(std::string(find_metric(metric)->label), find_metric(metric)->unit);
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    std::vector<Cell> cells{Cell::words_to(result.configuration, anchor)};
    add_problem(cells, family.words, result.key.problem);
    cells.push_back(result.cores_busy ? Cell::figure(format::significant(result.cores_busy->median, 3))
                                            .valued(result.cores_busy->median)
                                      : Cell::missing(result.cores_busy.absent));
    for (const char* metric : resource_metrics) cells.push_back(Cell::bare(value_of(*result.source, metric)));
    table.row(std::move(cells));
  });
  return table;
}

/// To two digits: an estimate of what fits does not promise the last item.
double rounded_down(double count) {
  const double unit = std::pow(10, std::floor(std::log10(std::max(count, 10.0))) - 1);
  return std::floor(count / unit) * unit;
}

/// What each variant allocates of the GPU, and what would fill it.
Table memory_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                   Anchors& anchors) {
  const std::string& items = family.info.nouns.items;
  Table table(anchors.make(family.id + " gpu memory"),
              fmt::format("GPU memory that one {} allocates; what it keeps from earlier ones is not seen{}",
                          family.words.whole(),
                          items.empty() ? "" : fmt::format(", and how many {} would fill all of it", items)));
  table.variants();
  add_problem_columns(table, family.words);
  table.numbers("Allocated", Unit::byte).numbers("Of the GPU", Unit::percent);
  const Nouns& nouns = family.info.nouns;
  const bool counts_items = !items.empty();
  if (counts_items) {
    table.numbers("Each further " + nouns.item);
    table.numbers(format::sentence_case(items) + " that memory allows");
  }
  for (const GpuMemory& need : family.gpu_memory) {
    const auto index = static_cast<std::size_t>(need.variant - family.variants.data());
    std::vector<Cell> cells{Cell::words_to(need.result->configuration, variant_anchors[index])};
    add_problem(cells, family.words, need.result->key.problem);
    cells.push_back(Cell::bare(derived_value(need.bytes)));
    cells.push_back(need.of_gpu
                        ? Cell::figure(format::significant(100 * *need.of_gpu, 3)).valued(*need.of_gpu)
                        : Cell::missing("the GPU's memory is not known"));
    if (counts_items) {
      const std::string unknown = "it takes traces of two problems, of which the larger one needs more";
      cells.push_back(need.per_item
                          ? Cell::figure(format::about(*need.per_item, Unit::byte)).valued(*need.per_item)
                          : Cell::missing(unknown));
      cells.push_back(need.items_that_fit
                          ? Cell::figure(format::significant(rounded_down(*need.items_that_fit)))
                                .valued(*need.items_that_fit)
                          : Cell::missing(unknown));
    }
    table.row(std::move(cells));
  }
  return table;
}

constexpr std::array counter_metrics{"cycles", "instructions", "cache_misses"};

Table counter_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                    Anchors& anchors) {
  Table table(anchors.make(family.id + " counters"), "Hardware counters of forward()");
  table.only_with_numbers();
  table.variants();
  add_problem_columns(table, family.words);
  table.text("Op");
  for (const char* metric : counter_metrics)
    table.numbers(std::string(find_metric(metric)->label), find_metric(metric)->unit);
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    for (const OpResult& op : result.ops) {
      std::vector<Cell> cells{Cell::words_to(result.configuration, anchor)};
      add_problem(cells, family.words, result.key.problem);
      cells.push_back(Cell::words(op.info.name));
      for (const char* metric : counter_metrics)
        cells.push_back(Cell::bare(value_of(*result.source, metric, op.info.name)));
      table.row(std::move(cells));
    }
  });
  return table;
}

/// What GPU kernels counted stands under Speed of Light.
bool has_cpu_variant(const FamilyResult& family) {
  return std::ranges::any_of(family.variants,
                             [](const auto& variant) { return variant.info.device == "cpu"; });
}

/// The op as the first case at the largest problem has it, for its work and often its title are of a problem.
const OpInfo* largest_of(const FamilyResult& family, const std::string& op) {
  if (family.problems.empty()) return nullptr;
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result = variant.representative(family.problems.back());
    const OpResult* found = result == nullptr ? nullptr : result->find_op(op);
    if (found != nullptr) return &found->info;
  }
  return nullptr;
}

/// "25.1 GFLOP and 1.32 GB at size 10000": what the op's definition needs.
std::string size_text(const FamilyResult& family, const OpInfo& op) {
  if (!(op.flops > 0)) return {};
  std::vector<std::string> parts{format::about(op.flops, Unit::flop)};
  if (op.special_operations > 0)
    parts.push_back(format::about(op.special_operations, Unit::count) + " special functions");
  parts.push_back(format::about(op.bytes, Unit::byte));
  return fmt::format("{} {}", format::list(parts), family.words.at(family.problems.back()));
}

json op_views(const FamilyResult& family) {
  json list = json::array();
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    const OpInfo* largest = largest_of(family, family.ops[i].name);
    list.push_back({{"number", std::to_string(i + 1)},
                    {"name", format::one_line(family.ops[i].name)},
                    {"title", format::one_line((largest == nullptr ? family.ops[i] : *largest).title)},
                    {"size", largest == nullptr ? "" : size_text(family, *largest)}});
  }
  return list;
}

/// Places on the page for the family's headings.
json section_anchors(const FamilyResult& family, Anchors& anchors) {
  json sections;
  for (const char* name : {"answer", "summary", "charts", "variants", "verification", "sanitizer",
                           "speed_of_light", "resources", "counters"}) {
    sections[name] = anchors.make(fmt::format("{} {}", family.id, name));
  }
  return sections;
}

/// Whether there is anything to show of a variant but the reason why there is nothing.
bool ran(const VariantResult& variant) {
  return std::ranges::any_of(variant.cases, [](const CaseResult& result) { return result.ran(); });
}

/// A variant that did not run, with each reason once.
json not_run_view(const VariantResult& variant, const PageContext& page) {
  std::vector<std::string> reasons;
  for (const CaseResult& result : variant.cases) {
    const std::string reason = why_without_times(result);
    if (std::ranges::find(reasons, reason) == reasons.end()) reasons.push_back(reason);
  }
  return {{"anchor", page.variants.at(variant.info.id)},
          {"id", format::one_line(variant.info.id)},
          {"title", format::one_line(variant.info.title)},
          {"reason", fmt::format("{}", fmt::join(reasons, "; "))}};
}

/// What a report leaves behind: the variants that did not pay, op by op and everywhere.
json did_not_pay(const FamilyResult& family) {
  const NotPaid not_paid = what_did_not_pay(family);
  const auto names = [](const std::vector<const VariantResult*>& variants) {
    std::vector<std::string> ids;
    for (const VariantResult* variant : variants) ids.push_back(format::short_id(variant->info.id));
    return format::list(ids);
  };
  json list = json::array();
  if (!not_paid.everywhere.empty())
    list.push_back(fmt::format("In every op: {}.", names(not_paid.everywhere)));
  for (const auto& [op, variants] : not_paid.in_op)
    list.push_back(fmt::format("In {}: {}.", format::short_id(op), names(variants)));
  return list;
}

/// What the switch above the charts says, which chooses problem and op.
json switch_view(const FamilyResult& family) {
  const Words& words = family.words;
  json problems = json::array();
  for (const Problem& problem : family.problems) {
    problems.push_back(
        {{"id", problem_id(problem)}, {"name", words.values({problem})}, {"text", words.problem(problem)}});
  }
  const std::string op = words.has_group() ? words.group() : "op";
  const std::string ops = words.has_group() ? words.groups() : "ops";
  return {{"problem", format::sentence_case(words.one())},
          {"op", format::sentence_case(op)},
          {"whole", "whole " + words.whole()},
          {"all", fmt::format("All {} and {}", words.several(), ops)},
          {"choice", fmt::format("choice of {} and {}", words.one(), op)},
          {"problems", problems}};
}

json view_unless_empty(const Table& table) {
  return table.empty() ? json(false) : table.view();
}

/// What stands in the place of a table of verified outputs: programs verify in a way of their own.
std::string verified_elsewhere(const FamilyResult& family) {
  std::string text = verification_sentence(family);
  std::set<std::string_view> ways;
  for (const VariantResult& variant : family.variants) {
    for (const CaseResult& result : variant.cases) {
      if (const std::string_view by = verified_by(*result.source); !by.empty()) ways.insert(by);
    }
  }
  if (ways.size() == 1)
    text += fmt::format(" Each execution was verified {}; what that covers, its author knows.",
                        format::one_line(*ways.begin()));
  return text;
}

}  // namespace

json family_view(const FamilyResult& family, PageContext page, bool is_program) {
  Anchors& anchors = page.plan->anchors;
  json sections = section_anchors(family, anchors);
  std::vector<std::string> variant_anchors;
  for (const VariantResult& variant : family.variants) {
    variant_anchors.push_back(anchors.make(variant.info.id));
    page.variants[variant.info.id] = variant_anchors.back();
  }
  json summaries = json::array(), variants = json::array(), not_run = json::array();
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    summaries.push_back(summary_view(family, *problem, variant_anchors, anchors));
  }
  for (const VariantResult& variant : family.variants) {
    if (ran(variant)) {
      variants.push_back(variant_view(family, variant, page));
    } else {
      not_run.push_back(not_run_view(variant, page));
    }
  }
  for (std::size_t i = 0; i < variants.size(); ++i) variants[i]["last"] = i + 1 == variants.size();
  json charts = is_program ? json::array() : family_charts(family, *page.plan);
  json ops = op_views(family), not_paid = did_not_pay(family);
  return {
      {"id", format::one_line(family.id)},
      {"title", format::one_line(family.info.title)},
      {"throughout", family.words.throughout()},
      {"sections", std::move(sections)},
      {"has_ops", !ops.empty()},
      {"ops", std::move(ops)},
      {"summary", summaries.empty() ? json(false) : summaries.front()},
      {"summaries", std::move(summaries)},
      {"has_not_paid", !not_paid.empty()},
      {"not_paid", std::move(not_paid)},
      {"threshold", thresholds_text()},
      {"has_charts", !charts.empty()},
      {"charts", std::move(charts)},
      {"switch_json", switch_view(family).dump(-1, ' ', false, json::error_handler_t::replace)},
      {"time_budget", time_budget_view(family, page.materials->evidence, *page.plan)},
      {"has_variants", !variants.empty()},
      {"variants", std::move(variants)},
      {"has_not_run", !not_run.empty()},
      {"not_run", std::move(not_run)},
      {"sweeps", sweep_view(family, *page.plan)},
      {"models", view_unless_empty(models_table(family, variant_anchors, anchors))},
      {"verification", view_unless_empty(verification_table(family, variant_anchors, anchors))},
      {"verified_elsewhere", verified_elsewhere(family)},
      {"sanitizer", sanitizer_view(family, variant_anchors, anchors)},
      {"speed_of_light", speed_of_light_view(family, variant_anchors,
                                             throughput_table(family, variant_anchors, anchors), *page.plan)},
      {"tried_advice", is_program ? json(false) : tried_advice_view(family, page)},
      {"gpu_memory", view_unless_empty(memory_table(family, variant_anchors, anchors))},
      {"resources", view_unless_empty(resource_table(family, variant_anchors, anchors))},
      {"counters", has_cpu_variant(family)
                       ? view_unless_empty(counter_table(family, variant_anchors, anchors))
                       : json(false)}};
}

}  // namespace mprof
