#include <algorithm>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectors/collector.hpp"
#include "collectors/cuda/counted_kernel.hpp"
#include "collectors/cuda/counted_together.hpp"
#include "collectors/cuda/quotients.hpp"
#include "cuda/check.hpp"
#include "cuda/cold_cache.hpp"
#include "cuda/cupti.hpp"
#include "cuda/driver.hpp"
#include "cuda/gpu.hpp"
#include "cuda/kernel_launch.hpp"
#include "cuda/profiler_host.hpp"
#include "cuda/range_profiler.hpp"
#include "device/probe.hpp"
#include "model/metric_presets.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// In one pass: enough for five kernels of a stage, with what makes the caches cold.
constexpr std::size_t most_launches = 15;

/// CUPTI's profiler for a selection of metrics. To open it takes a third of a second (H200), so that it stays
/// open for all cases of a process, and is not closed: at the end of the process CUDA may be gone before it.
class Profiling {
 public:
  /// For these metrics; opened when it is not, or was for others.
  static Profiling& of(const std::vector<std::string>& metrics) {
    Profiling*& open = opened();
    if (open == nullptr || open->selection_.metrics != metrics) {
      delete open;
      open = new Profiling(metrics);
    }
    return *open;
  }
  static bool is_open() { return opened() != nullptr; }

  [[nodiscard]] const CounterSelection& selection() const { return selection_; }
  /// nullptr: there is nothing to count, or selection().refusal says why it cannot be counted.
  [[nodiscard]] cuda::RangeProfiler* profiler() { return profiler_ ? &*profiler_ : nullptr; }
  void tell(cuda::LaunchObserver* observer) {
    if (callbacks_) callbacks_->tell(observer);
  }

  /// What was counted at one of the launches in a pass, in the order of selection().counted.
  [[nodiscard]] std::vector<double> counts(std::size_t launch) const {
    return quotients_->values(host_->evaluate(profiler_->counter_data(), launch, quotients_->parts()));
  }
  /// Ends passes that were begun, with launches that nobody asked to be counted.
  void leave_passes() {
    profiler_->leave_passes([] {
      cuda::clean_cache();
      cuda::driver().check(cuda::driver().synchronize_context());
    });
  }

 private:
  static Profiling*& opened() {
    static Profiling* open = nullptr;
    return open;
  }

  explicit Profiling(const std::vector<std::string>& metrics) {
    selection_.metrics = metrics;
    try {
      selection_.chip = cuda::chip_name();
      callbacks_.emplace();  // CUPTI wants to be subscribed to before it profiles
      open_profiler();
    } catch (const std::exception& error) {
      selection_.refusal = error.what();
    }
  }

  void open_profiler() {
    CUctx_st* const context = cuda::current_context();
    const std::vector<std::uint8_t> availability = cuda::counter_availability(context);
    std::ranges::copy_if(selection_.metrics, std::back_inserter(selection_.counted),
                         [](const std::string& id) { return !is_launch_metric(id); });
    selection_.missing = cuda::unknown_metrics(selection_.chip, selection_.counted, availability);
    std::erase_if(selection_.counted,
                  [&](const std::string& id) { return std::ranges::count(selection_.missing, id) > 0; });
    if (selection_.counted.empty()) return;
    quotients_.emplace(selection_.counted, [&](std::span<const std::string> parts) {
      return cuda::unknown_metrics(selection_.chip, parts, availability).empty();
    });
    host_.emplace(selection_.chip, availability);
    if (host_->add(quotients_->parts())) {
      cuda::clean_cache();  // makes what it needs
      profiler_.emplace(context, host_->config_image(), quotients_->parts(),
                        most_launches + 1);  // one that nobody was told of shows
      count_nothing();
    } else {
      selection_.refusal = "CUPTI does not take these metrics together on this GPU: give --metrics fewer.";
    }
  }

  /// When CUPTI starts counting for the first time in a process it writes some 3 MB of its own, behind
  /// whatever was done to clean the cache, and they would be charged to the launch that is counted then.
  void count_nothing() {
    profiler_->begin();
    leave_passes();
  }

  CounterSelection selection_;
  std::optional<cuda::LaunchCallbacks> callbacks_;
  std::optional<Quotients> quotients_;
  std::optional<cuda::ProfilerHost> host_;
  std::optional<cuda::RangeProfiler> profiler_;
};

