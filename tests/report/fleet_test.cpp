// SPDX-License-Identifier: MIT
#include "report/analysis/machines/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/statistics/robust.hpp"
#include "report/page/fleet_page.hpp"
#include "report/views/views.hpp"
#include "report/wording/fleet.hpp"
#include "tests/report/history_runs.hpp"

namespace mprof {
namespace {

/// What a simulated GPU does beside the others.
struct Planted {
  double slower = 1;      ///< factor on all of its times
  double clock = 1.98e9;  ///< Hz
  bool flips = false;     ///< a bit of one output
};

/// The record of a GPU that ran `cases` cases in `rounds` rounds.
mprof::Run gpu_run(std::size_t cases, std::size_t rounds, double nature, const Planted& planted,
                   std::mt19937_64& random) {
  std::normal_distribution<double> jitter(0, 0.01);
  mprof::Run run;
  run.environment["gpu"] = {{"name", "Fake GPU"}, {"UUID", fmt::format("GPU-{}", random())}};
  for (std::size_t i = 0; i < cases; ++i) {
    Case& c = run.cases.emplace_back();
    c.id = fmt::format("fake/case@{}", i);
    PassResult& timing = c.passes.emplace_back(PassResult{.pass = Pass::timing, .status = Status::ok});
    const double usual = 1e-6 * static_cast<double>(1 + i * i);
    Measurement time{.metric = "op_time", .op = "op"}, clock{.metric = "gpu_sm_clock"};
    for (std::size_t r = 0; r < rounds; ++r) {
      time.samples.push_back(usual * nature * planted.slower * std::exp(jitter(random)));
      time.rounds.push_back(1);
    }
    clock.samples = {planted.clock};
    timing.rounds.assign(rounds, Sampling{.samples = 1});
    timing.measurements = {time, clock};
    timing.verification = {
        {.op = "op", .passed = true, .relative_l2 = 1e-7, .tolerance = 1e-5, .elements = 9}};
    if (planted.flips && i == cases / 2) timing.verification[0].relative_l2 = std::nextafter(1e-7, 1);
  }
  return run;
}

/// Another build of mprof measured it.
FleetMember of_another_build(FleetMember member) {
  member.build = "0.0.9 (fedcba9)";
  return member;
}

/// GPUs that naturally differ by `spread`, those that are planted among them by their number.
std::vector<FleetMember> simulated(std::size_t gpus, std::size_t cases, std::size_t rounds, double spread,
                                   const std::map<std::size_t, Planted>& planted, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> natural(0, spread);
  std::vector<FleetMember> members;
  for (std::size_t g = 0; g < gpus; ++g) {
    const auto special = planted.find(g);
    const Planted own = special == planted.end() ? Planted{} : special->second;
    const double nature = special == planted.end() ? std::exp(natural(random)) : 1;
    members.push_back(fleet_member(gpu_run(cases, rounds, nature, own, random), fmt::format("{}", g)));
  }
  return members;
}

std::set<std::string> names_of(const Fleet& fleet, bool (*holds)(const FleetVerdict&)) {
  std::set<std::string> names;
  for (const FleetOfModel& model : fleet.models) {
    for (const FleetVerdict& verdict : model.verdicts) {
      if (holds(verdict)) names.insert(verdict.member->name);
    }
  }
  return names;
}
bool is_slow(const FleetVerdict& verdict) {
  return verdict.slow;
}
bool flips(const FleetVerdict& verdict) {
  return !verdict.other_outputs.empty();
}

TEST(RobustSpread, IsTheNormalOneOfMostValues) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(5, 2);
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(normal(random));
  for (int i = 0; i < 500; ++i) values.push_back(1000);
  const RobustSpread spread = robust_spread(values);
  EXPECT_NEAR(spread.centre, 5, 0.1);
  EXPECT_NEAR(spread.deviation, 2, 0.1);
  EXPECT_NEAR(deviations_from(spread, 12), 3.5, 0.3);
}

TEST(RobustSpread, IsAtTheLeastWhatItsErrorLeaves) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal(0, 2);
  std::size_t below = 0;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> values;
    for (int k = 0; k < 100; ++k) values.push_back(normal(random));
    const double least = least_deviation(robust_spread(values), values.size());
    EXPECT_GT(least, 1);
    if (least <= 2) ++below;
  }
  EXPECT_GE(below, 0.94 * 400);
}

