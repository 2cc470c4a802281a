// SPDX-License-Identifier: MIT
#include "collectors/cuda/own_launches.hpp"

#include <memory>

#include "collectors/collector.hpp"
#include "kernels/plugin.hpp"
#include "model/kernel_name.hpp"

namespace mprof {

void OwnLaunches::end_stage(std::string_view op, Stage stage) {
  of_ops_[std::string(op)][stage] = cuda::stop_counting_launches();
}

void OwnLaunches::finish(const std::vector<OpInfo>& ops, std::vector<Measurement>& measurements) const {
  for (const OpInfo& op : ops) {
    const auto stages = of_ops_.find(op.name);
    if (stages == of_ops_.end()) continue;
    cuda::LaunchCounts counts;
    for (const auto& [stage, launched] : stages->second) {
      for (const auto& [symbol, times] : launched) counts[symbol] += times;
    }
    std::vector<std::string> symbols;
    for (const auto& [symbol, times] : counts) symbols.push_back(symbol);
    const std::vector<std::string> names = distinct_kernel_names(symbols);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto times = static_cast<double>(counts.at(symbols[i]));
      measurements.push_back({"own_launches", op.name, names[i], Source::measured, {times}, ""});
    }
  }
}

namespace {

class LaunchesOfTimedWork final : public Collector {
 public:
  explicit LaunchesOfTimedWork(const CaseContext& context) : ops_(context.subject.ops) {}

  void begin_stage(std::string_view /*op*/, Stage /*stage*/) override { OwnLaunches::begin_stage(); }
  void end_stage(std::string_view op, Stage stage) override { launches_.end_stage(op, stage); }
  void finish(std::vector<Measurement>& measurements) override { launches_.finish(ops_, measurements); }

 private:
  std::vector<OpInfo> ops_;
  OwnLaunches launches_;
};

const bool registered =
    (CollectorKinds::instance().add({
         .id = "own_launches",
         .pass = Pass::timing,
         .device = "cuda",
         .order = 60,
         .unavailable = [] { return std::nullopt; },
         .make = [](const CaseContext& context) { return std::make_unique<LaunchesOfTimedWork>(context); },
     }),
     tell_of_plugin_launches(cuda::count_launch_elsewhere), true);

}  // namespace
}  // namespace mprof