/// Hardware counters of each distinct kernel of each op, at its largest launch in a stage, of several the
/// first, whichever stage and stream that is; and what follows from the launch itself. Which launch that is
/// the first run of a stage tells. The counters take more passes than one, and so the stage is run again and
/// again, or the whole execution where the kernel is in no forward stage: the caches are made cold before
/// each counted launch, and everything else is as the program has it. Kernels of a stage, as many as a pass
/// has room for, are counted in the same passes where the stage launches the same from one thread each time,
/// and else one at a time.
class KernelCounters final : public Collector, private cuda::LaunchObserver {
 public:
  explicit KernelCounters(const CaseContext& context)
      : profiling_(
            Profiling::of(context.plan.metrics.empty() ? preset_metrics("default") : context.plan.metrics)),
        ops_(context.subject.ops) {
    profiling_.tell(this);
  }
  ~KernelCounters() override {
    profiling_.tell(nullptr);
    if (together_ || has_failed_) leave_passes();
  }
  KernelCounters(const KernelCounters&) = delete;
  KernelCounters& operator=(const KernelCounters&) = delete;

  /// For what happens once in a process. What happens once in a case does so while its stages are looked at.
  static bool needs_warm_up() { return !Profiling::is_open(); }

  void begin_sample() override {
    passes_before_ = passes_;
    has_looked_ = false;
  }

  void end_sample() override {
    if (passes_ == passes_before_ && !has_looked_) give_up();
  }

  void begin_stage(std::string_view op, Stage stage) override {
    op_ = op;
    const auto [seen, is_new] = stages_.try_emplace({op_, stage});
    stage_ = &seen->second;
    is_first_run_ = is_new;
    has_looked_ |= is_first_run_;
    launched_.clear();
    has_counted_ = false;
  }

  void end_stage(std::string_view /*op*/, Stage /*stage*/) override {
    op_.clear();
    if (is_in_pass_) disband();  // the last one was not launched
    if (has_failed_) leave_passes();
    for (CountedKernel& kernel : kernels_) {
      if (kernel.attributes || !kernel.unknown_attributes.empty()) continue;
      kernel.unknown_attributes = refusal_of([&] { kernel.attributes = cuda::attributes_of(kernel.launch); });
    }
  }

  /// As long as the forward stage that has just run counts a kernel, or has only been looked at.
  [[nodiscard]] bool again(std::string_view /*op*/) override {
    return (has_counted_ || is_first_run_) &&
           std::ranges::any_of(launched_, [&](std::size_t kernel) { return is_open(kernels_[kernel]); });
  }

  [[nodiscard]] bool wants_more() override { return std::ranges::any_of(kernels_, is_open); }

  void finish(std::vector<Measurement>& measurements) override {
    add_measurements(profiling_.selection(), ops_, kernels_, cuda::gpu(), measurements);
  }

 private:
  // --- on the thread that launches, inside CUPTI's callbacks ---

  void launching(const cuda::KernelLaunch& launch) override {
    if (op_.empty()) return;  // between two stages: the runner's own
    const std::size_t index = index_of(launch);
    CountedKernel& kernel = kernels_[index];
    if (is_first_run_) {
      stage_->add(index, threads_of(launch));
      if (threads_of(launch) > threads_of(kernel.launch)) kernel.launch = launch;
    }
    if (threads_of(launch) == threads_of(kernel.launch) && std::ranges::count(launched_, index) == 0) {
      launched_.push_back(index);
      // In the first run a larger launch may come, and passes that were begun must be ended.
      if (!is_first_run_ && profiler() != nullptr && is_open(kernel)) count(index);
    }
    if (is_in_pass_) ++place_;
  }

  /// Before the launch at which a kernel is counted.
  void count(std::size_t index) {
    if (!together_) {
      together_ = counted_with(index);
      of_stage_ = stage_;
      is_as_seen_ = true;
      refuse_where_failing([&] { profiler()->begin(); });
    }
    const std::optional<std::size_t> place = together_ ? together_->place_of(index) : std::nullopt;
    // Another stage may launch one of several, and not the others.
    if (!place || (together_->kernels.size() > 1 && stage_ != of_stage_)) return;
    counting_ = index;
    refuse_where_failing([&] {
      cuda::start_cold_in_callback();
      if (is_in_pass_) {
        place_ += cuda::cold_start_launches;
      } else {
        profiler()->start();
        is_in_pass_ = true;
        place_ = 0;
      }
      is_as_seen_ &= place_ == *place;
    });
  }

  void launched() override {
    const std::optional<std::size_t> counted = std::exchange(counting_, std::nullopt);
    if (!counted) return;
    refuse_where_failing([&] {
      cuda::driver().check(cuda::driver().synchronize_context());
      if (*counted != together_->kernels.back()) return;
      is_in_pass_ = false;
      ++passes_;
      has_counted_ = true;
      profiler()->stop();
      if (!profiler()->is_complete()) return;
      profiler()->decode();
      take_counts();
    });
  }

