// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "model/trace/op_name.hpp"
#include "report/analysis/program/picture.hpp"
#include "report/analysis/program/process.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/variant_parts.hpp"
#include "report/views/views.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/program.hpp"

/// The first screen of a program's report.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double s_per_ns = 1e-9;

json card(std::string_view what, std::string_view of, const std::string& figure, const std::string& text) {
  return {{"what", what},     {"problem", of},  {"variant", ""},    {"time", figure},
          {"speed_up", ""},   {"interval", ""}, {"no_verdict", ""}, {"baseline", ""},
          {"standing", text}, {"over_own", ""}, {"everywhere", ""}, {"precision", ""}};
}

json cards_of(const ProgramPicture& picture) {
  const TimeBudget& budget = picture.budget;
  const std::string of = picture.steps ? "steady steps" : "from the first CUDA call";
  json cards = json::array();
  if (picture.steps) {
    const double pace = picture.steps->median_pace() * s_per_ns;
    cards.push_back(
        card("A step", fmt::format("median of {}", picture.steps->steady_steps()),
             format::quantity(pace, Unit::second),
             fmt::format("{} a second on average", format::significant(picture.steps->rate(), 3))));
  }
  const std::uint64_t launches =
      picture.steps ? picture.launches / picture.steps->steady_steps() : picture.launches;
  cards.push_back(
      card("The GPU is busy", of,
           format::percent(1 - static_cast<double>(budget.idle()) / static_cast<double>(budget.window)),
           fmt::format("{} kernel {}{}", format::count(launches), launches == 1 ? "launch" : "launches",
                       picture.steps ? " a step" : "")));
  cards.push_back(card("Bound by", of, std::string(bound_name(picture.bound)), bound_remark(picture)));
  if (picture.memory.use) {
    const MemoryUse& use = *picture.memory.use;
    const auto peak = static_cast<double>(use.peak);
    cards.push_back(card(
        "GPU memory", "its peak", (use.unseen_calls > 0 ? "at least " : "") + format::about(peak, Unit::byte),
        use.of_gpu ? fmt::format("of {}", format::about(static_cast<double>(*use.of_gpu), Unit::byte)) : ""));
  }
  return cards;
}

