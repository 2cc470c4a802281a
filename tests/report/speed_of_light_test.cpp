// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/speed_of_light.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/views/views.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"
#include "tests/report/counters.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

struct VerdictCase {
  const char* what;
  double compute;
  double memory;
  double waves;
  Bound bound;
  bool near_limit;
  bool under_one_wave;
};

// GoogleTest gives the name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const VerdictCase& c, std::ostream* stream) {
  *stream << c.what;
}

class BottleneckRules : public testing::TestWithParam<VerdictCase> {};

TEST_P(BottleneckRules, FollowTheRules) {
  const VerdictCase& p = GetParam();
  const auto verdict =
      bottleneck_of(derived_value(p.compute), derived_value(p.memory), derived_value(p.waves));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->bound, p.bound);
  EXPECT_EQ(verdict->near_limit, p.near_limit);
  EXPECT_EQ(verdict->under_one_wave, p.under_one_wave);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BottleneckRules,
    testing::Values(VerdictCase{"compute", 78, 52, 9, Bound::compute, false, false},
                    VerdictCase{"memory near its limit", 40, 92, 9, Bound::memory, true, false},
                    VerdictCase{"balanced", 74, 71, 9, Bound::balanced, false, false},
                    VerdictCase{"balanced near the limit", 82, 84, 9, Bound::balanced, true, false},
                    VerdictCase{"10 points are not balanced", 70, 80, 9, Bound::memory, false, false},
                    VerdictCase{"80 is not above 80", 80, 20, 9, Bound::compute, false, false},
                    VerdictCase{"both low, though alike", 45, 52, 9, Bound::latency, false, false},
                    VerdictCase{"both low, and apart", 5, 59.4, 9, Bound::latency, false, false},
                    VerdictCase{"printed as 60, so not under 60", 5, 59.7, 9, Bound::memory, false, false},
                    VerdictCase{"60 is not under 60", 60, 10, 9, Bound::compute, false, false},
                    VerdictCase{"under one wave", 1, 1, 0.99, Bound::latency, false, true},
                    VerdictCase{"one wave", 30, 30, 1, Bound::latency, false, false}));

TEST(Bottleneck, NeedsBothThroughputsButNoWaves) {
  EXPECT_FALSE(bottleneck_of(absent_value(said("no")), derived_value(1), derived_value(1)));
  EXPECT_FALSE(bottleneck_of(derived_value(1), absent_value(said("no")), derived_value(1)));
  EXPECT_FALSE(bottleneck_of(derived_value(1), derived_value(1), absent_value(said("no")))->under_one_wave);
}

/// A baseline with one kernel in layer 1, an heir with two of which the second takes longer.
mprof::Run counted_run() {
  mprof::Run run = samples::gpu();
  run.variants.resize(1);
  run.variants.push_back(samples::variant("conv/heir", "conv/baseline"));
  run.variants[1].device = "cuda";
  run.cases.resize(1);
  run.cases.push_back(samples::timed_case(run.variants[1], 10000, 0.001, 0.004));
  samples::add_kernel(run.cases[0], "layer1", "plain", 40, 92);
  samples::add_kernel(run.cases[1], "layer1", "unfold", 30, 20);
  samples::add_kernel(run.cases[1], "layer1", "product", 74, 71);
  samples::pass_of(run.cases[1], Pass::trace).measurements = {
      samples::of_kernel("kernel_instances", "layer1", "unfold", 1),
      samples::of_kernel("kernel_instances", "layer1", "product", 3)};
  return run;
}

TEST(SpeedOfLight, HoldsTheLongestKernelAgainstTheBaselinesLongest) {
  const mprof::Run run = counted_run();
  const RunAnalysis analysis = analyse(run);
  const SpeedOfLight& sol = analysis.families[0].speed_of_light;
  ASSERT_EQ(sol.kernels.size(), 3U);
  EXPECT_EQ(sol.problem, samples::at_batch(10000));
  const KernelResult &unfold = sol.kernels[1], &product = sol.kernels[2];
  EXPECT_FALSE(unfold.longest);
  EXPECT_FALSE(unfold.before) << "the baseline has nothing like it";
  EXPECT_TRUE(product.longest);
  EXPECT_DOUBLE_EQ(*product.share, 0.75) << "three launches of the same length";
  EXPECT_EQ(product.before->kernel, "plain");
  EXPECT_EQ(bottleneck_change(product), "memory 92\u00a0% → balanced 74\u00a0/\u00a071\u00a0%");
  EXPECT_EQ(bottleneck_change(sol.kernels[0]), "memory 92\u00a0%, near the limit");
}

