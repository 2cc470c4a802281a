// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/family.hpp"
#include "model/name.hpp"
#include "model/problem.hpp"
#include "model/seldom.hpp"
#include "model/statistics/variance.hpp"

/// The run record: what `mprof run` writes to run.json and cases/, and everything downstream reads. Plain
/// values, no behaviour beyond looking things up. docs/formats/run-record.md explains each field;
/// model/run.schema.json and model/case.schema.json are its JSON Schemas.
namespace mprof {

inline constexpr int run_schema_version = 2;

/// A value that could not be had, and why. Never 0, never NaN, never a dropped row.
struct Absent {
  std::string reason{};
  bool operator==(const Absent&) const = default;
};

/// Something known of the machine or the build: text, a number in its SI base unit, or absent with the
/// reason.
using Fact = std::variant<std::string, double, Absent>;
/// Facts by group ("cpu", "os", "build", "libraries", "gpu") and name.
using Environment = std::map<std::string, std::map<std::string, Fact>>;

/// Values of a variant's parameters, by name; text, since a value can be "8x4" or "tf32".
using Parameters = std::map<std::string, std::string>;

enum class Pass { timing, trace, counters, source };
/// `printed`: the program that was measured says so itself, in its output.
enum class Source { measured, modelled, printed };
enum class Direction { decreases, increases, unchanged };

/// - `ok`
/// - `wrong`: the output failed its verification
/// - `suspect`: the output is right, and something speaks against its times
/// - `skipped`: not run, on purpose or because this machine cannot
/// - `failed`: the variant said it failed
/// - `crashed`, `timeout`: its worker died or was ended
/// - `pending`: not reached (yet), the only status that --resume runs again together with `interrupted`
enum class Status { ok, wrong, suspect, skipped, failed, crashed, timeout, interrupted, pending };

/// What a case is of.
/// - `variant`: of a family, built to be measured
/// - `program`: a command line that mprof runs as it is, and watches from outside
/// - `import`: a program that another tool watched, of which mprof has only that tool's files
enum class Subject { variant, program, import };

enum class Ending { confidence, samples, seconds };  ///< which rule ended the repeats
enum class RunState { running, complete, interrupted };

/// A variant's own axis.
struct ParameterInfo {
  std::string name{};
  std::string meaning{};
  std::string default_value{};
  std::vector<std::string> values{};  ///< all allowed values, in order
  bool operator==(const ParameterInfo&) const = default;
};

/// What a variant's author says will change against its baseline, as a checkable row.
struct Expectation {
  std::string metric{};
  std::string op{};  ///< empty: the case as a whole
  Direction direction = Direction::decreases;
  std::optional<double> factor{};  ///< at least by this factor (> 1), where the author says so
  std::string because{};           ///< one sentence
  bool operator==(const Expectation&) const = default;
};

/// Everything a variant declares of itself.
struct VariantInfo {
  std::string id{};      ///< family and name: its file's path below kernels/, without extension
  std::string family{};  ///< the first part of the id
  std::string title{};
  std::string idea{};
  std::string device{};    ///< "cpu" or "cuda"
  std::string baseline{};  ///< id of the variant it says it improves on; empty: it is the baseline
  std::vector<ParameterInfo> parameters{};
  std::vector<Expectation> expectations{};
  std::vector<std::string> references{};
  std::vector<std::string> combines{};  ///< ids of the variants whose ideas it combines
  std::string library{};                ///< whose routines do the work: "cuDNN"; empty: its own code does
  std::optional<double>
      arithmetic{};  ///< share of an op's FLOPs that its algorithm needs, where less than all
  std::optional<double> special_functions{};  ///< the share of its special-function operations that its
                                              ///< algorithm needs
  std::string source_file{};                  ///< below kernels/
  std::optional<Subject> subject{};           ///< nullopt: a variant
  std::vector<std::string> command{};         ///< of a program: as it was given, its arguments with it
  [[nodiscard]] bool is_imported() const { return subject == Subject::import; }
  [[nodiscard]] bool is_program() const { return subject == Subject::program; }
  bool operator==(const VariantInfo&) const = default;
};

/// By what clock a time of the timing pass was taken, the steadier one first.
enum class ClockSource { none, device, host };

/// The clock of a GPU's multiprocessors while its times were taken. It moves in steps. NVML reports which
/// clock was set, not which clock ran: an H100 ran a step above the reported clock for a whole run.
struct SmClock {
  double step = 0;      ///< over the clock; 0: not known
  double measured = 0;  ///< Hz, by its own cycles; 0: not known
  bool operator==(const SmClock&) const = default;
};

/// A change of level within the samples of one round.
struct SeriesStep {
  std::size_t round = 0;  ///< from 0
  std::size_t at = 0;     ///< the first sample of the round behind it
  double before = 0;      ///< median of the samples since the step before it, or since the round began
  double after = 0;       ///< median of those up to the next one, or to the end of the round
  bool operator==(const SeriesStep&) const = default;
};

/// What the samples of a time show in the order in which they were taken: none of it is dropped, and no
/// interval is narrowed by it.
struct SeriesNotes {
  std::vector<SeriesStep> steps{};
  double autocorrelation = 0;  ///< of neighbours, in the round where it is the strongest; 0: nowhere strong
  std::vector<std::size_t> far_out{};  ///< places of the samples beyond the outer fences of their round
  bool operator==(const SeriesNotes&) const = default;
};

/// What derive() says of a time. It is in no file.
struct DerivedTime {
  Variance between{};  ///< from one process to the next
  Variance common{};   ///< of what all times of its clock share in a round
  SmClock sm_clock{};  ///< of a device time, or of a program's step
  Name disturbed{};    ///< what disturbed the samples that were kept
  SeriesNotes series{};
  ClockSource clock = ClockSource::none;
  bool holds_copies = false;  ///< of an op time: it holds the op's copies, as the group time shows
  /// A number of the GPU that took it, or of all together that did, the same in all runs; 0: none did, or it
  /// is not known.
  std::size_t gpu = 0;
  /// Of a step_time: the names of the ranges that make a step, or of the kernel with which it begins.
  std::vector<std::string> step{};
  bool operator==(const DerivedTime&) const = default;
};

/// One metric of a case, of one of its ops or of one kernel; or absent with the reason.
struct Measurement {
  Name metric{};  ///< a row of the catalogue, or an Nsight Compute metric name
  Name op{};      ///< empty: the whole case
  Name kernel{};  ///< empty: the whole op
  Source source = Source::measured;
  std::vector<double> samples{};  ///< SI base unit; every raw sample, in the order taken; empty when absent
  std::string absent{};           ///< the reason, when there are no samples
  std::vector<std::uint32_t> rounds{};  ///< how many of the samples each round took; empty: one took them all
  Seldom<DerivedTime> derived{};
  bool operator==(const Measurement&) const = default;
};

/// How one op's output compared with the double-precision reference.
struct Verification {
  std::string op{};
  bool passed = false;
  double relative_l2 = 0;  ///< ||out - ref|| / ||ref|| of the worst item, over its finite elements
  double max_error = 0;    ///< largest |out - ref|
  double tolerance = 0;    ///< bound on relative_l2
  std::uint64_t elements = 0;
  std::uint64_t non_finite = 0;     ///< NaN or infinite, by bit test
  std::uint64_t never_written = 0;  ///< elements that still held the poison
  /// 16 hexadecimal digits that stand for the output's bits, whatever the order of its items was; empty where
  /// not all of it was compared (docs/formats/run-record.md).
  std::string checksum{};
  std::string finding{};  ///< empty when passed; otherwise a sentence
  /// The lower number format that explains the error of each element: "fp16/tf32", "fp16/bf16" or "bf16";
  /// empty: none was found or needed.
  std::string precision{};
  std::string declared_precision{};  ///< of model/precision.hpp's `precisions`; empty: none was declared
  bool operator==(const Verification&) const = default;
};

/// When the repeats of a case end.
struct Stopping {
  std::uint32_t min_samples = 7;
  std::uint32_t max_samples = 100;
  double max_seconds = 15;  ///< s, of sampling, per case and round
  double relative_half_width =
      0.01;  ///< target: half width of the 95 % interval of the median, over the median
  bool operator==(const Stopping&) const = default;
};

/// How the repeats of a case in one process, or in all of its rounds together, did end.
struct Sampling {
  std::uint32_t warmups = 0;
  std::uint32_t samples = 0;
  Ending ended_by = Ending::samples;
  std::optional<double>
      relative_half_width{};       ///< the widest of the case's timed metrics; absent below 6 samples
  std::uint32_t retries = 0;       ///< how often all samples were thrown away and taken again
  std::string disturbance{};       ///< what still disturbed the samples that were kept; empty: nothing did
  std::string host_disturbance{};  ///< what still disturbed host times alone; empty: nothing did
  bool operator==(const Sampling&) const = default;
};

/// What was done to see that the timed executions did the work that their times are called after.
struct Scrutiny {
  std::uint32_t executions = 0;  ///< timed ones whose outputs were compared with the reference, item by item
  std::uint32_t orders = 0;      ///< that the items of the inputs came in; 1: there is only one
  std::uint32_t unseen = 0;      ///< executions on inputs drawn at random
  bool operator==(const Scrutiny&) const = default;
};

/// Where the warps of a kernel stood when its program counters were sampled: one line of its source.
struct SourceLine {
  std::string op{};
  std::string kernel{};  ///< as in measurements
  std::string file{};    ///< "kernels/family/variant.cu"; empty: of lines with few samples, or without a line
  std::uint32_t line = 0;
  std::uint64_t samples = 0;  ///< a warp at an instruction of that line
  std::map<std::string, std::uint64_t>
      stalls{};  ///< of these, by what the warp waited for: "long_scoreboard"
  bool operator==(const SourceLine&) const = default;
};

/// How a program ended.
struct ProgramOutcome {
  std::optional<std::int32_t> exit_code{};  ///< not set: it did not end by itself
  std::optional<std::int32_t> signal{};     ///< that ended it, where mprof did not
  std::string output{};                     ///< the end of what it wrote to either stream
  std::vector<std::string> notes{};         ///< sentences: what could not be seen of its processes, and why
  std::string verified_by{};  ///< how its output was verified, as in "by `./compare`"; empty: it was not
  bool operator==(const ProgramOutcome&) const = default;
};

/// What a variant chose among ways to compute the same by running them (an engine of a library, say), by what
/// for.
using Choices = std::map<std::string, std::string>;

/// What one pass of one case left.
struct PassResult {
  Pass pass = Pass::timing;
  Status status = Status::pending;
  std::string reason{};  ///< why, when not ok
  double seconds = 0;    ///< s, host time of the pass for this case, loading and verifying included
  std::optional<Sampling> sampling{};
  std::vector<Sampling>
      rounds{};  ///< of a timing pass of several rounds, each one's; `sampling` sums them up
  std::vector<Verification> verification{};
  /// Of rounds that chose otherwise "A | B".
  Choices choices{};
  std::optional<Scrutiny> scrutiny{};  ///< of a timing pass; missing in records of earlier versions
  std::vector<Measurement> measurements{};
  std::vector<SourceLine> source_lines{};   ///< of a source pass: of each kernel, the most sampled ones first
  std::optional<ProgramOutcome> outcome{};  ///< of a program; of several rounds the last one's
  bool operator==(const PassResult&) const = default;
};

/// variant x parameters x problem.
struct CaseKey {
  std::string variant{};
  Parameters parameters{};  ///< all of the variant's parameters
  Problem problem{};
  bool operator==(const CaseKey&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated comparison with 0 for a pointer
  auto operator<=>(const CaseKey&) const = default;
};

struct Case {
  std::string id{};  ///< map/tiled[width=16]@1000; parameters at their default are left out
  CaseKey key{};
  std::vector<OpInfo> ops{};  ///< of its problem, as the record's family has them
  std::vector<PassResult> passes{};
  bool operator==(const Case&) const = default;
};

/// A file of the user's that holds a variant or a family: a source that mprof compiles, a library that is
/// loaded as it is, or a suite of programs. Of a suite, `library` is the program, and the checksum covers
/// both.
struct PluginSource {
  std::string path{};     ///< absolute
  std::string variant{};  ///< the id of the variant that it holds; empty: it holds a family
  std::string family{};   ///< the id of the family that it holds; empty: it holds a variant
  /// "sha256:" and 64 hexadecimal digits, of the source, what it includes, the compiler and its options.
  std::string checksum{};
  std::string compiler{};            ///< its path and its version; empty: nothing was compiled
  std::vector<std::string> flags{};  ///< that the user gave beside mprof's own
  std::string library{};             ///< what is loaded; absolute
  bool operator==(const PluginSource&) const = default;
};

/// A variant's values of its parameters at a problem, as they were found to be the best.
struct TunedPoint {
  std::string variant{};
  Problem problem{};
  Parameters parameters{};
  bool operator==(const TunedPoint&) const = default;
};

/// Where parameters take their values from that have neither a setting nor their default.
struct Tuning {
  std::string file{};      ///< as it was named
  std::string checksum{};  ///< "sha256:" and 64 hexadecimal digits
  std::vector<TunedPoint> points{};
  bool operator==(const Tuning&) const = default;
};

/// What was asked for.
struct Plan {
  std::vector<std::string> variants{};                         ///< ids, in registry order
  std::map<std::string, std::vector<std::string>> settings{};  ///< --set
  std::optional<Tuning> tuned{};                               ///< --tuned
  std::map<std::string, std::vector<Problem>> problems{};      ///< of each family, ascending
  std::vector<Pass> passes{};
  std::vector<std::string> metrics{};  ///< what the counters pass reads of each GPU kernel
  bool quick = false;
  bool hot = false;  ///< also time each op with its data in the cache
  std::uint64_t seed = 0;
  double timeout = 0;         ///< s, per case and pass, and in each round
  Stopping stopping{};        ///< of each round
  std::uint32_t rounds = 1;   ///< fresh processes in which each case is timed, one after another
  bool fixed_rounds = false;  ///< whether no case gets more of them
  std::map<std::string, std::string> inputs{};  ///< where each input of the families is, by its name
  std::vector<PluginSource> sources{};          ///< of variants and families that are not mprof's own
  std::string ops{};      ///< of programs: a glob of the NVTX ranges that are ops; empty: the outermost
  std::string kernels{};  ///< of programs: a regular expression of the kernels that are counted; empty: all
  std::uint64_t launch_skip = 0;  ///< of programs: launches of these that go by before counting begins
  std::uint64_t max_kernels = 0;  ///< of programs: so many distinct ones are counted; 0: all
  double replay_limit = 0;  ///< s, of programs: the longest run that is followed by one that replays kernels
  std::string
      window{};  ///< of programs: the part that is traced and counted (model/trace/window.hpp); empty: all
  double sample_interval = 0;   ///< s, of programs: between two samples of the GPU in the trace pass; 0: none
  bool without_stacks = false;  ///< of programs: no call stacks are taken of launches
  bool operator==(const Plan&) const = default;
};

/// What the machine can do at best, measured at the start of the run: the denominators of throughput.
struct Ceiling {
  std::string id{};               ///< "fp32_flop_rate", "memory_bandwidth"
  std::string device{};           ///< "cpu", "cuda"
  std::optional<double> value{};  ///< FLOP/s or B/s
  std::string absent{};           ///< the reason, without a value
  std::string method{};           ///< one line; empty where the device has nothing to measure
  bool operator==(const Ceiling&) const = default;
};

/// A share of a plan's cases, for one of several processes or machines that measure it together.
struct Shard {
  std::uint32_t index = 1;  ///< from 1
  std::uint32_t count = 1;
  bool operator==(const Shard&) const = default;
};

struct Tool {
  std::string version{};
  std::string revision{};  ///< git commit; "-dirty" appended when the tree had changes; "unknown" outside git
  bool operator==(const Tool&) const = default;
};

/// What mprof itself spent on a pass, s of the clock, in all of its rounds.
struct PassTime {
  Pass pass = Pass::timing;
  std::uint32_t workers = 0;  ///< processes
  double seconds = 0;         ///< from the start of each until it was gone; holds the following three
  double starting = 0;        ///< until its first case began
  double loading = 0;         ///< of its cases, what is in no PassResult::seconds: inputs, memory, libraries
  double measuring = 0;       ///< their PassResult::seconds
  double waiting = 0;         ///< for other devices of the host, or for the turns of another build
  bool operator==(const PassTime&) const = default;
};

/// One of the runs that a run was merged from: what it had of its own.
struct RunPart {
  std::optional<Shard> shard{};
  std::vector<std::string> command_line{};
  std::uint64_t seed = 0;
  std::string started{};
  std::string finished{};
  Environment environment{};
  std::vector<Ceiling> ceilings{};
  std::vector<PassTime> spent{};
  std::vector<std::string> cases{};  ///< ids of the cases that it measured
  bool operator==(const RunPart&) const = default;
};

struct Run {
  int schema_version = run_schema_version;
  Tool tool{};
  std::vector<std::string> command_line{};
  RunState state = RunState::running;
  std::string started{};   ///< UTC, ISO 8601
  std::string finished{};  ///< UTC, ISO 8601; empty while running
  Plan plan{};
  Environment environment{};
  std::vector<Ceiling> ceilings{};
  std::vector<InputFile> inputs{};      ///< what the families read
  std::vector<FamilyInfo> families{};   ///< of the plan's variants, with the problems of their cases
  std::vector<VariantInfo> variants{};  ///< of the plan, and the baselines they name
  std::vector<Case> cases{};            ///< in plan order, whatever order they ran in
  std::optional<Shard> shard{};         ///< the cases are this share of the plan's; not set: they are all
  std::vector<RunPart> parts{};         ///< of a merged run, by shard
  /// Another run of the same stamp has the same cases, measured in turns: next to each sample of a round lies
  /// one of the other run.
  bool in_turns = false;
  std::vector<PassTime> spent{};  ///< by the order in which passes began; of a merged run, in its parts
  bool operator==(const Run&) const = default;
};

/// Names as run.json and the command line write them (model/names.cpp).
[[nodiscard]] std::string_view to_string(Pass pass);
[[nodiscard]] std::string_view to_string(Source source);
[[nodiscard]] std::string_view to_string(Direction direction);
[[nodiscard]] std::string_view to_string(Status status);
[[nodiscard]] std::string_view to_string(Ending ending);
[[nodiscard]] std::string_view to_string(RunState state);
[[nodiscard]] std::string_view to_string(Subject subject);
/// The inverse; false, and `value` untouched, when `text` names none.
bool from_string(std::string_view text, Pass& value);
bool from_string(std::string_view text, Source& value);
bool from_string(std::string_view text, Direction& value);
bool from_string(std::string_view text, Status& value);
bool from_string(std::string_view text, Ending& value);
bool from_string(std::string_view text, RunState& value);
bool from_string(std::string_view text, Subject& value);

/// variant[name=value,...]@problem, without the parameters that are at their default, and without the problem
/// in a family that has no axes.
[[nodiscard]] std::string case_id(const CaseKey& key, const VariantInfo& variant);

/// A variant at one point of its parameters.
struct VariantPoint {
  std::string variant{};  ///< its id
  Parameters parameters{};
};

/// What case_id() writes before the @, "variant" or "variant[name=value,...]"; nullopt for any other text.
[[nodiscard]] std::optional<VariantPoint> parse_variant_point(std::string_view text);

/// The first part of a variant's id.
[[nodiscard]] std::string family_of(std::string_view variant);

/// A fact by group and name; nullptr when the environment has none of them.
[[nodiscard]] const Fact* find_fact(const Environment& environment, const std::string& group,
                                    const std::string& name);
[[nodiscard]] const VariantInfo* find_variant(const Run& run, std::string_view id);
[[nodiscard]] const FamilyInfo* find_family(const Run& run, std::string_view id);
[[nodiscard]] const Case* find_case(const Run& run, const CaseKey& key);
[[nodiscard]] const PassResult* find_pass(const Case& c, Pass pass);
/// What was chosen in any of its passes, in the first of them that did: the timing pass, where there is one.
[[nodiscard]] Choices choices_of(const Case& c);
/// The measurement of (metric, op) in any pass, absent ones included; nullptr when nothing was recorded.
[[nodiscard]] const Measurement* find_measurement(const Case& c, std::string_view metric,
                                                  std::string_view op = {});

/// The case's status over its passes: the timing pass decides when there is one (it verifies), unless that is
/// ok and another pass makes it suspect; otherwise the worst.
[[nodiscard]] Status case_status(const Case& c);
/// The reason that goes with case_status(); empty when ok.
[[nodiscard]] std::string case_reason(const Case& c);

}  // namespace mprof
