// SPDX-License-Identifier: MIT
#include "report/wording/reasons.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/args.h>
#include <fmt/format.h>

#include "report/analysis/reasons/derived_metrics.hpp"
#include "report/analysis/reasons/rules.hpp"
#include "report/text/format.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

constexpr std::array all_reason_words{std::to_array<ReasonWords>({
    // What was changed: another algorithm, other units, other kernels.
    {.rule = "tensor_cores_used", .sentence = "Tensor cores do the arithmetic: {} of it, {} before."},
    {.rule = "tensor_cores_dropped",
     .sentence = "Tensor cores no longer do the arithmetic: {} of it, {} before."},
    {.rule = "tensor_cores_unused",
     .sentence = "Matrices are multiplied without the tensor cores: they do {} of the arithmetic."},
    {.rule = "less_arithmetic",
     .sentence = "It computes less: {} in floating point, where the op's definition has {}.",
     .in_short = "It computes less: {} in floating point."},
    {.rule = "more_arithmetic",
     .sentence = "It computes more than the definition needs (padding, repeats or several products for one): "
                 "{} in floating point, where the op's definition has {}.",
     .in_short = "It computes more than the definition needs (padding, repeats or several products for one): "
                 "{} in floating point."},
    {.rule = "packed_halves",
     .sentence = "FP16 in pairs: {} multiply-adds of threads do the same arithmetic."},
    {.rule = "single_halves",
     .sentence = "{} of the multiply-adds are in FP16, one at a time, and no fewer: {} of threads. FP16 pays "
                 "only in pairs or on tensor cores.",
     .in_short = "{} of the multiply-adds are in FP16, one at a time, and no fewer: {} of threads."},
    {.rule = "other_kernels_more", .sentence = "Kernels other than the longest one take more, {}: {}."},
    {.rule = "other_kernels_less", .sentence = "Kernels other than the longest one take less, {}: {}."},

    // How much there is to execute and to move, and at what rate.
    {.rule = "fewer_instructions", .sentence = "Fewer warp instructions: {}."},
    {.rule = "slightly_fewer_instructions",
     .sentence = "Fewer warp instructions: {}. Nearly every cycle issues one.",
     .in_short = "Fewer warp instructions: {}."},
    {.rule = "more_instructions", .sentence = "More warp instructions: {}."},
    {.rule = "slightly_more_instructions",
     .sentence = "More warp instructions: {}. Nearly every cycle issues one.",
     .in_short = "More warp instructions: {}."},
    {.rule = "more_work_per_instruction",
     .sentence = "More of the instructions are multiply-adds (padding included): {}."},
    {.rule = "less_work_per_instruction",
     .sentence = "Fewer of the instructions are multiply-adds, and more are loads and index arithmetic: {} "
                 "of them are multiply-adds."},
    {.rule = "more_threads_take_part",
     .sentence = "More of a warp's 32 threads execute an instruction, on average: {}."},
    {.rule = "fewer_threads_take_part",
     .sentence = "Fewer of a warp's 32 threads execute an instruction, on average: {}."},
    {.rule = "dram_less",
     .sentence = "Less goes through DRAM: {}. At the measured bandwidth that takes {}.",
     .in_short = "Less goes through DRAM: {}."},
    {.rule = "dram_more",
     .sentence = "More goes through DRAM: {}. At the measured bandwidth that takes {}.",
     .in_short = "More goes through DRAM: {}."},
    {.rule = "issue_rate_higher",
     .sentence = "Instructions are issued faster: {} of the 4 that a multiprocessor can issue in a cycle; SM "
                 "throughput {}.",
     .in_short = "More instructions are issued in a cycle: {} of the 4 that a multiprocessor can."},
    {.rule = "issue_rate_lower",
     .sentence =
         "Instructions are issued more slowly: {} of the 4 that a multiprocessor can issue in a cycle.",
     .in_short = "Fewer instructions are issued in a cycle: {} of the 4 that a multiprocessor can."},
    {.rule = "sm_clock_higher",
     .sentence = "The GPU's clock was higher (the power that a kernel draws can move it): {}."},
    {.rule = "sm_clock_lower",
     .sentence = "The GPU's clock was lower (the power that a kernel draws can move it): {}."},

    // Launching.
    {.rule = "more_launches",
     .sentence =
         "More launches, with time between the kernels: {} launches; {} of the op in which no kernel ran.",
     .in_short = "More launches, with time between the kernels: {} launches."},
    {.rule = "fewer_launches",
     .sentence = "Fewer launches, and less time between the kernels: {} launches; {} of the op in which no "
                 "kernel ran.",
     .in_short = "Fewer launches, and less time between the kernels: {} launches."},
    {.rule = "launch_bound",
     .sentence = "The kernels have become so short that launching them counts: in {} of the op time no "
                 "kernel ran ({} of {})."},
    {.rule = "under_one_wave", .sentence = "The grid no longer fills the GPU: {} waves."},
    {.rule = "tail_effect",
     .sentence = "The last wave leaves multiprocessors idle: {} waves, so that at best {} of the GPU works."},

    // What holds warps up: limits first, then hit rates, occupancy and stalls.
    {.rule = "memory_pipes_full",
     .sentence = "The pipes for shared memory and indexed constants have become the limit: they are {} busy, "
                 "the L1 cache {}."},
    {.rule = "bank_conflicts_more",
     .sentence = "Shared loads meet in banks: conflicts take {} of the multiprocessors' cycles."},
    {.rule = "bank_conflicts_less",
     .sentence = "Fewer shared loads meet in banks: conflicts take {} of the multiprocessors' cycles."},
    {.rule = "loads_coalesced_better",
     .sentence = "Global loads are better coalesced: threads use {} of each 32-byte sector; memory "
                 "throughput was {}.",
     .in_short = "Global loads are better coalesced: threads use {} of each 32-byte sector."},
    {.rule = "loads_coalesced_worse",
     .sentence =
         "Global loads are less coalesced: threads use {} of each 32-byte sector; memory throughput is {}.",
     .in_short = "Global loads are less coalesced: threads use {} of each 32-byte sector."},
    {.rule = "stores_coalesced_better",
     .sentence = "Global stores are better coalesced: threads write {} of each 32-byte sector; memory "
                 "throughput was {}.",
     .in_short = "Global stores are better coalesced: threads write {} of each 32-byte sector."},
    {.rule = "stores_coalesced_worse",
     .sentence = "Global stores are less coalesced: threads write {} of each 32-byte sector; memory "
                 "throughput is {}.",
     .in_short = "Global stores are less coalesced: threads write {} of each 32-byte sector."},
    {.rule = "spills_less",
     .sentence = "Fewer registers spill: accesses to local memory are {} of the warp instructions, at {} "
                 "registers a thread."},
    {.rule = "spills_more",
     .sentence = "Registers spill, or arrays lie in local memory: accesses to it are {} of the warp "
                 "instructions, at {} registers a thread."},
    {.rule = "l2_hits_more",
     .sentence = "The L2 cache serves more, so that less comes from DRAM: hit rate {}."},
    {.rule = "l2_hits_less",
     .sentence = "The L2 cache serves less, so that more comes from DRAM: hit rate {}."},
    {.rule = "l1_hits_more",
     .sentence = "The L1 cache serves more, and warps wait less for memory: hit rate {}."},
    {.rule = "l1_hits_less",
     .sentence = "The L1 cache serves less, and warps wait more for memory: hit rate {}."},
    {.rule = "latency_bound",
     .sentence = "It has become latency-bound, with neither arithmetic nor memory busy: SM throughput {}, "
                 "memory throughput {}."},
    {.rule = "no_longer_latency_bound",
     .sentence = "It is no longer latency-bound: SM throughput {}, memory throughput {}."},
    {.rule = "memory_to_compute_bound",
     .sentence = "The bottleneck moved from {} to {}: memory throughput {}, SM throughput {}."},
    {.rule = "compute_to_memory_bound",
     .sentence = "The bottleneck moved from {} to {}: memory throughput {}, SM throughput {}."},
    {.rule = "multiprocessors_busier",
     .sentence = "Multiprocessors have a block for more of the time: {} of the kernel's cycles."},
    {.rule = "multiprocessors_idler",
     .sentence =
         "Multiprocessors have no block for more of the time: they have one in {} of the kernel's cycles."},
    {.rule = "occupancy_higher", .sentence = "More warps hide each other's waiting: achieved occupancy {}."},
    {.rule = "occupancy_lower",
     .sentence = "Fewer warps are there to hide each other's waiting: achieved occupancy {}, {} in theory, "
                 "limited by {}; {} registers a thread.",
     .in_short = "Fewer warps are there to hide each other's waiting: achieved occupancy {}, {} in theory, "
                 "limited by {}."},
    {.rule = "occupancy_lower_harmless",
     .sentence = "Occupancy fell without harm, {}, limited by {} ({} registers a thread). Each warp has "
                 "enough independent work to issue {} instructions a cycle and multiprocessor."},
    {.rule = "occupancy_higher_useless",
     .sentence = "Occupancy rose without use, {}: {} instructions are issued a cycle and multiprocessor."},
    {.rule = "long_scoreboard_less",
     .sentence = "Warps wait less for global memory (long scoreboard): {} of their time."},
    {.rule = "long_scoreboard_more",
     .sentence = "Warps wait more for global memory (long scoreboard): {} of their time."},
    {.rule = "barrier_less", .sentence = "Warps wait less at barriers: {} of their time."},
    {.rule = "barrier_more", .sentence = "Warps wait more at barriers: {} of their time."},
    {.rule = "short_scoreboard_less",
     .sentence = "Warps wait less for shared memory, indexed constants or special functions (short "
                 "scoreboard): {} of their time."},
    {.rule = "constant_loads_wait",
     .sentence = "Warps wait for constants whose address is computed, or for special functions (short "
                 "scoreboard; the kernel has {} of shared memory): {} of their time.",
     .in_short =
         "Warps wait for constants whose address is computed, or for special functions: {1} of their time."},
    {.rule = "short_scoreboard_more",
     .sentence = "Warps wait more for shared memory, indexed constants or special functions (short "
                 "scoreboard): {} of their time."},
    {.rule = "mio_throttle_less",
     .sentence = "The queue for shared memory and indexed constants is full less often (MIO throttle): {} of "
                 "the warps' time."},
    {.rule = "mio_throttle_more",
     .sentence = "The queue for shared memory and indexed constants is full more often (MIO throttle): {} of "
                 "the warps' time."},
    {.rule = "lg_throttle_less",
     .sentence =
         "The queue for global and local memory is full less often (LG throttle): {} of the warps' time."},
    {.rule = "lg_throttle_more",
     .sentence =
         "The queue for global and local memory is full more often (LG throttle): {} of the warps' time."},
    {.rule = "math_pipe_throttle_less",
     .sentence = "Arithmetic pipes hold warps up less (math pipe throttle): {} of their time."},
    {.rule = "math_pipe_throttle_more",
     .sentence = "Arithmetic pipes are what warps wait for more now (math pipe throttle): {} of their time."},

    // Around the kernels.
    {.rule = "copies_hide_the_gain",
     .sentence = "The {group} gains less, for copies take {} of its time: {group_time} {}."},
    {.rule = "copies_hide_the_loss",
     .sentence = "The {group} loses less, for copies take {} of its time: {group_time} {}."},
    {.rule = "copies_faster", .sentence = "The same bytes are copied in less time: {}, at {}."},
    {.rule = "copies_slower", .sentence = "The same bytes are copied in more time: {}, at {}."},
    {.rule = "copies_fewer_bytes", .sentence = "Fewer bytes are copied: {}, in {}."},
    {.rule = "copies_more_bytes", .sentence = "More bytes are copied: {}, in {}."},
    {.rule = "overlap_more",
     .sentence = "Copies run beside kernels, or beside each other: {} are saved so, on {} streams at once; "
                 "part of the copy time in which a kernel ran: {}.",
     .in_short = "Copies run beside kernels, or beside each other: {} are saved so, on {} streams at once."},
    {.rule = "overlap_little",
     .sentence = "{} streams work at once, but little of it overlaps: {} are saved so, of {} of copies."},
    {.rule = "overlap_less",
     .sentence = "Less runs at the same time: {} are saved so, on {} streams at once; part of the copy time "
                 "in which a kernel ran: {}.",
     .in_short = "Less runs at the same time: {} are saved so, on {} streams at once."},
    {.rule = "kernels_faster", .sentence = "The kernels take less time: {}."},
    {.rule = "kernels_slower", .sentence = "The kernels take more time: {}."},
    {.rule = "allocation_less", .sentence = "The GPU waits less for memory to be allocated and freed: {}."},
    {.rule = "allocation_more", .sentence = "The GPU waits for memory to be allocated and freed: {}."},
    {.rule = "host_work_less", .sentence = "The GPU waits less for the host's own work: {}."},
    {.rule = "host_work_more",
     .sentence = "The GPU waits for the host, in its own code or in CUDA calls: {}."},

    // The CPU.
    {.rule = "more_cores", .sentence = "More cores work: {} on average over the whole {whole}."},
    {.rule = "fewer_cores", .sentence = "Fewer cores work: {} on average over the whole {whole}."},
    {.rule = "core_computes_more",
     .sentence = "Each busy core computes more: {}. That is what vectors and cache blocking are for.",
     .in_short = "Each busy core computes more: {}."},
    {.rule = "core_computes_less", .sentence = "Each busy core computes less: {}."},
    {.rule = "cpu_fewer_instructions", .sentence = "The CPU executes fewer instructions: {}."},
    {.rule = "cpu_more_instructions", .sentence = "The CPU executes more instructions: {}."},
    {.rule = "cpu_fewer_cycles_each", .sentence = "An instruction takes fewer cycles: {}."},
    {.rule = "cpu_more_cycles_each", .sentence = "An instruction takes more cycles: {}."},
    {.rule = "cpu_fewer_cache_misses", .sentence = "Fewer loads miss the last cache: {}."},
    {.rule = "cpu_more_cache_misses", .sentence = "More loads miss the last cache: {}."},
    {.rule = "page_faults_fewer",
     .sentence = "Fewer page faults, {} {a_whole}: the operating system takes {} of the CPU time."},
    {.rule = "page_faults_more",
     .sentence = "More page faults, {} {a_whole}: the operating system takes {} of the CPU time."},
})};