TEST(RobustSpread, OfEqualValuesMakesAnyOtherAnOutlier) {
  const RobustSpread spread = robust_spread(std::vector<double>{3, 3, 3, 4});
  EXPECT_EQ(spread.centre, 3);
  EXPECT_EQ(deviations_from(spread, 3), 0);
  EXPECT_EQ(deviations_from(spread, 4), std::numeric_limits<double>::infinity());
}

/// As if hosts with so many GPUs had divided their cases among them.
void share_cases(std::vector<FleetMember>& members, std::size_t gpus_of_host) {
  for (std::size_t g = 0; g < members.size(); ++g) {
    const auto is_other = [&, place = std::size_t{0}](const auto&) mutable {
      return place++ % gpus_of_host != g % gpus_of_host;
    };
    std::erase_if(members[g].times, is_other);
    std::erase_if(members[g].outputs, is_other);
  }
}

struct Layout {
  std::size_t gpus, gpus_of_host;
};

struct PlantedOnes {
  std::set<std::string> slow, flipping;
};

/// A fleet of 100 times in 3 rounds that naturally differs by 8 %, with slow ones at two thirds of the
/// performance.
std::vector<FleetMember> planted_fleet(const Layout& layout, const PlantedOnes& ones, std::uint64_t seed) {
  std::map<std::size_t, Planted> planted;
  for (const std::string& name : ones.slow) planted[std::stoul(name)] = {.slower = 1.5};
  for (const std::string& name : ones.flipping) planted[std::stoul(name)] = {};
  auto members = simulated(layout.gpus, 100, 3, 0.08, planted, seed);
  share_cases(members, layout.gpus_of_host);
  for (const std::string& name : ones.flipping) {
    auto& outputs = members[std::stoul(name)].outputs;
    std::next(outputs.begin(), static_cast<std::ptrdiff_t>(outputs.size() / 2))->second += " flipped";
  }
  return members;
}

class FleetOfAThousand : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(GpusOfAHost, FleetOfAThousand, testing::Values(1, 8));

TEST_P(FleetOfAThousand, FindsWhatWasPlanted) {
  const PlantedOnes planted{{"17", "230", "411", "702", "999"}, {"5", "640"}};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto members = planted_fleet({1000, GetParam()}, planted, seed);
    const Fleet fleet = judge_fleet(members);
    ASSERT_EQ(fleet.models.size(), 1U);
    EXPECT_NEAR(fleet.models[0].spread, 0.08, 0.01);
    EXPECT_TRUE(fleet.is_bad());
    const std::set<std::string> found = names_of(fleet, is_slow);
    EXPECT_TRUE(std::ranges::includes(found, planted.slow)) << "seed " << seed;
    EXPECT_LE(found.size(), planted.slow.size() + 1) << "at most one false, seed " << seed;
    EXPECT_EQ(names_of(fleet, flips), planted.flipping);
  }
}

class FleetOfAHundred : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(GpusOfAHost, FleetOfAHundred, testing::Values(1, 8));

/// Of 13 GPUs with a time the deviation is known to a third: what rests on it alone calls 1.5 healthy ones
/// slow in each fleet, and several in four fleets of ten.
TEST_P(FleetOfAHundred, CallsHealthyOnesSlowNoMoreOftenWhereFewHaveATime) {
  const PlantedOnes planted{{"17", "30", "41", "72", "99"}, {"5", "64"}};
  constexpr std::uint64_t fleets = 20;
  std::size_t found = 0, false_ones = 0, fleets_with_several = 0;
  for (std::uint64_t seed = 1; seed <= fleets; ++seed) {
    const auto members = planted_fleet({104, GetParam()}, planted, seed);
    const Fleet fleet = judge_fleet(members);
    const std::set<std::string> slow = names_of(fleet, is_slow);
    const auto hits = static_cast<std::size_t>(
        std::ranges::count_if(planted.slow, [&](const std::string& name) { return slow.contains(name); }));
    found += hits;
    false_ones += slow.size() - hits;
    if (slow.size() - hits > 1) ++fleets_with_several;
    EXPECT_EQ(names_of(fleet, flips), planted.flipping) << "seed " << seed;
  }
  RecordProperty("found", static_cast<int>(found));
  RecordProperty("false", static_cast<int>(false_ones));
  RecordProperty("fleets with several false", static_cast<int>(fleets_with_several));
  EXPECT_GE(found, fleets * planted.slow.size() * 98 / 100);
  EXPECT_LE(false_ones, fleets / 2);
  EXPECT_LE(fleets_with_several, fleets / 10);
}

