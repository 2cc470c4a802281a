// SPDX-License-Identifier: MIT
#include "report/views/import_answer.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "model/trace/tallies.hpp"
#include "report/analysis/advice/advice.hpp"
#include "report/analysis/standing/time_budget.hpp"
#include "report/text/format.hpp"
#include "report/trace/profile_cells.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/trace/table_parts.hpp"
#include "report/views/time_budget_view.hpp"
#include "report/wording/advice.hpp"

namespace mprof {
namespace {

constexpr std::size_t most_cases = 4;
constexpr std::size_t most_kernels = 3;
constexpr std::size_t most_advice = 2;

std::string share_of(std::int64_t part, std::int64_t whole) {
  return format::percent(static_cast<double>(part) / static_cast<double>(whole));
}

std::int64_t sum_of(const ProfileTable& table, std::string_view head) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < table.rows; ++i)
    sum += std::get<std::int64_t>(cell_below(table, head, table.row(i)));
  return sum;
}

/// "3 kernels in 5 launches, 1.2 ms in all. Of that sum: scale 62.0 %, tile 31.5 %."
std::string kernels_answer(const trace::Trace& profile, const ProfileScope& scope) {
  const ProfileTable table =
      with_brief_kernel_names(profile_report("cuda_gpu_kern_sum").table(profile, scope));
  if (table.rows == 0) return "no kernel was traced.";
  const std::int64_t all = sum_of(table, "Total Time");
  std::vector<std::string> longest;
  for (std::size_t i = 0; i < std::min(table.rows, most_kernels); ++i) {
    const ProfileRow row = table.row(i);
    const std::int64_t time = std::get<std::int64_t>(cell_below(table, "Total Time", row));
    if (all > 0)
      longest.push_back(fmt::format("{} {}",
                                    format::one_line(std::get<std::string>(cell_below(table, "Name", row))),
                                    share_of(time, all)));
  }
  return fmt::format(
      "{} in {} ran for {} in all. Of that sum: {}{}.", format::plural(table.rows, "kernel"),
      sum_of(table, "Instances") == 1
          ? "1 launch"
          : fmt::format("{} launches", format::count(static_cast<std::uint64_t>(sum_of(table, "Instances")))),
      format::nanoseconds(all), format::list(longest), table.rows > most_kernels ? ", then the others" : "");
}

/// "[CUDA memcpy Host-to-Device] 4 times, 4.1 MB in 1.0 ms"
std::string copies_answer(const trace::Trace& profile, const ProfileScope& scope) {
  struct Moved {
    std::size_t count = 0;
    std::int64_t time = 0;
    double bytes = 0;
  };
  std::map<std::string, Moved> moved;
  for (const trace::Transfer& transfer : scope.of(profile.transfers)) {
    Moved& one = moved[transfer.is_set() ? "memsets" : profile.way(transfer.kind)];
    ++one.count;
    one.time += transfer.time.length();
    one.bytes += static_cast<double>(transfer.bytes);
  }
  if (moved.empty()) return "no copy was traced.";
  std::vector<std::pair<std::int64_t, std::string>> texts;
  for (const auto& [way, one] : moved)
    texts.emplace_back(-one.time,
                       fmt::format("{} {} ({}) in {}", format::count(one.count), way,
                                   format::quantity(one.bytes, Unit::byte), format::nanoseconds(one.time)));
  std::ranges::sort(texts);
  std::vector<std::string> parts;
  for (auto& [time, text] : texts) parts.push_back(std::move(text));
  return fmt::format("{}.", format::list(parts));
}

