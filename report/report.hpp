#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "model/run.hpp"

namespace mprof {

struct ReportOptions {
  std::vector<std::string> formats;  ///< "md", "html"
  std::filesystem::path out;
  std::filesystem::path templates;  ///< files here replace those of the same name; empty: the embedded ones
  std::filesystem::path trace{};    ///< the run's trace.sqlite, which may be missing
  std::filesystem::path check{};    ///< the run's check.json, which may be missing
};

/// Writes milestone.md with charts/*.svg, milestone.html, or both, into `options.out`. The same run makes the
/// same bytes. Returns the files written, in order. Throws Error(usage) for an unknown format, a template
/// that fails, or a trace or check that is there and cannot be read.
std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options);

}  // namespace mprof
