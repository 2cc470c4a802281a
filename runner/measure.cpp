// SPDX-License-Identifier: MIT
#include "runner/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <set>

#include <fmt/format.h>

#include "model/statistics/median.hpp"
#include "runner/stopping.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// Warm-up takes at most this share of the time that sampling may take: slow cases are not run twice for it.
constexpr double warmup_share = 0.04;
/// An execution on inputs drawn at random may take this share of it; the smaller one in the rounds after the
/// first, which run the same code once more.
constexpr double unseen_share = 0.1, unseen_share_later = 0.02;
/// In turns, where sampling may be short, it may take this long in the first round at any rate, s.
constexpr double unseen_in_turns = 0.5;
/// For so long samples are taken beyond those that are wanted, where too few make a suspicion, s: it is rare.
constexpr double doubtful_seconds = 3;
/// An execution that takes so long, and longer than sampling may, is not repeated after the verified one:
/// what a first execution pays once (pages that are touched first, threads, code) is less than a percent of
/// it, s.
constexpr double too_long_to_repeat = 10;
/// Samples of each op's hot time, where there is time for so many.
constexpr std::size_t hot_samples = 11;
/// A quick run executes and verifies a case so often, if the executions beyond its samples take so many
/// seconds at most.
constexpr std::uint32_t fewest_executions = 16;
constexpr double further_seconds = 1;
/// How often samples that something disturbed are taken again.
constexpr std::uint32_t max_retries = 1;
/// An op may take so much longer for inputs that it has not been given before, in s and as a ratio: even on a
/// busy host one of a few executions does not. Less where the host has no part in its time.
constexpr double unseen_allowance = 20e-6;
constexpr double unseen_allowance_held = 3e-6;
constexpr double unseen_limit = 1.5;
constexpr std::uint32_t most_unseen = 5;
/// Of short executions there are more, within so many seconds: on a busy host five in a row may be slow.
constexpr std::uint32_t most_short_unseen = 25;
constexpr double short_unseen_seconds = 0.5;
/// With fewer samples nobody knows what an op usually takes.
constexpr std::size_t fewest_seen = 6;

using Collectors = std::vector<std::unique_ptr<Collector>>;

/// The available collectors of a pass, in order, and what the others' absence leaves to say.
Collectors make_collectors(const MeasureContext& context, Pass pass, int forwards = 1) {
  const CaseContext subject{context.subject,    context.device, context.clock,      context.plan,
                            context.trace_file, forwards,       context.takes_turns};
  Collectors out;
  for (const CollectorKind* kind : context.collectors.of(pass, context.device.id())) {
    if (!kind->unavailable || !kind->unavailable()) out.push_back(kind->make(subject));
  }
  return out;
}

/// Whether an execution must come before the one that collectors of a pass watch.
bool needs_warm_up(const MeasureContext& context, Pass pass) {
  return std::ranges::any_of(context.collectors.of(pass, context.device.id()), [](const CollectorKind* kind) {
    const bool is_there = !kind->unavailable || !kind->unavailable();
    return is_there && (!kind->needs_warm_up || kind->needs_warm_up());
  });
}

/// Stands between an execution and the collectors: begins them in order and ends them in reverse, and lets
/// each forward() start with a cold cache.
class CollectedStages final : public StageObserver {
 public:
  CollectedStages(const Device& device, const Collectors& collectors)
      : device_(device), collectors_(collectors) {}

  void stage(std::string_view op, Stage stage, const std::function<void()>& work,
             const std::function<void()>& reset) override {
    do {
      once(op, stage, work, reset);
    } while (stage == Stage::forward &&
             std::ranges::any_of(collectors_, [&](const auto& collector) { return collector->again(op); }));
  }

