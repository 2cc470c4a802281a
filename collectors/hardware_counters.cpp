// SPDX-License-Identifier: MIT
#include "collectors/hardware_counters.hpp"

#include <map>
#include <optional>
#include <utility>

namespace mprof {
namespace {

class HardwareCounters final : public Collector {
 public:
  HardwareCounters(std::vector<CounterSlot> slots, std::vector<std::string> ops) : ops_(std::move(ops)) {
    for (CounterSlot& slot : slots) counters_.emplace_back().slot = std::move(slot);
  }

  void begin_stage(std::string_view /*op*/, Stage stage) override {
    if (stage != Stage::forward) return;
    for (Counter& counter : counters_) {
      if (auto* source = counter.source()) counter.start = source->read();
    }
  }

  void end_stage(std::string_view op, Stage stage) override {
    if (stage != Stage::forward) return;
    for (Counter& counter : counters_) {
      if (auto* source = counter.source()) counter.record(std::string(op), source->read() - counter.start);
    }
  }

  void finish(std::vector<Measurement>& measurements) override {
    for (const Counter& counter : counters_) {
      for (const std::string& op : ops_) measurements.push_back(counter.measurement(op));
    }
  }

 private:
  struct Counter {
    CounterSlot slot;
    CounterReading start;
    std::map<std::string, std::vector<double>> samples;  // by op
    bool starved = false;

    [[nodiscard]] HardwareCounter* source() const {
      const auto* counter = std::get_if<std::unique_ptr<HardwareCounter>>(&slot.counter);
      return counter != nullptr ? counter->get() : nullptr;
    }

    /// Scales up for the time in which the kernel gave the hardware to somebody else.
    void record(const std::string& op, const CounterReading& growth) {
      if (growth.running > 0) {
        samples[op].push_back(growth.count * growth.enabled / growth.running);
      } else {
        starved = true;
      }
    }

    [[nodiscard]] Measurement measurement(const std::string& op) const {
      Measurement row{slot.metric, op, "", Source::measured, {}, ""};
      const auto found = samples.find(op);
      if (const auto* refusal = std::get_if<Refusal>(&slot.counter)) {
        row.absent = refusal->text();
      } else if (found != samples.end()) {
        row.samples = found->second;
      } else {
        row.absent = starved ? "the kernel gave the counter no time: other users hold the hardware's counters"
                             : "no sample was taken";
      }
      return row;
    }
  };

  std::vector<Counter> counters_;
  std::vector<std::string> ops_;
};

std::vector<CounterSlot> open_counters() {
  std::vector<CounterSlot> slots;
  for (const HardwareEvent& event : hardware_events()) {
    slots.push_back({std::string(event.metric), open_counter(event)});
  }
  return slots;
}

/// Unavailable when not one counter can be had; a single one that is missing is an absent measurement.
std::optional<std::string> no_counter_at_all() {
  std::optional<std::string> reason;
  for (const CounterSlot& slot : open_counters()) {
    const auto* refusal = std::get_if<Refusal>(&slot.counter);
    if (refusal == nullptr) return std::nullopt;
    if (!reason) reason = refusal->text();
  }
  return reason;
}

std::unique_ptr<Collector> make(const CaseContext& context) {
  std::vector<std::string> ops;
  for (const OpInfo& op : context.subject.ops) ops.push_back(op.name);
  return make_hardware_counters(open_counters(), std::move(ops));
}

const bool registered = (CollectorKinds::instance().add({
                             "hardware_counters",
                             Pass::counters,
                             "cpu",
                             50,
                             no_counter_at_all,
                             make,
                         }),
                         true);

}  // namespace

std::unique_ptr<Collector> make_hardware_counters(std::vector<CounterSlot> slots,
                                                  std::vector<std::string> ops) {
  return std::make_unique<HardwareCounters>(std::move(slots), std::move(ops));
}

}  // namespace mprof
