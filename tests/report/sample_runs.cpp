// SPDX-License-Identifier: MIT
#include "tests/report/sample_runs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "model/trace/writer.hpp"
#include "tests/support/sample_trace.hpp"

namespace mprof::samples {
namespace {

constexpr double layer1_flops = 2.51e6;  // of one image
constexpr double layer2_flops = 7.25e6;
constexpr double layer1_bytes = 1.32e5;
constexpr double layer2_bytes = 1.00e5;
constexpr double peak_flops = 1.1e11;
constexpr double peak_bandwidth = 1.8e10;
const std::string no_counters = "the kernel forbids hardware counters here (perf_event_paranoid is 3)";

std::vector<OpInfo> ops_at(std::uint64_t batch) {
  const auto images = static_cast<double>(batch);
  return {{"layer1", "layer 1: 7x7, 1 -> 4 maps", layer1_flops * images, layer1_bytes * images},
          {"layer2", "layer 2: 7x7, 4 -> 16 maps", layer2_flops * images, layer2_bytes * images}};
}

Verification verified(const std::string& op, std::uint64_t batch) {
  Verification check;
  check.op = op;
  check.passed = true;
  check.relative_l2 = op == "layer1" ? 8.4e-8 : 2.1e-7;
  check.max_error = op == "layer1" ? 3.6e-7 : 1.9e-6;
  check.tolerance = 1e-5;
  check.elements = batch * (op == "layer1" ? 25600U : 18496U);
  return check;
}

void add_op_measurements(PassResult& pass, const OpInfo& op, double time) {
  const double flop_rate = op.flops / time, byte_rate = op.bytes / time;
  auto& list = pass.measurements;
  list.push_back(measured("op_time", op.name, around(time)));
  list.push_back(measured("group_time", op.name, around(time * 1.02)));
  list.push_back(measured("first_op_time", op.name, {time * 1.6}));
  list.push_back(measured("flop_rate", op.name, {flop_rate}, Source::modelled));
  list.push_back(measured("byte_rate", op.name, {byte_rate}, Source::modelled));
  list.push_back(measured("compute_throughput", op.name, {100 * flop_rate / peak_flops}, Source::modelled));
  list.push_back(
      measured("memory_throughput", op.name, {100 * byte_rate / peak_bandwidth}, Source::modelled));
}

double accuracy_at(std::uint64_t batch) {
  const auto images = static_cast<double>(batch);
  return std::round(0.9127 * images) / images;
}

void add_case_measurements(PassResult& pass, std::uint64_t batch, double total) {
  const auto images = static_cast<double>(batch);
  auto& list = pass.measurements;
  list.push_back(measured("total_time", "", around(total, 0.006)));
  list.push_back(measured("accuracy", "", {accuracy_at(batch)}));
  list.push_back(measured("user_time", "", around(total * 1.7)));
  list.push_back(measured("system_time", "", around(total * 0.0501)));
  list.push_back(measured("minor_page_faults", "", {std::round(images * 3.2)}));
  list.push_back(measured("major_page_faults", "", {0}));
  list.push_back(measured("peak_memory", "", {9.0e7 + images * 2.6e5}));
}

PassResult counters_absent(const std::vector<OpInfo>& ops) {
  PassResult pass;
  pass.pass = Pass::counters;
  pass.status = Status::skipped;
  pass.reason = no_counters;
  for (const OpInfo& op : ops) {
    for (const char* metric : {"cycles", "instructions", "cache_misses"}) {
      pass.measurements.push_back(absent(metric, op.name, no_counters));
    }
  }
  return pass;
}

std::vector<VariantInfo> cpu_variants() {
  VariantInfo naive = variant("conv/cpu_naive");
  naive.title = "Naive loops on one core";
  naive.idea = "The definition, loop by loop: what every other variant has to beat.";
  VariantInfo threads = variant("conv/cpu_threads", "conv/cpu_naive");
  threads.title = "Naive loops over all cores";
  threads.idea = "Images are independent, so each core takes its share of the batch.";
  threads.expectations = {
      {"op_time", "layer1", Direction::decreases, 1.5, "two cores share the images"},
      {"op_time", "layer2", Direction::decreases, 1.5, "two cores share the images"},
      {"accuracy", "", Direction::unchanged, std::nullopt, "the order of summation stays"},
      {"cycles", "", Direction::unchanged, std::nullopt, "the work stays the same"}};
  VariantInfo gemm = variant("conv/cpu_im2col_gemm", "conv/cpu_threads");
  gemm.title = "im2col and a matrix product (OpenBLAS)";
  gemm.idea = "Unfold the input so that the convolution becomes one matrix product, and let OpenBLAS do it.";
  gemm.expectations = {
      {"op_time", "layer2", Direction::decreases, 2.0, "OpenBLAS keeps its operands in registers"},
      {"op_time", "layer1", Direction::decreases, 4.0, "the same, with fewer maps to reuse"},
      {"peak_memory", "", Direction::unchanged, std::nullopt, "the unfolded input is cut in sections"}};
  gemm.references = {"https://www.openblas.net/",
                     "K. Chellapilla et al., High performance convolutional neural networks "
                     "for document processing, 2006"};
  VariantInfo onednn = variant("conv/cpu_onednn", "conv/cpu_threads");
  onednn.title = "oneDNN, the rival";
  onednn.idea = "What the vendor's library reaches on this machine.";
  onednn.references = {"https://github.com/oneapi-src/oneDNN"};
  return {naive, threads, gemm, onednn};
}

void finish_plan(Run& run, const std::vector<std::uint64_t>& batches) {
  for (const VariantInfo& info : run.variants) run.plan.variants.push_back(info.id);
  FamilyInfo family = conv_family();
  for (const std::uint64_t batch : batches) {
    run.plan.problems["conv"].push_back(at_batch(batch));
    family.problems.push_back({at_batch(batch), ops_at(batch)});
  }
  run.families.push_back(std::move(family));
}

/// Seconds for one image, layer 1 and layer 2, by variant.
struct Speed {
  double layer1;
  double layer2;
};
constexpr Speed cpu_speeds[] = {{1.31e-3, 4.02e-3}, {6.7e-4, 2.05e-3}, {2.1e-4, 3.3e-4}, {6.2e-5, 1.1e-4}};

}  // namespace

Problem at_batch(std::uint64_t batch) {
  return {{{"batch", batch}}};
}

std::uint64_t batch_of(const Case& c) {
  return value_on(c.key.problem, "batch").value();
}

FamilyInfo conv_family() {
  FamilyInfo family;
  family.id = "conv";
  family.title = "Convolution layers of a LeNet for Fashion-MNIST";
  family.axes = {{"batch", "batches", "Batch Size", "images of one inference", 1, 1, 10000}};
  family.nouns = {"image",  "images",  "inference",  "layer",
                  "layers", "Op Time", "Layer Time", "Total Execution Time"};
  family.qualities = {{"accuracy", "Accuracy", "Share of images whose class the network names right.",
                       Unit::ratio, Better::higher, 0.002},
                      {"prediction_agreement", "Prediction agreement",
                       "Share of images of which the network says what it says with the reference's outputs.",
                       Unit::ratio, Better::higher, 0.002}};
  return family;
}

FamilyInfo map_family() {
  FamilyInfo family;
  family.id = "elementwise";
  family.title = "A map over a square matrix";
  family.axes = {{"size", "sizes", "Size", "rows and columns of the matrix", 8192, 1, 0},
                 {"iterations", "iterations", "Iterations", "how often the map is applied", 5, 1, 0}};
  family.nouns.whole = "map";
  family.nouns.op_time_title = "Op Time";
  family.nouns.total_time_title = "Total Time";
  return family;
}

std::vector<double> around(double middle, double spread, std::size_t count) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    // A walk through the spread that visits both halves in turn, as a real series does.
    const double place =
        count == 1 ? 0.5 : static_cast<double>((i * 8) % count) / static_cast<double>(count - 1);
    samples.push_back(middle * (1 + spread * (2 * place - 1)));
  }
  return samples;
}

