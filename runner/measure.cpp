#include "runner/measure.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "runner/stopping.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

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
  const CaseContext subject{context.subject, context.device, context.clock, context.plan, context.trace_file};
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
  std::vector<QualityValue> sample(Execution& execution) {
    for (const auto& collector : collectors_) collector->begin_sample();
    std::vector<QualityValue> qualities = execution.run(*this);
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->end_sample(); });
    return qualities;
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

/// The verified execution: verification, qualities, and the op times of a first launch.
std::vector<QualityValue> verify(const MeasureContext& context, Execution& execution, PassResult& result) {
  const Collectors collectors = make_collectors(context, Pass::timing);
  CollectedStages stages(context.device, collectors, 1);
  for (const auto& collector : collectors) collector->begin_sample();
  VerifiedResult verified = execution.run_verified(stages);
  std::for_each(collectors.rbegin(), collectors.rend(),
                [&](const auto& collector) { collector->end_sample(); });

  std::vector<Measurement> seen;
  for (const auto& collector : collectors) collector->finish(seen);
  for (Measurement& m : seen) {
    if (m.metric != "op_time") continue;
    m.metric = "first_op_time";
    result.measurements.push_back(std::move(m));
  }
  result.verification = std::move(verified.verification);
  return std::move(verified.qualities);
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

/// At least one execution beside the verified one, if that is cheap.
std::uint32_t warm_up(const MeasureContext& context, Execution& execution, double verified_seconds) {
  if (verified_seconds > warmup_share * context.plan.stopping.max_seconds) return 0;
  NoObserver nobody;
  execution.run(nobody);
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
  std::vector<std::vector<QualityValue>> qualities;  ///< one a sample
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
  const StoppingRule rule(context.plan.stopping);
  Samples taken;
  auto& samples = taken.qualities;
  std::optional<Ending> ending;
  const double start = context.clock.now();
  do {
    samples.push_back(stages.sample(execution));
    if (context.on_sample) context.on_sample(static_cast<std::uint32_t>(samples.size()));
    ending = rule.ending(decisive_series(collectors), samples.size(), context.clock.now() - start);
  } while (!ending);

  taken.sampling.samples = static_cast<std::uint32_t>(samples.size());
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
  HotStages stages(context, context.plan.stopping.max_seconds / static_cast<double>(ops));
  execution.run(stages);
  stages.finish(result.measurements);
}

const double* value_of(const std::vector<QualityValue>& qualities, std::string_view metric) {
  const auto found = std::ranges::find(qualities, metric, &QualityValue::metric);
  return found == qualities.end() ? nullptr : &found->value;
}

const QualityInfo& described(const MeasureContext& context, std::string_view metric) {
  const QualityInfo* info = find_quality(context.family, metric);
  if (info != nullptr) return *info;
  throw Error(ExitCode::fault,
              fmt::format("the family {} does not describe its quality {}", context.family.id, metric));
}

/// A variant that was right once must stay right: no quality of a later execution may be further from the
/// verified one's than its tolerance.
void judge_qualities(const MeasureContext& context, const std::vector<QualityValue>& verified,
                     const std::vector<std::vector<QualityValue>>& samples, PassResult& result) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (const QualityValue& quality : samples[i]) {
      const double* before = value_of(verified, quality.metric);
      const QualityInfo& info = described(context, quality.metric);
      // Written so that a NaN is no agreement.
      if (before == nullptr || std::abs(quality.value - *before) <= info.tolerance) continue;
      result.status = Status::wrong;
      result.reason = fmt::format(
          "{} was {:.4g} when the output was verified, and {:.4g} in timed execution {}: the output changes "
          "from one execution to the next",
          info.label, *before, quality.value, i + 1);
      return;
    }
  }
}

/// Of each quality the value of the last execution that gave one.
void add_qualities(const MeasureContext& context, const std::vector<QualityValue>& verified,
                   const std::vector<std::vector<QualityValue>>& samples, PassResult& result) {
  for (const QualityValue& quality : verified) {
    const double* last = samples.empty() ? nullptr : value_of(samples.back(), quality.metric);
    const double value = last != nullptr ? *last : quality.value;
    Measurement& row = result.measurements.emplace_back();
    row.metric = described(context, quality.metric).metric;
    if (std::isfinite(value)) {
      row.samples = {value};
    } else {
      row.absent = "it is no finite number";
    }
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
  const std::vector<QualityValue> verified = verify(context, execution, result);
  const double verified_seconds = context.clock.now() - start;
  judge_verification(result);

  std::vector<std::vector<QualityValue>> qualities;
  if (result.status == Status::ok) {
    const std::uint32_t warmups = 1 + warm_up(context, execution, verified_seconds);
    Samples taken = take_undisturbed_samples(context, execution);
    taken.sampling.warmups = warmups;
    result.sampling = std::move(taken.sampling);
    std::ranges::move(taken.measurements, std::back_inserter(result.measurements));
    qualities = std::move(taken.qualities);
    if (context.plan.hot) take_hot_samples(context, execution, result);
    judge_qualities(context, verified, qualities, result);
  }
  add_qualities(context, verified, qualities, result);
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
  execution.run(nobody);
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
