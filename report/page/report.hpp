// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "model/trace/trace.hpp"
#include "report/analysis/judgement/selection.hpp"
#include "report/views/views.hpp"

namespace mprof {

struct ReportOptions {
  std::vector<std::string> formats;  ///< "md", "html", "pdf"
  std::filesystem::path out;
  std::filesystem::path templates;  ///< files here replace embedded files of the same name; empty: the
                                    ///< embedded ones
  /// The run's own: its trace, check, sources and notes, any of which may be missing.
  std::filesystem::path directory{};
  ReportText text{};
  Selection selection{};
  OwnSources own_sources{};  ///< for runs that keep no drawings; may be empty
  bool dump_view = false;    ///< also writes milestone.view.json, what templates are given
  /// Called for each file once it is complete, so that a later failure does not hide the ones before it.
  std::function<void(const std::filesystem::path&)> written{};
};

/// Writes milestone.md with charts/*.svg, milestone.html and milestone.pdf, or some of them and in this
/// order, into `options.out`. The same run makes the same bytes, but for the PDF, which says when it was
/// printed. Returns the files written, in order. A trace that was read with the run is not read again
/// (read_materials()).
///
/// Throws Error(usage) for an unknown format, a template that fails, a variant that the run lacks, or a file
/// of the run that cannot be read. Throws Error(environment) where a PDF is asked for and Chromium is
/// missing: the other formats are there then.
std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options,
                                                std::optional<trace::Trace> trace = std::nullopt);

}  // namespace mprof
