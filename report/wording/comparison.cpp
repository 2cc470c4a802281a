// SPDX-License-Identifier: MIT
#include "report/wording/comparison.hpp"

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "report/wording/precision.hpp"
#include "report/wording/why.hpp"

namespace mprof {

std::string compared_time(const Words& words, const TimeComparison& time) {
  if (!is_traced(time)) return time_name(words, time.metric, time.op);
  const std::string op = format::one_line(time.op);
  return time.kernel.empty() ? fmt::format("GPU time of {}", op)
                             : fmt::format("a launch of {} in {}{}", format::short_id(time.kernel), op,
                                           time.metric == "launch_time" ? "" : " (Nsight Compute)");
}

std::string named_time(const Words& words, const TimeComparison& time) {
  if (time.metric == "step_time") return "step time";
  return time.op.empty() ? "total time" : compared_time(words, time);
}

std::string_view one_traced_execution() {
  return "one traced execution: by how much the next one will differ is assumed, by the share of a step in "
         "which kernels run. Several runs on a side measure it";
}

std::string unlike_text(const Unlike& unlike) {
  const auto touched = [&]() -> std::string {
    switch (unlike.touched) {
      case Touched::host_times:
        return "host times";
      case Touched::gpu_variants:
        return "times of GPU variants and of programs";
      case Touched::family_times:
        return fmt::format("times and qualities of {}", format::one_line(unlike.family));
      case Touched::all_times:
        break;
    }
    return "all times";
  };
  return fmt::format("{} ({})", unlike.text, touched());
}

std::string undecided_text(const Words& words, const TimeComparison& time) {
  std::string text = named_time(words, time);
  if (time.ratio) text += " " + format::signed_percent(*time.ratio - 1);
  if (const std::string excluded = no_change_text(time.speed_up); !excluded.empty()) text += ", " + excluded;
  return fmt::format("{}: {}", text, say(time.speed_up.reason, of_runs));
}

std::string regression_text(const Words& words, const CaseComparison& c, const Regression& regression) {
  switch (regression.kind) {
    case Worse::quality: {
      const QualityComparison& quality = c.qualities.at(regression.which);
      return fmt::format("{} {}", quality_word(quality.info),
                         format::signed_quality(*quality.change, quality.info.unit));
    }
    case Worse::slower: {
      const TimeComparison& time = c.times.at(regression.which);
      const std::string despite = despite_text(time.speed_up);
      return fmt::format("{} slower by {}{}{}", named_time(words, time), format::percent(*time.ratio - 1),
                         unlike_formats(time), despite.empty() ? "" : fmt::format(" ({})", despite));
    }
    case Worse::inconclusive: {
      return "inconclusive: " + undecided_text(words, c.times.at(regression.which));
    }
    case Worse::broken:
    case Worse::lost:
      break;
  }
  return fmt::format("was ok, is {}", to_string(c.status_b));
}

}  // namespace mprof
