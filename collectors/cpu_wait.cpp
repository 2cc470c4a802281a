// SPDX-License-Identifier: MIT
#include "collectors/cpu_wait.hpp"

#include <ctime>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "device/cpu_facts.hpp"
#include "system/numbers.hpp"

namespace mprof {
namespace {

constexpr double most_lost = 0.1;  // of the CPU time

std::optional<ThreadTimes> read_threads() {
  ThreadTimes times;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const auto id = parse_as<int>(thread.path().filename().string());
    const auto text = read_text((thread.path() / "schedstat").string());
    if (!id || !text) continue;  // it has just ended
    const auto time = parse_schedstat(*text);
    if (!time) return std::nullopt;
    times.threads.emplace(*id, *time);
  }
  if (times.threads.empty()) return std::nullopt;
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  times.cpu = static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec);
  return times;
}

/// Reads around samples, and begins first and ends last: none of its work is in any time.
class CpuWait final : public Collector {
 public:
  explicit CpuWait(std::function<std::optional<ThreadTimes>()> read) : read_(std::move(read)) {}

  void begin_sample() override {
    waits_.push_back(0);
    for (auto& [op, waits] : waits_of_ops_) waits.push_back(0);
    start_ = read_();
  }
  void end_sample() override { add_until_now(); }
  void pause() override { add_until_now(); }
  void resume() override { start_ = read_(); }
  void begin_stage(std::string_view op, Stage stage) override {
    if (stage == Stage::forward) forwards_.emplace(op);
  }

  void finish(std::vector<Measurement>& measurements) override {
    std::string absent;
    if (waits_.empty())
      absent = "no sample was taken";
    else if (is_unknown_)
      absent = "/proc/self/task/TID/schedstat cannot be read: the kernel was built without it, or hides it";
    else if (cpu_ - ran_ > most_lost * cpu_)
      absent = "threads that ended within a sample did much of its work, and how long they waited is lost";
    const auto add = [&](const std::string& op, const std::vector<double>& waits) {
      Measurement row{"cpu_wait", op, "", Source::measured, {}, absent};
      if (absent.empty()) row.samples = waits;
      measurements.push_back(std::move(row));
    };
    add("", waits_);
    for (const auto& [op, waits] : waits_of_ops_) add(op, waits);
  }

 private:
  void add_until_now() {
    const std::optional<ThreadTimes> now = read_();
    const std::set<std::string> forwards = std::exchange(forwards_, {});
    if (!start_ || !now) {
      is_unknown_ = true;
      return;
    }
    cpu_ += now->cpu - start_->cpu;
    double waited = 0;
    for (const auto& [id, time] : now->threads) {
      const auto known = start_->threads.find(id);
      const ThreadTime before = known == start_->threads.end() ? ThreadTime{} : known->second;
      ran_ += time.ran - before.ran;
      waited += time.waited - before.waited;
    }
    waits_.back() += waited;
    for (const std::string& op : forwards) {
      std::vector<double>& waits = waits_of_ops_[op];
      waits.resize(waits_.size(), 0);
      waits.back() += waited;
    }
  }

  std::function<std::optional<ThreadTimes>()> read_;
  std::optional<ThreadTimes> start_{};
  std::vector<double> waits_{};  ///< one a sample
  std::map<std::string, std::vector<double>> waits_of_ops_{};
  std::set<std::string> forwards_{};  ///< ops whose forward stage has begun since the last pause
  double cpu_ = 0;                    ///< of all samples
  double ran_ = 0;                    ///< of it, threads that were there when a part of a sample ended
  bool is_unknown_ = false;
};

const bool registered = (CollectorKinds::instance().add({
                             "cpu_wait",
                             Pass::timing,
                             "",
                             2,
                             [] { return std::nullopt; },
                             [](const CaseContext&) { return make_cpu_wait(read_threads); },
                         }),
                         true);

}  // namespace

std::optional<ThreadTime> parse_schedstat(std::string_view text) {
  std::istringstream fields{std::string(text)};
  double ran = 0, waited = 0, slices = 0;
  if (!(fields >> ran >> waited >> slices)) return std::nullopt;
  return ThreadTime{1e-9 * ran, 1e-9 * waited};
}

std::unique_ptr<Collector> make_cpu_wait(std::function<std::optional<ThreadTimes>()> read) {
  return std::make_unique<CpuWait>(std::move(read));
}

}  // namespace mprof