  void aside(const std::function<void()>& work) override {
    // What one does to begin or end a pause is in no time of those within it.
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->pause(); });
    work();
    device_.synchronize();
    for (const auto& collector : collectors_) collector->resume();
  }

  /// One execution as one sample.
  ExecutionResult sample(Execution& execution, const Trial& trial) {
    for (const auto& collector : collectors_) collector->begin_sample();
    ExecutionResult result = execution.run(*this, trial);
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->end_sample(); });
    return result;
  }

 private:
  void once(std::string_view op, Stage stage, const std::function<void()>& work,
            const std::function<void()>& reset) {
    if (stage == Stage::forward) {
      aside([&] {
        if (reset) reset();
        device_.flush_cache();
      });
    }
    for (const auto& collector : collectors_) collector->begin_stage(op, stage);
    work();
    if (stage != Stage::forward) device_.synchronize();
    std::for_each(collectors_.rbegin(), collectors_.rend(),
                  [&](const auto& collector) { collector->end_stage(op, stage); });
  }

  const Device& device_;
  const Collectors& collectors_;
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

  void stage(std::string_view op, Stage stage, const std::function<void()>& work,
             const std::function<void()>& reset) override {
    if (reset) reset();
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
    bool hold = timer_->can_hold();
    do {
      timer_->start(hold);
      work();
      timer_->stop();
      const double seconds = timer_->seconds();
      if (hold && !timer_->was_held())
        hold = false;
      else
        times.push_back(seconds);
    } while (times.empty() || (times.size() < hot_samples && clock_.now() - start < seconds_per_op_));
  }

  const Device& device_;
  const Clock& clock_;
  double seconds_per_op_;
  std::unique_ptr<DeviceTimer> timer_;
  std::map<std::string, std::vector<double>> times_;
};

/// What is tried of a case, in turn: no execution is given its inputs in the order of the one before.
class Trials {
 public:
  Trials(const MeasureContext& context, const Execution& execution)
      : random_(context.seed), turns_(execution.turns()) {}

  Trial next(Proof proof) {
    const std::size_t step = turns_ > 1 ? 1 + random_() % (turns_ - 1) : 0;
    turn_ = (turn_ + step) % turns_;
    used_.insert(turn_);
    return {.proof = proof, .turn = turn_, .seed = random_()};
  }
  Trial unseen() { return {.proof = Proof::some_items, .unseen = true, .seed = random_()}; }
  [[nodiscard]] std::uint32_t orders() const { return static_cast<std::uint32_t>(used_.size()); }

 private:
  std::mt19937_64 random_;
  std::size_t turns_;
  std::size_t turn_ = 0;
  std::set<std::size_t> used_;
};

/// What is wrong with the outputs of an execution; empty when nothing is.
std::string findings(const std::vector<Verification>& verification) {
  std::string all;
  for (const Verification& v : verification) {
    if (!v.passed) all += (all.empty() ? "" : "; ") + v.op + ": " + v.finding;
  }
  return all;
}

/// At least one execution beside the verified one, if that is cheap.
std::uint32_t warm_up(const MeasureContext& context, Execution& execution, const Trial& trial,
                      double verified_seconds) {
  if (verified_seconds > warmup_share * context.plan.stopping.max_seconds) return 0;
  NoObserver nobody;
  execution.run(nobody, trial);
  context.device.synchronize();
  return 1;
}

std::vector<DecisiveSeries> decisive_series(const Collectors& collectors) {
  std::vector<DecisiveSeries> all;
  for (const auto& collector : collectors)
    std::ranges::move(collector->decisive_series(), std::back_inserter(all));
  return all;
}

/// Those that say when there are enough samples. On a host that is busy anyway its times never get steady,
/// and those of a device's own clock do.
std::vector<DecisiveSeries> deciding(const MeasureContext& context, const Collectors& collectors) {
  std::vector<DecisiveSeries> all = decisive_series(collectors);
  const auto is_of_device = [](const DecisiveSeries& one) { return one.clock == ClockSource::device; };
  if (context.takes_busy_host && std::ranges::any_of(all, is_of_device))
    std::erase_if(all, std::not_fn(is_of_device));
  return all;
}

/// What one attempt at sampling gave.
struct Samples {
  Sampling sampling;
  std::vector<std::vector<QualityValue>> qualities;  ///< one a sample
  std::vector<Measurement> measurements;
  std::string wrong;  ///< "timed execution 3, op1: ...", which then ended them; empty: no output was wrong
  std::string suspicious;  ///< why the times cannot be those of the work; empty: nothing speaks against it
  double waited = 0;       ///< s, while another worker had its turn
};

