// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/trace/profile_cells.hpp"
#include "report/trace/profile_text.hpp"
#include "report/views/table.hpp"
#include "report/views/views.hpp"

/// What the report says of the trace: in nsys's tables, and in words with the run's own numbers.
namespace mprof {
namespace {

using nlohmann::json;
using Profile = trace::Trace;

constexpr double leading_share = 0.9;  // of the time: what is worth looking at
constexpr double seconds_per_ns = 1e-9;
constexpr std::size_t most_range_names = 60;  // in a table of ranges: a reader looks at no more
constexpr std::size_t most_other_rows = 200;
constexpr std::string_view others_report = "others_sum";

/// "More than 90 %"
std::string more_than_most() {
  return "more than " + format::about(100 * leading_share, Unit::percent);
}

std::string counted(std::int64_t number, std::string_view noun) {
  return format::plural(static_cast<std::size_t>(number), noun);
}

// --- Tables ---

Cell profile_figure(const ProfileCell& cell, const std::string& text) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    return Cell::figure(text).valued(static_cast<double>(*whole));
  if (const auto* number = std::get_if<double>(&cell)) return Cell::figure(text).valued(*number);
  return Cell::figure(text);
}

json table_view(const ProfileTable& table, const std::string& caption, const std::string& anchor) {
  Table view(anchor, caption);
  for (const ProfileColumn& column : table.columns) {
    column.words ? view.text(column.title()) : view.numbers(column.title());
  }
  for (std::size_t r = 0; r < table.rows; ++r) {
    const ProfileRow row = table.row(r);
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string text = cell_text(row[i], table.columns[i]);
      cells.push_back(table.columns[i].words ? Cell::words(text) : profile_figure(row[i], text));
    }
    view.row(std::move(cells));
  }
  return view.view();
}

/// A report with kernels under the names that the other sections have for them.
ProfileTable table_of(std::string_view report, const Profile& profile, ProfileScope scope) {
  scope.most_range_names = most_range_names;
  ProfileTable table = profile_report(report).table(profile, scope);
  return report.starts_with("cuda_gpu_kern") ? with_brief_kernel_names(std::move(table)) : table;
}

/// What a variant is shown with, in this order.
constexpr std::array<std::string_view, 6> shown_reports{
    "cuda_gpu_kern_gb_sum",  "cuda_api_sum",          "osrt_sum",
    "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "nvtx_pushpop_sum"};

json table_views(const VariantResult& variant, const Profile& profile, const TracedCase& traced,
                 Anchors& anchors) {
  json views = json::array();
  const auto add = [&](std::string_view name) {
    ProfileTable table = table_of(name, profile, {traced.index});
    if (table.rows == 0) return;
    std::string caption = fmt::format("{} ({})", table.title, table.name);
    if (name == others_report && table.rows > most_other_rows) {
      caption += fmt::format(", the first {} of {} rows", most_other_rows, table.rows);
      table.rows = most_other_rows;
    }
    views.push_back(table_view(table, caption, anchors.make(fmt::format("{} {}", traced.result->id, name))));
  };
  for (const std::string_view name : shown_reports) add(name);
  if (variant.info.is_imported()) add(others_report);
  return views;
}

/// The rows that take more than 90 % of the run's time of their kind, which `what` names: "kernel".
json leading_view(std::string_view report, std::string_view what, const Profile& profile, Anchors& anchors) {
  const ProfileTable all = table_of(report, profile, {});
  if (all.rows == 0) return false;
  const ProfileTable leading = leading_rows(all, leading_share);
  const std::string caption =
      fmt::format("Of {}, {} took {} of the time in all of them ({})", format::plural(all.rows, what),
                  format::count(leading.rows), more_than_most(), all.name);
  return table_view(leading, caption, anchors.make(fmt::format("most {}", report)));
}

// --- Words ---

/// "map_shared (62.0 %) and permute (31.5 %)"
std::string leading_names(const ProfileTable& table) {
  const ProfileTable leading = leading_rows(table, leading_share);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < leading.rows; ++i) {
    const ProfileRow row = leading.row(i);
    names.push_back(fmt::format("{} ({})",
                                format::one_line(std::get<std::string>(cell_below(leading, "Name", row))),
                                format::percent(std::get<double>(cell_below(leading, "Time", row)) / 100)));
  }
  return format::list(names);
}

