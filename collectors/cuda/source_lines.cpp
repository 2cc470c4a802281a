// SPDX-License-Identifier: MIT
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.hpp"
#include "collectors/cuda/sampled_kernels.hpp"
#include "cuda/cupti.hpp"
#include "cuda/driver.hpp"
#include "cuda/pc_sampler.hpp"
#include "cuda/range_profiler.hpp"

namespace mprof {
namespace {

/// At which lines of its kernels' sources the warps of each op stand, and what they wait for. One forward()
/// of a sample is timed, so that the next one can be sampled as often as it takes. Where no execution came
/// before the sample, one more forward() comes first, with all that happens once.
class SourceLines final : public Collector {
 public:
  explicit SourceLines(const CaseContext& context)
      : ops_(context.subject.ops), clock_(context.clock), untimed_(needs_warm_up() ? 0 : 1) {}

  /// Only so that CUPTI knows the modules: what one execution would warm up besides, a forward() does.
  static bool needs_warm_up() { return kept_sampler() == nullptr; }

  void begin_sample() override {
    op_.clear();
    attempt([&] { sampler_ = &sampler(); });
  }

  void begin_stage(std::string_view op, Stage stage) override {
    if (stage != Stage::forward || sampler_ == nullptr) return;
    if (op != op_) forwards_ = 0;
    op_ = op;
    is_sampling_ = forwards_ == untimed_ + 1;
    if (is_sampling_) attempt([&] { sampler_->start(seconds_); });
    began_ = clock_.now();
  }

  void end_stage(std::string_view op, Stage stage) override {
    if (stage != Stage::forward || sampler_ == nullptr) return;
    attempt([&] {
      cuda::driver().check(cuda::driver().synchronize_context());
      seconds_ = clock_.now() - began_;
      if (is_sampling_) add(std::string(op), sampler_->stop());
    });
    ++forwards_;
  }

  [[nodiscard]] bool again(std::string_view op) override {
    return sampler_ != nullptr && op_ == op && forwards_ < untimed_ + 2;
  }

  void finish(std::vector<Measurement>& measurements) override {
    for (const OpInfo& op : ops_) {
      const auto kernels = of_ops_.find(op.name);
      if (kernels == of_ops_.end()) {
        const std::string why = refusal_.empty() ? "no kernel was sampled" : refusal_;
        measurements.push_back({sample_count, op.name, "", Source::measured, {}, why});
        continue;
      }
      for (const auto& [kernel, sampled] : named(kernels->second)) {
        const auto samples = static_cast<double>(sampled->samples);
        measurements.push_back({sample_count, op.name, kernel, Source::measured, {samples}, ""});
      }
    }
  }

  [[nodiscard]] std::vector<SourceLine> source_lines() const override {
    std::vector<SourceLine> all;
    for (const OpInfo& op : ops_) {
      const auto kernels = of_ops_.find(op.name);
      if (kernels == of_ops_.end()) continue;
      add_most_sampled(kernels->second, op.name, all);
    }
    return all;
  }

 private:
  /// Made once in a process, and kept: CUPTI tells instructions apart of modules that were loaded before it
  /// sampled or counted anything, or while it may sample, and of no others.
  static cuda::PcSampler& sampler() {
    if (kept_sampler() == nullptr) kept_sampler() = new cuda::PcSampler(cuda::current_context());
    return *kept_sampler();
  }
  static cuda::PcSampler*& kept_sampler() {
    static cuda::PcSampler* kept = nullptr;
    return kept;
  }

  void add(const std::string& op, const std::vector<cuda::SampledInstruction>& instructions) {
    for (const cuda::SampledInstruction& instruction : instructions) {
      of_ops_[op][instruction.symbol].add(instruction.place, instruction.samples);
    }
  }

  /// What cannot be done ends sampling, with the reason.
  template <class Action>
  void attempt(const Action& action) {
    try {
      action();
    } catch (const std::exception& error) {
      refusal_ = error.what();
      sampler_ = nullptr;
    }
  }

  std::vector<OpInfo> ops_;
  const Clock& clock_;
  cuda::PcSampler* sampler_ = nullptr;
  std::string refusal_;  ///< why there is no sampler; "" when there is one, or there was
  int untimed_;          ///< forwards of each op before the one that is timed
  std::string op_;       ///< whose forward() runs or ran last
  int forwards_ = 0;     ///< of that op in this sample, so far
  bool is_sampling_ = false;
  double began_ = 0, seconds_ = 0;  ///< s, of the stage that runs or ran last
  std::map<std::string, SampledKernels> of_ops_;
};

const bool registered =
    (CollectorKinds::instance().add({
         .id = "source_lines",
         .pass = Pass::source,
         .device = "cuda",
         .order = 50,
         .unavailable = cuda::cupti_unavailable,
         .make = [](const CaseContext& context) { return std::make_unique<SourceLines>(context); },
         .needs_warm_up = SourceLines::needs_warm_up,
     }),
     true);

}  // namespace
}  // namespace mprof
