// SPDX-License-Identifier: MIT
#include "report/wording/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/trace/sqlite.hpp"
#include "report/analysis/ranks/world.hpp"
#include "report/materials/rank_files.hpp"
#include "tests/report/fabricated_world.hpp"
#include "tests/support/fabricated_export.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr double ms = 1e6;  // ns

/// Each rank by a clock of its own.
std::vector<RankSummary> summaries_of(const std::vector<trace::Trace>& traces) {
  std::vector<RankSummary> ranks;
  for (const trace::Trace& trace : traces) {
    ranks.push_back(summary_of_rank(trace, 0, trace.cases.front().process));
    ranks.back().name = fmt::format("rank{}.sqlite", ranks.size() - 1);
    ranks.back().clock = ranks.back().name;
  }
  sort_ranks(ranks);
  return ranks;
}

constexpr std::int64_t bare_step = 10'000'000;  // ns

/// A rank with nothing but steps of 10 ms and one exposed operation in each.
RankSummary bare_rank(std::uint32_t rank, trace::CollectiveKind kind, std::uint32_t group_size,
                      const trace::Interval& within_step) {
  constexpr std::int64_t steps = 30;
  RankSummary summary{.name = fmt::format("rank{}.json", rank), .clock = "host", .rank = rank};
  summary.step = "step #";
  summary.groups = {"group"};
  for (std::int64_t start = 0; start < steps * bare_step; start += bare_step) {
    RankStep step{.time = {start, start + bare_step}};
    step.parts.at(static_cast<std::size_t>(RankActivity::communicating)) = within_step.length();
    step.parts.at(static_cast<std::size_t>(RankActivity::computing)) = bare_step - within_step.length();
    summary.steps.push_back(step);
    const trace::Interval time{start + within_step.start, start + within_step.end};
    summary.add({.time = time, .group_size = group_size, .kind = kind}, std::vector{time});
  }
  return summary;
}

/// With plain spaces.
std::vector<std::string> plain_sentences(const World& world) {
  std::vector<std::string> sentences = rank_sentences(world);
  constexpr std::string_view unbroken = "\u00a0";
  for (std::string& sentence : sentences) {
    for (std::size_t at = 0; (at = sentence.find(unbroken)) != std::string::npos;)
      sentence.replace(at, unbroken.size(), " ");
  }
  return sentences;
}

template <class T>
testing::AssertionResult is_near(T value, double expected, double share) {
  if (std::abs(static_cast<double>(value) - expected) <= share * std::abs(expected))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " is not within " << share << " of " << expected;
}

TEST(Ranks, ASummaryKeepsWhatARankDoesInEachStep) {
  const auto ranks = summaries_of(fabricate({.ranks = 2, .steps = 10, .jitter = 0}));
  const RankSummary& rank = ranks.front();
  EXPECT_EQ(rank.rank, 0U);
  EXPECT_EQ(rank.world_size, 2U);
  EXPECT_EQ(rank.step, "step #");
  ASSERT_EQ(rank.steps.size(), 10U);
  const RankStep& step = rank.steps.at(5);
  EXPECT_TRUE(is_near(step.of(RankActivity::computing), 14 * ms, 1e-6));
  EXPECT_TRUE(is_near(step.of(RankActivity::communicating), 0.5 * ms, 1e-6));
  EXPECT_TRUE(is_near(step.communication, 2 * ms, 1e-6));
  EXPECT_EQ(step.of(RankActivity::idle), 0);
  EXPECT_EQ(step.launches, 7U);
  EXPECT_EQ(rank.collectives.size(), 40U);
  EXPECT_EQ(rank.collectives.front().bytes, 25'000'000U);
}

TEST(Ranks, ThePartsOfEachStepAddUp) {
  const auto ranks = summaries_of(fabricate({.ranks = 4, .steps = 12, .jitter = 0.05}));
  for (const RankSummary& rank : ranks) {
    for (const RankStep& step : rank.steps) {
      EXPECT_EQ(std::accumulate(step.parts.begin(), step.parts.end(), std::int64_t{0}), step.time.length());
      EXPECT_EQ(std::accumulate(step.idle.begin(), step.idle.end(), std::int64_t{0}),
                step.of(RankActivity::idle));
    }
  }
}