// --- What a sentence cites

constexpr std::size_t longest_kernel_name = 40;
constexpr std::size_t longest_kernel_list = 4;

std::string short_kernel(const std::string& kernel) {
  return format::elide(format::one_line(kernel), longest_kernel_name);
}

Unit unit_or_plain(std::string_view metric) {
  return unit_of(metric).value_or(Unit::ratio);
}

std::string number_text(double value, std::string_view metric) {
  const Unit unit = unit_or_plain(metric);
  return unit == Unit::percent ? format::percent(value / 100) : format::about(value, unit);
}

std::string pair_text(const CitedReading& read, std::string_view metric) {
  return format::from_to(read.before, read.after, unit_or_plain(metric));
}

std::string change_text(const CitedReading& read, std::string_view metric) {
  const std::string both = pair_text(read, metric);
  if (unit_of(metric) == Unit::percent)
    return fmt::format("{} ({})", both, format::signed_points(read.after - read.before));
  if (!(read.before > 0)) return both;
  // Percentages far above 100 say little.
  if (read.after >= 2 * read.before)
    return fmt::format("{} ({})", both, format::times(read.after / read.before));
  return fmt::format("{} ({})", both, format::signed_percent(read.after / read.before - 1));
}

std::string kernel_list(const std::vector<std::string>& kernels) {
  if (kernels.empty()) return "none";
  if (kernels.size() > longest_kernel_list) return format::plural(kernels.size(), "kernel");
  std::vector<std::string> names;
  for (const std::string& kernel : kernels) names.push_back(short_kernel(kernel));
  return format::list(names);
}

