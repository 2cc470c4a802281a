// SPDX-License-Identifier: MIT
#include "runner/import.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <tuple>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inputs/checksum.hpp"
#include "inputs/ncu_csv.hpp"
#include "inputs/torch_trace.hpp"
#include "model/derive/subjects.hpp"
#include "model/kernel_name.hpp"
#include "model/metric_presets.hpp"
#include "model/trace/launches.hpp"
#include "model/trace/nsys_schema.hpp"
#include "model/trace/program.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/tallies.hpp"
#include "model/trace/writer.hpp"
#include "runner/begin.hpp"
#include "runner/program/family.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

enum class TraceTool { nsys, torch };

/// As the command line has it: "nsys"
std::string_view word_of(TraceTool tool) {
  return tool == TraceTool::nsys ? "nsys" : "torch";
}

struct TraceFile {
  fs::path path{};
  TraceTool tool = TraceTool::nsys;
};

/// The checksum of a file, made while it is read. Nobody waits for one that is not asked for: a refused file
/// may be large.
class Checksum {
 public:
  // On this thread, and later, where the system has no other one. Nothing waits for a pipe.
  explicit Checksum(const fs::path& file)
      : sum_(std::async(std::launch::async | std::launch::deferred, [file, stop = stop_.get_token()] {
          require_readable(file, std::numeric_limits<std::int64_t>::max());
          return sha256_of_file(file, stop);
        })) {}
  Checksum(Checksum&&) noexcept = default;
  Checksum& operator=(Checksum&&) = delete;
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;
  ~Checksum() { stop_.request_stop(); }  // before the destructor of the future waits

  [[nodiscard]] std::string get() { return sum_.get(); }

 private:
  std::stop_source stop_{};
  std::future<std::string> sum_;
};

/// A program, and what the files say of it.
struct ImportedProgram {
  std::string name{};
  std::vector<TraceFile> trace_files{};
  std::vector<Checksum> checksums{};  ///< of these, made while they are read
  std::vector<fs::path> counter_files{};
  std::optional<trace::Trace> trace{};
  std::vector<NcuReport> counters{};
  std::vector<std::string> ops{};
  std::vector<Measurement> measurements{};
  std::vector<std::string> doubts{};  ///< of its trace
  [[nodiscard]] std::string id() const { return fmt::format("{}/{}", program_family_id, name); }
};

[[noreturn]] void refuse_import(const std::string& why) {
  throw Error(ExitCode::usage, why);
}

// --- Which file is of which program ---

class ImportedFiles {
 public:
  void add_trace(const ProfileFile& file, TraceTool tool) {
    ImportedProgram& program =
        of(file.program.empty() ? program_name(bare_name(file.path)) : checked(file.program));
    if (!program.trace_files.empty()) {
      refuse_import(fmt::format(
          "--{0} {1}: {2} is of the program {3} already. Give each a name of its own, as in --{0} "
          "before={2} after={1}.",
          word_of(tool), file.path.string(), program.trace_files.front().path.string(), program.name));
    }
    program.trace_files.push_back({file.path, tool});
  }

  /// Counters without a name are of the only program that there is.
  void add_counters(const ProfileFile& file) {
    std::string name = file.program.empty() ? program_name(file.path.stem().string()) : checked(file.program);
    const bool is_known = std::ranges::find(programs_, name, &ImportedProgram::name) != programs_.end();
    if (file.program.empty() && !is_known && traced_ > 0) {
      if (traced_ > 1) {
        std::vector<std::string> names;
        for (const ImportedProgram& program : programs_) names.push_back(program.name);
        refuse_import(
            fmt::format("--ncu {}: it could be of any of the programs {}. Say which, as in --ncu {}={}.",
                        file.path.string(), fmt::join(names, ", "), names.front(), file.path.string()));
      }
      name = programs_.front().name;
    }
    of(name).counter_files.push_back(file.path);
  }

  void traces_are_complete() { traced_ = programs_.size(); }
  [[nodiscard]] std::vector<ImportedProgram> take() { return std::move(programs_); }

