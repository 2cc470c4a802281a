// SPDX-License-Identifier: MIT
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
  std::function<ExecutionResult()> on_verify{};            ///< where a test changes the output
  std::function<std::vector<QualityValue>()> qualities{};  ///< of each execution but the verified one
  std::function<Verification()> on_sample{};               ///< of each timed execution
  std::function<Verification()> on_unseen{};               ///< of one on inputs drawn at random
  std::function<Verification()> on_watched{};              ///< of one in a pass that is not timed
  bool overwrites_inputs = false;
};

using Scripts = std::map<std::string, std::function<Script(std::uint64_t size)>>;

inline ExecutionResult right_result() {
  ExecutionResult result;
  result.qualities = {{"score", 0.9}};
  Verification v;
  v.op = "op1";
  v.passed = true;
  v.tolerance = 1e-5;
  v.elements = 10;
  result.verification = {v};
  return result;
}

/// One op, "op1", that follows the script.
class ScriptedExecution final : public Execution {
 public:
  explicit ScriptedExecution(Script script) : script_(std::move(script)) {}

  ExecutionResult run(StageObserver& observer, const Trial& trial) override {
    ++executions;
    trials.push_back(trial);
    for (const Stage stage : {Stage::prepare, Stage::forward, Stage::finish}) {
      const auto work = [&] {
        if (script_.on_stage) script_.on_stage(stage);
      };
      observer.stage("op1", stage, work, {});
    }
    ExecutionResult result = right_result();
    if (script_.qualities) result.qualities = script_.qualities();
    if (trial.proof == Proof::all_items) result = script_.on_verify ? script_.on_verify() : right_result();
    if (trial.proof == Proof::as_before && script_.on_sample) result.verification[0] = script_.on_sample();
    if (trial.unseen && script_.on_unseen) result.verification[0] = script_.on_unseen();
    if (trial.proof == Proof::some_items && !trial.unseen && script_.on_watched)
      result.verification[0] = script_.on_watched();
    if (trial.proof == Proof::none) result.verification.clear();
    return result;
  }
  [[nodiscard]] std::size_t turns() const override { return 4; }
  [[nodiscard]] bool has_its_inputs() const override { return !script_.overwrites_inputs; }

  int executions = 0;
  std::vector<Trial> trials;

 private:
  Script script_;
};

inline Problem size_of(std::uint64_t size) {
  return {{{"size", size}}};
}

/// One axis, and a quality that it may lose a little of.
inline FamilyInfo fake_family() {
  FamilyInfo info;
  info.id = "fake";
  info.title = "a fake";
  info.axes = {{.name = "size",
                .plural = "sizes",
                .title = "Size",
                .meaning = "elements",
                .default_value = 1,
                .min = 1,
                .max = 1000}};
  info.nouns.whole = "pass";
  info.qualities = {{.metric = "score",
                     .label = "Score",
                     .meaning = "the share of right answers",
                     .unit = Unit::ratio,
                     .better = Better::higher,
                     .tolerance = 0.002}};
  return info;
}

/// A family with one op, whose variants follow the scripts given by variant id.
class FakeFamily : public Family {
 public:
  explicit FakeFamily(Scripts scripts = {}, FamilyInfo info = fake_family())
      : scripts_(std::move(scripts)), info_(std::move(info)) {}

  [[nodiscard]] const FamilyInfo& info() const override { return info_; }
  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override {
    return quick ? std::vector{size_of(1)} : std::vector{size_of(1), size_of(2), size_of(3)};
  }
  [[nodiscard]] std::vector<OpInfo> ops(const Problem& problem) const override {
    const auto size = static_cast<double>(problem.coordinates.front().value);
    return {{"op1", "the only op", 1e6 * size, 1e3 * size}};
  }
  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& problem,
                                               const InputPaths& /*inputs*/) const override {
    return std::make_unique<FakeWorkload>(scripts_, problem.coordinates.front().value);
  }

 private:
  class FakeWorkload final : public Workload {
   public:
    FakeWorkload(const Scripts& scripts, std::uint64_t size) : scripts_(scripts), size_(size) {}
    [[nodiscard]] std::unique_ptr<Execution> bind(const std::string& variant,
                                                  const Parameters& /*unused*/) override {
      return std::make_unique<ScriptedExecution>(scripts_.at(variant)(size_));
    }

   private:
    const Scripts& scripts_;
    std::uint64_t size_;
  };

  Scripts scripts_;
  FamilyInfo info_;
};

inline RegisteredVariant fake_variant(const std::string& id, std::vector<ParameterInfo> parameters = {}) {
  RegisteredVariant variant;
  variant.info.id = id;
  variant.info.family = id.substr(0, id.find('/'));
  variant.info.title = "title of " + id;
  variant.info.idea = "none";
  variant.info.device = "cpu";
  variant.info.parameters = std::move(parameters);
  return variant;
}

/// A variant of a device that is not the host.
inline constexpr const char* elsewhere = "fake/elsewhere";
inline constexpr const char* slow_elsewhere = "fake/slow_elsewhere";
inline constexpr const char* spoils_elsewhere = "fake/a_spoiler_elsewhere";
inline constexpr const char* crashes_elsewhere = "fake/crashes_elsewhere";
inline constexpr const char* throws_elsewhere = "fake/throws_elsewhere";
inline constexpr const char* is_spoiled_elsewhere = "fake/is_spoiled_elsewhere";
inline RegisteredVariant variant_elsewhere(const std::string& id = elsewhere) {
  RegisteredVariant variant = fake_variant(id);
  variant.info.device = "elsewhere";
  return variant;
}

}  // namespace mprof::test
