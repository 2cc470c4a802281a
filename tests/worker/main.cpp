// SPDX-License-Identifier: MIT
// A worker whose variants do every wrong thing that a kernel in development does. The runner's tests hold the
// coordinator to reporting each for what it is.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collectors/gpu_sampling.hpp"
#include "kernels/choices.hpp"
#include "runner/protocol.hpp"
#include "runner/worker.hpp"
#include "system/cpus.hpp"
#include "system/error.hpp"
#include "tests/runner/fake_workload.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/sample_trace.hpp"

namespace {

using namespace mprof;
using test::Script;
using test::Scripts;

/// Does `harm` at size 2 only, so that the cases around it must complete.
std::function<Script(std::uint64_t)> at_size_two(std::function<void()> harm) {
  return [harm = std::move(harm)](std::uint64_t size) {
    return Script{.on_stage = [harm, size](Stage stage) {
      if (size == 2 && stage == Stage::forward) harm();
    }};
  };
}

ExecutionResult wrong_at_large(std::uint64_t size) {
  ExecutionResult result = test::right_result();
  if (size < 3) return result;
  result.verification[0].passed = false;
  result.verification[0].finding = "relative error 0.5, allowed 1e-05";
  return result;
}

/// Tells the coordinator, wherever it may listen, that all went well.
void forge_result() {
  PassResult result{.pass = Pass::timing};
  result.status = Status::ok;
  const std::string line =
      to_line(Message{.kind = MessageKind::end, .case_id = "fake/forger@2", .result = result});
  constexpr int most_files = 64;
  for (int file = STDERR_FILENO + 1; file < most_files; ++file) {
    struct stat status {};
    if (::fstat(file, &status) == 0 && S_ISFIFO(status.st_mode))
      static_cast<void>(::write(file, line.data(), line.size()));
  }
}

bool is_spoiled = false;

Script slowly(std::uint64_t /*size*/) {
  return {.on_stage = [](Stage) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }};
}

/// Once a case: chooses its size, and says so of a choice that it was given.
Script choosing(std::uint64_t size) {
  return {.on_stage = [size, chosen = false](Stage) mutable {
    if (std::exchange(chosen, true)) return;
    const std::optional<std::string> known = choices::known("engine");
    choices::keep(known ? "followed" : "engine", known.value_or(std::to_string(size)));
  }};
}

/// What spoils its process for those that run in it later, and not for itself.
Script spoiling(std::uint64_t /*size*/) {
  is_spoiled = true;
  return {};
}

Script where_nobody_spoils(std::uint64_t /*size*/) {
  return {.on_stage = [](Stage) {
    if (is_spoiled) throw std::runtime_error("CUDA error 700: an illegal memory access");
  }};
}

/// Is wrong, and goes on, where somebody has spoiled the process.
Script wrong_where_spoiled(std::uint64_t /*size*/) {
  return {.on_watched = [] {
    Verification seen = test::right_result().verification[0];
    seen.passed = !is_spoiled;
    if (is_spoiled) seen.finding = "relative error 0.5, allowed 1e-05";
    return seen;
  }};
}

Scripts scripts() {
  return {
      {"fake/right", [](std::uint64_t) { return Script{}; }},
      {"fake/crash", at_size_two([] {
         std::fputs("about to follow a bad pointer\n", stderr);
         ::raise(SIGSEGV);
       })},
      {"fake/hang", at_size_two([] { std::this_thread::sleep_for(std::chrono::hours(1)); })},
      {"fake/early_exit", at_size_two([] { ::_exit(0); })},
      {"fake/chatty", at_size_two([] {
         std::puts("{\"kind\": \"garbage\"");
         std::fflush(stdout);
       })},
      {"fake/forger", at_size_two(forge_result)},
      {"fake/throws",
       at_size_two([] { throw std::runtime_error("CUDA error 700: an illegal memory access"); })},
      {"fake/spoils_its_process",
       [spoiled = std::make_shared<bool>()](std::uint64_t size) {
         return Script{.on_stage = [spoiled, size](Stage) {
           if (size == 2) *spoiled = true;
           if (*spoiled) throw std::runtime_error("CUDA error 700: an illegal memory access");
         }};
       }},
      {"fake/greedy", at_size_two([] { static_cast<void>(std::vector<char>(std::size_t{1} << 60)); })},
      {"fake/wrong_at_large",
       [](std::uint64_t size) { return Script{.on_verify = [size] { return wrong_at_large(size); }}; }},
      {test::elsewhere, where_nobody_spoils},
      {test::spoils_elsewhere, spoiling},
      {test::is_spoiled_elsewhere, wrong_where_spoiled},
      {test::crashes_elsewhere, at_size_two([] { ::_exit(3); })},
      {test::throws_elsewhere,
       at_size_two([] { throw std::runtime_error("CUDA error 700: an illegal memory access"); })},
      {"fake/slow", slowly},
      {"fake/chooses", choosing},
      {test::slow_elsewhere, slowly},
  };
}