 private:
  static const std::string& checked(const std::string& name) {
    require_program_name(name);
    return name;
  }
  /// Without what compression adds, and without the ending.
  static std::string bare_name(const fs::path& file) {
    return (file.extension() == ".gz" ? file.stem() : file).stem().string();
  }
  ImportedProgram& of(const std::string& name) {
    const auto found = std::ranges::find(programs_, name, &ImportedProgram::name);
    if (found != programs_.end()) return *found;
    return programs_.emplace_back(ImportedProgram{.name = name});
  }

  std::vector<ImportedProgram> programs_;
  std::size_t traced_ = 0;
};

// --- Traces ---

trace::Trace read_export(const fs::path& file) {
  trace::Query query{.parts = trace::every_part};
  query.parts.tallies = false;  // they are by op, which is found first
  trace::Trace trace = trace::read_trace(file, query);
  if (!trace.cases.empty()) {
    refuse_import(
        fmt::format("{}: this is the trace of a run of mprof. Give its directory to `mprof report`, or "
                    "one case of it: `mprof export DIR --format nsys --case ID`.",
                    file.string()));
  }
  return trace;
}

/// "3 records", "1 record"
std::string counted(std::uint64_t count, std::string_view one, std::string_view plural = "s") {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : plural);
}

/// What the trace lacks, and what in it cannot be: sentences.
std::vector<std::string> doubts_of(const trace::Trace& trace) {
  std::vector<std::string> doubts;
  const trace::Launches launches = trace::launches_of(trace, 0);
  const trace::Counts& counts = trace.cases.front().counts;
  const std::uint64_t impossible = counts.zero_time + counts.reversed + counts.overlapping;
  if (const std::uint64_t unseen = trace::unseen_launches(trace, 0); unseen > 0) {
    doubts.push_back(
        fmt::format("The trace has {} and no kernel: what the GPU did is missing, and is not shown as idle. "
                    "Usual reasons are WSL, a profiler that does not fit the driver, and a program that was "
                    "killed before its records were written.",
                    counted(unseen, "kernel launch", "es")));
  } else if (launches.without_work > impossible) {
    doubts.push_back(fmt::format(
        "{} of {} have no kernel in the trace: part of what looks idle was work.",
        launches.without_work - impossible,
        counted(launches.with_work + launches.captured + launches.without_work, "kernel launch", "es")));
  }
  if (impossible > 0) {
    doubts.push_back(fmt::format(
        "Left out for their impossible times: {} ({} without a time in the session, {} with an end "
        "before the begin, {} still running after later work of the same stream had ended).",
        counted(impossible, "record"), counts.zero_time, counts.reversed, counts.overlapping));
  }
  if (counts.early > 0) {
    doubts.push_back(fmt::format(
        "The clocks of host and GPU disagree: in {} work of the GPU begins before the call that launched it.",
        counted(counts.early, "record")));
  }
  if (!trace.unread_tables.empty()) {
    doubts.push_back(
        fmt::format("mprof does not know the table {}, and did not read it: its rows are missing.",
                    fmt::join(trace.unread_tables, ", ")));
  }
  if (trace.open_ranges > 0)
    doubts.push_back(
        fmt::format("Left out for want of an end: {}.", counted(trace.open_ranges, "NVTX range")));
  return doubts;
}

/// Throws for a glob that no range fits, with the names that there are.
void require_ranges(const trace::Trace& trace, const std::string& glob, const fs::path& file) {
  constexpr std::size_t most = 8;
  if (glob.empty() || trace::fits_any_range(trace, glob)) return;
  std::set<std::string> names;
  for (const trace::Range& range : trace.ranges) {
    if (names.size() <= most) names.emplace(trace.text_of(range));
  }
  if (names.empty())
    refuse_import(fmt::format("--ops {}: {} has no NVTX range. Leave --ops out.", glob, file.string()));
  const bool more = names.size() > most;
  if (more) names.erase(std::prev(names.end()));
  refuse_import(fmt::format("--ops {}: no NVTX range of {} fits. Its ranges are {}{}.", glob, file.string(),
                            fmt::join(names, ", "), more ? " and others" : ""));
}

