// SPDX-License-Identifier: MIT
#include "runner/watch/watcher.hpp"

#include <optional>

#include "model/derive/derive.hpp"

namespace mprof {
namespace {

class Watcher {
 public:
  Watcher(Watched& watched, const WatchContext& context, WatchListener& listener)
      : watched_(watched), context_(context), listener_(listener) {}

  std::size_t watch() {
    try {
      while (true) {
        Stamp known = watched_.sources();
        try_version();
        known.merge(watched_.programs());
        listener_.waits();
        wait_for_change(
            known, watched_.file(), [&] { return stamp(); }, context_.interrupt_fd);
      }
    } catch (const Error& error) {
      if (error.code() != ExitCode::interrupted) throw;
    }
    return number_;
  }

 private:
  [[nodiscard]] Stamp stamp() const {
    Stamp stamp = watched_.sources();
    stamp.merge(watched_.programs());
    return stamp;
  }

  void try_version() {
    const double seen = context_.clock.now();
    try {
      std::optional<Run> run = next();
      if (!run) return listener_.is_unchanged();
      measure(std::move(*run), seen);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      listener_.is_refused(error);
    }
  }

  /// nullopt: nothing that is measured has changed.
  std::optional<Run> next() {
    Run run = watched_.plan(context_);
    if (checksums_of(run) == checksums_) return std::nullopt;
    run.environment = environment_;
    run.ceilings = ceilings_;
    return run;
  }

  void measure(Run run, double seen) {
    const std::filesystem::path path = context_.out / std::to_string(number_ + 1);
    ResultDirectory directory(path, ResultDirectory::Mode::create);
    directory.save(run);
    watched_.measure(run, directory, context_);
    if (run.state == RunState::interrupted) throw Error(ExitCode::interrupted, "interrupted");
    environment_ = run.environment;
    ceilings_ = run.ceilings;
    checksums_ = checksums_of(run);
    ++number_;
    derive(run, path);
    std::vector<WatchedVariant> variants = watched_.variants(run);
    listener_.is_measured({.number = number_,
                           .run = std::move(run),
                           .variants = std::move(variants),
                           .path = path,
                           .seconds = context_.clock.now() - seen});
  }

  using Checksums = std::vector<std::pair<std::string, std::string>>;

  static Checksums checksums_of(const Run& run) {
    Checksums checksums;
    for (const PluginSource& source : run.plan.sources) checksums.emplace_back(source.path, source.checksum);
    return checksums;
  }

  Watched& watched_;
  const WatchContext& context_;
  WatchListener& listener_;
  Environment environment_;  ///< as surveyed for the first version
  std::vector<Ceiling> ceilings_;
  Checksums checksums_;     ///< of what the version that was measured last was built from
  std::size_t number_ = 0;  ///< of versions that were measured
};

}  // namespace

std::size_t watch(Watched& watched, const WatchContext& context, WatchListener& listener) {
  return Watcher(watched, context, listener).watch();
}

}  // namespace mprof