/// What all collectors have to say of one kind, such as disturbances; empty when they have nothing to say.
std::string said_by(const Collectors& collectors, std::optional<std::string> (Collector::*kind)() const) {
  std::string all;
  for (const auto& collector : collectors) {
    if (const auto reason = (collector.get()->*kind)()) all += (all.empty() ? "" : "; ") + *reason;
  }
  return all;
}

/// How many samples it takes to tell what collectors suspect from chance; 0: they suspect nothing.
std::size_t fewest_to_be_sure(const Collectors& collectors) {
  std::size_t fewest = 0;
  for (const auto& collector : collectors) {
    if (collector->suspicion()) fewest = std::max(fewest, collector->fewest_to_suspect());
  }
  return fewest;
}

/// What collectors saw of samples that have been taken.
void describe_samples(const Collectors& collectors, Samples& taken) {
  taken.sampling.samples = static_cast<std::uint32_t>(taken.qualities.size());
  taken.sampling.relative_half_width = widest_half_width(decisive_series(collectors));
  taken.sampling.disturbance = said_by(collectors, &Collector::disturbance);
  taken.sampling.host_disturbance = said_by(collectors, &Collector::host_disturbance);
  taken.suspicious = said_by(collectors, &Collector::suspicion);
  for (const auto& collector : collectors) collector->finish(taken.measurements);
}

/// Whether an execution that has been watched once is all that there is time for. On a device that a sample
/// runs forward() several times on, it is no sample.
bool is_sample_enough(const MeasureContext& context, const Collectors& collectors) {
  double longest = 0;  // of the times that matter: that of the whole
  for (const DecisiveSeries& series : decisive_series(collectors)) {
    if (!series.samples.empty()) longest = std::max(longest, series.samples.back());
  }
  return context.device.forwards_per_sample() == 1 && longest >= too_long_to_repeat &&
         longest >= context.plan.stopping.max_seconds;
}

/// The verified execution: verification, and the op times of a first launch.
struct Verified {
  std::vector<QualityValue> qualities;
  std::optional<Samples> sample;  ///< where it is all that there is time for
};

Verified verify(const MeasureContext& context, Execution& execution, const Trial& trial, PassResult& result) {
  const Collectors collectors = make_collectors(context, Pass::timing);
  CollectedStages stages(context.device, collectors);
  ExecutionResult verified = stages.sample(execution, trial);
  Samples seen;
  const bool is_enough = is_sample_enough(context, collectors);
  if (is_enough) {
    seen.qualities.push_back(verified.qualities);
    seen.sampling.ended_by = Ending::seconds;
    describe_samples(collectors, seen);
  } else {
    for (const auto& collector : collectors) collector->finish(seen.measurements);
  }
  for (const Measurement& m : seen.measurements) {
    if (m.metric != "op_time") continue;
    result.measurements.push_back(m);
    result.measurements.back().metric = "first_op_time";
  }
  result.verification = std::move(verified.verification);
  result.reason = findings(result.verification);
  result.status = result.reason.empty() ? Status::ok : Status::wrong;
  return {std::move(verified.qualities), is_enough ? std::optional(std::move(seen)) : std::nullopt};
}

/// Whether another sample follows `taken`.
bool takes_another(const MeasureContext& context, Samples& taken, std::optional<Ending> ending) {
  if (!context.on_sample) return !ending;
  const double told = context.clock.now();
  const bool is_wanted = context.on_sample(static_cast<std::uint32_t>(taken.qualities.size()), ending);
  if (!context.takes_turns) return !ending;
  taken.waited += context.clock.now() - told;
  return is_wanted;
}

/// The rule by which the other side ended sampling that takes turns: its time, unless there may be no more
/// samples.
Ending ended_by_other(const MeasureContext& context, std::size_t samples) {
  return samples + 1 < context.plan.stopping.max_samples ? Ending::seconds : Ending::samples;
}