void read_traces(ImportedProgram& program, const std::string& ops) {
  for (const auto& [file, tool] : program.trace_files) {
    program.checksums.emplace_back(file);
    program.trace = tool == TraceTool::torch ? read_torch_trace(file) : read_export(file);
    require_ranges(*program.trace, ops, file);
    program.ops = trace::make_program_case(*program.trace, {.case_id = program.id(), .ops = ops});
    if (program.ops.empty()) trace::refuse_untraced(file);
    if (tool == TraceTool::nsys) trace::read_tallies(file, *program.trace);
    program.doubts = doubts_of(*program.trace);
  }
}

// --- Counters ---

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

using LaunchSize =
    std::pair<std::optional<std::array<std::uint32_t, 3>>, std::optional<std::array<std::uint32_t, 3>>>;

LaunchSize size_of(const NcuLaunch& launch) {
  return {launch.grid, launch.block};
}

bool has_size(const trace::Kernel& kernel, const NcuLaunch& launch) {
  const auto same = [](const std::optional<trace::Size>& a, const auto& b) {
    return !a || !b ||
           std::ranges::equal(*a, *b, [](std::int32_t x, std::uint32_t y) { return std::cmp_equal(x, y); });
  };
  return same(kernel.grid, launch.grid) && same(kernel.block, launch.block);
}

/// "28×28×100"
std::string size_text(const std::array<std::uint32_t, 3>& size) {
  std::size_t axes = size.size();
  while (axes > 1 && size.at(axes - 1) == 1) --axes;
  return fmt::format("{}", fmt::join(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(axes), "×"));
}

/// A kernel of an op that counters may be of.
struct Candidate {
  std::string op{};
  KernelName name{};
  OpKernel kernel{};
};

/// Finds the op and the name of each launch that was counted.
class CounterMatch {
 public:
  explicit CounterMatch(ImportedProgram& program) : program_(program) {
    if (!program.trace) return;
    for (const std::string& op : program.ops) {
      for (OpKernel& kernel : kernels_of_op(*program.trace, 0, op)) {
        const trace::NameIndex whole = program.trace->kernels[kernel.launches.front()].name;
        candidates_.push_back({op, kernel_name_of_demangled(program.trace->names[whole]), std::move(kernel)});
      }
    }
  }

  std::vector<Measurement> measurements() {
    std::map<std::string, std::vector<const NcuLaunch*>> by_kernel;
    for (const NcuReport& report : program_.counters) {
      for (const NcuLaunch& launch : report.launches)
        by_kernel[without_blanks(launch.kernel)].push_back(&launch);
    }
    for (const auto& [kernel, launches] : by_kernel) place(launches);
    return rows();
  }
  /// Kernels that the trace does not have.
  [[nodiscard]] const std::set<std::string>& untraced() const { return untraced_; }

 private:
  using Samples = std::map<std::pair<int, std::string>, std::vector<std::optional<double>>>;
  /// Op and kernel; then a launch's size, where a kernel has several.
  using Row = std::pair<std::string, std::string>;

  /// Kernels that are called alike and are told apart by template arguments where both say them.
  [[nodiscard]] std::vector<const Candidate*> called(const KernelName& name) const {
    std::vector<const Candidate*> alike, same;
    for (const Candidate& candidate : candidates_) {
      if (candidate.name.brief != name.brief) continue;
      alike.push_back(&candidate);
      if (without_blanks(candidate.name.templated) == without_blanks(name.templated))
        same.push_back(&candidate);
    }
    return same.empty() ? alike : same;
  }

