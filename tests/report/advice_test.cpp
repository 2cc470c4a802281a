// SPDX-License-Identifier: MIT
#include "report/analysis/advice/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/facts.hpp"
#include "report/analysis/kernels/op_metrics.hpp"
#include "report/text/format.hpp"
#include "report/views/advice_view.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/why.hpp"
#include "system/files.hpp"
#include "tests/report/counters.hpp"
#include "tests/report/fabricated_trace.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace counter = test::counter;
namespace {
namespace advised {  // so short names are those of other files as well

using test::FabricatedTrace;
using test::to_device;
using test::to_host;

using Numbers = std::map<std::string, double>;

const std::string latency = "smsp__average_warp_latency_per_inst_issued.ratio";
const std::string most_warps = "sm__maximum_warps_per_active_cycle_pct";

/// An op without any limit: as near the peaks as can be, its copies hidden. Names with "__" are of the
/// kernel.
const Numbers unlimited{{"op_time", 1e-3},
                        {"group_time", 10e-3},
                        {"gpu_time", 1e-3},
                        {"kernel_count", 1},
                        {"compute_throughput", 96},
                        {"memory_throughput", 10},
                        {"traced_group_time", 10e-3},
                        {"gpu_kernel_time", 1e-3},
                        {"gpu_copy_only_time", 3e-3},
                        {"gpu_idle_allocation_time", 1e-4},
                        {"gpu_idle_synchronization_time", 1e-4},
                        {"gpu_idle_host_time", 1e-4},
                        {"gpu_idle_api_time", 1e-4},
                        {"copy_in_time", 4e-3},
                        {"copy_out_time", 4e-3},
                        {"copy_in_bytes", 4e7},
                        {"copy_out_bytes", 4e7},
                        {"gpu__time_duration.sum", 1e-3},
                        {counter::instructions, 800e6},
                        {counter::cycles, 2e6},
                        {counter::sm_throughput, 75},
                        {counter::memory_throughput, 70},
                        {counter::dram_throughput, 30},
                        {"dram__bytes.sum", 1e8},
                        {counter::bytes_per_loaded_sector, 32},
                        {counter::occupancy, 80},
                        {most_warps, 100},
                        {"smsp__warps_active.avg.peak_sustained", 16},
                        {counter::waves, 10},
                        {counter::grid, 132.0 * 8 * 10},
                        {"launch__occupancy_limit_registers", 8},
                        {"launch__occupancy_limit_shared_mem", 16},
                        {"launch__occupancy_limit_warps", 9},
                        {"launch__occupancy_limit_blocks", 32},
                        {counter::bank_conflicts, 0},
                        {latency, 20},
                        {counter::stall("long_scoreboard"), 2},
                        {counter::stall("short_scoreboard"), 2},
                        {counter::stall("barrier"), 2},
                        {counter::stall("mio_throttle"), 2},
                        {counter::stall("lg_throttle"), 2},
                        {counter::executed("fadd"), 0},
                        {counter::executed("fmul"), 0}};

const Numbers faster{{"op_time", 0.6e-3}, {"gpu_time", 0.6e-3}, {"group_time", 6e-3}};
const Numbers slower{{"op_time", 2e-3}, {"gpu_time", 2e-3}, {"group_time", 20e-3}};

Numbers with(Numbers numbers, const Numbers& changed) {
  for (const auto& [metric, value] : changed) numbers[metric] = value;
  return numbers;
}

constexpr std::uint64_t batch = 1000;

Case advised_case(const VariantInfo& info, const Numbers& numbers) {
  Case c = samples::timed_case(info, batch, 1, 1);
  c.ops.resize(1);
  c.ops[0].bytes = 1e8;
  PassResult& timed = samples::timing(c);
  timed.verification.resize(1);
  std::erase_if(timed.measurements, [&](const Measurement& m) {
    return m.op == "layer2" || (m.op == "layer1" && numbers.contains(m.metric));
  });
  PassResult counters;
  counters.pass = Pass::counters;
  PassResult traced;
  traced.pass = Pass::trace;
  counters.status = traced.status = Status::ok;
  for (const auto& [metric, value] : numbers) {
    if (metric.find("__") != std::string::npos) {
      counters.measurements.push_back(samples::of_kernel(metric, "layer1", "scale", value));
    } else {
      const bool is_time = metric == "op_time" || metric == "group_time";
      timed.measurements.push_back(
          samples::measured(metric, "layer1", is_time ? samples::around(value) : std::vector{value}));
    }
  }
  traced.measurements = {samples::of_kernel("kernel_instances", "layer1", "scale", 1)};
  c.passes = {timed, counters, traced};
  return c;
}

/// A baseline, and variants of it.
Run advised_run(const Numbers& before, const std::vector<Numbers>& after,
                const std::string& device = "cuda") {
  mprof::Run run = samples::empty_run();
  run.ceilings = {{"memory_bandwidth", "cuda", 1e12, "", ""}};
  run.environment[fact::gpu_l2_cache.group][fact::gpu_l2_cache.name] = 5e7;
  run.families = {samples::conv_family()};
  VariantInfo base = samples::variant("conv/before");
  base.device = device;
  run.variants = {base};
  run.cases = {advised_case(base, before)};
  for (std::size_t i = 0; i < after.size(); ++i) {
    VariantInfo info = samples::variant("conv/after" + std::to_string(i), "conv/before");
    info.device = device;
    run.variants.push_back(info);
    run.cases.push_back(advised_case(info, after[i]));
  }
  return run;
}

const Advice* find_advice(const std::vector<Advice>& advice, std::string_view rule) {
  const auto found = std::ranges::find_if(advice, [&](const Advice& one) { return one.rule->id == rule; });
  return found == advice.end() ? nullptr : &*found;
}

const AdviceRecord& record_of(const RunAdvice& advice, std::string_view rule) {
  return *std::ranges::find_if(advice.records,
                               [&](const AdviceRecord& record) { return record.rule->id == rule; });
}

/// A limit of the baseline that a variant removes, all or in part.
struct Limited {
  std::string rule;
  Numbers before;
  Numbers after;
  double at_most = 1;
  double predicted = 1;
};

const Evidence untraced{std::nullopt, "nothing was traced"};

const Numbers starved{{latency, 40},
                      {counter::cycles, 5e6},
                      {counter::sm_throughput, 30},
                      {counter::memory_throughput, 30},
                      {"compute_throughput", 10}};

const std::vector<Limited> limited_ops{
    {"instructions", {{"compute_throughput", 20}}, {{counter::instructions, 400e6}}, 5, 2},
    {"instructions_and_accesses",
     {{"compute_throughput", 20}, {counter::memory_throughput, 90}},
     {{counter::instructions, 400e6}},
     5,
     2},
    {"unfused_arithmetic",
     {{"compute_throughput", 20}, {counter::executed("fadd"), 4e9}, {counter::executed("fmul"), 4e9}},
     {{"compute_throughput", 20}},
     1 / (1 - 8e9 / 2 / 32 / 800e6),
     1 / (1 - 8e9 / 2 / 32 / 800e6)},
    {"launch_gaps", {{"gpu_time", 0.8e-3}, {"launch_count", 2}}, {}, 1.25, 1.25},
    {"partial_waves", {{counter::waves, 1.25}, {counter::grid, 132.0 * 8 * 1.25}}, {}, 1 / 0.75, 1 / 0.75},
    {"idle_multiprocessors",
     with(starved, {{"sm__cycles_active.avg", 2.5e6}}),
     {{"sm__cycles_active.avg", 5e6}},
     2,
     2},
    {"theoretical_occupancy",
     with(starved, {{most_warps, 50}, {counter::occupancy, 50}, {"launch__occupancy_limit_warps", 16}}),
     {{most_warps, 75}},
     2,
     1.5},
    {"achieved_occupancy",
     with(starved, {{counter::occupancy, 50}, {latency, 20}}),
     {{counter::occupancy, 80}},
     2,
     1.6},
    {"issue_slots", starved, {{counter::cycles, 2.5e6}}, 3.3, 2},
    {"long_scoreboard",
     with(starved, {{counter::stall("long_scoreboard"), 20}}),
     {{counter::stall("long_scoreboard"), 10}},
     2,
     1 / 0.75},
    {"barrier",
     with(starved, {{counter::stall("barrier"), 20}}),
     {{counter::stall("barrier"), 10}},
     2,
     1 / 0.75},
    {"short_scoreboard",
     with(starved, {{counter::stall("short_scoreboard"), 20}}),
     {{counter::stall("short_scoreboard"), 10}},
     2,
     1 / 0.75},
    {"mio_throttle",
     with(starved, {{counter::stall("mio_throttle"), 20}}),
     {{counter::stall("mio_throttle"), 10}},
     2,
     1 / 0.75},
    {"lg_throttle",
     with(starved, {{counter::stall("lg_throttle"), 20}}),
     {{counter::stall("lg_throttle"), 10}},
     2,
     1 / 0.75},
    {"coalescing",
     {{counter::bytes_per_loaded_sector, 16},
      {counter::stall("long_scoreboard"), 8},
      {counter::cycles, 2.5e6}},
     {},
     1 / 0.75,
     1 / 0.75},
    {"bank_conflicts", {{counter::bank_conflicts, 0.2 * 2e6 * 132}}, {}, 1.25, 1.25},
    {"cache_bandwidth",
     {{counter::memory_throughput, 90}, {counter::sm_throughput, 60}},
     {{counter::memory_throughput, 60}},
     1.5,
     1.5},
    {"dram_bandwidth",
     {{counter::dram_throughput, 70}, {counter::memory_throughput, 72}, {counter::sm_throughput, 50}},
     {{counter::dram_throughput, 84}},
     1 / 0.7,
     1.2},
    {"dram_traffic",
     {{"dram__bytes.sum", 5e8}, {counter::instructions, 400e6}},
     {{"dram__bytes.sum", 3e8}, {counter::instructions, 400e6}},
     1 / 0.55,
     1.25},
    {"serial_copies", {{"gpu_copy_only_time", 8e-3}}, {{"gpu_copy_only_time", 5.5e-3}}, 2, 1 / 0.75},
    {"copy_rate", {{"copy_in_bytes", 2e7}, {"copy_out_bytes", 2e7}}, {}, 1 / 0.85, 1 / 0.85},
    {"allocation", {{"gpu_idle_allocation_time", 3e-3}}, {{"gpu_idle_allocation_time", 1e-3}}, 1 / 0.7, 1.25},
    {"synchronization",
     {{"gpu_idle_synchronization_time", 3e-3}},
     {{"gpu_idle_synchronization_time", 1e-3}},
     1 / 0.7,
     1.25},
    {"host_code", {{"gpu_idle_host_time", 2.9e-3}}, {{"gpu_idle_host_time", 0.9e-3}}, 1 / 0.7, 1.25},
};

/// The execution of a case, a hundredth of whose 1000 ns is each part that is not named.
struct Execution {
  std::map<BudgetPart, std::int64_t> parts{};
  std::uint64_t bytes = 1000;  ///< of each copy
};

/// A trace of such executions, in which no part lies beside another one. Kernels beside copies come first.
Evidence traced(const mprof::Run& run, const std::vector<Execution>& executions) {
  using enum BudgetPart;
  FabricatedTrace made;
  for (std::size_t i = 0; i < executions.size(); ++i) {
    const trace::CaseIndex in_case = made.add_case(run.cases.at(i).id);
    std::int64_t now = 0;
    const auto take = [&](BudgetPart part) {
      const auto found = executions[i].parts.find(part);
      const std::int64_t begin = now, length = found == executions[i].parts.end() ? 0 : found->second;
      now += length;
      return trace::Interval{begin, begin + length};
    };
    const trace::Interval beside = take(kernels_and_copies);
    made.kernel(7, {beside.start, take(kernels).end}, in_case);
    if (beside.length() > 0) made.transfer(8, beside, to_device, executions[i].bytes, in_case);
    made.transfer(8, take(copies_in), to_device, executions[i].bytes, in_case);
    made.transfer(8, take(copies_out), to_host, executions[i].bytes, in_case);
    for (const auto& [part, call] : {std::pair{idle_waiting, "cudaDeviceSynchronize"},
                                     {idle_allocation, "cudaMalloc"},
                                     {idle_calls, "cudaLaunchKernel"}}) {
      made.call(call, take(part));
      made.trace.calls.back().in_case = in_case;
    }
    made.system_call("poll", take(idle_system));
    made.trace.system_calls.back().in_case = in_case;
    (void)take(idle_host);
    made.range(trace::own_domain, run.cases.at(i).id, {0, now});
    made.trace.ranges.back().in_case = in_case;
  }
  return {std::move(made.trace), {}};
}

/// A limit of a whole execution that a variant removes, all or in part.
struct LimitedWhole {
  std::string rule;
  Execution before;
  Execution after;
  double at_most = 1;
  double predicted = 1;
};

const std::vector<LimitedWhole> limited_wholes{
    {"whole_kernels",
     {{{BudgetPart::kernels, 800}, {BudgetPart::copies_in, 200}}},
     {{{BudgetPart::kernels, 300}, {BudgetPart::copies_in, 200}}},
     5,
     2},
    {"whole_serial_copies",
     {{{BudgetPart::kernels, 500}, {BudgetPart::copies_in, 500}}},
     {{{BudgetPart::kernels_and_copies, 250}, {BudgetPart::kernels, 250}, {BudgetPart::copies_in, 250}}},
     2,
     1 / 0.75},
    {"whole_copy_rate",
     {{{BudgetPart::copies_in, 400}, {BudgetPart::copies_out, 400}, {BudgetPart::idle_host, 200}}},
     {{{BudgetPart::copies_in, 200}, {BudgetPart::copies_out, 200}, {BudgetPart::idle_host, 200}}},
     1 / 0.6,
     1 / 0.6},
    {"whole_allocation",
     {{{BudgetPart::idle_allocation, 500}, {BudgetPart::kernels, 500}}},
     {{{BudgetPart::idle_allocation, 250}, {BudgetPart::kernels, 500}}},
     2,
     1 / 0.75},
    {"whole_synchronization",
     {{{BudgetPart::idle_waiting, 500}, {BudgetPart::kernels, 500}}},
     {{{BudgetPart::idle_waiting, 250}, {BudgetPart::kernels, 500}}},
     2,
     1 / 0.75},
    {"whole_calls",
     {{{BudgetPart::idle_calls, 500}, {BudgetPart::kernels, 500}}},
     {{{BudgetPart::idle_calls, 250}, {BudgetPart::kernels, 500}}},
     2,
     1 / 0.75},
    {"whole_system_calls",
     {{{BudgetPart::idle_system, 500}, {BudgetPart::kernels, 500}}},
     {{{BudgetPart::idle_system, 250}, {BudgetPart::kernels, 500}}},
     2,
     1 / 0.75},
    {"whole_host_code",
     {{{BudgetPart::idle_host, 500}, {BudgetPart::kernels, 500}}},
     {{{BudgetPart::idle_host, 250}, {BudgetPart::kernels, 500}}},
     2,
     1 / 0.75},
};

/// A baseline and a variant that takes half of its total time.
mprof::Run step_of_the_whole() {
  // Of whose kernels the peaks would leave next to nothing.
  const Numbers useless = with(unlimited, {{"compute_throughput", 1e-3}, {"memory_throughput", 1e-3}});
  mprof::Run run = advised_run(useless, {useless});
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    PassResult& timed = run.cases[i].passes.at(0);
    std::erase_if(timed.measurements, [](const Measurement& m) { return m.metric == "total_time"; });
    timed.measurements.push_back(samples::measured("total_time", "", samples::around(i == 0 ? 1.0 : 0.5)));
  }
  return run;
}

TEST(Advice, NamesEachLimitOfTheWholeAndWhatItIsWorth) {
  for (const LimitedWhole& limited : limited_wholes) {
    const mprof::Run run = step_of_the_whole();
    const RunAnalysis analysis = analyse(run);
    const RunAdvice advice = advise(analysis, traced(run, {limited.before, limited.after}));
    const VariantAdvice& variant = advice.families.at(0).variants.at(0);
    EXPECT_TRUE(variant.whole.missing.empty());
    const Advice* found = find_advice(variant.whole.advice, limited.rule);
    if (found == nullptr) {
      ADD_FAILURE() << limited.rule << " does not fire";
      continue;
    }
    EXPECT_NEAR(found->gain, limited.at_most, 1e-3) << limited.rule;
    const std::vector<AdviceTry>& tries = advice.families[0].tries;
    const auto tried = std::ranges::find_if(
        tries, [&](const AdviceTry& one) { return one.advice.rule->id == limited.rule; });
    if (tried == tries.end()) {
      ADD_FAILURE() << limited.rule << " was not tried";
      continue;
    }
    EXPECT_TRUE(tried->op.empty()) << limited.rule;
    EXPECT_NEAR(tried->predicted, limited.predicted, 1e-3) << limited.rule;
    EXPECT_NEAR(*tried->achieved.factor, 2, 0.02) << limited.rule << ": of the whole, not of an op";
  }
}

TEST(Advice, OfTheWholeIsSilentWhereTheTraceLacksRecords) {
  const mprof::Run run = step_of_the_whole();
  const RunAnalysis analysis = analyse(run);
  const Execution idle{{{BudgetPart::idle_host, 900}, {BudgetPart::kernels, 100}}};
  const Evidence evidence = traced(run, {idle, idle});
  const RunAdvice complete = advise(analysis, evidence);
  EXPECT_NE(find_advice(complete.families.at(0).variants.at(0).whole.advice, "whole_host_code"), nullptr);
  Evidence cut = traced(run, {idle, idle});
  cut.profile->cases.at(0).counts.dropped = 1;
  const RunAdvice lacking = advise(analysis, cut);
  EXPECT_TRUE(lacking.families.at(0).variants.at(0).whole.advice.empty())
      << "what looks idle may have been work";
  const std::vector<NotJudged>& missing = lacking.families.at(0).variants.at(0).whole.missing;
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].evidence, AdviceEvidence::time_budget);
  EXPECT_EQ(missing[0].why, Why(Because::records_lacking, {}, {1}));
}

