// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/chart_parts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/why.hpp"

/// The Speed-of-Light section: what hardware counted of each kernel, and what is modelled without it.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::size_t longest_kernel_name = 28;
constexpr std::size_t reasons_in_table = 3;

/// What the tables and charts of a section are made from.
struct Section {
  const FamilyResult& family;
  const SpeedOfLight& sol;
  const std::vector<std::string>& variant_anchors;
  PagePlan& plan;

  [[nodiscard]] Table table(std::string_view name, std::string caption) const {
    return {plan.anchors.make(fmt::format("{} {}", family.id, name)), std::move(caption)};
  }
  [[nodiscard]] Cell variant_cell(const KernelResult& kernel) const {
    const auto index = static_cast<std::size_t>(kernel.variant - family.variants.data());
    return Cell::words_to(kernel.result->configuration, variant_anchors[index]);
  }
};

std::string short_kernel(const std::string& kernel) {
  return format::elide(format::one_line(kernel), longest_kernel_name);
}

Cell kernel_cell(const KernelResult& kernel) {
  return Cell::words(short_kernel(kernel.counters.kernel));
}

Cell counted(const KernelResult& kernel, std::string_view metric) {
  return Cell::bare(kernel.counters.value(metric));
}

/// A part of the section: { title, anchor, text, charts, tables, folded, modelled }.
json part_view(const Section& section, std::string_view title, std::string_view text) {
  return {{"title", title},
          {"anchor", section.plan.anchors.make(fmt::format("{} {}", section.family.id, title))},
          {"text", text},
          {"charts", json::array()},
          {"has_charts", false},
          {"tables", json::array()},
          {"folded", false},
          {"modelled", false}};
}

void add_chart(const Section& section, json& part, json chart) {
  if (chart.empty()) return;
  part["charts"].push_back(section.plan.place(std::move(chart)));
  part["has_charts"] = true;
}

void add_table(json& part, const Table& table) {
  if (!table.empty()) part["tables"].push_back(table.view());
}

// --- Throughput and bottlenecks

Cell share_cell(const KernelResult& kernel) {
  return kernel.share ? Cell::figure(format::percent(*kernel.share)).valued(*kernel.share)
                      : Cell::missing("its duration was not read");
}

/// A throughput with its change against the baseline's kernel.
Cell throughput_cell(const KernelResult& kernel, const Value& value, double Bottleneck::*throughput) {
  Cell cell = percentage_cell(value);
  if (!kernel.before || !kernel.bottleneck || !kernel.before->bottleneck) return cell;
  cell.detail =
      format::signed_fixed((*kernel.bottleneck).*throughput - (*kernel.before->bottleneck).*throughput, 1);
  return cell;
}

Table throughput_table(const Section& section, const OpInfo& op) {
  Table table = section.table(fmt::format("throughput of {}", op.name),
                              fmt::format("Kernels of {}", format::one_line(op.name)));
  table.variants().text("Kernel").numbers("Share of the op").numbers("SM", Unit::percent);
  table.numbers("Memory", Unit::percent);
  const bool are_bound = std::ranges::any_of(section.sol.kernels, [&](const KernelResult& kernel) {
    return kernel.counters.op == op.name && kernel.bottleneck;
  });
  if (are_bound) table.text("Bottleneck");
  for (const KernelResult& kernel : section.sol.kernels) {
    if (kernel.counters.op != op.name) continue;
    const Value compute = kernel.counters.value("sm__throughput.avg.pct_of_peak_sustained_elapsed");
    const Value memory =
        kernel.counters.value("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed");
    std::vector<Cell> cells{section.variant_cell(kernel), kernel_cell(kernel), share_cell(kernel),
                            throughput_cell(kernel, compute, &Bottleneck::compute),
                            throughput_cell(kernel, memory, &Bottleneck::memory)};
    if (are_bound) cells.push_back(kernel.bottleneck ? Cell::words(bottleneck_change(kernel)) : Cell::dash());
    table.row(std::move(cells));
  }
  return table;
}