/// Samples until the stopping rule says so, or the other side where turns are taken, and those that it takes
/// to be sure of a suspicion; or until an output is wrong. All of them count: others, behind them, might do
/// the work that these do not.
Samples take_samples(const MeasureContext& context, Execution& execution, Trials& trials,
                     const StoppingRule& rule) {
  const Collectors collectors = make_collectors(context, Pass::timing, context.device.forwards_per_sample());
  CollectedStages stages(context.device, collectors);
  Samples taken;
  auto& samples = taken.qualities;
  const auto take_one = [&] {
    ExecutionResult result = stages.sample(execution, trials.next(Proof::as_before));
    samples.push_back(std::move(result.qualities));
    taken.wrong = findings(result.verification);
    if (!taken.wrong.empty())
      taken.wrong = fmt::format("timed execution {}, {}", samples.size(), taken.wrong);
  };
  std::optional<Ending> ending;
  const double start = context.clock.now();
  do {
    take_one();
    ending = rule.ending(deciding(context, collectors), samples.size(),
                         context.clock.now() - start - taken.waited);
  } while (taken.wrong.empty() && takes_another(context, taken, ending));

  const std::size_t fewest = fewest_to_be_sure(collectors);
  const double until = context.clock.now() + doubtful_seconds;
  while (samples.size() < fewest && taken.wrong.empty() && context.clock.now() < until) take_one();

  taken.sampling.ended_by = ending.value_or(ended_by_other(context, samples.size()));
  describe_samples(collectors, taken);
  return taken;
}

/// A quick run takes what a busy host gives: it is there to be over soon, and a host that is busy now is so
/// in a second as well.
bool is_worth_another_try(const MeasureContext& context, const Samples& taken) {
  if (!taken.wrong.empty() || context.takes_turns) return false;
  const Sampling& sampling = taken.sampling;
  const bool retries_for_host = !context.takes_busy_host && !context.plan.quick;
  return !sampling.disturbance.empty() || (!sampling.host_disturbance.empty() && retries_for_host);
}

/// The samples of the first attempt that nothing disturbed, or of the last one that is allowed.
Samples take_undisturbed_samples(const MeasureContext& context, Execution& execution, Trials& trials,
                                 const StoppingRule& rule) {
  Samples taken = take_samples(context, execution, trials, rule);
  for (std::uint32_t retry = 1; retry <= max_retries && is_worth_another_try(context, taken); ++retry) {
    taken = take_samples(context, execution, trials, rule);
    taken.sampling.retries = retry;
  }
  return taken;
}

void take_hot_samples(const MeasureContext& context, Execution& execution, const Trial& trial,
                      PassResult& result) {
  // As long as the cold samples may take together, and to each op the same share of it.
  const std::size_t ops = std::max<std::size_t>(context.subject.ops.size(), 1);
  HotStages stages(context, context.plan.stopping.max_seconds / static_cast<double>(ops));
  execution.run(stages, trial);
  stages.finish(result.measurements);
}

/// Three of four samples are not above it: what a busy host disturbed does not count.
double upper_quartile(std::vector<double> samples) {
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * 3 / 4);
  std::ranges::nth_element(samples, place);
  return *place;
}

/// s; nullopt where no whole execution was timed.
std::optional<double> median_total(const PassResult& result) {
  const auto total = std::ranges::find(result.measurements, "total_time", &Measurement::metric);
  if (total == result.measurements.end() || total->samples.empty()) return std::nullopt;
  return median(total->samples);
}

/// Whether another execution is cheap. What is slow has gained nothing from what it may have learnt.
bool is_quick(const MeasureContext& context, const PassResult& result) {
  const bool is_first_round = context.verified.empty();
  const double share = is_first_round ? unseen_share : unseen_share_later;
  const double anyway = is_first_round && context.takes_turns ? unseen_in_turns : 0;
  return median_total(result).value_or(0) <= std::max(share * context.plan.stopping.max_seconds, anyway);
}

/// One execution more, whose output must be right as well, and its times.
std::vector<Measurement> another_execution(const MeasureContext& context, Execution& execution,
                                           const Trial& trial, PassResult& result) {
  // One forward() that is held, where that can be done: the second one has seen the inputs.
  const int forwards = std::min(2, context.device.forwards_per_sample());
  const Collectors collectors = make_collectors(context, Pass::timing, forwards);
  CollectedStages stages(context.device, collectors);
  const std::string wrong = findings(stages.sample(execution, trial).verification);
  if (!wrong.empty()) {
    result.status = Status::wrong;
    result.reason = (trial.unseen ? "on inputs drawn at random, " : "in an execution after those, ") + wrong;
  }
  std::vector<Measurement> times;
  for (const auto& collector : collectors) collector->finish(times);
  return times;
}