/// A time of at least six samples becomes one of three rounds, as derive() leaves it: processes differ by a
/// quarter of what the samples span.
void put_in_rounds(Measurement& m) {
  const bool is_time = m.metric.text().ends_with("op_time") || m.metric == "group_time" ||
                       m.metric == "total_time" || m.metric == "user_time" || m.metric == "system_time";
  m.rounds.clear();
  m.derived.own().between = {};
  if (!is_time || m.samples.empty()) return;
  m.derived.own().clock = ClockSource::host;
  constexpr std::size_t rounds = 3;
  if (m.samples.size() < 2 * rounds) return;
  const auto share = static_cast<std::uint32_t>(m.samples.size() / rounds);
  m.rounds = {share, share, static_cast<std::uint32_t>(m.samples.size()) - 2 * share};
  const auto [low, high] = std::ranges::minmax(m.samples);
  const double deviation = std::log(high / low) / 4;
  m.derived.own().between = {deviation * deviation, 20};
}

Measurement measured(const std::string& metric, const std::string& op, std::vector<double> samples,
                     Source source) {
  Measurement m;
  m.metric = metric;
  m.op = op;
  m.source = source;
  m.samples = std::move(samples);
  put_in_rounds(m);
  return m;
}

Measurement absent(const std::string& metric, const std::string& op, std::string reason) {
  Measurement m;
  m.metric = metric;
  m.op = op;
  m.absent = std::move(reason);
  return m;
}

Measurement of_kernel(const std::string& metric, const std::string& op, const std::string& kernel,
                      double value) {
  Measurement m = measured(metric, op, {value});
  m.kernel = kernel;
  return m;
}