std::string side_kernels_text(const CitedReading& read) {
  const std::string before = kernel_list(read.kernels_before), after = kernel_list(read.kernels_after);
  return before == after ? after : fmt::format("{} → {}", before, after);
}

std::string shown(const Cited& cited, const CitedReading& read) {
  switch (cited.show) {
    case Show::change:
      return change_text(read, cited.metric);
    case Show::pair:
      return pair_text(read, cited.metric);
    case Show::before:
      return number_text(read.before, cited.metric);
    case Show::after:
      return number_text(read.after, cited.metric);
    case Show::limits:
      return format::list(read.limits);
    case Show::bottleneck_before:
    case Show::bottleneck_after:
      return bound_text(*read.bottleneck);
    case Show::side_kernels:
      break;
  }
  return side_kernels_text(read);
}

/// In the parentheses that the number ends with, where it does.
void say_all_kernels(std::string& text) {
  const bool in_parentheses = text.ends_with(')');
  if (in_parentheses) text.pop_back();
  text.append(in_parentheses ? ", all kernels)" : " (all kernels)");
}

std::string cited_text(const Cited& cited, const CitedReading& read) {
  std::string text = shown(cited, read);
  if (read.has_idle_multiprocessors) text += " of the multiprocessors that had a block";
  if (read.of_all_kernels) say_all_kernels(text);
  return text;
}

