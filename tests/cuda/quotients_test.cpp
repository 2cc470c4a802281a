// SPDX-License-Identifier: MIT
#include "collectors/cuda/quotients.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "cuda/cupti.hpp"
#include "cuda/profiler_host.hpp"

namespace mprof {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

const std::string bytes_per_sector = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio";
const std::string bytes = "smsp__sass_data_bytes_mem_global_op_ld.sum";
const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

bool everything(std::span<const std::string> /*metrics*/) {
  return true;
}

TEST(Quotients, AreCountedByTheirTwoParts) {
  const Quotients quotients({"a", bytes_per_sector, "b"}, everything);
  EXPECT_EQ(quotients.parts(), (Names{"a", bytes, sectors, "b"}));
  EXPECT_EQ(quotients.values(Values{1, 96, 4, 2}), (Values{1, 24, 2}));
}

TEST(Quotients, ShareWhatIsAskedForItself) {
  const Quotients quotients({sectors, bytes_per_sector, bytes}, everything);
  EXPECT_EQ(quotients.parts(), (Names{sectors, bytes}));
  EXPECT_EQ(quotients.values(Values{4, 96}), (Values{4, 24, 96}));
}

TEST(Quotients, OfNothingAreNoughtAndOfNoNumberNone) {
  const Quotients quotients({bytes_per_sector}, everything);
  EXPECT_EQ(quotients.values(Values{0, 0}), (Values{0}));
  EXPECT_TRUE(std::isnan(quotients.values(Values{std::numeric_limits<double>::quiet_NaN(), 4}).front()));
}

TEST(Quotients, StayAsTheyAreWhereAPartIsMissing) {
  const Quotients quotients({bytes_per_sector, "a"}, [](std::span<const std::string> asked) {
    return std::ranges::count(asked, sectors) == 0;
  });
  EXPECT_EQ(quotients.parts(), (Names{bytes_per_sector, "a"}));
  EXPECT_EQ(quotients.values(Values{20, 1}), (Values{20, 1}));
}

TEST(Quotients, HavePartsThatCuptiKnows) {
  if (const auto reason = cuda::cupti_unavailable()) GTEST_SKIP() << *reason;
  const Quotients quotients(
      {bytes_per_sector, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio"}, everything);
  EXPECT_EQ(quotients.parts().size(), 4U);
  EXPECT_EQ(cuda::unknown_metrics(cuda::default_chip, quotients.parts()), Names{});
}

}  // namespace
}  // namespace mprof