TEST(Advice, CountsNoCostOfTracingAsTimeOfTheWhole) {
  const mprof::Run run = step_of_the_whole();
  const RunAnalysis analysis = analyse(run);
  const Execution half{
      {{BudgetPart::idle_host, 500}, {BudgetPart::kernels, 250}, {BudgetPart::copies_in, 250}}};
  Evidence evidence = traced(run, {half, half});
  evidence.profile->overheads.push_back({.time = {500, 1000}});
  const RunAdvice advice = advise(analysis, evidence);
  const OpAdvice& whole = advice.families.at(0).variants.at(0).whole;
  EXPECT_EQ(find_advice(whole.advice, "whole_host_code"), nullptr) << "all of it was tracing";
  const Advice* kernels = find_advice(whole.advice, "whole_kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_NEAR(kernels->gain, 2, 1e-3) << "half of what is left without tracing";
}

TEST(Advice, IsSilentWithoutALimit) {
  const mprof::Run run = advised_run(unlimited, {with(unlimited, faster)});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  for (const VariantAdvice& variant : advice.families.at(0).variants) {
    ASSERT_EQ(variant.ops.size(), 1U) << say(variant.absent);
    EXPECT_TRUE(variant.ops[0].missing.empty());
    for (const Advice& one : variant.ops[0].advice) ADD_FAILURE() << one.rule->id << " " << one.gain;
  }
  EXPECT_TRUE(advice.families.at(0).tries.empty());
}

/// An op whose work would take little of its time.
const Numbers far_from_peaks{{"compute_throughput", 10}};

TEST(Advice, NamesEachLimitAndWhatItIsWorth) {
  for (const Limited& limited : limited_ops) {
    const Numbers before = with(with(unlimited, far_from_peaks), limited.before);
    const mprof::Run run = advised_run(before, {with(with(unlimited, faster), limited.after)});
    const RunAnalysis analysis = analyse(run);
    const RunAdvice advice = advise(analysis, untraced);
    const Advice* found = find_advice(advice.families.at(0).variants.at(0).ops.at(0).advice, limited.rule);
    if (found == nullptr) {
      ADD_FAILURE() << limited.rule << " does not fire";
      continue;
    }
    EXPECT_NEAR(found->gain, limited.at_most, 1e-3) << limited.rule;
    const std::vector<AdviceTry>& tries = advice.families[0].tries;
    const auto tried = std::ranges::find_if(
        tries, [&](const AdviceTry& one) { return one.advice.rule->id == limited.rule; });
    if (tried == tries.end()) {
      ADD_FAILURE() << limited.rule << " was not tried";
      continue;
    }
    EXPECT_NEAR(tried->predicted, limited.predicted, 1e-3) << limited.rule;
    EXPECT_EQ(tried->outcome, AdviceOutcome::right) << limited.rule;
    EXPECT_EQ(record_of(advice, limited.rule).right, 1U) << limited.rule;
  }
}

TEST(Advice, HasASituationForEachRule) {
  std::set<std::string_view> covered, ids;
  for (const Limited& limited : limited_ops) covered.insert(limited.rule);
  for (const LimitedWhole& limited : limited_wholes) covered.insert(limited.rule);
  for (const AdviceRule* rule : advice_rules()) {
    EXPECT_TRUE(covered.contains(rule->id)) << rule->id;
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id;
    EXPECT_FALSE(rule->source.empty()) << rule->id;
  }
  for (const AdviceRule& rule : op_advice_rules())
    EXPECT_TRUE(rule.time == "op_time" || rule.time == "group_time") << rule.id;
  for (const AdviceRule& rule : whole_advice_rules()) EXPECT_EQ(rule.time, "total_time") << rule.id;
}

TEST(Advice, LeavesTheRestOfTheOpAsItIs) {
  const Numbers half{{"gpu__time_duration.sum", 0.5e-3}, {"compute_throughput", 20}, {"gpu_time", 1e-3}};
  const mprof::Run run = advised_run(with(unlimited, half), {});
  const RunAdvice advice = advise(analyse(run), untraced);
  const Advice* found = find_advice(advice.families.at(0).variants.at(0).ops.at(0).advice, "instructions");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain, 1 / (1 - 0.5 * 0.8), 1e-3) << "Amdahl: half of the op time is no kernel's";
}

