// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "system/clock.hpp"

namespace mprof {

/// Measures device time between two points of the calling thread's work.
class DeviceTimer {
 public:
  virtual ~DeviceTimer() = default;
  /// `hold`: what the device is given until stop() begins only then, so that no gap of giving it is measured.
  /// Only for a timer that can.
  virtual void start(bool hold) = 0;
  virtual void stop() = 0;
  /// Seconds between the last start() and stop(); waits for the device when it must.
  [[nodiscard]] virtual double seconds() = 0;
  [[nodiscard]] virtual bool can_hold() const { return false; }
  /// Whether the last work was held until stop(): not when it waited for the device itself, or took too long
  /// to be given. Only after seconds(), which then says nothing.
  [[nodiscard]] virtual bool was_held() const { return false; }
  /// What it reads around nothing, s, which seconds() leaves out: measured when it was made.
  [[nodiscard]] virtual double overhead() const { return 0; }
};

/// One of several of a kind, such as a GPU of a host with more.
struct DeviceUnit {
  std::string id{};              ///< what no other has, on whatever host: a UUID
  std::string name{};            ///< of its model
  std::string environment{};     ///< "NAME=VALUE": what a process is started with to see this one alone
  std::vector<int> near_cpus{};  ///< the CPUs of its NUMA node; empty: not known, or any
  bool operator==(const DeviceUnit&) const = default;
};

/// What ops run on and are timed by. Everything here except unavailable(), name() and units() may create a
/// device context, so the coordinator calls nothing else.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string_view id() const = 0;  ///< "cpu", "cuda": VariantInfo::device
  /// Why this device cannot be used here, or nullopt. Creates no context.
  [[nodiscard]] virtual std::optional<std::string> unavailable() const = 0;
  /// A short name for directories and titles: "AMD EPYC", "NVIDIA H200". Creates no context.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The units of its kind that this process sees, as the device numbers them; empty where there is no
  /// choice. Creates no context.
  [[nodiscard]] virtual std::vector<DeviceUnit> units() const { return {}; }
  /// What is known of the device, by group and name.
  [[nodiscard]] virtual Environment fingerprint() const = 0;
  /// Peak rates, measured in about `seconds` altogether.
  [[nodiscard]] virtual std::vector<Ceiling> measure_ceilings(double seconds) const = 0;
  [[nodiscard]] virtual std::unique_ptr<DeviceTimer> make_timer() const = 0;
  /// How often a sample runs each forward(), each time with a cold cache. More than once where forward() is
  /// short beside the copies around it, so that op_time has several samples for one of total_time.
  [[nodiscard]] virtual int forwards_per_sample() const { return 1; }
  /// Waits until all work given to the device is done.
  virtual void synchronize() const = 0;
  /// Leaves the last-level cache with nothing of use, and nothing that is still to be written, so that the
  /// next op starts cold and pays for itself alone.
  virtual void flush_cache() const = 0;
};

/// The devices linked into this program, the preferred one first. Each device's file adds itself at start-up.
class Devices {
 public:
  static Devices& instance();
  void add(std::unique_ptr<Device> device, int preference);
  [[nodiscard]] const Device* find(std::string_view id) const;
  /// The most preferred device that is available: CUDA before the CPU.
  [[nodiscard]] const Device& preferred() const;
  [[nodiscard]] std::vector<const Device*> all() const;

 private:
  std::multimap<int, std::unique_ptr<Device>, std::greater<>> devices_;
};

}  // namespace mprof
