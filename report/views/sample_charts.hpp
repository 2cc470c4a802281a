// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/analysis/judgement/judgement.hpp"
#include "report/views/views.hpp"

/// Raw samples in the order in which they were taken: a chart for each case, with a panel for each of its
/// times.
namespace mprof {

/// The samples of one run in a panel.
struct SampleSide {
  std::string name{};  ///< "A"; empty where there is only one run
  const Measurement* measurement = nullptr;
};

/// A time with what one run, or two, took of it.
struct SamplePanel {
  std::string name{};
  std::vector<SampleSide> sides{};
  std::string note{};  ///< stands first in what is said of it
};

/// The panels as one chart, each sample by its distance from the median of the first side; its caption says
/// what there is to see. An empty object where no panel has at least four. `most`: samples that are drawn of
/// a side.
[[nodiscard]] nlohmann::json sample_chart(const std::string& id, const std::string& title,
                                          std::span<const SamplePanel> panels, std::size_t most);

/// How to read such charts, of rounds or of one alone.
[[nodiscard]] std::string how_to_read_samples(bool several_runs);

/// The samples of a variant at the largest problem with a verified time, and of its other cases that show a
/// step: { title, reading, charts: [chart] }; false when it has none.
[[nodiscard]] nlohmann::json samples_view(const FamilyResult& family, const VariantResult& variant,
                                          PagePlan& plan);

}  // namespace mprof
