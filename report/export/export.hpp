// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/analysis.hpp"
#include "report/analysis/program/launch_lines.hpp"
#include "report/export/trackers.hpp"

/// What a run holds, in files for other programs: Perfetto, pandas, whatever reads JSON.
/// docs/formats/export.md explains every file and field.
namespace mprof {

inline constexpr int export_schema_version = 2;

struct ExportOptions {
  std::vector<std::string> formats;  ///< "perfetto", "perfetto-json", "csv", "json", "nsys", "folded",
                                     ///< "speedscope", the trackers' formats
  std::filesystem::path out;
  std::filesystem::path trace{};         ///< the run's trace.sqlite, which may be missing
  std::vector<std::string> cases{};      ///< ids, or patterns that match some; empty: all
  std::string name{};                    ///< what the reader calls the run
  std::vector<TrackedRun> other_runs{};  ///< of its machine, for "otava"
  bool with_pauses = false;  ///< also what mprof does between two ops, such as flushing the caches
};

struct Exported {
  std::vector<std::filesystem::path> written;  ///< in order
  std::vector<std::string> left_out;           ///< names of the files that only a trace can fill
  std::string no_trace;                        ///< why they were left out; empty: they were not
  std::string untracked;  ///< "2 wrong and 1 skipped": cases that the files for trackers lack; empty: none
};

/// Writes the files of the formats into `options.out`. The same run makes the same bytes. A file appears when
/// it is complete. Throws Error(usage) for an unknown format or case before anything is written.
[[nodiscard]] Exported write_export(const Run& run, const ExportOptions& options);

/// Whether nothing but a trace fills the files of a format.
[[nodiscard]] bool is_filled_by_traces(std::string_view format);

/// Throws Error(usage) with the nearest names when there is no such format.
void require_export_formats(const std::vector<std::string>& formats);

/// What ExportOptions::other_runs holds of a run. `name`: what the reader calls it; `cases`: as there.
[[nodiscard]] TrackedRun tracked_run(const Run& run, const std::string& name,
                                     const std::vector<std::string>& cases);

/// The parts of write_export(), each in its own file.

/// What to export of a run, its cases in run order.
struct ExportScope {
  const RunAnalysis* analysis = nullptr;
  std::vector<const CaseResult*> cases;  ///< the requested cases
  bool whole = true;                     ///< all of them were
  std::vector<std::string> axes{};       ///< of all families of the run, each once
  [[nodiscard]] const Run& run() const { return *analysis->run; }
};

/// The rows of a trace that belong to a case, by their places there, in the order of the file.
struct ExportedCase {
  const CaseResult* result = nullptr;
  std::int64_t start = std::numeric_limits<std::int64_t>::max();  ///< of the first thing in it
  std::vector<std::uint32_t> kernels{};
  std::vector<std::uint32_t> transfers{};
  std::vector<std::uint32_t> calls{};
  std::vector<std::uint32_t> ranges{};
  std::vector<std::uint32_t> gpu_samples{};  ///< a list of samples for each GPU
};

/// A trace, its cases in run order.
struct ExportedTrace {
  trace::Trace rows;
  std::vector<ExportedCase> cases;
};

/// The timeline, into a file of its own.
class PerfettoSink;
void write_perfetto(const ExportScope& scope, const ExportedTrace& traced, PerfettoSink& sink);

/// The kernels of a case by the call stacks of their launches.
struct CaseStacks {
  std::string id;  ///< of the case
  LaunchLines lines;
};
/// Of the cases whose launches have stacks.
std::vector<CaseStacks> case_stacks(const ExportedTrace& traced);
/// A line for each distinct stack: its frames from the outermost one, its kernel, and the kernel's time in
/// ns. Of several cases the first frame is the case.
std::string folded_stacks(const std::vector<CaseStacks>& cases);
/// The same for speedscope, with a profile for each case. `name`: what the reader calls the run.
std::string speedscope_json(const std::vector<CaseStacks>& cases, const std::string& name);

/// cases.csv, ops.csv, measurements.csv and samples.csv; returns their paths.
std::vector<std::filesystem::path> write_run_tables(const ExportScope& scope,
                                                    const std::filesystem::path& directory);
/// kernels.csv, transfers.csv and api_calls.csv; returns their paths.
std::vector<std::filesystem::path> write_trace_tables(const ExportScope& scope, const ExportedTrace& traced,
                                                      const std::filesystem::path& directory);
/// Their names.
[[nodiscard]] std::vector<std::string> trace_table_names();
/// What the columns of these tables mean, for docs/formats/export.md.
[[nodiscard]] std::string run_tables_as_markdown();
[[nodiscard]] std::string trace_tables_as_markdown();

/// analysis.json as text.
[[nodiscard]] std::string analysis_json(const ExportScope& scope);

/// How the verification of an output ended, in a word: "passed", "failed", or "not verified".
[[nodiscard]] std::string_view verification_word(const std::optional<Verification>& verification);
/// Why a quality of a case has no change; empty when it has one.
[[nodiscard]] std::string why_no_change(const CaseResult& result, const QualityResult& quality);
/// The speed-up in GPU time, with a reason in any case where it is missing.
[[nodiscard]] SpeedUp gpu_speed_up_of(const OpResult& op);

}  // namespace mprof
