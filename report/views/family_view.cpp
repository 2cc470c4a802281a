#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "model/metric.hpp"
#include "report/analysis/synergy.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

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
  if (best < rows.size()) rows[best][column].tone = Tone::best;
}

// --- Summary ---

Cell variant_cell(const VariantResult& variant, const CaseResult& result, const std::string& anchor) {
  Cell name = Cell::words_to(result.configuration, anchor);
  if (variant.swept()) name.note = "the fastest verified point of its parameter sweep at this batch";
  return name;
}

/// The times of every variant, in the columns that reports of this kind have.
std::vector<Cell> time_row(const FamilyResult& family, const VariantResult& variant, const CaseResult& result,
                           const std::string& anchor) {
  Cell name = variant_cell(variant, result, anchor);
  if (!result.ran()) return {std::move(name).noted(why_without_times(result))};
  std::vector<Cell> cells{name};
  for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(result, op, &OpResult::op_time));
  for (const OpInfo& op : family.ops) cells.push_back(op_time_cell(result, op, &OpResult::layer_time));
  cells.push_back(judged(Cell::value(result.total_time), result));
  cells.push_back(judged(Cell::accuracy(result.accuracy), result));
  return cells;
}

std::vector<Cell> gain_row(const FamilyResult& family, const VariantResult& variant, const CaseResult& result,
                           const std::string& anchor) {
  std::vector<Cell> cells{variant_cell(variant, result, anchor)};
  cells.push_back(Cell::words(variant.info.baseline.empty() ? "none" : variant.info.baseline, Tone::quiet));
  for (const OpInfo& op : family.ops) cells.push_back(speed_up_cell(result, op));
  cells.push_back(total_speed_up_cell(result));
  for (const OpInfo& op : family.ops) cells.push_back(of_possible_cell(result, op));
  return cells;
}

/// Calls `visit(variant, case, anchor)` for what stands for each variant at a batch.
template <class Visit>
void for_each_at(const FamilyResult& family, std::uint64_t batch, const std::vector<std::string>& anchors,
                 Visit visit) {
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    if (const CaseResult* result = family.variants[v].representative(batch))
      visit(family.variants[v], *result, anchors[v]);
  }
}

Table time_table(const FamilyResult& family, std::uint64_t batch,
                 const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  const std::size_t ops = family.ops.size();
  Table table(anchors.make(fmt::format("{} summary {}", family.id, batch)),
              fmt::format("Times at batch size {}", batch));
  table.text("Variant");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Op Time", i, ops), Unit::second);
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Layer Time", i, ops), Unit::second);
  table.numbers("Total Execution Time", Unit::second).numbers("Accuracy");
  std::vector<std::vector<Cell>> rows;
  std::vector<std::vector<const Value*>> times(2 * ops + 1);
  for_each_at(family, batch, variant_anchors,
              [&](const auto& variant, const auto& result, const auto& anchor) {
                rows.push_back(time_row(family, variant, result, anchor));
                for (std::size_t i = 0; i < ops; ++i) {
                  const OpResult* op = result.ok() ? result.find_op(family.ops[i].name) : nullptr;
                  times[i].push_back(op != nullptr && !op->outside_forward ? &op->op_time : nullptr);
                  times[ops + i].push_back(op != nullptr ? &op->layer_time : nullptr);
                }
                times[2 * ops].push_back(result.ok() ? &result.total_time : nullptr);
              });
  for (std::size_t i = 0; i < times.size(); ++i) mark_best(rows, 1 + i, times[i]);
  for (auto& row : rows) table.row(std::move(row));
  return table;
}

Table gain_table(const FamilyResult& family, std::uint64_t batch,
                 const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  const std::size_t ops = family.ops.size();
  Table table(anchors.make(fmt::format("{} speed-ups {}", family.id, batch)),
              fmt::format("Speed-up of each variant over its own baseline at batch size {}", batch));
  table.text("Variant").text("Baseline");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Speed-up", i, ops));
  table.numbers("Total speed-up");
  for (std::size_t i = 0; i < ops; ++i) table.numbers(numbered("Of possible", i, ops));
  for_each_at(family, batch, variant_anchors,
              [&](const auto& variant, const auto& result, const auto& anchor) {
                if (result.ran()) table.row(gain_row(family, variant, result, anchor));
              });
  return table;
}

