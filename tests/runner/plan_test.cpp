// SPDX-License-Identifier: MIT
#include "runner/plan.hpp"

#include <gtest/gtest.h>

#include "fake_workload.hpp"
#include "system/error.hpp"
#include "tests/support/fake_device.hpp"

namespace mprof {
namespace {

/// A family of two axes, with an input.
class PairFamily final : public test::FakeFamily {
 public:
  PairFamily() : FakeFamily({}, pair()) {}
  [[nodiscard]] std::vector<Problem> default_problems(bool /*quick*/) const override {
    return {problem(8, 5), problem(4, 5)};
  }
  [[nodiscard]] std::vector<InputInfo> inputs() const override {
    return {{.name = "numbers", .value_name = "FILE", .meaning = "numbers", .places = {}}};
  }
  [[nodiscard]] std::vector<InputFile> validate(const InputPaths& inputs) const override {
    const std::string& path = inputs.at("numbers");
    if (path == "missing") throw Error(ExitCode::usage, "missing: no such file");
    return {{.family = "pair", .name = "numbers", .path = path, .size = 7, .checksum = "sha256:1"}};
  }

  static Problem problem(std::uint64_t width, std::uint64_t rounds) {
    return {{{"width", width}, {"rounds", rounds}}};
  }

 private:
  static FamilyInfo pair() {
    FamilyInfo info = test::fake_family();
    info.id = "pair";
    info.axes = {
        {.name = "width", .plural = "widths", .title = "Width", .meaning = "columns", .default_value = 4},
        {.name = "rounds", .plural = "rounds", .title = "Rounds", .meaning = "rounds", .default_value = 5}};
    return info;
  }
};

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    registry.add(std::make_unique<test::FakeFamily>());
    registry.add(test::fake_variant("fake/plain"));
    RegisteredVariant tiled = test::fake_variant(
        "fake/tiled",
        {{"tile", "tile width", "16", {"8", "16", "32"}}, {"unroll", "times", "1", {"1", "2"}}});
    tiled.info.baseline = "fake/plain";
    registry.add(tiled);
    RegisteredVariant gpu = test::fake_variant("fake/gpu");
    gpu.info.device = "cuda";
    registry.add(gpu);
    devices.add(std::make_unique<test::FakeDevice>(clock), 0);
    request.passes = {Pass::timing, Pass::counters};
    request.all = true;
    request.seed = 7;
    request.timeout = 600;
  }

  void add_pairs() {
    registry.add(std::make_unique<PairFamily>());
    registry.add(test::fake_variant("pair/plain"));
  }

  [[nodiscard]] Plan plan() const { return make_plan(request, registry, devices); }

  std::string refused() {
    try {
      static_cast<void>(plan());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.what();
    }
    ADD_FAILURE() << "was not refused";
    return "";
  }

  std::vector<std::string> case_ids() {
    std::vector<std::string> ids;
    for (const Case& c : make_cases(plan(), registry)) ids.push_back(c.id);
    return ids;
  }

  void pick(const std::string& pattern) {
    request.all = false;
    request.patterns = {pattern};
  }

  test::FakeClock clock;
  Registry registry;
  Devices devices;
  RunRequest request;
};

std::vector<Problem> sizes(const std::vector<std::uint64_t>& values) {
  std::vector<Problem> problems;
  for (const std::uint64_t value : values) problems.push_back(test::size_of(value));
  return problems;
}

TEST_F(PlanTest, AllTakesEveryVariantAndTheFamilysProblems) {
  EXPECT_EQ(plan().variants.size(), 3U);
  EXPECT_EQ(plan().problems.at("fake"), sizes({1, 2, 3}));
  EXPECT_EQ(make_cases(plan(), registry).size(), 9U);
}

TEST_F(PlanTest, AllLeavesTheCpuVariantsOutWhereThereIsAGpu) {
  devices.add(std::make_unique<test::FakeDevice>(clock, "cuda"), 10);
  EXPECT_EQ(plan().variants, std::vector<std::string>{"fake/gpu"});
}

