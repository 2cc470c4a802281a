// SPDX-License-Identifier: MIT
#include "report/page/comparison_page.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "report/page/charts.hpp"
#include "report/page/render.hpp"
#include "report/text/format.hpp"
#include "report/views/comparison_charts.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// One file that needs nothing else, like the page of a report.
std::string html_of(const Comparison& comparison, json view, const Templates& templates) {
  ComparisonCharts drawn = comparison_charts(comparison);
  view["drawn"] = std::move(drawn.view);
  add_page_parts(view, templates, drawn.charts, {"tables", "report", "filters"});
  return render_html(templates, "compare", view);
}

void lay_out_tables(json& tables, std::size_t width) {
  for (json& table : tables) {
    table["text"] = text_table(table, width);
    for (json& note : table["notes"])
      note["text"] = format::wrapped(note["text"].get<std::string>(), width, 4);  // "[a] "
  }
}

/// Breaks whatever is longer than a line of a terminal.
void lay_out_text(json& view, std::size_t width) {
  lay_out_tables(view["tables"], width);
  for (json& program : view["programs"]) {
    lay_out_tables(program["tables"], width);
    for (json& line : program["lines"])
      line["text"] = format::wrapped(
          fmt::format("{}: {}", line["lead"].get<std::string>(), line["text"].get<std::string>()), width, 4);
  }
  for (json& change : view["changes"]) change["text"] = change_text(change, width);
  for (const char* list : {"unlike", "notes"}) {
    for (json& line : view[list]) line = format::wrapped(line.get<std::string>(), width, 2);
  }
  for (const char* sentence : {"left_out", "untold", "means", "verdicts", "headline", "is_unlike"})
    view[sentence] = format::wrapped(view[sentence].get<std::string>(), width);
  for (json& one : view["regressions"]) {
    const std::string line =
        fmt::format("regression: {}: {}", one["id"].get<std::string>(), one["what"].get<std::string>());
    one["text"] = format::wrapped(line, width, 2);
  }
  for (const char* list : {"only_in_a", "only_in_b"}) {
    const auto ids = view[list].get<std::vector<std::string>>();
    view[list] = format::wrapped(fmt::format("{}", fmt::join(ids, " ")), width, 2);
  }
}

}  // namespace

std::string render_comparison(const Comparison& comparison, std::string_view format,
                              const ComparisonLayout& layout) {
  if (format == "json") {
    return comparison_json(comparison).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }
  const Templates templates(layout.templates);
  constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();
  const bool all = layout.all || format == "html";
  json view = comparison_view(
      comparison, all ? ComparisonScope{Importance::unchanged, no_limit, no_limit} : ComparisonScope{});
  if (format == "md") return render_markdown(templates, "compare", view);
  if (format == "html") return html_of(comparison, std::move(view), templates);
  if (format != "text") {
    throw Error(ExitCode::usage,
                fmt::format("there is no comparison format '{}'. Use text, md, html or json.", format));
  }
  lay_out_text(view, layout.width);
  return render_text(templates, "compare", view);
}

std::string render_step_summary(const Comparison& comparison, std::size_t most_bytes) {
  const Templates templates;
  for (std::size_t most = comparison.cases.size();; most /= 2) {
    const json view = comparison_view(comparison, {Importance::faster, most, 0});
    std::string text = render_markdown(templates, "compare_summary", view);
    if (text.size() <= most_bytes) return text;
    if (most > 0) continue;
    // What is left is the headline and long names.
    text.resize(most_bytes);
    return text;
  }
}

}  // namespace mprof