void add_kernel(Case& c, const std::string& op, const std::string& kernel, double compute, double memory) {
  PassResult& pass = pass_of(c, Pass::counters);
  pass.status = Status::ok;
  const std::pair<const char*, double> values[] = {
      {"sm__throughput.avg.pct_of_peak_sustained_elapsed", compute},
      {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", memory},
      {"gpu__time_duration.sum", 1e-3},
      {"launch__waves_per_multiprocessor", 12.5},
      {"launch__occupancy_limit_registers", 4},
      {"launch__occupancy_limit_shared_mem", 16},
      {"launch__occupancy_limit_warps", 4},
      {"launch__occupancy_limit_blocks", 32},
      {"smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", 0.5},
      {"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", 5.25},
      {"smsp__average_warps_issue_stalled_selected_per_issue_active.ratio", 1},
      {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 1e6},
      {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 2e6},
      {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 6e9},
      {"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", 0},
      {"smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", 0},
      {"smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", 0},
      {"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", 0},
      {"smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", 0},
      {"smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", 3e9},
      {"dram__bytes.sum", 1e9}};
  for (const auto& [metric, value] : values)
    pass.measurements.push_back(of_kernel(metric, op, kernel, value));
}

PassResult& pass_of(Case& c, Pass pass) {
  for (PassResult& found : c.passes) {
    if (found.pass == pass) return found;
  }
  PassResult& added = c.passes.emplace_back();
  added.pass = pass;
  added.status = Status::ok;
  return added;
}

VariantInfo variant(std::string id, std::string baseline) {
  VariantInfo info;
  info.family = id.substr(0, id.find('/'));
  info.title = id;
  info.idea = "An idea.";
  info.device = "cpu";
  info.baseline = std::move(baseline);
  info.source_file = id + ".cpp";
  info.id = std::move(id);
  return info;
}

Case timed_case(const VariantInfo& info, std::uint64_t batch, double layer1, double layer2,
                Parameters parameters) {
  Case c;
  c.key = {info.id, std::move(parameters), at_batch(batch)};
  c.id = case_id(c.key, info);
  c.ops = ops_at(batch);
  PassResult pass;
  pass.status = Status::ok;
  pass.seconds = 3.5;
  pass.sampling = Sampling{6, 21, Ending::confidence, 0.006};
  pass.rounds = std::vector<Sampling>(3, Sampling{2, 7, Ending::confidence, 0.006});
  pass.verification = {verified("layer1", batch), verified("layer2", batch)};
  add_op_measurements(pass, c.ops[0], layer1);
  add_op_measurements(pass, c.ops[1], layer2);
  add_case_measurements(pass, batch, (layer1 + layer2) * 1.15 + static_cast<double>(batch) * 2e-5);
  c.passes = {pass, counters_absent(c.ops)};
  return c;
}

Case failed_case(const VariantInfo& info, std::uint64_t batch, Status status, std::string reason) {
  Case c;
  c.key = {info.id, {}, at_batch(batch)};
  c.id = case_id(c.key, info);
  c.ops = ops_at(batch);
  PassResult pass;
  pass.status = status;
  pass.reason = std::move(reason);
  c.passes = {pass};
  return c;
}

PassResult& timing(Case& c) {
  return c.passes.at(0);
}

void set_samples(Case& c, std::string_view metric, std::string_view op, std::vector<double> samples) {
  for (Measurement& m : timing(c).measurements) {
    if (m.metric != metric || m.op != op) continue;
    m.samples = std::move(samples);
    put_in_rounds(m);
    return;
  }
  throw std::logic_error("the case has no such measurement");
}

Run empty_run() {
  Run run;
  run.tool = {"0.1.0", "0123456789ab"};
  run.command_line = {"mprof", "run", "--all", "--batch", "100,1000,10000"};
  run.state = RunState::complete;
  run.started = "2025-01-15T10:20:30Z";
  run.finished = "2025-01-15T10:26:41Z";
  run.plan.passes = {Pass::timing, Pass::counters};
  run.plan.rounds = 3;
  run.plan.seed = 20250115;
  run.plan.timeout = 300;
  run.plan.inputs = {{"images", "/usr/share/datasets/fashion-mnist"}, {"weights", "data/lenet.safetensors"}};
  run.environment = {
      {"cpu",
       {{"model", "Example EPYC 2000"},
        {"cores", 2.0},
        {"logical_cpus", 2.0},
        {"l2_cache", 1048576.0},
        {"max_frequency", 3.1e9},
        {"governor", Absent{"the kernel shows no cpufreq of CPU 0"}}}},
      {"memory", {{"total", 8.0 * (1ULL << 30)}, {"limit", Absent{"the control group sets none"}}}},
      {"os", {{"distribution", "Debian GNU/Linux 12 (bookworm)"}, {"kernel", "Linux 6.1.0"}}},
      {"build", {{"compiler", "GNU 12.2.0"}, {"type", "Release"}, {"flags", "-O3 -march=x86-64-v3"}}},
      {"libraries", {{"openblas", "0.3.21"}, {"onednn", "2.6.0"}}},
  };
  run.ceilings = {
      {"fp32_flop_rate", "cpu", peak_flops, "",
       "independent FMA chains in registers on all cores, best of 5"},
      {"memory_bandwidth", "cpu", peak_bandwidth, "", "triad over 768 MiB on all cores, best of 5"}};
  return run;
}

Run healthy() {
  Run run = empty_run();
  run.variants = cpu_variants();
  const std::vector<std::uint64_t> batches{100, 1000, 10000};
  finish_plan(run, batches);
  for (std::size_t v = 0; v < run.variants.size(); ++v) {
    for (const std::uint64_t batch : batches) {
      const auto images = static_cast<double>(batch);
      run.cases.push_back(
          timed_case(run.variants[v], batch, cpu_speeds[v].layer1 * images, cpu_speeds[v].layer2 * images));
    }
  }
  return run;
}

Run later() {
  Run run = healthy();
  run.tool.revision = "fedcba987654";
  run.started = "2025-01-22T09:00:00Z";
  run.finished = "2025-01-22T09:05:12Z";
  run.environment["libraries"]["onednn"] = "3.0.0";
  for (Case& c : run.cases) {
    const auto images = static_cast<double>(batch_of(c));
    if (c.id == "conv/cpu_threads@1000") set_samples(c, "op_time", "layer2", around(2.05e-3 * images * 1.12));
    if (c.id == "conv/cpu_onednn@1000") set_samples(c, "op_time", "layer1", around(6.2e-5 * images * 0.8));
    if (c.id == "conv/cpu_onednn@10000") set_samples(c, "accuracy", "", {0.9071});
    if (c.id == "conv/cpu_naive@100") set_samples(c, "op_time", "layer1", around(0.131, 0.2));
    if (c.id != "conv/cpu_im2col_gemm@1000") continue;
    timing(c).status = Status::wrong;
    timing(c).reason = "layer2: relative L2 error 0.31";
    timing(c).verification[1].passed = false;
    timing(c).verification[1].relative_l2 = 0.31;
    timing(c).verification[1].finding = "The relative L2 error 0.31 exceeds 1e-05.";
  }
  std::erase_if(run.cases, [](const Case& c) { return c.id == "conv/cpu_naive@10000"; });
  return run;
}

Run troubled() {
  Run run = empty_run();
  run.tool.revision += "-dirty";
  run.state = RunState::interrupted;
  run.finished.clear();
  run.ceilings[0].value.reset();
  run.ceilings[0].absent = "the measurement took too long";
  VariantInfo base = variant("conv/base"), wrong = variant("conv/wrong", "conv/base"),
              slow = variant("conv/slow", "conv/base"), tiled = variant("conv/tiled", "conv/base"),
              orphan = variant("conv/orphan", "conv/never_run"), gone = variant("conv/gone", "conv/base"),
              heir = variant("conv/heir", "conv/wrong");
  tiled.parameters = {{"tile_width", "elements a side", "8", {"8", "16", "32"}}};
  tiled.expectations = {{"op_time", "", Direction::decreases, 2.0, "fewer loads"},
                        {"cache_misses", "layer1", Direction::decreases, std::nullopt, "the tile is reused"}};
  slow.expectations = {{"op_time", "layer1", Direction::decreases, std::nullopt, "hope"}};
  run.variants = {base, wrong, slow, tiled, orphan, gone, heir};
  finish_plan(run, {100, 1000});
  auto& cases = run.cases;
  cases = {timed_case(base, 100, 0.010, 0.030), timed_case(base, 1000, 0.100, 0.300)};
  for (const std::uint64_t batch : {std::uint64_t{100}, std::uint64_t{1000}}) {
    Case bad = timed_case(wrong, batch, 1e-5 * static_cast<double>(batch), 3e-5 * static_cast<double>(batch));
    timing(bad).status = Status::wrong;
    timing(bad).reason = "layer1 is wrong";
    timing(bad).verification[0].passed = false;
    timing(bad).verification[0].relative_l2 = 1;
    timing(bad).verification[0].non_finite = 12;
    timing(bad).verification[0].never_written = 640;
    timing(bad).verification[0].finding = "640 elements were never written, 12 are not finite";
    set_samples(bad, "accuracy", "", {0.1});
    cases.push_back(bad);
  }
  Case noisy = timed_case(slow, 100, 0.013, 0.030);
  timing(noisy).sampling = Sampling{2, 100, Ending::samples, 0.042};
  set_samples(noisy, "total_time", "", around(0.05, 0.05));
  Case few = timed_case(slow, 1000, 0.13, 0.30);
  set_samples(few, "op_time", "layer1", {0.13, 0.131, 0.129});
  timing(few).sampling = Sampling{1, 3, Ending::seconds, std::nullopt};
  cases.push_back(noisy);
  cases.push_back(few);
  for (const char* width : {"8", "16", "32"}) {
    const double factor = 8 / std::stod(width);
    cases.push_back(
        timed_case(tiled, 100, 0.004 * (1 + factor), 0.009 * (1 + factor), {{"tile_width", width}}));
  }
  cases.push_back(timed_case(orphan, 100, 0.007, 0.020));
  cases.push_back(timed_case(heir, 100, 0.0045, 0.012));
  cases.push_back(failed_case(gone, 100, Status::crashed, "the worker ended by signal 11 (SIGSEGV)"));
  cases.push_back(failed_case(gone, 1000, Status::pending, "not run yet"));
  cases.push_back(failed_case(tiled, 1000, Status::timeout, "took longer than 300 s (--timeout)"));
  cases.back().key.parameters = {{"tile_width", "8"}};
  return run;
}

Run gpu() {
  Run run = empty_run();
  run.environment["gpu"] = {
      {"name", "Example H9000"}, {"memory", 1.4e11}, {"driver", "580.1"}, {"sm_clock", 1.98e9}};
  run.ceilings = {{"fp32_flop_rate", "cuda", 6.1e13, "", "FMA chains"},
                  {"memory_bandwidth", "cuda", 4.2e12, "", "triad"}};
  VariantInfo base = variant("conv/baseline"), streams = variant("conv/streams", "conv/baseline"),
              map = variant("elementwise/baseline");
  for (VariantInfo* info : {&base, &streams, &map}) info->device = "cuda";
  streams.parameters = {{"streams", "how many", "4", {"1", "2", "4", "8"}}};
  run.variants = {base, streams, map};
  finish_plan(run, {10000});
  Case plain = timed_case(base, 10000, 0.0021, 0.0074);
  Case hidden = timed_case(streams, 10000, 2e-6, 2e-6, {{"streams", "4"}});
  set_samples(plain, "group_time", "layer1", around(0.176));
  set_samples(plain, "group_time", "layer2", around(0.148));
  set_samples(hidden, "group_time", "layer1", around(0.101));
  set_samples(hidden, "group_time", "layer2", around(0.093));
  for (Case* c : {&plain, &hidden}) {
    timing(*c).measurements.push_back(measured("gpu_time", "layer1", around(0.0021)));
    timing(*c).measurements.push_back(measured("gpu_time", "layer2", around(0.0074)));
  }
  Case single = timed_case(map, 1, 0.0018, 0.1);
  single.key.problem = {{{"size", 8192}, {"iterations", 5}}};
  single.id = case_id(single.key, map);
  single.ops.resize(1);
  single.ops[0] = {"map", "v += sqrtf(f(v) + 1)", 3.3e8, 5.4e8};
  run.families.push_back(map_family());
  run.families.back().problems = {{single.key.problem, single.ops}};
  run.plan.problems["elementwise"] = {single.key.problem};
  for (Measurement& m : timing(single).measurements) {
    if (m.op == "layer1") m.op = "map";
  }
  std::erase_if(timing(single).measurements,
                [](const Measurement& m) { return m.metric == "accuracy" || m.op == "layer2"; });
  timing(single).verification.resize(1);
  timing(single).verification[0].op = "map";
  run.cases = {plain, hidden, single};
  return run;
}

Run hostile() {
  const std::string attack =
      "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> </script> "
      "`code` ``` | cell "
      "|\n# heading\n- item {{title}} {{{title}}} [link](javascript:owned) &amp; *bold* _em_ ]]> --> "
      "\x1b[31m \u202e "
      "\U0001F600 'single' \"double\" $x$ ~~gone~~";
  const std::string endless(2000, 'x');
  Run run = healthy();
  run.command_line = {"mprof", "run", attack, "```\n\n# heading"};
  run.environment["cpu"]["model"] = attack;
  run.environment[attack][attack] = attack;
  run.environment["os"]["kernel"] = Absent{attack};
  run.ceilings[0].method = attack;
  run.plan.inputs["images"] = endless;
  for (VariantInfo& info : run.variants) {
    const std::string id = info.id;
    const bool long_one = id == "conv/cpu_onednn";
    const auto renamed = [&](const std::string& name) {
      return name.empty() ? name : name + (name == "conv/cpu_onednn" ? endless : attack);
    };
    for (Case& c : run.cases) {
      if (c.key.variant != id) continue;
      c.key.variant = renamed(id);
      c.id = c.key.variant + "@" + std::to_string(batch_of(c));
      c.ops[0].title = attack;
    }
    info.id = renamed(id);
    info.baseline = renamed(info.baseline);
    info.title = long_one ? endless : attack;
    info.idea = attack + "\n\n" + endless;
    info.references = {attack, "javascript:owned", "https://example.org/\"><script>owned</script>"};
    for (Expectation& expectation : info.expectations) expectation.because = attack;
  }
  for (Case& c : run.cases) {
    if (batch_of(c) != 10000) continue;
    add_kernel(c, "layer1", attack, 92, 40);
    add_kernel(c, "layer1", endless, 20, 30);
    add_kernel(c, "layer2", attack + endless, 70, 65);
  }
  timing(run.cases[0]).status = Status::wrong;
  timing(run.cases[0]).reason = attack;
  timing(run.cases[0]).verification[0].passed = false;
  timing(run.cases[0]).verification[0].finding = attack;
  timing(run.cases[4]).status = Status::failed;
  timing(run.cases[4]).reason = attack + endless;
  timing(run.cases[4]).measurements.clear();
  return run;
}

namespace {

/// A case whose times are those of one image, in units of 0.1 ms, times the batch.
Case point_of(const VariantInfo& info, std::uint64_t batch, double layer1, double layer2,
              Parameters parameters) {
  const double images = 1e-4 * static_cast<double>(batch);
  return timed_case(info, batch, layer1 * images, layer2 * images, std::move(parameters));
}

void make_wrong(Case& c) {
  timing(c).status = Status::wrong;
  timing(c).reason = "layer1 is wrong";
  timing(c).verification[0].passed = false;
  timing(c).verification[0].finding = "The relative L2 error 0.4 exceeds 1e-05.";
}

Case crashed_point(const VariantInfo& info, std::uint64_t batch, Parameters parameters) {
  Case c = failed_case(info, batch, Status::crashed, "the worker ended by signal 11 (SIGSEGV)");
  c.key.parameters = std::move(parameters);
  c.id = case_id(c.key, info);
  return c;
}

/// One parameter, powers of two: which is best depends on batch and op, and the widest tile is wrong or
/// crashes.
void add_tiled(Run& run, VariantInfo info) {
  info.parameters = {{"tile_width", "elements a side of a tile", "8", {"4", "8", "16", "32", "64"}}};
  constexpr double layer1[] = {2.3, 1.4, 1.0, 1.2}, small_layer1[] = {1.8, 1.0, 1.3, 1.9},
                   layer2[] = {4.0, 2.5, 2.001, 2.0};
  for (std::size_t i = 0; i < 4; ++i) {
    const Parameters width{{"tile_width", info.parameters[0].values[i]}};
    run.cases.push_back(point_of(info, 1000, small_layer1[i], layer2[i], width));
    run.cases.push_back(point_of(info, 10000, layer1[i], layer2[i], width));
  }
  Case wrong = point_of(info, 1000, 0.2, 0.4, {{"tile_width", "64"}});
  make_wrong(wrong);
  run.cases.push_back(wrong);
  run.cases.push_back(crashed_point(info, 10000, {{"tile_width", "64"}}));
  run.variants.push_back(info);
}

/// Two parameters, one crash and one combination that the run does not have.
void add_matrix(Run& run, VariantInfo info) {
  info.parameters = {{"tile_width", "elements a side of a tile", "16", {"8", "16", "24", "32"}},
                     {"block", "threads of a block", "8x8", {"8x4", "8x8", "16x16"}}};
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t b = 0; b < 3; ++b) {
      const Parameters at{{"tile_width", info.parameters[0].values[t]},
                          {"block", info.parameters[1].values[b]}};
      const double far = std::abs(static_cast<double>(t) - 2) + 0.7 * std::abs(static_cast<double>(b) - 1);
      if (t == 3 && b == 2) continue;
      run.cases.push_back(t == 0 && b == 2
                              ? crashed_point(info, 10000, at)
                              : point_of(info, 10000, 0.9 * std::exp2(far), 1.7 + 0.3 * far, at));
    }
  }
  run.variants.push_back(info);
}