TEST_F(PlanTest, DevicesPutTheirVariantsIntoOneRun) {
  devices.add(std::make_unique<test::FakeDevice>(clock, "cuda"), 10);
  request.devices = {"cpu"};
  EXPECT_EQ(plan().variants, (std::vector<std::string>{"fake/plain", "fake/tiled"}));
  for (const auto& both : {std::vector<std::string>{"cuda", "cpu"}, std::vector<std::string>{"all"}}) {
    request.devices = both;
    EXPECT_EQ(plan().variants, (std::vector<std::string>{"fake/gpu", "fake/plain", "fake/tiled"}));
  }
  request.devices = {"cpu", "cdua"};
  EXPECT_NE(refused().find("--device cdua: this mprof has no variant for it. Did you mean cuda or cpu?"),
            std::string::npos)
      << refused();
}

TEST_F(PlanTest, EachFamilyBringsItsOwnProblems) {
  add_pairs();
  const Plan made = plan();
  EXPECT_EQ(made.problems.at("fake"), sizes({1, 2, 3}));
  EXPECT_EQ(made.problems.at("pair"), (std::vector{PairFamily::problem(4, 5), PairFamily::problem(8, 5)}))
      << "ascending";
  EXPECT_EQ(case_ids().back(), "pair/plain@width=8,rounds=5");
}

TEST_F(PlanTest, ValuesGoToTheFamiliesThatHaveTheAxis) {
  add_pairs();
  request.values = {{"width", {64, 16, 64}}};
  EXPECT_EQ(plan().problems.at("pair"), (std::vector{PairFamily::problem(16, 5), PairFamily::problem(64, 5)}))
      << "the other axis at its default";
  EXPECT_EQ(plan().problems.at("fake"), sizes({1, 2, 3})) << "its own problems: it has no such axis";
  request.values["rounds"] = {1, 2};
  EXPECT_EQ(plan().problems.at("pair").size(), 4U);
}

TEST_F(PlanTest, AnAxisThatNoSelectedFamilyHasIsRefused) {
  add_pairs();
  request.values = {{"widht", {1}}};
  EXPECT_EQ(refused(),
            "widht: no selected family has an axis of this name. Did you mean width? They have: size (fake), "
            "width (pair), rounds (pair).");
  pick("fake/*");
  request.values = {{"width", {1}}};
  EXPECT_NE(refused().find("They have: size (fake)."), std::string::npos) << refused();
}

TEST_F(PlanTest, TheRecordKeepsTheFamiliesWithTheWorkOfTheirProblems) {
  add_pairs();
  const std::vector<FamilyInfo> families = families_of(plan(), registry);
  ASSERT_EQ(families.size(), 2U);
  EXPECT_EQ(families[0].problems.size(), 3U);
  EXPECT_EQ(find_problem(families[0], test::size_of(3))->ops.at(0).flops, 3e6);
  EXPECT_EQ(make_cases(plan(), registry).at(2).ops, families[0].problems.at(2).ops);
}

TEST_F(PlanTest, InputsAreThoseOfItsFamiliesAndAreValidatedWhereTheyWillBeRead) {
  add_pairs();
  request.inputs = {{"numbers", "n.txt"}, {"others", "o.txt"}};
  mprof::Run run;
  run.plan = plan();
  EXPECT_EQ(run.plan.inputs, (InputPaths{{"numbers", "n.txt"}}));
  run.cases = make_cases(run.plan, registry);
  ASSERT_EQ(validate_inputs(run, registry).size(), 1U);
  EXPECT_EQ(validate_inputs(run, registry)[0].path, "n.txt");
  run.plan.inputs["numbers"] = "missing";
  EXPECT_THROW(static_cast<void>(validate_inputs(run, registry)), Error);
  for (Case& c : run.cases) {
    for (PassResult& pass : c.passes) pass.status = Status::skipped;
  }
  EXPECT_TRUE(validate_inputs(run, registry).empty()) << "nothing would read them";
}

/// What --resume asks: the very request that made the plan, a part of it, or another one.
class ContradictionsTest : public PlanTest {
 protected:
  ContradictionsTest() {
    add_pairs();
    request.values = {{"size", {5, 2}}};
    request.settings = {{"tile", {"8", "16", "8"}}};
    request.metrics = {"dram__bytes.sum"};
    request.quick = true;
    request.inputs = {{"numbers", "n.txt"}};
    made = plan();
  }

  [[nodiscard]] std::vector<std::string> of(const RunRequest& asked) const {
    std::vector<std::string> texts;
    for (const Contradiction& c : contradictions(asked, made, registry, devices))
      texts.push_back(c.what + ": " + c.asked + ", not " + c.planned);
    return texts;
  }