TEST(Ranks, ClocksAreLaidOnEachOtherWithTheirDrift) {
  FabricatedWorld fabricated{.ranks = 8, .steps = 60};
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.clock_offset = 3.5 * static_cast<double>(rank * rank),
                      .clock_drift = 20e-6 * static_cast<double>(rank)};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  EXPECT_EQ(world.clocks.size(), 8U);
  EXPECT_LT(world.clocks.rare_distance(), 1000);
  EXPECT_TRUE(is_near(world.clocks.largest_drift(), 140e-6, 0.02));
  // A moment of rank 5 by its own clock, and by the common one of rank 0.
  const double own = 1e9 * (0.3 * (1 + 100e-6) + 3.5 * 25);
  EXPECT_NEAR(world.clocks.common(5, std::llround(own)), 0.3e9, 2000);
}

TEST(Ranks, ExposedCommunicationIsWaitingAndTransfer) {
  FabricatedWorld fabricated{.ranks = 4, .steps = 30, .jitter = 0};
  fabricated.nature = [](std::size_t rank) { return RankNature{.slower = rank == 2 ? 1.1 : 1.0}; };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.steps, 30U);
  // Forward and backward take 13 ms, and 1.3 ms more on rank 2; then 0.5 ms are transferred.
  const RankCell& other = world.cell(0, 10);
  EXPECT_TRUE(is_near(other.exposed, 1.8 * ms, 0.06));
  EXPECT_TRUE(is_near(other.exposed - other.waiting, 0.5 * ms, 0.02));
  const RankCell& late = world.cell(2, 10);
  EXPECT_TRUE(is_near(late.exposed, 0.5 * ms, 0.02));
  EXPECT_LT(late.waiting, 0.01 * ms);
}

TEST(Ranks, ASlowerGpuIsNamedWithItsFactor) {
  FabricatedWorld fabricated;
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.slower = rank == 5 ? 1.12 : 1.0, .clock_offset = 0.01 * static_cast<double>(rank)};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  const LateRank& late = world.late.front();
  EXPECT_EQ(world.label(late.rank), "5");
  EXPECT_GT(late.last, late.of * 9 / 10);
  // 13 ms by 12 %, less what jitter lets the others wait for anyway.
  EXPECT_TRUE(is_near(late.cost, 1.56 * ms, 0.1));
  EXPECT_EQ(late.cause.what, LateCause::What::all_kernels);
  EXPECT_TRUE(is_near(late.cause.factor, 1.12, 0.01));
  EXPECT_FALSE(late.since.has_value());
}

TEST(Ranks, AKernelThatTakesLongerOnOneRankIsNamed) {
  FabricatedWorld fabricated;
  fabricated.nature = [](std::size_t rank) { return RankNature{.slower_attention = rank == 1 ? 2.0 : 1.0}; };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  EXPECT_EQ(world.label(world.late.front().rank), "1");
  EXPECT_EQ(world.late.front().cause.what, LateCause::What::some_kernel);
  EXPECT_EQ(world.late.front().cause.kernel, "attention(float*)");
  EXPECT_TRUE(is_near(world.late.front().cause.factor, 2, 0.02));
}

TEST(Ranks, AGpuThatAnotherProcessSharesIsToldByItsSingleLaunches) {
  FabricatedWorld fabricated;
  fabricated.nature = [](std::size_t rank) { return RankNature{.interrupted = rank == 6 ? 1.5e-3 : 0}; };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  EXPECT_EQ(world.label(world.late.front().rank), "6");
  EXPECT_EQ(world.late.front().cause.what, LateCause::What::some_launches);
}

TEST(Ranks, ARankWhoseHostIsSlowIsNamedWithTheStepSinceWhichItIs) {
  FabricatedWorld fabricated{.steps = 80};
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.host_delay = rank == 3 ? 1e-3 : 0, .since = 30};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  const LateRank& late = world.late.front();
  EXPECT_EQ(world.label(late.rank), "3");
  EXPECT_EQ(late.cause.what, LateCause::What::idle);
  EXPECT_EQ(late.cause.part, BudgetPart::idle_host);
  ASSERT_TRUE(late.since.has_value());
  EXPECT_THAT(*late.since, AllOf(Ge(28U), Le(32U)));
  EXPECT_EQ(late.cause.place, "loader");
  EXPECT_FALSE(late.cause.place_is_line);
  EXPECT_THAT(rank_sentences(world), Contains(HasSubstr("runs code of its own, in the range loader.")));
}

