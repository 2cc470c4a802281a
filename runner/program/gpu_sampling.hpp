// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "model/trace/trace.hpp"
#include "system/clock.hpp"
#include "system/process.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {

/// Processes of mprof's own that sample GPUs while a program runs: one for each GPU, which nothing of mprof's
/// shares with the program.
class GpuSampling {
 public:
  struct Setting {
    std::vector<std::string> worker_command{};
    std::vector<DeviceUnit> gpus{};
    double interval = 0;  ///< s, between two samples
    const Clock& clock;
    int interrupt_fd = -1;
  };
  /// Returns once all GPUs are sampled, or it is known why one is not.
  explicit GpuSampling(const Setting& setting);

  /// Ends sampling, and adds the samples of GPUs that the trace has, which counts from 1970. Returns
  /// sentences: what is missing, and why.
  [[nodiscard]] std::vector<std::string> finish(trace::Trace& trace);

 private:
  struct Sampler {
    DeviceUnit gpu{};
    std::filesystem::path file{};
    std::unique_ptr<Process> process{};
    std::string refusal{};  ///< why it is not sampled; empty: it is
    std::vector<std::string> notes{};
  };
  void hear(Sampler& sampler, double limit, bool until_end) const;

  const Clock& clock_;
  int interrupt_fd_;
  TemporaryFolder folder_;
  std::vector<Sampler> samplers_;
};

}  // namespace mprof
