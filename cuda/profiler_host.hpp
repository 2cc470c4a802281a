// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct CUpti_Profiler_Host_Object;

/// The side of CUPTI's profiler that knows metrics: their names, how many passes they take, and their values
/// from what the hardware counted. Needs no GPU and no driver. Everything here throws Error(environment) when
/// CUPTI refuses, and asks that cupti_unavailable() was asked before.
namespace mprof::cuda {

/// The chip whose metrics are meant where there is no GPU to ask.
inline constexpr std::string_view default_chip = "GH100";

/// CUPTI's name of the first GPU's chip ("GH100" of an H100 or H200); default_chip without a GPU. Creates no
/// context.
[[nodiscard]] std::string chip_name();

/// Which of `metrics` the chip does not have, or this GPU does not let one read (`availability` as
/// ProfilerHost takes it). Faster when all of them are known.
[[nodiscard]] std::vector<std::string> unknown_metrics(std::string_view chip,
                                                       std::span<const std::string> metrics,
                                                       const std::vector<std::uint8_t>& availability = {});

/// What a value of this dimension, in CUPTI's words ("nanosecond", "byte/second"), is multiplied with to be
/// in SI base units.
[[nodiscard]] double si_factor(std::string_view dimension);

/// A selection of a chip's metrics.
class ProfilerHost {
 public:
  /// Whether the values are of ranges of work, or of samples over time.
  enum class Use { ranges, samples };
  /// `availability`: which counters this GPU lets one read, as CUPTI gives it; empty: all of the chip.
  explicit ProfilerHost(std::string_view chip, std::vector<std::uint8_t> availability = {},
                        Use use = Use::ranges);
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  /// Adds to the selection. False when the chip does not have one of them; CUPTI then takes no more, so that
  /// the object is of no further use.
  [[nodiscard]] bool add(std::span<const std::string> metrics);
  /// CUPTI's word for the dimension of a metric's values, "" when they have none.
  [[nodiscard]] std::string dimension(const std::string& metric) const;
  /// How to set up the hardware for the selection, which must not be empty.
  [[nodiscard]] std::vector<std::uint8_t> config_image() const;
  /// The values of `metrics` in SI base units, in their order, for one range of a counter data image. NaN
  /// where the hardware gave none.
  [[nodiscard]] std::vector<double> evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                             std::span<const std::string> metrics) const;

 private:
  [[nodiscard]] double factor(const std::string& metric) const;

  mutable std::map<std::string, double> factors_;  ///< to SI base units, of the metrics that were asked for
  std::vector<std::uint8_t> availability_;         // which CUPTI may look at as long as the object lives
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// How often a kernel must run until everything in a configuration is counted.
[[nodiscard]] std::size_t number_of_passes(std::span<const std::uint8_t> config_image);

}  // namespace mprof::cuda