TEST(FleetTest, HealthyGpusAreNotSlowForBeingTheSlowest) {
  const auto members = simulated(200, 20, 3, 0.005, {}, 4);
  EXPECT_FALSE(judge_fleet(members).is_bad());
  const auto alike = simulated(200, 20, 3, 0.005, {{3, {.slower = 1.03}}}, 5);
  EXPECT_FALSE(judge_fleet(alike).is_bad()) << "six deviations off, and at 97 %";
}

TEST(FleetTest, SlowInOneRoundIsNotSlow) {
  auto members = simulated(20, 10, 3, 0.01, {}, 6);
  for (auto& [name, time] : members[4].times) time[1] *= 2;
  EXPECT_FALSE(judge_fleet(members).is_bad());
  const auto single = simulated(20, 10, 1, 0.01, {{7, {.slower = 1.5}}}, 7);
  const Fleet fleet = judge_fleet(single);
  EXPECT_FALSE(fleet.is_bad());
  EXPECT_EQ(names_of(fleet, [](const FleetVerdict& verdict) { return verdict.once; }),
            std::set<std::string>{"7"});
}

TEST(FleetTest, SlowInSomeOfItsTimesIsSlow) {
  auto members = simulated(40, 20, 3, 0.01, {}, 8);
  std::size_t number = 0;
  for (auto& [name, time] : members[9].times) {
    if (number++ >= 3) break;
    for (double& round : time) round *= 1.4;
  }
  const Fleet fleet = judge_fleet(members);
  EXPECT_EQ(names_of(fleet, is_slow), std::set<std::string>{"9"});
  const FleetVerdict& verdict = fleet.models[0].verdicts.front();
  ASSERT_EQ(verdict.slow_times.size(), 3U);
  EXPECT_NEAR(verdict.slow_times[0].performance, 1 / 1.4, 0.05);
  EXPECT_NEAR(verdict.performance, 1, 0.03);
}

/// GPUs that differ by 1 % each, from 20 % faster to 19 % slower, of which the middle ones and the slowest
/// have half of the times: of these alone it is far off, as a whole it is the last of many.
TEST(FleetTest, NaturallySlowAmongFewAlikeIsNotSlow) {
  std::map<std::size_t, Planted> natures;
  for (std::size_t g = 0; g < 40; ++g)
    natures[g] = {.slower = std::exp(0.01 * (static_cast<double>(g) - 20))};
  auto members = simulated(40, 20, 3, 0, natures, 15);
  const std::string half = "fake/case@1";  // and @10 to @19
  for (std::size_t g = 0; g < 39; ++g) {
    if (g >= 16 && g < 24) continue;
    std::erase_if(members[g].times, [&](const auto& time) { return time.first.starts_with(half); });
  }
  const Fleet fleet = judge_fleet(members);
  EXPECT_FALSE(fleet.is_bad());
  EXPECT_EQ(fleet.models[0].verdicts.front().member->name, "39");
  EXPECT_EQ(fleet.models[0].verdicts.front().slow_times.size(), 11U) << "as others that have them see it";
  std::size_t number = 0;
  for (auto& [name, time] : members[39].times) {
    if (number++ >= 3) break;
    for (double& round : time) round *= 1.9;
  }
  EXPECT_EQ(names_of(judge_fleet(members), is_slow), std::set<std::string>{"39"});
}

