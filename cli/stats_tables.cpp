// SPDX-License-Identifier: MIT
#include "cli/stats_tables.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "report/trace/profile_text.hpp"

namespace mprof::cli {
namespace {

/// Records that end before they start, whose times no table can sum. An import leaves them out as well.
class Reversed {
 public:
  void leave_out(trace::Trace& trace) {
    std::size_t kind = 0;
    const auto look_at = [&](auto& rows) {
      const std::size_t found =
          std::erase_if(rows, [](const auto& row) { return row.time.end < row.time.start; });
      most_.at(kind) = std::max(most_.at(kind), found);
      ++kind;
    };
    look_at(trace.kernels.rows());
    look_at(trace.graphs);
    look_at(trace.transfers);
    look_at(trace.calls);
    look_at(trace.system_calls);
    look_at(trace.ranges);
  }
  void say() const {
    const std::size_t all = std::accumulate(most_.begin(), most_.end(), std::size_t{0});
    if (all == 0) return;
    fmt::print(stderr, "mprof: {} {} before {} and {} in no table.\n", all,
               all == 1 ? "record ends" : "records end", all == 1 ? "it starts" : "they start",
               all == 1 ? "is" : "are");
  }

 private:
  std::array<std::size_t, 6> most_{};  ///< by kind of record: several tables may read the same
};

}  // namespace

void print_reports(const std::vector<const ProfileReport*>& reports, const std::string& format,
                   trace::TraceFile& file, const std::function<void(std::string_view)>& write) {
  ProfilePrinter printer(format, write);
  Reversed reversed;
  std::optional<trace::Trace> profile;
  trace::Parts held;
  for (const ProfileReport* report : reports) {
    if (!profile || !held.include(report->reads)) {
      profile.reset();
      held = report->reads;
      profile = file.read(held);
      reversed.leave_out(*profile);
    }
    printer.add(report->table(*profile));
  }
  printer.end();
  reversed.say();
}

}  // namespace mprof::cli