/// Words for values, between which this run cannot tell.
void add_precision(Run& run, VariantInfo info) {
  info.parameters = {{"math", "how the products are computed", "fp32", {"fp32", "tf32", "fp16"}}};
  for (const char* math : {"fp32", "tf32", "fp16"})
    run.cases.push_back(point_of(info, 10000, 0.8, math[2] == '3' ? 1.6 : 1.601, {{"math", math}}));
  run.variants.push_back(info);
}

/// Works outside forward(): its op times say nothing, its layer times fall with each stream.
void add_streams(Run& run, VariantInfo info) {
  info.parameters = {{"streams", "streams at once", "4", {"1", "2", "3", "4", "5", "6"}}};
  for (const std::string& streams : info.parameters[0].values) {
    Case c = point_of(info, 10000, 1e-5, 1e-5, {{"streams", streams}});
    for (const char* op : {"layer1", "layer2"}) {
      set_samples(c, "group_time", op, around(0.09 + 0.08 / std::stod(streams)));
      timing(c).measurements.push_back(measured("gpu_time", op, {0.01}));
    }
    run.cases.push_back(c);
  }
  run.variants.push_back(info);
}

/// More parameters than a chart shows.
void add_blocked(Run& run, VariantInfo info) {
  info.parameters = {{"rows", "rows of a block", "2", {"1", "2"}},
                     {"columns", "columns of a block", "2", {"1", "2"}},
                     {"depth", "maps of a block", "4", {"4", "8"}}};
  for (const char* rows : {"1", "2"}) {
    for (const char* columns : {"1", "2"}) {
      for (const char* depth : {"4", "8"}) {
        const double work = 4 / (std::stod(rows) * std::stod(columns)) + std::stod(depth) / 8;
        run.cases.push_back(
            point_of(info, 10000, work, 2 * work, {{"rows", rows}, {"columns", columns}, {"depth", depth}}));
      }
    }
  }
  run.variants.push_back(info);
}

}  // namespace

