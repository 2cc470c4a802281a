// SPDX-License-Identifier: MIT
#include <algorithm>

#include <fmt/format.h>

#include "report/analysis/judgement/verification.hpp"
#include "report/text/format.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/precision.hpp"

/// How a variant works: its story, its code, how its correctness was shown, what its author expected.
namespace mprof {
namespace {

using nlohmann::json;

/// Headings of a story that have a place of their own in the report.
constexpr std::string_view correctness_heading = "How its correctness is shown";
constexpr std::string_view combination_heading = "Combines with";
constexpr std::string_view reference_heading = "References";
constexpr std::string_view main_heading = "How it works";

constexpr int below_a_part = 5;

/// "other.md" beside the story of family/variant is the story of family/other.
std::string variant_of_story(const VariantInfo& info, std::string_view address) {
  const std::filesystem::path target(address.substr(0, address.find('#')));
  if (target.extension() != ".md" && target.extension() != ".cu" && target.extension() != ".cpp") return {};
  return (std::filesystem::path(info.id).parent_path() / target)
      .lexically_normal()
      .replace_extension()
      .generic_string();
}

RichTextPlace place_of_story(const VariantInfo& info, const PageContext& page) {
  RichTextPlace place;
  place.heading_level = below_a_part;
  place.html_link = [&info, &page](std::string_view address) {
    const auto anchor = page.variants.find(variant_of_story(info, address));
    return anchor == page.variants.end() ? std::string() : "#" + anchor->second;
  };
  place.markdown_link = [&info, &page](std::string_view address) {
    const auto source = page.materials->sources.find(variant_of_story(info, address));
    const bool there = page.materials->linked && source != page.materials->sources.end() &&
                       !source->second.story_file.empty();
    return there ? source->second.story_file : std::string();
  };
  return place;
}

json both_forms(const RichText& text) {
  if (text.html.empty()) return false;
  return {{"html", text.html}, {"markdown", text.markdown}};
}

/// Longer than any run of backticks in the code, so that nothing in it ends the block.
std::string fence_for(std::string_view code) {
  std::size_t longest = 2, run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

json code_view(const std::string& title, const std::string& code, const std::string& file) {
  return {{"title", title},
          {"text", code},
          {"fence", fence_for(code)},
          {"language", file.ends_with(".cu") ? "cuda" : "cpp"}};
}

std::size_t lines_in(std::string_view code) {
  return static_cast<std::size_t>(std::ranges::count(code, '\n'));
}

json code_views(const VariantSource& source) {
  json list = json::array();
  for (const Excerpt& excerpt : excerpts_of(source.code)) {
    list.push_back(
        code_view(fmt::format("{}, lines {} to {} of {}", format::one_line(excerpt.name), excerpt.first_line,
                              excerpt.last_line, format::one_line(source.file)),
                  excerpt.text, source.file));
  }
  return list;
}

/// What this run's own verification says of the variant's output.
std::string verified_sentence(const FamilyResult& family, const VariantResult& variant) {
  const VerificationSummary& sum = variant.verified;
  for (const CaseResult& result : variant.cases) {
    const std::string_view by = verified_by(*result.source);
    if (by.empty()) continue;
    const bool wrong =
        std::ranges::any_of(variant.cases, [](const CaseResult& one) { return one.status == Status::wrong; });
    return fmt::format("In this run its output was verified {}{}.", format::one_line(by),
                       wrong ? ", and was wrong" : "");
  }
  if (sum.outputs == 0) return "No output of it was verified in this run.";
  const std::string right = right_in(*sum.worst);
  return fmt::format(
      "In this run {} of {} passed; the largest relative L2 error of {} is {}, the tolerance {}.", sum.passed,
      format::plural(sum.outputs, "verification"), family.words.an_item(),
      format::scientific(sum.worst->relative_l2),
      format::scientific(sum.worst->tolerance) +
          (right.empty() ? "" : ": " + right + declare_hint(*sum.worst)));
}

/// The qualities at the largest problem, beside its baseline's.
std::vector<std::string> quality_sentences(const FamilyResult& family, const VariantResult& variant) {
  std::vector<std::string> sentences;
  const CaseResult* result = variant.largest_timed();
  if (result == nullptr) return sentences;
  for (const QualityResult& quality : result->qualities) {
    if (!quality.value) continue;
    const Unit unit = quality.info->unit;
    const std::string change =
        !quality.change ? ""
        : *quality.change == 0.0
            ? ", the same as its baseline's"
            : fmt::format(", {} against its baseline's", format::signed_quality(*quality.change, unit));
    sentences.push_back(fmt::format("With it the {} is {} {}{}.", quality_word(*quality.info),
                                    format::quality(quality.value->median, unit),
                                    family.words.at(result->key.problem), change));
  }
  return sentences;
}

json expected_views(const FamilyResult& family, const VariantInfo& info) {
  json list = json::array();
  for (const Expectation& expectation : info.expectations) {
    list.push_back({{"what", format::one_line(expected_text(family, expectation))},
                    {"because", format::one_line(expectation.because)}});
  }
  return list;
}

/// The drawing of the idea: in the page itself, and as a file beside the Markdown.
json schematic_view(const VariantInfo& info, const Schematic& schematic, PagePlan& plan) {
  if (schematic.empty()) return false;
  return {{"title", schematic.title},
          {"text", schematic.description},
          {"svg", schematic.inline_svg},
          {"file", plan.keep(info.id + " schematic", schematic.file_svg)}};
}

}  // namespace

json story_view(const FamilyResult& family, const VariantResult& variant, const PageContext& page) {
  const VariantInfo& info = variant.info;
  const auto found = page.materials->sources.find(info.id);
  const VariantSource source = found == page.materials->sources.end() ? VariantSource{} : found->second;
  std::string how, details, correctness, combines;
  for (const TextSection& section : sections_of(source.story)) {
    if (section.title == correctness_heading) {
      correctness += section.markdown;
    } else if (section.title == combination_heading) {
      combines += section.markdown;
    } else if (section.title == main_heading || section.title.empty()) {
      how += section.markdown;
    } else if (section.title != reference_heading) {
      details += fmt::format("\n## {}\n\n{}", section.title, section.markdown);
    }
  }
  const RichTextPlace place = place_of_story(info, page);
  const json excerpts = code_views(source), expected = expected_views(family, info);
  json verified = json::array({verified_sentence(family, variant)});
  for (const std::string& sentence : quality_sentences(family, variant)) verified.push_back(sentence);
  const bool as_it_is = info.is_program() || info.is_imported();
  json view{{"heading", as_it_is ? "Is its output right?" : std::string(main_heading)},
            {"schematic", schematic_view(info, source.schematic, *page.plan)},
            {"how", both_forms(rich_text(how, place))},
            {"details", both_forms(rich_text(details, place))},
            {"correctness", both_forms(rich_text(correctness, place))},
            {"combines", both_forms(rich_text(combines, place))},
            {"excerpts", excerpts},
            {"outputs", verified.front()},
            {"verified", verified},
            {"expected", expected},
            {"has_expected", !expected.empty()},
            {"file", false}};
  if (!source.code.empty()) {
    view["file"] = code_view(fmt::format("All of {}, {}", format::one_line(source.file),
                                         format::plural(lines_in(source.code), "line")),
                             source.code, source.file);
    view["file"]["path"] = page.materials->linked ? format::one_line(source.file) : "";
  }
  return view;
}

}  // namespace mprof
