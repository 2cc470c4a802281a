// SPDX-License-Identifier: MIT
#include "cli/stats_tables.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "model/trace/program.hpp"
#include "report/trace/profile_tables.hpp"
#include "report/trace/profile_text.hpp"

namespace mprof::cli {
namespace {

/// Records whose times cannot be, which no table can sum. An import leaves them out as well.
class Impossible {
 public:
  void leave_out(trace::Trace& trace) {
    const Sizes before = sizes_of(trace);
    // A trace of mprof's has cases, and lacks what an import has left out.
    if (trace.cases.empty())
      trace::leave_out_impossible(trace);
    else
      leave_out_reversed(trace);
    const Sizes after = sizes_of(trace);
    for (std::size_t kind = 0; kind < before.size(); ++kind)
      most_.at(kind) = std::max(most_.at(kind), before.at(kind) - after.at(kind));
  }
  /// Whether a call is one, which is counted.
  bool is_one(const trace::Trace& trace, const trace::Call& call) {
    const bool is = trace.cases.empty() ? trace::has_impossible_time(call) : call.time.end < call.time.start;
    most_.at(place_of_calls) += is ? 1 : 0;
    return is;
  }
  void say() const {
    const std::size_t all = std::accumulate(most_.begin(), most_.end(), std::size_t{0});
    if (all == 0) return;
    fmt::print(stderr,
               "mprof: {} {} a time that cannot be, and {} in no table: without a time, ending before it "
               "starts, or still running when two later ones of its stream had ended.\n",
               all, all == 1 ? "record has" : "records have", all == 1 ? "is" : "are");
  }

 private:
  using Sizes = std::array<std::size_t, 6>;
  static constexpr std::size_t place_of_calls = 3;

  static Sizes sizes_of(const trace::Trace& trace) {
    return {trace.kernels.size(), trace.graphs.size(),       trace.transfers.size(),
            trace.calls.size(),   trace.system_calls.size(), trace.ranges.size()};
  }
  static void leave_out_reversed(trace::Trace& trace) {
    const auto look_at = [](auto& rows) {
      std::erase_if(rows, [](const auto& row) { return row.time.end < row.time.start; });
    };
    look_at(trace.kernels.rows());
    look_at(trace.graphs);
    look_at(trace.transfers);
    look_at(trace.calls);
    look_at(trace.system_calls);
    look_at(trace.ranges);
  }

  Sizes most_{};  ///< by kind of record: several tables may read the same
};

/// The calls of CUDA by name, where no other table needs them: each is seen once, and none is kept.
ProfileTable sum_calls(trace::TraceFile& file, std::optional<trace::Trace>& profile, Impossible& impossible) {
  TimesByName times;
  profile = file.read_calls([&](const trace::Trace& trace, const trace::Call& call) {
    if (!impossible.is_one(trace, call)) times[call.name].push_back(call.time.length());
  });
  return api_table(*profile, std::move(times));
}

}  // namespace

void print_reports(const std::vector<const ProfileReport*>& reports, const std::string& format,
                   trace::TraceFile& file, const std::function<void(std::string_view)>& write) {
  ProfilePrinter printer(format, write);
  Impossible impossible;
  std::optional<trace::Trace> profile;
  trace::Parts held;
  const auto reading_calls =
      std::ranges::count_if(reports, [](const ProfileReport* report) { return report->reads.calls; });
  for (const ProfileReport* report : reports) {
    if (reading_calls == 1 && report == &profile_report("cuda_api_sum")) {
      held = {};
      printer.add(sum_calls(file, profile, impossible));
      continue;
    }
    // Whether a time can be is judged by all work of its stream.
    trace::Parts wanted = report->reads;
    wanted.kernels = wanted.transfers = wanted.kernels || wanted.transfers;
    if (!profile || !held.include(wanted)) {
      profile.reset();
      held = wanted;
      profile = file.read(held);
      impossible.leave_out(*profile);
    }
    printer.add(report->table(*profile));
  }
  printer.end();
  impossible.say();
}

}  // namespace mprof::cli
