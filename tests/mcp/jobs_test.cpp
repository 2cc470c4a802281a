// SPDX-License-Identifier: MIT
#include "serve/mcp/jobs.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mprof::mcp {
namespace {

constexpr double long_enough = 600;  ///< s

std::string start(Jobs& jobs, const std::string& key, const std::vector<std::string>& command,
                  double limit = long_enough) {
  return jobs.start("profile", key, false, [&] { return JobRequest{.command = command, .limit = limit}; });
}

JobView ended(Jobs& jobs, const std::string& id) {
  jobs.wait(id, steady_clock().now() + long_enough, [] { return false; });
  return jobs.look(id).value();
}

TEST(McpJobs, OneWithoutBudgetLeftDoesNotBegin) {
  Jobs jobs(0.2, steady_clock());
  const std::string first = start(jobs, "first", {"/bin/sleep", "600"});
  const std::string second = start(jobs, "second", {"/bin/true"});
  EXPECT_EQ(ended(jobs, first).state, JobState::failed);
  const JobView view = ended(jobs, second);
  EXPECT_EQ(view.state, JobState::failed);
  EXPECT_NE(view.error.find("took all 0.2 s that this server may measure"), std::string::npos) << view.error;
  EXPECT_FALSE(view.exit_code.has_value()) << "it did not begin";
}

TEST(McpJobs, ThoseWhoseResultNobodyWasToldAreKeptLongest) {
  Jobs jobs(long_enough, steady_clock());
  const std::string untold = start(jobs, "untold", {"/bin/true"});
  static_cast<void>(ended(jobs, untold));
  std::vector<std::string> told;
  for (std::size_t i = 0; i < kept_jobs + 2; ++i) {
    told.push_back(start(jobs, std::to_string(i), {"/bin/true"}));
    static_cast<void>(ended(jobs, told.back()));
    jobs.is_told(told.back());
  }
  EXPECT_TRUE(jobs.look(untold).has_value());
  EXPECT_FALSE(jobs.look(told.front()).has_value()) << "what everybody knows is forgotten first";
  EXPECT_TRUE(jobs.look(told.back()).has_value());
}

}  // namespace
}  // namespace mprof::mcp
