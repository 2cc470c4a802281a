// SPDX-License-Identifier: MIT
#include "cli/stats_tables.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "report/trace/profile_text.hpp"

namespace mprof::cli {
namespace {

/// Records that end before they start, whose times no table can sum. An import leaves them out as well.
class Reversed {
 public:
  void leave_out(trace::Trace& trace) {
    std::size_t found = 0;
    const auto look_at = [&](auto& rows) {
      found += std::erase_if(rows, [](const auto& row) { return row.time.end < row.time.start; });
    };
    look_at(trace.kernels.rows());
    look_at(trace.graphs);
    look_at(trace.transfers);
    look_at(trace.calls);
    look_at(trace.system_calls);
    look_at(trace.ranges);
    most_ = std::max(most_, found);
  }
  void say() const {
    if (most_ == 0) return;
    fmt::print(stderr, "mprof: {} {} before {} and {} in no table.\n", most_,
               most_ == 1 ? "record ends" : "records end", most_ == 1 ? "it starts" : "they start",
               most_ == 1 ? "is" : "are");
  }

 private:
  std::size_t most_ = 0;  ///< of one table: several may read the same records
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
