// SPDX-License-Identifier: MIT
#include "runner/further_rounds.hpp"

#include <algorithm>
#include <optional>

#include "model/derive/derive.hpp"
#include "model/rounds.hpp"
#include "model/statistics/next_run.hpp"

namespace mprof {
namespace {

/// Times of the host's clock differ more from one process to the next: a width that is wanted of the GPU's
/// would cost many rounds and be spoilt by the next neighbour on the machine.
constexpr double wider_for_the_host = 3;
constexpr std::uint32_t most_times_the_plan = 2;

bool is_narrow(const Measurement& row, double rounds, double wanted) {
  const double width = row.derived->clock == ClockSource::host ? wider_for_the_host * wanted : wanted;
  const auto interval = next_run_interval({1, rounds, row.derived->between, row.derived->common});
  return !interval || interval->high - 1 <= width;
}

bool are_narrow(const PassResult& timing, double rounds, double wanted) {
  return std::ranges::all_of(timing.measurements, [&](const Measurement& row) {
    const bool is_compared = row.metric == "op_time" || row.metric == "total_time";
    return !is_compared || row.samples.empty() || is_narrow(row, rounds, wanted);
  });
}

/// The fewest rounds that make all times of a case narrow; nullopt when even the most do not.
std::optional<std::uint32_t> enough_rounds(const PassResult& timing, std::uint32_t planned, double wanted) {
  for (std::uint32_t rounds = planned; rounds <= most_times_the_plan * planned; ++rounds) {
    if (are_narrow(timing, rounds, wanted)) return rounds;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint32_t> rounds_wanted(const Run& run) {
  std::vector<std::uint32_t> wanted(run.cases.size(), run.plan.rounds);
  if (run.plan.rounds < 2) return wanted;
  Run seen = run;
  derive_variation(seen);
  for (std::size_t i = 0; i < seen.cases.size(); ++i) {
    const PassResult* const timing = find_pass(seen.cases[i], Pass::timing);
    if (timing == nullptr || timing->status != Status::ok) continue;
    wanted[i] = enough_rounds(*timing, run.plan.rounds, run.plan.stopping.relative_half_width)
                    .value_or(run.plan.rounds);
  }
  return wanted;
}

bool is_narrow(const Run& run, const std::string& case_id, double wanted) {
  Run seen = run;
  derive_variation(seen);
  const auto c = std::ranges::find(seen.cases, case_id, &Case::id);
  const PassResult* const timing = c == seen.cases.end() ? nullptr : find_pass(*c, Pass::timing);
  return timing != nullptr && are_narrow(*timing, static_cast<double>(rounds_of(*timing)), wanted);
}

}  // namespace mprof
