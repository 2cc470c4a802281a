// SPDX-License-Identifier: MIT
#include "collectors/host_state.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "system/cpus.hpp"

namespace mprof {
namespace {

HostReading combined(const HostReading& a, const HostReading& b, double sign) {
  HostReading result{.at = a.at + sign * b.at, .own = a.own + sign * b.own};
  if (a.cpus && b.cpus)
    result.cpus = {.busy = a.cpus->busy + sign * b.cpus->busy,
                   .idle = a.cpus->idle + sign * b.cpus->idle,
                   .steal = a.cpus->steal + sign * b.cpus->steal};
  if (a.pressure && b.pressure) result.pressure = *a.pressure + sign * *b.pressure;
  return result;
}

HostReading sum(const HostReading& a, const HostReading& b) {
  return combined(a, b, 1);
}
HostReading growth(const HostReading& before, const HostReading& after) {
  return combined(after, before, -1);
}

/// Reads around samples, never within one. Samples are often shorter than the kernel's steps of CPU time, so
/// a value spans as many of them as take a quarter of a second, or where all of them take less, also what
/// went before them; whether anything disturbed them is decided over all.
class HostState final : public Collector {
 public:
  HostState(std::function<HostReading()> read, unsigned cpus, std::optional<HostReading> earlier,
            BetweenSamples between)
      : read_(std::move(read)), cpus_(cpus), earlier_(earlier), between_(between) {}

  void begin_sample() override {
    if (first_ && between_ == BetweenSamples::is_a_turn) elsewhere_ = sum(elsewhere_, growth(now_, read()));
    if (!start_) start_ = read();
    if (!first_) first_ = start_;
  }

  void end_sample() override {
    now_ = read();
    if (now_.at - start_->at < shortest_host_load) return;
    loads_.push_back(load_between(*start_, now_));
    last_ = now_;
    start_.reset();
  }

  [[nodiscard]] std::optional<std::string> host_disturbance() const override {
    const std::optional<HostLoad> load = last_ ? load_between(*first_, *last_) : load_since_earlier();
    std::string text = load ? what_disturbs(*load, cpus_) : "";
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  void finish(std::vector<Measurement>& measurements) override {
    add(measurements, "other_cpu_load", &HostLoad::others, 1, "/proc/stat counts no CPU time of these CPUs");
    add(measurements, "cpu_steal", &HostLoad::steal, 100, "/proc/stat counts no CPU time of these CPUs");
    add(measurements, "cpu_pressure", &HostLoad::pressure, 100,
        "/proc/pressure/cpu cannot be read: the kernel was built or started without it, or hides it");
  }

 private:
  /// Without what passed in turns of others.
  [[nodiscard]] HostReading read() const { return growth(elsewhere_, read_()); }

  [[nodiscard]] std::optional<HostLoad> load_since_earlier() const {
    if (!earlier_ || now_.at - earlier_->at < shortest_host_load) return std::nullopt;
    return load_between(*earlier_, now_);
  }

  void add(std::vector<Measurement>& measurements, const char* metric, std::optional<double> HostLoad::*value,
           double unit, const char* silent) const {
    Measurement row{metric, "", "", Source::measured, {}, ""};
    std::vector<HostLoad> loads = loads_;
    if (const auto load = loads.empty() ? load_since_earlier() : std::nullopt) loads.push_back(*load);
    for (const HostLoad& load : loads) {
      if (load.*value) row.samples.push_back(unit * *(load.*value));
    }
    if (loads.empty())
      row.absent =
          "the samples took less than 0.25 s together, and the kernel counts CPU time in steps of 10 ms";
    else if (row.samples.empty())
      row.absent = silent;
    measurements.push_back(std::move(row));
  }

  std::function<HostReading()> read_;
  unsigned cpus_;
  std::optional<HostReading> earlier_;
  BetweenSamples between_;
  HostReading elsewhere_{.cpus = CpuTimes{}, .pressure = 0};  ///< what passed in turns of others
  std::optional<HostReading> first_;                          ///< before the first sample
  std::optional<HostReading> start_;  ///< of the samples that have not taken long enough yet
  std::optional<HostReading> last_;   ///< after the last sample that a load holds
  HostReading now_;                   ///< after the last sample
  std::vector<HostLoad> loads_;
};

const bool registered =
    (CollectorKinds::instance().add({
         "host_state",
         Pass::timing,
         "",
         5,
         [] { return std::nullopt; },
         [](const CaseContext& context) {
           // Of a process: when the verified execution of its first case began.
           static const HostReading earlier = read_host(context.clock.now());
           return make_host_state([&clock = context.clock] { return read_host(clock.now()); }, usable_cpus(),
                                  context.takes_turns ? std::nullopt : std::optional(earlier),
                                  context.takes_turns ? BetweenSamples::is_a_turn : BetweenSamples::counts);
         },
     }),
     true);

}  // namespace

std::unique_ptr<Collector> make_host_state(std::function<HostReading()> read, unsigned cpus,
                                           std::optional<HostReading> earlier, BetweenSamples between) {
  return std::make_unique<HostState>(std::move(read), cpus, earlier, between);
}

}  // namespace mprof