Run swept() {
  Run run = empty_run();
  run.command_line = {"mprof", "run",          "--variant", "conv/*",
                      "--set", "tile_width=*", "--batch",   "1000,10000"};
  const VariantInfo base = variant("conv/base");
  run.variants = {base};
  run.cases = {point_of(base, 1000, 8, 20, {}), point_of(base, 10000, 8, 20, {})};
  add_tiled(run, variant("conv/tiled", "conv/base"));
  add_matrix(run, variant("conv/matrix", "conv/base"));
  add_precision(run, variant("conv/precision", "conv/base"));
  add_streams(run, variant("conv/streams", "conv/base"));
  add_blocked(run, variant("conv/blocked", "conv/base"));
  finish_plan(run, {1000, 10000});
  return run;
}

namespace {

constexpr double peak_special = 4.1e12;  // functions a second
constexpr double map_peak_flops = 6.1e13;
constexpr double map_peak_bandwidth = 4.2e12;

Problem map_problem(std::uint64_t size, std::uint64_t iterations) {
  return {{{"size", size}, {"iterations", iterations}}};
}

OpInfo map_op(const Problem& problem) {
  const double elements = std::pow(static_cast<double>(value_on(problem, "size").value()), 2);
  const double applied = elements * static_cast<double>(value_on(problem, "iterations").value());
  return {"map", "v += sqrt(sin(v) + 1), again and again", 3 * applied, 8 * elements, 2 * applied};
}

Case map_case(const VariantInfo& info, const Problem& problem, double of_possible) {
  Case c;
  c.key = {info.id, {}, problem};
  c.id = case_id(c.key, info);
  c.ops = {map_op(problem)};
  const OpInfo& op = c.ops.front();
  const double time = op.special_operations / peak_special / of_possible;
  PassResult pass;
  pass.status = Status::ok;
  pass.sampling = Sampling{6, 21, Ending::confidence, 0.006};
  pass.rounds = std::vector<Sampling>(3, Sampling{2, 7, Ending::confidence, 0.006});
  Verification right = verified("map", 1);
  right.elements = static_cast<std::uint64_t>(op.bytes / 8);
  pass.verification = {right};
  pass.measurements = {
      measured("op_time", "map", around(time)),
      measured("group_time", "map", around(time + 0.04)),
      measured("total_time", "", around(time + 0.041, 0.006)),
      measured("compute_throughput", "map", {100 * op.flops / time / map_peak_flops}, Source::modelled),
      measured("memory_throughput", "map", {100 * op.bytes / time / map_peak_bandwidth}, Source::modelled),
      measured("special_throughput", "map", {100 * of_possible}, Source::modelled),
      measured("flop_rate", "map", {op.flops / time}, Source::modelled),
      measured("byte_rate", "map", {op.bytes / time}, Source::modelled),
      measured("special_rate", "map", {op.special_operations / time}, Source::modelled)};
  c.passes = {pass};
  return c;
}

}  // namespace

