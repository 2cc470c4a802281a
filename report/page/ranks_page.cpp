// SPDX-License-Identifier: MIT
#include "report/page/ranks_page.hpp"

#include <fmt/format.h>

#include "report/page/charts.hpp"
#include "report/page/render.hpp"
#include "report/text/format.hpp"
#include "report/views/ranks_view.hpp"
#include "report/wording/ranks.hpp"

namespace mprof {

std::string render_ranks(const World& world, const std::filesystem::path& templates) {
  using nlohmann::json;
  const Templates laid_out_by(templates);
  Page page = ranks_page(world);
  json charts = json::array();
  for (PlannedChart& planned : page.charts) charts.push_back(std::move(planned.chart));
  add_page_parts(page.view, laid_out_by, charts, {"tables", "report"});
  return render_html(laid_out_by, "ranks", page.view);
}

std::string render_ranks_text(const World& world, bool all, std::size_t width) {
  constexpr std::size_t shown = 16;
  std::string out;
  for (const std::string& sentence : rank_sentences(world))
    out += format::wrapped(format::one_line(sentence), width) + "\n";
  for (const std::string& doubt : rank_doubts(world))
    out += format::wrapped("Note: " + format::one_line(doubt), width, 2) + "\n";
  if (world.steps == 0) return out;
  const auto add = [&](const Table& table) { out += "\n" + text_table(table.view(), width); };
  add(ranks_table(world, all ? world.ranks.size() : shown));
  if (world.ranks.size() > shown && !all)
    out += fmt::format("--all shows all {} ranks.\n", world.ranks.size());
  if (!world.rates.empty()) add(rates_table(world));
  return out;
}

}  // namespace mprof