TEST(Ranks, TheLineOfTheHostIsNamedWhereTheTraceHasStacks) {
  FabricatedWorld fabricated{.ranks = 4};
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.host_delay = rank == 3 ? 2e-3 : 0.1e-3, .with_stack = true};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  EXPECT_EQ(world.late.front().cause.place, "train.py(42): load");
  EXPECT_TRUE(world.late.front().cause.place_is_line);
  EXPECT_TRUE(is_near(world.late.front().cause.more, 1.9 * ms, 0.03));
  EXPECT_THAT(rank_sentences(world), Contains(HasSubstr("runs code of its own, in train.py(42): load.")));
}

TEST(Ranks, ALowerClockIsNamedWhereItExplainsSlowerKernels) {
  FabricatedWorld fabricated;
  fabricated.nature = [](std::size_t rank) { return RankNature{.slower = rank == 5 ? 1.12 : 1.0}; };
  auto ranks = summaries_of(fabricate(fabricated));
  for (const double own : {1.9e9, 1.7e9}) {
    for (RankSummary& rank : ranks) rank.sm_clock = rank.rank == 5 ? own : 1.92e9;
    const World world = world_of(ranks);
    ASSERT_EQ(world.late.size(), 1U);
    const auto clock = HasSubstr("its GPU ran at 1.700 GHz, the others at 1.920 GHz");
    if (own < 1.8e9) {
      EXPECT_THAT(plain_sentences(world), Contains(clock));
    } else {
      EXPECT_EQ(world.late.front().cause.sm_clock, 0);
    }
  }
}

TEST(Ranks, JitterAloneMakesNoRankLate) {
  for (const std::size_t count : {2U, 8U, 64U}) {
    const auto ranks = summaries_of(fabricate({.ranks = count, .steps = 60, .jitter = 0.02}));
    const World world = world_of(ranks);
    EXPECT_TRUE(world.late.empty()) << count;
    EXPECT_GT(world.waiting_cost, 0) << count;
  }
}

TEST(Ranks, ATraceThatBeganLaterIsMatchedByWhatItHas) {
  FabricatedWorld fabricated{.ranks = 4, .steps = 40, .jitter = 0.01};
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.clock_offset = 2.0 * static_cast<double>(rank), .skipped = rank == 2 ? 5U : 0U};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  EXPECT_EQ(world.steps, 35U);
  EXPECT_LT(world.clocks.rare_distance(), 1000);
  EXPECT_EQ(world.first.at(2), 0);
  EXPECT_EQ(world.first.at(0), 5);
}

TEST(Ranks, TwoGroupsAtOnceAreTwoGroupsByNameAndByTime) {
  for (const bool named : {true, false}) {
    FabricatedWorld fabricated{.ranks = 8, .steps = 30, .jitter = 0.02, .groups = 2, .named_groups = named};
    fabricated.nature = [](std::size_t rank) {
      return RankNature{.slower = rank >= 4 ? 1.3 : 1.0, .clock_offset = 0.5 * static_cast<double>(rank)};
    };
    const auto ranks = summaries_of(fabricate(fabricated));
    const World world = world_of(ranks);
    ASSERT_EQ(world.meetings.groups.size(), 2U) << named;
    EXPECT_THAT(world.meetings.groups.at(0).ranks, ElementsAre(0, 1, 2, 3)) << named;
    EXPECT_THAT(world.meetings.groups.at(1).ranks, ElementsAre(4, 5, 6, 7)) << named;
    EXPECT_TRUE(world.late.empty()) << named;
  }
}

TEST(Ranks, ALostTraceIsCounted) {
  auto traces = fabricate({.ranks = 4, .steps = 12});
  traces.erase(traces.begin() + 1);
  const auto ranks = summaries_of(traces);
  const World world = world_of(ranks);
  ASSERT_EQ(world.meetings.groups.size(), 1U);
  EXPECT_EQ(world.meetings.groups.front().size, 4U);
  EXPECT_EQ(world.meetings.groups.front().ranks.size(), 3U);
}

TEST(Ranks, TheBusBandwidthCountsWhatEachLinkCarries) {
  const auto ranks = summaries_of(fabricate({.ranks = 4, .steps = 12}));
  const World world = world_of(ranks);
  ASSERT_EQ(world.rates.size(), 1U);
  // 25 MB, of which each link of a ring of four carries 2 * 3/4, in 0.5 ms.
  EXPECT_TRUE(is_near(world.rates.front().rate.value(), 75e9, 0.02));
  EXPECT_EQ(world.rates.front().count, 48U);
}

