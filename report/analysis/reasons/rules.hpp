// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>
#include <vector>

/// Why a variant is faster or slower than its baseline, as data: each rule is a row. explanations.hpp applies
/// them; report/wording/reasons.cpp has their sentences.
namespace mprof {

/// What the fired rule says of the time.
enum class Effect {
  faster,  ///< it explains why the time is shorter
  slower,  ///< it explains why the time is longer
  context  ///< worth knowing beside the reasons
};

/// Which time a rule can explain.
enum class Explains {
  op_time,
  group_time,
  either,
  cpu_time,  ///< the op time of a variant for the CPU
  with_host  ///< that, and the grouped time of one for a GPU: what holds copies and the host's work
};

/// What a clause looks at: the baseline's value, the variant's, or what became of it.
enum class Look {
  before,
  after,
  ratio,           ///< after / before
  told_ratio,      ///< the same of a time; unknown where the two times do not differ significantly
  difference,      ///< after - before; of percentages in points
  share_of_time,   ///< (after - before) over the longer of the two explained times: for what is a time itself
  share_of_change  ///< ln(after / before) over |ln| of the explained times: how much of it a count can
                   ///< explain
};

enum class Relation { at_least, at_most };

struct Clause {
  std::string_view metric;  ///< of the run, or a quantity (report/analysis/reasons/derived_metrics)
  Look look;
  Relation relation;
  double threshold;  ///< SI base unit; percentages as percent
};

/// What a sentence cites.
enum class Show {
  change,  ///< before → after (by how much)
  pair,    ///< before → after
  before,
  after,
  limits,             ///< what limits the occupancy of the variant's longest kernel; no number
  side_kernels,       ///< the names of all kernels but the longest, of both sides; no number
  bottleneck_before,  ///< what the longest kernel keeps busiest, by its parts
  bottleneck_after
};

struct Cited {
  std::string_view metric;
  Show show;
};

/// How much of the time the evidence could account for, by itself. It is a logarithm of a time ratio, so that
/// parts of a speed-up can be compared with the whole of it.
enum class Weigh {
  log_ratio,      ///< |ln(after / before)|
  share_of_time,  ///< −ln(1 − |share of the longer time|)
  points,         ///< −ln(1 − |points| / 100)
  share_after,    ///< the whole speed-up, by the share of it that the metric says
  least           ///< next to nothing: the weight alone
};

struct Strength {
  Weigh weigh;
  std::string_view metric;
  double weight = 1;  ///< below 1 for evidence of second hand
  /// What acts on the time through another quantity alone ("issue_rate", the number of instructions) accounts
  /// for no more than that one changed its way, where it was read. Empty: it acts by itself.
  std::string_view through{};
};

struct Rule {
  std::string_view id;
  Effect effect;
  Explains explains;
  std::vector<Clause> when;  ///< all of them
  std::vector<Cited> cites;  ///< by the rule's sentences, in order; without each of them it does not fire
  Strength strength;
  std::string_view source;    ///< where the reasoning is from
  bool of_launching = false;  ///< about small work: worth telling at the smallest problem
};

/// All rules, causes before mechanisms before symptoms: of equally strong ones the first comes first.
[[nodiscard]] std::span<const Rule> rules();

/// Whether what the rule measures is an effect of other changes, as the issue rate is of waiting and of idle
/// multiprocessors: a cause says more.
[[nodiscard]] bool is_symptom(const Rule& rule);

/// Whether a time is a product with what the rule is measured by: instructions, cycles for each, clock,
/// cores. Such a factor cannot be contradicted.
[[nodiscard]] bool is_factor_of_time(const Rule& rule);

}  // namespace mprof