json summary_view(const FamilyResult& family, std::uint64_t batch,
                  const std::vector<std::string>& variant_anchors, Anchors& anchors) {
  const Table gains = gain_table(family, batch, variant_anchors, anchors);
  return {{"batch", std::to_string(batch)},
          {"times", time_table(family, batch, variant_anchors, anchors).view()},
          {"gains", gains.empty() ? json(false) : gains.view()}};
}

// --- Verification ---

struct Checked {
  std::size_t checks = 0;
  std::size_t passed = 0;
  std::uint64_t elements = 0;
  std::uint64_t non_finite = 0;
  std::uint64_t never_written = 0;
  double max_error = 0;
  const Verification* worst = nullptr;
  std::uint64_t worst_batch = 0;
};

Checked checked(const VariantResult& variant, const OpInfo& op) {
  Checked sum;
  for (const CaseResult& result : variant.cases) {
    const OpResult* found = result.find_op(op.name);
    if (found == nullptr || !found->verification) continue;
    const Verification& check = *found->verification;
    ++sum.checks;
    sum.passed += check.passed ? 1 : 0;
    sum.elements += check.elements;
    sum.non_finite += check.non_finite;
    sum.never_written += check.never_written;
    sum.max_error = std::max(sum.max_error, check.max_error);
    const bool worse = sum.worst == nullptr || (!check.passed && sum.worst->passed) ||
                       (check.passed == sum.worst->passed && check.relative_l2 > sum.worst->relative_l2);
    if (worse) {
      sum.worst = &check;
      sum.worst_batch = result.key.batch;
    }
  }
  return sum;
}

Cell scientific(double value) {
  return Cell::figure(format::scientific(value)).valued(value);
}

Cell whole(std::uint64_t value) {
  return Cell::figure(format::count(value)).valued(static_cast<double>(value));
}

Table verification_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                         Anchors& anchors) {
  Table table(anchors.make(family.id + " checks"),
              "Outputs against the double-precision reference, the worst of all batches");
  table.text("Variant")
      .text("Op")
      .text("Outcome")
      .numbers("Relative L2")
      .numbers("Tolerance")
      .numbers("Largest error");
  table.numbers("Elements checked").numbers("Not finite").numbers("Never written");
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    for (const OpInfo& op : family.ops) {
      const Checked sum = checked(family.variants[v], op);
      if (sum.worst == nullptr) continue;
      const bool passed = sum.passed == sum.checks;
      Cell outcome = Cell::words(fmt::format("{} of {} passed", sum.passed, sum.checks),
                                 passed ? Tone::good : Tone::bad);
      if (!passed)
        outcome.note = fmt::format("batch {}: {}", sum.worst_batch, format::one_line(sum.worst->finding));
      table.row({Cell::words_to(family.variants[v].info.id, variant_anchors[v]), Cell::words(op.name),
                 outcome, scientific(sum.worst->relative_l2), scientific(sum.worst->tolerance),
                 scientific(sum.max_error), whole(sum.elements), whole(sum.non_finite),
                 whole(sum.never_written)});
    }
  }
  return table;
}

// --- Throughput and resources ---

/// Calls `visit(variant, anchor, case)` for what stands for each variant at each batch, unless its output is
/// wrong.
template <class Visit>
void for_each_representative(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                             Visit visit) {
  for (std::size_t v = 0; v < family.variants.size(); ++v) {
    for (const std::uint64_t batch : family.batches) {
      const CaseResult* result = family.variants[v].representative(batch);
      if (result != nullptr && result->ok()) visit(variant_anchors[v], *result);
    }
  }
}

