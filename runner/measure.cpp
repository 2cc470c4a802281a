#include "runner/measure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "runner/stopping.hpp"

namespace mprof {
namespace {

/// How far an execution's accuracy may be from the checked one's before its output counts as wrong.
constexpr double accuracy_tolerance = 0.002;
/// Warm-up takes at most this share of the time that sampling may take, so that slow cases are not run twice
/// for it.
constexpr double warmup_share = 0.1;
/// Samples of each op's hot time, where there is time for so many.
constexpr std::size_t hot_samples = 11;
/// How often samples that something disturbed are taken again.
constexpr std::uint32_t max_retries = 2;

using Collectors = std::vector<std::unique_ptr<Collector>>;

/// The available collectors of a pass, in order, and what the others' absence leaves to say.
Collectors make_collectors(const MeasureContext& context, Pass pass) {
  const CaseContext subject{context.subject,  context.device,  context.clock,
                            context.ceilings, context.metrics, context.trace_file};
  Collectors out;
  for (const CollectorKind* kind : context.collectors.of(pass, context.device.id())) {
    if (!kind->unavailable || !kind->unavailable()) out.push_back(kind->make(subject));
  }
  return out;
}

/// Stands between an execution and the collectors: begins them in order and ends them in reverse, and lets
/// each forward() start with a cold cache.
class CollectedStages final : public StageObserver {
 public:
  CollectedStages(const Device& device, const Collectors& collectors, int forwards)
      : device_(device), collectors_(collectors), forwards_(forwards) {}

  void stage(std::string_view op, Stage stage, const std::function<void()>& work) override {
    const int times = stage == Stage::forward ? forwards_ : 1;
    for (int i = 0; i < times; ++i) once(op, stage, work);
  }

  /// One execution as one sample.
  InferenceResult sample(Execution& execution) {
    for (const auto& collector : collectors_) collector->begin_sample();
    const InferenceResult result = execution.infer(*this);
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->end_sample(); });
    return result;
  }

 private:
  void once(std::string_view op, Stage stage, const std::function<void()>& work) {
    if (stage == Stage::forward) make_cache_cold();
    for (const auto& collector : collectors_) collector->begin_stage(op, stage);
    work();
    if (stage != Stage::forward) device_.synchronize();
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->end_stage(op, stage); });
  }

  void make_cache_cold() {
    for (const auto& collector : collectors_) collector->pause();
    device_.flush_cache();
    device_.synchronize();
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->resume(); });
  }

  const Device& device_;
  const Collectors& collectors_;
  int forwards_;
};

/// Times each forward() with what the one before has left in the cache: until there are enough samples or the
/// op has spent its seconds, and at least once.
class HotStages final : public StageObserver {
 public:
  HotStages(const MeasureContext& context, double seconds_per_op)
      : device_(context.device),
        clock_(context.clock),
        seconds_per_op_(seconds_per_op),
        timer_(device_.make_timer()) {}

  void stage(std::string_view op, Stage stage, const std::function<void()>& work) override {
    work();
    if (stage == Stage::forward) sample(times_[std::string(op)], work);
    device_.synchronize();
  }

  void finish(std::vector<Measurement>& measurements) {
    for (auto& [op, times] : times_) {
      measurements.push_back({"hot_op_time", op, "", Source::measured, std::move(times), ""});
    }
  }

 private:
  void sample(std::vector<double>& times, const std::function<void()>& work) const {
    const double start = clock_.now();
    do {
      timer_->start();
      work();
      timer_->stop();
      times.push_back(timer_->seconds());
    } while (times.size() < hot_samples && clock_.now() - start < seconds_per_op_);
  }

  const Device& device_;
  const Clock& clock_;
  double seconds_per_op_;
  std::unique_ptr<DeviceTimer> timer_;
  std::map<std::string, std::vector<double>> times_;
};

Measurement of_case(std::string metric, std::vector<double> samples) {
  Measurement m;
  m.metric = std::move(metric);
  m.samples = std::move(samples);
  return m;
}

/// The checked execution: verification, accuracy, and the op times of a first launch.
InferenceResult check(const MeasureContext& context, Execution& execution, PassResult& result) {
  const Collectors collectors = make_collectors(context, Pass::timing);
  CollectedStages stages(context.device, collectors, 1);
  for (const auto& collector : collectors) collector->begin_sample();
  CheckedResult checked = execution.check(stages);
  std::for_each(collectors.rbegin(), collectors.rend(),
                [&](const auto& collector) { collector->end_sample(); });

  std::vector<Measurement> seen;
  for (const auto& collector : collectors) collector->finish(seen);
  for (Measurement& m : seen) {
    if (m.metric != "op_time") continue;
    m.metric = "first_op_time";
    result.measurements.push_back(std::move(m));
  }
  result.verification = std::move(checked.verification);
  return checked.inference;
}

void judge_verification(PassResult& result) {
  std::string findings;
  for (const Verification& v : result.verification) {
    if (v.passed) continue;
    findings += (findings.empty() ? "" : "; ") + v.op + ": " + v.finding;
  }
  result.status = findings.empty() ? Status::ok : Status::wrong;
  result.reason = std::move(findings);
}

/// At least one execution beside the checked one, if that is cheap.
std::uint32_t warm_up(const MeasureContext& context, Execution& execution, double checked_seconds) {
  if (checked_seconds > warmup_share * context.stopping.max_seconds) return 0;
  NoObserver nobody;
  execution.infer(nobody);
  context.device.synchronize();
  return 1;
}