TEST(Ranks, TheCriticalPathFollowsTheLateRank) {
  FabricatedWorld fabricated{.ranks = 4, .steps = 30, .jitter = 0};
  fabricated.nature = [](std::size_t rank) { return RankNature{.slower = rank == 2 ? 1.2 : 1.0}; };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  // Of 17.3 ms rank 2 computes 16.8, of which 1.2 are the optimizer that ends the step, and 0.5 are
  // transferred.
  EXPECT_TRUE(is_near(world.path.by_rank.at(2), 16.8 / 17.3, 0.01));
  EXPECT_TRUE(
      is_near(world.path.parts.at(static_cast<std::size_t>(RankActivity::communicating)), 0.5 / 17.3, 0.02));
}

TEST(Ranks, StagesOfAPipelineAreNotLate) {
  constexpr std::uint32_t stages = 4;
  std::vector<RankSummary> ranks;
  for (std::uint32_t r = 0; r < stages; ++r)
    ranks.push_back(
        bare_rank(r, trace::CollectiveKind::send_receive, stages, {2'000'000 * std::int64_t{r}, 9'000'000}));
  const World world = world_of(ranks);
  EXPECT_TRUE(world.late.empty());
  EXPECT_TRUE(world.meetings.all.empty());
  EXPECT_EQ(world.meetings.unmatched_messages, 120U);
  EXPECT_EQ(world.meetings.single, 0U);
  EXPECT_EQ(world.cell(0, 10).waiting, 0);
  EXPECT_THAT(rank_doubts(world), Contains(HasSubstr("120 Send/Recv are not matched")));
}

TEST(Ranks, MessagesBetweenTwoRanksAreMatched) {
  std::vector<RankSummary> ranks;
  for (std::uint32_t r = 0; r < 2; ++r)
    ranks.push_back(
        bare_rank(r, trace::CollectiveKind::send_receive, 2, {2'000'000 * std::int64_t{r}, 9'000'000}));
  const World world = world_of(ranks);
  EXPECT_EQ(world.meetings.all.size(), 30U);
  EXPECT_EQ(world.meetings.unmatched_messages, 0U);
  ASSERT_EQ(world.late.size(), 1U);
  EXPECT_EQ(world.label(world.late.front().rank), "1");
}

