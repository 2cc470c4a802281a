// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/run.hpp"
#include "runner/coordinator.hpp"
#include "runner/plan.hpp"
#include "runner/result_directory.hpp"
#include "runner/watch/saves.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"

/// Measures somebody's work each time that it is saved.
namespace mprof {

/// How versions are measured, as the command line says it.
struct WatchRequest {
  std::uint32_t rounds = 1;
  double sampling_time = 0;  ///< s, of a case over all rounds
  double timeout = 0;        ///< s, of a case in one pass
  std::vector<std::string> command_line{};
  /// The one problem of a family, which may be one that only the version brings.
  std::function<AxisValues(const Family& family)> problem{};
};

struct WatchContext {
  std::filesystem::path out;  ///< the versions are out/1, out/2 and so on
  std::vector<std::string> worker_command;
  const Clock& clock;
  Progress& progress;
  int interrupt_fd = -1;  ///< becomes readable when the user ends it
};

/// A variant that versions are about.
struct WatchedVariant {
  std::string id{};
  std::string name{};  ///< as the user calls it
};

/// What is watched: a source, or a suite.
class Watched {
 public:
  virtual ~Watched() = default;
  /// Without this file there is no version.
  [[nodiscard]] virtual const std::filesystem::path& file() const = 0;
  /// The files that a version may be built from.
  [[nodiscard]] virtual Stamp sources() const = 0;
  /// The files that the version which was planned last runs, and that nothing builds.
  [[nodiscard]] virtual Stamp programs() const { return {}; }
  /// Builds the version that is there now, and plans its run. Throws Error for what is wrong with it.
  [[nodiscard]] virtual Run plan(const WatchContext& context) = 0;
  /// Measures the version which was planned last.
  virtual void measure(Run& run, ResultDirectory& directory, const WatchContext& context) = 0;
  [[nodiscard]] virtual std::vector<WatchedVariant> variants(const Run& run) const = 0;
};

/// A version that was measured.
struct Version {
  std::size_t number = 0;
  Run run{};
  std::vector<WatchedVariant> variants{};
  std::filesystem::path path{};
  double seconds = 0;  ///< since it was seen
};

/// Hears what becomes of each version.
class WatchListener {
 public:
  virtual ~WatchListener() = default;
  virtual void is_measured(Version version) = 0;
  /// It is built from what the version before was built from.
  virtual void is_unchanged() = 0;
  virtual void is_refused(const Error& why) = 0;
  virtual void waits() = 0;
};

/// Measures the version that is there and each that is saved after it, until the user ends it. Each is a run
/// of its own; the machine is surveyed once. What is wrong with a version costs that version alone. Returns
/// how many were measured.
std::size_t watch(Watched& watched, const WatchContext& context, WatchListener& listener);

}  // namespace mprof
