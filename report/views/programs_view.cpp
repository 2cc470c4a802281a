// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/analysis/program/picture.hpp"
#include "report/analysis/program/program_change.hpp"
#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/views.hpp"
#include "report/wording/program.hpp"
#include "report/wording/program_change.hpp"

/// Several programs on one page.
namespace mprof {
namespace {

using nlohmann::json;

constexpr double program_second_of_ns = 1e-9;

/// A program and what its trace says; nullopt: it has none, or did nothing on a GPU.
struct ShownProgram {
  std::string id;  ///< of its variant
  std::string name;
  std::optional<ProgramPicture> picture;
};

/// "train": its family is the one of all programs.
std::string program_name(const VariantResult& variant) {
  const std::string& id = variant.info.id;
  return format::short_id(id.substr(std::min(id.find('/') + 1, id.size())));
}

double program_pace(const ProgramPicture& picture) {
  return picture.steps ? picture.steps->median_pace() * program_second_of_ns
                       : static_cast<double>(picture.told.length()) * program_second_of_ns;
}

Cell share_figure(double share) {
  return Cell::figure(format::percent(share)).valued(share);
}

Table programs_table(const std::vector<ShownProgram>& programs, const PageContext& page) {
  const bool all_have_steps = std::ranges::all_of(
      programs, [](const ShownProgram& one) { return one.picture && one.picture->steps; });
  Table table(
      page.anchor("programs"),
      fmt::format(
          "The programs. {}Each was traced once.",
          all_have_steps ? "" : "Of one without steps the time is from its first CUDA call to its end. "));
  table.text("Program").numbers(all_have_steps ? "A step" : "A step, or all", Unit::second).numbers("Steps");
  table.numbers("The GPU is busy").numbers("Kernels a step").text("Bound by").numbers("Without that at most");
  table.numbers("GPU memory", Unit::byte);
  for (const auto& [id, name, picture] : programs) {
    if (!picture) {
      table.row({Cell::words(name).noted("it did nothing on a GPU that was traced")});
      continue;
    }
    const TimeBudget& budget = picture->budget;
    const double busy = 1 - static_cast<double>(budget.idle()) / static_cast<double>(budget.window);
    const std::size_t steps = picture->steps ? picture->steps->steady_steps() : 0;
    const double launches =
        static_cast<double>(picture->launches) / static_cast<double>(std::max<std::size_t>(steps, 1));
    table.row(
        {Cell::words(name), Cell::bare(derived_value(program_pace(*picture))),
         steps > 0 ? Cell::figure(format::count(steps)).valued(static_cast<double>(steps))
                   : Cell::missing("no steps were found"),
         share_figure(busy), Cell::figure(format::significant(launches, 3)).valued(launches),
         Cell::words(bound_name(picture->bound)),
         picture->gain ? Cell::figure(format::times(*picture->gain)).valued(*picture->gain) : Cell::dash(),
         picture->memory.use ? Cell::bare(derived_value(static_cast<double>(picture->memory.use->peak)))
                             : Cell::missing("the trace does not say it")});
  }
  return table;
}

/// The others against the first one.
json changes_of(const std::vector<ShownProgram>& programs) {
  json lines = json::array();
  const ShownProgram& first = programs.front();
  if (!first.picture) return lines;
  for (std::size_t i = 1; i < programs.size(); ++i) {
    const ShownProgram& other = programs[i];
    if (!other.picture) continue;
    const auto change = program_change(*first.picture, *other.picture);
    const std::string lead = fmt::format("{} → {}", first.name, other.name);
    const std::size_t before = lines.size();
    if (!change) {
      lines.push_back({{"lead", lead}, {"text", "Their steps are not the same, so they are not compared."}});
      continue;
    }
    for (const LedText& line : traced_change_lines(*change))
      lines.push_back({{"lead", line.lead}, {"text", line.text}});
    json& step = lines[before];
    step = {
        {"lead", lead},
        {"text", fmt::format("{}: {}", step["lead"].get<std::string>(), step["text"].get<std::string>())}};
  }
  return lines;
}

/// "a step 51.96 ms, bound by the GPU"
std::string headline_of(const ProgramPicture& picture) {
  return fmt::format("{} {}, bound by {}", picture.steps ? "a step" : "all",
                     format::quantity(program_pace(picture), Unit::second), bound_name(picture.bound));
}

}  // namespace

json programs_view(const FamilyResult& family, const PageContext& page) {
  constexpr std::size_t most_screens = 4;
  if (family.id != own_family || family.variants.size() < 2) return false;
  std::vector<ShownProgram> programs;
  for (const VariantResult& variant : family.variants)
    programs.push_back({variant.info.id, program_name(variant),
                        picture_of_variant(family, variant, page.materials->evidence)});
  if (std::ranges::none_of(programs, [](const ShownProgram& one) { return one.picture.has_value(); }))
    return false;
  json screens = json::array();
  std::size_t left_out = 0;
  for (const auto& [id, name, picture] : programs) {
    if (!picture) continue;
    if (screens.size() == most_screens) {
      ++left_out;
      continue;
    }
    screens.push_back(program_screen(*picture, page));
    screens.back()["id"] = id;
    screens.back()["name"] = name;
    screens.back()["figure"] = headline_of(*picture);
    for (const auto& [member, text] : {std::pair{"level", "4"}, std::pair{"hashes", "####"}})
      screens.back()[member] = text;
  }
  json changes = changes_of(programs);
  return {{"table", programs_table(programs, page).view()},
          {"has_changes", !changes.empty()},
          {"changes", std::move(changes)},
          {"screens", std::move(screens)},
          {"more", left_out == 0
                       ? ""
                       : fmt::format("{} more: import {} alone to see the rest.",
                                     format::plural(left_out, "program"), left_out == 1 ? "it" : "them")}};
}

json as_program_view(const FamilyResult& family, const VariantResult& variant, const PageContext& page) {
  if (family.id == own_family || !variant.info.is_program()) return false;
  const auto picture = picture_of_variant(family, variant, page.materials->evidence);
  if (!picture) return false;
  json lines = json::array();
  for (const LedText& line : program_lines(*picture))
    lines.push_back({{"lead", line.lead}, {"text", line.text}});
  return {{"at", family.words.at(picture->result->key.problem)}, {"lines", std::move(lines)}};
}

}  // namespace mprof