TEST(Advice, BoundsHalfPrecisionByTheBandwidthAlone) {
  const Numbers half{{"compute_throughput", 40},
                     {counter::executed("hfma"), 2e10},
                     {counter::executed("hadd"), 0},
                     {counter::executed("hmul"), 0},
                     {counter::executed("ffma"), 0}};
  const mprof::Run run = advised_run(with(unlimited, half), {});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  const Advice* found = find_advice(advice.families.at(0).variants.at(0).ops.at(0).advice, "instructions");
  ASSERT_NE(found, nullptr);
  EXPECT_NEAR(found->gain, 10, 1e-3) << "the FP32 peak is no bound for it";
}

std::vector<Advice> advice_at(const Numbers& numbers, double l2_capacity = 5e7) {
  mprof::Run run = advised_run(with(unlimited, numbers), {});
  run.environment[fact::gpu_l2_cache.group][fact::gpu_l2_cache.name] = l2_capacity;
  const RunAnalysis analysis = analyse(run);
  return advice_for(
      OpReadings(analysis.families.at(0), analysis.families[0].variants.at(0).cases.at(0), "layer1"));
}

TEST(Advice, CountsTheInstructionsThatTheDefinitionNeeds) {
  const double flops = samples::timed_case(samples::variant("conv/before"), batch, 1, 1).ops.at(0).flops;
  const Numbers slow{{"compute_throughput", 20}, {counter::executed("ffma"), 0}};
  for (const double op_time : {1e-3, 3e-3}) {
    const auto advice = advice_at(with(slow, {{"op_time", op_time}}));
    const Advice* found = find_advice(advice, "instructions");
    ASSERT_NE(found, nullptr) << op_time;
    EXPECT_DOUBLE_EQ(found->best, flops / 2 / 32) << "a count, whatever the time: " << op_time;
    EXPECT_LE(found->gain, 5 + 1e-9) << "no faster than the measured peak";
  }
  const auto packed = advice_at(with(
      slow,
      {{counter::executed("hfma"), 2e10}, {counter::executed("hadd"), 0}, {counter::executed("hmul"), 0}}));
  ASSERT_NE(find_advice(packed, "instructions"), nullptr);
  EXPECT_DOUBLE_EQ(find_advice(packed, "instructions")->best, flops / 4 / 32) << "two a lane";
  const auto tiles = advice_at(with(slow, {{"sm__ops_path_tensor_src_fp16.sum", flops}}));
  EXPECT_EQ(find_advice(tiles, "instructions"), nullptr) << "nobody counts what a tile takes";
}

