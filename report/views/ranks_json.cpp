// SPDX-License-Identifier: MIT
#include "report/text/format.hpp"
#include "report/views/ranks_view.hpp"
#include "report/wording/ranks.hpp"
#include "report/wording/time_budget.hpp"

namespace mprof {
namespace {

using nlohmann::ordered_json;

double in_seconds(std::int64_t ns) {
  return seconds_of_ns * static_cast<double>(ns);
}

ordered_json cell_json(const RankCell& cell) {
  return {{"step", in_seconds(cell.length)},
          {"computing", in_seconds(cell.computing)},
          {"communication", in_seconds(cell.communication)},
          {"exposed", in_seconds(cell.exposed)},
          {"waiting", in_seconds(cell.waiting)},
          {"copies", in_seconds(cell.copying)},
          {"idle", in_seconds(cell.idle)}};
}

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json rank_json(const World& world, std::size_t rank) {
  const RankSummary& summary = world.ranks[rank];
  ordered_json idle = ordered_json::object();
  for (std::size_t part = 0; part < budget_parts; ++part) {
    if (is_idle(static_cast<BudgetPart>(part)))
      idle[std::string(idle_cause(static_cast<BudgetPart>(part)))] =
          seconds_of_ns * world.usual[rank].idle.at(part);
  }
  ordered_json data{{"rank", or_null(summary.rank)},
                    {"file", summary.name},
                    {"host", summary.host},
                    {"gpu", summary.gpu},
                    {"device", or_null(summary.device)},
                    {"steps", summary.steps.size()},
                    {"first_step", summary.first_step}};
  data.update(cell_json(world.usual[rank].cell));
  data["idle_by_cause"] = std::move(idle);
  data["of_critical_path"] =
      world.path.steps > 0 ? ordered_json(world.path.by_rank[rank]) : ordered_json(nullptr);
  return data;
}

ordered_json cause_json(const LateCause& cause) {
  using What = LateCause::What;
  const auto kind = [&] {
    switch (cause.what) {
      case What::all_kernels:
        return "all_kernels";
      case What::some_launches:
        return "some_launches";
      case What::some_kernel:
        return "kernel";
      case What::more_kernels:
        return "more_kernels";
      case What::copies:
        return "copies";
      case What::idle:
        return "idle";
      case What::unknown:
        break;
    }
    return "unknown";
  };
  ordered_json data{
      {"kind", kind()}, {"more", seconds_of_ns * cause.more}, {"text", format::one_line(late_cause(cause))}};
  if (cause.what == What::idle) data["idle"] = idle_cause(cause.part);
  if (cause.what == What::some_kernel) data["kernel"] = cause.kernel;
  if (cause.factor > 1) data["factor"] = cause.factor;
  if (cause.sm_clock > 0) {
    data["sm_clock"] = cause.sm_clock;
    data["usual_sm_clock"] = cause.usual_sm_clock;
  }
  if (!cause.place.empty()) {
    data["place"] = cause.place;
    data["place_is_line"] = cause.place_is_line;
  }
  return data;
}

ordered_json late_json(const World& world, const LateRank& late) {
  return {{"rank", world.label(late.rank)},
          {"last", late.last},
          {"of", late.of},
          {"cost", seconds_of_ns * late.cost},
          {"share", world.step > 0 ? late.cost / world.step : 0},
          {"since", or_null(late.since)},
          {"cause", cause_json(late.cause)}};
}

ordered_json collective_json(const LinkRate& rate) {
  return {{"kind", trace::to_string(rate.kind)},
          {"ranks", rate.ranks},
          {"bytes", rate.bytes > 0 ? ordered_json(rate.bytes) : ordered_json(nullptr)},
          {"count", rate.count},
          {"transfer", seconds_of_ns * rate.transfer},
          {"waiting", seconds_of_ns * rate.waiting},
          {"bus_bandwidth", or_null(rate.rate)},
          {"best_bus_bandwidth", or_null(rate.best)},
          {"group", rate.group},
          {"latency_bound", rate.is_small},
          {"bandwidth_bound", rate.is_large}};
}

ordered_json clocks_json(const RankClocks& clocks) {
  return {{"clocks", clocks.size()},
          {"parts", clocks.parts()},
          {"median_residual", seconds_of_ns * clocks.usual_distance()},
          {"residual_95", seconds_of_ns * clocks.rare_distance()},
          {"largest_drift", clocks.largest_drift()}};
}

ordered_json path_json(const CriticalPath& path) {
  ordered_json data{{"steps", path.steps}};
  for (std::size_t part = 0; part < rank_activities; ++part)
    data[std::string(to_string(static_cast<RankActivity>(part)))] = path.parts.at(part);
  return data;
}

ordered_json group_json(const World& world, std::size_t index) {
  const RankGroup& group = world.meetings.groups[index];
  const GroupUse& use = world.uses[index];
  ordered_json members = ordered_json::array();
  for (const std::uint32_t rank : group.ranks) members.push_back(world.label(rank));
  const bool is_known = use.parallelism != Parallelism::unknown;
  return {{"name", group.name},
          {"size", group.size},
          {"ranks", std::move(members)},
          {"parallelism", is_known ? ordered_json(to_string(use.parallelism)) : ordered_json()},
          {"stride", use.stride > 0 ? ordered_json(use.stride) : ordered_json()},
          {"collectives_per_step", use.per_step},
          {"usual_kind", use.per_step > 0 ? ordered_json(trace::to_string(use.kind)) : ordered_json()},
          {"usual_bytes", use.bytes > 0 ? ordered_json(use.bytes) : ordered_json()},
          {"early", use.early}};
}

}  // namespace

ordered_json ranks_json(const World& world) {
  ordered_json ranks = ordered_json::array(), late = ordered_json::array(), rates = ordered_json::array(),
               groups = ordered_json::array();
  for (std::size_t r = 0; r < world.ranks.size(); ++r) ranks.push_back(rank_json(world, r));
  for (const LateRank& one : world.late) late.push_back(late_json(world, one));
  for (const LinkRate& rate : world.rates) rates.push_back(collective_json(rate));
  for (std::size_t g = 0; g < world.meetings.groups.size(); ++g) groups.push_back(group_json(world, g));
  ordered_json answer = ordered_json::array();
  for (const std::string& sentence : rank_sentences(world)) answer.push_back(format::one_line(sentence));
  return {{"schema", "mprof.ranks/1"},
          {"answer", std::move(answer)},
          {"doubts", rank_doubts(world)},
          {"steps", world.steps},
          {"step", seconds_of_ns * world.step},
          {"usual", cell_json(world.all)},
          {"waiting_for_last", seconds_of_ns * world.waiting_cost},
          {"slowest_step", or_null(world.slowest)},
          {"late", std::move(late)},
          {"collectives", std::move(rates)},
          {"critical_path", path_json(world.path)},
          {"clocks", clocks_json(world.clocks)},
          {"groups", std::move(groups)},
          {"ranks", std::move(ranks)}};
}

}  // namespace mprof