/// `what`: "kernel time"
std::string most_of(std::string_view report, std::string_view what, const Profile& profile,
                    const ProfileScope& scope) {
  const ProfileTable table = table_of(report, profile, scope);
  if (table.rows == 0) return {};
  return fmt::format("{} of {}: {}.", format::sentence_case(more_than_most()), what, leading_names(table));
}

std::string kernels_text(const KernelsAndCalls& n) {
  return fmt::format("{} ran for {} on the GPU, {} each (median).", counted(n.kernels->count, "kernel"),
                     format::nanoseconds(n.kernels->total), format::nanoseconds(n.kernels->median));
}

std::string launches_text(const KernelsAndCalls& n) {
  return fmt::format("The {} that launched them ({}) took {} on the CPU, {} each (median)",
                     counted(n.launching->count, "call"), format::list(n.launchers),
                     format::nanoseconds(n.launching->total), format::nanoseconds(n.launching->median));
}

/// What the two medians say of each other.
std::string comparison_text(const KernelsAndCalls& n) {
  if (n.kernels->median < n.launching->median) {
    return "launching a kernel took longer than running it, so the CPU sets the pace of such short kernels";
  }
  return "a launch puts its kernel into a queue and returns, so its time says nothing of how long the kernel "
         "runs";
}

bool waits(const std::string& call) {
  const bool returns_at_once = call.find("Async") != std::string::npos;
  return !returns_at_once &&
         (call.find("Memcpy") != std::string::npos || call.find("Synchronize") != std::string::npos);
}

std::string calls_text(const KernelsAndCalls& n) {
  const std::string head =
      fmt::format("All {} together took {}, {} of it in {}", counted(n.calls->count, "API call"),
                  format::nanoseconds(n.calls->total), format::percent(n.longest_share), n.longest);
  return waits(n.longest) ? head + ", which lasts as long as the CPU waits in it." : head + ".";
}

json list_of(const std::vector<std::string>& sentences) {
  json list = json::array();
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) list.push_back(format::one_line(sentence));
  }
  return list;
}

/// What the difference between a kernel and an API call is.
json explanation(const Profile& profile) {
  const KernelsAndCalls n = kernels_and_calls(profile, {});
  std::vector<std::string> paragraphs{
      "A kernel is a function that the GPU runs, and its time is the GPU's. An API call is a function of "
      "CUDA's "
      "runtime or driver that the program calls on the CPU: to allocate, to copy, to launch a kernel, to "
      "wait. Its "
      "time is the CPU's. Both go on side by side, so the two times do not add up, and each list's "
      "percentages are "
      "of that list alone."};
  std::vector<std::string> numbers;
  if (n.kernels) numbers.push_back(kernels_text(n));
  if (n.kernels && n.launching)
    numbers.push_back(fmt::format("{}: {}.", launches_text(n), comparison_text(n)));
  if (n.calls) numbers.push_back(calls_text(n));
  if (!numbers.empty()) paragraphs.push_back(fmt::format("In this run {}", fmt::join(numbers, " ")));
  return list_of(paragraphs);
}

json variant_sentences(const Profile& profile, const ProfileScope& scope) {
  const KernelsAndCalls n = kernels_and_calls(profile, scope);
  std::vector<std::string> words;
  if (n.kernels) words.push_back(kernels_text(n));
  if (n.kernels && n.launching) words.push_back(launches_text(n) + ".");
  if (n.calls) words.push_back(calls_text(n));
  return list_of({fmt::format("{}", fmt::join(words, " ")),
                  most_of("cuda_gpu_kern_sum", "kernel time", profile, scope),
                  most_of("cuda_api_sum", "API time", profile, scope)});
}

