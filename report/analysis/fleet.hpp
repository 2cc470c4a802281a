#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "model/run.hpp"

/// Many GPUs of one model that ran the same cases: which of them is slow, or computes other bits.
/// docs/statistics.md says by what rule.
namespace mprof {

/// What a fleet keeps of a run, which is little beside its samples.
struct FleetMember {
  std::string name{};   ///< of the run
  std::string gpu{};    ///< its UUID; empty without a GPU
  std::string model{};  ///< its name, or that of the CPU
  /// s, the median of each round of each op time; by case and op: "map/direct@8 map".
  std::map<std::string, std::vector<double>> times{};
  std::map<std::string, std::string> outputs{};  ///< what tells an output's bits from others, by the same
  std::vector<std::string> failures{};    ///< cases with a wrong output, or none: "map/direct@8: wrong"
  std::map<std::string, double> facts{};  ///< what may be the cause: medians of clocks, temperature, ...
};

[[nodiscard]] FleetMember fleet_member(const Run& run, const std::string& name);

/// A time that is slow on one GPU.
struct SlowTime {
  std::string time{};
  double performance = 1;  ///< the fleet's time over this one's
  double deviations = 0;   ///< robust standard deviations from the fleet
};

struct FleetVerdict {
  const FleetMember* member = nullptr;
  double performance = 1;  ///< the fleet's times over this one's, in the median of all times
  double deviations = 0;   ///< robust standard deviations that it is slower than the fleet
  bool slow = false;       ///< on the whole, or in many of its times, and so in two rounds at least
  bool once = false;       ///< it would be, but there is only one round: to be measured again
  std::vector<SlowTime> slow_times{};        ///< the slowest first
  std::vector<std::string> other_outputs{};  ///< where its bits differ from the fleet's
  std::string cause{};                       ///< of a slow one: a sentence without a full stop
  [[nodiscard]] bool is_bad() const { return slow || !other_outputs.empty() || !member->failures.empty(); }
};

/// The GPUs of one model.
struct FleetOfModel {
  std::string model{};
  std::size_t times = 0;  ///< that at least five GPUs have
  double spread = 0;      ///< robust standard deviation of performance between its GPUs, as a share
  std::vector<FleetVerdict> verdicts{};  ///< what is bad first, then by performance
};

/// Of each model that there are at least five GPUs of; `members` must outlive it.
struct Fleet {
  std::vector<FleetOfModel> models{};
  std::vector<std::string> too_few{};  ///< models of fewer, that nothing can be said of
  [[nodiscard]] bool is_bad() const;
};
[[nodiscard]] Fleet judge_fleet(const std::vector<FleetMember>& members);

}  // namespace mprof