  /// Once all passes are through.
  void take_counts() {
    const CountedTogether counted = *std::exchange(together_, std::nullopt);
    if (is_as_seen_ && profiler()->counted_launches() == counted.launches) {
      for (std::size_t i = 0; i < counted.kernels.size(); ++i)
        kernels_[counted.kernels[i]].counts = profiling_.counts(counted.at[i]);
    } else if (counted.kernels.size() > 1) {
      of_stage_->is_the_same_each_time = false;
    } else {
      kernels_[counted.kernels.front()].uncounted = "CUPTI counted nothing at its launches";
    }
  }

  /// What cannot be counted stays without, with the reason.
  template <class Action>
  void refuse_where_failing(const Action& action) {
    if (!together_) return;
    const CountedTogether counted = *together_;
    const std::string reason = refusal_of(action);
    if (reason.empty()) return;
    for (const std::size_t kernel : counted.kernels) kernels_[kernel].uncounted = reason;
    let_go();
    has_failed_ = true;
  }

  void let_go() {
    together_.reset();
    counting_.reset();
    is_in_pass_ = false;
  }

  [[nodiscard]] cuda::RangeProfiler* profiler() { return profiling_.profiler(); }

  static std::uint64_t threads_of(const cuda::KernelLaunch& launch) {
    return launch.grid.count() * launch.block.count();
  }

  // --- everywhere else ---

  /// What a stage launched when it ran for the first time.
  struct SeenStage {
    struct Launch {
      std::size_t kernel = 0;  ///< of kernels_
      std::uint64_t threads = 0;
    };
    std::vector<Launch> launches{};
    std::thread::id thread{};
    bool is_the_same_each_time = true;  ///< as far as one knows

    void add(std::size_t kernel, std::uint64_t threads) {
      const std::thread::id self = std::this_thread::get_id();
      if (launches.empty()) thread = self;
      is_the_same_each_time &= thread == self;  // else the order is anybody's
      launches.push_back({kernel, threads});
    }
  };

  /// The kernel and those that are counted in the same passes.
  [[nodiscard]] CountedTogether counted_with(std::size_t index) const {
    if (!stage_->is_the_same_each_time) return counted_alone(index);
    std::vector<StageLaunch> stage;
    std::set<std::size_t> met;
    for (const auto& [kernel, threads] : stage_->launches) {
      const bool is_the_one = threads == threads_of(kernels_[kernel].launch) && met.insert(kernel).second;
      stage.push_back({kernel, is_the_one && is_open(kernels_[kernel])});
    }
    return counted_together(index, stage, cuda::cold_start_launches, most_launches);
  }

  /// Kernels that were to be counted together were not launched so: from now on they are counted one by one.
  void disband() {
    let_go();
    has_counted_ = true;  // with what was left of the passes
    ++passes_;
    of_stage_->is_the_same_each_time = false;
    leave_passes();
  }

  /// Ends those that were begun, as far as CUPTI lets it.
  void leave_passes() {
    has_failed_ = false;
    (void)refusal_of([&] { profiling_.leave_passes(); });
  }

  /// Whether there is something left to count of it.
  static bool is_open(const CountedKernel& kernel) {
    return kernel.counts.empty() && kernel.uncounted.empty();
  }

  /// Its place in kernels_, where it is put if it was not there.
  std::size_t index_of(const cuda::KernelLaunch& launch) {
    const auto known = std::ranges::find_if(kernels_, [&](const CountedKernel& kernel) {
      return kernel.op == op_ && kernel.launch.symbol == launch.symbol;
    });
    if (known != kernels_.end()) return static_cast<std::size_t>(known - kernels_.begin());
    CountedKernel& kernel = kernels_.emplace_back(CountedKernel{op_, launch});
    kernel.uncounted = profiling_.selection().refusal;
    if (profiler() == nullptr && kernel.uncounted.empty())
      kernel.uncounted = "none of the counters asked for is there";
    return kernels_.size() - 1;
  }

  /// A whole execution has counted nothing: what was to be counted stays open, and what waited for it has its
  /// turn; else all that is open stays so.
  void give_up() {
    const auto close = [](CountedKernel& kernel) {
      kernel.uncounted = "it was not launched again when the op was run for its other counters";
    };
    if (together_) {
      for (const std::size_t kernel : together_->kernels) close(kernels_[kernel]);
      let_go();
      leave_passes();
      return;
    }
    for (CountedKernel& kernel : kernels_) {
      if (is_open(kernel)) close(kernel);
    }
  }