  void place(const std::vector<const NcuLaunch*>& launches) {
    const KernelName name = kernel_name_of_demangled(launches.front()->kernel);
    const std::vector<const Candidate*> alike = called(name);
    if (alike.empty()) {
      place_by_itself(name, launches);
      return;
    }
    std::vector<std::pair<std::uint32_t, const Candidate*>> traced;
    for (const Candidate* candidate : alike) {
      for (const std::uint32_t kernel : candidate->kernel.launches) traced.emplace_back(kernel, candidate);
    }
    const trace::Kernels& kernels = program_.trace->kernels;
    std::ranges::stable_sort(traced, {},
                             [&](const auto& one) { return kernels.rows()[one.first].time.start; });
    const bool all_counted =
        traced.size() == launches.size() &&
        std::ranges::equal(traced, launches, [&](const auto& one, const NcuLaunch* launch) {
          return launch->invocations == 1 && has_size(kernels[one.first], *launch);
        });
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (all_counted) {
        add(*traced[i].second, *launches[i]);
      } else {
        for (const Candidate* candidate : fitting(alike, *launches[i])) add(*candidate, *launches[i]);
      }
    }
  }

  /// Those with a launch of the size, or all where none has one: the program may have run on other data.
  [[nodiscard]] std::vector<const Candidate*> fitting(const std::vector<const Candidate*>& alike,
                                                      const NcuLaunch& launch) const {
    std::vector<const Candidate*> fits;
    for (const Candidate* candidate : alike) {
      if (std::ranges::any_of(candidate->kernel.launches, [&](std::uint32_t kernel) {
            return has_size(program_.trace->kernels[kernel], launch);
          }))
        fits.push_back(candidate);
    }
    return fits.empty() ? alike : fits;
  }

  /// Launches of no kernel in the trace are of the only op, or outside of all.
  void place_by_itself(const KernelName& name, const std::vector<const NcuLaunch*>& launches) {
    if (program_.trace) untraced_.insert(name.brief);
    if (program_.ops.empty()) program_.ops = {trace::whole_program};
    std::string op = program_.ops.front();
    if (program_.ops.size() > 1) {
      op = trace::outside_of_ranges;
      if (std::ranges::find(program_.ops, op) == program_.ops.end()) program_.ops.push_back(op);
    }
    for (const NcuLaunch* launch : launches) add({op, name.templated}, *launch, name.brief);
  }

  void add(const Candidate& candidate, const NcuLaunch& launch) {
    add({candidate.op, candidate.kernel.name}, launch, candidate.kernel.name);
  }
  void add(const Row& row, const NcuLaunch& launch, const std::string& brief) {
    brief_[row] = brief;
    launches_[row][size_of(launch)].push_back(&launch);
  }

  /// By ops, in the order of launches within each.
  std::vector<Measurement> rows() {
    name_by_itself();
    std::vector<Measurement> rows;
    for (const std::string& op : program_.ops) {
      std::vector<std::tuple<std::pair<std::int64_t, std::int64_t>, std::string,
                             const std::vector<const NcuLaunch*>*>>
          kernels;
      for (const auto& [row, sizes] : launches_) {
        if (row.first != op) continue;
        for (const auto& [size, launches] : sizes) {
          std::string name = names_.at(row);
          if (sizes.size() > 1 && size.first && size.second)
            name += fmt::format(" ({} blocks of {})", size_text(*size.first), size_text(*size.second));
          kernels.emplace_back(std::pair(launches.front()->process, launches.front()->id), name, &launches);
        }
      }
      std::ranges::sort(kernels);
      for (const auto& [first, name, launches] : kernels) add_rows(op, name, *launches, rows);
    }
    return rows;
  }

  /// Kernels of the trace have names; of the others the template arguments stand where two would be called
  /// alike.
  void name_by_itself() {
    std::map<Row, int> alike;
    for (const auto& [row, brief] : brief_) ++alike[{row.first, brief}];
    for (const auto& [row, brief] : brief_) names_[row] = alike[{row.first, brief}] > 1 ? row.second : brief;
  }

  /// A row a metric, in the catalogue's order and then by name, with a sample a launch.
  static void add_rows(const std::string& op, const std::string& name,
                       const std::vector<const NcuLaunch*>& launches, std::vector<Measurement>& rows) {
    Samples samples;
    for (const NcuLaunch* launch : launches) {
      for (const NcuValue& value : launch->values)
        samples[{rank(value.metric), value.metric}].push_back(value.value);
    }
    for (const auto& [metric, values] : samples) {
      Measurement row{.metric = metric.second, .op = op, .kernel = name};
      for (const std::optional<double>& value : values) {
        if (value) row.samples.push_back(*value);
      }
      if (row.samples.empty()) row.absent = "Nsight Compute printed n/a";
      rows.push_back(std::move(row));
    }
  }

  static int rank(const std::string& metric) {
    const auto known = hardware_metrics();
    const auto found = std::ranges::find(known, metric, &Metric::id);
    return static_cast<int>(found - known.begin());
  }

  ImportedProgram& program_;
  std::vector<Candidate> candidates_;
  std::map<Row, std::map<LaunchSize, std::vector<const NcuLaunch*>>> launches_;
  std::map<Row, std::string> brief_;
  std::map<Row, std::string> names_;
  std::set<std::string> untraced_;
};

