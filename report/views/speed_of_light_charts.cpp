// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/chart_parts.hpp"

/// The charts of the Speed-of-Light section.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t named_stalls = 8;     // at the least, where so many cost anything
constexpr double worth_naming = 0.05;       // of the waiting of some kernel
constexpr std::size_t named_of_kernel = 2;  // the longest of each kernel have their names, however short

/// Each reason has its place, and so its colour, in all charts of all pages: mprof_themes has one for each,
/// and one more for what has no name of its own.
constexpr std::array<std::string_view, 18> stall_places{"long_scoreboard",
                                                        "wait",
                                                        "short_scoreboard",
                                                        "not_selected",
                                                        "mio_throttle",
                                                        "math_pipe_throttle",
                                                        "lg_throttle",
                                                        "barrier",
                                                        "no_instruction",
                                                        "imc_miss",
                                                        "dispatch_stall",
                                                        "branch_resolving",
                                                        "gmma",
                                                        "drain",
                                                        "membar",
                                                        "tex_throttle",
                                                        "sleeping",
                                                        "misc"};

/// What stands for each variant in a chart about one op.
std::vector<const KernelResult*> longest_kernels(const SpeedOfLight& sol, const std::string& op) {
  std::vector<const KernelResult*> kernels;
  for (const KernelResult& kernel : sol.kernels) {
    if (kernel.longest && kernel.counters.op == op) kernels.push_back(&kernel);
  }
  return kernels;
}

/// The shortest of them, as many as there is room for, in the order in which they stand.
std::vector<const KernelResult*> shortest(std::vector<const KernelResult*> kernels) {
  if (kernels.size() <= most_chart_rows) return kernels;
  std::vector<double> times;
  for (const KernelResult* kernel : kernels) times.push_back(kernel->counters.time());
  std::ranges::nth_element(times, times.begin() + most_chart_rows - 1);
  std::erase_if(kernels, [&](const KernelResult* kernel) {
    return kernel->counters.time() > times[most_chart_rows - 1];
  });
  kernels.resize(std::min(kernels.size(), most_chart_rows));
  return kernels;
}

std::string kernel_label(const KernelResult& kernel) {
  return format::elide(format::one_line(kernel.counters.kernel), longest_chart_label);
}

// --- Throughput

/// Bars of one throughput: "92 % (+18)" beside it, and all of it in words where the pointer rests.
json throughput_point(std::size_t row, const KernelResult& kernel, double Bottleneck::*throughput) {
  const double value = (*kernel.bottleneck).*throughput;
  std::string text = format::whole_percent(value);
  std::string hover = fmt::format("{}, {}", text, kernel_label(kernel));
  json point{{"row", row}, {"value", value}};
  if (kernel.before && kernel.before->bottleneck) {
    const double before = (*kernel.before->bottleneck).*throughput;
    point["before"] = before;
    text += fmt::format(" ({})", format::signed_fixed(value - before, 0));
    hover += fmt::format("; before {}, {}", format::whole_percent(before),
                         format::elide(format::one_line(kernel.before->kernel), longest_chart_label));
  }
  point["text"] = text;
  point["hover"] = hover;
  return point;
}

// --- Stalls

/// The reasons to be named, in the order of their places: those that cost a good part of some kernel's
/// waiting, and those with the largest shares over all kernels of the chart, as one kernel that waits for
/// long would otherwise name the reasons for all.
std::vector<std::string_view> named_reasons(const std::vector<const KernelResult*>& kernels) {
  std::map<std::string_view, double> shares;
  std::set<std::string_view> named;
  for (const KernelResult* kernel : kernels) {
    double all = 0;
    for (const Stall& stall : kernel->stalls) all += stall.cycles;
    if (!(all > 0)) continue;
    for (std::size_t rank = 0; rank < kernel->stalls.size(); ++rank) {
      const Stall& stall = kernel->stalls[rank];
      shares[stall.key] += stall.cycles / all;
      if (stall.cycles > 0 && (rank < named_of_kernel || stall.cycles / all >= worth_naming))
        named.insert(stall.key);
    }
  }
  std::vector<std::pair<std::string_view, double>> order(shares.begin(), shares.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, sum] : order) {
    if (sum > 0 && named.size() < named_stalls) named.insert(reason);
  }
  std::vector<std::string_view> reasons;
  for (const std::string_view reason : stall_places) {
    if (named.contains(reason)) reasons.push_back(reason);
  }
  return reasons;
}

struct StallSum {
  double all = 0;
  double named = 0;
};