const ReasonWords& words_of(const Rule& rule) {
  return *std::ranges::find(all_reason_words, rule.id, &ReasonWords::rule);
}

/// A sentence of a rule, with what is cited and the family's words in their places.
std::string filled(std::string_view sentence, const std::vector<std::string>& cited, const Words& words) {
  fmt::dynamic_format_arg_store<fmt::format_context> all;
  for (const std::string& text : cited) all.push_back(text);
  const std::string whole = words.whole();
  all.push_back(fmt::arg("whole", whole));
  all.push_back(fmt::arg("a_whole", with_article(whole)));
  all.push_back(fmt::arg("group", words.group()));
  all.push_back(fmt::arg("group_time", words.time("group_time")));
  return format::sentence_case(fmt::vformat(sentence, all));
}

std::string filled(std::string_view sentence, const Reason& reason, const Words& words) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < reason.cited.size(); ++i)
    texts.push_back(cited_text(reason.rule->cites[i], reason.cited[i]));
  return filled(sentence, texts, words);
}

/// "streams=1"
std::string point_name(const Parameters& point) {
  std::vector<std::string> names;
  for (const auto& [name, value] : point) names.push_back(fmt::format("{}={}", name, value));
  return format::one_line(fmt::format("{}", fmt::join(names, ",")));
}

