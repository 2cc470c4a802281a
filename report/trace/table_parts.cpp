#include "report/trace/table_parts.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace mprof::profile {

ProfileColumn words(std::string head) {
  return {std::move(head), "", 0, true};
}
ProfileColumn whole(std::string head, std::string unit) {
  return {std::move(head), std::move(unit), 0, false};
}
ProfileColumn rounded(std::string head, std::string unit, int decimals) {
  return {std::move(head), std::move(unit), decimals, false};
}

ProfileTable empty_table(const ProfileReport& report) {
  return {std::string(report.name), std::string(report.title), std::string(report.empty), {}, 0, {}};
}

ProfileTable with_rows(ProfileTable table, std::vector<ProfileRow> rows) {
  const auto kept = std::make_shared<const std::vector<ProfileRow>>(std::move(rows));
  table.rows = kept->size();
  table.row = [kept](std::size_t index) { return (*kept)[index]; };
  return table;
}

void sort_by_total(std::vector<Summed>& groups) {
  std::ranges::sort(groups, [](const Summed& a, const Summed& b) {
    return std::tie(b.time.total, a.time.count, a.labels) < std::tie(a.time.total, b.time.count, b.labels);
  });
}

namespace {

/// Time (%), Total Time, `count`, Avg, Med, Min, Max, StdDev.
std::vector<ProfileColumn> time_columns(const std::string& count) {
  return {rounded("Time", "%", 1), whole("Total Time", "ns"), whole(count),       rounded("Avg", "ns", 1),
          rounded("Med", "ns", 1), whole("Min", "ns"),        whole("Max", "ns"), rounded("StdDev", "ns", 1)};
}

ProfileRow time_cells(const Spread& time, std::int64_t total) {
  const double share = total == 0 ? 0 : 100.0 * static_cast<double>(time.total) / static_cast<double>(total);
  return {share,       time.total,    time.count,   time.average,
          time.median, time.smallest, time.largest, time.deviation};
}

}  // namespace

ProfileTable summary(const ProfileReport& report, const std::string& count, std::vector<ProfileColumn> labels,
                     std::vector<Summed> groups) {
  sort_by_total(groups);
  ProfileTable table = empty_table(report);
  table.columns = time_columns(count);
  std::ranges::move(labels, std::back_inserter(table.columns));
  const std::int64_t total =
      std::accumulate(groups.begin(), groups.end(), std::int64_t{0},
                      [](std::int64_t sum, const Summed& group) { return sum + group.time.total; });
  std::vector<ProfileRow> rows;
  for (Summed& group : groups) {
    rows.push_back(time_cells(group.time, total));
    std::ranges::move(group.labels, std::back_inserter(rows.back()));
  }
  return with_rows(std::move(table), std::move(rows));
}

std::string size_text(const std::optional<trace::Size>& size) {
  return size ? fmt::format("{:4} {:4} {:4}", (*size)[0], (*size)[1], (*size)[2]) : std::string();
}

std::string style_text(trace::RangeStyle style) {
  return style == trace::RangeStyle::push_pop ? "PushPop" : "StartEnd";
}

}  // namespace mprof::profile
