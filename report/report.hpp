#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.hpp"
#include "report/selection.hpp"
#include "report/views.hpp"

namespace mprof {

struct ReportOptions {
  std::vector<std::string> formats;  ///< "md", "html"
  std::filesystem::path out;
  std::filesystem::path templates;  ///< files here replace those of the same name; empty: the embedded ones
  std::filesystem::path
      directory{};  ///< the run's own: its trace, check, sources and notes, any of which may be missing
  ReportText text{};
  Selection selection{};
  bool dump_view = false;  ///< also writes milestone.view.json, what templates are given
};

/// Writes milestone.md with charts/*.svg, milestone.html, or both, into `options.out`. The same run makes the
/// same bytes. Returns the files written, in order. Throws Error(usage) for an unknown format, a template
/// that fails, a variant that the run has not, or a file of the run that is there and cannot be read.
std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options);

}  // namespace mprof
