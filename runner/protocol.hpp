// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"

/// What coordinator and worker say to each other: one Job on the worker's standard input, then Messages, one
/// JSON object a line, on its standard output. A worker that takes turns waits for a line after each `begin`
/// and each `sample`. A worker that is challenged is given Challenges, one at a time, and gives the bits of
/// outputs behind the Message that announces them.
namespace mprof {

/// s, from the start of a worker to its first message: for what no case is to blame for, such as libraries
/// that load and a driver that wakes up.
inline constexpr double worker_start_limit = 120;

/// - `survey`: fingerprint devices and measure their ceilings.
/// - `measure`: run one variant's cases for one pass.
/// - `describe`: load the plan's one source, and say what it declares. A family declares the ops of the
///   problems of the cases, or of its default problems without cases.
/// - `challenge`: run one case on inputs that are chosen when its variant has long been loaded, and give the
///   outputs' bits to a coordinator that knows what is right by itself.
/// - `sample_gpu`: sample the GPU that the worker sees until its input ends, `seconds` apart, into
/// `trace_file`.
enum class JobKind { survey, measure, describe, challenge, sample_gpu };

/// One execution on inputs drawn by a seed that nobody could know before.
struct Challenge {
  std::uint64_t seed = 0;
};

struct Job {
  JobKind kind = JobKind::measure;
  std::vector<std::string> devices{};   ///< survey: the devices to look at
  std::vector<std::string> variants{};  ///< survey: those whose libraries are asked for their versions
  double seconds = 0;                   ///< survey: how long the ceilings of each may take
  Pass pass = Pass::timing;
  Plan plan{};
  std::vector<CaseKey> cases{};  ///< in the order to run
  /// What an earlier round or the timing pass verified of each case, in their order; empty: there was none.
  std::vector<std::vector<Verification>> verified{};
  /// What an earlier pass or round chose in each case, in their order.
  std::vector<Choices> choices{};
  std::string trace_file{};  ///< of the trace pass
  std::uint64_t seed = 0;    ///< of what is drawn at random in this job
  std::string token{};       ///< what each answer must name: the worker keeps it from what it runs
  /// Started through another program, such as compute-sanitizer: the worker's parent is not the coordinator.
  bool through_tool = false;
  /// Samples that the host alone disturbed are not taken again (HostRetries), and where a device's own clock
  /// times the ops the host's times do not ask for more of them.
  bool takes_busy_host = false;
  /// Another worker measures the same cases, and only one of the two works at a time. Samples that something
  /// disturbed are not taken again, since it disturbed both.
  bool takes_turns = false;
};

/// What the coordinator says to a worker that takes turns: to go on, and after a sample to take another one
/// or none.
inline constexpr std::string_view go_on = "go on", no_more_samples = "no more";

/// `surveyed`, `described`: the answers to a survey and to the question of what a source declares. `begin`
/// and `end`: around each case. `sample`: a case goes on. `ready`: a challenge may come. `output`: so many
/// elements of an op's output follow, as they lie in memory. `answered`: all outputs of a challenge are
/// there. `sampled`: the samples of a GPU are in their file, or a refusal says why not. Before that
/// `ready` says that they are being taken.
enum class MessageKind { surveyed, begin, sample, end, described, ready, output, answered, sampled };

struct Message {
  MessageKind kind = MessageKind::begin;
  std::string token{};  ///< of the job that it answers; the channel writes it
  std::string case_id{};
  std::uint32_t samples = 0;
  std::optional<Ending> ending{};  ///< of a sample: the rule by which there are enough
  std::optional<PassResult> result{};
  std::string op{};            ///< output
  std::uint64_t elements = 0;  ///< output
  Environment environment{};
  std::vector<Ceiling> ceilings{};
  std::optional<VariantInfo> variant{};  ///< without an id
  std::optional<FamilyInfo> family{};    ///< with the ops that were asked for
  std::vector<Problem> problems{};       ///< that the family is run at by default
  std::vector<Problem> quick_problems{};
  std::string refusal{};             ///< why the source cannot be used, or the GPU not be sampled
  std::vector<std::string> notes{};  ///< sampled: sentences of what is missing
  bool takes_turns = false;          ///< surveyed: whether this build's workers can
};

/// What only the worker that it is given to can know: an answer without it was written by the code that the
/// worker runs.
[[nodiscard]] std::string random_token();

[[nodiscard]] std::string to_line(const Job& job);
[[nodiscard]] std::string to_line(const Message& message);
[[nodiscard]] std::string to_line(const Challenge& challenge);
/// Throw Error(usage) that says what is wrong with the line.
[[nodiscard]] Job parse_job(std::string_view line);
[[nodiscard]] Message parse_message(std::string_view line);
[[nodiscard]] Challenge parse_challenge(std::string_view line);

}  // namespace mprof