/// Another algorithm may need fewer of them than the definition names.
TEST(Advice, TakesSpecialFunctionsForNoBound) {
  mprof::Run run = advised_run(
      with(unlimited,
           {{"compute_throughput", 20}, {"special_throughput", 70}, {counter::executed("ffma"), 0}}),
      {});
  for (Case& c : run.cases) {
    for (OpInfo& op : c.ops) op.special_operations = 100 * op.flops;
  }
  const RunAnalysis analysis = analyse(run);
  const auto& variant = analysis.families.at(0).variants.at(0);
  EXPECT_GT(variant.cases.at(0).ops.at(0).of_possible->median, 60)
      << "of the algorithm as it is they are one";
  const auto advice = advice_for(OpReadings(analysis.families[0], variant.cases[0], "layer1"));
  const Advice* found = find_advice(advice, "instructions");
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->best, run.cases.at(0).ops.at(0).flops / 2 / 32);
  EXPECT_NEAR(found->gain, 5, 1e-3);
}

TEST(Advice, NamesTheAccessesWhereTheCachesAreBusierThanTheMultiprocessors) {
  const Numbers many{{"compute_throughput", 20}, {counter::sm_throughput, 70}};
  const auto level = advice_at(with(many, {{counter::memory_throughput, 79}}));
  EXPECT_NE(find_advice(level, "instructions"), nullptr);
  EXPECT_EQ(find_advice(level, "instructions_and_accesses"), nullptr);
  const auto ahead = advice_at(with(many, {{counter::memory_throughput, 81}}));
  EXPECT_EQ(find_advice(ahead, "instructions"), nullptr);
  EXPECT_NE(find_advice(ahead, "instructions_and_accesses"), nullptr);
}

