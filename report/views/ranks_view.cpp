// SPDX-License-Identifier: MIT
#include "report/views/ranks_view.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/ranks.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// Of clocks' rounding nothing is left.
Cell time_cell(double ns) {
  constexpr double least = 10;
  if (ns < least) ns = 0;
  return Cell::bare(Value{.estimate = Estimate{.median = seconds_of_ns * ns}, .absent = {}});
}

bool is_late(const World& world, std::size_t rank) {
  return std::ranges::any_of(world.late, [&](const LateRank& late) { return late.rank == rank; });
}

/// The late ones first. Then the others, the one that waits the least first: the others wait for it.
std::vector<std::size_t> telling_order(const World& world) {
  std::vector<std::size_t> order(world.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::size_t> place(world.ranks.size(), std::numeric_limits<std::size_t>::max());
  for (std::size_t i = 0; i < world.late.size(); ++i) place[world.late[i].rank] = i;
  std::ranges::stable_sort(order, {},
                           [&](std::size_t r) { return std::pair(place[r], world.usual[r].cell.waiting); });
  return order;
}

/// "0, 4, 8 … 60"
std::string members_of(const World& world, const RankGroup& group) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    const bool is_last = i + 1 == group.ranks.size();
    if (i + 1 >= most && !is_last) continue;
    if (i > 0) text += is_last && i >= most ? " … " : ", ";
    text += world.label(group.ranks[i]);
  }
  return text;
}

std::vector<std::string> one_lines(const std::vector<std::string>& texts) {
  std::vector<std::string> lines;
  for (const std::string& text : texts) lines.push_back(format::one_line(text));
  return lines;
}

}  // namespace

Table ranks_table(const World& world, std::size_t most) {
  std::vector<std::size_t> shown = telling_order(world);
  const bool is_cut = shown.size() > most;
  if (is_cut) shown.resize(most);
  if (!is_cut) std::ranges::sort(shown);
  Table table("ranks", is_cut ? fmt::format("The usual step of {} of {} ranks: the late ones, then "
                                            "those which wait least",
                                            most, world.ranks.size())
                              : "The usual step of each rank: medians over its steps");
  table.text("Rank")
      .numbers("Step", Unit::second)
      .numbers("Computing", Unit::second)
      .numbers("Communication", Unit::second)
      .numbers("Exposed", Unit::second)
      .numbers("Waiting", Unit::second)
      .numbers("Copies", Unit::second)
      .numbers("Idle", Unit::second)
      .text("Host")
      .text("GPU");
  for (const std::size_t r : shown) {
    const RankSummary& rank = world.ranks[r];
    const RankCell& cell = world.usual[r].cell;
    const auto time = [&](std::int64_t ns) {
      return world.is_left_out[r] ? Cell::dash() : time_cell(static_cast<double>(ns));
    };
    const std::string gpu = rank.device ? fmt::format("{} ({})", rank.gpu, *rank.device) : rank.gpu;
    table.row({Cell::words(world.label(r), is_late(world, r) ? Tone::bad : Tone::plain), time(cell.length),
               time(cell.computing), time(cell.communication), time(cell.exposed), time(cell.waiting),
               time(cell.copying), time(cell.idle), rank.host.empty() ? Cell::dash() : Cell::words(rank.host),
               gpu.empty() ? Cell::dash() : Cell::words(gpu)});
  }
  return table;
}

Table late_table(const World& world) {
  Table table("late", "Ranks that others wait for over and over");
  table.text("Rank")
      .numbers("Came last")
      .numbers("Costs a step", Unit::second)
      .numbers("Of a step")
      .text("Since step")
      .text("Why");
  for (const LateRank& late : world.late) {
    const double share = world.step > 0 ? late.cost / world.step : 0;
    table.row({Cell::words(world.label(late.rank), Tone::bad),
               Cell::figure(fmt::format("{} of {}", format::count(late.last), format::count(late.of)))
                   .valued(static_cast<double>(late.last)),
               time_cell(late.cost), Cell::figure(format::percent(share)).valued(share),
               late.since ? Cell::words(fmt::format("{}", *late.since)) : Cell::words("the first"),
               Cell::words(late_cause(late.cause))});
  }
  return table;
}

Table rates_table(const World& world) {
  Table table("rates", "Collectives by kind and size");
  table.text("Collective")
      .numbers("Ranks")
      .numbers("Count")
      .numbers("Transfer", Unit::second)
      .numbers("Waiting", Unit::second)
      .numbers("On the bus", Unit::byte_per_second)
      .numbers("At best", Unit::byte_per_second)
      .text("Bound by")
      .text("Between");
  const auto rate_cell = [](const std::optional<double>& rate) {
    if (!rate) return Cell::missing("the trace does not say how many bytes a collective has");
    return Cell::bare(Value{.estimate = Estimate{.median = *rate}, .absent = {}});
  };
  for (const LinkRate& rate : world.rates) {
    table.row({Cell::words(rate_name(rate)),
               Cell::figure(fmt::format("{}", rate.ranks)).valued(static_cast<double>(rate.ranks)),
               Cell::figure(format::count(rate.count)).valued(static_cast<double>(rate.count)),
               time_cell(rate.transfer), time_cell(rate.waiting), rate_cell(rate.rate), rate_cell(rate.best),
               rate.is_small   ? Cell::words("latency")
               : rate.is_large ? Cell::words("bandwidth")
                               : Cell::dash(),
               Cell::words(members_of(world, world.meetings.groups[rate.group]))});
  }
  return table;
}

Page ranks_page(const World& world) {
  constexpr std::size_t most_rows = 1000;
  PagePlan plan;
  for (const char* id : {"ranks", "late", "rates", "slowest"}) (void)plan.anchors.make(id);
  const std::vector<std::string> sentences = rank_sentences(world);
  const std::string drawn = slowest_step_svg(world);
  json view{{"title", "Ranks"},
            {"headline", format::one_line(sentences.front())},
            {"sentences", one_lines({sentences.begin() + 1, sentences.end()})},
            {"doubts", one_lines(rank_doubts(world))},
            {"has_steps", world.steps > 0},
            {"slowest", drawn.empty() ? json(false)
                                      : json{{"number", fmt::format("{}", *world.slowest)}, {"svg", drawn}}},
            {"late", world.late.size() <= told_late_ranks ? json(false) : late_table(world).view()},
            {"rates", world.rates.empty() ? json(false) : rates_table(world).view()},
            {"table", ranks_table(world, most_rows).view()}};
  view["has_doubts"] = !view["doubts"].empty();
  view["chart"] = world.steps > 0 ? plan.place(ranks_map(world, plan.anchors)) : json(false);
  return {std::move(view), plan.take_charts()};
}

}  // namespace mprof
