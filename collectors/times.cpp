// SPDX-License-Identifier: MIT
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "collectors/collector.hpp"
#include "collectors/sample_growth.hpp"
#include "model/seconds.hpp"
#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// An op whose work could not be held so often is not held any more.
constexpr int most_unheld = 3;
/// A first forward() may be longer than the next by so much: address translations are not cached yet, and
/// libraries make what they keep.
constexpr double first_factor = 1.25;
constexpr double first_allowance = 1e-6;  // s
/// Of an op that takes so long, s, neither the clock nor the launch is a part to speak of, so that few
/// forwards tell as much as many: a first one and another behind held work, and one that nothing holds.
constexpr double long_op = 2e-3;
constexpr int forwards_of_long_op = 3;

struct OpTimes {
  std::string name{};
  std::map<Stage, double> host_seconds{};  ///< of this sample; of a repeated forward, the last one
  int forwards = 0;                        ///< of this sample, so far
  int unheld = 0;                          ///< forwards whose work the device did not hold back
  std::vector<double> held{};              ///< one a forward behind held work
  std::vector<double> first_held{};        ///< those of them that were the first after prepare()
  std::vector<double> launched{};          ///< one a forward that nothing held
  std::vector<double> group_time{};        ///< one a sample

  [[nodiscard]] bool can_be_held() const { return unheld < most_unheld; }
};

/// op_time, group_time and total_time. The innermost collector of its pass: it begins last and ends first, so
/// that no other collector's work is in its times.
///
/// Where a sample runs forward() more than once, all but the last are for op_time alone, with the device held
/// back until it has been given all of the work. The last one is as a program would run it, and counts for
/// the times of the host.
class Times final : public Collector {
 public:
  explicit Times(const CaseContext& context)
      : clock_(context.clock), timer_(context.device.make_timer()), forwards_(context.forwards) {
    for (const OpInfo& op : context.subject.ops) ops_.push_back({.name = op.name});
  }

  void begin_sample() override {
    for (OpTimes& op : ops_) {
      op.host_seconds.clear();
      op.forwards = 0;
    }
    total_.begin(clock_.now());
  }

  void end_sample() override {
    total_time_.push_back(total_.end(clock_.now()));
    read_timer();
    for (OpTimes& op : ops_) {
      if (op.host_seconds.empty()) continue;
      double group = 0;
      for (const auto& [stage, seconds] : op.host_seconds) group += seconds;
      op.group_time.push_back(group);
    }
  }

  void begin_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) read_timer();
    stage_start_ = clock_.now();
    if (stage != Stage::forward) return;
    total_.begin_forward(op, stage_start_);
    OpTimes& times = times_of(op);
    is_holding_ = timer_->can_hold() && times.can_be_held() && times.forwards + 1 < forwards_of(times);
    timer_->start(is_holding_);
  }

  void end_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) timer_->stop();
    const double seconds = clock_.now() - stage_start_;
    OpTimes& times = times_of(op);
    times.host_seconds[stage] = seconds;
    if (stage != Stage::forward) return;
    ++times.forwards;
    timed_ = &times;
  }

  [[nodiscard]] bool again(std::string_view op) override {
    const OpTimes& times = times_of(op);
    return times.forwards < forwards_of(times);
  }

  void pause() override { total_.pause(clock_.now()); }
  void resume() override { total_.resume(clock_.now()); }

  [[nodiscard]] std::vector<DecisiveSeries> decisive_series() const override {
    std::vector<DecisiveSeries> series{{total_time_, ClockSource::host}};
    for (const OpTimes& op : ops_) {
      const bool is_held = timer_->can_hold() && op.can_be_held() && !op.held.empty();
      series.push_back({op_time(op), is_held ? ClockSource::device : ClockSource::host});
    }
    return series;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    for (const OpTimes& op : ops_) {
      if (op.first_held.empty() || op.held.size() == op.first_held.size()) continue;
      const double first = median(op.first_held), all = median(op.held);
      if (first > first_factor * all + first_allowance)
        return fmt::format(
            "{} takes {} for the first time after prepare(), and {} when the same inputs are given again: it "
            "may have kept an output",
            op.name, seconds_text(first), seconds_text(all));
    }
    return std::nullopt;
  }

  void finish(std::vector<Measurement>& measurements) override {
    for (const OpTimes& op : ops_) add(measurements, "op_time", op.name, op_time(op));
    if (timer_->overhead() > 0) add(measurements, "timer_overhead", "", {timer_->overhead()});
    if (timer_->can_hold() && forwards_ > 1) {
      for (const OpTimes& op : ops_) add_launched(measurements, op);
    }
    for (const OpTimes& op : ops_) add(measurements, "group_time", op.name, op.group_time);
    add(measurements, "total_time", "", total_time_);
  }

 private:
  OpTimes& times_of(std::string_view op) {
    const auto found = std::ranges::find(ops_, op, &OpTimes::name);
    if (found != ops_.end()) return *found;
    return ops_.emplace_back(OpTimes{.name = std::string(op)});
  }

  /// How often it is run in a sample: less often where it takes long, which is known from the second sample
  /// on.
  [[nodiscard]] int forwards_of(const OpTimes& op) const {
    const std::vector<double>& times = op_time(op);
    return op.group_time.empty() || times.empty() || times.back() < long_op
               ? forwards_
               : std::min(forwards_, forwards_of_long_op);
  }

  /// Takes the last forward's time. That may wait for the device, and waiting is part of finish() (where the
  /// results are fetched) or of the total: so not before the timer is needed again or the sample is over.
  void read_timer() {
    OpTimes* const op = std::exchange(timed_, nullptr);
    if (op == nullptr) return;
    const double seconds = timer_->seconds();
    if (!is_holding_) {
      op->launched.push_back(seconds);
    } else if (timer_->was_held()) {
      op->held.push_back(seconds);
      if (op->forwards == 1) op->first_held.push_back(seconds);
    } else {
      ++op->unheld;
    }
  }

  /// Of held work, unless that cannot be done.
  static const std::vector<double>& op_time(const OpTimes& op) {
    return op.can_be_held() && !op.held.empty() ? op.held : op.launched;
  }

  static void add_launched(std::vector<Measurement>& measurements, const OpTimes& op) {
    Measurement& row = measurements.emplace_back();
    row.metric = "launched_op_time";
    row.op = op.name;
    if (op.can_be_held())
      row.samples = op.launched;
    else
      row.absent =
          "it is the op time: the op waits for the device, or queues more work than the device takes, so its "
          "work could not be held back until all of it was queued";
  }

  static void add(std::vector<Measurement>& measurements, const Name& metric, const Name& op,
                  std::vector<double> samples) {
    Measurement measurement{metric, op, "", Source::measured, std::move(samples), ""};
    if (measurement.samples.empty()) measurement.absent = "no sample was taken";
    measurements.push_back(std::move(measurement));
  }

  const Clock& clock_;
  std::unique_ptr<DeviceTimer> timer_;
  int forwards_;
  std::deque<OpTimes> ops_;   // growing leaves timed_ valid
  OpTimes* timed_ = nullptr;  ///< whose forward's time is still in the timer
  bool is_holding_ = false;   ///< the device, behind which that forward was queued
  SampleGrowth<double> total_;
  double stage_start_ = 0;
  std::vector<double> total_time_;
};

const bool registered = (CollectorKinds::instance().add({
                             "times",
                             Pass::timing,
                             "",
                             90,
                             [] { return std::nullopt; },
                             [](const CaseContext& context) { return std::make_unique<Times>(context); },
                         }),
                         true);

}  // namespace
}  // namespace mprof
