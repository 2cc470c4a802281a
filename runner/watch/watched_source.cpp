// SPDX-License-Identifier: MIT
#include "runner/watch/watched_source.hpp"

#include <random>
#include <utility>

#include <fmt/format.h>

#include "device/device.hpp"
#include "model/metric_presets.hpp"
#include "runner/begin.hpp"
#include "runner/source/parts.hpp"
#include "runner/source/sources.hpp"

namespace mprof {

WatchedSource::WatchedSource(std::string name, WatchRequest request, Registry& registry, Build build,
                             Inputs inputs)
    : name_(std::move(name)),
      request_(std::move(request)),
      registry_(registry),
      build_(std::move(build)),
      inputs_(std::move(inputs)) {
  const FoundSources found = find_sources({std::filesystem::absolute(name_).lexically_normal().string()});
  if (found.files.size() != 1)
    throw Error(ExitCode::usage,
                fmt::format("{}: one variant is watched; name its file in the folder of its family.", name_));
  parts_ = parts_of(found.files.front());
  for (std::filesystem::path& part : parts_) part = std::filesystem::absolute(part).lexically_normal();
}

Stamp WatchedSource::sources() const {
  Stamp stamp;
  for (const std::filesystem::path& part : parts_) add_sources(stamp, part.parent_path());
  return stamp;
}

/// What was registered of an earlier version makes room.
void WatchedSource::build() {
  for (const PluginSource& source : registered_) {
    source.family.empty() ? registry_.remove(source.variant) : registry_.remove_family(source.family);
  }
  registered_.clear();
  registered_ = build_();
}

Run WatchedSource::plan(const WatchContext& /*context*/) {
  build();
  RunRequest request;
  request.patterns = with_baselines(registered_, registry_);
  request.sources = registered_;
  request.values =
      request_.problem(*registry_.family(registry_.variant(registered_.front().variant)->info.family));
  request.passes = {Pass::timing, Pass::trace, Pass::counters};
  request.metrics = preset_metrics("default");
  request.rounds = request_.rounds;
  request.seed = std::random_device{}();
  request.max_seconds = request_.sampling_time;
  request.timeout = request_.timeout;
  request.inputs = inputs_();
  Run run = begin_run(make_plan(request, registry_, Devices::instance()), registry_, request_.command_line);
  prepare_run(run, registry_);
  return run;
}

void WatchedSource::measure(Run& run, ResultDirectory& directory, const WatchContext& context) {
  directory.save_sources(run);
  coordinate(run, {context.worker_command, directory, context.clock, context.progress, context.interrupt_fd});
}

std::vector<WatchedVariant> WatchedSource::variants(const Run& run) const {
  return {{.id = run.plan.sources.front().variant, .name = name_}};
}

}  // namespace mprof
