#include "report/report.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/check_file.hpp"
#include "model/error.hpp"
#include "model/run_file.hpp"
#include "report/analysis.hpp"
#include "report/charts.hpp"
#include "report/render.hpp"
#include "report/views.hpp"

namespace mprof {
namespace {

using nlohmann::json;
using Paths = std::vector<std::filesystem::path>;

json all_charts(const json& view) {
  json charts = json::array();
  for (const json& family : view["families"]) {
    for (const json& chart : family["charts"]) charts.push_back(chart);
    for (const json& part : family["speed_of_light"]["parts"]) {
      for (const json& chart : part["charts"]) charts.push_back(chart);
    }
  }
  return charts;
}

void write(const std::filesystem::path& path, const std::string& contents, Paths& written) {
  write_file(path, contents);
  written.push_back(path);
}

void write_markdown(const json& view, const Templates& templates, const std::filesystem::path& out,
                    Paths& written) {
  write(out / "milestone.md", render_markdown(templates, "milestone", view), written);
  const json charts = all_charts(view);
  if (charts.empty()) return;
  const ChartRenderer renderer(templates);
  for (const json& chart : charts)
    write(out / chart["file"].get<std::string>(), renderer.svg(chart), written);
}

/// One file that needs nothing else: style, scripts and chart data are inside.
void write_html(json view, const Templates& templates, const std::filesystem::path& out, Paths& written) {
  view["style_css"] = templates.load("style.css");
  view["echarts_js"] = templates.load("echarts.min.js");
  view["charts_js"] = templates.load("charts.js");
  view["report_js"] = templates.load("report.js");
  view["chart_data"] = json_for_script(all_charts(view));
  write(out / "milestone.html", render_html(templates, "milestone", view), written);
}

void require_known(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format == "md" || format == "html") continue;
    throw Error(ExitCode::usage,
                fmt::format("there is no report format '{}'. Use md, html or both.", format));
  }
}

}  // namespace

std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options) {
  require_known(options.formats);
  const Templates templates(options.templates);
  const std::optional<Check> check = read_check(options.check);
  const RunAnalysis analysis = analyse(run, check ? &*check : nullptr);
  const json view = milestone_view(analysis, read_evidence(run, options.trace));
  const auto wanted = [&](std::string_view format) {
    return std::find(options.formats.begin(), options.formats.end(), format) != options.formats.end();
  };
  Paths written;
  if (wanted("md")) write_markdown(view, templates, options.out, written);
  if (wanted("html")) write_html(view, templates, options.out, written);
  return written;
}

}  // namespace mprof