TEST(Advice, LooksForWarpsBeforeInstructions) {
  const Numbers between{{"compute_throughput", 20},
                        {counter::cycles, 2.4e6},
                        {counter::sm_throughput, 63},
                        {counter::memory_throughput, 10}};
  const auto missing =
      advice_at(with(between, {{counter::occupancy, 67}, {"gpu_time", 0.8e-3}, {"launch_count", 2}}));
  EXPECT_EQ(find_advice(missing, "instructions"), nullptr) << "the schedulers wait for warps";
  EXPECT_NE(find_advice(missing, "achieved_occupancy"), nullptr);
  EXPECT_NE(find_advice(missing, "launch_gaps"), nullptr);
  const auto one_kernel = advice_at(with(between, {{"gpu_time", 0.8e-3}, {"launch_count", 1}}));
  EXPECT_EQ(find_advice(one_kernel, "launch_gaps"), nullptr) << "there is nothing between kernels";
  const auto full = advice_at(with(between, {{counter::occupancy, 95}}));
  EXPECT_NE(find_advice(full, "instructions"), nullptr);
  EXPECT_EQ(find_advice(full, "achieved_occupancy"), nullptr);
}

TEST(Advice, EndsOccupancyAtTheNextLimit) {
  const Numbers low = with(starved, {{most_warps, 37.5},
                                     {counter::occupancy, 37.5},
                                     {"launch__occupancy_limit_registers", 6},
                                     {"launch__occupancy_limit_shared_mem", 8},
                                     {"launch__occupancy_limit_warps", 16}});
  const auto advice = advice_at(low);
  const Advice* found = find_advice(advice, "theoretical_occupancy");
  ASSERT_NE(found, nullptr);
  EXPECT_DOUBLE_EQ(found->best, 50) << "shared memory stays";
  EXPECT_NEAR(found->gain, 4.0 / 3, 1e-9);
  const auto tied = advice_at(with(low, {{"launch__occupancy_limit_shared_mem", 6}}));
  EXPECT_EQ(find_advice(tied, "theoretical_occupancy"), nullptr) << "one of two alone gives nothing";
}

