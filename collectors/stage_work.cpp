// SPDX-License-Identifier: MIT
#include "collectors/stage_work.hpp"

#include <algorithm>
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

/// Of an op in a sample.
struct Work {
  double in_forward = 0;  ///< s of CPU time
  double elsewhere = 0;

  [[nodiscard]] double all() const { return in_forward + elsewhere; }
  [[nodiscard]] bool is_suspicious() const {
    constexpr double largest_share = 0.5;  // memory is allocated and constants are reordered in prepare()
    constexpr double allowance = 2e-3;     // s, of libraries that set themselves up
    return elsewhere - allowance > largest_share * all();
  }
};

/// A thread that goes on when forward() has returned is found here too: finish() must wait for it. Decided by
/// most of the samples: on a busy machine page faults make a stage that does nothing take milliseconds now
/// and then, and so do threads of a library that still wait actively for their next work (OpenMP's, for more
/// than ten milliseconds after an op) while the stage waits for a CPU.
class StageWork final : public Collector {
 public:
  explicit StageWork(std::function<double()> cpu_seconds) : cpu_seconds_(std::move(cpu_seconds)) {}

  void begin_sample() override { samples_.emplace_back(); }
  void begin_stage(std::string_view, Stage) override { start_ = cpu_seconds_(); }
  void end_stage(std::string_view op, Stage stage) override {
    Work& work = samples_.back()[std::string(op)];
    (stage == Stage::forward ? work.in_forward : work.elsewhere) += cpu_seconds_() - start_;
  }

  [[nodiscard]] std::optional<std::string> suspicion() const override {
    const auto suspicious = suspicious_works();
    if (suspicious.empty()) return std::nullopt;
    const auto& [op, works] = *suspicious.begin();
    double elsewhere = 0, all = 0;
    for (const Work& work : works) {
      elsewhere += work.elsewhere;
      all += work.all();
    }
    return fmt::format(
        "{:.0f} % of the CPU time of {} is spent outside forward(), where its op time does not count it",
        100 * elsewhere / all, op);
  }

  /// One sample in four was found to look so of a variant that has nothing to hide, beside twice as many busy
  /// processes as there are CPUs: most of seven would in one of fourteen cases, most of fifty-one in none of
  /// ten thousand. More work than threads waste in waiting needs no such care.
  [[nodiscard]] std::size_t fewest_to_suspect() const override {
    constexpr double most_waiting = 0.1;  // s of CPU time
    constexpr std::size_t fewest = 51;
    const auto suspicious = suspicious_works();
    const auto is_sure = [](const auto& of_op) {
      return std::ranges::all_of(of_op.second,
                                 [](const Work& work) { return work.elsewhere > most_waiting; });
    };
    return std::ranges::any_of(suspicious, is_sure) ? 1 : fewest;
  }

  void finish(std::vector<Measurement>& /*measurements*/) override {}

 private:
  /// Those of each op of which most samples are.
  [[nodiscard]] std::map<std::string, std::vector<Work>> suspicious_works() const {
    std::map<std::string, std::vector<Work>> suspicious;
    for (const auto& sample : samples_) {
      for (const auto& [op, work] : sample) {
        if (work.is_suspicious()) suspicious[op].push_back(work);
      }
    }
    std::erase_if(suspicious, [&](const auto& of_op) { return 2 * of_op.second.size() <= samples_.size(); });
    return suspicious;
  }

  std::function<double()> cpu_seconds_;
  double start_ = 0;
  std::vector<std::map<std::string, Work>> samples_;  ///< each by op
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
