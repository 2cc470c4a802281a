// SPDX-License-Identifier: MIT
#include "model/trace/window.hpp"

#include <cmath>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mprof {
namespace {

using testing::HasSubstr;
using trace::Window;

Window parsed(const std::string& text) {
  std::string wrong;
  const auto window = trace::parse_window(text, wrong);
  EXPECT_TRUE(window) << text << ": " << wrong;
  return window.value_or(Window{});
}

std::string refused(const std::string& text) {
  std::string wrong;
  EXPECT_FALSE(trace::parse_window(text, wrong)) << text;
  return wrong;
}

TEST(Window, IsReadFromWhatOneWrites) {
  EXPECT_EQ(parsed("profiler-api").kind, Window::Kind::profiler_api);
  const Window steps = parsed("step:10..20");
  EXPECT_EQ(steps.kind, Window::Kind::steps);
  EXPECT_EQ(steps.first, 10U);
  EXPECT_EQ(steps.last, 20U);
  EXPECT_EQ(parsed("step:7").last, 7U);
  EXPECT_EQ(parsed("step:7..").last, Window::open);
  const Window range = parsed("range:forward[3..5]");
  EXPECT_EQ(range.kind, Window::Kind::ranges);
  EXPECT_EQ(range.range, "forward");
  EXPECT_EQ(range.first, 3U);
  EXPECT_EQ(range.last, 5U);
  EXPECT_EQ(parsed("range:forward").last, 1U) << "the first";
  EXPECT_EQ(parsed("range:a[1][2]").range, "a[1]");
  const Window seconds = parsed("seconds:1.5..3");
  EXPECT_EQ(seconds.kind, Window::Kind::seconds);
  EXPECT_EQ(seconds.from, 1.5);
  EXPECT_EQ(seconds.to, 3);
  EXPECT_TRUE(std::isinf(parsed("seconds:2..").to));
}

TEST(Window, IsRefusedWithWhatIsRight) {
  for (const char* text : {"", "steps:1..2", "profiler_api", "10..20"})
    EXPECT_THAT(refused(text), HasSubstr("give step:10..20, range:NAME")) << text;
  for (const char* text : {"step:", "step:0", "step:5..3", "step:a..b", "step:1...2", "step:-1..2"})
    EXPECT_THAT(refused(text), HasSubstr("as in step:10..20")) << text;
  for (const char* text : {"range:x[0]", "range:x[]", "range:x[2..1]", "range:x[a]"})
    EXPECT_THAT(refused(text), HasSubstr("range:NAME[3..5]")) << text;
  EXPECT_THAT(refused("range:"), HasSubstr("range:forward"));
  EXPECT_THAT(refused("range:[3]"), HasSubstr("range:forward"));
  for (const char* text : {"seconds:1", "seconds:3..1", "seconds:-1..2", "seconds:a..b", "seconds:nan..1"})
    EXPECT_THAT(refused(text), HasSubstr("seconds:1.5..3")) << text;
}

TEST(Window, IsToldToTheProgramAsItIs) {
  for (const char* text :
       {"profiler-api", "step:10..20", "range:two\nlines[3..]", "seconds:1.5..3", "seconds:0.."}) {
    const Window window = parsed(text);
    const auto given = trace::given_window(trace::written_window(window, 1'700'000'000'000'000'000));
    ASSERT_TRUE(given) << text;
    EXPECT_EQ(given->window, window) << text;
    EXPECT_EQ(given->since, 1'700'000'000'000'000'000);
  }
  for (const char* text : {"", "1", "9\n1\n1\n0\n0\n0\nx", "0\n1\n1\n0\n0\n"})
    EXPECT_FALSE(trace::given_window(text));
}

}  // namespace
}  // namespace mprof
