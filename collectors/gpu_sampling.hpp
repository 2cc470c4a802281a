// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/trace/trace.hpp"

/// What a whole GPU counts at a fixed interval, read by a process that does nothing else.
namespace mprof {

/// s, between two samples: the default, and the least that the hardware's buffer is known to last for.
inline constexpr double usual_sample_interval = 100e-6, least_sample_interval = 50e-6;
/// s; fewer samples than one in that time say little of a program.
inline constexpr double longest_sample_interval = 1;

/// The hardware of one GPU.
class GpuSampler {
 public:
  struct Reading {
    trace::Interval time{};  ///< ns since 1970
    std::vector<float> values{};
  };
  struct Taken {
    std::vector<Reading> readings{};
    bool overflowed = false;  ///< samples were lost after these
    bool has_more = false;    ///< further ones are waiting
  };
  virtual ~GpuSampler() = default;
  /// As trace.sqlite names them, in the order of a reading's values.
  [[nodiscard]] virtual const std::vector<std::string>& metrics() const = 0;
  /// All throw Error(environment) where the hardware or its driver refuses.
  virtual void start() = 0;
  virtual void stop() = 0;
  /// What has been counted since the last call.
  [[nodiscard]] virtual Taken take() = 0;
};

/// How this build samples a GPU. Registered by its own file.
struct GpuSamplerKind {
  /// Of the first GPU that this process sees, with so many seconds between two samples. Throws
  /// Error(environment) that says why it cannot be sampled.
  std::function<std::unique_ptr<GpuSampler>(double interval)> make{};
};

class GpuSamplers {
 public:
  static GpuSamplers& instance();
  void set(GpuSamplerKind kind) { kind_ = std::move(kind); }
  /// Throws Error(environment) without one.
  [[nodiscard]] std::unique_ptr<GpuSampler> make(double interval) const;

 private:
  std::optional<GpuSamplerKind> kind_;
};

/// What went wrong while a GPU was sampled.
struct SamplingCounts {
  std::uint64_t samples = 0;
  std::uint64_t gaps = 0;
  std::int64_t gap_time = 0;  ///< ns, of all gaps
  std::uint64_t overflows = 0;
  std::uint64_t disordered = 0;  ///< samples that begin before an earlier one ended; left out
  std::string stopped_by{};      ///< why the hardware could not be read any more; empty: it could
};

/// Samples until `goes_on` says no, which waits a little each time that it is asked; `on_start` is called
/// once samples are taken. Writes them to a file, which is whole up to what was taken last at any moment. The
/// first sample is left out: it is of the time since the hardware was set up. Throws Error(environment) where
/// sampling cannot start.
SamplingCounts record_samples(GpuSampler& sampler, const std::filesystem::path& file,
                              const std::function<void()>& on_start, const std::function<bool()>& goes_on);

/// Sentences: what is missing, why, and what to do.
[[nodiscard]] std::vector<std::string> notes_of(const SamplingCounts& counts);

/// What record_samples() wrote, with times since 1970. A last sample that is not whole is left out. None
/// where it wrote nothing. Throws Error(usage) for another file.
[[nodiscard]] trace::GpuSamples read_samples(const std::filesystem::path& file);

}  // namespace mprof
