// SPDX-License-Identifier: MIT
#include "report/analysis/program/gpu_load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "model/trace/interval_set.hpp"

namespace mprof {
namespace {

constexpr std::uint64_t fewest_samples = 5;
constexpr double nearly_whole = 0.95;  // of a sample: launches follow each other with short gaps
constexpr double idle_below = 0.01, high_quantile = 0.95;
constexpr std::size_t most_loaded_kernels = 5, most_loaded_ops = 8;
constexpr std::int64_t fewest_drawn = 100;  // samples

/// The places of the samples that lie wholly in a time.
std::pair<std::size_t, std::size_t> places_in(const trace::GpuSamples& samples, const trace::Interval& time) {
  const auto first = std::ranges::lower_bound(samples.times, time.start, {}, &trace::Interval::start);
  const auto last = std::ranges::upper_bound(samples.times, time.end, {}, &trace::Interval::end);
  const auto from = static_cast<std::size_t>(first - samples.times.begin());
  return {from, std::max(from, static_cast<std::size_t>(last - samples.times.begin()))};
}

/// Values of a metric for people: shares of the peak, or Hz.
class Curve {
 public:
  Curve(const trace::GpuSamples& samples, const trace::GpuMetricInfo& info)
      : metric_(info.id), factor_(info.si), curve_(trace::find_curve(samples, info.id)) {}
  [[nodiscard]] bool is_there() const { return curve_ != nullptr; }
  [[nodiscard]] trace::GpuMetric metric() const { return metric_; }
  /// NaN: not measured.
  [[nodiscard]] double operator[](std::size_t at) const { return double{curve_->values[at]} * factor_; }

 private:
  trace::GpuMetric metric_;
  double factor_;
  const trace::GpuCurve* curve_;
};

std::vector<Curve> curves_of(const trace::GpuSamples& samples) {
  std::vector<Curve> curves;
  for (const trace::GpuMetricInfo& info : trace::gpu_metrics()) {
    if (const Curve curve(samples, info); curve.is_there()) curves.push_back(curve);
  }
  return curves;
}

std::optional<MetricLoad> load_of(const Curve& curve, std::size_t from, std::size_t to) {
  std::vector<double> values;
  for (std::size_t i = from; i < to; ++i) {
    if (!std::isnan(curve[i])) values.push_back(curve[i]);
  }
  if (values.size() < fewest_samples) return std::nullopt;
  MetricLoad load{.metric = curve.metric()};
  for (const double value : values) load.mean += value / static_cast<double>(values.size());
  std::ranges::sort(values);
  const auto at = [&](double quantile) {
    return values[static_cast<std::size_t>(quantile * static_cast<double>(values.size() - 1))];
  };
  load.median = at(0.5);
  load.high = at(high_quantile);
  return load;
}

/// The samples of a part of the time, one by one.
class PartSums {
 public:
  explicit PartSums(const std::vector<Curve>& curves) : curves_(curves), sums_(curves.size()) {}

  void add(std::size_t sample) {
    ++count_;
    for (std::size_t i = 0; i < curves_.size(); ++i) {
      const double value = curves_[i][sample];
      if (std::isnan(value)) continue;
      sums_[i].first += value;
      ++sums_[i].second;
    }
  }
  /// nullopt of too few samples.
  [[nodiscard]] std::optional<PartLoad> load(LoadedPart what, std::string name) const {
    if (count_ < fewest_samples) return std::nullopt;
    PartLoad load{.what = what, .name = std::move(name), .samples = count_};
    for (const auto& [sum, count] : sums_)
      load.means.push_back(count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count)));
    return load;
  }

 private:
  const std::vector<Curve>& curves_;
  std::vector<std::pair<double, std::uint64_t>> sums_;
  std::uint64_t count_ = 0;
};

/// Calls visit(sample) for the samples between two places that a set of moments holds nearly all of.
template <class Visit>
void each_within(const trace::GpuSamples& samples, std::size_t from, std::size_t to,
                 const trace::IntervalSet& set, const Visit& visit) {
  const std::vector<trace::Interval>& all = set.intervals();
  std::size_t next = 0;
  for (std::size_t at = from; at < to; ++at) {
    const trace::Interval& time = samples.times[at];
    while (next < all.size() && all[next].end <= time.start) ++next;
    std::int64_t held = 0;
    for (std::size_t i = next; i < all.size() && all[i].start < time.end; ++i)
      held += std::min(all[i].end, time.end) - std::max(all[i].start, time.start);
    if (static_cast<double>(held) >= nearly_whole * static_cast<double>(time.length())) visit(at);
  }
}

class PartsOfGpu {
 public:
  PartsOfGpu(const trace::Trace& trace, trace::CaseIndex index, const trace::GpuSamples& samples,
             const trace::Interval& time, const std::vector<Curve>& curves)
      : trace_(trace), samples_(samples), curves_(curves), places_(places_in(samples, time)) {
    for (const trace::KernelRow& row : trace::of_case(trace.kernels.rows(), index)) {
      const trace::Kernel& shared = trace.kernels.shared(row);
      if (shared.queue.device != samples.device || row.time.end <= time.start || row.time.start >= time.end)
        continue;
      all_.push_back(row.time);
      ops_[trace.places[row.place].op].push_back(row.time);
      kernels_[shared.name].push_back(row.time);
    }
  }