std::string counterexample_text(const Reason& reason) {
  const Counterexample& other = *reason.refuted_by;
  if (!other.point.empty())
    return fmt::format("{} has it as well, and is {} as fast as the baseline", point_name(other.point),
                       format::times(other.speed_up));
  return fmt::format(
      "{} has at least as much of it and is {} as fast as the baseline, though nothing that was read of it "
      "{} as much",
      format::short_id(other.configuration), format::times(other.speed_up),
      reason.rule->effect == Effect::faster ? "costs" : "saves");
}

std::string_view name_of(EvidenceKind kind) {
  switch (kind) {
    case EvidenceKind::hardware_counters:
      return "hardware counters";
    case EvidenceKind::trace:
      return "a trace";
    case EvidenceKind::cpu_counters:
      return "CPU counters";
    case EvidenceKind::dram_bytes:
      break;
  }
  return "DRAM bytes";
}

// --- The documentation

using enum Effect;
using enum Explains;
using enum Look;
using enum Relation;

std::string_view word(Effect effect) {
  return effect == faster ? "faster" : effect == slower ? "slower" : "context";
}

std::string word(Explains explains) {
  switch (explains) {
    case op_time:
      return "op time";
    case group_time:
      return Words().time("group_time");
    case cpu_time:
      return "op time of a CPU variant";
    case with_host:
      return Words().time("group_time") + ", or op time of a CPU variant";
    case either:
      break;
  }
  return "either time";
}

