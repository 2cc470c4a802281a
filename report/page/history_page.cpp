// SPDX-License-Identifier: MIT
#include "report/page/history_page.hpp"

#include <fmt/format.h>

#include "report/page/charts.hpp"
#include "report/page/render.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// One file that needs nothing else, and draws its charts itself.
std::string history_html(const Templates& templates, const Page& page) {
  json view = page.view, charts = json::array();
  for (const PlannedChart& planned : page.charts) charts.push_back(planned.chart);
  add_page_parts(view, templates, charts, {"tables", "report"});
  return render_html(templates, "history", view);
}

std::string history_text(const Templates& templates, json view, std::size_t width) {
  for (const char* table : {"runs", "changes", "series"}) {
    if (view[table].is_object()) view[table]["text"] = text_table(view[table], width);
  }
  return render_text(templates, "history", view);
}

json without_charts(json view) {
  view["charts"] = json::array();
  view["has_charts"] = false;
  return view;
}

}  // namespace

std::string render_history(const History& history, std::string_view format, const HistoryLayout& layout) {
  if (format == "json")
    return history_json(history).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  const Templates templates(layout.templates);
  const Page page = history_page(history, layout.all);
  if (format == "md") return render_markdown(templates, "history", without_charts(page.view));
  if (format == "html") return history_html(templates, page);
  if (format == "text") return history_text(templates, page.view, layout.width);
  throw Error(ExitCode::usage,
              fmt::format("there is no format '{}' of a history. Use text, md, html or json.", format));
}

std::vector<std::filesystem::path> write_history(const History& history, std::string_view format,
                                                 const HistoryLayout& layout,
                                                 const std::filesystem::path& file) {
  if (format != "md") {
    write_output(file, render_history(history, format, layout));
    return {file};
  }
  const Templates templates(layout.templates);
  const Page page = history_page(history, layout.all);
  std::vector<std::filesystem::path> written{file};
  write_output(file, render_markdown(templates, "history", page.view));
  if (page.charts.empty()) return written;
  const ChartRenderer renderer(templates);
  for (const PlannedChart& planned : page.charts) {
    const std::string chart = planned.chart["file"].get<std::string>();
    write_file_below(file.parent_path(), chart, renderer.svg(planned.chart));
    written.push_back(file.parent_path() / chart);
  }
  return written;
}

}  // namespace mprof