json stall_point(std::size_t row, double cycles, const StallSum& sum) {
  return {{"row", row},
          {"value", cycles},
          {"text", format::significant(cycles, 2)},
          {"hover", fmt::format("{} cycles, {} of the waiting", format::significant(cycles, 3),
                                format::percent(sum.all > 0 ? cycles / sum.all : 0))}};
}

// --- Instructions

/// As with stalls: each pipe has its place, and so its colour.
constexpr std::array<std::string_view, 10> pipe_places{"FMA", "LSU", "ALU", "tensor",  "XU",
                                                       "ADU", "CBU", "TEX", "uniform", "FP64"};

double all_instructions(const KernelResult& kernel) {
  double all = 0;
  for (const PipeShare& share : kernel.mix) all += share.instructions;
  return all;
}

json instruction_point(std::size_t row, double share, double instructions) {
  return {{"row", row},
          {"value", 100 * share},
          {"text", format::whole_percent(100 * share)},
          {"hover", fmt::format("{}, {} warp instructions", format::percent(share),
                                format::significant(instructions, 3))}};
}

// --- Roofline

std::string roofline_words(const KernelResult& kernel) {
  const RooflinePoint& point = *kernel.roofline;
  std::vector<std::string> parts{format::quantity(point.rate, Unit::flop_per_second),
                                 fmt::format("{} FLOP/B", format::significant(point.intensity, 3)),
                                 fmt::format("{} through DRAM", format::quantity(point.bytes, Unit::byte))};
  if (point.of_roof) parts.push_back(fmt::format("{} of its roof", format::percent(*point.of_roof)));
  for (const auto& [name, traffic] : {std::pair{"L2", &point.l2}, {"L1/TEX", &point.l1}}) {
    if (!*traffic) continue;
    parts.push_back(fmt::format(
        "{} FLOP/B of {}{}", format::significant((*traffic)->intensity, 3), name,
        (*traffic)->of_peak ? fmt::format(" ({} of its peak)", format::percent(*(*traffic)->of_peak)) : ""));
  }
  if (point.tensor_cores) parts.emplace_back("on tensor cores");
  return fmt::format("{}", fmt::join(parts, "; "));
}

enum class Place { longest, other, tensor };

Place place_of(const KernelResult& kernel) {
  if (kernel.roofline->tensor_cores) return Place::tensor;
  return kernel.longest ? Place::longest : Place::other;
}

/// The roofs beside those of FP32 and DRAM: caches slope like DRAM, tensor cores are level like FP32.
json other_roofs(const SpeedOfLight& sol, const format::Scale& scale, bool with_tensor_cores) {
  json roofs = json::array();
  const auto add = [&](const char* kind, const char* name, const std::optional<double>& value, Unit unit) {
    if (!value) return;
    roofs.push_back({{"kind", kind},
                     {"value", *value / scale.divisor},
                     {"text", fmt::format("{}, {}", name, format::about(*value, unit))}});
  };
  add("slope", "L2", sol.l2_bandwidth, Unit::byte_per_second);
  add("slope", "L1/TEX", sol.l1_bandwidth, Unit::byte_per_second);
  if (!with_tensor_cores) return roofs;
  add("level", "TF32 tensor cores", sol.peak_tf32_rate, Unit::flop_per_second);
  add("level", "FP16 tensor cores", sol.peak_fp16_rate, Unit::flop_per_second);
  return roofs;
}

json roof_view(const SpeedOfLight& sol, const format::Scale& scale, bool with_tensor_cores) {
  if (!sol.peak_flop_rate || !sol.peak_bandwidth) return false;
  return {
      {"peak", *sol.peak_flop_rate / scale.divisor},
      {"slope", *sol.peak_bandwidth / scale.divisor},
      {"peak_text", fmt::format("FP32, {}", format::about(*sol.peak_flop_rate, Unit::flop_per_second))},
      {"slope_text", fmt::format("memory, {}", format::about(*sol.peak_bandwidth, Unit::byte_per_second))},
      {"others", other_roofs(sol, scale, with_tensor_cores)}};
}

/// What the roofs that are drawn are.
std::string roofs_text(const json& roof, bool on_tensor_cores) {
  if (roof.is_boolean()) return "What this GPU can reach was not measured.";
  bool caches = false, tensor = false;
  for (const json& other : roof["others"]) (other["kind"] == "slope" ? caches : tensor) = true;
  std::string text = fmt::format("The roofs of memory{} are what this GPU was measured to reach",
                                 tensor ? ", FP32 and tensor cores" : " and FP32");
  if (caches)
    text +=
        ". The dashed roofs are the peaks of the caches at the clock they had, for bytes of that cache; no "
        "program reaches them";
  if (on_tensor_cores && !tensor)
    text += ". What its tensor cores reach was not measured, so their kernels may stand above the roofs";
  return text + ".";
}

}  // namespace