std::vector<std::span<const double>> decisive_series(const Collectors& collectors) {
  std::vector<std::span<const double>> all;
  for (const auto& collector : collectors) {
    for (const std::span<const double> series : collector->decisive_series()) all.push_back(series);
  }
  return all;
}

/// What one attempt at sampling gave.
struct Samples {
  Sampling sampling;
  std::vector<double> accuracies;  ///< one a sample
  std::vector<Measurement> measurements;
};

std::optional<std::string> disturbance(const Collectors& collectors) {
  for (const auto& collector : collectors) {
    if (auto reason = collector->disturbance()) return reason;
  }
  return std::nullopt;
}

/// Samples until the stopping rule says so.
Samples take_samples(const MeasureContext& context, Execution& execution) {
  const Collectors collectors = make_collectors(context, Pass::timing);
  CollectedStages stages(context.device, collectors, context.device.forwards_per_sample());
  const StoppingRule rule(context.stopping);
  Samples taken;
  std::vector<double>& accuracies = taken.accuracies;
  std::optional<Ending> ending;
  const double start = context.clock.now();
  do {
    accuracies.push_back(stages.sample(execution).accuracy);
    if (context.on_sample) context.on_sample(static_cast<std::uint32_t>(accuracies.size()));
    ending = rule.ending(decisive_series(collectors), accuracies.size(), context.clock.now() - start);
  } while (!ending);

  taken.sampling.samples = static_cast<std::uint32_t>(accuracies.size());
  taken.sampling.ended_by = *ending;
  taken.sampling.relative_half_width = widest_half_width(decisive_series(collectors));
  taken.sampling.disturbance = disturbance(collectors).value_or("");
  for (const auto& collector : collectors) collector->finish(taken.measurements);
  return taken;
}

/// The samples of the first attempt that nothing disturbed, or of the last one that is allowed.
Samples take_undisturbed_samples(const MeasureContext& context, Execution& execution) {
  Samples taken = take_samples(context, execution);
  for (std::uint32_t retry = 1; retry <= max_retries && !taken.sampling.disturbance.empty(); ++retry) {
    taken = take_samples(context, execution);
    taken.sampling.retries = retry;
  }
  return taken;
}

void take_hot_samples(const MeasureContext& context, Execution& execution, PassResult& result) {
  // As long as the cold samples may take together, and to each op the same share of it.
  const std::size_t ops = std::max<std::size_t>(context.subject.ops.size(), 1);
  HotStages stages(context, context.stopping.max_seconds / static_cast<double>(ops));
  execution.infer(stages);
  stages.finish(result.measurements);
}

/// A variant that was right once must stay right.
void judge_accuracy(PassResult& result, double checked, const std::vector<double>& accuracies) {
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    if (std::abs(accuracies[i] - checked) <= accuracy_tolerance) continue;
    result.status = Status::wrong;
    result.reason = fmt::format(
        "the checked execution reached an accuracy of {:.4f}, but timed execution {} only {:.4f}: "
        "the output changes from one execution to the next",
        checked, i + 1, accuracies[i]);
    return;
  }
}

}  // namespace

std::optional<std::string> pass_unavailable(const CollectorKinds& collectors, Pass pass,
                                            const Device& device) {
  std::string reasons;
  for (const CollectorKind* kind : collectors.of(pass, device.id())) {
    const std::optional<std::string> reason = kind->unavailable ? kind->unavailable() : std::nullopt;
    if (!reason) return std::nullopt;
    reasons += (reasons.empty() ? "" : "; ") + *reason;
  }
  if (reasons.empty()) {
    return fmt::format("the {} device has no collector for the {} pass", device.id(), to_string(pass));
  }
  return reasons;
}

PassResult measure_timing(const MeasureContext& context, Execution& execution) {
  PassResult result{.pass = Pass::timing};
  const double start = context.clock.now();
  const InferenceResult checked = check(context, execution, result);
  const double checked_seconds = context.clock.now() - start;
  judge_verification(result);
  if (checked.has_agreement)
    result.measurements.push_back(of_case("prediction_agreement", {checked.agreement}));

  std::vector<double> accuracies{checked.accuracy};
  if (result.status == Status::ok) {
    const std::uint32_t warmups = 1 + warm_up(context, execution, checked_seconds);
    Samples taken = take_undisturbed_samples(context, execution);
    taken.sampling.warmups = warmups;
    result.sampling = std::move(taken.sampling);
    std::ranges::move(taken.measurements, std::back_inserter(result.measurements));
    accuracies = std::move(taken.accuracies);
    if (context.hot) take_hot_samples(context, execution, result);
    judge_accuracy(result, checked.accuracy, accuracies);
  }
  result.measurements.push_back(of_case("accuracy", {accuracies.back()}));
  result.seconds = context.clock.now() - start;
  return result;
}

PassResult measure_watched(const MeasureContext& context, Pass pass, Execution& execution) {
  PassResult result{.pass = pass};
  if (const auto reason = pass_unavailable(context.collectors, pass, context.device)) {
    result.status = Status::skipped;
    result.reason = *reason;
    return result;
  }
  const double start = context.clock.now();
  NoObserver nobody;
  execution.infer(nobody);
  context.device.synchronize();
  const Collectors collectors = make_collectors(context, pass);
  CollectedStages(context.device, collectors, 1).sample(execution);
  for (const auto& collector : collectors) collector->finish(result.measurements);
  result.status = Status::ok;
  result.sampling = Sampling{.warmups = 1, .samples = 1, .ended_by = Ending::samples};
  result.seconds = context.clock.now() - start;
  return result;
}

}  // namespace mprof
