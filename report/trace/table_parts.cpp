// SPDX-License-Identifier: MIT
#include "report/trace/table_parts.hpp"

#include <algorithm>
#include <iterator>
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

void sort_by_total(std::vector<Summed>& groups) {
  const auto labels = [](const Summed& one) {
    return std::tie(one.category, one.grid, one.block, one.style, one.name);
  };
  std::ranges::sort(groups, [&](const Summed& a, const Summed& b) {
    return std::tuple(b.time.total, a.time.count, labels(a)) <
           std::tuple(a.time.total, b.time.count, labels(b));
  });
}

ProfileTable summary(const ProfileReport& report, const trace::Trace& trace, const std::string& count,
                     std::vector<TableColumn<Summed>> labels, std::vector<Summed> groups) {
  sort_by_total(groups);
  std::int64_t total = 0;
  for (const Summed& group : groups) total += group.time.total;
  for (Summed& group : groups)
    group.share = total == 0 ? 0 : 100.0 * static_cast<double>(group.time.total) / static_cast<double>(total);
  std::vector<TableColumn<Summed>> columns{
      {rounded("Time", "%", 1), plain<&Summed::share>},
      {whole("Total Time", "ns"), plain<&Summed::time, &Spread::total>},
      {whole(count), plain<&Summed::time, &Spread::count>},
  };
  add_spread<&Summed::time>(columns);
  std::ranges::move(labels, std::back_inserter(columns));
  return table_of(report, trace, std::move(columns), std::move(groups));
}

std::string size_text(const std::optional<trace::Size>& size) {
  return size ? fmt::format("{:4} {:4} {:4}", (*size)[0], (*size)[1], (*size)[2]) : std::string();
}

std::string style_text(trace::RangeStyle style) {
  return style == trace::RangeStyle::push_pop ? "PushPop" : "StartEnd";
}

}  // namespace mprof::profile