/// One line that stands for a case while its tables are folded away.
std::string headline(const Profile& profile, const ProfileScope& scope) {
  const KernelsAndCalls n = kernels_and_calls(profile, scope);
  std::vector<std::string> parts;
  if (n.kernels) parts.push_back("kernels " + format::nanoseconds(n.kernels->total));
  if (n.transferring) parts.push_back("copies and memsets " + format::nanoseconds(*n.transferring));
  if (n.calls) parts.push_back("API calls " + format::nanoseconds(n.calls->total));
  return fmt::format("{}", fmt::join(parts, " · "));
}

// --- Which cases ---

/// Why a variant has no traced case, from its largest problem on.
std::string why_untraced(const VariantResult& variant) {
  for (auto result = variant.cases.rbegin(); result != variant.cases.rend(); ++result) {
    const PassResult* pass = find_pass(*result->source, Pass::trace);
    if (pass != nullptr && !pass->reason.empty()) return pass->reason;
  }
  return "the run has no trace of it";
}

json untraced_view(const VariantResult& variant, Anchors& anchors) {
  return {{"anchor", anchors.make("evidence " + variant.info.id)},
          {"id", format::short_id(variant.info.id)},
          {"at", ""},
          {"headline", "not traced"},
          {"sentences", list_of({fmt::format("Not traced: {}", why_untraced(variant))})},
          {"tables", json::array()}};
}

json traced_view(const Words& words, const VariantResult& variant, const TracedCase& traced,
                 const Profile& profile, Anchors& anchors) {
  const ProfileScope scope{traced.index};
  const std::string& id = traced.result->id;
  return {{"anchor", anchors.make("evidence " + id)},
          {"id", format::short_id(traced.result->configuration)},
          {"at", words.at(traced.result->key.problem)},
          {"headline", headline(profile, scope)},
          {"sentences", variant_sentences(profile, scope)},
          {"tables", table_views(variant, profile, traced, anchors)}};
}

json variant_views(const RunAnalysis& analysis, const Profile& profile, Anchors& anchors) {
  json views = json::array();
  const TracedCases cases = trace::case_indices(profile);
  for (const FamilyResult& family : analysis.families) {
    for (const VariantResult& variant : family.variants) {
      const auto traced = largest_traced(variant, cases);
      views.push_back(traced ? traced_view(family.words, variant, *traced, profile, anchors)
                             : untraced_view(variant, anchors));
    }
  }
  return views;
}

/// What the trace lacks, which the reader of its sums must know.
std::string lacking(const Profile& profile) {
  std::uint64_t dropped = 0, unusable = 0, early = 0;
  for (const trace::CaseInfo& one : profile.cases) {
    dropped += one.counts.dropped;
    unusable += one.counts.zero_time + one.counts.reversed + one.counts.overlapping;
    early += one.counts.early;
  }
  std::string text;
  if (dropped + unusable > 0)
    text = fmt::format("The trace lacks {} that found no buffer and {} without usable times.",
                       format::plural(dropped, "record"), format::plural(unusable, "record"));
  if (early > 0)
    text += fmt::format(
        "{}{} of the GPU before the call that launched the work: the clocks of host and GPU "
        "disagree.",
        text.empty() ? "In the trace begin " : " In it begin ", format::plural(early, "record"));
  return text;
}

}  // namespace

json evidence_view(const RunAnalysis& analysis, const Evidence& evidence, Anchors& anchors) {
  if (!evidence.profile) return {{"absent", format::sentence_case(format::one_line(evidence.absent))}};
  const Profile& profile = *evidence.profile;
  return {{"absent", ""},
          {"cases", format::plural(profile.cases.size(), "case")},
          {"lacking", lacking(profile)},
          {"explanation", explanation(profile)},
          {"kernels", leading_view("cuda_gpu_kern_sum", "kernel", profile, anchors)},
          {"calls", leading_view("cuda_api_sum", "API function", profile, anchors)},
          {"variants", variant_views(analysis, profile, anchors)}};
}

}  // namespace mprof