Table throughput_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                       Anchors& anchors) {
  Table table(anchors.make(family.id + " throughput"),
              "Useful work over op time, and what part of the measured peaks that is");
  table.text("Variant").numbers("Batch Size").text("Op").numbers("Useful FLOP rate", Unit::flop_per_second);
  table.numbers("Of FP32 peak", Unit::percent).numbers("Useful byte rate", Unit::byte_per_second);
  table.numbers("Of memory bandwidth", Unit::percent);
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    for (const OpResult& op : result.ops) {
      // An op time that holds next to nothing of the work would make a throughput out of thin air.
      const auto cell = [&](const Value& value) {
        return op.outside_forward ? Cell::missing(op.of_possible.absent) : Cell::bare(value);
      };
      table.row({Cell::words_to(result.configuration, anchor), batch_cell(result.key.batch),
                 Cell::words(op.info.name), cell(op.flop_rate), cell(op.compute_throughput),
                 cell(op.byte_rate), cell(op.memory_throughput)});
    }
  });
  return table;
}

/// Metrics of a case as a whole that become columns of the resource table, in this order.
constexpr std::array resource_metrics{"user_time", "system_time", "minor_page_faults", "major_page_faults",
                                      "peak_memory"};

Table resource_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                     Anchors& anchors) {
  Table table(anchors.make(family.id + " resources"), "Resources of one inference");
  table.text("Variant").numbers("Batch Size").numbers("Cores busy");
  for (const char* metric : resource_metrics)
    table.numbers(std::string(label_of(metric)), find_metric(metric)->unit);
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    std::vector<Cell> cells{Cell::words_to(result.configuration, anchor), batch_cell(result.key.batch),
                            result.cores_busy
                                ? Cell::figure(format::significant(result.cores_busy->median, 3))
                                      .valued(result.cores_busy->median)
                                : Cell::missing(result.cores_busy.absent)};
    for (const char* metric : resource_metrics) cells.push_back(Cell::bare(value_of(*result.source, metric)));
    table.row(std::move(cells));
  });
  return table;
}

constexpr std::array counter_metrics{"cycles", "instructions", "cache_misses"};