/// Which launches speak for a kernel.
std::string counting_sentence(const Section& section) {
  const std::string at = section.family.words.at(section.sol.problem);
  if (section.family.all_are(&VariantInfo::is_imported))
    return "Nsight Compute counted the kernels; of several launches of one size a figure is the median.";
  if (section.family.all_are(&VariantInfo::is_program))
    return fmt::format("Hardware counted each kernel of each op {}, a group of metrics at a launch.", at);
  return fmt::format("Hardware counted one launch of each kernel of each op {}.", at);
}

/// Whether some kernel has one of a baseline to be compared with.
bool has_before(const SpeedOfLight& sol) {
  return std::ranges::any_of(sol.kernels,
                             [](const KernelResult& kernel) { return kernel.before.has_value(); });
}

json throughput_part(const Section& section) {
  json part = part_view(
      section, "SM and memory throughput",
      fmt::format(
          "{} Both throughputs are shares of what the busiest part of the multiprocessors, or of the caches "
          "and memory, could do. Latency: both are under 60\u00a0%, so neither is busy and warps wait. "
          "Balanced: they differ by less than 10 points. Otherwise the higher one is the bottleneck, and "
          "above 80\u00a0% it is near its limit. It is named by the part that is as busy, if that was "
          "counted. L1/TEX may be full while DRAM has nothing to do. Pipes of memory instructions (for "
          "shared memory and constants too) may be full while few instructions are issued. Two figures are "
          "SM / memory.{}",
          counting_sentence(section),
          has_before(section.sol)
              ? " Small: the change in percentage points. Each kernel is compared with the one of the same "
                "name of its baseline, and the longest one of an op also with the longest one."
              : ""));
  for (const OpInfo& op : section.family.ops) {
    add_chart(section, part,
              kernel_throughput_chart(
                  section.family, op.name,
                  section.plan.anchors.make(fmt::format("{} sol {}", section.family.id, op.name))));
    add_table(part, throughput_table(section, op));
  }
  return part;
}

// --- Memory and occupancy

