// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "model/run.hpp"

namespace mprof::test {

/// The one row of (metric, op); an empty row and a failed test when it is missing or there are several.
inline Measurement row_of(const std::vector<Measurement>& measurements, std::string_view metric,
                          std::string_view op = {}) {
  const auto is_it = [&](const Measurement& row) { return row.metric == metric && row.op == op; };
  EXPECT_EQ(std::ranges::count_if(measurements, is_it), 1) << metric << " of op '" << op << "'";
  const auto found = std::ranges::find_if(measurements, is_it);
  return found == measurements.end() ? Measurement{} : *found;
}

}  // namespace mprof::test
