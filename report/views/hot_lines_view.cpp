// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "report/analysis/kernels/hot_lines.hpp"
#include "report/text/format.hpp"
#include "report/views/program_parts.hpp"
#include "report/views/variant_parts.hpp"

/// The lines of a kernel's source at which its warps stood most often.
namespace mprof {
namespace {

/// Of a line of code, what a table has room for.
constexpr std::size_t longest_code = 72;

/// The line as the run keeps it, without what stands before and behind it; "" where it keeps no such file.
std::string code_at(const VariantSource& source, const SourceLine& line) {
  if (source.file != line.file) return {};
  std::string_view code = source.code;
  for (std::uint32_t passed = 1; passed < line.line; ++passed) {
    const std::size_t end = code.find('\n');
    if (end == std::string_view::npos) return {};
    code.remove_prefix(end + 1);
  }
  code = code.substr(0, code.find('\n'));
  const std::size_t first = code.find_first_not_of(" \t"), last = code.find_last_not_of(" \t");
  if (first == std::string_view::npos) return {};
  const std::string text(code.substr(first, last - first + 1));
  return text.size() <= longest_code ? text : text.substr(0, longest_code - 1) + "…";
}

/// "tiled.cu:57".
std::string place_of_line(const SourceLine& line) {
  return fmt::format("{}:{}", line.file.substr(line.file.rfind('/') + 1), line.line);
}

std::vector<Cell> hot_line_cells(const HotLine& hot) {
  return {Cell::figure(format::percent(hot.share)).valued(hot.share),
          Cell::figure(format::percent(hot.issued)).valued(hot.issued),
          Cell::words(fmt::format("{} ({})", hot.most_frequent.reason,
                                  format::whole_percent(100 * hot.most_frequent.share)))};
}

/// What was sampled of the variant at the largest problem where anything was.
struct Sampled {
  const CaseResult* result = nullptr;
  std::vector<HotLines> ops{};
};

Sampled largest_sampled(const FamilyResult& family, const VariantResult& variant) {
  for (auto problem = family.problems.rbegin(); problem != family.problems.rend(); ++problem) {
    const CaseResult* const result = variant.representative(*problem);
    if (result == nullptr) continue;
    if (std::vector<HotLines> ops = hot_lines_of(*result->source); !ops.empty())
      return {result, std::move(ops)};
  }
  return {};
}

}  // namespace

nlohmann::json hot_lines_view(const FamilyResult& family, const VariantResult& variant,
                              const PageContext& page) {
  const Sampled sampled = largest_sampled(family, variant);
  if (sampled.ops.empty()) return false;
  Table table(page.plan->anchors.make(variant.info.id + " hot lines"),
              fmt::format("Hottest lines {}: where its warps stood when the program counter was sampled "
                          "(without warps that only waited for their turn), how much of what was issued is "
                          "there, and the most frequent reason",
                          family.words.at(sampled.result->key.problem)));
  table.text("Op").text("Line").text("Code").numbers("Samples").numbers("Issued").text(
      "Most frequent reason");
  const auto source = page.materials->sources.find(variant.info.id);
  for (const HotLines& op : sampled.ops) {
    for (const HotLine& hot : op.lines) {
      const std::string code =
          source == page.materials->sources.end() ? "" : code_at(source->second, *hot.line);
      std::vector<Cell> cells = {
          Cell::words(op.op), Cell::words(place_of_line(*hot.line)),
          code.empty() ? Cell::missing("in a file that the run keeps no copy of") : Cell::words(code)};
      std::ranges::move(hot_line_cells(hot), std::back_inserter(cells));
      table.row(std::move(cells));
    }
  }
  return table.view();
}

nlohmann::json kernel_lines_view(const FunctionTime& function, const std::string& kernel,
                                 const PageContext& page) {
  const HotLines hot = hottest_of(function.sampled, most_hot_lines);
  if (hot.lines.empty()) return false;
  Table table(
      page.anchor("program kernel lines"),
      fmt::format("{}: its hottest lines, of {} samples (without warps that only waited for their turn)",
                  kernel, format::count(static_cast<std::uint64_t>(hot.samples))));
  table.text("Line").numbers("Samples").numbers("Issued").text("Most frequent reason");
  for (const HotLine& line : hot.lines) {
    std::vector<Cell> cells = {Cell::words(place_of_line(*line.line))};
    std::ranges::move(hot_line_cells(line), std::back_inserter(cells));
    table.row(std::move(cells));
  }
  return table.view();
}

}  // namespace mprof
