// SPDX-License-Identifier: MIT
#include "model/trace/stored_samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "model/trace/gpu_samples.hpp"
#include "model/trace/nsys_schema.hpp"

namespace mprof::trace {
namespace {

/// A type has no more metrics, and a file no more types: a hostile file has millions.
constexpr std::size_t most_curves = 256, most_types = 4096;
/// So many values for each row of the file may be missing ones.
constexpr std::size_t most_missing = 8, always_allowed = 65'536;
/// No clock shows more; differences of such times are numbers yet.
constexpr std::int64_t latest_time = std::numeric_limits<std::int64_t>::max() / 4;

}  // namespace

void StoredSamples::add(const tables::TalliedRow& row) {
  if (!row.start || !row.amount || *row.start > latest_time || *row.start < -latest_time) return;
  if (!all_.contains(row.list) && all_.size() >= most_types) return;
  Stored& stored = all_[row.list];
  auto curve = stored.curves.find(row.number);
  if (curve == stored.curves.end()) {
    if (stored.curves.size() >= most_curves) return;
    curve = stored.curves.emplace(row.number, static_cast<std::uint32_t>(stored.curves.size())).first;
  }
  stored.values.push_back({*row.start, curve->second, static_cast<float>(*row.amount)});
}

std::map<std::int64_t, GpuSamples> StoredSamples::take() {
  std::map<std::int64_t, GpuSamples> all;
  for (auto& [type, stored] : all_) {
    GpuSamples samples = samples_of(type, stored);
    stored = {};
    if (!samples.curves.empty()) all.emplace(type, std::move(samples));
  }
  all_.clear();
  return all;
}

GpuSamples StoredSamples::samples_of(std::int64_t type, Stored& stored) const {
  GpuSamples samples{.device = static_cast<std::uint32_t>(type & (nsys::gpus_of_a_case - 1))};
  if (!std::ranges::is_sorted(stored.values, {}, &Value::time))
    std::ranges::stable_sort(stored.values, {}, &Value::time);
  std::vector<std::size_t> counts(stored.curves.size());
  for (const Value& one : stored.values) {
    if (samples.times.empty() || samples.times.back().end != one.time)
      samples.times.push_back({one.time, one.time});
    ++counts[one.curve];
  }
  const std::size_t room = most_missing * stored.values.size() + always_allowed;
  std::vector<std::size_t> by_count(counts.size());
  for (std::size_t i = 0; i < by_count.size(); ++i) by_count[i] = i;
  std::ranges::stable_sort(by_count, std::ranges::greater{}, [&](std::size_t i) { return counts[i]; });
  std::vector<bool> kept(counts.size());
  for (std::size_t i = 0; i < by_count.size(); ++i)
    kept[by_count[i]] = (i + 1) * samples.times.size() <= room;
  samples.curves.resize(counts.size());
  for (const auto& [number, curve] : stored.curves) {
    const auto known = names_.find({type, number});
    samples.curves[curve].name =
        known != names_.end() && !known->second.empty() ? known->second : fmt::format("metric {}", number);
    if (kept[curve]) samples.curves[curve].values.assign(samples.times.size(), std::nanf(""));
  }
  std::size_t at = 0;
  for (const Value& one : stored.values) {
    while (samples.times[at].end != one.time) ++at;
    if (kept[one.curve]) samples.curves[one.curve].values[at] = one.value;
  }
  std::erase_if(samples.curves, [](const GpuCurve& curve) { return curve.values.empty(); });
  find_beginnings(samples);
  return samples;
}

}  // namespace mprof::trace
