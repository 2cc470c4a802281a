#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "kernels/workload.hpp"

namespace mprof::test {

/// What a fake variant does, stage by stage. Anything left empty does nothing and is right.
struct Script {
  std::function<void(Stage)> on_stage{};
  std::function<CheckedResult()> on_check{};
  std::function<double()> accuracy{};
};

inline CheckedResult right_result() {
  CheckedResult result;
  result.inference.accuracy = 0.9;
  Verification v;
  v.op = "layer1";
  v.passed = true;
  v.tolerance = 1e-5;
  v.elements = 10;
  result.verification = {v};
  return result;
}

/// One op, "layer1", that follows the script.
class ScriptedExecution final : public Execution {
 public:
  explicit ScriptedExecution(Script script) : script_(std::move(script)) {}

  InferenceResult infer(StageObserver& observer) override {
    ++executions;
    for (const Stage stage : {Stage::prepare, Stage::forward, Stage::finish}) {
      observer.stage("layer1", stage, [&] {
        if (script_.on_stage) script_.on_stage(stage);
      });
    }
    InferenceResult result;
    result.accuracy = script_.accuracy ? script_.accuracy() : 0.9;
    return result;
  }

  CheckedResult check(StageObserver& observer) override {
    infer(observer);
    return script_.on_check ? script_.on_check() : right_result();
  }

  int executions = 0;

 private:
  Script script_;
};

/// A family "fake" with one op, whose variants follow the scripts given by variant id.
class FakeFamily final : public Family {
 public:
  explicit FakeFamily(std::map<std::string, std::function<Script(std::uint64_t batch)>> scripts)
      : scripts_(std::move(scripts)) {}

  [[nodiscard]] std::string_view id() const override { return "fake"; }
  [[nodiscard]] std::string_view title() const override { return "a fake"; }
  [[nodiscard]] std::vector<std::uint64_t> default_batches(bool quick) const override {
    return quick ? std::vector<std::uint64_t>{1} : std::vector<std::uint64_t>{1, 2, 3};
  }
  [[nodiscard]] std::uint64_t max_batch() const override { return 1000; }
  [[nodiscard]] std::vector<OpInfo> ops(std::uint64_t batch) const override {
    return {{"layer1", "the only op", 1e6 * static_cast<double>(batch), 1e3 * static_cast<double>(batch)}};
  }
  void validate(const DataPaths& /*data*/) const override {}
  [[nodiscard]] std::unique_ptr<Workload> load(std::uint64_t batch,
                                               const DataPaths& /*data*/) const override {
    return std::make_unique<FakeWorkload>(scripts_, batch);
  }

 private:
  using Scripts = std::map<std::string, std::function<Script(std::uint64_t)>>;

  class FakeWorkload final : public Workload {
   public:
    FakeWorkload(const Scripts& scripts, std::uint64_t batch) : scripts_(scripts), batch_(batch) {}
    [[nodiscard]] std::unique_ptr<Execution> bind(const std::string& variant,
                                                  const Parameters& /*unused*/) override {
      return std::make_unique<ScriptedExecution>(scripts_.at(variant)(batch_));
    }

   private:
    const Scripts& scripts_;
    std::uint64_t batch_;
  };

  Scripts scripts_;
};

inline RegisteredVariant fake_variant(const std::string& id, std::vector<ParameterInfo> parameters = {}) {
  RegisteredVariant variant;
  variant.info.id = id;
  variant.info.family = "fake";
  variant.info.title = "title of " + id;
  variant.info.idea = "none";
  variant.info.device = "cpu";
  variant.info.parameters = std::move(parameters);
  return variant;
}

}  // namespace mprof::test