/// As where hosts divided the cases, and only half of the GPUs have those that the clock bounds: by the
/// deviation of all of them, some 45 healthy ones of each fleet would be slow.
TEST(FleetTest, NaturallySlowAmongThoseWithTheSameTimesIsNotSlow) {
  const std::set<std::string> planted{"17", "other 7"};
  constexpr std::uint64_t fleets = 10;
  std::size_t false_ones = 0;
  for (std::uint64_t seed = 1; seed <= fleets; ++seed) {
    auto members = simulated(200, 10, 3, 0.08, {{17, {.slower = 1.5}}}, seed);
    for (FleetMember& member : simulated(200, 10, 3, 0.01, {{7, {.slower = 1.2}}}, seed + fleets)) {
      std::map<std::string, std::vector<double>> others;
      for (auto& [name, time] : member.times) others["other " + name] = std::move(time);
      member.times = std::move(others);
      member.name = "other " + member.name;
      members.push_back(std::move(member));
    }
    const std::set<std::string> slow = names_of(judge_fleet(members), is_slow);
    EXPECT_TRUE(std::ranges::includes(slow, planted)) << "seed " << seed;
    false_ones += slow.size() - planted.size();
  }
  EXPECT_LE(false_ones, fleets) << "at most one in each, on average";
}

TEST(FleetTest, TellsCausesApart) {
  auto members = simulated(12, 8, 3, 0.01,
                           {{1, {.slower = 1.5, .clock = 1.3e9}},
                            {2, {.slower = 1.5}},
                            {3, {.slower = 1.5}},
                            {4, {.slower = 1.5}}},
                           9);
  for (FleetMember& member : members) {
    member.facts["others on the GPU"] = 2;  // a monitor that the whole fleet has
    member.facts["PCIe link width"] = 16;
  }
  members[1].facts["others on the GPU"] = 4;
  members[2].facts["others on the GPU"] = 40;
  members[4].facts["others on the GPU"] = 4;
  members[3].facts["PCIe link width"] = 8;
  const Fleet fleet = judge_fleet(members);
  std::map<std::string, std::string> causes;
  for (const FleetVerdict& verdict : fleet.models[0].verdicts)
    causes[verdict.member->name] = slow_gpu_cause(fleet.models[0], verdict);
  EXPECT_EQ(causes["0"], "");
  EXPECT_TRUE(causes["1"].starts_with("its clock (power, heat or a limit): ")) << causes["1"];
  EXPECT_TRUE(causes["2"].starts_with("a neighbour: other processes used 38")) << causes["2"];
  EXPECT_TRUE(causes["4"].starts_with("not known")) << "two points more make nobody slow: " << causes["4"];
  EXPECT_TRUE(causes["3"].starts_with("its link, in PCIe lanes: 8")) << causes["3"];
}

TEST(FleetTest, TellsTheClockFromWhatIsSlowInCyclesToo) {
  auto members = simulated(12, 8, 3, 0.01, {{1, {.slower = 1.5, .clock = 1.78e9}}, {2, {.slower = 1.5}}}, 13);
  for (FleetMember& member : members) member.facts["memory bandwidth"] = 4e12;
  members[1].facts["memory bandwidth"] = 2.5e12;
  members[2].facts["memory bandwidth"] = 2.5e12;
  const Fleet fleet = judge_fleet(members);
  std::map<std::string, std::string> causes;
  for (const FleetVerdict& verdict : fleet.models[0].verdicts)
    causes[verdict.member->name] = slow_gpu_cause(fleet.models[0], verdict);
  EXPECT_NE(causes["1"].find("its clock"), std::string::npos) << causes["1"];
  EXPECT_NE(causes["1"].find("in cycles it is slow too"), std::string::npos) << causes["1"];
  EXPECT_NE(causes["1"].find("its memory, by the bandwidth measured: 2.5"), std::string::npos) << causes["1"];
  EXPECT_TRUE(causes["2"].starts_with("its memory, by the bandwidth measured: 2.5")) << causes["2"];
}

FleetHistory daily_history(const samples::TimeInRun& first, const samples::TimeInRun& second) {
  return judge_history({.name = "newest", .gpu = "GPU-1"}, samples::daily(6, first, second));
}

