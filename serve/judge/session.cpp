// SPDX-License-Identifier: MIT
#include "serve/judge/session.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "model/derive/derive.hpp"
#include "model/rounds.hpp"

namespace mprof {

Session judged_session(const SessionArms& arms) {
  std::array<Run, 3> runs{arms[0].run, arms[1].run, arms[2].run};
  for (Run& run : runs) derive_variation(run);
  return judge_session(runs[0].cases.at(0), runs[1].cases.at(0), runs[2].cases.at(0));
}

std::string missing_time(const Case& c) {
  const PassResult* const timing = find_pass(c, Pass::timing);
  const auto is_whole = [&](std::string_view metric, std::string_view op) {
    const Measurement* const row = find_measurement(c, metric, op);
    if (timing == nullptr || row == nullptr) return false;
    const auto rounds = samples_by_round(*row);
    return rounds.size() == rounds_of(*timing) &&
           std::ranges::none_of(rounds, [](const auto& samples) { return samples.empty(); });
  };
  for (const OpInfo& op : c.ops) {
    if (!is_whole("op_time", op.name)) return fmt::format("a round has no time of {}", op.name);
  }
  return is_whole("total_time", "") ? "" : "a round has no time of the whole execution";
}

}  // namespace mprof
