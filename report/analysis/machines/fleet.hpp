// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"
#include "model/run.hpp"
#include "report/analysis/machines/history.hpp"

/// Many GPUs of one model that ran the same cases: which of them is slow, or computes other bits.
/// docs/how-it-works/statistics.md says by what rule.
namespace mprof {

/// Something beside times that may be why a GPU is slow: the median of what was recorded beside them.
struct FleetFact {
  std::string_view name;
  Unit unit;
};
[[nodiscard]] std::span<const FleetFact> fleet_facts();

/// What a fleet keeps of a run, which is little beside its samples.
struct FleetMember {
  std::string name{};     ///< of the run
  std::string part{};     ///< of a merged run, which of its machines this is: "GPU-686d1ada"; otherwise empty
  std::string gpu{};      ///< its UUID; empty without a GPU
  std::string model{};    ///< its name, or the name of the CPU
  std::string started{};  ///< UTC, ISO 8601
  std::string build{};    ///< of mprof: "0.1.0 (5b2e758), release"
  /// s, the median of each round of each op time; by case and op: "map/direct@8 map".
  std::map<std::string, std::vector<double>> times{};
  std::map<std::string, std::string> outputs{};  ///< what tells an output's bits from others, by the same
  std::vector<std::string> failures{};    ///< cases with a wrong output, or none: "map/direct@8: wrong"
  std::map<std::string, double> facts{};  ///< the known ones of fleet_facts()
};

[[nodiscard]] FleetMember fleet_member(const Run& run, const std::string& name);

/// A time that is slow on one GPU.
struct SlowTime {
  std::string time{};
  double performance = 1;  ///< the fleet's time over this one's
  double deviations = 0;   ///< robust standard deviations from the fleet
};

/// A time that is slower on a GPU than it was there.
struct DeclinedTime {
  std::string time{};
  double performance = 1;  ///< the earlier time over the new one
  std::string since{};     ///< when the first run with the new time started; UTC, ISO 8601
};

/// A GPU compared with its own earlier runs.
struct FleetHistory {
  std::string name{};  ///< of its newest run
  std::string gpu{};   ///< its UUID
  std::size_t runs = 0;
  std::size_t times = 0;                       ///< that two runs have at least
  std::size_t bounded = 0;                     ///< of them, whose data exclude a noticeable change
  double performance = 1;                      ///< of the declined times, in the median
  std::vector<DeclinedTime> declined_times{};  ///< the most first
  bool declined = false;                       ///< in so many of its times that the GPU is slower than it was
  std::string absent{};                        ///< why it is undecided
};

/// What of a slow GPU differs from the fleet's.
struct SlowGpuCause {
  enum class What : std::uint8_t {
    other_build,  ///< of mprof
    neighbour,    ///< other processes used more of the GPU: `own` and `fleet` in percent
    clock,
    memory_clock,
    memory_bandwidth,  ///< as measured
    link_width,        ///< PCIe lanes
    link_bandwidth,    ///< as measured
    none,              ///< that was recorded
    no_clocks,         ///< were recorded, and nothing else differs
  };
  What what = What::none;
  double own = 0;                    ///< in the unit of the fact; 0 of a cause without one
  double fleet = 0;                  ///< the fleet's median
  double performance_in_cycles = 1;  ///< of a clock: the fleet's time over this one's, both in cycles
  bool is_slow_in_cycles = false;    ///< of a clock: it does not explain all of it
};

struct FleetVerdict {
  const FleetMember* member = nullptr;
  std::size_t times = 0;   ///< of it that the fleet has as well; without any, nothing is known of its speed
  double performance = 1;  ///< the fleet's times over this one's, in the median of all times
  double deviations = 0;   ///< robust standard deviations that it is slower than the fleet
  bool slow = false;       ///< as a whole, or in many of its times beyond that, and so in two rounds at least
  bool once = false;       ///< it would be, but there is only one round: to be measured again
  std::vector<SlowTime> slow_times{};        ///< in two rounds at least, or once where it was once slow
  std::vector<std::string> other_outputs{};  ///< where its bits differ from the fleet's
  std::vector<SlowGpuCause> causes{};        ///< of one that is slow; of one that was once, another build
  [[nodiscard]] bool is_bad() const { return slow || !other_outputs.empty() || !member->failures.empty(); }
};

/// The GPUs of one model.
struct FleetOfModel {
  std::string model{};
  std::map<std::string, double> usual_times{};  ///< s, the fleet's, of each time that at least five GPUs have
  std::map<std::string, double> usual_facts{};  ///< the median of each of fleet_facts()
  std::string usual_build{};                    ///< of mprof, that most have
  double spread = 0;  ///< robust standard deviation of performance between its GPUs, as a share
  std::vector<FleetVerdict> verdicts{};  ///< what is bad first, then by performance
};

/// GPUs of one model, of which there are too few to find a slow one.
struct TooFewGpus {
  std::string model{};
  std::size_t gpus = 0;
};

/// Of each model that there are at least five GPUs of; `members` must outlive it.
struct Fleet {
  std::vector<FleetOfModel> models{};
  std::vector<TooFewGpus> too_few{};
  std::vector<const FleetMember*> failed{};  ///< of these models, machines with a case that failed
  std::vector<FleetHistory> histories{};     ///< of GPUs with earlier runs: what declined first
  [[nodiscard]] bool is_bad() const;
  /// Whether anything was compared.
  [[nodiscard]] bool says_something() const;
};
[[nodiscard]] Fleet judge_fleet(const std::vector<FleetMember>& members);

/// The fleet's time over the GPU's, where both have it.
[[nodiscard]] std::optional<double> performance_in(const FleetOfModel& fleet, const FleetMember& member,
                                                   const std::string& time);

/// A GPU by its runs, at least two, in any order. The newest one is the one that counts. `mprof history`
/// finds a change in the same way.
[[nodiscard]] FleetHistory judge_history(const FleetMember& newest, std::vector<RecordedRun> runs);

}  // namespace mprof