/// What an op took for inputs that it had never been given, and for known ones, s.
struct OfAnOp {
  double known = 0;              ///< of the timed samples
  std::vector<double> tried{};   ///< each execution on known inputs behind them
  std::vector<double> unseen{};  ///< each on unseen ones
  double allowance = unseen_allowance;

  /// Of the fastest unseen execution and the slowest known one. Of many, one execution that waited for its
  /// turn would excuse the others: there it is of the medians.
  [[nodiscard]] double ratio() const {
    if (unseen.empty()) return 1;
    const bool are_many = unseen.size() > most_unseen;
    const double least = are_many ? median(unseen) : std::ranges::min(unseen);
    const double most = std::max(known, tried.empty() ? 0
                                        : are_many    ? median(tried)
                                                      : std::ranges::max(tried));
    return least - most > allowance ? least / most : 1;
  }
};

using ByOp = std::map<std::string, OfAnOp>;

/// The ops that were timed often enough to say what they usually take.
ByOp known_times(const std::vector<Measurement>& seen) {
  ByOp ops;
  for (const Measurement& m : seen) {
    if (m.metric == "op_time" && m.samples.size() >= fewest_seen) ops[m.op].known = upper_quartile(m.samples);
  }
  for (const Measurement& m : seen) {
    const bool was_held = m.metric == "launched_op_time" && !m.samples.empty();
    if (was_held && ops.contains(m.op)) ops[m.op].allowance = unseen_allowance_held;
  }
  return ops;
}

/// Adds the times of an execution.
void add(const std::vector<Measurement>& times, bool unseen, ByOp& ops) {
  for (const Measurement& m : times) {
    const auto op = ops.find(m.op);
    if (m.metric != "op_time" || m.samples.empty() || op == ops.end()) continue;
    (unseen ? op->second.unseen : op->second.tried).push_back(median(m.samples));
  }
}

double largest_ratio(const ByOp& ops) {
  double largest = 1;
  for (const auto& [name, op] : ops) largest = std::max(largest, op.ratio());
  return largest;
}

/// What was learnt of other inputs is worth nothing on ones that are drawn at random. Where an op takes
/// longer for them, further executions on such and on known inputs, one after the other, say whether it
/// always does, or whether something else was busy just then.
void try_unseen_inputs(const MeasureContext& context, Execution& execution, Trials& trials,
                       PassResult& result) {
  ByOp ops = known_times(result.measurements);
  const double until = context.clock.now() + short_unseen_seconds;
  const auto are_more = [&] {
    const std::uint32_t done = result.scrutiny->unseen;
    return done < most_unseen || (done < most_short_unseen && context.clock.now() < until);
  };
  while (result.status == Status::ok && are_more()) {
    add(another_execution(context, execution, trials.unseen(), result), true, ops);
    ++result.scrutiny->unseen;
    if (result.status != Status::ok || largest_ratio(ops) <= unseen_limit) return;
    add(another_execution(context, execution, trials.next(Proof::as_before), result), false, ops);
    if (largest_ratio(ops) <= unseen_limit) return;
  }
  if (result.status != Status::ok) return;
  result.status = Status::suspect;
  result.reason = fmt::format(
      "an op takes {:.3g} times as long for inputs that it has never been given as for the timed ones",
      largest_ratio(ops));
}

/// A quick run takes few samples. What is wrong from some execution on must not pass for that.
void repeat_cheap_executions(const MeasureContext& context, Execution& execution, Trials& trials,
                             PassResult& result) {
  const std::uint32_t done = result.sampling->warmups + result.sampling->samples;
  const std::uint32_t missing = fewest_executions - std::min(done, fewest_executions);
  const std::optional<double> each = median_total(result);
  if (!context.plan.quick || !each || *each * missing > further_seconds) return;
  for (std::uint32_t i = 0; i < missing && result.status == Status::ok; ++i)
    another_execution(context, execution, trials.next(Proof::as_before), result);
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

/// A variant that was right once must stay right, and its times must be those of its work.
void judge_outputs(const Samples& taken, PassResult& result) {
  if (!taken.wrong.empty()) {
    result.status = Status::wrong;
    result.reason = fmt::format(
        "it was right when it was verified, and in {}: it does not do the same work each time", taken.wrong);
  } else if (!taken.suspicious.empty()) {
    result.status = Status::suspect;
    result.reason = taken.suspicious;
  }
}

/// Says of a variant that is wrong that it was its own doing, where that is so.
void judge_inputs(const Execution& execution, PassResult& result) {
  if (execution.has_its_inputs()) return;
  result.status = Status::wrong;
  result.reason = "its inputs were overwritten" + (result.reason.empty() ? "" : "; " + result.reason);
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
    return fmt::format("the {} device has no collector for this pass", device.id());
  }
  return reasons;
}