Run two_families() {
  Run run = empty_run();
  run.command_line = {"mprof", "run", "--all", "--batch", "1000,10000", "--problem", "size=1024,8192"};
  run.environment["gpu"] = {{"name", "Example H9000"}, {"driver", "580.1"}};
  run.ceilings = {{"fp32_flop_rate", "cuda", map_peak_flops, "", "FMA chains"},
                  {"memory_bandwidth", "cuda", map_peak_bandwidth, "", "triad"},
                  {"special_function_rate", "cuda", peak_special, "", "chains of ex2"}};
  VariantInfo base = variant("conv/baseline"), tiled = variant("conv/tiled", "conv/baseline"),
              plain = variant("elementwise/baseline"),
              fast = variant("elementwise/fast", "elementwise/baseline"),
              pinned = variant("elementwise/pinned", "elementwise/fast");
  for (VariantInfo* info : {&base, &tiled, &plain, &fast, &pinned}) info->device = "cuda";
  fast.expectations = {{"op_time", "map", Direction::decreases, 2.0, "one pass over the matrix"},
                       {"total_time", "", Direction::decreases, std::nullopt, "the rest stays"}};
  run.variants = {base, tiled};
  finish_plan(run, {1000, 10000});
  for (const std::uint64_t batch : {1000U, 10000U}) {
    const auto images = static_cast<double>(batch);
    run.cases.push_back(timed_case(base, batch, 2.1e-5 * images, 7.4e-5 * images));
    run.cases.push_back(timed_case(tiled, batch, 1.2e-5 * images, 7.3e-5 * images));
  }
  FamilyInfo family = map_family();
  for (const std::uint64_t size : {1024U, 8192U}) {
    const Problem problem = map_problem(size, 5);
    family.problems.push_back({problem, {map_op(problem)}});
    run.plan.problems["elementwise"].push_back(problem);
    run.cases.push_back(map_case(plain, problem, 0.05));
    run.cases.push_back(map_case(fast, problem, size == 1024 ? 0.4 : 0.84));
    Case late = map_case(pinned, problem, 0.82);
    set_samples(late, "op_time", "map", around(1e-6));
    set_samples(late, "group_time", "map", around(0.02));
    timing(late).measurements.push_back(
        measured("gpu_time", "map", {map_op(problem).special_operations / peak_special / 0.82}));
    run.cases.push_back(late);
  }
  run.families.push_back(family);
  for (const VariantInfo& info : {plain, fast, pinned}) {
    run.variants.push_back(info);
    run.plan.variants.push_back(info.id);
  }
  return run;
}

