// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include <mprof/course/faults.hpp>
#include <mprof/variant.hpp>

/// The course's file for the CPU as a plug-in: conv_forward_cpu(y, x, k, B, M, C, H, W, K), and in some
/// editions S.
namespace mprof::course {

template <class Forward>
concept HasStride = requires(Forward forward, float* p, int n) {
  forward(p, p, p, n, n, n, n, n, n, n);
};

template <class Forward>
concept HasNoStride = requires(Forward forward, float* p, int n) {
  forward(p, p, p, n, n, n, n, n, n);
};

/// `Forward` calls the file's function.
template <class Forward>
class CpuConvolution final : public plugin::Op {
  static_assert(HasNoStride<Forward> || HasStride<Forward>,
                "conv_forward_cpu has the arguments of none of the course's editions");

 public:
  void prepare(const plugin::Task& task) override { task_ = std::make_unique<plugin::Task>(task); }

  void forward() override {
    const FaultWords words(*task_, "conv_forward_cpu");
    const auto size = [&](const char* name) { return static_cast<int>(task_->size(name)); };
    auto* const x = const_cast<float*>(task_->input(0));
    auto* const k = const_cast<float*>(task_->input(1));
    if constexpr (HasStride<Forward>) {
      Forward()(task_->output(), x, k, size("batch"), size("maps"), size("channels"), size("height"),
                size("width"), size("mask"), size("stride"));
    } else if constexpr (HasNoStride<Forward>) {
      Forward()(task_->output(), x, k, size("batch"), size("maps"), size("channels"), size("height"),
                size("width"), size("mask"));
    }
  }

  void finish() override {}

 private:
  std::unique_ptr<plugin::Task> task_;
};

template <class Forward>
plugin::Declaration cpu_variant() {
  return {.family = "conv",
          .title = HasStride<Forward> ? "Course file for the CPU, with a stride" : "Course file for the CPU",
          .idea = "conv_forward_cpu() as the course's project calls it.",
          .device = "cpu",
          .baseline = "conv/cpu_naive",
          .flags = HasStride<Forward> ? MPROF_AT_ODD_SIZES : 0,
          .make = [](const plugin::Parameters&) { return std::make_unique<CpuConvolution<Forward>>(); }};
}

}  // namespace mprof::course
