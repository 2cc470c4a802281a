// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "report/analysis/machines/fleet.hpp"
#include "report/views/page_plan.hpp"

namespace mprof {

/// A heat map of the GPUs of one model, the bad and the slowest ones on top. Its columns are the times in
/// which one of these is the slowest. It has at most so many of both that a reader can distinguish them.
[[nodiscard]] nlohmann::json fleet_chart(const FleetOfModel& fleet, Anchors& anchors);

/// What a reader calls a machine: its run's directory without the folders that all have in common, and its
/// part of it.
class MachineLabels {
 public:
  explicit MachineLabels(const FleetOfModel& fleet);
  [[nodiscard]] std::string operator()(const FleetMember& member) const;

 private:
  std::size_t begin_ = 0;  ///< of the label in each name
};

}  // namespace mprof
