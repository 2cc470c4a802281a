// SPDX-License-Identifier: MIT
#include "report/export/export.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fnmatch.h>

#include "model/case_file.hpp"
#include "model/parts.hpp"
#include "model/trace/reader.hpp"
#include "model/trace/writer.hpp"
#include "report/analysis/evidence.hpp"
#include "report/export/perfetto_sink.hpp"
#include "report/text/format.hpp"
#include "report/wording/why.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/suggest.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> known_formats{
    "perfetto", "perfetto-json",    "csv",  "json", "nsys", "folded", "speedscope",
    "bmf",      "benchmark-action", "otava"};

/// A file that Perfetto reads.
struct TimelineFormat {
  std::string_view format;
  const char* file;
  std::unique_ptr<PerfettoSink> (*open)(const fs::path& file);
};
constexpr std::array timeline_formats{
    TimelineFormat{"perfetto", "trace.perfetto-trace.gz", perfetto_protobuf},
    TimelineFormat{"perfetto-json", "trace.perfetto.json", perfetto_json},
};

bool wants(const ExportOptions& options, std::string_view format) {
  return std::ranges::find(options.formats, format) != options.formats.end();
}

bool wants_stacks(const ExportOptions& options) {
  return wants(options, "folded") || wants(options, "speedscope");
}

/// An id with parameters has brackets, which a pattern takes for something else, so an id itself is as good.
bool matches(const std::string& pattern, const std::string& id) {
  return id == pattern || fnmatch(pattern.c_str(), id.c_str(), 0) == 0;
}

std::vector<const CaseResult*> all_cases(const RunAnalysis& analysis) {
  std::unordered_map<const Case*, const CaseResult*> by_source;
  for (const FamilyResult& family : analysis.families) {
    for (const VariantResult& variant : family.variants) {
      for (const CaseResult& result : variant.cases) by_source[result.source] = &result;
    }
  }
  std::vector<const CaseResult*> cases;
  for (const Case& c : analysis.run->cases) cases.push_back(by_source.at(&c));
  return cases;
}

void require_match(const std::string& pattern, const std::vector<const CaseResult*>& cases) {
  std::vector<std::string> known;
  for (const CaseResult* result : cases) {
    if (matches(pattern, result->id)) return;
    known.push_back(result->id);
  }
  throw Error(ExitCode::usage,
              format::one_line(fmt::format("--case {}: the run has no such case.{} It has {}{}.", pattern,
                                           did_you_mean(pattern, known), format::plural(known.size(), "case"),
                                           known.empty() ? "" : ", such as " + known.front())));
}

/// The axes of all families, in their order: a column each, whatever cases were chosen.
std::vector<std::string> axes_of(const RunAnalysis& analysis) {
  std::vector<std::string> axes;
  for (const FamilyResult& family : analysis.families) {
    for (const Problem& problem : family.problems) {
      for (const Coordinate& coordinate : problem.coordinates) {
        if (std::ranges::find(axes, coordinate.axis) == axes.end()) axes.push_back(coordinate.axis);
      }
    }
  }
  return axes;
}

ExportScope scope_of(const RunAnalysis& analysis, const std::vector<std::string>& patterns) {
  ExportScope scope{&analysis, all_cases(analysis), patterns.empty(), axes_of(analysis)};
  if (scope.whole) return scope;
  std::erase_if(scope.cases, [&](const CaseResult* result) {
    return std::ranges::none_of(patterns,
                                [&](const std::string& pattern) { return matches(pattern, result->id); });
  });
  return scope;
}

/// Adds the places of rows to their cases, which start with the first of them.
template <class Row>
void sort_out(const std::vector<Row>& rows, std::vector<ExportedCase>& cases,
              std::vector<std::uint32_t> ExportedCase::*member) {
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    if (rows[i].in_case >= cases.size()) continue;
    ExportedCase& one = cases[rows[i].in_case];
    (one.*member).push_back(i);
    one.start = std::min(one.start, rows[i].time.start);
  }
}

/// The trace's cases that are in the scope, in its order.
std::vector<ExportedCase> sorted_out(const ExportScope& scope, const trace::Trace& trace) {
  std::vector<ExportedCase> in_file(trace.cases.size());
  sort_out(trace.kernels.rows(), in_file, &ExportedCase::kernels);
  sort_out(trace.transfers, in_file, &ExportedCase::transfers);
  sort_out(trace.calls, in_file, &ExportedCase::calls);
  sort_out(trace.ranges, in_file, &ExportedCase::ranges);
  for (std::uint32_t i = 0; i < trace.gpu_samples.size(); ++i) {
    const trace::CaseIndex in_case = trace.gpu_samples[i].in_case;
    if (in_case < in_file.size()) in_file[in_case].gpu_samples.push_back(i);
  }
  const auto indices = trace::case_indices(trace);
  std::vector<ExportedCase> cases;
  for (const CaseResult* result : scope.cases) {
    const auto index = indices.find(result->id);
    if (index == indices.end()) continue;
    cases.push_back(std::move(in_file[index->second]));
    cases.back().result = result;
  }
  return cases;
}