  Plan made;
};

TEST_F(ContradictionsTest, WhatMadeThePlanAgreesAndSoDoesWhatWasNotSaid) {
  EXPECT_EQ(of(request), std::vector<std::string>{});
  EXPECT_EQ(of({}), std::vector<std::string>{});
  RunRequest reordered = request;
  reordered.values = {{"size", {2, 5, 2}}};
  reordered.seed.reset();  // --seed random
  EXPECT_EQ(of(reordered), std::vector<std::string>{});
}

TEST_F(ContradictionsTest, EachDifferenceIsNamedWithBothItsSides) {
  RunRequest other;
  other.patterns = {"fake/plain"};
  other.values = {{"size", {7}}, {"width", {4, 8}}, {"depth", {1}}};
  other.settings = {{"tile", {"32"}}};
  other.passes = {Pass::timing};
  other.metrics = {"l2.sum"};
  other.hot = true;
  other.seed = 8;
  other.max_seconds = 4;
  other.timeout = 2.5;
  other.inputs = {{"numbers", "m.txt"}, {"others", "o.txt"}};
  EXPECT_EQ(of(other), (std::vector<std::string>{
                           "variants: fake/plain, not fake/gpu,fake/plain,fake/tiled,pair/plain",
                           "depth: 1, not none",
                           "size: 7, not 2,5",
                           "set: tile=32, not tile=8,16",
                           "passes: timing, not timing,counters",
                           "metrics: l2.sum, not dram__bytes.sum",
                           "hot: true, not false",
                           "seed: 8, not 7",
                           "sampling-time: 4, not 1.5",
                           "timeout: 2.5, not 600",
                           "numbers: m.txt, not n.txt",
                       }));
}

TEST_F(PlanTest, QuickTakesFewProblemsAndRepeats) {
  request.quick = true;
  EXPECT_EQ(plan().problems.at("fake"), sizes({1}));
  EXPECT_LT(plan().stopping.max_samples, Stopping{}.max_samples);
  EXPECT_LT(plan().stopping.max_seconds, Stopping{}.max_seconds);
  request.max_seconds = 4;
  EXPECT_EQ(plan().stopping.max_seconds, 4);
}

TEST_F(PlanTest, InTurnsEachRoundTakesTheSamplesOfARunAndThereAreEnoughRounds) {
  const Stopping alone = plan().stopping;
  request.in_turns = true;
  EXPECT_EQ(plan().stopping.max_samples, Stopping{}.max_samples);
  EXPECT_GT(plan().stopping.max_samples, alone.max_samples);
  EXPECT_EQ(plan().stopping.max_seconds, alone.max_seconds);
  request.quick = true;
  EXPECT_EQ(plan().rounds, 5) << "pairs of fewer rounds are not compared";
  request.rounds = 2;
  EXPECT_EQ(plan().rounds, 2);
}

TEST_F(PlanTest, AGlobSelects) {
  pick("fake/[tp]*");
  EXPECT_EQ(plan().variants, (std::vector<std::string>{"fake/plain", "fake/tiled"}));
}

TEST_F(PlanTest, AnUnknownVariantIsRefusedWithTheNearest) {
  pick("fake/tilde");
  EXPECT_NE(refused().find("no variant is called 'fake/tilde'. Did you mean fake/tiled?"), std::string::npos);
}

TEST_F(PlanTest, SweepsMakeEveryCombination) {
  pick("fake/tiled");
  request.values = {{"size", {1}}};
  request.settings = {{"tile", {"8", "16"}}, {"unroll", {"*"}}};
  EXPECT_EQ(case_ids(), (std::vector<std::string>{"fake/tiled[tile=8]@1", "fake/tiled[tile=8,unroll=2]@1",
                                                  "fake/tiled@1", "fake/tiled[unroll=2]@1"}));
}

TEST_F(PlanTest, AValueNamedTwiceIsOnePoint) {
  pick("fake/tiled");
  request.values = {{"size", {1}}};
  request.settings = {{"tile", {"8", "16", "8"}}};
  EXPECT_EQ(case_ids(), (std::vector<std::string>{"fake/tiled[tile=8]@1", "fake/tiled@1"}));
}