TEST(Ranks, ARankThatIsDoneBeforeTheLastOneBeginsWaitsForNobody) {
  using enum trace::CollectiveKind;
  const std::vector<RankSummary> ranks{bare_rank(0, broadcast, 3, {0, 1'000'000}),
                                       bare_rank(1, broadcast, 3, {50'000, 1'500'000}),
                                       bare_rank(2, broadcast, 3, {5'000'000, 5'200'000})};
  const World world = world_of(ranks);
  ASSERT_EQ(world.meetings.all.size(), 30U);
  EXPECT_TRUE(world.late.empty());
  EXPECT_EQ(world.waited, 0U);
  for (std::size_t r = 0; r < ranks.size(); ++r) EXPECT_EQ(world.cell(r, 10).waiting, 0) << r;
}

TEST(Ranks, ManyCollectivesOfUnequalTracesAreMatched) {
  constexpr std::size_t of_step = 200, steps = 200;
  std::mt19937_64 random(5);
  std::uniform_int_distribution<std::int64_t> gap(25'000, 75'000);
  std::vector<std::int64_t> ends{0};
  for (std::size_t i = 0; i < of_step * steps; ++i) ends.push_back(ends.back() + gap(random));
  // Rank 0 lacks the last five steps, and rank 1 the first three, by a clock of its own.
  const auto rank_with = [&](std::uint32_t rank, std::size_t first, std::size_t last, std::int64_t offset) {
    RankSummary summary{.name = fmt::format("rank{}.json", rank), .clock = fmt::format("host{}", rank)};
    summary.rank = rank;
    summary.step = "step #";
    summary.groups = {"group"};
    for (std::size_t step = first; step < last; ++step) {
      summary.steps.push_back({.time = {ends[step * of_step] + offset, ends[(step + 1) * of_step] + offset}});
      for (std::size_t i = step * of_step + 1; i <= (step + 1) * of_step; ++i)
        summary.collectives.push_back({.time = {ends[i] + offset - 10'000, ends[i] + offset},
                                       .group_size = 2,
                                       .kind = trace::CollectiveKind::all_reduce});
    }
    return summary;
  };
  const std::vector<RankSummary> ranks{rank_with(0, 0, steps - 5, 0), rank_with(1, 3, steps, 7'000'000'000)};
  const World world = world_of(ranks);
  EXPECT_EQ(world.steps, steps - 8);
  EXPECT_THAT(world.first, ElementsAre(3, 0));
  EXPECT_EQ(world.meetings.all.size(), (steps - 8) * of_step);
  EXPECT_LT(world.clocks.rare_distance(), 1000);
}

TEST(Ranks, ATraceWithFewStepsIsLeftOutAndNamed) {
  FabricatedWorld fabricated{.ranks = 4, .steps = 20};
  fabricated.nature = [](std::size_t rank) { return RankNature{.skipped = rank == 2 ? 15U : 0U}; };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  EXPECT_EQ(world.steps, 20U);
  EXPECT_THAT(world.is_left_out, ElementsAre(false, false, true, false));
  EXPECT_EQ(world.step_of(2, 17), nullptr);
  EXPECT_EQ(world.cell(2, 17).length, 0);
  EXPECT_TRUE(is_near(world.step, 14.5 * ms, 0.02));
  EXPECT_TRUE(world.late.empty());
  EXPECT_THAT(rank_doubts(world), Contains(HasSubstr("Rank 2 is left out of all steps")));
}

TEST(Ranks, UnnamedCommunicatorsAreADoubt) {
  for (const bool named : {true, false}) {
    const auto ranks = summaries_of(fabricate({.ranks = 2, .steps = 12, .named_groups = named}));
    const auto doubt = Contains(HasSubstr("do not name communicators"));
    if (named) {
      EXPECT_THAT(rank_doubts(world_of(ranks)), testing::Not(doubt));
    } else {
      EXPECT_THAT(rank_doubts(world_of(ranks)), doubt);
    }
  }
}

TEST(Ranks, ExportsWithGpuMetricsHaveTheClockOfEachGpu) {
  const test::TemporaryDirectory folder;
  const auto file = folder.path() / "rank0.sqlite";
  test::write_export(file, {.version = "3.25.0"});
  const auto read = [&] {
    return read_ranks({file.string()}, [](const std::filesystem::path&) { return trace::Trace{}; });
  };
  for (const RankSummary& rank : read()) EXPECT_FALSE(rank.sm_clock.has_value());
  {
    sqlite::Database database(file, sqlite::Mode::write);
    database.execute(
        "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)");
    database.execute(
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'GH100', 4, 'SMs Active [Throughput %]'), (256, "
        "1, "
        "'GH100', 5, 'GPC Clock Frequency [MHz]')");
    database.execute("CREATE TABLE GPU_METRICS (rawTimestamp, timestamp, typeId, metricId, value, quality)");
    database.execute(
        "INSERT INTO GPU_METRICS VALUES (0, 1050, 256, 4, 10, 1), (0, 1060, 256, 5, 1400, 1), (0, 1150, 256, "
        "5, "
        "1600, 1)");
  }
  std::size_t known = 0;
  for (const RankSummary& rank : read()) {
    EXPECT_EQ(rank.sm_clock.has_value(), rank.device == 0U);
    if (!rank.sm_clock) continue;
    ++known;
    EXPECT_DOUBLE_EQ(*rank.sm_clock, 1.5e9);
  }
  EXPECT_GT(known, 0U);
}

/// What a rank does in each step of 10 ms in one group.
struct GroupWork {
  std::string group{};
  std::uint32_t size = 2;
  trace::CollectiveKind kind = trace::CollectiveKind::all_reduce;
  std::vector<double> places{};  ///< from 0 to 1 in the step
  std::uint64_t bytes = 0;
};

std::vector<double> evenly(std::size_t count) {
  std::vector<double> places;
  for (std::size_t i = 0; i < count; ++i)
    places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(count));
  return places;
}

template <class WorkOf>
std::vector<RankSummary> ranks_with(std::uint32_t count, const WorkOf& work_of) {
  constexpr std::int64_t steps = 12;
  std::vector<RankSummary> ranks;
  for (std::uint32_t r = 0; r < count; ++r) {
    RankSummary rank{.name = fmt::format("rank{}", r), .clock = "host", .rank = r, .world_size = count};
    rank.step = "step #";
    const std::vector<GroupWork> works = work_of(r);
    for (const GroupWork& work : works) {
      if (std::ranges::find(rank.groups, work.group) == rank.groups.end()) rank.groups.push_back(work.group);
    }
    for (std::int64_t step = 0; step < steps; ++step) {
      rank.steps.push_back({.time = {step * bare_step, (step + 1) * bare_step}});
      std::vector<RankCollective> all;
      for (const GroupWork& work : works) {
        const auto group = std::ranges::find(rank.groups, work.group) - rank.groups.begin();
        for (const double place : work.places) {
          const std::int64_t start = step * bare_step + std::llround(place * bare_step);
          all.push_back({.time = {start, start + 20'000},
                         .bytes = work.bytes,
                         .group_size = work.size,
                         .group = static_cast<std::uint32_t>(group),
                         .kind = work.kind});
        }
      }
      std::ranges::stable_sort(all, {}, [](const RankCollective& one) { return one.time.start; });
      for (const RankCollective& one : all) rank.add(one, {});
    }
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

std::vector<Parallelism> parallelism_told(const std::vector<RankSummary>& ranks, const std::string& prefix) {
  const World world = world_of(ranks);
  std::vector<Parallelism> all;
  for (std::size_t g = 0; g < world.uses.size(); ++g) {
    if (world.meetings.groups[g].name.starts_with(prefix)) all.push_back(world.uses[g].parallelism);
  }
  return all;
}

TEST(Parallelism, EightRanksAreTwoByTwoByTwo) {
  using enum trace::CollectiveKind;
  const auto ranks = ranks_with(8, [](std::uint32_t rank) {
    return std::vector<GroupWork>{
        {fmt::format("tensor {}", rank / 2), 2, all_reduce, evenly(16), 8'000'000},
        {fmt::format("data {}", rank / 4 * 2 + rank % 2), 2, all_reduce, {0.7, 0.8, 0.95}, 25'000'000},
        {fmt::format("pipeline {}", rank % 4), 2, send_receive, {0.1, 0.3, 0.6, 0.9}, 4'000'000}};
  });
  EXPECT_THAT(parallelism_told(ranks, "tensor"),
              testing::AllOf(testing::SizeIs(4), testing::Each(Parallelism::tensor)));
  EXPECT_THAT(parallelism_told(ranks, "data"),
              testing::AllOf(testing::SizeIs(4), testing::Each(Parallelism::data)));
  EXPECT_THAT(parallelism_told(ranks, "pipeline"),
              testing::AllOf(testing::SizeIs(4), testing::Each(Parallelism::pipeline)));
  const auto sentences = plain_sentences(world_of(ranks));
  EXPECT_THAT(sentences, Contains("Tensor parallelism: 4 communicators of 2 neighbouring ranks, each with 16 "
                                  "AllReduce of 7.629 MiB a step, spread over it."));
  EXPECT_THAT(sentences,
              Contains("Data parallelism: 4 communicators of 2 ranks that are 2 apart, each with 3 "
                       "AllReduce of 23.84 MiB a step, none early in it."));
  EXPECT_THAT(sentences, Contains("Pipeline parallelism: 4 communicators of 2 ranks that are 4 apart, each "
                                  "with 4 Send/Recv of 3.815 MiB a step."));
}

TEST(Parallelism, ALongPipelineWhoseMessagesCannotBeMatchedIsTold) {
  using enum trace::CollectiveKind;
  const auto ranks = ranks_with(8, [](std::uint32_t rank) {
    return std::vector<GroupWork>{
        {fmt::format("data {}", rank / 2), 2, all_reduce, {0.9}, 25'000'000},
        {fmt::format("pipeline {}", rank % 2), 4, send_receive, {0.1, 0.6}, 4'000'000}};
  });
  EXPECT_THAT(parallelism_told(ranks, "pipeline"), ElementsAre(Parallelism::pipeline, Parallelism::pipeline));
}

TEST(Parallelism, ShardedDataAndExpertsAreTold) {
  using enum trace::CollectiveKind;
  EXPECT_THAT(parallelism_told(ranks_with(4,
                                          [](std::uint32_t) {
                                            return std::vector<GroupWork>{
                                                {"world", 4, all_gather, evenly(9), 1'000'000},
                                                {"world", 4, reduce_scatter, {0.8}, 1'000'000}};
                                          }),
                               "world"),
              testing::Each(Parallelism::sharded_data));
  EXPECT_THAT(
      parallelism_told(
          ranks_with(
              4,
              [](std::uint32_t rank) {
                return std::vector<GroupWork>{{"experts", 4, all_to_all, evenly(8), 1'000'000 + 1000 * rank}};
              }),
          "experts"),
      ElementsAre(Parallelism::expert));
}

TEST(Parallelism, ASizeIsSaidWhereNearlyAllHaveIt) {
  using enum trace::CollectiveKind;
  const auto ranks = ranks_with(4, [](std::uint32_t) {
    return std::vector<GroupWork>{{"world", 4, all_reduce, {0.7}, 1'000'000},
                                  {"world", 4, all_reduce, {0.8}, 25'000'000},
                                  {"world", 4, all_reduce, {0.9}, 31'000'000}};
  });
  EXPECT_THAT(
      plain_sentences(world_of(ranks)),
      Contains("Data parallelism: one communicator of all 4 ranks, with 3 AllReduce a step, none early in "
               "it."));
}

TEST(Parallelism, WhatMayBeSeveralThingsIsNotTold) {
  using enum trace::CollectiveKind;
  const std::vector<GroupWork> unclear{{"few", 4, all_reduce, evenly(3), 1'000'000},
                                       {"gradients or tensors", 4, all_reduce, evenly(20), 1'000'000},
                                       {"ring", 4, send_receive, evenly(8), 1'000'000},
                                       {"exchange", 4, all_to_all, evenly(8), 1'000'000}};
  for (const GroupWork& work : unclear)
    EXPECT_THAT(parallelism_told(ranks_with(4, [&](std::uint32_t) { return std::vector{work}; }), work.group),
                ElementsAre(Parallelism::unknown))
        << work.group;
  // Sharded within neighbours and summed between them, or tensors and data: as many sums as scatters.
  const auto hybrid = ranks_with(4, [](std::uint32_t rank) {
    return std::vector<GroupWork>{
        {fmt::format("shards {}", rank / 2), 2, all_gather, evenly(8), 1'000'000},
        {fmt::format("shards {}", rank / 2), 2, reduce_scatter, evenly(4), 1'000'000},
        {fmt::format("sums {}", rank % 2), 2, all_reduce, evenly(4), 500'000}};
  });
  EXPECT_THAT(parallelism_told(hybrid, "shards"), testing::Each(Parallelism::unknown));
  // Parts of a sequence are put together from the first layer on.
  const auto sequence = ranks_with(4, [](std::uint32_t) {
    return std::vector<GroupWork>{{"world", 4, all_gather, evenly(8), 1'000'000},
                                  {"world", 4, reduce_scatter, evenly(8), 1'000'000}};
  });
  EXPECT_THAT(parallelism_told(sequence, "world"), testing::Each(Parallelism::unknown));
}

TEST(Ranks, BytesOfOneRankAreMultipliedByTheGroup) {
  using enum trace::CollectiveKind;
  auto ranks = ranks_with(4, [](std::uint32_t) {
    return std::vector<GroupWork>{{"world", 0, all_gather, evenly(8), 1'000'000}};
  });
  for (RankSummary& rank : ranks) {
    for (RankCollective& one : rank.collectives) one.is_of_one_rank = true;
  }
  const World world = world_of(ranks);
  ASSERT_EQ(world.rates.size(), 1U);
  EXPECT_EQ(world.rates.front().bytes, 4'000'000U);
}

TEST(Ranks, FiveHundredRanksAreToldApart) {
  FabricatedWorld fabricated{.ranks = 512, .steps = 40};
  fabricated.nature = [](std::size_t rank) {
    return RankNature{.slower = rank == 300 ? 1.1 : 1.0,
                      .clock_offset = 1e-3 * static_cast<double>(rank),
                      .clock_drift = 1e-8 * static_cast<double>(rank)};
  };
  const auto ranks = summaries_of(fabricate(fabricated));
  const World world = world_of(ranks);
  ASSERT_EQ(world.late.size(), 1U);
  EXPECT_EQ(world.label(world.late.front().rank), "300");
  EXPECT_EQ(world.late.front().cause.what, LateCause::What::all_kernels);
}

}  // namespace
}  // namespace mprof
