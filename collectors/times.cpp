#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectors/collector.hpp"
#include "collectors/sample_growth.hpp"

namespace mprof {
namespace {

struct OpTimes {
  std::string name;
  std::map<Stage, double> host_seconds;  ///< of this sample; of a repeated forward, the last one
  std::vector<double> op_time;           ///< one a forward
  std::vector<double> group_time;        ///< one a sample
};

/// op_time, group_time and total_time. The innermost collector of its pass: it begins last and ends first, so
/// that no other collector's work is in its times.
class Times final : public Collector {
 public:
  explicit Times(const CaseContext& context) : clock_(context.clock), timer_(context.device.make_timer()) {
    for (const OpInfo& op : context.subject.ops) ops_.emplace_back().name = op.name;
  }

  void begin_sample() override {
    for (OpTimes& op : ops_) op.host_seconds.clear();
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
    timer_->start();
  }

  void end_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) timer_->stop();
    const double seconds = clock_.now() - stage_start_;
    OpTimes& times = times_of(op);
    times.host_seconds[stage] = seconds;
    if (stage == Stage::forward) timed_ = &times;
  }

  void pause() override { total_.pause(clock_.now()); }
  void resume() override { total_.resume(clock_.now()); }

  [[nodiscard]] std::vector<std::span<const double>> decisive_series() const override {
    std::vector<std::span<const double>> series{total_time_};
    for (const OpTimes& op : ops_) series.emplace_back(op.op_time);
    return series;
  }

  void finish(std::vector<Measurement>& measurements) override {
    for (const OpTimes& op : ops_) add(measurements, "op_time", op.name, op.op_time);
    for (const OpTimes& op : ops_) add(measurements, "group_time", op.name, op.group_time);
    add(measurements, "total_time", "", total_time_);
  }

 private:
  OpTimes& times_of(std::string_view op) {
    const auto found = std::ranges::find(ops_, op, &OpTimes::name);
    if (found != ops_.end()) return *found;
    ops_.emplace_back().name = op;
    return ops_.back();
  }

  /// Takes the last forward's time. That may wait for the device, and waiting is part of finish() (where the
  /// results are fetched) or of the total: so not before the timer is needed again or the sample is over.
  void read_timer() {
    if (timed_ != nullptr) timed_->op_time.push_back(timer_->seconds());
    timed_ = nullptr;
  }

  static void add(std::vector<Measurement>& measurements, std::string metric, std::string op,
                  std::vector<double> samples) {
    Measurement measurement{std::move(metric), std::move(op), "", Source::measured, std::move(samples), ""};
    if (measurement.samples.empty()) measurement.absent = "no sample was taken";
    measurements.push_back(std::move(measurement));
  }

  const Clock& clock_;
  std::unique_ptr<DeviceTimer> timer_;
  std::deque<OpTimes> ops_;   // growing leaves timed_ valid
  OpTimes* timed_ = nullptr;  ///< whose forward's time is still in the timer
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
