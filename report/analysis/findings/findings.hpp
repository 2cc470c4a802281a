// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/run.hpp"
#include "model/sanitizer.hpp"
#include "report/analysis/judgement/estimate.hpp"

/// What a reader must know before using the numbers, as values: a struct a kind, with what it is of and what
/// shows it. report/wording/findings.cpp has the sentences.
namespace mprof {

struct CaseResult;
struct FamilyResult;

/// Problems of a family.
struct Where {
  const FamilyResult* family = nullptr;
  std::vector<Problem> problems{};
};

/// An op whose output is wrong, and what is wrong with it.
struct FailedOp {
  std::string op{};
  std::string finding{};  ///< Verification::finding
  bool operator==(const FailedOp&) const = default;
};

namespace finding {

// --- Outputs and cases. What is said of several problems is said once: these have a `where`.

struct WrongOutput {
  std::string configuration{};
  std::vector<FailedOp> ops{};
  std::string reason{};             ///< of the case, where no op is known to be wrong
  std::vector<Problem> right_at{};  ///< where the same configuration's outputs were verified
  bool operator==(const WrongOutput&) const = default;
};
struct SuspectTimes {
  std::string configuration{};
  std::string reason{};
  bool operator==(const SuspectTimes&) const = default;
};
struct MissingCase {
  std::string configuration{};
  Status status{};
  std::string reason{};
  std::string last_line{};  ///< that a program wrote before it failed; empty: none, or no program
  bool operator==(const MissingCase&) const = default;
};
/// Many of one reason.
struct SkippedAlike {
  std::string first{};  ///< a configuration
  std::size_t others = 0;
  bool of_one_variant = false;
  std::string reason{};
};
struct LostQuality {
  const QualityInfo* info = nullptr;
  const CaseResult* result = nullptr;
  double value = 0;
  double change = 0;
};

// --- The run

struct EmptyRun {};
struct UnfinishedRun {
  RunState state{};
  std::size_t open = 0;
  std::size_t cases = 0;
};
struct WithoutTiming {
  bool imported = false;
};
struct UnverifiedPrograms {
  std::vector<std::string> programs{};
  bool all = false;
};
struct PrintedNumbers {
  std::string family{};
  std::vector<std::string> labels{};
};
/// A program whose first execution took several times as long as each later one.
struct SlowFirst {
  std::string case_id{};
  double first = 0;   ///< s
  double others = 0;  ///< s, the median
};
struct ProgramNote {
  std::vector<std::string> cases{};
  Pass pass{};
  std::string note{};
};
struct MissingCeiling {
  const Ceiling* ceiling = nullptr;
};
struct SeveralGpuModels {
  std::vector<std::string> models{};
};
struct PooledGpus {
  std::size_t gpus = 0;
};
/// Cases that several GPUs of one model share.
struct DividedCases {
  std::size_t gpus = 0;
  bool within_a_problem = false;  ///< variants of one problem on several of them
};
struct LeftOut {
  const FamilyResult* family = nullptr;
};
struct SearchPoints {};
struct UncommittedChanges {};

// --- Times

struct OneRound {
  double of_host_times = 0;  ///< the assumed deviation between processes
  bool beside_gpu = false;
};
/// In one round: medians that are less precise than was asked for.
struct ImpreciseMedians {
  std::size_t cases = 0;
  std::size_t measured = 0;
  double target = 0;  ///< relative half widths
  double widest = 0;
  std::string widest_case{};
};
/// How far the next run's times may lie from these, for the times of one clock.
struct ClockNoise {
  std::vector<double> widths{};  ///< relative half widths; empty: no such times
  double widest = 0;
  std::string widest_case{};
};
struct NoiseBetweenRuns {
  ClockNoise device{};
  ClockNoise host{};
};

/// How far a case was disturbed.
enum class DisturbedPart { all, host_alone, no_more };

struct DisturbedCase {
  std::string configuration{};
  DisturbedPart part{};
  Disturbances by{};
  std::uint32_t retries = 0;
  bool operator==(const DisturbedCase&) const = default;
};
/// Many of them, which differ by a little more or less.
struct DisturbedCases {
  struct Cause {
    std::string cause{};
    std::size_t cases = 0;
  };
  DisturbedPart part{};
  std::size_t cases = 0;
  std::size_t timed = 0;
  std::vector<Cause> causes{};  ///< the most frequent first
};
struct BusyTraces {
  std::size_t busy = 0;
  std::size_t traced = 0;
};
struct SlowerThanBaseline {
  struct Variant {
    std::string id{};
    std::vector<Problem> problems{};
  };
  const FamilyResult* family = nullptr;
  std::string op{};
  std::vector<Variant> variants{};
};
struct FlawedOpTimes {
  const FamilyResult* family = nullptr;
  OpTimeFlaw flaw{};
  std::vector<std::string> variants{};
};
struct ChanceVerdicts {
  std::size_t comparisons = 0;
  std::size_t told = 0;
  std::size_t by_chance = 0;
};

// --- The samples of a round, in the order in which they were taken

/// A time that was sampled, and whose it is.
struct SampledTime {
  const FamilyResult* family = nullptr;
  const CaseResult* result = nullptr;
  const Measurement* row = nullptr;
};
enum class Trait { step, likeness, far_out };
/// So many samples far out are worth a word; fewer are what any machine shows.
inline constexpr double many_far_out = 0.05;
/// The median of fewer samples is their mean.
inline constexpr std::size_t fewest_for_a_median = 3;

struct UnlikeSamples {
  Trait trait{};
  std::size_t count = 0;
  std::size_t able = 0;  ///< times that have samples enough to show it, or that do
  double most = 0;       ///< the largest step, correlation or share of samples
  SampledTime where{};   ///< of that
};
/// Several traits at once.
struct UnlikeSamplesOfAll {
  std::vector<UnlikeSamples> traits{};
};
struct ShortRounds {
  std::size_t few = 0;
  std::size_t in_rounds = 0;
};

// --- compute-sanitizer

struct Sanitized {
  const FamilyResult* family = nullptr;
  const SanitizerResult* result = nullptr;
};
struct SanitizerCameToNothing {
  std::vector<const SanitizerResult*> results;  ///< of one reason
};

}  // namespace finding

using Observation =
    std::variant<finding::WrongOutput, finding::SuspectTimes, finding::MissingCase, finding::SkippedAlike,
                 finding::LostQuality, finding::EmptyRun, finding::UnfinishedRun, finding::WithoutTiming,
                 finding::UnverifiedPrograms, finding::PrintedNumbers, finding::SlowFirst,
                 finding::ProgramNote, finding::MissingCeiling, finding::SeveralGpuModels,
                 finding::PooledGpus, finding::DividedCases, finding::LeftOut, finding::SearchPoints,
                 finding::UncommittedChanges, finding::OneRound, finding::ImpreciseMedians,
                 finding::NoiseBetweenRuns, finding::DisturbedCase, finding::DisturbedCases,
                 finding::BusyTraces, finding::SlowerThanBaseline, finding::FlawedOpTimes,
                 finding::ChanceVerdicts, finding::UnlikeSamples, finding::UnlikeSamplesOfAll,
                 finding::ShortRounds, finding::Sanitized, finding::SanitizerCameToNothing>;

enum class Severity { wrong, broken, incomplete, caution };

[[nodiscard]] std::string_view to_string(Severity severity);

struct Finding {
  Severity severity = Severity::caution;
  Observation what{};
  Where where{};                   ///< the cases that say so
  bool tabled = false;             ///< the tables of results show it too
  std::vector<Finding> details{};  ///< what it counts, one by one; none where it says all
};

/// What to know of a run and its families, the gravest first.
[[nodiscard]] std::vector<Finding> find_what_to_know(const Run& run,
                                                     const std::vector<FamilyResult>& families);

/// Its parts that have files of their own.
void add_sanitizer_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings);
void add_series_findings(const std::vector<FamilyResult>& families, std::vector<Finding>& findings);

}  // namespace mprof
