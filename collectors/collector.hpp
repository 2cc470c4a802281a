// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// What a collector knows of the case it watches.
struct CaseContext {
  const Case& subject;  ///< with its ops; its passes are empty
  const Device& device;
  const Clock& clock;
  const Plan& plan;
  std::filesystem::path trace_file{};  ///< where the trace pass adds its records; empty: nowhere
  int forwards = 1;                    ///< how often a sample is to run each forward()
  /// Between two samples another worker of mprof has its turn, with a context of its own on the device: what
  /// it does there disturbs nothing.
  bool takes_turns = false;
};

/// The samples so far of a time whose median must be known well enough before sampling may end.
struct DecisiveSeries {
  std::span<const double> samples;
  ClockSource clock = ClockSource::host;  ///< host: the host has a part in it
};

/// Watches the samples of one case in one pass, and stores what it saw: what follows from that is derive()'s
/// to compute, on reading. Begin and end calls nest: sample > stage. A pause lies between two stages of a
/// sample: what the runner does there (flushing caches) belongs to no measurement.
class Collector {
 public:
  virtual ~Collector() = default;
  virtual void begin_sample() {}
  virtual void end_sample() {}
  virtual void begin_stage(std::string_view /*op*/, Stage /*stage*/) {}
  virtual void end_stage(std::string_view /*op*/, Stage /*stage*/) {}
  /// Whether the forward stage that has just ended is to run once more in this sample, from a cold cache.
  [[nodiscard]] virtual bool again(std::string_view /*op*/) { return false; }
  /// Of a pass that is no timing pass: whether it needs one more sample.
  [[nodiscard]] virtual bool wants_more() { return false; }
  virtual void pause() {}
  virtual void resume() {}
  /// Most have none.
  [[nodiscard]] virtual std::vector<DecisiveSeries> decisive_series() const { return {}; }
  /// Why the samples so far do not show what the machine can do (a GPU that throttled, say), so that they are
  /// better taken again; nullopt when nothing disturbed them.
  [[nodiscard]] virtual std::optional<std::string> disturbance() const { return std::nullopt; }
  /// The same for what disturbs host times and leaves device times alone.
  [[nodiscard]] virtual std::optional<std::string> host_disturbance() const { return std::nullopt; }
  /// Why the times cannot belong to the work that they are named after; nullopt when nothing speaks against
  /// them.
  [[nodiscard]] virtual std::optional<std::string> suspicion() const { return std::nullopt; }
  /// From how many samples on suspicion() is more than chance: where it suspects fewer, so many are taken, as
  /// far as there is time.
  [[nodiscard]] virtual std::size_t fewest_to_suspect() const { return 1; }
  /// Of a source pass: what was sampled of the sources of kernels, in the order of ops and kernels. Asked
  /// for after finish().
  [[nodiscard]] virtual std::vector<SourceLine> source_lines() const { return {}; }
  /// Adds what was seen to `measurements`, which holds what earlier collectors of the pass added.
  virtual void finish(std::vector<Measurement>& measurements) = 0;
};

/// A kind of collector, registered by its own file.
struct CollectorKind {
  std::string id;
  Pass pass = Pass::timing;
  std::string device;  ///< "cpu", "cuda"; empty: any
  int order = 0;       ///< lower ones begin first and end last
  /// Why it cannot run here, or nullopt. A pass whose collectors are all unavailable is skipped with these
  /// reasons.
  std::function<std::optional<std::string>()> unavailable;
  std::function<std::unique_ptr<Collector>(const CaseContext&)> make;
  /// Of a pass that is no timing pass: whether an execution that nobody watches must come before the one that
  /// is. Asked before make; empty: it must.
  std::function<bool()> needs_warm_up{};
  /// Of a kind that reads Plan::metrics: which of these names it does not know. Needs no device.
  std::function<std::vector<std::string>(std::span<const std::string>)> unknown_metrics{};
};

class CollectorKinds {
 public:
  static CollectorKinds& instance();
  void add(CollectorKind kind);
  /// The kinds of a pass on a device, in order.
  [[nodiscard]] std::vector<const CollectorKind*> of(Pass pass, std::string_view device) const;

 private:
  std::vector<CollectorKind> kinds_;
};

}  // namespace mprof
