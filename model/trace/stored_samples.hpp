// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/trace/tables.hpp"
#include "model/trace/trace.hpp"

namespace mprof::trace {

/// The rows of GPU_METRICS, each of which is one metric of one sample, as samples of GPUs. Rows may come in
/// any order.
class StoredSamples {
 public:
  /// What a metric is called.
  void name(const tables::MetricName& metric) { names_[{metric.list, metric.number}] = metric.name; }
  void add(const tables::TalliedRow& row);
  /// By the type of the file. `in_case` is not set, and `device` is the GPU's row in TARGET_INFO_GPU. Metrics
  /// of which there is little are left out, where they would take far more memory than the file.
  [[nodiscard]] std::map<std::int64_t, GpuSamples> take();

 private:
  struct Value {
    std::int64_t time = 0;
    std::uint32_t curve = 0;
    float value = 0;
  };
  struct Stored {
    std::vector<Value> values{};
    std::map<std::int64_t, std::uint32_t> curves{};  ///< by their numbers in the file
  };
  [[nodiscard]] GpuSamples samples_of(std::int64_t type, Stored& stored) const;

  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names_;
  std::map<std::int64_t, Stored> all_;
};

}  // namespace mprof::trace