Run large(std::size_t variants) {
  Run run = empty_run();
  run.variants.push_back(variant("conv/base"));
  for (std::size_t i = 1; i < variants; ++i)
    run.variants.push_back(variant("conv/v" + std::to_string(i), "conv/base"));
  const std::vector<std::uint64_t> batches{100, 1000, 5000, 10000};
  finish_plan(run, batches);
  for (std::size_t v = 0; v < variants; ++v) {
    for (const std::uint64_t batch : batches) {
      const double scale = static_cast<double>(batch) * (1 + 0.37 * static_cast<double>((v * 7) % 11));
      run.cases.push_back(timed_case(run.variants[v], batch, 1e-5 * scale, 3e-5 * scale));
    }
  }
  return run;
}

namespace {

/// Small, and on the axes of the run.
Problem problem_of(const Run&) {
  return at_batch(100);
}

}  // namespace

SanitizerRecord clean_record(const Run& run) {
  SanitizerRecord check;
  for (const VariantInfo& variant : run.variants) {
    for (const SanitizerTool tool : sanitizer_tools()) {
      SanitizerResult result{.variant = variant.id, .tool = tool, .problem = problem_of(run)};
      result.status = SanitizerStatus::clean;
      result.started = "2025-03-02T10:00:0" + std::to_string(check.results.size() % 10) + "Z";
      result.seconds = 4;
      result.mprof = run.tool;
      result.device = "Example H9000";
      result.sanitizer = "2025.3.1.0";
      result.command = {"compute-sanitizer"};
      check.results.push_back(result);
    }
  }
  return check;
}

