#include "report/page/comparison_page.hpp"

#include <fmt/format.h>

#include "report/page/render.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"

namespace mprof {

using nlohmann::json;

std::string render_comparison(const Comparison& comparison, std::string_view format,
                              const ComparisonLayout& layout) {
  if (format == "json") {
    return comparison_json(comparison).dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }
  const Templates templates(layout.templates);
  json view = comparison_view(comparison);
  if (format == "md") return render_markdown(templates, "compare", view);
  if (format == "html") {
    view["style_css"] = templates.load("style.css");
    return render_html(templates, "compare", view);
  }
  if (format != "text") {
    throw Error(ExitCode::usage,
                fmt::format("there is no comparison format '{}'. Use text, md, html or json.", format));
  }
  for (json& table : view["tables"]) table["text"] = text_table(table, layout.width);
  return render_text(templates, "compare", view);
}

}  // namespace mprof