/// The trace of the scope's cases, or why there is none.
struct TraceOrReason {
  std::optional<ExportedTrace> traced;
  std::string absent;
};

TraceOrReason read_traced(const ExportScope& scope, const ExportOptions& options) {
  const fs::path& file = options.trace;
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return {std::nullopt, why_not_traced(scope.run())};
  trace::Query query{.with_pauses = options.with_pauses};
  query.parts.graph_nodes = query.parts.stacks = wants_stacks(options);
  query.parts.gpu_samples = wants(options, "perfetto") || wants(options, "perfetto-json");
  const std::vector<std::string> listed = trace::traced_cases(file);
  const std::unordered_set<std::string_view> in_file(listed.begin(), listed.end());
  for (const CaseResult* result : scope.cases) {
    if (in_file.contains(result->id)) query.cases.push_back(result->id);
  }
  if (query.cases.empty()) {
    return {std::nullopt, scope.whole ? "trace.sqlite holds no case of this run"
                                      : "trace.sqlite holds none of the cases that were chosen"};
  }
  ExportedTrace traced{trace::read_trace(file, query), {}};
  traced.cases = sorted_out(scope, traced.rows);
  return {std::move(traced), {}};
}

/// What the record knows of the machine and the trace does not.
void add_machine(const Environment& environment, std::map<std::string, std::string>& system) {
  struct Known {
    const char* property;
    const char* group;
    const char* fact;
  };
  constexpr std::array known{Known{"CpuCores", "cpu", "logical_cpus"},
                             Known{"CpuDescription", "cpu", "model"},
                             Known{"NvDriverVersion", "gpu", "driver"},
                             Known{"OsDescription", "os", "distribution"}, Known{"Hostname", "os", "host"}};
  for (const Known& one : known) {
    const Fact* const fact = find_fact(environment, one.group, one.fact);
    if (fact == nullptr) continue;
    if (const auto* text = std::get_if<std::string>(fact)) system.try_emplace(one.property, *text);
    if (const auto* number = std::get_if<double>(fact))
      system.try_emplace(one.property, fmt::format("{}", static_cast<std::int64_t>(*number)));
  }
}

/// One case as a file of its own: Nsight Systems' files have one time axis.
fs::path write_nsys(const ExportScope& scope, const ExportOptions& options) {
  const std::string& id = scope.cases.front()->id;
  trace::Trace trace = trace::read_trace(
      options.trace, {.parts = trace::every_part, .cases = {id}, .with_pauses = options.with_pauses});
  add_machine(PartIndex(scope.run()).environment(id), trace.system);
  const fs::path file = options.out / (case_file(id).stem().string() + ".sqlite");
  trace::write_export(file, trace);
  return file;
}

/// Stacks are of programs whose launches have some.
void write_stacks(const TraceOrReason& trace, const ExportOptions& options, Exported& exported) {
  const std::vector<CaseStacks> cases = trace.traced ? case_stacks(*trace.traced) : std::vector<CaseStacks>{};
  if (trace.traced && cases.empty())
    exported.no_trace =
        "no launch in trace.sqlite has a call stack. mprof takes them of programs that it runs";
  const auto write = [&](std::string_view format, const char* name, const auto& text) {
    if (!wants(options, format)) return;
    if (cases.empty()) {
      exported.left_out.emplace_back(name);
      return;
    }
    write_file(options.out / name, text());
    exported.written.push_back(options.out / name);
  };
  write("folded", "stacks.folded", [&] { return folded_stacks(cases); });
  write("speedscope", "stacks.speedscope.json", [&] { return speedscope_json(cases, options.name); });
}

void require_one_case(const ExportScope& scope) {
  if (scope.cases.size() == 1) return;
  throw Error(
      ExitCode::usage,
      fmt::format("--format nsys: {} cases were chosen, and such a file holds one, since it has one time "
                  "axis. Choose it, as in --case '{}'.",
                  scope.cases.size(), scope.cases.empty() ? "ID" : scope.cases.front()->id));
}

