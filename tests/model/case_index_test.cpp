// SPDX-License-Identifier: MIT
#include "model/case_index.hpp"

#include <gtest/gtest.h>

#include "sample_run.hpp"

namespace mprof {
namespace {

TEST(CaseIndex, FindsWhatFindCaseFinds) {
  mprof::Run run = test::full_run();
  for (const std::uint64_t size : {300U, 200U}) {
    run.cases.push_back(run.cases[0]);
    run.cases.back().key.problem.coordinates[0].value = size;
    run.cases.back().id = "conv/b@" + std::to_string(size);
  }
  const CaseIndex index(run);
  for (const Case& c : run.cases) {
    ASSERT_TRUE(index.find(c.key));
    EXPECT_EQ(&run.cases[*index.find(c.key)], find_case(run, c.key));
    EXPECT_EQ(index.find(c.id), index.find(c.key));
  }
  EXPECT_EQ(index.find("conv/b@300"), 1U);
  EXPECT_FALSE(index.find("conv/none@300"));
  EXPECT_FALSE(index.find(CaseKey{"conv/none", {}, {}}));
  EXPECT_FALSE(CaseIndex(mprof::Run{}).find(""));
}

}  // namespace
}  // namespace mprof