/// "backward"; "forward 60.0 %, backward 40.0 %", of the time of a kernel.
std::string launched_in(const FunctionTime& function) {
  constexpr double nearly_all = 0.95, little = 0.1;
  std::vector<std::string> texts;
  for (const auto& [range, time] : function.ranges) {
    const double share = static_cast<double>(time) / static_cast<double>(function.time);
    const std::string name =
        range.empty() || range == trace::outside_of_ranges ? "no range" : format::short_id(range);
    if (share >= nearly_all) return name;
    if (share >= little) texts.push_back(fmt::format("{} {}", name, format::percent(share)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Those that make up nine tenths of the time of kernels.
Table functions_table(const ProgramPicture& picture, const PageContext& page) {
  const double steps = picture.steps ? static_cast<double>(picture.steps->steady_steps()) : 1;
  const std::string a_step = picture.steps ? " a step" : "";
  const std::size_t shown = kernels_worth_showing(picture);
  double covered = 0;
  for (std::size_t i = 0; i < shown; ++i) covered += picture.share_of_kernels(picture.functions[i].time);
  const std::span<const FunctionTime> functions(picture.functions.data(), shown);
  const bool are_counted =
      std::ranges::any_of(functions, [](const FunctionTime& one) { return one.counted != nullptr; });
  const bool are_known =
      std::ranges::any_of(functions, [](const FunctionTime& one) { return one.kind != KernelKind::other; });
  Table table(page.anchor("program kernels"),
              fmt::format("The {} {} of the time of kernels. Instances of a template stand together.{}",
                          shown == 1 ? "kernel that takes" : fmt::format("{} kernels that take", shown),
                          format::percent(covered),
                          are_counted ? " SM, memory and occupancy are of each one's longest launch that was "
                                        "counted."
                                      : " None of them was counted, so what holds them back is not known."));
  const bool has_ranges = !picture.ranges.empty();
  table.text("Kernel");
  if (are_known) table.text("Kind");
  if (has_ranges) table.text("Launched in");
  table.numbers("Launches" + a_step).numbers("Time" + a_step, Unit::second).numbers("Share");
  if (are_counted) add_counted_columns(table);
  const std::vector<std::string> names = shown_kernel_names(picture);
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionTime& function = picture.functions[i];
    const double share = picture.share_of_kernels(function.time);
    const double launches = static_cast<double>(function.launches) / steps;
    std::vector<Cell> cells{Cell::words(names[i])};
    if (are_known) cells.push_back(Cell::words(kind_name(function.kind)));
    if (has_ranges) cells.push_back(Cell::words(launched_in(function)));
    cells.push_back(Cell::figure(format::significant(launches, 3)).valued(launches));
    cells.push_back(Cell::bare(derived_value(static_cast<double>(function.time) * s_per_ns / steps)));
    cells.push_back(Cell::figure(format::percent(share)).valued(share));
    if (are_counted) add_counted(cells, function.counted);
    table.row(std::move(cells));
  }
  return table;
}

const Value& timed_part(const OpResult& op) {
  return op.op_time ? op.op_time : op.group_time;
}

/// Its NVTX ranges, and what it timed itself, without a profiler. nullopt of a program in one part.
std::optional<Table> parts_table(const FamilyResult& family, const PageContext& page) {
  constexpr std::size_t most = 15;
  const CaseResult* const result = only_process(family);
  if (result == nullptr) return std::nullopt;
  std::vector<const OpResult*> parts;
  for (const OpResult& op : result->ops) {
    if (op.info.name != trace::whole_program && timed_part(op)) parts.push_back(&op);
  }
  if (parts.empty()) return std::nullopt;
  std::ranges::stable_sort(parts, std::ranges::greater{},
                           [](const OpResult* op) { return timed_part(*op)->median; });
  const std::size_t shown = std::min(most, parts.size());
  Table table(
      page.anchor("program parts"),
      fmt::format(
          "{} of the program's parts, without a profiler: all of them from its start to its end, "
          "warming up too. An NVTX range that lies in another one counts in both.",
          shown < parts.size() ? fmt::format("The {} longest of {} times", shown, parts.size()) : "Times"));
  table.text("Part").text("Timed").numbers("Time in all", Unit::second).numbers("Share of the program");
  for (const OpResult* op : std::span(parts).first(shown)) {
    const double share = timed_part(*op)->median / result->total_time->median;
    table.row({Cell::words(op->info.name), Cell::words(op->op_time ? "by the program" : "as an NVTX range"),
               Cell::value(timed_part(*op)), Cell::figure(format::percent(share)).valued(share)});
  }
  return table;
}

json parts_view(const FamilyResult& family, const PageContext& page) {
  const std::optional<Table> table = parts_table(family, page);
  return table ? table->view() : json(false);
}

json process_cards(const CaseResult& result) {
  const ProcessPicture process = process_of(result, nullptr);
  json cards = json::array();
  cards.push_back(card("It takes", fmt::format("median of {}", process.times.size()),
                       format::quantity(process.median(), Unit::second),
                       fmt::format("{} to {}", format::quantity(process.least(), Unit::second),
                                   format::quantity(process.most(), Unit::second))));
  if (process.cores_busy)
    cards.push_back(card("Cores busy", "user and system time over wall time",
                         format::significant(*process.cores_busy, 3), ""));
  if (process.peak_memory)
    cards.push_back(
        card("Peak memory", "of the largest process", format::about(*process.peak_memory, Unit::byte), ""));
  return cards;
}

/// Of a program without work on a GPU, or without a trace.
json process_view(const FamilyResult& family, const PageContext& page) {
  const CaseResult* const result = only_process(family);
  if (result == nullptr) return false;
  json lines = json::array();
  for (const LedText& line : process_lines(process_of(*result, &page.materials->evidence)))
    lines.push_back({{"lead", line.lead}, {"text", line.text}});
  return {{"cards", process_cards(*result)},
          {"lines", std::move(lines)},
          {"strip", false},
          {"table", false},
          {"kernels", false},
          {"parts", parts_view(family, page)},
          {"ranges", false},
          {"captures", false},
          {"launched", false},
          {"drawn", false},
          {"load", false},
          {"pace", false},
          {"memory", false},
          {"level", "3"},
          {"hashes", "###"}};
}

/// Of a program that has neither: what it launched by its counters, if these are all that there is.
json untimed_view(const FamilyResult& family, const PageContext& page) {
  if (family.id != own_family || family.variants.size() != 1) return false;
  const VariantResult& only = family.variants.front();
  const auto failed = std::ranges::find_if_not(only.cases, &CaseResult::ok);
  const std::string text =
      failed == only.cases.end()
          ? "Nothing was timed without a profiler, and no trace says when its kernels ran."
          : "It did not run to its end as it should, so no time counts: " + why_without_times(*failed) + ".";
  return {{"cards", json::array()}, {"lines", json::array({{{"lead", "Its time"}, {"text", text}}})},
          {"strip", false},         {"table", top_kernels_view(family, only, page.plan->anchors)},
          {"kernels", false},       {"parts", false},
          {"ranges", false},        {"captures", false},
          {"drawn", false},         {"load", false},
          {"pace", false},          {"memory", false},
          {"level", "3"},           {"hashes", "###"}};
}

}  // namespace

json program_screen(const ProgramPicture& picture, const PageContext& page) {
  json lines = json::array();
  for (const LedText& line : program_lines(picture))
    lines.push_back({{"lead", line.lead}, {"text", line.text}});
  return {{"cards", cards_of(picture)},
          {"lines", std::move(lines)},
          {"strip", step_strip_view(picture)},
          {"table", functions_table(picture, page).view()},
          {"kernels", kernel_details_view(picture, page)},
          {"parts", false},
          {"ranges", range_tree_view(picture, page)},
          {"captures", captures_view(picture, page)},
          {"launched", launch_lines_view(picture, page)},
          {"drawn", drawn_step_view(picture, page)},
          {"load", load_view(picture, page)},
          {"pace", pace_view(picture, page)},
          {"memory", memory_view(picture, page)},
          {"level", "3"},
          {"hashes", "###"}};
}

json program_view(const FamilyResult& family, const PageContext& page) {
  const auto picture = picture_of_family(family, page.materials->evidence);
  if (!picture) {
    json process = process_view(family, page);
    return process.is_boolean() ? untimed_view(family, page) : process;
  }
  json view = program_screen(*picture, page);
  view["parts"] = parts_view(family, page);
  return view;
}

}  // namespace mprof
