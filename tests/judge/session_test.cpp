// SPDX-License-Identifier: MIT
#include "serve/judge/session.hpp"

#include <gtest/gtest.h>

namespace mprof {
namespace {

Measurement row(const char* metric, const char* op, std::vector<std::uint32_t> rounds) {
  std::size_t samples = 0;
  for (const std::uint32_t here : rounds) samples += here;
  return {
      .metric = metric, .op = op, .samples = std::vector<double>(samples, 1.0), .rounds = std::move(rounds)};
}

Case timed(std::vector<Measurement> rows) {
  Case c;
  c.ops = {{.name = "map"}};
  PassResult timing{.pass = Pass::timing, .status = Status::ok};
  timing.rounds.resize(2);
  timing.measurements = std::move(rows);
  c.passes = {timing};
  return c;
}

TEST(MissingTime, IsNamedForEachRound) {
  const Measurement op = row("op_time", "map", {3, 2}), whole = row("total_time", "", {3, 2});
  EXPECT_EQ(missing_time(timed({op, whole})), "");
  EXPECT_EQ(missing_time(timed({op})), "a round has no time of the whole execution");
  EXPECT_EQ(missing_time(timed({whole})), "a round has no time of map");
  EXPECT_EQ(missing_time(timed({row("op_time", "map", {3}), whole})), "a round has no time of map");
  EXPECT_EQ(missing_time(timed({op, row("total_time", "", {0, 2})})),
            "a round has no time of the whole execution");
}

}  // namespace
}  // namespace mprof
