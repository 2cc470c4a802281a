// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/rounds.hpp"
#include "report/wording/glossary.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/why.hpp"
#include "tests/report/sample_runs.hpp"

namespace mprof {
namespace {

std::vector<std::string> terms_of(const mprof::Run& run) {
  std::vector<std::string> terms;
  for (const Term& term : glossary_of(analyse(run))) {
    EXPECT_FALSE(term.meaning.empty()) << term.term;
    terms.push_back(term.term);
  }
  return terms;
}

bool holds(const std::vector<std::string>& terms, const char* term) {
  return std::ranges::find(terms, term) != terms.end();
}

/// A GPU's run whose counters were read.
mprof::Run counted() {
  mprof::Run run = samples::gpu();
  for (Case& c : run.cases) samples::pass_of(c, Pass::counters).status = Status::ok;
  return run;
}

TEST(Glossary, ExplainsHardwareOnlyWhereARunHasSome) {
  const std::vector<std::string> on_cpu = terms_of(samples::healthy()), on_gpu = terms_of(counted());
  for (const char* term : {"Stall", "Warp instruction", "Traced", "Up to"}) {
    EXPECT_FALSE(holds(on_cpu, term)) << term;
    EXPECT_TRUE(holds(on_gpu, term)) << term;
  }
  EXPECT_TRUE(holds(on_cpu, "Op, total"));
  EXPECT_FALSE(holds(on_cpu, "Right"));
}

/// How the glossary explains ± where a run has one round, which says nothing of the next process.
std::string meaning_of_one_round(mprof::Run run) {
  for (Case& c : run.cases) samples::timing(c).rounds.clear();
  for (const Term& term : glossary_of(analyse(run))) {
    if (term.meaning.find("one round only") != std::string::npos) return term.meaning;
  }
  return {};
}

/// The same as the intervals assume, whatever numbers those are.
TEST(Glossary, SaysWhatIntervalsOfOneRoundAssume) {
  for (const bool on_gpu : {false, true}) {
    const std::string meaning = meaning_of_one_round(on_gpu ? samples::gpu() : samples::healthy());
    const auto has = [&](ClockSource clock, const char* what) {
      const double percent = 100 * assumed_deviation(clock, on_gpu);
      return meaning.find(fmt::format("{:g} % of {} times", percent, what)) != std::string::npos;
    };
    EXPECT_TRUE(has(ClockSource::host, "host")) << meaning;
    EXPECT_EQ(has(ClockSource::device, "device"), on_gpu) << meaning;
  }
  EXPECT_NE(assumed_deviation(ClockSource::host, true), assumed_deviation(ClockSource::host, false));
}

TEST(Glossary, HasNoCountersWithoutACountersPass) {
  mprof::Run run = counted();
  for (Case& c : run.cases)
    std::erase_if(c.passes, [](const PassResult& pass) { return pass.pass == Pass::counters; });
  EXPECT_FALSE(holds(terms_of(run), "Stall"));
  EXPECT_TRUE(holds(terms_of(run), "Traced"));
}

TEST(Glossary, LeavesOutWhatIsDoneToVariantsAlone) {
  mprof::Run run = samples::healthy();
  for (VariantInfo& info : run.variants) info.subject = Subject::program;
  const std::vector<std::string> of_programs = terms_of(run);
  for (VariantInfo& info : run.variants) info.subject = Subject::import;
  const std::vector<std::string> of_imports = terms_of(run);
  for (const char* term : {"Op, total", "Of possible", "Verified", "Sweep", "Ended by", "Modelled"}) {
    EXPECT_FALSE(holds(of_programs, term)) << term;
    EXPECT_FALSE(holds(of_imports, term)) << term;
  }
  for (const char* term : {"Time, ±", "Scaling", "Speed-up", "Faster, slower, same", "Right"}) {
    EXPECT_TRUE(holds(of_programs, term)) << term;
    EXPECT_FALSE(holds(of_imports, term)) << term;
  }
}

TEST(Wording, NamesACauseOnceWithoutHowMuch) {
  EXPECT_EQ(causes_text({.by = {{"another process used the GPU", "pid 4242 (2.1 GiB)"},
                                {"another process used the GPU", "pid 7"},
                                {"the GPU throttled", ""}},
                         .rounds = 1,
                         .of_rounds = 3}),
            "another process used the GPU and the GPU throttled (in 1 of 3 rounds)");
  EXPECT_EQ(
      causes_text({.by = {{"the GPU throttled", "around 4 of 9 samples"}}, .rounds = 3, .of_rounds = 3}),
      "the GPU throttled");
  EXPECT_EQ(causes_text({}), "");
}

TEST(Wording, HasWordsForEachReason) {
  for (int i = 0; i <= static_cast<int>(Because::records_lacking); ++i) {
    const auto because = static_cast<Because>(i);
    const std::string text = say({because, {"A", "B"}, {1, 2, 3, 4}, {Because::not_run, Because::unchanged}});
    EXPECT_EQ(text.empty(), because == Because::nothing) << i;
    EXPECT_EQ(text.find_first_of("{}"), std::string::npos) << text;
  }
}

TEST(Wording, CallsTheSidesOfAReasonAsItIsTold) {
  const Why disturbed(Because::second_disturbed, {"the GPU throttled"}, {1, 3});
  EXPECT_EQ(say(disturbed), "the time after was disturbed: the GPU throttled (in 1 of 3 rounds)");
  EXPECT_EQ(say(disturbed, of_runs), "B was disturbed: the GPU throttled (in 1 of 3 rounds)");
  EXPECT_EQ(say({Because::default_not_verified, {}, {}, {disturbed}}, of_points),
            "the default has no verified time: the best was disturbed: the GPU throttled (in 1 of 3 rounds)");
}

TEST(Wording, RoundsUpWhatIsExcluded) {
  EXPECT_EQ(excluded_text(0.01501), "1.6\u00a0%");
  EXPECT_EQ(excluded_text(0.015), "1.5\u00a0%");
  EXPECT_EQ(excluded_text(0.0042), "0.42\u00a0%");
  EXPECT_EQ(excluded_text(0.241), "25\u00a0%");
  EXPECT_EQ(excluded_text(3.11), "4.2×");
}

TEST(Wording, OfAVerdictSaysWhatTheDataExcludeOrWhatItHoldsInSpiteOf) {
  SpeedUp open;
  EXPECT_EQ(verdict_text(open), "inconclusive");
  EXPECT_EQ(no_change_text(open), "");
  open.no_change_above = 0.24;
  EXPECT_EQ(verdict_text(open), "inconclusive, ≤ 24\u00a0%");
  EXPECT_EQ(no_change_text(open), "no change above 24\u00a0%");
  SpeedUp slower{.factor = 0.25, .interval = Interval{0.2, 0.5}};
  slower.verdict = Verdict::slower;
  EXPECT_EQ(despite_text(slower), "");
  slower.disturbed = {"other processes used the CPUs", "a hypervisor took CPU time"};
  EXPECT_EQ(despite_text(slower),
            "at least 2.00× as long, although other processes used the CPUs and a hypervisor took CPU time");
  SpeedUp faster{.factor = 102, .interval = Interval{34, 102}};
  faster.verdict = Verdict::faster;
  faster.disturbed = {"other processes used the CPUs"};
  EXPECT_EQ(despite_text(faster), "at least 34.0× as fast, although other processes used the CPUs");
  faster.verdict = Verdict::inconclusive;
  EXPECT_EQ(despite_text(faster), "");
}

TEST(Wording, LeavesNothingOfARecordThatDisturbsALine) {
  EXPECT_EQ(say(said("no\nroom")), "no room");
}

}  // namespace
}  // namespace mprof
