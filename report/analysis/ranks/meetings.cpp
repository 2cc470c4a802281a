// SPDX-License-Identifier: MIT
#include "report/analysis/ranks/meetings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// The collectives of one group on one rank, in their order.
struct Sequence {
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> collectives{};
};

/// A group as it is put together: the sequence that others are compared with, and theirs with their shifts.
struct Gathering {
  std::string name{};
  std::uint32_t size = 0;
  std::vector<Sequence> sequences{};
  /// The first collective of sequence i is number shifts[i] of the first sequence.
  std::vector<std::ptrdiff_t> shifts{};
};

/// How well a sequence fits to another one from some place on.
struct Fit {
  std::ptrdiff_t shift = 0;
  double distance = 0;  ///< ns, of their ends
  double drift = 0;     ///< of their clocks, were they done at the same moments
};

class Matcher {
 public:
  explicit Matcher(std::span<const RankSummary> ranks) : ranks_(ranks) {}

  Meetings match() {
    auto by_group = sequences_by_group();
    std::size_t sequences = 0;
    for (const auto& [key, of_group] : by_group) sequences += of_group.size();
    budget_ = std::max(least_budget, budget_of_all / std::max<std::size_t>(sequences, 1));
    for (auto& [key, of_group] : by_group) gather(key.first, std::move(of_group));
    for (Gathering& gathering : gatherings_) add_meetings(gathering);
    add_groups_without_meetings();
    return std::move(meetings_);
  }

 private:
  using GroupKey = std::pair<std::string, std::size_t>;  // its name; of those without one, which

  [[nodiscard]] const RankCollective& collective(const Sequence& sequence, std::size_t at) const {
    return ranks_[sequence.rank].collectives[sequence.collectives[at]];
  }

  [[nodiscard]] double end_of(const Sequence& sequence, std::size_t at) const {
    return static_cast<double>(collective(sequence, at).time.end);
  }

  /// With more ranks than two, the n-th message of one is not the n-th one of another.
  [[nodiscard]] static bool is_loose(const RankCollective& one, std::size_t ranks) {
    constexpr std::size_t pair = 2;
    return one.kind == trace::CollectiveKind::send_receive && ranks > pair;
  }

