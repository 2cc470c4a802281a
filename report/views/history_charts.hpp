// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/machines/history.hpp"
#include "report/views/views.hpp"

namespace mprof {

/// A case of a history with its machine.
struct PlacedCase {
  const HistoryMachine* machine = nullptr;
  const HistoryCase* source = nullptr;
};

/// "+4.0 %": the new time over the old one.
[[nodiscard]] std::string change_text(const HistoryChange& change);

/// The times of a case over the runs of its machine, each over its first, with its intervals; a line where
/// one changed.
[[nodiscard]] nlohmann::json history_chart(const History& history, const PlacedCase& placed,
                                           Anchors& anchors);

}  // namespace mprof
