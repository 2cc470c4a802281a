// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/analysis/ranks/rank_summary.hpp"

/// Which collectives of several ranks are one and the same.
namespace mprof {

/// A rank's part of a collective that it carries out with others.
struct MeetingPart {
  std::uint32_t rank = 0;        ///< index into the summaries
  std::uint32_t collective = 0;  ///< index into its collectives
};

struct Meeting {
  trace::CollectiveKind kind = trace::CollectiveKind::other;
  std::uint64_t bytes = 0;           ///< 0: not known
  std::uint32_t group = 0;           ///< index into Meetings::groups
  std::vector<MeetingPart> parts{};  ///< two or more, by rank
};

/// Ranks that communicate with each other.
struct RankGroup {
  std::string name{};  ///< empty: the files do not name it
  std::vector<std::uint32_t> ranks{};
  std::uint32_t size = 0;  ///< how many there are, as far as is known; more than `ranks`: traces are missing
};

struct Meetings {
  std::vector<RankGroup> groups{};
  std::vector<Meeting> all{};
  std::size_t single = 0;  ///< collectives of which no other rank's part was found
  /// Parts of Send/Recv in groups of more than two ranks: which ones are one message is not known.
  std::size_t unmatched_messages = 0;
};

/// The n-th collective of a group is the n-th one on each of its ranks. Where a trace began later or lost
/// some, another count fits better: kinds and sizes agree, and the moments at which the ranks are done lie
/// most evenly. Where files do not name groups, the communicators of each rank are taken in the order of
/// their first use, and ranks belong together whose moments do.
[[nodiscard]] Meetings meetings_of(std::span<const RankSummary> ranks);

/// A straight line between two clocks: `other = own + offset + drift * own`.
struct ClockLine {
  double offset = 0;  ///< ns
  double drift = 0;
  [[nodiscard]] double operator()(double time) const { return time + offset + drift * time; }
};

/// By medians, so that many odd moments do not turn it. Below twenty moments no drift is assumed. `own` and
/// `other` have the same length, at least one, and `own` ascends.
[[nodiscard]] ClockLine fit_clocks(std::span<const double> own, std::span<const double> other);

/// ns: the median distance of moments from the line.
[[nodiscard]] double distance_from(const ClockLine& line, std::span<const double> own,
                                   std::span<const double> other);

}  // namespace mprof