  std::map<GroupKey, std::vector<Sequence>> sequences_by_group() {
    std::map<std::string, std::size_t> ranks_of;  // by the group's name
    for (const RankSummary& rank : ranks_) {
      for (const std::string& name : rank.groups) ranks_of[name] += name.empty() ? 0 : 1;
    }
    std::map<GroupKey, std::vector<Sequence>> by_group;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankSummary& rank = ranks_[r];
      std::vector<Sequence> own(rank.groups.size(), Sequence{.rank = r});
      for (std::uint32_t c = 0; c < rank.collectives.size(); ++c) {
        const RankCollective& one = rank.collectives[c];
        if (is_loose(one, std::max<std::size_t>(one.group_size, ranks_of[rank.groups.at(one.group)]))) {
          ++meetings_.unmatched_messages;
          continue;
        }
        Sequence& sequence = own.at(one.group);
        sequence.collectives.push_back(c);
      }
      std::size_t unnamed = 0;
      for (std::size_t g = 0; g < own.size(); ++g) {
        const std::string& name = rank.groups[g];
        if (!own[g].collectives.empty())
          by_group[{name, name.empty() ? unnamed++ : 0}].push_back(std::move(own[g]));
      }
    }
    return by_group;
  }

  void gather(const std::string& name, std::vector<Sequence> sequences) {
    // The longest one first: all others lie within it, but for their ends.
    std::ranges::stable_sort(sequences, std::ranges::greater{},
                             [](const Sequence& one) { return one.collectives.size(); });
    const std::size_t first = gatherings_.size();
    for (Sequence& sequence : sequences) {
      std::optional<Fit> fit;
      std::size_t into = first;
      for (; into < gatherings_.size(); ++into) {
        fit = fit_of(gatherings_[into].sequences.front(), sequence);
        if (fit && (!name.empty() || lie_together(gatherings_[into].sequences.front(), *fit))) break;
        fit.reset();
      }
      if (!fit) gatherings_.push_back({.name = name});
      Gathering& gathering = gatherings_[into];
      gathering.shifts.push_back(fit ? fit->shift : 0);
      gathering.size = std::max(gathering.size, collective(sequence, 0).group_size);
      gathering.sequences.push_back(std::move(sequence));
    }
  }

  /// Whether two ranks are done at the same moments, as far as their clocks allow.
  [[nodiscard]] bool lie_together(const Sequence& longest, const Fit& fit) const {
    constexpr double near = 0.1, largest_drift = 1e-3;
    if (std::abs(fit.drift) > largest_drift) return false;
    std::vector<double> gaps;
    for (std::size_t i = 1; i < longest.collectives.size(); ++i)
      gaps.push_back(end_of(longest, i) - end_of(longest, i - 1));
    return gaps.empty() || fit.distance <= near * median(gaps);
  }

  [[nodiscard]] std::optional<Fit> fit_of(const Sequence& longest, const Sequence& other) const {
    constexpr std::ptrdiff_t nearest = 64;
    std::size_t work = 0;
    std::optional<Fit> best = fit_at(longest, other, 0, work);
    const bool is_plain =
        best && longest.collectives.size() == other.collectives.size() && lie_together(longest, *best);
    if (is_plain) return best;
    const auto own = static_cast<std::ptrdiff_t>(other.collectives.size());
    const std::ptrdiff_t lacking = static_cast<std::ptrdiff_t>(longest.collectives.size()) - own;
    const std::ptrdiff_t farthest = std::max(nearest, own / 2);
    const auto consider = [&](std::ptrdiff_t shift) {
      const std::optional<Fit> fit = fit_at(longest, other, shift, work);
      // No other count than the plain one, unless it fits much better.
      const double than = best && best->shift == 0 ? best->distance / 2 : best ? best->distance : 0;
      if (fit && (!best || fit->distance < than)) best = fit;
    };
    // From both ends inwards, where a trace began later or ended earlier; then outwards.
    for (std::ptrdiff_t i = 0; 2 * i <= lacking && work < budget_; ++i) {
      if (i != 0) consider(i);
      if (lacking - i != i) consider(lacking - i);
    }
    for (std::ptrdiff_t i = 1; i <= farthest && work < budget_; ++i) {
      consider(-i);
      consider(lacking + i);
    }
    return best;
  }

  /// Of an AllToAll each rank may send another number of bytes.
  [[nodiscard]] static bool are_alike(const RankCollective& a, const RankCollective& b) {
    return a.kind == b.kind && (a.bytes == b.bytes || a.kind == trace::CollectiveKind::all_to_all);
  }

  /// nullopt where too little of them overlaps, or more than one in twenty is of another kind or size. Of
  /// many pairs a thousand are looked at, at distances that repeat no pattern. Adds its steps to `work`.
  [[nodiscard]] std::optional<Fit> fit_at(const Sequence& longest, const Sequence& other,
                                          std::ptrdiff_t shift, std::size_t& work) const {
    constexpr std::size_t most = 1000, of_twenty = 20, steps_of_fit = 10;
    const auto own_size = static_cast<std::ptrdiff_t>(other.collectives.size());
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(0, -shift);
    const std::ptrdiff_t end =
        std::min(own_size, static_cast<std::ptrdiff_t>(longest.collectives.size()) - shift);
    ++work;
    if (end <= begin || (shift != 0 && 2 * (end - begin) < own_size)) return std::nullopt;
    const auto overlap = static_cast<std::size_t>(end - begin);
    const std::size_t pairs = std::min(overlap, most), gap = overlap / pairs;
    std::vector<double> own, theirs;
    std::size_t differ = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t place = static_cast<std::size_t>(begin) + i * overlap / pairs + i * i % gap;
      const auto at = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(place) + shift);
      ++work;
      if (!are_alike(collective(longest, at), collective(other, place)) && of_twenty * ++differ > pairs)
        return std::nullopt;
      own.push_back(end_of(other, place));
      theirs.push_back(end_of(longest, at));
    }
    work += steps_of_fit * pairs;
    const ClockLine line = fit_clocks(own, theirs);
    return Fit{shift, distance_from(line, own, theirs), line.drift};
  }

  void add_meetings(Gathering& gathering) {
    gathering.size = std::max(gathering.size, static_cast<std::uint32_t>(gathering.sequences.size()));
    std::map<std::ptrdiff_t, Meeting> meetings;
    for (std::size_t s = 0; s < gathering.sequences.size(); ++s) {
      const Sequence& sequence = gathering.sequences[s];
      for (std::size_t i = 0; i < sequence.collectives.size(); ++i) {
        const RankCollective& one = collective(sequence, i);
        if (is_loose(one, gathering.sequences.size())) {
          ++meetings_.unmatched_messages;
          continue;
        }
        Meeting& meeting = meetings[static_cast<std::ptrdiff_t>(i) + gathering.shifts[s]];
        meeting.kind = one.kind;
        // An AllToAll with other bytes on each rank has no size that can be compared.
        const std::uint64_t bytes = one.is_of_one_rank ? one.bytes * gathering.size : one.bytes;
        const bool differs =
            !meeting.parts.empty() && one.kind == trace::CollectiveKind::all_to_all && bytes != meeting.bytes;
        meeting.bytes = differs ? 0 : std::max(meeting.bytes, bytes);
        if (meeting.parts.empty()) meeting.parts.reserve(gathering.sequences.size());
        meeting.parts.push_back({sequence.rank, sequence.collectives[i]});
      }
    }
    RankGroup group{.name = gathering.name, .size = gathering.size};
    for (const Sequence& sequence : gathering.sequences) group.ranks.push_back(sequence.rank);
    std::ranges::sort(group.ranks);
    const auto number = static_cast<std::uint32_t>(meetings_.groups.size());
    meetings_.groups.push_back(std::move(group));
    for (auto& [place, meeting] : meetings) {
      if (meeting.parts.size() < 2) {
        ++meetings_.single;
        continue;
      }
      std::ranges::sort(meeting.parts, {}, &MeetingPart::rank);
      meeting.group = number;
      meetings_.all.push_back(std::move(meeting));
    }
    gathering.sequences = {};
  }

  /// Named groups whose messages cannot be matched.
  void add_groups_without_meetings() {
    std::set<std::string> known{""};
    for (const RankGroup& group : meetings_.groups) known.insert(group.name);
    std::map<std::string, RankGroup> others;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      std::vector<std::uint32_t> sizes(ranks_[r].groups.size());
      for (const RankCollective& one : ranks_[r].collectives)
        sizes[one.group] = std::max(sizes[one.group], std::max(one.group_size, 1U));
      for (std::size_t g = 0; g < sizes.size(); ++g) {
        const std::string& name = ranks_[r].groups[g];
        if (sizes[g] == 0 || known.contains(name)) continue;
        RankGroup& group = others[name];
        group.name = name;
        group.size = std::max(group.size, sizes[g]);
        group.ranks.push_back(r);
      }
    }
    for (auto& [name, group] : others) {
      group.size = std::max(group.size, static_cast<std::uint32_t>(group.ranks.size()));
      meetings_.groups.push_back(std::move(group));
    }
  }

  /// So many steps of searching for all sequences together, but enough for each to look around.
  static constexpr std::size_t budget_of_all = 100'000'000, least_budget = 1'500'000;

  std::span<const RankSummary> ranks_;
  std::size_t budget_ = 0;  ///< for each sequence
  std::vector<Gathering> gatherings_;
  Meetings meetings_;
};

}  // namespace

Meetings meetings_of(std::span<const RankSummary> ranks) {
  return Matcher(ranks).match();
}

ClockLine fit_clocks(std::span<const double> own, std::span<const double> other) {
  constexpr std::size_t fewest = 20;
  ClockLine line;
  std::vector<double> values;
  const std::size_t half = own.size() / 2;
  if (own.size() >= fewest) {
    for (std::size_t i = 0; i + half < own.size(); ++i) {
      const double time = own[i + half] - own[i];
      if (time > 0) values.push_back((other[i + half] - other[i]) / time - 1);
    }
    if (!values.empty()) line.drift = median(values);
  }
  values.clear();
  for (std::size_t i = 0; i < own.size(); ++i) values.push_back(other[i] - own[i] - line.drift * own[i]);
  line.offset = median(values);
  return line;
}

double distance_from(const ClockLine& line, std::span<const double> own, std::span<const double> other) {
  std::vector<double> distances;
  for (std::size_t i = 0; i < own.size(); ++i) distances.push_back(std::abs(other[i] - line(own[i])));
  return median(distances);
}

}  // namespace mprof