// --- The record ---

/// What counters and traces say of the machine, under the names that a run of mprof's own has.
class Machine {
 public:
  explicit Machine(Environment& environment) : environment_(environment) {}

  void add(const trace::Trace& trace) {
    const auto of_system = [&](const char* name) {
      const auto found = trace.system.find(name);
      return found == trace.system.end() ? std::string() : found->second;
    };
    put("cpu", "model", of_system("CpuDescription"));
    put_number("cpu", "logical_cpus", of_system("CpuCores"));
    put("os", "distribution", of_system("OsDescription"));
    put("os", "host", of_system("Hostname"));
    put("gpu", "driver", of_system("NvDriverVersion"));
    if (trace.gpus.empty()) return;
    const trace::Gpu& gpu = trace.gpus.front();
    put("gpu", "name", gpu.name);
    put("gpu", "UUID", gpu.uuid);
    put("gpu", "GPUs", static_cast<double>(trace.gpus.size()));
    put("gpu", "memory", gpu.memory);
    put("gpu", "L2 cache", gpu.l2_cache);
    put("gpu", "multiprocessors", gpu.multiprocessors);
    put("gpu", "SM clock maximum", gpu.clock_rate);
    if (gpu.compute_major && gpu.compute_minor)
      put("gpu", "compute capability", fmt::format("{}.{}", *gpu.compute_major, *gpu.compute_minor));
  }

  void add(const NcuReport& report) {
    const auto found = report.device.find("display_name");
    if (found != report.device.end()) put("gpu", "name", found->second);
    put("gpu", "compute capability", report.compute_capability);
  }

 private:
  template <class Value>
  void put(const char* group, const char* name, const std::optional<Value>& value) {
    if (value) environment_[group].try_emplace(name, static_cast<double>(*value));
  }
  void put(const char* group, const char* name, double value) {
    environment_[group].try_emplace(name, value);
  }
  void put(const char* group, const char* name, const std::string& value) {
    if (!value.empty()) environment_[group].try_emplace(name, value);
  }
  void put_number(const char* group, const char* name, const std::string& text) {
    const bool digits = !text.empty() && text.size() < 10 &&
                        std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    if (digits) put(group, name, std::stod(text));
  }

  Environment& environment_;
};

std::string utc_text(std::int64_t nanoseconds) {
  const auto time = std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(nanoseconds));
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", std::chrono::floor<std::chrono::seconds>(time));
}

/// "Nsight Systems 2025.5.2.266 (schema 3.24.0)"
std::string origin_of(const trace::Trace& trace) {
  std::string product = trace.product.empty() ? "Nsight Systems, of no stated version" : trace.product;
  if (const std::string_view maker = "NVIDIA "; product.starts_with(maker)) product.erase(0, maker.size());
  return trace.schema_version.empty() ? product
                                      : fmt::format("{} (schema {})", product, trace.schema_version);
}

std::string process_of(const ImportedProgram& program) {
  if (program.trace) {
    const auto& processes = program.trace->processes;
    const auto found =
        std::ranges::find(processes, program.trace->cases.front().process, &trace::ProcessInfo::id);
    if (found != processes.end() && !found->name.empty()) return fs::path(found->name).filename().string();
  }
  for (const NcuReport& report : program.counters) {
    for (const NcuLaunch& launch : report.launches) {
      if (!launch.program.empty()) return launch.program;
    }
  }
  return program.name;
}

VariantInfo variant_of(const ImportedProgram& program) {
  std::vector<std::string> origins;
  if (program.trace) origins.push_back(fmt::format("traced by {}", origin_of(*program.trace)));
  if (!program.counters.empty()) origins.emplace_back("counted by Nsight Compute");
  return {.id = program.id(),
          .family = program_family_id,
          .title = process_of(program),
          .idea = fmt::format(
              "A program as it is, {}: its files were imported. Nothing is known of times without a "
              "profiler, and no output was verified.",
              fmt::join(origins, " and ")),
          .device = "cuda",
          .subject = Subject::import};
}