json kernel_throughput_chart(const FamilyResult& family, const std::string& op, const std::string& id) {
  const SpeedOfLight& sol = family.speed_of_light;
  json rows = json::array(), compute = json::array(), memory = json::array();
  std::vector<const KernelResult*> kernels = longest_kernels(sol, op);
  std::erase_if(kernels, [](const KernelResult* kernel) { return !kernel->bottleneck; });
  const std::string how_many = how_many_are_drawn(kernels.size());
  const bool has_stroke =
      std::ranges::any_of(kernels, [](const KernelResult* one) { return one->before.has_value(); });
  for (const KernelResult* kernel : shortest(std::move(kernels))) {
    compute.push_back(throughput_point(rows.size(), *kernel, &Bottleneck::compute));
    memory.push_back(throughput_point(rows.size(), *kernel, &Bottleneck::memory));
    rows.push_back(row_label(*kernel->variant));
  }
  if (rows.empty()) return json::object();
  const ChartText text{
      fmt::format("SM and memory throughput of {} {}", format::one_line(op), family.words.at(sol.problem)),
      fmt::format("Counted by hardware: the kernel that takes the longest.{}{}",
                  has_stroke ? " A stroke marks where its baseline's kernel stood; in brackets the change in "
                               "percentage points."
                             : "",
                  how_many),
      "% of the GPU's peak"};
  json chart = chart_view("percent_bars", id, text);
  set_subject(chart, op, &sol.problem);
  chart["modelled"] = false;
  chart["alt"] = alternative(text.title, rows);
  chart["rows"] = rows;
  chart["series"] = {{{"name", "SM"}, {"points", compute}}, {{"name", "memory"}, {"points", memory}}};
  return chart;
}

json stall_chart(const FamilyResult& family, const std::string& op, const std::string& id) {
  const SpeedOfLight& sol = family.speed_of_light;
  std::vector<const KernelResult*> kernels = longest_kernels(sol, op);
  std::erase_if(kernels, [](const KernelResult* kernel) { return kernel->stalls.empty(); });
  const std::string how_many = how_many_are_drawn(kernels.size());
  kernels = shortest(std::move(kernels));
  const std::vector<std::string_view> reasons = named_reasons(kernels);
  if (reasons.empty()) return json::object();
  json rows = json::array(), series = json::array();
  std::vector<StallSum> sums(kernels.size());
  for (std::size_t row = 0; row < kernels.size(); ++row) {
    rows.push_back(row_label(*kernels[row]->variant));
    for (const Stall& stall : kernels[row]->stalls) sums[row].all += stall.cycles;
  }
  for (const std::string_view reason : reasons) {
    json points = json::array();
    std::string_view name;
    for (std::size_t row = 0; row < kernels.size(); ++row) {
      for (const Stall& stall : kernels[row]->stalls) {
        if (stall.key != reason || !(stall.cycles > 0)) continue;
        name = stall.reason;
        sums[row].named += stall.cycles;
        points.push_back(stall_point(row, stall.cycles, sums[row]));
      }
    }
    const auto place = std::ranges::find(stall_places, reason) - stall_places.begin();
    series.push_back({{"name", name}, {"place", place}, {"points", points}});
  }
  json others = json::array();
  for (std::size_t row = 0; row < sums.size(); ++row) {
    const double rest = sums[row].all - sums[row].named;
    if (rest > 0) others.push_back(stall_point(row, rest, sums[row]));
  }
  series.push_back({{"name", "other"}, {"place", stall_places.size()}, {"points", others}});
  const ChartText text{
      fmt::format("Why warps waited in {} {}", format::one_line(op), family.words.at(sol.problem)),
      "Counted by hardware: cycles that a warp waits for each instruction it issues, in the "
      "kernel that takes the longest. They grow with the warps that a multiprocessor holds, so that a longer "
      "bar is no slower kernel: read in each bar what takes the largest part. A reason has one colour "
      "everywhere." +
          how_many,
      "Cycles per issued instruction"};
  json chart = chart_view("stacked_bars", id, text);
  set_subject(chart, op, &sol.problem);
  chart["alt"] = alternative(text.title, rows);
  chart["rows"] = rows;
  chart["series"] = series;
  return chart;
}