TEST(Advice, EndsWhereTheBytesMoveAsFastAsCopyingDid) {
  const Numbers waiting = with(starved, {{most_warps, 50}, {counter::occupancy, 50}});
  for (const double bytes : {0.5e9, 0.98e9}) {  // of 1e9 in the millisecond of the op
    const auto advice =
        advice_at(with(waiting, {{"dram__bytes.sum", bytes}, {counter::dram_throughput, 79}}));
    const Advice* slots = find_advice(advice, "issue_slots");
    EXPECT_EQ(slots != nullptr, bytes < 0.9e9) << bytes;
    if (slots != nullptr) {
      EXPECT_NEAR(slots->gain, 1 / 0.5, 0.01);
    }
    EXPECT_EQ(find_advice(advice, "dram_bandwidth") != nullptr, bytes < 0.9e9) << bytes;
  }
}

TEST(Advice, HasNoUseForFreeSchedulersWhereTensorCoresCompute) {
  EXPECT_NE(find_advice(advice_at(starved), "issue_slots"), nullptr);
  const Numbers tiles = with(starved, {{"sm__ops_path_tensor_src_fp16.sum", 1e9}});
  EXPECT_EQ(find_advice(advice_at(tiles), "issue_slots"), nullptr);
}

TEST(Advice, PromisesNoMoreThanTheMeasuredPeaksLeave) {
  for (const double percent : {10.0, 80.0, 99.0}) {
    const auto advice = advice_at(with(starved, {{"compute_throughput", percent}}));
    const Advice* slots = find_advice(advice, "issue_slots");
    ASSERT_EQ(slots != nullptr, percent < 95) << percent;
    for (const Advice& one : advice) {
      if (one.rule->time == "op_time") {
        EXPECT_LE(one.gain, 100 / percent + 1e-9) << one.rule->id << " at " << percent;
      }
    }
    if (percent == 80) {
      EXPECT_NEAR(slots->gain, 1.25, 1e-9);
    }
  }
}

TEST(Advice, OfTheWholeKernelsKeepWhatThePeaksNeed) {
  mprof::Run run = advised_run(with(unlimited, {{"compute_throughput", 50}}), {});
  const RunAnalysis analysis = analyse(run);
  const Execution half{{{BudgetPart::idle_host, 500}, {BudgetPart::kernels, 500}}};
  const RunAdvice advice = advise(analysis, traced(run, {half}));
  const Advice* kernels = find_advice(advice.families.at(0).variants.at(0).whole.advice, "whole_kernels");
  ASSERT_NE(kernels, nullptr);
  EXPECT_NEAR(kernels->best / kernels->value, 0.5, 1e-9);
  EXPECT_NEAR(kernels->gain, 1 / 0.75, 1e-3) << "half of the half in which kernels ran";
}

TEST(Advice, FusesNothingAtTheMeasuredPeaks) {
  const Numbers unfused{{counter::executed("fadd"), 4e9}, {counter::executed("fmul"), 4e9}};
  EXPECT_EQ(find_advice(advice_at(unfused), "unfused_arithmetic"), nullptr);
  EXPECT_NE(find_advice(advice_at(with(unfused, {{"compute_throughput", 20}})), "unfused_arithmetic"),
            nullptr);
}

TEST(Advice, HidesNothingThatTheLinkHasNoTimeFor) {
  for (const double group_time : {10e-3, 8e-3}) {  // without tracing, which took 10 ms
    const Numbers idle{{"gpu_idle_host_time", 2.9e-3}, {"group_time", group_time}};
    mprof::Run run = advised_run(with(unlimited, idle), {});
    run.ceilings.push_back({"pinned_host_to_device_bandwidth", "cuda", 5e9, "", ""});
    const RunAnalysis analysis = analyse(run);
    const RunAdvice advice = advise(analysis, untraced);
    const Advice* found = find_advice(advice.families.at(0).variants.at(0).ops.at(0).advice, "host_code");
    EXPECT_EQ(found != nullptr, group_time > 8e-3) << "8 ms for 40 MB each way: " << group_time;
    if (found != nullptr) {
      EXPECT_NEAR(found->gain, 10.0 / 8, 1e-3);
    }
  }
}

