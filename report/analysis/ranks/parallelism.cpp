// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/parallelism.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "model/enum_names.hpp"

namespace mprof {
namespace {

using enum trace::CollectiveKind;

constexpr EnumNames<Parallelism, parallelisms> parallelism_names{{{Parallelism::unknown, "unknown"},
                                                                  {Parallelism::data, "data"},
                                                                  {Parallelism::sharded_data, "sharded_data"},
                                                                  {Parallelism::tensor, "tensor"},
                                                                  {Parallelism::pipeline, "pipeline"},
                                                                  {Parallelism::expert, "expert"}}};

constexpr double bulk_share = 0.9, rare_share = 0.05;

/// The collectives of one rank in one group.
struct Seen {
  std::map<trace::CollectiveKind, std::size_t> kinds{};
  std::map<std::pair<trace::CollectiveKind, std::uint64_t>, std::size_t> sizes{};
  std::size_t all = 0;
  std::size_t early = 0;
  std::size_t early_scatters = 0;
  std::size_t uneven = 0;
  std::optional<std::uint32_t> rank{};  ///< whose they are
};

/// Where in its step a moment lies, from 0 to 1; nullopt: in none.
std::optional<double> place_in_step(const RankSummary& rank, std::int64_t time) {
  const auto step =
      std::ranges::upper_bound(rank.steps, time, {}, [](const RankStep& one) { return one.time.end; });
  if (step == rank.steps.end() || time < step->time.start) return std::nullopt;
  // What comes before the first kernel, such as waiting for a loader, is no part of the forward pass.
  std::int64_t start = step->time.start;
  for (std::size_t i = rank.stretches.at(start + 1); i < rank.stretches.size(); ++i) {
    const RankStretch stretch = rank.stretches[i];
    if (stretch.what == RankActivity::computing || stretch.time.end >= step->time.end) break;
    start = stretch.time.end;
  }
  return time <= start ? 0.0
                       : static_cast<double>(time - start) / static_cast<double>(step->time.end - start);
}

void see(Seen& seen, const RankSummary& rank, const RankCollective& one, std::uint64_t bytes) {
  constexpr double first_part = 1.0 / 3;
  const auto place = place_in_step(rank, one.time.start);
  if (!place) return;
  ++seen.all;
  ++seen.kinds[one.kind];
  ++seen.sizes[{one.kind, bytes}];
  seen.early += *place < first_part ? 1 : 0;
  seen.early_scatters += one.kind == reduce_scatter && *place < first_part ? 1 : 0;
  seen.uneven += bytes == 0 && one.bytes > 0 ? 1 : 0;
}

std::vector<Seen> seen_by_group(std::span<const RankSummary> ranks, const Meetings& meetings) {
  std::vector<Seen> groups(meetings.groups.size());
  for (const Meeting& meeting : meetings.all) {
    Seen& seen = groups[meeting.group];
    if (!seen.rank) seen.rank = meeting.parts.front().rank;
    for (const MeetingPart& part : meeting.parts) {
      if (part.rank == *seen.rank)
        see(seen, ranks[part.rank], ranks[part.rank].collectives[part.collective], meeting.bytes);
    }
  }
  // Messages that nobody matched: of a rank in the middle.
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const RankGroup& group = meetings.groups[g];
    if (groups[g].rank || group.name.empty() || group.ranks.empty()) continue;
    const RankSummary& rank = ranks[group.ranks[group.ranks.size() / 2]];
    for (const RankCollective& one : rank.collectives) {
      if (rank.groups[one.group] == group.name) see(groups[g], rank, one, one.bytes);
    }
    groups[g].rank = group.ranks[group.ranks.size() / 2];
  }
  return groups;
}

std::uint32_t stride_of(std::span<const RankSummary> ranks, const RankGroup& group) {
  std::uint32_t stride = 0;
  if (group.ranks.size() < group.size) return 0;  // those that have no trace here may lie between
  for (std::size_t i = 1; i < group.ranks.size(); ++i) {
    const auto before = ranks[group.ranks[i - 1]].rank, own = ranks[group.ranks[i]].rank;
    if (!before || !own || *own <= *before || (stride != 0 && *own - *before != stride)) return 0;
    stride = *own - *before;
  }
  return stride;
}

GroupUse use_of(const Seen& seen, const RankSummary& rank) {
  GroupUse use;
  if (seen.all == 0 || rank.steps.empty()) return use;
  const auto share = [&](std::size_t count) {
    return static_cast<double>(count) / static_cast<double>(seen.all);
  };
  const auto of = [&](trace::CollectiveKind kind) {
    const auto found = seen.kinds.find(kind);
    return found == seen.kinds.end() ? 0.0 : share(found->second);
  };
  const auto second = [](const auto& one) { return one.second; };
  const auto most = std::ranges::max_element(seen.kinds, {}, second);
  use.kind = most->first;
  use.per_step = static_cast<double>(seen.all) / static_cast<double>(rank.steps.size());
  use.of_kind = share(most->second);
  use.gathers = of(all_gather) > 0 && of(reduce_scatter) > 0 ? of(all_gather) + of(reduce_scatter) : 0;
  use.early = share(seen.early);
  use.uneven = share(seen.uneven);
  if (const auto scatters = seen.kinds.find(reduce_scatter); scatters != seen.kinds.end())
    use.early_scatters = static_cast<double>(seen.early_scatters) / static_cast<double>(scatters->second);
  std::size_t usual = 0;
  for (const auto& [size, count] : seen.sizes) {
    if (size.first != use.kind || count <= usual) continue;
    usual = count;
    use.bytes = size.second;
  }
  use.of_usual_size = static_cast<double>(usual) / static_cast<double>(most->second);
  return use;
}

/// What its collectives tell by themselves.
Parallelism by_own_use(const GroupUse& use, bool is_whole) {
  constexpr double many = 8;
  if (use.kind == all_to_all && use.uneven >= bulk_share) return Parallelism::expert;
  // Sums of gradients come late. Results that are put together in parts, among all ranks, do from the first
  // on.
  if (use.gathers >= bulk_share && is_whole)
    return use.early_scatters <= rare_share ? Parallelism::sharded_data : Parallelism::unknown;
  if (use.kind != all_reduce || use.of_kind < bulk_share) return Parallelism::unknown;
  // Gradients are there once the backward pass has begun. Parts of results are put together from the first
  // on.
  if (use.early <= rare_share) return Parallelism::data;
  // Gradients that are summed several times in a step look alike, but then among all ranks.
  const bool is_spread = use.early >= 0.2 && use.stride == 1 && !is_whole;
  return is_spread && use.per_step >= many && use.bytes > 0 && use.of_usual_size >= bulk_share
             ? Parallelism::tensor
             : Parallelism::unknown;
}

bool is_alike(const GroupUse& a, const GroupUse& b) {
  return a.kind == b.kind && a.stride == b.stride;
}

/// What it is beside the other groups of the program. Gathers within neighbours are of sharded data where
/// what they scattered is then summed with the other groups, and of tensors where little else is summed.
Parallelism by_others(const GroupUse& use, std::span<const GroupUse> all) {
  constexpr double about_as_many = 0.8, far_fewer = 0.25;
  const auto is_other = [&](const GroupUse& other) { return other.per_step > 0 && !is_alike(use, other); };
  if (use.gathers >= bulk_share && use.stride == 1) {
    double sums = 0;
    for (const GroupUse& other : all) {
      if (is_other(other) && other.kind == all_reduce && other.stride > 1)
        sums = std::max(sums, other.per_step);
    }
    if (sums >= about_as_many * use.per_step / 3) return Parallelism::unknown;
    return sums > 0 && sums <= far_fewer * use.per_step ? Parallelism::tensor : Parallelism::unknown;
  }
  // The stages of a pipeline lie farthest apart; a ring of neighbours passes messages too.
  if (use.kind != send_receive || use.of_kind < bulk_share || use.stride < 2) return Parallelism::unknown;
  bool has_nearer = false;
  for (const GroupUse& other : all) {
    if (!is_other(other)) continue;
    if (other.stride >= use.stride) return Parallelism::unknown;
    has_nearer = has_nearer || other.stride > 0;
  }
  return has_nearer ? Parallelism::pipeline : Parallelism::unknown;
}

}  // namespace

std::string_view to_string(Parallelism parallelism) {
  return name_of(parallelism_names, parallelism);
}

std::vector<GroupUse> uses_of_groups(std::span<const RankSummary> ranks, const Meetings& meetings) {
  const std::vector<Seen> seen = seen_by_group(ranks, meetings);
  std::vector<GroupUse> uses;
  for (std::size_t g = 0; g < seen.size(); ++g) {
    GroupUse& use = uses.emplace_back(seen[g].rank ? use_of(seen[g], ranks[*seen[g].rank]) : GroupUse{});
    use.stride = stride_of(ranks, meetings.groups[g]);
    const std::uint32_t world = ranks.front().world_size.value_or(static_cast<std::uint32_t>(ranks.size()));
    use.parallelism = by_own_use(use, meetings.groups[g].size >= world);
  }
  for (GroupUse& use : uses) {
    if (use.per_step > 0 && use.parallelism == Parallelism::unknown) use.parallelism = by_others(use, uses);
  }
  return uses;
}

}  // namespace mprof