FamilyInfo family_of_programs(const std::vector<ImportedProgram>& programs) {
  FamilyInfo family = program_family("Programs, as other tools saw them");
  for (const ImportedProgram& program : programs) add_program_ops(family.problems.front().ops, program.ops);
  return family;
}

Case case_of(const ImportedProgram& program, const VariantInfo& variant, const FamilyInfo& family) {
  Case c;
  c.key.variant = variant.id;
  c.id = case_id(c.key, variant);
  c.ops = family.problems.front().ops;
  PassResult trace{.pass = Pass::trace, .status = Status::ok};
  if (!program.trace)
    trace = {.pass = Pass::trace, .status = Status::skipped, .reason = "no trace was imported"};
  if (!program.doubts.empty()) trace.outcome = ProgramOutcome{.notes = program.doubts};
  PassResult counters{.pass = Pass::counters, .status = Status::ok, .measurements = program.measurements};
  if (program.counters.empty())
    counters = {.pass = Pass::counters, .status = Status::skipped, .reason = "no counters were imported"};
  c.passes = {std::move(trace), std::move(counters)};
  return c;
}

void add_inputs(Run& run, ImportedProgram& program) {
  const auto add = [&](const fs::path& file, std::string_view tool, std::string checksum) {
    run.inputs.push_back({.family = program_family_id,
                          .name = fmt::format("{} ({})", program.name, tool),
                          .path = file.string(),
                          .size = fs::file_size(file),
                          .checksum = std::move(checksum)});
  };
  for (std::size_t i = 0; i < program.trace_files.size(); ++i)
    add(program.trace_files[i].path, word_of(program.trace_files[i].tool), program.checksums[i].get());
  for (const fs::path& file : program.counter_files) add(file, "ncu", sha256_of_file(file));
}

/// When it was traced, or else now.
void set_times(Run& run, const std::vector<ImportedProgram>& programs) {
  std::optional<std::int64_t> first, last;
  for (const ImportedProgram& program : programs) {
    if (!program.trace || program.trace->epoch <= 0) continue;
    const trace::Interval& window = program.trace->cases.front().window;
    const std::int64_t start = program.trace->epoch, end = start + std::max<std::int64_t>(window.end, 0);
    first = std::min(first.value_or(start), start);
    last = std::max(last.value_or(end), end);
  }
  if (first) run.started = utc_text(*first);
  run.finished = last ? utc_text(*last) : run.started;
}

Run record_of(std::vector<ImportedProgram>& programs, const ImportOptions& options) {
  Run run = begin_record(options.command_line);
  run.families = {family_of_programs(programs)};
  run.plan.problems[program_family_id] = {Problem{}};
  run.plan.passes = {Pass::trace, Pass::counters};
  std::set<std::string> metrics;
  Machine machine(run.environment);
  for (ImportedProgram& program : programs) {
    VariantInfo variant = variant_of(program);
    if (!run.variants.empty()) variant.baseline = run.variants.front().id;
    run.plan.variants.push_back(variant.id);
    run.cases.push_back(case_of(program, variant, run.families.front()));
    run.variants.push_back(std::move(variant));
    add_inputs(run, program);
    if (program.trace) machine.add(*program.trace);
    for (const NcuReport& report : program.counters) machine.add(report);
    for (const Measurement& row : program.measurements) metrics.insert(row.metric);
  }
  run.plan.metrics.assign(metrics.begin(), metrics.end());
  set_times(run, programs);
  return run;
}