TEST(SpeedOfLight, AKernelOfTheSameNameIsTheOneToBeHeldAgainst) {
  mprof::Run run = counted_run();
  samples::add_kernel(run.cases[0], "layer1", "unfold", 35, 25);
  const RunAnalysis analysis = analyse(run);
  const auto& kernels = analysis.families[0].speed_of_light.kernels;
  EXPECT_EQ(kernels[2].before->kernel, "unfold");
  EXPECT_EQ(bottleneck_change(kernels[2]), "latency 35\u00a0/\u00a025\u00a0% → 30\u00a0/\u00a020\u00a0%");
}

/// The counters of one kernel, by metric.
KernelCounters with_parts(std::initializer_list<std::pair<const char*, double>> values) {
  KernelCounters kernel;
  for (const auto& [metric, value] : values) kernel.values.emplace(metric, derived_value(value));
  return kernel;
}

/// A kernel of 2 GFLOP on tensor cores in 1 ms, of which 10 MB come from DRAM, 20 from L2 and 100 from L1.
mprof::Run tensor_run() {
  mprof::Run run = counted_run();
  std::vector<Measurement>& rows = samples::pass_of(run.cases[1], Pass::counters).measurements;
  std::erase_if(rows, [](const Measurement& row) { return row.kernel == "product"; });
  const std::vector<std::pair<std::string, double>> counts{
      {"gpu__time_duration.sum", 1e-3},
      {"dram__bytes.sum", 10e6},
      {"lts__t_bytes.sum", 20e6},
      {"lts__t_bytes.sum.peak_sustained", 5000},
      {"lts__cycles_elapsed.avg.per_second", 1e9},
      {"l1tex__t_bytes.sum", 100e6},
      {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", 1.8e9},
      {"sm__ops_path_tensor_src_fp16.sum", 0.2e9},
      {"sm__inst_executed_pipe_fma.sum", 100},
      {"sm__inst_executed_pipe_tensor.sum", 300},
      {"sm__inst_executed_pipe_lsu.sum", 600},
      {"idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed", 12}};
  for (const auto& [metric, value] : counts)
    rows.push_back(samples::of_kernel(metric, "layer1", "product", value));
  for (const char* precision : {"f", "d", "h"}) {
    for (const char* operation : {"add", "mul", "fma"})
      rows.push_back(samples::of_kernel(test::counter::executed(std::string(precision) + operation), "layer1",
                                        "product", 0));
  }
  run.ceilings = {{.id = "fp32_flop_rate", .device = "cuda", .value = 1e12},
                  {.id = "memory_bandwidth", .device = "cuda", .value = 1e12},
                  {.id = "tf32_tensor_flop_rate", .device = "cuda", .value = 8e12},
                  {.id = "fp16_tensor_flop_rate", .device = "cuda", .value = 16e12}};
  return run;
}

const KernelResult& product_of(const RunAnalysis& analysis) {
  for (const KernelResult& kernel : analysis.families[0].speed_of_light.kernels) {
    if (kernel.counters.kernel == "product") return kernel;
  }
  throw std::logic_error("there is no such kernel");
}

TEST(SpeedOfLight, TensorCoresHaveTheRoofOfTheirPrecision) {
  mprof::Run run = tensor_run();
  EXPECT_EQ(tensor_ceiling(product_of(analyse(run)).counters), "tf32_tensor_flop_rate");
  const RooflinePoint point = *product_of(analyse(run)).roofline;
  EXPECT_DOUBLE_EQ(point.rate, 2e12);
  EXPECT_DOUBLE_EQ(*point.of_roof, 2e12 / 8e12) << "200 FLOP a byte are beyond the knee";
  run.ceilings.resize(2);
  EXPECT_FALSE(product_of(analyse(run)).roofline->of_roof) << "the FP32 roof is not theirs";
}

TEST(SpeedOfLight, OpsOnTensorCoresAreHeldAgainstTheirPeak) {
  mprof::Run run = tensor_run();
  const auto throughput = [&] {
    return analyse(run).families[0].variants[1].cases[0].ops[0].compute_throughput;
  };
  const Value rate = analyse(run).families[0].variants[1].cases[0].ops[0].flop_rate;
  ASSERT_TRUE(rate) << say(rate.absent);
  EXPECT_DOUBLE_EQ(throughput()->median, 100 * rate->median / 8e12);
  run.ceilings.resize(2);
  EXPECT_EQ(throughput().absent, Why(Because::tensor_peak_not_measured));
}

TEST(SpeedOfLight, CachesHaveIntensitiesAndRoofsOfTheirOwn) {
  const RunAnalysis analysis = analyse(tensor_run());
  const RooflinePoint& point = *product_of(analysis).roofline;
  EXPECT_DOUBLE_EQ(point.intensity, 200);
  EXPECT_DOUBLE_EQ(point.l2->intensity, 100);
  EXPECT_DOUBLE_EQ(*point.l2->of_peak, 20e6 / 1e-3 / 5e12);
  EXPECT_DOUBLE_EQ(point.l1->intensity, 20);
  EXPECT_FALSE(point.l1->of_peak) << "its peak was not read";
  EXPECT_DOUBLE_EQ(*analysis.families[0].speed_of_light.l2_bandwidth, 5e12);
  EXPECT_FALSE(analysis.families[0].speed_of_light.l1_bandwidth);
}

TEST(SpeedOfLight, InstructionsAreByPipe) {
  const RunAnalysis analysis = analyse(tensor_run());
  const KernelResult& product = product_of(analysis);
  double all = 0;
  std::map<std::string, double> mix;
  for (const PipeShare& share : product.mix) {
    all += share.instructions;
    mix[share.pipe] = share.instructions;
  }
  EXPECT_EQ(mix, (std::map<std::string, double>{{"FMA", 100}, {"LSU", 600}, {"tensor", 300}}));
  EXPECT_DOUBLE_EQ(all, 1000);
  ASSERT_EQ(product.pipes.size(), 1U);
  EXPECT_EQ(product.pipes[0].name, "constant port");
  EXPECT_TRUE(analysis.families[0].speed_of_light.kernels[0].mix.empty()) << "nobody counted";
}

TEST(SpeedOfLight, NamesThePartThatIsBusyWhereItWasCounted) {
  const char *sm = "sm__throughput.avg.pct_of_peak_sustained_elapsed",
             *memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
             *l1 = "l1tex__throughput.avg.pct_of_peak_sustained_active",
             *l2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed",
             *dram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
             *pipes = "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed";
  const auto text = [](const KernelCounters& kernel) { return bound_text(*bottleneck_of(kernel)); };
  EXPECT_EQ(text(with_parts({{sm, 84}, {memory, 98}, {l1, 98.2}, {l2, 11}, {dram, 6}})),
            "L1/TEX 98\u00a0%, DRAM 6\u00a0%");
  const char *constants = "idc__request_cycles_active.avg.pct_of_peak_sustained_elapsed",
             *lsu = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";
  EXPECT_EQ(text(with_parts({{sm, 79}, {memory, 5}, {pipes, 79}, {constants, 78}, {lsu, 3}})),
            "constant port 79\u00a0%")
      << "the port is one of what the pipes of memory instructions stand for";
  EXPECT_EQ(text(with_parts({{sm, 79}, {memory, 5}, {pipes, 79}, {constants, 20}, {lsu, 3}})),
            "memory-instruction pipes 79\u00a0%");

  EXPECT_EQ(text(with_parts({{sm, 20}, {memory, 77}, {l1, 19}, {l2, 85}, {dram, 77}})),
            "DRAM 77\u00a0%, L2 85\u00a0%")
      << "a part that the memory throughput leaves out is busier";
  EXPECT_EQ(text(with_parts({{sm, 20}, {memory, 98}, {dram, 6}})), "memory pipeline 98\u00a0%, DRAM 6\u00a0%")
      << "L1 and L2 were not counted";
  EXPECT_EQ(text(with_parts({{sm, 20}, {memory, 98}})), "memory 98\u00a0%");
  // 8 blocks a multiprocessor, 10 waves on 132 of them; 18 % of the slots.
  EXPECT_EQ(text(with_parts({{sm, 79},
                             {memory, 5},
                             {pipes, 78.9},
                             {"smsp__inst_executed.sum", 0.18 * 4 * 132 * 1e6},
                             {"gpc__cycles_elapsed.max", 1e6},
                             {"launch__grid_size", 132.0 * 8 * 10},
                             {"launch__waves_per_multiprocessor", 10},
                             {"launch__occupancy_limit_registers", 8},
                             {"launch__occupancy_limit_shared_mem", 16},
                             {"launch__occupancy_limit_warps", 9},
                             {"launch__occupancy_limit_blocks", 32}})),
            "memory-instruction pipes 79\u00a0%, issue slots 18\u00a0%");
}

TEST(SpeedOfLight, SaysWhatLimitsOccupancyAndWhyWarpsWait) {
  const mprof::Run run = counted_run();
  const RunAnalysis analysis = analyse(run);
  const KernelResult& kernel = analysis.families[0].speed_of_light.kernels[0];
  EXPECT_EQ(kernel.limited_by, (std::vector<std::string>{"registers", "warps"}));
  ASSERT_EQ(kernel.stalls.size(), 2U) << "to be selected is no stall";
  EXPECT_EQ(kernel.stalls[0].key, "long_scoreboard");
  EXPECT_EQ(kernel.stalls[0].reason, "long scoreboard");
  EXPECT_DOUBLE_EQ(kernel.stalls[1].cycles, 0.5);
}

TEST(SpeedOfLight, CountsHalfPrecisionOnlyWhereItIsTheWork) {
  mprof::Run run = counted_run();
  const double single = 3e6 + 2 * 6e9;
  const auto point_of = [](const RunAnalysis& analysis) {
    return *analysis.families[0].speed_of_light.kernels[0].roofline;
  };
  const RunAnalysis moves_constants = analyse(run);
  EXPECT_DOUBLE_EQ(point_of(moves_constants).flops, single);
  EXPECT_DOUBLE_EQ(point_of(moves_constants).intensity, single / 1e9);
  EXPECT_DOUBLE_EQ(*point_of(moves_constants).of_roof, single / 1e-3 / (single / 1e9 * 4.2e12))
      << "left of the knee the memory is the roof";
  auto& list = samples::pass_of(run.cases[0], Pass::counters).measurements;
  for (Measurement& m : list) {
    if (m.metric.text().find("_hfma_") != std::string::npos) m.samples = {9e9};
  }
  const RunAnalysis computes = analyse(run);
  EXPECT_DOUBLE_EQ(point_of(computes).flops, single + 2 * 9e9);
  run.cases[0].ops[0].flops = 1e12;
  const RunAnalysis moves_more = analyse(run);
  EXPECT_DOUBLE_EQ(point_of(moves_more).flops, single) << "too few to be a good part of the op";
  run.cases[0].ops[0].flops = 1e10;
  list.push_back(samples::of_kernel("sm__ops_path_tensor_src_fp16.sum", "layer1", "plain", 1e9));
  const RunAnalysis tensor = analyse(run);
  EXPECT_TRUE(point_of(tensor).tensor_cores);
  EXPECT_FALSE(point_of(tensor).of_roof) << "the FP32 roof is not theirs";
}

TEST(SpeedOfLight, SaysWhyNothingWasCounted) {
  const mprof::Run cpu = samples::healthy();
  EXPECT_EQ(analyse(cpu).families[0].speed_of_light.absent, Why(Because::no_gpu_variant));
  mprof::Run forbidden = samples::gpu();
  for (Case& c : forbidden.cases) {
    samples::pass_of(c, Pass::counters).status = Status::skipped;
    samples::pass_of(c, Pass::counters).reason = "ERR_NVGPUCTRPERM";
  }
  const RunAnalysis analysis = analyse(forbidden);
  EXPECT_NE(say(analysis.families[0].speed_of_light.absent).find("ERR_NVGPUCTRPERM"), std::string::npos);
  const nlohmann::json view = milestone_page(analysis, {}).view["families"][0]["speed_of_light"];
  EXPECT_EQ(view["parts"].size(), 1U) << "what is modelled is left";
  EXPECT_TRUE(view["parts"][0]["modelled"].get<bool>());
  forbidden.plan.passes = {Pass::timing};
  EXPECT_EQ(analyse(forbidden).families[0].speed_of_light.absent, Why(Because::counters_not_planned));
}

TEST(SpeedOfLight, TakesTheBatchAtWhichMostWereCountedAndNamesTheOthers) {
  mprof::Run run = counted_run();
  run.cases.push_back(samples::timed_case(run.variants[0], 20000, 0.002, 0.008));
  samples::add_kernel(run.cases[2], "layer1", "plain", 50, 50);
  EXPECT_EQ(analyse(run).families[0].speed_of_light.problem, samples::at_batch(10000))
      << "two variants there, one at 20000";
  samples::pass_of(run.cases[1], Pass::counters).measurements.clear();
  samples::pass_of(run.cases[1], Pass::counters).status = Status::pending;
  const RunAnalysis analysis = analyse(run);
  const SpeedOfLight& sol = analysis.families[0].speed_of_light;
  EXPECT_EQ(sol.problem, samples::at_batch(20000));
  ASSERT_EQ(sol.uncounted.size(), 1U);
  EXPECT_EQ(sol.uncounted[0].variant->info.id, "conv/heir");
}

}  // namespace
}  // namespace mprof