TEST(Advice, FillsNoMultiprocessorWithoutABlockByMoreWarps) {
  const Numbers half = with(starved, {{counter::occupancy, 50}, {latency, 20}});
  const Numbers idle{{"sm__warps_active.avg.per_cycle_active", 64}};  // 16 of a scheduler, 20 cycles each
  EXPECT_NEAR(find_advice(advice_at(half), "achieved_occupancy")->gain, 2, 0.01);
  EXPECT_NEAR(find_advice(advice_at(with(half, idle)), "achieved_occupancy")->gain, 20.0 / 16, 0.01);
}

TEST(Advice, KnowsThatTheL2KeepsWhatALaunchWrote) {
  const Numbers few{{"dram__bytes.sum", 5e7}};
  for (const double capacity : {5e7, 2e8}) {
    mprof::Run run = advised_run(with(unlimited, few), {});
    run.environment[fact::gpu_l2_cache.group][fact::gpu_l2_cache.name] = capacity;
    const RunAnalysis analysis = analyse(run);
    const bool fits = capacity > 1e8;
    const OpReadings op(analysis.families.at(0), analysis.families[0].variants.at(0).cases.at(0), "layer1");
    EXPECT_EQ(op.of("dram_time").value.estimate.has_value(), !fits) << capacity;
    EXPECT_EQ(analysis.families[0].speed_of_light.kernels.at(0).no_roofline.empty(), !fits) << capacity;
    const RunAdvice advice = advise(analysis, untraced);
    EXPECT_EQ(advice.families.at(0).variants.at(0).ops.at(0).missing.size(), fits ? 1U : 0U) << capacity;
  }
  const Numbers many = with(far_from_peaks, {{"dram__bytes.sum", 5e8}});
  EXPECT_NE(find_advice(advice_at(many, 2e8 / 3), "dram_traffic"), nullptr);
  const std::vector<Advice> busy = advice_at(many, 2e8 / 3);
  EXPECT_NEAR(find_advice(busy, "dram_traffic")->gain, 2e6 * 132 * 4 / 800e6, 0.02)
      << "no more than what is issued all the same leaves";
  EXPECT_EQ(find_advice(advice_at(many, 2e8), "dram_traffic"), nullptr)
      << "all of it may stay in the L2, so that nobody knows the least";
}

TEST(Advice, TakesNoGuessForACount) {
  Numbers uncounted;
  for (const auto& [metric, value] : unlimited) {
    if (metric.find("__") == std::string::npos) uncounted[metric] = value;
  }
  uncounted["compute_throughput"] = 20;
  uncounted.erase("traced_group_time");
  const mprof::Run run = advised_run(uncounted, {});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  const OpAdvice& of_op = advice.families.at(0).variants.at(0).ops.at(0);
  EXPECT_TRUE(of_op.advice.empty());
  EXPECT_EQ(of_op.missing.size(), 2U) << "neither counters nor trace";
}

TEST(Advice, IsAboutGpus) {
  const mprof::Run run = advised_run(with(unlimited, {{"compute_throughput", 20}}), {}, "cpu");
  const RunAdvice advice = advise(analyse(run), untraced);
  EXPECT_EQ(advice.families.at(0).variants.at(0).absent, Why(Because::rules_are_of_gpus));
}

TEST(Advice, TakesReadingsThatHardlyDifferForNoMove) {
  const Numbers before = with(unlimited, {{"copy_in_bytes", 2e7}, {"copy_out_bytes", 2e7}});
  const Numbers other = with(with(unlimited, slower), {{"copy_in_bytes", 2.4e7}, {"copy_out_bytes", 2.4e7}});
  const mprof::Run run = advised_run(before, {other, with(unlimited, faster)});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  EXPECT_NE(find_advice(advice.families.at(0).variants.at(0).ops.at(0).advice, "copy_rate"), nullptr);
  EXPECT_EQ(record_of(advice, "copy_rate").tries, 1U) << "a fifth is what copies differ by anyway";
}

const Numbers much_overhead = with(unlimited, {{"compute_throughput", 20}});
const Numbers fewer_and_faster =
    with(with(much_overhead, faster), {{counter::instructions, 400e6}, {"compute_throughput", 96}});
const Numbers fewer_and_slower =
    with(with(much_overhead, slower), {{counter::instructions, 400e6}, {"compute_throughput", 96}});

TEST(AdviceRecord, CountsHitsOverAllTries) {
  const mprof::Run run =
      advised_run(much_overhead, {fewer_and_faster, fewer_and_slower, fewer_and_faster, much_overhead});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  const AdviceRecord& record = record_of(advice, "instructions");
  EXPECT_EQ(record.tries, 3U) << "the last one did not take the advice";
  EXPECT_EQ(record.right, 2U);
  EXPECT_EQ(record.wrong, 1U);
  EXPECT_EQ(record.leading, 3U);
  EXPECT_EQ(record.leading_right, 2U);
  ASSERT_TRUE(record.hit_rate().has_value());
  EXPECT_NEAR(*record.hit_rate(), 2.0 / 3, 1e-9);
  ASSERT_TRUE(record.achieved_over_predicted.has_value());
  EXPECT_NEAR(*record.achieved_over_predicted, std::cbrt(1 / 0.6 / 2 * 0.5 / 2 / 0.6 / 2), 1e-2);
  EXPECT_FALSE(record.silenced());
  EXPECT_FALSE(record_of(advice, "barrier").hit_rate().has_value()) << "never tried is no rate of 0";
}

