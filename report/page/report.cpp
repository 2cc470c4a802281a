// SPDX-License-Identifier: MIT
#include "report/page/report.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/analysis/analysis.hpp"
#include "report/page/charts.hpp"
#include "report/page/pdf.hpp"
#include "report/page/render.hpp"
#include "report/views/packed_rows.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/helpers.hpp"

namespace mprof {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// The files of a report as they come about.
class Output {
 public:
  explicit Output(const ReportOptions& options) : options_(options) {}
  void write(const fs::path& name, const std::string& contents) {
    const fs::path path = options_.out / name;
    write_file_below(options_.out, name, contents);
    written_.push_back(path);
    if (options_.written) options_.written(path);
  }
  [[nodiscard]] const std::vector<fs::path>& written() const { return written_; }

 private:
  const ReportOptions& options_;
  std::vector<fs::path> written_;
};

/// Draws a page's charts that are for paper on several threads, beside what is done until they are asked for:
/// a chart takes a quarter of a second of JavaScript.
class Drawing {
 public:
  Drawing(const Page& page, const Templates& templates) : templates_(templates) {
    for (const auto& [chart, drawn_on] : page.charts) {
      if (drawn_on != DrawnOn::screen) charts_.push_back(chart);
    }
    drawings_.resize(charts_.size());
    // A renderer takes as long to be made as a chart to be drawn.
    constexpr std::size_t charts_of_thread = 3;
    helpers_ = start_helpers(charts_.size(), charts_of_thread, [this] { draw(); });
  }
  ~Drawing() { next_ = charts_.size(); }
  Drawing(const Drawing&) = delete;
  Drawing& operator=(const Drawing&) = delete;

  void write(Output& output) {
    draw();
    for (std::future<void>& helper : helpers_) helper.get();
    for (std::size_t i = 0; i < charts_.size(); ++i)
      output.write(charts_[i]["file"].get<std::string>(), drawings_[i]);
  }

 private:
  void draw() {
    if (next_ >= charts_.size()) return;
    const ChartRenderer renderer(templates_);
    for (std::size_t i = next_++; i < charts_.size(); i = next_++) drawings_[i] = renderer.svg(charts_[i]);
  }

  const Templates& templates_;
  std::vector<json> charts_{};
  std::vector<std::string> drawings_{};
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::future<void>> helpers_{};
};

void write_markdown(const Page& page, const Templates& templates, Output& output) {
  for (const char* length : {"brief", "milestone", "evidence"})
    output.write(fmt::format("{}.md", length), render_markdown(templates, length, page.view));
  for (const auto& [file, contents] : page.files) output.write(file, contents);
}

/// What colours code: the parts of Prism for C++, in the order in which they need each other.
std::string prism(const Templates& templates) {
  std::string script;
  for (const char* part : {"core", "clike", "c", "cpp"})
    script += templates.load(fmt::format("prism-{}.min.js", part)) + "\n";
  return script;
}

/// One file that needs nothing else: style, scripts and chart data are inside.
std::string html_of(Page page, const Templates& templates) {
  json view = std::move(page.view), charts = json::array();
  for (auto& [chart, drawn_on] : page.charts) {
    if (drawn_on != DrawnOn::paper) charts.push_back(std::move(chart));
  }
  add_page_parts(view, templates, charts, {"code", "tables", "timeline", "step", "flame", "report"});
  view["prism_js"] = prism(templates);
  return render_html(templates, "milestone", view);
}

void require_known(const std::vector<std::string>& formats) {
  for (const std::string& format : formats) {
    if (format == "md" || format == "html" || format == "pdf") continue;
    throw Error(ExitCode::usage,
                fmt::format("there is no report format '{}'. Use some of md, html and pdf.", format));
  }
}

bool same_directory(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return !b.empty() && std::filesystem::equivalent(a, b, error) && !error;
}

}  // namespace

std::vector<std::filesystem::path> write_report(const Run& run, const ReportOptions& options,
                                                std::optional<trace::Trace> trace) {
  require_known(options.formats);
  const Templates templates(options.templates);
  std::optional<Run> part;  // a run takes half of a report's memory
  if (const auto& [only, baseline] = options.selection; !only.empty() || !baseline.empty())
    part = selected(run, options.selection);
  const Run& chosen = part ? *part : run;
  Materials materials = read_materials(chosen, options.directory, options.own_sources, std::move(trace));
  materials.linked = same_directory(options.out, options.directory);
  const RunAnalysis analysis = analyse(chosen, materials.sanitizer ? &*materials.sanitizer : nullptr, &run);
  Page page = milestone_page(analysis, materials, options.text);
  const auto wanted = [&](std::string_view format) {
    return std::find(options.formats.begin(), options.formats.end(), format) != options.formats.end();
  };
  Output output(options);
  if (options.dump_view) {
    json view = page.view;
    unpack(view);
    output.write("milestone.view.json", view.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
  }
  std::optional<Drawing> drawing;
  if (wanted("md")) {
    drawing.emplace(page, templates);
    write_markdown(page, templates, output);
  }
  const bool is_html_wanted = wanted("html") || wanted("pdf");
  const std::string html = is_html_wanted ? html_of(std::move(page), templates) : "";
  if (drawing) drawing->write(output);
  if (wanted("html")) output.write("milestone.html", html);
  if (wanted("pdf")) output.write("milestone.pdf", print_to_pdf(find_chromium(), html));
  return output.written();
}

}  // namespace mprof
