// SPDX-License-Identifier: MIT
#include "runner/watch/watched_suite.hpp"

#include <random>
#include <utility>

#include "kernels/registry.hpp"
#include "model/metric_presets.hpp"
#include "runner/program/program_run.hpp"
#include "runner/suite/family.hpp"
#include "runner/suite/suite_run.hpp"

namespace mprof {

WatchedSuite::WatchedSuite(std::string name, WatchRequest request)
    : name_(std::move(name)),
      file_(std::filesystem::absolute(name_).lexically_normal()),
      request_(std::move(request)),
      suite_(read_suite(name_)) {}

Stamp WatchedSuite::sources() const {
  Stamp stamp;
  add_sources(stamp, file_.parent_path());
  add_file(stamp, file_);
  return stamp;
}

Stamp WatchedSuite::programs() const {
  Stamp stamp;
  for (const std::filesystem::path& program : programs_) add_file(stamp, program);
  return stamp;
}

Run WatchedSuite::plan(const WatchContext& context) {
  programs_.clear();
  suite_ = read_suite(name_);
  Registry registry;
  register_suite(suite_, registry);
  RunRequest request;
  request.all = true;
  request.devices = {"all"};
  request.values = request_.problem(*registry.family(suite_.name));
  request.passes = ProgramRequest{}.passes;
  request.metrics = preset_metrics("default");
  request.rounds = request_.rounds;
  request.seed = std::random_device{}();
  request.timeout = request_.timeout;
  Run run = planned_suite_run(request, "", registry, request_.command_line);
  build_suite(suite_, run.plan.variants, context.clock, context.interrupt_fd,
              [](const std::string& /*command*/) {});
  find_programs(suite_, run);
  for (const PluginSource& source : run.plan.sources) {
    if (suite_.program(source.variant.substr(suite_.name.size() + 1))->build.empty())
      programs_.emplace_back(source.library);
  }
  return run;
}

void WatchedSuite::measure(Run& run, ResultDirectory& directory, const WatchContext& context) {
  measure_programs(run, {.worker_command = context.worker_command,
                         .directory = directory,
                         .clock = context.clock,
                         .progress = context.progress,
                         .interrupt_fd = context.interrupt_fd,
                         .program_of = [&](const Case& c) {
                           return program_of_suite(suite_, run, c, context.clock, context.interrupt_fd);
                         }});
}

std::vector<WatchedVariant> WatchedSuite::variants(const Run& run) const {
  std::vector<WatchedVariant> variants;
  for (const VariantInfo& variant : run.variants) variants.push_back({.id = variant.id, .name = variant.id});
  return variants;
}

}  // namespace mprof