json memory_part(const Section& section) {
  json part = part_view(section, "Caches and memory",
                        "Hit rates are shares of the sectors looked up. Of a 32-byte sector, threads use so "
                        "many bytes: 32 is fully coalesced. DRAM bytes are of one launch.");
  Table table = section.table("caches", "Cache hit rates and memory throughput");
  table.variants()
      .text("Op")
      .text("Kernel")
      .numbers("L1/TEX hits", Unit::percent)
      .numbers("L2 hits", Unit::percent);
  table.numbers("L1/TEX", Unit::percent).numbers("L2", Unit::percent).numbers("DRAM", Unit::percent);
  table.numbers("DRAM bytes", Unit::byte)
      .numbers("Used of a sector, loads")
      .numbers("Used of a sector, stores");
  const auto used = [](const KernelResult& kernel, std::string_view metric) {
    const Value value = kernel.counters.value(metric);
    if (value && value->median == 0)
      return Cell::missing("no sector of its threads was counted: copies in bulk do not count");
    return value ? Cell::figure(format::fixed(value->median, 1)).valued(value->median)
                 : Cell::missing(value.absent);
  };
  for (const KernelResult& kernel : section.sol.kernels) {
    table.row(
        {section.variant_cell(kernel), Cell::words(kernel.counters.op), kernel_cell(kernel),
         percentage_cell(kernel.counters.value("l1tex__t_sector_hit_rate.pct")),
         percentage_cell(kernel.counters.value("lts__t_sector_hit_rate.pct")),
         percentage_cell(kernel.counters.value("l1tex__throughput.avg.pct_of_peak_sustained_active")),
         percentage_cell(kernel.counters.value("lts__throughput.avg.pct_of_peak_sustained_elapsed")),
         percentage_cell(kernel.counters.value("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")),
         counted(kernel, "dram__bytes.sum"),
         used(kernel, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"),
         used(kernel, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio")});
  }
  add_table(part, table);
  return part;
}

Cell limited_by_cell(const KernelResult& kernel) {
  return kernel.limited_by.empty() ? Cell::missing("a limit was not read")
                                   : Cell::words(format::list(kernel.limited_by));
}

Cell waves_cell(const KernelResult& kernel) {
  const Value waves = kernel.counters.value("launch__waves_per_multiprocessor");
  if (!waves) return Cell::missing(waves.absent);
  Cell cell = Cell::figure(format::significant(waves->median, 3)).valued(waves->median);
  if (waves->median < 1) cell.note = "under one wave: the grid does not fill the GPU once";
  return cell;
}

json occupancy_part(const Section& section) {
  json part = part_view(
      section, "Occupancy",
      "Warps that a multiprocessor holds, in percent of the most that it can hold. Theoretical: what "
      "registers, shared memory, warps and blocks allow, each as the number of blocks that "
      "it suffices for. Achieved: counted.");
  Table table = section.table("occupancy", "Occupancy and what limits it");
  table.variants()
      .text("Op")
      .text("Kernel")
      .numbers("Theoretical", Unit::percent)
      .numbers("Achieved", Unit::percent);
  table.text("Limited by")
      .numbers("Blocks by registers")
      .numbers("By shared memory")
      .numbers("By warps")
      .numbers("By blocks");
  table.numbers("Registers a thread").numbers("Shared memory a block", Unit::byte);
  table.numbers("Threads a block").numbers("Blocks").numbers("Waves");
  const auto whole = [](const KernelResult& kernel, std::string_view metric) {
    const Value value = kernel.counters.value(metric);
    return value ? Cell::figure(format::fixed(value->median, 0)).valued(value->median)
                 : Cell::missing(value.absent);
  };
  for (const KernelResult& kernel : section.sol.kernels) {
    table.row({section.variant_cell(kernel), Cell::words(kernel.counters.op), kernel_cell(kernel),
               percentage_cell(kernel.counters.value("sm__maximum_warps_per_active_cycle_pct")),
               percentage_cell(kernel.counters.value("sm__warps_active.avg.pct_of_peak_sustained_active")),
               limited_by_cell(kernel), whole(kernel, "launch__occupancy_limit_registers"),
               whole(kernel, "launch__occupancy_limit_shared_mem"),
               whole(kernel, "launch__occupancy_limit_warps"),
               whole(kernel, "launch__occupancy_limit_blocks"), whole(kernel, "launch__registers_per_thread"),
               Cell::bare(kernel.counters.shared_memory()), whole(kernel, "launch__block_size"),
               whole(kernel, "launch__grid_size"), waves_cell(kernel)});
  }
  add_table(part, table);
  return part;
}

// --- Pipes and instructions

/// Whether pipes were counted: records of earlier versions read few by default.
bool has_mix(const SpeedOfLight& sol) {
  return std::ranges::any_of(sol.kernels, [](const KernelResult& kernel) { return !kernel.mix.empty(); });
}

/// "78.3" of a part, by its name.
Cell pipe_cell(const KernelResult& kernel, std::string_view name) {
  const auto part = std::ranges::find(kernel.pipes, name, &BusyPart::name);
  if (part == kernel.pipes.end()) return Cell::missing("it was not counted");
  return Cell::figure(format::fixed(part->percent, 1)).valued(part->percent);
}

Table pipe_table(const Section& section) {
  Table table = section.table("pipes table", "Pipes, as percentages of what each can do, and schedulers");
  table.variants().text("Op").text("Kernel");
  std::vector<std::string_view> names;
  for (const KernelResult& kernel : section.sol.kernels) {
    for (const BusyPart& part : kernel.pipes) {
      if (std::ranges::find(names, part.name) == names.end()) names.push_back(part.name);
    }
  }
  for (const std::string_view name : names)
    table.numbers(format::sentence_case(std::string(name)), Unit::percent);
  table.numbers("Eligible warps").numbers("Threads of a warp");
  const auto figure = [](const KernelResult& kernel, std::string_view metric) {
    const Value value = kernel.counters.value(metric);
    return value ? Cell::figure(format::significant(value->median, 3)).valued(value->median)
                 : Cell::missing(value.absent);
  };
  for (const KernelResult& kernel : section.sol.kernels) {
    std::vector<Cell> cells{section.variant_cell(kernel), Cell::words(kernel.counters.op),
                            kernel_cell(kernel)};
    for (const std::string_view name : names) cells.push_back(pipe_cell(kernel, name));
    cells.push_back(figure(kernel, "smsp__warps_eligible.avg.per_cycle_active"));
    cells.push_back(figure(kernel, "smsp__thread_inst_executed_per_inst_executed.ratio"));
    table.row(std::move(cells));
  }
  return table;
}

json pipe_part(const Section& section) {
  json part = part_view(
      section, "Pipes and instructions",
      "What the multiprocessors were busy with: how much of what it can do each pipe did, and which pipe "
      "executed the instructions. Eligible warps: how many of a scheduler's warps could have issued, on "
      "average; below 1 it had nothing to issue in many cycles. Threads of a warp: that took part in an "
      "average instruction, of 32.");
  for (const OpInfo& op : section.family.ops) {
    add_chart(section, part,
              instruction_chart(
                  section.family, op.name,
                  section.plan.anchors.make(fmt::format("{} instructions {}", section.family.id, op.name))));
  }
  add_table(part, pipe_table(section));
  part["folded"] = true;
  return part;
}

// --- Stall reasons and roofline

Cell stall_cell(const KernelResult& kernel, std::size_t rank) {
  if (rank >= kernel.stalls.size() || !(kernel.stalls[rank].cycles > 0)) return Cell::dash();
  const Stall& stall = kernel.stalls[rank];
  return Cell::words(fmt::format("{} {}", stall.reason, format::significant(stall.cycles, 3)));
}

json stall_part(const Section& section) {
  json part =
      part_view(section, "Stall reasons",
                "Cycles that a warp was resident for each instruction that it issued, by what it waited for. "
                "Not selected is no harm: the warp was ready, and another one was taken.");
  for (const OpInfo& op : section.family.ops) {
    add_chart(
        section, part,
        stall_chart(section.family, op.name,
                    section.plan.anchors.make(fmt::format("{} stalls {}", section.family.id, op.name))));
  }
  Table table = section.table("stalls table", "The longest stalls, in cycles per issued instruction");
  table.variants().text("Op").text("Kernel").numbers("All");
  for (const char* head : {"Longest", "Second", "Third"}) table.text(head);
  for (const KernelResult& kernel : section.sol.kernels) {
    const Value all = kernel.counters.value("smsp__average_warp_latency_per_inst_issued.ratio");
    std::vector<Cell> cells{section.variant_cell(kernel), Cell::words(kernel.counters.op),
                            kernel_cell(kernel),
                            all ? Cell::figure(format::significant(all->median, 3)).valued(all->median)
                                : Cell::missing(all.absent)};
    for (std::size_t rank = 0; rank < reasons_in_table; ++rank) cells.push_back(stall_cell(kernel, rank));
    table.row(std::move(cells));
  }
  add_table(part, table);
  part["folded"] = true;
  return part;
}

Cell of_roof_cell(const RooflinePoint& point) {
  if (point.of_roof) return Cell::figure(format::percent(*point.of_roof)).valued(*point.of_roof);
  return Cell::missing(point.tensor_cores ? "the tensor cores' roof was not measured"
                                          : "the roofs were not measured");
}

Cell intensity_cell(const std::optional<CacheTraffic>& traffic) {
  if (!traffic) return Cell::missing("bytes through this cache were not counted");
  return Cell::figure(format::significant(traffic->intensity, 3)).valued(traffic->intensity);
}

json roofline_part(const Section& section) {
  json part = part_view(
      section, "Roofline",
      "What a launch executed, padding and index arithmetic in floating point included: additions, "
      "multiplications and multiply-adds (2 FLOP) of FP32 and FP64, and operations of the tensor "
      "cores. FP16 counts where it is the work of a kernel, since compilers also move constants "
      "with it; a packed pair counts once, so that its rate may be twice as high. FLOP per byte: of "
      "DRAM, and of the bytes that the L2 and the L1/TEX caches looked up. A kernel on tensor cores is "
      "compared with the peak measured of them at its precision.");
  for (const OpInfo& op : section.family.ops) {
    add_chart(
        section, part,
        roofline_chart(section.family, op.name,
                       section.plan.anchors.make(fmt::format("{} roofline {}", section.family.id, op.name))));
  }
  Table table = section.table("roofline table", "Kernels that compute in floating point");
  table.variants()
      .text("Op")
      .text("Kernel")
      .numbers("Executed", Unit::flop)
      .numbers("DRAM bytes", Unit::byte);
  table.numbers("FLOP per byte");
  const bool has_caches = std::ranges::any_of(section.sol.kernels, [](const KernelResult& kernel) {
    return kernel.roofline && kernel.roofline->l2 && kernel.roofline->l1;
  });
  if (has_caches) table.numbers("Of L2").numbers("Of L1/TEX");
  table.numbers("Rate", Unit::flop_per_second).numbers("Of its roof");
  for (const KernelResult& kernel : section.sol.kernels) {
    if (!kernel.roofline) continue;
    const RooflinePoint& point = *kernel.roofline;
    std::vector<Cell> cells{section.variant_cell(kernel),
                            Cell::words(kernel.counters.op),
                            kernel_cell(kernel),
                            Cell::bare(derived_value(point.flops)),
                            Cell::bare(derived_value(point.bytes)),
                            Cell::figure(format::significant(point.intensity, 3)).valued(point.intensity)};
    if (has_caches) {
      cells.push_back(intensity_cell(point.l2));
      cells.push_back(intensity_cell(point.l1));
    }
    cells.push_back(Cell::bare(derived_value(point.rate)));
    cells.push_back(of_roof_cell(point));
    table.row(std::move(cells));
  }
  for (const KernelResult& kernel : section.sol.kernels) {
    if (kernel.roofline || kernel.no_roofline.empty()) continue;
    std::vector<Cell> cells{section.variant_cell(kernel), Cell::words(kernel.counters.op),
                            kernel_cell(kernel)};
    for (std::size_t i = 0; i < (has_caches ? 7U : 5U); ++i)
      cells.push_back(Cell::missing(kernel.no_roofline));
    table.row(std::move(cells));
  }
  add_table(part, table);
  part["folded"] = true;
  return part;
}

json modelled_part(const Section& section, const Table& modelled) {
  json part = part_view(
      section, "Modelled throughput",
      "Useful work over op time, against the peaks measured on this machine at the start of the run.");
  part["modelled"] = true;
  part["folded"] = !section.sol.kernels.empty();
  add_table(part, modelled);
  return part;
}

json uncounted_views(const SpeedOfLight& sol) {
  json list = json::array();
  for (const Uncounted& missing : sol.uncounted) {
    list.push_back({{"id", format::short_id(missing.variant->info.id)}, {"reason", say(missing.reason)}});
  }
  return list;
}

}  // namespace

std::string bottleneck_change(const KernelResult& kernel) {
  if (!kernel.bottleneck) return {};
  const Bottleneck& now = *kernel.bottleneck;
  std::string text = bound_text(now);
  if (kernel.before && kernel.before->bottleneck) {
    const BoundWords before = bound_words(*kernel.before->bottleneck), after = bound_words(now);
    if (before.head == after.head) {
      text = fmt::format("{} {} → {}{}{}", after.head, before.figures, after.figures,
                         after.beside.empty() ? "" : ", ", after.beside);
    } else {
      text = fmt::format("{} → {}", bound_text(*kernel.before->bottleneck), text);
    }
  }
  if (now.near_limit) text += ", near the limit";
  if (now.under_one_wave) text += ", under one wave";
  return text;
}

json speed_of_light_view(const FamilyResult& family, const std::vector<std::string>& variant_anchors,
                         const Table& modelled, PagePlan& plan) {
  const Section section{family, family.speed_of_light, variant_anchors, plan};
  const SpeedOfLight& sol = family.speed_of_light;
  json parts = json::array();
  if (!sol.kernels.empty()) {
    parts.push_back(throughput_part(section));
    if (has_mix(sol)) parts.push_back(pipe_part(section));
    for (json& part : std::array{memory_part(section), occupancy_part(section), stall_part(section),
                                 roofline_part(section)})
      parts.push_back(std::move(part));
  }
  if (!modelled.empty()) parts.push_back(modelled_part(section, modelled));
  const json uncounted = uncounted_views(sol);
  return {{"absent", say(sol.absent)},
          {"uncounted", uncounted},
          {"has_uncounted", !uncounted.empty()},
          {"uncounted_at", family.words.at(sol.problem)},
          {"parts", parts}};
}

}  // namespace mprof