TEST(FleetHistoryTest, AGpuThatIsSlowerThanItWasIsNamedWithTheDay) {
  const auto slower = [](std::size_t run) { return run < 4 ? 1e-3 : 1.2e-3; };
  const FleetHistory history = daily_history(slower, slower);
  EXPECT_TRUE(history.declined);
  EXPECT_EQ(history.runs, 6U);
  EXPECT_EQ(history.bounded, 0U);
  ASSERT_EQ(history.declined_times.size(), 2U);
  EXPECT_NEAR(history.performance, 1 / 1.2, 0.01);
  EXPECT_EQ(history.declined_times[0].since, samples::on_day(4, 1, 1).started);
  Fleet fleet;
  fleet.histories = {history};
  EXPECT_TRUE(fleet.is_bad());
}

TEST(FleetHistoryTest, SaysOfHowManyTimesTheDataExcludeAChange) {
  const auto same = [](std::size_t) { return 1e-3; };
  const FleetHistory history = daily_history(same, same);
  EXPECT_GT(history.times, 0U);
  EXPECT_EQ(history.bounded, history.times);
}

TEST(FleetHistoryTest, AGpuThatIsAsItWasOrOnceWasSlowerIsNot) {
  const auto same = [](std::size_t) { return 1e-3; };
  const auto slightly = [](std::size_t run) { return run < 4 ? 1e-3 : 1.03e-3; };
  const auto recovered = [](std::size_t run) { return run == 2 || run == 3 ? 1.3e-3 : 1e-3; };
  const auto faster = [](std::size_t run) { return run < 4 ? 1.2e-3 : 1e-3; };
  for (const samples::TimeInRun& time : {samples::TimeInRun(same), samples::TimeInRun(slightly),
                                         samples::TimeInRun(recovered), samples::TimeInRun(faster)}) {
    const FleetHistory history = daily_history(time, time);
    EXPECT_FALSE(history.declined) << history.performance;
    EXPECT_EQ(history.absent, "");
  }
}

nlohmann::json only_chart(const Fleet& fleet) {
  const Page page = fleet_page(fleet);
  EXPECT_EQ(page.charts.size(), 1U);
  return page.charts.at(0).chart;
}

TEST(FleetPage, DrawsWhatIsBadOnTopAndNoMoreThanAReaderCanSee) {
  const auto members = simulated(300, 60, 3, 0.02, {{41, {.slower = 1.5}}, {77, {.flips = true}}}, 14);
  const Fleet fleet = judge_fleet(members);
  const nlohmann::json chart = only_chart(fleet);
  EXPECT_EQ(chart["rows"][0], "41");
  EXPECT_EQ(chart["rows"][1], "77");
  EXPECT_EQ(chart["rows"].size(), 40U);
  EXPECT_EQ(chart["columns"].size(), 30U);
  std::size_t cells = 0, crossed = 0;
  for (const nlohmann::json& series : chart["series"]) {
    for (const nlohmann::json& point : series["points"]) {
      ++cells;
      if (point["row"] == 0) {
        EXPECT_EQ(series["name"], "60\u00a0% to 70\u00a0%");
      }
      if (!point["crossed"]) continue;
      ++crossed;
      EXPECT_EQ(point["row"], 1);
      EXPECT_EQ(point["title"], "77: fake/case@30 op");
    }
  }
  EXPECT_EQ(cells, 40U * 30);
  EXPECT_EQ(crossed, 1U);
  EXPECT_NE(chart["caption"].get<std::string>().find("40 of 300 machines"), std::string::npos);
  const std::string html = render_fleet(fleet);
  EXPECT_NE(html.find("<strong>41: SLOW</strong>"), std::string::npos);
  EXPECT_NE(html.find("<strong>77: WRONG BITS</strong>"), std::string::npos);
  EXPECT_NE(html.find("s in: fake/case@30 op."), std::string::npos);
}

TEST(FleetTest, AChecksumTellsBitsApartWhereTheErrorIsTheSame) {
  std::mt19937_64 random(12);
  std::vector<FleetMember> members;
  for (std::size_t g = 0; g < 12; ++g) {
    mprof::Run run = gpu_run(4, 2, 1, {}, random);
    std::string& checksum = run.cases[1].passes[0].verification[0].checksum;
    if (g < 9) checksum = g == 3 ? "00000000000000a1" : "00000000000000a0";  // the others are older records
    members.push_back(fleet_member(run, fmt::format("{}", g)));
  }
  EXPECT_EQ(names_of(judge_fleet(members), flips), std::set<std::string>{"3"});
}

