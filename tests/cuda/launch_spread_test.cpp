#include "injection/launch_spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mprof::injection {
namespace {

using Choice = LaunchSpread::Choice;
using ::testing::ElementsAre;

/// Launches a kernel: what was counted of it, "-" for nothing, with CUPTI's count of the passes that are
/// left.
class Launches {
 public:
  explicit Launches(std::vector<std::uint32_t> passes) : passes_(passes), spread(std::move(passes)) {}

  std::string launch(std::size_t kernel) {
    const std::optional<Choice> choice = spread.at_launch(kernel);
    if (!choice) return "-";
    done_ = choice->is_first_pass ? 1 : done_ + 1;
    spread.counted(kernel, *choice, done_ == passes_[choice->group]);
    return std::to_string(choice->group) + "." + std::to_string(done_);
  }

 private:
  std::vector<std::uint32_t> passes_;
  std::uint32_t done_ = 0;

 public:
  LaunchSpread spread;
};

TEST(LaunchSpread, GroupsOfAKernelAreSpreadOverItsLaunchesAndEndThen) {
  Launches launches({1, 1, 3});
  const std::size_t kernel = launches.spread.add_kernel(false);
  std::vector<std::string> counted;
  for (int i = 0; i < 7; ++i) counted.push_back(launches.launch(kernel));
  EXPECT_THAT(counted, ElementsAre("0.1", "1.1", "2.1", "2.2", "2.3", "-", "-"));
  EXPECT_EQ(launches.spread.launches_needed(false), 5U);
}

TEST(LaunchSpread, KernelsOfALoopTakeTurnsAndOneHasTheProfilerForSeveralPasses) {
  Launches launches({1, 2});
  const std::size_t a = launches.spread.add_kernel(false);
  const std::size_t b = launches.spread.add_kernel(false);
  std::vector<std::string> of_a, of_b;
  for (int i = 0; i < 6; ++i) {
    of_a.push_back(launches.launch(a));
    of_b.push_back(launches.launch(b));
  }
  // b was counted behind a's first launch, so that a has to wait for the round without such a group.
  EXPECT_THAT(of_a, ElementsAre("0.1", "-", "-", "1.1", "1.2", "-"));
  EXPECT_THAT(of_b, ElementsAre("0.1", "1.1", "1.2", "-", "-", "-"));
}

TEST(LaunchSpread, KernelsThatWaitForOtherProcessesGetSinglePassesAlone) {
  Launches launches({1, 2, 1});
  const std::size_t kernel = launches.spread.add_kernel(true);
  EXPECT_EQ(launches.launch(kernel), "0.1");
  EXPECT_EQ(launches.launch(kernel), "2.1");
  EXPECT_EQ(launches.launch(kernel), "-");
  EXPECT_EQ(launches.spread.launches_needed(true), 2U);
}

TEST(LaunchSpread, APassThatTheProfilerRefusedIsNotTriedAgain) {
  LaunchSpread spread({1, 1});
  const std::size_t kernel = spread.add_kernel(false);
  spread.refused(kernel, *spread.at_launch(kernel));
  EXPECT_EQ(spread.at_launch(kernel), (Choice{1, true}));
  spread.leave_out(kernel);
  EXPECT_EQ(spread.at_launch(kernel), std::nullopt);
}

TEST(LaunchSpread, AKernelThatIsNotLaunchedAnyMoreGivesTheProfilerUp) {
  Launches launches({1, 2});
  const std::size_t gone = launches.spread.add_kernel(false);
  EXPECT_EQ(launches.launch(gone), "0.1");
  EXPECT_EQ(launches.launch(gone), "1.1");
  const std::size_t other = launches.spread.add_kernel(false);
  EXPECT_EQ(launches.launch(other), "-");
  std::string counted = "-";
  for (int i = 0; i < 3000 && counted == "-"; ++i) counted = launches.launch(other);
  EXPECT_EQ(counted, "0.1");
}

}  // namespace
}  // namespace mprof::injection
