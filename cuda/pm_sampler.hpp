// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/profiler_host.hpp"

struct CUpti_PmSampling_Object;

/// CUPTI's sampling of performance monitors. Everything here throws Error(environment) when CUPTI refuses,
/// and asks that cupti_unavailable() was asked before.
namespace mprof::cuda {

/// Counts on the whole first GPU that this process sees, whoever uses it, at a fixed interval. Needs no
/// context. One process at a time can sample a GPU or count its kernels.
///
/// On an H100 a sample of nine metrics takes 57 us of one core to read. At 10 and 20 us CUPTI has no memory
/// left; at 50 us it works.
class PmSampler {
 public:
  /// `interval` in s. Metrics are CUPTI's names. A metric that the chip does not have is left out, and so is
  /// one that does not fit the hardware's one pass beside the ones before it.
  PmSampler(std::span<const std::string> metrics, double interval);
  ~PmSampler();
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;

  /// The sampled ones, in their order. May be empty: then nothing can be sampled.
  [[nodiscard]] const std::vector<std::string>& metrics() const { return metrics_; }
  void start();
  void stop();

  struct Sample {
    std::int64_t start = 0;  ///< ns since 1970, by CLOCK_REALTIME
    std::int64_t end = 0;
    std::vector<double> values{};  ///< of the metrics, in SI base units
  };
  struct Decoded {
    std::vector<Sample> samples{};
    bool overflowed = false;  ///< the hardware's buffer was full: samples are lost
    bool is_full = false;     ///< there are more to decode
  };
  /// Those since the last call.
  [[nodiscard]] Decoded decode();

 private:
  void choose(const std::string& chip, std::span<const std::string> metrics);
  void enable(double interval);
  void disable();
  void clear();
  [[nodiscard]] Sample sample_at(std::size_t index) const;

  std::vector<std::uint8_t> availability_;
  std::vector<std::string> metrics_;
  std::vector<std::uint8_t> config_;  // must stay where it is until the object is gone, as the next
  std::vector<std::uint8_t> data_;
  std::unique_ptr<ProfilerHost> host_;
  CUpti_PmSampling_Object* object_ = nullptr;
  bool started_ = false;
};

}  // namespace mprof::cuda
