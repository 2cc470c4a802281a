#include "runner/stopping.hpp"

#include <algorithm>

#include "model/statistics/median.hpp"

namespace mprof {

std::optional<double> widest_half_width(const std::vector<std::span<const double>>& series) {
  std::optional<double> widest;
  for (const std::span<const double> samples : series) {
    const std::optional<double> half_width = relative_half_width(samples);
    if (!half_width) return std::nullopt;
    widest = std::max(widest.value_or(0), *half_width);
  }
  return widest;
}

std::optional<Ending> StoppingRule::ending(const std::vector<std::span<const double>>& series,
                                           std::size_t samples, double elapsed) const {
  if (elapsed >= limits_.max_seconds) return Ending::seconds;
  if (samples < limits_.min_samples) return std::nullopt;
  if (samples >= limits_.max_samples) return Ending::samples;
  const std::optional<double> half_width = widest_half_width(series);
  if (half_width && *half_width <= limits_.relative_half_width) return Ending::confidence;
  return std::nullopt;
}

}  // namespace mprof