TEST(AdviceRecord, SilencesARuleThatMisleads) {
  const mprof::Run run = advised_run(much_overhead, {fewer_and_slower, fewer_and_faster});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  EXPECT_TRUE(record_of(advice, "instructions").silenced()) << "one of two went the wrong way";
  const OpAdvice& of_op = advice.families.at(0).variants.at(0).ops.at(0);
  EXPECT_EQ(find_advice(of_op.advice, "instructions"), nullptr);
  ASSERT_EQ(of_op.left.size(), 1U);
  EXPECT_EQ(of_op.left[0]->id, "instructions");
}

TEST(AdviceRecord, SilencesNoRuleForASingleTry) {
  const mprof::Run run = advised_run(much_overhead, {fewer_and_slower});
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  EXPECT_EQ(record_of(advice, "instructions").wrong, 1U);
  EXPECT_FALSE(record_of(advice, "instructions").silenced());
}

nlohmann::json words_of_page(const mprof::Run& run, std::size_t variant, bool tried) {
  const RunAnalysis analysis = analyse(run);
  const RunAdvice advice = advise(analysis, untraced);
  PagePlan plan;
  PageContext page;
  page.plan = &plan;
  page.advice = &advice;
  const FamilyResult& family = analysis.families.at(0);
  return tried ? tried_advice_view(family, page) : advice_view(family, family.variants.at(variant), page);
}

TEST(AdviceView, SaysWhatToDoAndHowThatDid) {
  const nlohmann::json view = words_of_page(advised_run(much_overhead, {fewer_and_faster}), 0, false);
  const nlohmann::json& item = view["items"].at(0)["list"].at(0);
  EXPECT_EQ(item["gain"], "up to 5.0×");
  EXPECT_EQ(item["rule"], "instructions");
  EXPECT_EQ(item["record"], "1 comparison of this run changed this limit: 1 faster");
  EXPECT_TRUE(item["change"].get<std::string>().starts_with("Tile into registers: "));
  const std::string example = item["example"];
  EXPECT_TRUE(example.starts_with("conv/")) << example;
  EXPECT_NE(example.find(" has less (warp instructions "), std::string::npos) << example;
  EXPECT_TRUE(example.ends_with("× as fast")) << example;
  EXPECT_TRUE(item["text"].get<std::string>().starts_with("warp instructions"));
}

TEST(AdviceView, EachRuleNamesTheChange) {
  for (const AdviceRule* rule : advice_rules()) {
    EXPECT_NE(change_text(*rule), rule->advice) << rule->id << " has no row in report/wording/advice.cpp";
  }
}

TEST(AdviceView, WithoutAnExampleTheLiteratureIsNamed) {
  const nlohmann::json alone = words_of_page(advised_run(much_overhead, {}), 0, false);
  const std::string literature = alone["items"].at(0)["list"].at(0)["example"];
  EXPECT_TRUE(literature.starts_with("See J. Hennessy, D. Patterson")) << literature;
  mprof::Run run = advised_run(much_overhead, {fewer_and_faster});
  run.variants.back().library = "cuDNN";
  EXPECT_TRUE(
      words_of_page(run, 0, false)["items"].at(0)["list"].at(0)["example"].get<std::string>().starts_with(
          "See "))
      << "nobody can write what a library does";
}

TEST(AdviceView, SaysWhatItSilenced) {
  const mprof::Run run = advised_run(much_overhead, {fewer_and_slower, fewer_and_slower});
  const nlohmann::json view = words_of_page(run, 0, false);
  EXPECT_TRUE(view["items"].at(0)["list"].empty());
  EXPECT_NE(view["items"].at(0)["silenced"].get<std::string>().find("instructions (2 of 2)"),
            std::string::npos);
  const nlohmann::json tried = words_of_page(run, 0, true);
  EXPECT_NE(tried["sentences"].at(0).get<std::string>().find("Silenced in this report"), std::string::npos);
  ASSERT_EQ(tried["tables"].size(), 2U);
  EXPECT_EQ(tried["tables"][0]["rows"].size(), 2U) << "both tries stay in the table";
}

TEST(AdviceView, IsNotThereForTheCpu) {
  const mprof::Run run = advised_run(much_overhead, {}, "cpu");
  EXPECT_EQ(words_of_page(run, 0, false), nlohmann::json(false));
  EXPECT_EQ(words_of_page(run, 0, true), nlohmann::json(false));
}

TEST(AdviceView, WritesABoundByItsOrder) {
  EXPECT_EQ(format::up_to(1.16), "up to 1.16×");
  EXPECT_EQ(format::up_to(1.84), "up to 1.8×");
  EXPECT_EQ(format::up_to(17.4), "up to 17×");
}

TEST(AdviceTable, IsWhatTheDocumentShows) {
  const std::filesystem::path file = std::filesystem::path(MPROF_SOURCE_DIR) / "docs/how-it-works/advice.md";
  const std::string document = read_file(file),
                    mark = "<!-- made from report/analysis/advice/op_rules.cpp -->\n";
  const std::size_t place = document.find(mark);
  ASSERT_NE(place, std::string::npos);
  const std::string expected = document.substr(0, place + mark.size()) + advice_rules_as_markdown();
  const char* update = std::getenv("MPROF_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1" && expected != document) {
    write_file(file, expected);
    std::printf("updated %s\n", file.c_str());
    return;
  }
  EXPECT_EQ(document, expected) << "approve the new table with MPROF_UPDATE_GOLDEN=1";
}

}  // namespace advised
}  // namespace
}  // namespace mprof