json instruction_chart(const FamilyResult& family, const std::string& op, const std::string& id) {
  const SpeedOfLight& sol = family.speed_of_light;
  std::vector<const KernelResult*> kernels = longest_kernels(sol, op);
  std::erase_if(kernels, [](const KernelResult* kernel) { return !(all_instructions(*kernel) > 0); });
  const std::string how_many = how_many_are_drawn(kernels.size());
  kernels = shortest(std::move(kernels));
  if (kernels.empty()) return json::object();
  json rows = json::array(), series = json::array();
  for (const KernelResult* kernel : kernels) rows.push_back(row_label(*kernel->variant));
  for (std::size_t place = 0; place < pipe_places.size(); ++place) {
    json points = json::array();
    for (std::size_t row = 0; row < kernels.size(); ++row) {
      const auto share = std::ranges::find(kernels[row]->mix, pipe_places[place], &PipeShare::pipe);
      if (share == kernels[row]->mix.end() || !(share->instructions > 0)) continue;
      points.push_back(
          instruction_point(row, share->instructions / all_instructions(*kernels[row]), share->instructions));
    }
    if (!points.empty())
      series.push_back({{"name", pipe_places[place]}, {"place", place}, {"points", points}});
  }
  const ChartText text{
      fmt::format("Instructions of {} {} by pipe", format::one_line(op), family.words.at(sol.problem)),
      "Counted by hardware: warp instructions by the pipe that executed them, in the kernel that takes the "
      "longest. FMA: FP32 arithmetic. LSU: loads and stores. ALU: integers and logic. Tensor: products of "
      "matrices, and HFMA2.MMA, which compilers move constants with. XU: special functions. ADU: indexed "
      "constants. CBU: branches and barriers. Uniform: once for a whole warp." +
          how_many,
      "% of the instructions of these pipes"};
  json chart = chart_view("stacked_bars", id, text);
  set_subject(chart, op, &sol.problem);
  chart["alt"] = alternative(text.title, rows);
  chart["rows"] = rows;
  chart["series"] = series;
  chart["longest"] = 100;
  return chart;
}

json roofline_chart(const FamilyResult& family, const std::string& op, const std::string& id) {
  const SpeedOfLight& sol = family.speed_of_light;
  std::vector<double> rates;
  std::array<json, 3> points{json::array(), json::array(), json::array()};
  for (const KernelResult& kernel : sol.kernels) {
    if (kernel.counters.op == op && kernel.roofline) rates.push_back(kernel.roofline->rate);
  }
  if (rates.empty()) return json::object();
  const format::Scale scale =
      format::scale_for(Unit::flop_per_second, *std::max_element(rates.begin(), rates.end()));
  for (const KernelResult& kernel : sol.kernels) {
    if (kernel.counters.op != op || !kernel.roofline) continue;
    points[static_cast<std::size_t>(place_of(kernel))].push_back(
        {{"x", kernel.roofline->intensity},
         {"y", kernel.roofline->rate / scale.divisor},
         {"label", kernel.longest ? row_label(*kernel.variant) : ""},
         {"title", fmt::format("{}: {}", row_label(*kernel.variant), kernel_label(kernel))},
         {"hover", roofline_words(kernel)}});
  }
  const bool on_tensor_cores = !points[static_cast<std::size_t>(Place::tensor)].empty();
  const json roof = roof_view(sol, scale, on_tensor_cores);
  const ChartText text{
      fmt::format("Roofline of {} {}", format::one_line(op), family.words.at(sol.problem)),
      "What each kernel executed over what it moved through DRAM, both counted by hardware. " +
          roofs_text(roof, on_tensor_cores) + " Logarithmic axes; names that find no room are left out.",
      "FLOP per byte of DRAM traffic"};
  json chart = chart_view("roofline", id, text);
  set_subject(chart, op, &sol.problem);
  chart["axis"]["y"] = scale.symbol;
  chart["alt"] = fmt::format("Chart: {}, {}. The table holds the numbers.", text.title,
                             format::plural(rates.size(), "kernel"));
  chart["rows"] = json::array();
  chart["roof"] = roof;
  chart["series"] = json::array();
  const std::array names{"longest kernel of the op", "other kernels", "on tensor cores"};
  for (std::size_t i = 0; i < points.size(); ++i) {
    chart["series"].push_back({{"name", names[i]}, {"points", points[i]}});
  }
  return chart;
}

}  // namespace mprof
