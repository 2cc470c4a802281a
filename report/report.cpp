#include "report/report.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/error.hpp"
#include "model/run_file.hpp"
#include "report/analysis.hpp"
#include "report/charts.hpp"
#include "report/pdf.hpp"
#include "report/render.hpp"
#include "report/views.hpp"

namespace mprof {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

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

/// The files of a report as they come about.
class Output {
 public:
  explicit Output(const ReportOptions& options) : options_(options) {}
  void write(const fs::path& name, const std::string& contents) {
    const fs::path path = options_.out / name;
    write_file(path, contents);
    written_.push_back(path);
    if (options_.written) options_.written(path);
  }
  [[nodiscard]] const std::vector<fs::path>& written() const { return written_; }

 private:
  const ReportOptions& options_;
  std::vector<fs::path> written_;
};

void write_markdown(const json& view, const Templates& templates, Output& output) {
  output.write("milestone.md", render_markdown(templates, "milestone", view));
  const json charts = all_charts(view);
  if (charts.empty()) return;
  const ChartRenderer renderer(templates);
  for (const json& chart : charts) output.write(chart["file"].get<std::string>(), renderer.svg(chart));
}

/// One file that needs nothing else: style, scripts and chart data are inside.
std::string html_of(json view, const Templates& templates) {
  view["style_css"] = templates.load("style.css");
  view["echarts_js"] = templates.load("echarts.min.js");
  view["charts_js"] = templates.load("charts.js");
  view["tables_js"] = templates.load("tables.js");
  view["report_js"] = templates.load("report.js");
  view["chart_data"] = json_for_script(all_charts(view));
  return render_html(templates, "milestone", view);
}

void require_known(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format == "md" || format == "html" || format == "pdf") continue;
    throw Error(ExitCode::usage,
                fmt::format("there is no report format '{}'. Use some of md, html and pdf.", format));
  }
}

}  // namespace

std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options) {
  require_known(options.formats);
  const Templates templates(options.templates);
  const RunAnalysis analysis = analyse(run);
  const json view = milestone_view(analysis, read_evidence(run, options.trace));
  const auto wanted = [&](std::string_view format) {
    return std::find(options.formats.begin(), options.formats.end(), format) != options.formats.end();
  };
  Output output(options);
  if (wanted("md")) write_markdown(view, templates, output);
  if (!wanted("html") && !wanted("pdf")) return output.written();
  const std::string html = html_of(view, templates);
  if (wanted("html")) output.write("milestone.html", html);
  if (wanted("pdf")) output.write("milestone.pdf", print_to_pdf(find_chromium(), html));
  return output.written();
}

}  // namespace mprof
