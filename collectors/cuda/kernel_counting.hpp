// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "collectors/cuda/counted_kernel.hpp"
#include "collectors/cuda/counted_together.hpp"
#include "cuda/kernel_launch.hpp"
#include "kernels/stage.hpp"

namespace mprof {

/// What counts launches, in passes: a pass is what is launched between start() and stop(), and all passes
/// must launch the same. Any of these may throw.
class LaunchCounter {
 public:
  virtual ~LaunchCounter() = default;
  /// Why nothing can be counted; "": it can.
  [[nodiscard]] virtual std::string refusal() const = 0;
  /// How many launches there may be in a pass.
  [[nodiscard]] virtual std::size_t most_launches() const = 0;
  /// How many kernels make_cold() launches.
  [[nodiscard]] virtual std::size_t cold_launches() const = 0;
  /// Makes the caches cold for the launch that comes next.
  virtual void make_cold() = 0;
  /// The next pass is the first one of other launches.
  virtual void begin() = 0;
  virtual void start() = 0;
  /// Waits for what was launched.
  virtual void wait() = 0;
  /// Whether this was the last pass.
  [[nodiscard]] virtual bool stop() = 0;
  /// How many launches of a pass were counted, including launches that no observer saw. After the last one.
  [[nodiscard]] virtual std::size_t counted_launches() = 0;
  /// What was counted at one of them, from 0.
  [[nodiscard]] virtual std::vector<double> counts(std::size_t launch) = 0;
  /// Ends passes that were begun, with launches that nobody asked to be counted.
  virtual void leave_passes() = 0;
};

/// Which kernels of a case are counted, and when. Each distinct kernel of each op is counted at its largest
/// launch in a stage; of equal ones, at the first, in whichever stage and stream. The first run of a stage
/// shows which launch that is.
///
/// Counting takes several passes, so the stage is run again and again. Where the kernel is in no forward
/// stage, the whole execution is run again. Caches are made cold before each counted launch; everything else
/// is as the program has it.
///
/// A pass counts as many kernels of a stage as it has room for, if the stage launches the same from one
/// thread each time. Otherwise kernels are counted one at a time.
class KernelCounting final : public cuda::LaunchObserver {
 public:
  explicit KernelCounting(LaunchCounter& counter) : counter_(counter) {}
  /// Leaves no pass begun.
  ~KernelCounting() override;
  KernelCounting(const KernelCounting&) = delete;
  KernelCounting& operator=(const KernelCounting&) = delete;

  void begin_sample();
  void end_sample();
  void begin_stage(std::string_view op, Stage stage);
  void end_stage();
  /// As long as the forward stage that has just run counts a kernel, or has only been looked at.
  [[nodiscard]] bool again() const;
  /// Whether another sample would count more.
  [[nodiscard]] bool wants_more() const;
  /// In the order of their first launches.
  [[nodiscard]] std::vector<CountedKernel>& kernels() { return kernels_; }

  // On the thread that launches.
  void launching(const cuda::KernelLaunch& launch) override;
  void launched() override;

 private:
  /// What a stage launched when it ran for the first time.
  struct SeenStage {
    struct Launch {
      std::size_t kernel = 0;  ///< of kernels_
      std::uint64_t threads = 0;
    };
    std::vector<Launch> launches{};
    std::thread::id thread{};
    bool is_the_same_each_time = true;  ///< as far as one knows

    void add(std::size_t kernel, std::uint64_t threads);
  };

  void count(std::size_t index);
  void take_counts();
  template <class Action>
  void refuse_where_failing(const Action& action);
  void let_go();
  [[nodiscard]] CountedTogether counted_with(std::size_t index) const;
  void disband();
  void leave_passes();
  std::size_t index_of(const cuda::KernelLaunch& launch);
  void give_up();

  LaunchCounter& counter_;
  std::string op_;                                             ///< of the stage that runs; "" between stages
  std::map<std::pair<std::string, Stage>, SeenStage> stages_;  ///< that have run
  SeenStage* stage_ = nullptr;                                 ///< that runs or ran last
  bool is_first_run_ = false;                ///< of the stage: how large its launches get is not known
  bool has_looked_ = false;                  ///< a stage of this sample ran for the first time
  std::vector<CountedKernel> kernels_;       ///< in the order of their first launches
  std::vector<std::size_t> launched_;        ///< of kernels_, in the stage that runs or ran last
  std::optional<CountedTogether> together_;  ///< whose passes are being counted, of kernels_
  SeenStage* of_stage_ = nullptr;            ///< that launches the kernels of together_, of stages_
  bool has_failed_ = false;                  ///< passes were begun, and were left in the middle of a launch
  bool is_as_seen_ = false;                  ///< each was launched at its place so far
  bool is_in_pass_ = false;                  ///< from the first one's launch to the last one's
  std::size_t place_ = 0;                    ///< in the pass: launches so far
  std::optional<std::size_t> counting_;      ///< the one that is being launched, of kernels_
  bool has_counted_ = false;                 ///< a pass in the stage that runs or ran last
  std::uint64_t passes_ = 0;                 ///< that were counted
  std::uint64_t passes_before_ = 0;          ///< as they were when the sample began
};

}  // namespace mprof