/// By cause, and for each GPU by itself.
std::string idle_answer(const TimeBudget& budget) {
  const std::string window = format::nanoseconds(budget.window);
  const auto idle = [&](std::int64_t time, const std::array<std::int64_t, budget_parts>& parts) {
    const std::string causes = idle_causes(parts, budget.window);
    return fmt::format("{} of {}{}", share_of(time, budget.window), window,
                       causes.empty() ? "" : fmt::format(": {}", causes));
  };
  if (budget.gpus.empty())
    return fmt::format("the GPU was idle for {}. The causes add up to the idle share.",
                       idle(budget.idle(), budget.parts));
  std::vector<std::string> gpus;
  for (const GpuShare& gpu : budget.gpus)
    gpus.push_back(fmt::format("GPU {} was idle for {}", gpu.gpu,
                               idle(budget.window - gpu.kernels - gpu.copies, gpu.idle)));
  return fmt::format("{}. The causes of one GPU add up to its own idle share.", fmt::join(gpus, "; "));
}

std::string next_answer(const CaseResult& result, const TimeBudget& budget) {
  std::vector<std::string> gains;
  for (const Advice& one :
       advice_for(WholeReadings{.result = &result, .budget = budget, .kernels_floor = std::nullopt})) {
    if (gains.size() < most_advice)
      gains.push_back(fmt::format("{} ({})", change_text(*one.rule), format::up_to(one.gain)));
  }
  if (gains.empty()) return "no single part of the traced time is worth 5\u00a0% or more.";
  return fmt::format("{}. {} of the traced time.", fmt::join(gains, ". "),
                     gains.size() > 1 ? "These are bounds, each alone," : "This is a bound");
}

}  // namespace

std::string other_kinds_text(const std::vector<trace::Tally>& tallies) {
  struct KindSums {
    std::uint64_t count = 0;
    double time = 0;  ///< ns
    std::set<std::string> names{};
  };
  std::map<trace::TallyKind, KindSums> kinds;
  for (const trace::Tally& tally : tallies) {
    KindSums& kind = kinds[tally.kind];
    kind.count += tally.count;
    kind.time += static_cast<double>(tally.time);
    kind.names.insert(tally.name);
  }
  std::vector<std::string> texts;
  for (const auto& [kind, sums] : kinds) {
    if (kind == trace::TallyKind::unread) {
      constexpr std::size_t most = 6;
      std::vector<std::string> names;
      for (const std::string& name : sums.names) {
        if (names.size() < most) names.push_back(format::one_line(name));
      }
      texts.push_back(
          fmt::format("not read: {}{}", fmt::join(names, ", "),
                      sums.names.size() > most ? fmt::format(" and {} more", sums.names.size() - most) : ""));
      continue;
    }
    texts.push_back(fmt::format("{} {} of {}{}", profile::kind_label(kind),
                                format::plural(static_cast<std::size_t>(sums.count), "row"),
                                format::plural(sums.names.size(), "name"),
                                sums.time > 0 ? fmt::format(" ({})", format::nanoseconds(sums.time)) : ""));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<ImportAnswer> import_answers(const FamilyResult& family, const Evidence& evidence,
                                         bool beside_program) {
  std::vector<ImportAnswer> answers;
  if (!family.all_are(&VariantInfo::is_imported) || !evidence.profile) return answers;
  const TracedCases cases = trace::case_indices(*evidence.profile);
  std::size_t shown = 0;
  for (const VariantResult& variant : family.variants) {
    const auto traced = largest_traced(variant, cases);
    if (!traced || shown++ >= most_cases) continue;
    const ProfileScope scope{traced->index};
    const auto say = [&](std::string_view about, const std::string& text) {
      answers.push_back({variant.info.id, format::short_id(traced->result->configuration), std::string(about),
                         format::one_line(text)});
    };
    if (!beside_program) say("kernels", kernels_answer(*evidence.profile, scope));
    say("copies", copies_answer(*evidence.profile, scope));
    if (const CaseBudget budget = budget_of(*traced->result, evidence); budget.budget) {
      if (!beside_program || !budget.budget->gpus.empty()) say("idle", idle_answer(*budget.budget));
      if (!beside_program) say("next", next_answer(*traced->result, *budget.budget));
    }
    const std::vector<trace::Tally> others = trace::tallies_of(*evidence.profile, traced->index);
    if (const std::string kinds = other_kinds_text(others); !kinds.empty())
      say("also in the profile", kinds + ".");
  }
  return answers;
}

}  // namespace mprof