/// For the formats of trackers: the run, and for Otava the others; empty where no such format is asked for.
std::vector<TrackedRun> tracked_runs(const ExportScope& scope, const ExportOptions& options) {
  if (!wants(options, "bmf") && !wants(options, "benchmark-action") && !wants(options, "otava")) return {};
  std::vector<TrackedRun> runs{tracked_run(scope.run(), options.name, scope.cases)};
  runs.insert(runs.end(), options.other_runs.begin(), options.other_runs.end());
  require_times(runs);
  return runs;
}

std::vector<fs::path> write_for_trackers(const std::vector<TrackedRun>& runs, const ExportOptions& options) {
  std::vector<fs::path> written;
  const auto write = [&](const char* name, const std::string& text) {
    written.push_back(options.out / name);
    write_file(written.back(), text);
  };
  if (wants(options, "bmf")) write("bmf.json", bmf_json(runs.front()));
  if (wants(options, "benchmark-action")) write("benchmark-action.json", benchmark_action_json(runs.front()));
  if (wants(options, "otava")) {
    const std::vector<fs::path> files = write_otava(runs, options.out);
    written.insert(written.end(), files.begin(), files.end());
  }
  return written;
}

}  // namespace

bool is_filled_by_traces(std::string_view format) {
  return format.starts_with("perfetto") || format == "nsys" || format == "folded" || format == "speedscope";
}

void require_export_formats(const std::vector<std::string>& formats) {
  if (formats.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("--format needs a name. The formats are {}.", format::list(known_formats)));
  }
  for (const std::string& format : formats) {
    if (std::ranges::find(known_formats, format) != known_formats.end()) continue;
    throw Error(ExitCode::usage,
                fmt::format("--format {}: a run is not exported in such a format.{} The formats are {}.",
                            format, did_you_mean(format, known_formats), format::list(known_formats)));
  }
}

TrackedRun tracked_run(const Run& run, const std::string& name, const std::vector<std::string>& cases) {
  const RunAnalysis analysis = analyse(run);
  return tracked_run(run, name, scope_of(analysis, cases).cases);
}

Exported write_export(const Run& run, const ExportOptions& options) {
  require_export_formats(options.formats);
  const RunAnalysis analysis = analyse(run);
  for (const std::string& pattern : options.cases) require_match(pattern, all_cases(analysis));
  const ExportScope scope = scope_of(analysis, options.cases);
  if (wants(options, "nsys")) require_one_case(scope);
  const std::vector<TrackedRun> tracked = tracked_runs(scope, options);
  const bool needs_trace = wants(options, "perfetto") || wants(options, "perfetto-json") ||
                           wants(options, "csv") || wants(options, "nsys") || wants_stacks(options);
  const TraceOrReason trace = needs_trace ? read_traced(scope, options) : TraceOrReason{};
  Exported exported;
  exported.no_trace = trace.absent;
  const auto add = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
  for (const auto& [format, name, open] : timeline_formats) {
    if (!wants(options, format)) continue;
    if (trace.traced) {
      write_perfetto(scope, *trace.traced, *open(options.out / name));
      exported.written.push_back(options.out / name);
    } else {
      exported.left_out.emplace_back(name);
    }
  }
  if (wants(options, "csv")) {
    add(exported.written, write_run_tables(scope, options.out));
    if (trace.traced) {
      add(exported.written, write_trace_tables(scope, *trace.traced, options.out));
    } else {
      add(exported.left_out, trace_table_names());
    }
  }
  if (wants(options, "nsys")) {
    if (trace.traced) {
      exported.written.push_back(write_nsys(scope, options));
    } else {
      exported.left_out.emplace_back("the case's .sqlite");
    }
  }
  if (wants_stacks(options)) write_stacks(trace, options, exported);
  if (wants(options, "json")) {
    write_file(options.out / "analysis.json", analysis_json(scope));
    exported.written.push_back(options.out / "analysis.json");
  }
  if (!tracked.empty()) add(exported.written, write_for_trackers(tracked, options));
  exported.untracked = left_out_of(tracked);
  return exported;
}

std::string_view verification_word(const std::optional<Verification>& verification) {
  if (!verification) return "not verified";
  return verification->passed ? "passed" : "failed";
}

std::string why_no_change(const CaseResult& result, const QualityResult& quality) {
  if (quality.change) return {};
  if (!result.total_speed_up.absent.empty() && result.baseline.empty())
    return say(result.total_speed_up.absent);
  if (!quality.value) return say(quality.value.absent);
  return "its baseline has no such value";
}

SpeedUp gpu_speed_up_of(const OpResult& op) {
  SpeedUp speed_up = op.gpu_speed_up;
  if (!speed_up && speed_up.absent.empty()) speed_up.absent = op.speed_up.absent;
  return speed_up;
}

}  // namespace mprof