Table counter_table(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                    Anchors& anchors) {
  Table table(anchors.make(family.id + " counters"), "Hardware counters of forward()");
  table.only_with_numbers();
  table.text("Variant").numbers("Batch Size").text("Op");
  for (const char* metric : counter_metrics)
    table.numbers(std::string(label_of(metric)), find_metric(metric)->unit);
  for_each_representative(family, variant_anchors, [&](const std::string& anchor, const CaseResult& result) {
    for (const OpResult& op : result.ops) {
      std::vector<Cell> cells{Cell::words_to(result.configuration, anchor), batch_cell(result.key.batch),
                              Cell::words(op.info.name)};
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

/// "25.1 GFLOP and 1.32 GB at batch 10000": what the op's definition needs at the largest batch.
std::string size_text(const FamilyResult& family, const std::string& op) {
  for (const VariantResult& variant : family.variants) {
    const CaseResult* result =
        family.batches.empty() ? nullptr : variant.representative(family.batches.back());
    const OpResult* found = result == nullptr ? nullptr : result->find_op(op);
    if (found == nullptr || !(found->info.flops > 0)) continue;
    return fmt::format("{} and {} at batch {}", format::about(found->info.flops, Unit::flop),
                       format::about(found->info.bytes, Unit::byte), family.batches.back());
  }
  return {};
}

json op_views(const FamilyResult& family) {
  json list = json::array();
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    list.push_back({{"number", std::to_string(i + 1)},
                    {"name", format::one_line(family.ops[i].name)},
                    {"title", format::one_line(family.ops[i].title)},
                    {"size", size_text(family, family.ops[i].name)}});
  }
  return list;
}

/// Places on the page for the family's headings.
json section_anchors(const FamilyResult& family, Anchors& anchors) {
  json sections;
  for (const char* name : {"summary", "charts", "variants", "verification", "check", "speed_of_light",
                           "resources", "counters"}) {
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

/// The variants that are slower than their baseline in an op at every batch at which that is known.
std::vector<std::string> always_slower(const FamilyResult& family, const std::string& op) {
  std::vector<std::string> slow;
  for (const VariantResult& variant : family.variants) {
    std::size_t known = 0, slower = 0;
    for (const std::uint64_t batch : family.batches) {
      const CaseResult* result = variant.representative(batch);
      const OpResult* found = result == nullptr || !result->ok() ? nullptr : result->find_op(op);
      if (found == nullptr || !found->speed_up) continue;
      ++known;
      slower += verdict_of(found->speed_up) == Verdict::slower ? 1 : 0;
    }
    if (known > 0 && slower == known) slow.push_back(format::short_id(variant.info.id));
  }
  return slow;
}

/// What a report leaves behind: the variants that did not pay, op by op and everywhere.
json did_not_pay(const FamilyResult& family) {
  json list = json::array();
  std::vector<std::string> everywhere;
  for (std::size_t i = 0; i < family.ops.size(); ++i) {
    const auto slow = always_slower(family, family.ops[i].name);
    if (i == 0) everywhere = slow;
    std::erase_if(everywhere, [&](const auto& id) { return std::ranges::find(slow, id) == slow.end(); });
  }
  if (!everywhere.empty())
    list.push_back(fmt::format("In no op and at no batch: {}.", format::list(everywhere)));
  for (const OpInfo& op : family.ops) {
    auto slow = always_slower(family, op.name);
    std::erase_if(slow,
                  [&](const auto& id) { return std::ranges::find(everywhere, id) != everywhere.end(); });
    if (!slow.empty())
      list.push_back(fmt::format("Not in {}: {}.", format::short_id(op.name), format::list(slow)));
  }
  return list;
}

json view_unless_empty(const Table& table) {
  return table.empty() ? json(false) : table.view();
}

}  // namespace

json family_view(const FamilyResult& family, PageContext page) {
  Anchors& anchors = *page.anchors;
  const json sections = section_anchors(family, anchors);
  std::vector<std::string> variant_anchors;
  for (const VariantResult& variant : family.variants) {
    variant_anchors.push_back(anchors.make(variant.info.id));
    page.variants[variant.info.id] = variant_anchors.back();
  }
  json summaries = json::array(), variants = json::array(), not_run = json::array();
  for (auto batch = family.batches.rbegin(); batch != family.batches.rend(); ++batch) {
    summaries.push_back(summary_view(family, *batch, variant_anchors, anchors));
  }
  for (const VariantResult& variant : family.variants) {
    if (ran(variant)) {
      variants.push_back(variant_view(family, variant, page));
    } else {
      not_run.push_back(not_run_view(variant, page));
    }
  }
  const std::vector<json> charts = family_charts(family, anchors);
  const json ops = op_views(family), not_paid = did_not_pay(family);
  return {
      {"id", format::one_line(family.id)},
      {"sections", sections},
      {"ops", ops},
      {"has_ops", !ops.empty()},
      {"summaries", summaries},
      {"not_paid", not_paid},
      {"has_not_paid", !not_paid.empty()},
      {"charts", charts},
      {"has_charts", !charts.empty()},
      {"variants", variants},
      {"has_variants", !variants.empty()},
      {"not_run", not_run},
      {"has_not_run", !not_run.empty()},
      {"sweeps", sweep_view(family, anchors)},
      {"verification", view_unless_empty(verification_table(family, variant_anchors, anchors))},
      {"check", check_view(family, variant_anchors, anchors)},
      {"speed_of_light", speed_of_light_view(family, variant_anchors,
                                             throughput_table(family, variant_anchors, anchors), anchors)},
      {"resources", view_unless_empty(resource_table(family, variant_anchors, anchors))},
      {"counters", has_cpu_variant(family)
                       ? view_unless_empty(counter_table(family, variant_anchors, anchors))
                       : json(false)}};
}

}  // namespace mprof