void spoil(SanitizerRecord& check, const std::string& report) {
  const auto set = [&](std::size_t index, SanitizerStatus status, const std::string& reason) {
    check.results.at(index).status = status;
    check.results.at(index).reason = reason;
  };
  set(0, SanitizerStatus::errors, "");
  check.results[0].errors = 3;
  check.results[0].first_report = report;
  set(1, SanitizerStatus::failed, "compute-sanitizer left no summary: exit code 1");
  set(2, SanitizerStatus::timeout, "took longer than 600 s (--timeout)");
  set(3, SanitizerStatus::skipped, "no NVIDIA driver");
  check.results.at(5).warnings = 1;
  check.results[5].first_report = "Race reported between Read access at k+0x10";
}

std::vector<trace::Trace> traces_of(const Run& run, std::size_t count, const std::string& kernel) {
  constexpr std::int64_t apart = 20'000;  // ns
  std::vector<trace::Trace> traces;
  for (std::size_t i = 0; i < std::min(count, run.cases.size()); ++i) {
    const std::int64_t later = apart * static_cast<std::int64_t>(i);
    traces.push_back(test::with_kernel_named(
        test::moved(test::sample_trace_with_pause(), run.cases[i].id, later), kernel));
  }
  return traces;
}

std::filesystem::path write_traces(const std::vector<trace::Trace>& traces,
                                   const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const trace::Trace& trace : traces) trace::write_trace(directory / "trace.sqlite", trace);
  return directory / "trace.sqlite";
}

}  // namespace mprof::samples
