// SPDX-License-Identifier: MIT
#include <set>

#include "report/text/format.hpp"
#include "report/text/rich_text.hpp"
#include "report/views/views.hpp"

/// What a user wrote beside the run, woven into the report.
namespace mprof {
namespace {

using nlohmann::json;

constexpr std::string_view introduction = "introduction";
constexpr std::string_view conclusion = "conclusion";

json note_named(std::string_view name, const PageContext& page, int heading_level) {
  const auto note = page.materials->notes.find(std::string(name));
  return note == page.materials->notes.end() ? json(false) : note_text(note->second, page, heading_level);
}

/// "family/variant.md" as a note's link, and "#family-variant" of the page, lead to that variant.
std::string place_on_page(std::string_view address, const PageContext& page) {
  if (address.starts_with('#')) return std::string(address);
  const std::string name =
      std::filesystem::path(address).lexically_normal().replace_extension().generic_string();
  const auto anchor = page.variants.find(name);
  return anchor == page.variants.end() ? std::string() : "#" + anchor->second;
}

}  // namespace

json note_text(const Note& note, const PageContext& page, int heading_level) {
  RichTextPlace place;
  place.heading_level = heading_level;
  place.pictures = note.file.parent_path();
  place.html_link = [&page](std::string_view address) { return place_on_page(address, page); };
  place.markdown_link = [&](std::string_view address) {
    const std::filesystem::path beside = std::filesystem::path("notes") / note.name;
    return page.materials->linked && !address.starts_with('#')
               ? (beside.parent_path() / address).lexically_normal().generic_string()
               : std::string();
  };
  const RichText text = rich_text(note.text, place);
  return text.empty() ? json(false) : json{{"html", text.html}, {"markdown", text.markdown}};
}

json notes_view(const RunAnalysis& analysis, const PageContext& page) {
  std::set<std::string, std::less<>> woven_in{std::string(introduction), std::string(conclusion)};
  for (const FamilyResult& family : analysis.families) {
    for (const VariantResult& variant : family.variants) woven_in.insert(variant.info.id);
  }
  json others = json::array();
  for (const auto& [name, note] : page.materials->notes) {
    if (woven_in.contains(name)) continue;
    const std::string title = title_of(note.text);
    others.push_back({{"anchor", page.anchor("note " + name)},
                      {"title", format::one_line(title.empty() ? name : title)},
                      {"needs_title", title.empty()},
                      {"text", note_text(note, page, 3)}});
  }
  return {{"introduction", note_named(introduction, page, 3)},
          {"conclusion", note_named(conclusion, page, 3)},
          {"others", others},
          {"has_others", !others.empty()}};
}

}  // namespace mprof
