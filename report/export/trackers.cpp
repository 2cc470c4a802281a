// SPDX-License-Identifier: MIT
#include "report/export/trackers.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/text/format.hpp"
#include "report/wording/judgement.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t longest_bencher_name = 1024;  // bytes; its documentation says so
constexpr int decimals = 3;                         // of ns

double nanoseconds(double seconds) {
  return format::rounded(seconds * 1e9, decimals);
}

void track(TrackedCase& tracked, const std::string& name, const Value& value) {
  if (value) tracked.times.push_back({format::one_line(name), *value});
}

TrackedCase tracked_case(const CaseResult& result) {
  TrackedCase tracked{format::one_line(result.id)};
  for (const OpResult& op : result.ops) {
    if (op.flaw == OpTimeFlaw::none) track(tracked, op.info.name + "/op_time", op.op_time);
    track(tracked, op.info.name + "/group_time", op.group_time);
  }
  track(tracked, "total_time", result.total_time);
  return tracked;
}

void require_distinct_names(const TrackedRun& run) {
  std::set<std::string> names;
  for (const TrackedCase& c : run.cases) {
    for (const TrackedTime& one : c.times) {
      if (names.insert(c.name_of(one)).second) continue;
      throw Error(ExitCode::usage,
                  fmt::format("cannot export {} for a tracker: two of its times have the name "
                              "{}. Give their ops different names.",
                              format::one_line(run.name), c.name_of(one)));
    }
  }
}

/// The distance from a time to the farther end of its interval, which a reader takes as "±".
std::optional<double> half_width(const Estimate& time) {
  if (!time.interval) return std::nullopt;
  return std::max(time.interval->high - time.median, time.median - time.interval->low);
}

/// What is shown with a point of a chart.
std::string details(const Estimate& time) {
  std::string text = format::plural(time.samples, "sample");
  if (time.rounds > 1) text += " in " + format::plural(time.rounds, "round");
  if (time.interval) {
    text +=
        fmt::format("\n95 % interval: {} to {} ns", format::plain(nanoseconds(time.interval->low), decimals),
                    format::plain(nanoseconds(time.interval->high), decimals));
  }
  if (!time.disturbed.empty()) text += "\ndisturbed: " + format::one_line(disturbed_text(time.disturbed));
  return text;
}

/// In UTF-8, whatever an id of the record holds.
std::string as_text(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

TrackedRun tracked_run(const Run& run, const std::string& name, const std::vector<const CaseResult*>& cases) {
  TrackedRun tracked{.name = name,
                     .started = run.started,
                     .version = run.tool.version,
                     .revision = run.tool.revision,
                     .machine = machine_facts(run),
                     .cases = {}};
  for (const CaseResult* result : cases) {
    if (result->ok()) {
      tracked.cases.push_back(tracked_case(*result));
    } else {
      ++tracked.left_out[result->status];
    }
  }
  require_distinct_names(tracked);
  return tracked;
}

std::string bmf_json(const TrackedRun& run) {
  ordered_json document = ordered_json::object();
  for (const TrackedCase& c : run.cases) {
    for (const TrackedTime& one : c.times) {
      const std::string name = c.name_of(one);
      if (name.size() > longest_bencher_name) {
        throw Error(
            ExitCode::usage,
            fmt::format("--format bmf: Bencher takes names of at most {} bytes, and a time's has {}: {} … "
                        "Leave its case out with --case.",
                        longest_bencher_name, name.size(), format::elide(name, 60)));
      }
      ordered_json& metric = document[name]["latency"];
      metric["value"] = nanoseconds(one.time.median);
      if (one.time.interval) {
        metric["lower_value"] = nanoseconds(one.time.interval->low);
        metric["upper_value"] = nanoseconds(one.time.interval->high);
      }
    }
  }
  return as_text(document);
}

std::string benchmark_action_json(const TrackedRun& run) {
  ordered_json document = ordered_json::array();
  for (const TrackedCase& c : run.cases) {
    for (const TrackedTime& one : c.times) {
      ordered_json entry{{"name", c.name_of(one)}, {"unit", "ns"}, {"value", nanoseconds(one.time.median)}};
      // Without a decimal the action would not read a number of one digit.
      if (const auto half = half_width(one.time))
        entry["range"] = "± " + format::plain(nanoseconds(*half), decimals);
      entry["extra"] = details(one.time);
      document.push_back(std::move(entry));
    }
  }
  return as_text(document);
}

std::string left_out_of(std::span<const TrackedRun> runs) {
  std::map<Status, std::size_t> ended;
  for (const TrackedRun& run : runs) {
    for (const auto& [status, count] : run.left_out) ended[status] += count;
  }
  std::vector<std::string> words;
  for (const auto& [status, count] : ended) words.push_back(fmt::format("{} {}", count, to_string(status)));
  return format::list(words);
}

void require_times(std::span<const TrackedRun> runs) {
  const auto has_times = [](const TrackedRun& run) {
    return std::ranges::any_of(run.cases, [](const TrackedCase& c) { return !c.times.empty(); });
  };
  if (std::ranges::any_of(runs, has_times)) return;
  const std::string ended = left_out_of(runs);
  throw Error(ExitCode::usage, fmt::format("no chosen case has a time for a tracker{}. Nothing was written. "
                                           "`mprof report` says what happened to each case.",
                                           ended.empty() ? "" : ": " + ended));
}

}  // namespace mprof