/// Calls visit(id) for each process and thread that a trace names; visit may change it.
template <class Visit>
void visit_processes(trace::Trace& trace, const Visit& visit) {
  const auto each = [&](auto& rows, auto member) {
    for (auto& row : rows) visit(row.*member);
  };
  each(trace.cases, &trace::CaseInfo::process);
  each(trace.transfers, &trace::Transfer::process);
  each(trace.calls, &trace::Call::thread);
  each(trace.system_calls, &trace::Call::thread);
  each(trace.ranges, &trace::Range::thread);
  each(trace.ranges, &trace::Range::end_thread);
  each(trace.synchronizations, &trace::Synchronization::process);
  each(trace.overheads, &trace::Overhead::thread);
  each(trace.allocations, &trace::Allocation::process);
  each(trace.graphs, &trace::GraphExecution::process);
  each(trace.graph_nodes, &trace::GraphNode::thread);
  each(trace.processes, &trace::ProcessInfo::id);
  each(trace.threads, &trace::ThreadInfo::id);
  each(trace.contexts, &trace::ContextInfo::process);
}

/// Programs that ran in containers, or at other times, may have the same process id, and their times overlap.
/// Then a later one is told as one of another machine, so that its ranges stay its own.
void tell_processes_apart(std::vector<ImportedProgram>& programs) {
  constexpr int machine_shift = 48;
  std::set<std::int64_t> known;
  for (ImportedProgram& program : programs) {
    if (!program.trace) continue;
    trace::Trace& trace = *program.trace;
    std::set<std::int64_t> own;
    visit_processes(trace, [&](std::int64_t id) {
      if (id != 0) own.insert(trace::nsys::process_of(id));
    });
    for (const trace::KernelRow& row : trace.kernels.rows()) {
      if (const std::int64_t id = trace.kernels.shared(row).process; id != 0)
        own.insert(trace::nsys::process_of(id));
    }
    std::uint64_t machines = 0;
    // A stranger's ids may be so large that the sum does not fit: it wraps around.
    const auto moved = [&](std::int64_t id) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(id) + (machines << machine_shift));
    };
    while (std::ranges::any_of(own, [&](std::int64_t id) { return known.contains(moved(id)); })) ++machines;
    for (const std::int64_t id : own) known.insert(moved(id));
    if (machines == 0) continue;
    const auto move = [&](std::int64_t& id) {
      if (id != 0) id = moved(id);
    };
    visit_processes(trace, move);
    trace.kernels.change_all([&](trace::Kernel& kernel) { move(kernel.process); });
  }
}

}  // namespace

Imported import_profiles(const ImportOptions& options) {
  ImportedFiles files;
  for (const ProfileFile& file : options.traces) files.add_trace(file, TraceTool::nsys);
  for (const ProfileFile& file : options.torch) files.add_trace(file, TraceTool::torch);
  files.traces_are_complete();
  for (const ProfileFile& file : options.counters) files.add_counters(file);
  std::vector<ImportedProgram> programs = files.take();
  Imported imported;
  for (ImportedProgram& program : programs) {
    read_traces(program, options.ops);
    for (const std::string& doubt : program.doubts)
      imported.notes.push_back(fmt::format("{}: {}", program.name, doubt));
    for (const fs::path& file : program.counter_files) {
      program.counters.push_back(read_ncu_csv(file));
      for (const std::string& note : program.counters.back().notes)
        imported.notes.push_back(fmt::format("{}: {}.", file.string(), note));
      const std::vector<std::string>& unknown = program.counters.back().unknown;
      if (!unknown.empty())
        imported.notes.push_back(fmt::format(
            "{}: of these labels no metric is known, and their values were left out: {}. The raw page has "
            "metrics: `ncu --csv --page raw`.",
            file.string(), fmt::join(unknown, ", ")));
    }
    CounterMatch match(program);
    program.measurements = match.measurements();
    if (!match.untraced().empty())
      imported.notes.push_back(fmt::format("{}: counted, and not in the trace: {}.", program.name,
                                           fmt::join(match.untraced(), ", ")));
  }
  tell_processes_apart(programs);
  imported.run = record_of(programs, options);
  ResultDirectory directory(options.out, options.mode, {.overwrite = true});
  directory.save(imported.run);
  for (ImportedProgram& program : programs) {
    if (program.trace) trace::write_trace(directory.trace_file(), *program.trace);
    imported.tallies.push_back(program.trace ? trace::tallies_of(*program.trace)
                                             : std::vector<trace::Tally>());
  }
  for (const Case& c : imported.run.cases) directory.save(c);
  imported.run.state = RunState::complete;
  directory.save(imported.run);
  return imported;
}

}  // namespace mprof
