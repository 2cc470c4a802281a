#include "collectors/stage_work.hpp"

#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace mprof {
namespace {

/// CPU time of all threads of the process, s.
double process_cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Work {
  double in_forward = 0;  ///< s of CPU time
  double elsewhere = 0;
};

/// A thread that goes on when forward() has returned is found here too: finish() must wait for it.
class StageWork final : public Collector {
 public:
  explicit StageWork(std::function<double()> cpu_seconds) : cpu_seconds_(std::move(cpu_seconds)) {}

  void begin_sample() override { ++samples_; }
  void begin_stage(std::string_view, Stage) override { start_ = cpu_seconds_(); }
  void end_stage(std::string_view op, Stage stage) override {
    Work& work = work_[std::string(op)];
    (stage == Stage::forward ? work.in_forward : work.elsewhere) += cpu_seconds_() - start_;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    constexpr double largest_share = 0.5;  // memory is allocated and constants are reordered in prepare()
    constexpr double allowance = 2e-3;     // s a sample, of libraries that set themselves up
    for (const auto& [op, work] : work_) {
      const double elsewhere = work.elsewhere - allowance * samples_;
      if (elsewhere <= largest_share * (work.in_forward + work.elsewhere)) continue;
      return fmt::format(
          "{:.0f} % of the CPU time of {} is spent outside forward(), where its op time does not count it",
          100 * work.elsewhere / (work.in_forward + work.elsewhere), op);
    }
    return std::nullopt;
  }

  void finish(std::vector<Measurement>& /*measurements*/) override {}

 private:
  std::function<double()> cpu_seconds_;
  int samples_ = 0;
  double start_ = 0;
  std::map<std::string, Work, std::less<>> work_;
};

const bool registered = (CollectorKinds::instance().add({
                             "stage_work",
                             Pass::timing,
                             "cpu",
                             80,
                             [] { return std::nullopt; },
                             [](const CaseContext&) { return make_stage_work(process_cpu_seconds); },
                         }),
                         true);

}  // namespace

std::unique_ptr<Collector> make_stage_work(std::function<double()> cpu_seconds) {
  return std::make_unique<StageWork>(std::move(cpu_seconds));
}

}  // namespace mprof
