#include "collectors/host_state.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/thread_team.hpp"

namespace mprof {
namespace {

/// Reads around samples, never within one. Samples are often shorter than the kernel's steps of CPU time, so
/// a value spans as many of them as take a quarter of a second; whether anything disturbed them is decided
/// over all.
class HostState final : public Collector {
 public:
  HostState(std::function<HostReading()> read, unsigned cpus) : read_(std::move(read)), cpus_(cpus) {}

  void begin_sample() override {
    if (!start_) start_ = read_();
    if (!first_) first_ = start_;
  }

  void end_sample() override {
    const HostReading now = read_();
    if (now.at - start_->at < shortest_host_load) return;
    loads_.push_back(load_between(*start_, now));
    last_ = now;
    start_.reset();
  }

  [[nodiscard]] std::optional<std::string> host_disturbance() const override {
    std::string text = last_ ? what_disturbs(load_between(*first_, *last_), cpus_) : "";
    return text.empty() ? std::nullopt : std::optional(std::move(text));
  }

  void finish(std::vector<Measurement>& measurements) override {
    add(measurements, "other_cpu_load", &HostLoad::others, 1, "/proc/stat counts no CPU time of these CPUs");
    add(measurements, "cpu_steal", &HostLoad::steal, 100, "/proc/stat counts no CPU time of these CPUs");
    add(measurements, "cpu_pressure", &HostLoad::pressure, 100,
        "/proc/pressure/cpu cannot be read: the kernel was built or started without it, or hides it");
  }

 private:
  void add(std::vector<Measurement>& measurements, const char* metric, std::optional<double> HostLoad::*value,
           double unit, const char* silent) const {
    Measurement row{metric, "", "", Source::measured, {}, ""};
    for (const HostLoad& load : loads_) {
      if (load.*value) row.samples.push_back(unit * *(load.*value));
    }
    if (loads_.empty())
      row.absent =
          "the samples took less than 0.25 s together, and the kernel counts CPU time in steps of 10 ms";
    else if (row.samples.empty())
      row.absent = silent;
    measurements.push_back(std::move(row));
  }

  std::function<HostReading()> read_;
  unsigned cpus_;
  std::optional<HostReading> first_;  ///< before the first sample
  std::optional<HostReading> start_;  ///< of the samples that have not taken long enough yet
  std::optional<HostReading> last_;   ///< after the last sample that a load holds
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
           return make_host_state([&clock = context.clock] { return read_host(clock.now()); }, usable_cpus());
         },
     }),
     true);

}  // namespace

std::unique_ptr<Collector> make_host_state(std::function<HostReading()> read, unsigned cpus) {
  return std::make_unique<HostState>(std::move(read), cpus);
}

}  // namespace mprof
