// SPDX-License-Identifier: MIT
#include "report/views/chart_parts.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {

using nlohmann::json;

std::string row_label(const VariantResult& variant) {
  const std::string id = format::one_line(variant.info.id);
  return format::elide(id.substr(std::min(id.find('/') + 1, id.size())), longest_chart_label);
}

json chart_view(std::string_view kind, const std::string& id, const ChartText& text) {
  return {{"id", id},
          {"kind", kind},
          {"file", fmt::format("charts/{}.svg", id)},
          {"title", text.title},
          {"caption", text.caption},
          {"axis", {{"name", text.axis}}}};
}

void set_subject(json& chart, const std::string& op, const Problem* problem) {
  chart["op"] = format::one_line(op);
  if (problem != nullptr) chart["problem"] = problem_id(*problem);
}

std::string how_many_are_drawn(std::size_t all) {
  return all <= most_chart_rows ? std::string()
                                : fmt::format(" Drawn are the {} best of {}.", most_chart_rows, all);
}

std::vector<std::size_t> places_to_draw(std::size_t count, std::size_t most,
                                        std::span<const std::size_t> needed) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count <= most) return all;
  std::set<std::size_t> places{0, count - 1};
  for (const std::size_t place : needed) {
    if (places.size() < most) places.insert(place);
  }
  const std::size_t even = most - places.size();
  for (std::size_t i = 1; i <= even; ++i) places.insert(i * (count - 1) / (even + 1));
  return {places.begin(), places.end()};
}

std::string thinned_text(std::size_t drawn, std::size_t all, const std::string& several) {
  return drawn == all
             ? std::string()
             : fmt::format(" Drawn are {} of {} {}, evenly chosen, the ends and the extremes among them.",
                           format::count(drawn), format::count(all), several);
}

std::string alternative(const std::string& title, const json& rows) {
  constexpr std::size_t most_read_out = 8;
  return fmt::format("Chart: {}, for {}. The tables hold the numbers.", title,
                     rows.size() > most_read_out ? format::plural(rows.size(), "variant")
                                                 : format::list(rows.get<std::vector<std::string>>()));
}

}  // namespace mprof
