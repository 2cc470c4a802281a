// SPDX-License-Identifier: MIT
#include "report/page/fleet_page.hpp"

#include "report/page/charts.hpp"
#include "report/page/render.hpp"
#include "report/views/views.hpp"

namespace mprof {

std::string render_fleet(const Fleet& fleet, const std::filesystem::path& templates) {
  using nlohmann::json;
  const Templates laid_out_by(templates);
  Page page = fleet_page(fleet);
  json charts = json::array();
  for (PlannedChart& planned : page.charts) charts.push_back(std::move(planned.chart));
  add_page_parts(page.view, laid_out_by, charts, {"tables", "report"});
  return render_html(laid_out_by, "fleet", page.view);
}

}  // namespace mprof