TEST(FleetTest, WhereOutputsDifferAnywayNobodysAreWrong) {
  auto members = simulated(12, 4, 3, 0.01, {}, 10);
  for (std::size_t i = 0; i < 6; ++i) members[i].outputs.begin()->second = fmt::format("other {}", i);
  EXPECT_FALSE(judge_fleet(members).is_bad());
}

TEST(FleetTest, JudgesEachModelAlone) {
  auto members = simulated(14, 4, 3, 0.01, {}, 11);
  for (std::size_t i = 0; i < 3; ++i) members[i].model = "Rare GPU";
  for (std::size_t i = 3; i < 8; ++i) {
    members[i].model = "Old GPU";
    for (auto& [name, time] : members[i].times) {
      for (double& round : time) round *= 3;
    }
  }
  const Fleet fleet = judge_fleet(members);
  EXPECT_EQ(fleet.models.size(), 2U);
  EXPECT_FALSE(fleet.is_bad());
  EXPECT_EQ(too_few_gpus(fleet), std::vector<std::string>{"Rare GPU (3)"});
  members[13].failures = {"fake/case@1: wrong"};
  EXPECT_TRUE(judge_fleet(members).is_bad());
}

TEST(FleetTest, WhatHasNoTimeThatOthersHaveIsNotCalledOk) {
  std::vector<FleetMember> members = simulated(6, 8, 3, 0.02, {}, 11);
  members.back().times = {{"another/case@1 op", {1, 1, 1}}};
  const Fleet fleet = judge_fleet(members);
  const auto& verdicts = fleet.models.at(0).verdicts;
  const auto alone = std::ranges::find(verdicts, &members.back(), &FleetVerdict::member);
  EXPECT_EQ(fleet_standing(*alone), "not compared");
  const auto place = static_cast<std::size_t>(alone - verdicts.begin());
  EXPECT_TRUE(fleet_json(fleet)["models"][0]["machines"][place]["performance"].is_null());
  EXPECT_NE(fleet_page(fleet).view["headline"].get<std::string>().find("Of 1 no speed is known"),
            std::string::npos);
  EXPECT_TRUE(fleet.says_something());
  for (std::size_t i = 0; i < members.size(); ++i)
    members[i].times = {{fmt::format("divided/case@{} op", i), {1, 1, 1}}};
  EXPECT_FALSE(judge_fleet(members).says_something()) << "GPUs that divided the cases";
}

TEST(FleetTest, AFailureIsToldAmongFewerThanFive) {
  std::vector<FleetMember> members = simulated(3, 4, 3, 0.02, {}, 12);
  EXPECT_FALSE(judge_fleet(members).is_bad());
  members[1].failures = {"fake/case@2: crashed"};
  const Fleet fleet = judge_fleet(members);
  EXPECT_TRUE(fleet.is_bad());
  EXPECT_EQ(fleet_json(fleet)["failed"][0]["failures"][0], "fake/case@2: crashed");
}

TEST(FleetTest, AnotherBuildIsNamedBeforeTheGpuIsBlamed) {
  for (const std::size_t rounds : {1U, 3U}) {
    std::vector<FleetMember> members = simulated(8, 6, rounds, 0.01, {{3, {.slower = 1.3}}}, 13);
    members[3] = of_another_build(std::move(members[3]));
    const Fleet fleet = judge_fleet(members);
    const FleetVerdict& verdict = fleet.models.at(0).verdicts.front();
    EXPECT_EQ(verdict.member, &members[3]);
    EXPECT_EQ(verdict.once, rounds == 1);
    const std::string cause = slow_gpu_cause(fleet.models[0], verdict);
    EXPECT_TRUE(cause.starts_with("another build of mprof, 0.0.9 (fedcba9)")) << cause;
    if (verdict.once) {
      EXPECT_NE(what_tells(verdict).find("with the fleet's build and"), std::string::npos);
    }
    EXPECT_EQ(verdict.slow_times.size(), 6U) << "in which times is said, of one that was once slow too";
  }
}

}  // namespace
}  // namespace mprof
