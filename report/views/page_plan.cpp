// SPDX-License-Identifier: MIT
#include "report/views/page_plan.hpp"

#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {

using nlohmann::json;

std::string Anchors::make(std::string_view text) {
  const std::string slug = format::slug(text);
  const std::string base = slug.empty() ? "part" : slug;
  std::string name = base;
  for (int n = 2; !taken_.insert(name).second; ++n) name = fmt::format("{}-{}", base, n);
  return name;
}

json PagePlan::place(json chart, DrawnOn drawn_on) {
  json said = json::object();
  for (const char* member : {"id", "file", "title", "caption", "alt"}) said[member] = chart[member];
  charts_.push_back({std::move(chart), drawn_on});
  return said;
}

std::string PagePlan::keep(std::string_view name, std::string contents) {
  const std::string file = fmt::format("charts/{}.svg", anchors.make(name));
  files_[file] = std::move(contents);
  return file;
}

}  // namespace mprof
