// SPDX-License-Identifier: MIT
#include "collectors/cuda/quotients.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace mprof {
namespace {

struct Quotient {
  std::string_view metric;
  std::string_view dividend;
  std::string_view divisor;  ///< what the hardware counts
};

constexpr std::array quotients{
    Quotient{"smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
             "smsp__sass_data_bytes_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"},
    Quotient{"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio",
             "smsp__sass_data_bytes_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"},
};

}  // namespace

Quotients::Quotients(std::vector<std::string> metrics,
                     const std::function<bool(std::span<const std::string>)>& has)
    : metrics_(std::move(metrics)) {
  const auto add = [&](std::string_view name) {
    if (std::ranges::count(parts_, name) == 0) parts_.emplace_back(name);
  };
  for (const std::string& metric : metrics_) {
    const auto* const found = std::ranges::find(quotients, std::string_view(metric), &Quotient::metric);
    if (found == quotients.end() ||
        !has(std::array{std::string(found->dividend), std::string(found->divisor)})) {
      add(metric);
    } else {
      add(found->dividend);
      add(found->divisor);
    }
  }
}

double Quotients::part(std::string_view name, std::span<const double> of_parts) const {
  return of_parts[static_cast<std::size_t>(std::ranges::find(parts_, name) - parts_.begin())];
}

std::vector<double> Quotients::values(std::span<const double> of_parts) const {
  std::vector<double> values;
  for (const std::string& metric : metrics_) {
    if (std::ranges::count(parts_, metric) > 0) {
      values.push_back(part(metric, of_parts));
      continue;
    }
    const Quotient& quotient = *std::ranges::find(quotients, std::string_view(metric), &Quotient::metric);
    const double divisor = part(quotient.divisor, of_parts);
    values.push_back(divisor == 0 ? 0 : part(quotient.dividend, of_parts) / divisor);
  }
  return values;
}

}  // namespace mprof