  /// Why `action` could not be done; "" when it was.
  template <class Action>
  static std::string refusal_of(const Action& action) {
    try {
      action();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  Profiling& profiling_;
  std::vector<OpInfo> ops_;
  std::string op_;                                             ///< of the stage that runs; "" between stages
  std::map<std::pair<std::string, Stage>, SeenStage> stages_;  ///< that have run
  SeenStage* stage_ = nullptr;                                 ///< that runs or ran last
  bool is_first_run_ = false;                ///< of the stage: how large its launches get is not known
  bool has_looked_ = false;                  ///< a stage of this sample ran for the first time
  std::vector<CountedKernel> kernels_;       ///< in the order of their first launches
  std::vector<std::size_t> launched_;        ///< of kernels_, in the stage that runs or ran last
  std::optional<CountedTogether> together_;  ///< whose passes are being counted, of kernels_
  SeenStage* of_stage_ = nullptr;            ///< that launches those of together_, of stages_
  bool has_failed_ = false;                  ///< passes were begun, and were left in the middle of a launch
  bool is_as_seen_ = false;                  ///< each was launched at its place so far
  bool is_in_pass_ = false;                  ///< from the first one's launch to the last one's
  std::size_t place_ = 0;                    ///< in the pass: launches so far
  std::optional<std::size_t> counting_;      ///< the one that is being launched, of kernels_
  bool has_counted_ = false;                 ///< a pass in the stage that runs or ran last
  std::uint64_t passes_ = 0;                 ///< that were counted
  std::uint64_t passes_before_ = 0;          ///< as they were when the sample began
};

/// Tries all that the pass needs, with one counter and no kernel: CUPTI refuses for lack of permission only
/// when counting starts.
void try_counters() {
  CUctx_st* const context = cuda::current_context();
  const cuda::LaunchCallbacks callbacks;
  if (const auto reason = cuda::profiling_unsupported()) throw Error(ExitCode::environment, *reason);
  const std::vector<std::string> metric{"sm__cycles_active.avg"};
  cuda::ProfilerHost host(cuda::chip_name(), cuda::counter_availability(context));
  if (!host.add(metric)) throw Error(ExitCode::environment, "This GPU lets no counter be read.");
  cuda::RangeProfiler profiler(context, host.config_image(), metric, 1);
  profiler.begin();
  profiler.start();
}

/// Asked for every case, tried once.
const std::optional<std::string>& obstacle() {
  static const std::optional<std::string> found = []() -> std::optional<std::string> {
    if (auto reason = cuda::cupti_unavailable()) return reason;
    try {
      try_counters();
      return std::nullopt;
    } catch (const std::exception& error) {
      return error.what();
    }
  }();
  return found;
}

std::optional<std::string> unavailable() {
  if (!obstacle()) return std::nullopt;
  return *obstacle() + " What the timing pass says of throughput is modelled and needs no counters.";
}

std::vector<std::string> unknown_metrics(std::span<const std::string> names) {
  if (cuda::cupti_unavailable()) return not_in_catalogue(names);
  std::vector<std::string> computed;
  std::vector<std::string> counted;
  for (const std::string& name : names) (is_launch_metric(name) ? computed : counted).push_back(name);
  std::vector<std::string> unknown = not_in_catalogue(computed);
  for (std::string& name : cuda::unknown_metrics(cuda::chip_name(), counted)) {
    unknown.push_back(std::move(name));
  }
  return unknown;
}

/// For `mprof doctor`.
Probe probe_cupti() {
  Probe probe{"CUPTI", ProbeState::limited, "",
              "Without it the trace, counters and source passes are skipped."};
  int gpus = 0;
  if (const auto reason = cuda::cupti_unavailable()) {
    probe.found = *reason;
  } else if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
    probe = {"CUPTI", ProbeState::ok, cuda::cupti_version() + "; there is no GPU to try it on", ""};
  } else if (obstacle()) {
    probe.found = fmt::format("{}, but the hardware counters cannot be read", cuda::cupti_version());
    probe.remedy = *obstacle();
  } else {
    probe = {"CUPTI", ProbeState::ok, cuda::cupti_version() + ", and hardware counters can be read", ""};
  }
  return probe;
}

const bool registered =
    (CollectorKinds::instance().add({
         .id = "kernel_counters",
         .pass = Pass::counters,
         .device = "cuda",
         .order = 50,
         .unavailable = unavailable,
         .make = [](const CaseContext& context) { return std::make_unique<KernelCounters>(context); },
         .needs_warm_up = KernelCounters::needs_warm_up,
         .unknown_metrics = unknown_metrics,
     }),
     add_probe(probe_cupti), true);

}  // namespace
}  // namespace mprof