/// Says what a trace pass was given: where to write, and the case with its ops.
class Tracer final : public Collector {
 public:
  explicit Tracer(const CaseContext& context) : subject_(context.subject), file_(context.trace_file) {}

  void finish(std::vector<Measurement>& measurements) override {
    std::ofstream(file_, std::ios::app) << subject_.id << '\n';
    measurements.push_back({"work", "", "", Source::measured, {subject_.ops.at(0).flops}, ""});
  }

 private:
  const Case& subject_;
  std::filesystem::path file_;
};

/// Counts the work that an op should do.
class Counter final : public Collector {
 public:
  explicit Counter(const CaseContext& context) : subject_(context.subject) {}
  void finish(std::vector<Measurement>& measurements) override {
    measurements.push_back({"work", "", "", Source::measured, {subject_.ops.at(0).flops}, ""});
  }

 private:
  const Case& subject_;
};

/// Samples a microsecond apart, from the beginning of what tests make up. $FAKE_SAMPLER says what it does
/// beside that: "busy" refuses, "dies" ends the process once sampling has begun.
class FakeGpuSampler final : public GpuSampler {
 public:
  FakeGpuSampler() {
    if (does("busy")) throw Error(ExitCode::environment, "Another profiler holds the hardware counters.");
  }
  [[nodiscard]] const std::vector<std::string>& metrics() const override { return metrics_; }
  void start() override {}
  void stop() override {}
  [[nodiscard]] Taken take() override {
    if (does("dies")) std::_Exit(7);
    Taken taken;
    for (; at_ < 10; ++at_) {
      const trace::Interval time = test::at(1000 * at_ - 1000, 1000 * at_);
      taken.readings.push_back({time, {static_cast<float>(at_)}});
    }
    return taken;
  }

 private:
  static bool does(std::string_view what) {
    const char* set = std::getenv("FAKE_SAMPLER");
    return set != nullptr && set == what;
  }

  std::vector<std::string> metrics_{"SMs Active [Throughput %]"};
  std::int64_t at_ = 0;
};

}  // namespace

int main() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  Registry registry;
  for (const auto& [id, script] : scripts()) {
    const bool is_elsewhere = id.ends_with("elsewhere");
    registry.add(is_elsewhere ? test::variant_elsewhere(id) : test::fake_variant(id));
  }
  registry.add(std::make_unique<test::FakeFamily>(scripts()));
  test::FakeClock clock;
  Devices::instance().add(std::make_unique<test::FakeDevice>(clock, "elsewhere"), -1);
  registry.add_library({"fake library", [] { return "1.0"; }});
  registry.add_library({"fake device", [] {
                          const char* device = std::getenv("FAKE_DEVICE");
                          return std::string(device == nullptr ? "the only one" : device);
                        }});
  registry.add_library({"fake cpus", [] { return fmt::format("{}", fmt::join(allowed_cpus(), ",")); }});
  GpuSamplers::instance().set({.make = [](double) { return std::make_unique<FakeGpuSampler>(); }});
  for (const Pass pass : {Pass::trace, Pass::counters, Pass::source}) {
    CollectorKinds::instance().add(
        {.id = "counter",
         .pass = pass,
         .device = "elsewhere",
         .order = 0,
         .unavailable = {},
         .make = [](const CaseContext& context) { return std::make_unique<Counter>(context); }});
  }
  CollectorKinds::instance().add(
      {.id = "tracer",
       .pass = Pass::trace,
       .device = "cpu",
       .order = 0,
       .unavailable = {},
       .make = [](const CaseContext& context) { return std::make_unique<Tracer>(context); }});
  return run_worker({registry, Devices::instance(), CollectorKinds::instance(), steady_clock()});
}