TEST_F(PlanTest, KeepsTheMetricsOfAPassThatReadsThem) {
  request.metrics = {"dram__bytes.sum"};
  EXPECT_EQ(plan().metrics, request.metrics);
  request.passes = {Pass::timing};
  EXPECT_TRUE(plan().metrics.empty());
  request.passes = {Pass::counters};
  pick("fake/plain");
  EXPECT_TRUE(plan().metrics.empty()) << "it runs on the CPU";
}

TEST_F(PlanTest, AnUnknownParameterIsRefused) {
  request.settings = {{"tiel", {"8"}}};
  EXPECT_NE(
      refused().find("--set tiel: no selected variant has a parameter of this name. Did you mean tile?"),
      std::string::npos);
}

TEST_F(PlanTest, AnUnknownValueIsRefusedWithTheAllowedOnes) {
  request.settings = {{"tile", {"8", "9"}}};
  EXPECT_NE(refused().find("fake/tiled takes 8, 16, 32 for tile, not '9'"), std::string::npos);
}

TEST_F(PlanTest, AValueOutsideItsAxisIsRefusedWithTheRange) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1001}, std::uint64_t{1} << 31}) {
    request.values = {{"size", {2, value}}};
    EXPECT_EQ(refused(), "size " + std::to_string(value) + ": the family fake takes 1 to 1000 (elements).");
  }
  add_pairs();
  request.values = {{"width", {0}}};
  EXPECT_EQ(refused(), "width 0: the family pair takes 1 or more (columns).");
}

TEST_F(PlanTest, ProblemsAreSortedAndSingle) {
  request.values = {{"size", {5, 2, 5}}};
  EXPECT_EQ(plan().problems.at("fake"), sizes({2, 5}));
}

TEST_F(PlanTest, WhatCannotRunHereIsSkippedWithTheReason) {
  std::vector<Case> cases = make_cases(plan(), registry);
  skip_unavailable(cases, registry, devices);
  for (const Case& c : cases) {
    const bool gpu = c.key.variant == "fake/gpu";
    EXPECT_EQ(case_status(c), gpu ? Status::skipped : Status::pending) << c.id;
    EXPECT_EQ(case_reason(c), gpu ? "this build of mprof has no cuda device" : "not run yet");
  }
}

TEST_F(PlanTest, ValuesThatCannotGoTogetherAreSkippedWithTheReason) {
  RegisteredVariant variant = test::fake_variant("fake/strict", {{"tile", "its width", "8", {"8", "16"}}});
  variant.impossible = [](const Parameters& parameters) {
    return parameters.at("tile") == "16" ? std::optional<std::string>("16 do not fit") : std::nullopt;
  };
  registry.add(variant);
  pick("fake/strict");
  request.settings = {{"tile", {"*"}}};
  std::vector<Case> cases = make_cases(plan(), registry);
  skip_unavailable(cases, registry, devices);
  for (const Case& c : cases) {
    const bool fits = c.key.parameters.at("tile") == "8";
    EXPECT_EQ(case_status(c), fits ? Status::pending : Status::skipped) << c.id;
    EXPECT_EQ(case_reason(c), fits ? "not run yet" : "16 do not fit");
  }
}

TEST_F(PlanTest, TunedValuesAreThoseOfTheirVariantAndProblem) {
  pick("fake/tiled");
  request.values = {{"size", {1, 2}}};
  Plan tuned = plan();
  tuned.tuned = Tuning{.file = "tuned.json",
                       .points = {{"fake/tiled", test::size_of(2), {{"tile", "32"}, {"unroll", "2"}}},
                                  {"fake/plain", test::size_of(1), {{"tile", "8"}}}}};
  const auto ids_of = [&] {
    std::vector<std::string> ids;
    for (const Case& c : make_cases(tuned, registry)) ids.push_back(c.id);
    return ids;
  };
  EXPECT_EQ(ids_of(), (std::vector<std::string>{"fake/tiled@1", "fake/tiled[tile=32,unroll=2]@2"}));
  tuned.settings = {{"unroll", {"1"}}};
  EXPECT_EQ(ids_of(), (std::vector<std::string>{"fake/tiled@1", "fake/tiled[tile=32]@2"}))
      << "what was said counts";
}

TEST_F(PlanTest, TheRecordKeepsTheBaselineThatAVariantNames) {
  pick("fake/tiled");
  const std::vector<VariantInfo> kept = variants_of(plan(), registry);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].id, "fake/plain");
}

}  // namespace
}  // namespace mprof