  [[nodiscard]] std::vector<PartLoad> parts() const {
    std::vector<PartLoad> parts;
    if (auto load = of_moments(all_, LoadedPart::kernels, "")) parts.push_back(std::move(*load));
    if (ops_.size() > 1) {
      for (const auto& [name, times] : longest(ops_, most_loaded_ops)) {
        if (auto load = of_moments(*times, LoadedPart::op, name)) parts.push_back(std::move(*load));
      }
    }
    for (const auto& [name, times] : longest(kernels_, most_loaded_kernels)) {
      if (auto load = of_launches(*times, trace_.names[name])) parts.push_back(std::move(*load));
    }
    return parts;
  }

 private:
  using Times = std::vector<trace::Interval>;

  template <class Key>
  static std::vector<std::pair<Key, const Times*>> longest(const std::map<Key, Times>& all,
                                                           std::size_t most) {
    std::vector<std::pair<Key, const Times*>> sorted;
    for (const auto& [key, times] : all) sorted.emplace_back(key, &times);
    std::ranges::stable_sort(sorted, std::ranges::greater{}, [](const auto& one) {
      std::int64_t sum = 0;
      for (const trace::Interval& time : *one.second) sum += time.length();
      return sum;
    });
    if (sorted.size() > most) sorted.resize(most);
    return sorted;
  }

  [[nodiscard]] std::optional<PartLoad> of_moments(const Times& times, LoadedPart what,
                                                   std::string name) const {
    PartSums sums(curves_);
    each_within(samples_, places_.first, places_.second, trace::IntervalSet(times),
                [&](std::size_t at) { sums.add(at); });
    return sums.load(what, std::move(name));
  }

  /// Of launches in each of which five samples lie wholly.
  [[nodiscard]] std::optional<PartLoad> of_launches(const Times& times, const std::string& name) const {
    PartSums sums(curves_);
    for (const trace::Interval& time : times) {
      const auto [from, to] = places_in(samples_, time);
      if (to - from < fewest_samples) continue;
      for (std::size_t at = std::max(from, places_.first); at < std::min(to, places_.second); ++at)
        sums.add(at);
    }
    return sums.load(LoadedPart::kernel, name);
  }

  const trace::Trace& trace_;
  const trace::GpuSamples& samples_;
  const std::vector<Curve>& curves_;
  std::pair<std::size_t, std::size_t> places_;
  Times all_;
  std::map<std::string, Times> ops_;
  std::map<trace::NameIndex, Times> kernels_;
};

}  // namespace

const MetricLoad* GpuLoad::of(trace::GpuMetric metric) const {
  const auto found = std::ranges::find(metrics, metric, &MetricLoad::metric);
  return found == metrics.end() ? nullptr : &*found;
}

std::vector<GpuLoad> gpu_loads_of(const trace::Trace& trace, trace::CaseIndex index,
                                  const trace::Interval& time, const trace::Interval& step) {
  std::vector<GpuLoad> loads;
  for (const trace::GpuSamples& samples : trace::of_case(trace.gpu_samples, index)) {
    const std::pair<std::size_t, std::size_t> places = places_in(samples, time);
    const std::size_t from = places.first, to = places.second;
    if (to - from < fewest_samples || time.length() <= 0) continue;
    GpuLoad load{.samples = &samples, .count = to - from};
    std::int64_t covered = 0;
    for (std::size_t i = from; i < to; ++i) covered += samples.times[i].length();
    load.covered = static_cast<double>(covered) / static_cast<double>(time.length());
    std::vector<Curve> curves = curves_of(samples);
    std::erase_if(curves, [&](const Curve& curve) {
      const auto one = load_of(curve, from, to);
      if (one) load.metrics.push_back(*one);
      return !one;
    });
    if (curves.empty()) continue;
    if (curves.front().metric() == trace::GpuMetric::sm_active) {
      std::uint64_t idle = 0;
      for (std::size_t i = from; i < to; ++i) idle += curves.front()[i] < idle_below ? 1 : 0;
      load.idle = static_cast<double>(idle) / static_cast<double>(load.count);
    }
    load.parts = PartsOfGpu(trace, index, samples, time, curves).parts();
    const std::int64_t length = std::max(step.length(), fewest_drawn * samples.interval);
    load.drawn = {step.start, std::min(step.start + length, std::max(time.end, step.end))};
    loads.push_back(std::move(load));
  }
  return loads;
}

std::vector<std::optional<double>> drawn_curve(const GpuLoad& load, trace::GpuMetric metric,
                                               std::size_t parts) {
  const Curve curve(*load.samples, trace::info_of(metric));
  std::vector<std::pair<double, std::uint64_t>> sums(parts);
  const double width = static_cast<double>(load.drawn.length()) / static_cast<double>(parts);
  std::size_t at = trace::first_after(*load.samples, load.drawn.start);
  const bool is_drawn = curve.is_there() && width > 0;
  for (; is_drawn && at < load.samples->times.size(); ++at) {
    const trace::Interval& time = load.samples->times[at];
    if (time.start >= load.drawn.end) break;
    if (std::isnan(curve[at])) continue;
    const auto place = [&](std::int64_t moment) {
      const double part = static_cast<double>(moment - load.drawn.start) / width;
      return static_cast<std::size_t>(std::clamp(part, 0.0, static_cast<double>(parts - 1)));
    };
    // A sample is in each part that it reaches into, or else parts shorter than samples would be empty.
    for (std::size_t part = place(time.start); part <= place(time.end - 1); ++part) {
      sums[part].first += curve[at];
      ++sums[part].second;
    }
  }
  std::vector<std::optional<double>> drawn;
  for (const auto& [sum, count] : sums)
    drawn.push_back(count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count)));
  return drawn;
}

}  // namespace mprof