void run_unmeasured(const Device& device, Execution& execution, const Trial& trial) {
  const Collectors nobody;
  CollectedStages stages(device, nobody);
  execution.run(stages, trial);
  device.synchronize();
}

PassResult measure_timing(const MeasureContext& context, Execution& execution) {
  PassResult result{.pass = Pass::timing};
  const double start = context.clock.now();
  Trials trials(context, execution);
  Trial all_items = trials.next(Proof::all_items);
  all_items.verified = context.verified;
  Verified verified = verify(context, execution, all_items, result);
  const double verified_seconds = context.clock.now() - start;

  std::vector<std::vector<QualityValue>> qualities;
  double waited = 0;
  if (result.status == Status::ok) {
    Samples taken;
    if (verified.sample) {
      taken = std::move(*verified.sample);
      static_cast<void>(takes_another(context, taken, taken.sampling.ended_by));
    } else {
      const std::uint32_t warmups =
          1 + warm_up(context, execution, trials.next(Proof::none), verified_seconds);
      // The rule that ends a round early assumes that host times of processes differ by 12 %. Differences in
      // turns vary by some 2 % from round to round, so that the samples of a round matter more.
      const StoppingRule rule(context.plan.stopping, {.rounds = context.takes_turns ? 1 : context.plan.rounds,
                                                      .seconds_before = context.clock.now() - start});
      taken = take_undisturbed_samples(context, execution, trials, rule);
      taken.sampling.warmups = warmups;
    }
    result.sampling = taken.sampling;
    result.scrutiny = {.executions = taken.sampling.samples, .orders = trials.orders()};
    std::ranges::move(taken.measurements, std::back_inserter(result.measurements));
    qualities = std::move(taken.qualities);
    waited = taken.waited;
    judge_outputs(taken, result);
    if (result.status == Status::ok) judge_qualities(context, verified.qualities, qualities, result);
    if (result.status == Status::ok && context.plan.hot)
      take_hot_samples(context, execution, trials.next(Proof::none), result);
    if (result.status == Status::ok && is_quick(context, result))
      try_unseen_inputs(context, execution, trials, result);
    if (result.status == Status::ok) repeat_cheap_executions(context, execution, trials, result);
  }
  judge_inputs(execution, result);
  add_qualities(context, verified.qualities, qualities, result);
  result.seconds = context.clock.now() - start - waited;
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
  Trials trials(context, execution);
  const bool is_cold = needs_warm_up(context, pass);
  if (is_cold) {
    NoObserver nobody;
    execution.run(nobody, trials.next(Proof::none));
    context.device.synchronize();
  }
  const Collectors collectors = make_collectors(context, pass);
  CollectedStages stages(context.device, collectors);
  std::string wrong;
  do {
    Trial some_items = trials.next(Proof::some_items);
    some_items.verified = context.verified;
    wrong = findings(stages.sample(execution, some_items).verification);
  } while (wrong.empty() &&
           std::ranges::any_of(collectors, [](const auto& collector) { return collector->wants_more(); }));
  for (const auto& collector : collectors) {
    collector->finish(result.measurements);
    std::ranges::move(collector->source_lines(), std::back_inserter(result.source_lines));
  }
  result.status = wrong.empty() ? Status::ok : Status::suspect;
  if (!wrong.empty()) result.reason = "while it was watched, " + wrong;
  result.sampling = Sampling{.warmups = is_cold ? 1U : 0U, .samples = 1, .ended_by = Ending::samples};
  result.seconds = context.clock.now() - start;
  return result;
}

}  // namespace mprof