std::string_view word(Look look) {
  switch (look) {
    case before:
      return "before";
    case after:
      return "after";
    case ratio:
      return "after / before";
    case told_ratio:
      return "after / before, where the two differ significantly,";
    case difference:
      return "after − before";
    case share_of_time:
      return "after − before, of the longer time";
    case share_of_change:
      break;
  }
  return "ln(after / before), over the size of ln(times' ratio),";
}

std::string threshold_text(const Clause& clause) {
  if (clause.look == share_of_time) return format::whole_percent(100 * clause.threshold);
  const bool is_ratio = clause.look == ratio || clause.look == told_ratio || clause.look == share_of_change;
  const std::optional<Unit> unit = is_ratio ? std::nullopt : unit_of(clause.metric);
  std::string text = format::about(clause.threshold, Unit::ratio);
  if (unit != Unit::percent) return text;
  return text + (clause.look == difference || clause.metric == "memory_lead" ? " points" : "\u00a0%");
}

std::string clause_text(const Clause& clause) {
  return fmt::format("`{}` {} {} {}", clause.metric, word(clause.look),
                     clause.relation == at_least ? "≥" : "≤", threshold_text(clause));
}

std::string documented(const Cited& cited) {
  switch (cited.show) {
    case Show::limits:
      return "*limits*";
    case Show::side_kernels:
      return "*kernels*";
    case Show::bottleneck_before:
    case Show::bottleneck_after:
      return "*part*";
    case Show::change:
    case Show::pair:
    case Show::before:
    case Show::after:
      break;
  }
  return fmt::format("`{}`", cited.metric);
}

/// The sentence in plain words, with the names of what it cites.
std::string sentence_text(const Rule& rule) {
  std::vector<std::string> names;
  for (const Cited& cited : rule.cites) names.push_back(documented(cited));
  return filled(words_of(rule).sentence, names, Words());
}

}  // namespace

std::span<const ReasonWords> reason_words() {
  return all_reason_words;
}

std::string sentence_of(const Reason& reason, const Words& words) {
  return filled(words_of(*reason.rule).sentence, reason, words);
}

std::string short_sentence_of(const Reason& reason, const Words& words) {
  const ReasonWords& own = words_of(*reason.rule);
  return filled(own.in_short.empty() ? own.sentence : own.in_short, reason, words);
}

std::string reason_text(const Reason& reason, const Words& words) {
  std::string text = sentence_of(reason, words);
  if (!reason.over_point.empty()) text = fmt::format("Over {}: {}", point_name(reason.over_point), text);
  if (reason.refuted_by) text += fmt::format(" But {}.", counterexample_text(reason));
  return text;
}

std::string missing_text(const MissingEvidence& missing) {
  return fmt::format("{} ({}{}{})", name_of(missing.kind), missing.variant,
                     missing.variant.empty() ? "" : ", ", say(missing.why));
}

std::string kernels_text(const Explanation& explanation) {
  const std::string before = short_kernel(explanation.kernel_before);
  const std::string after = short_kernel(explanation.kernel_after);
  if (before.empty()) return {};
  const std::string_view longest = explanation.several_kernels ? "longest " : "";
  if (before == after) return fmt::format("{}kernel {}", longest, after);
  return fmt::format("{}kernels {} → {}", longest, before, after);
}

std::string rules_as_markdown() {
  std::string text =
      "| Rule | Effect | Explains | When all of this holds | Sentence | Source "
      "|\n|---|---|---|---|---|---|\n";
  for (const Rule& rule : rules()) {
    std::vector<std::string> clauses;
    for (const Clause& clause : rule.when) clauses.push_back(clause_text(clause));
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", rule.id, word(rule.effect),
                        word(rule.explains), fmt::join(clauses, "; "), sentence_text(rule), rule.source);
  }
  text += "\nThe quantities that are not metrics of the run:\n\n| Quantity | Meaning |\n|---|---|\n";
  for (const Quantity& quantity : quantities())
    text += fmt::format("| `{}` | {} |\n", quantity.id, quantity.meaning);
  return text;
}

}  // namespace mprof
