// A worker whose variants do every wrong thing that a kernel in development does. The runner's tests hold the
// coordinator to reporting each for what it is.

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runner/worker.hpp"
#include "tests/runner/fake_workload.hpp"

namespace {

using namespace mprof;
using test::Script;

using Scripts = std::map<std::string, std::function<Script(std::uint64_t)>>;

/// Does `harm` at batch 2 only, so that the cases around it must complete.
std::function<Script(std::uint64_t)> at_batch_two(std::function<void()> harm) {
  return [harm = std::move(harm)](std::uint64_t batch) {
    return Script{.on_stage = [harm, batch](Stage stage) {
      if (batch == 2 && stage == Stage::forward) harm();
    }};
  };
}

CheckedResult wrong_at_large(std::uint64_t batch) {
  CheckedResult result = test::right_result();
  if (batch < 3) return result;
  result.verification[0].passed = false;
  result.verification[0].finding = "relative error 0.5, allowed 1e-05";
  return result;
}

Scripts scripts() {
  return {
      {"fake/right", [](std::uint64_t) { return Script{}; }},
      {"fake/crash", at_batch_two([] {
         std::fputs("about to follow a bad pointer\n", stderr);
         ::raise(SIGSEGV);
       })},
      {"fake/hang", at_batch_two([] { std::this_thread::sleep_for(std::chrono::hours(1)); })},
      {"fake/early_exit", at_batch_two([] { ::_exit(0); })},
      {"fake/chatty", at_batch_two([] {
         std::puts("{\"kind\": \"garbage\"");
         std::fflush(stdout);
       })},
      {"fake/throws",
       at_batch_two([] { throw std::runtime_error("CUDA error 700: an illegal memory access"); })},
      {"fake/spoils_its_process",
       [spoiled = std::make_shared<bool>()](std::uint64_t batch) {
         return Script{.on_stage = [spoiled, batch](Stage) {
           if (batch == 2) *spoiled = true;
           if (*spoiled) throw std::runtime_error("CUDA error 700: an illegal memory access");
         }};
       }},
      {"fake/greedy", at_batch_two([] { static_cast<void>(std::vector<char>(std::size_t{1} << 60)); })},
      {"fake/wrong_at_large",
       [](std::uint64_t batch) { return Script{.on_check = [batch] { return wrong_at_large(batch); }}; }},
      {"fake/slow",
       [](std::uint64_t) {
         return Script{.on_stage = [](Stage) { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }};
       }},
  };
}

/// Says what a trace pass was given: the case's times of the timing pass, and where to write.
class Tracer final : public Collector {
 public:
  explicit Tracer(const CaseContext& context) : subject_(context.subject), file_(context.trace_file) {}

  void finish(std::vector<Measurement>& measurements) override {
    std::ofstream(file_, std::ios::app) << subject_.id << '\n';
    const Measurement* const time = find_measurement(subject_, "layer_time", "layer1");
    measurements.push_back({"known_times", "", "", Source::measured, {}, "the timing pass left none"});
    if (time == nullptr) return;
    measurements.back().samples = {static_cast<double>(time->samples.size())};
    measurements.back().absent.clear();
  }

 private:
  const Case& subject_;
  std::string file_;
};

}  // namespace

int main() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  Registry registry;
  for (const auto& [id, script] : scripts()) registry.add(test::fake_variant(id));
  registry.add(std::make_unique<test::FakeFamily>(scripts()));
  registry.add_library("fake library", [] { return "1.0"; });
  CollectorKinds::instance().add(
      {.id = "tracer",
       .pass = Pass::trace,
       .device = "cpu",
       .order = 0,
       .unavailable = {},
       .make = [](const CaseContext& context) { return std::make_unique<Tracer>(context); }});
  return run_worker({registry, Devices::instance(), CollectorKinds::instance(), steady_clock()});
}
