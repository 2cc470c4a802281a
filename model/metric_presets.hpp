// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/metric.hpp"

/// The metrics of single GPU kernels, and the sets that `mprof run --metrics` takes by one name.
namespace mprof {

/// A set of hardware metrics with a name: a preset, and what a section of a report shows.
struct MetricPreset {
  std::string_view name;
  std::string_view title;
  std::span<const std::string_view> metrics;  ///< ids, in the order in which a table shows them
};

/// The rows of the catalogue that are read of one kernel, named as Nsight Compute names them. CUPTI takes any
/// other name that the GPU has as well; of those mprof knows no label.
[[nodiscard]] std::span<const Metric> hardware_metrics();

/// "long_scoreboard" of the counter of such stalls; nullopt of any other metric.
[[nodiscard]] std::optional<std::string_view> stall_of_metric(std::string_view id);

/// What a record holds in place of a count for which the hardware gave no number.
inline constexpr std::string_view no_number_by_hardware =
    "the hardware gave no number: nothing of the kind happened, or the unit is shared (MIG)";
/// Whether a record's reason is that one. Earlier versions of mprof ended it in other words.
[[nodiscard]] bool hardware_gave_no_number(std::string_view absent);

/// Whether Nsight Compute, and mprof, compute this metric from the launch (its registers, shared memory and
/// block size): it needs no counter, and CUPTI does not know the name.
[[nodiscard]] bool is_launch_metric(std::string_view id);

/// The unit of a metric of the catalogue. Of a hardware metric that the catalogue lacks, the unit that the
/// parts of its name say (`.pct`, `bytes`, `.per_second`). nullopt: its name does not say.
[[nodiscard]] std::optional<Unit> unit_of_metric(std::string_view id);

/// The presets that are sections of a report: sol, occupancy, memory, stalls, roofline, tensor, scheduler,
/// compute, instructions. Beside these `expand_metrics` takes "default" and "all", which are all of them: the
/// last three take two more passes than the others alone.
[[nodiscard]] std::span<const MetricPreset> metric_presets();

/// What `--metrics` takes by name, for help and suggestions: all presets, "default" and "all" among them.
[[nodiscard]] std::vector<std::string> preset_names();

/// The metrics of a preset, "default" and "all" included, each once; nothing for any other name.
[[nodiscard]] std::vector<std::string> preset_metrics(std::string_view preset);

/// Which of `names` hardware_metrics() does not list.
[[nodiscard]] std::vector<std::string> not_in_catalogue(std::span<const std::string> names);

}  // namespace mprof
