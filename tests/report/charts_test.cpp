#include "report/page/charts.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/views/views.hpp"
#include "system/error.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using nlohmann::json;

std::vector<json> charts_of(const Run& run) {
  std::vector<json> charts;
  for (const PlannedChart& planned : milestone_page(analyse(run), {}).charts) charts.push_back(planned.chart);
  return charts;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Charts, EachSaysWhatItIsAndDrawsAllItsRows) {
  const ChartRenderer renderer{Templates{}};
  const auto charts = charts_of(samples::healthy());
  EXPECT_EQ(charts.size(), 8U);
  for (const json& chart : charts) {
    const std::string svg = renderer.svg(chart);
    EXPECT_TRUE(svg.starts_with("<svg "));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));
    EXPECT_NE(svg.find("<title>" + chart["title"].get<std::string>() + "</title>"), std::string::npos);
    EXPECT_NE(svg.find("prefers-color-scheme:dark"), std::string::npos);
    for (const json& row : chart["rows"])
      EXPECT_NE(svg.find(">" + row.get<std::string>() + "<"), std::string::npos);
    EXPECT_EQ(svg.find("NaN"), std::string::npos) << chart["id"];
    EXPECT_EQ(svg, renderer.svg(chart)) << "the second drawing has the same bytes";
  }
}

TEST(Charts, HostileNamesStayText) {
  const ChartRenderer renderer{Templates{}};
  for (json chart : charts_of(samples::healthy())) {
    chart["rows"][0] = "</text><script>x</script>\"'&\U0001F600{a|b}";
    chart["title"] = "</title><script>x</script>";
    const std::string svg = renderer.svg(chart);
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(occurrences(svg, "<title>"), 1U);
    EXPECT_NO_THROW((void)json(svg).dump()) << "valid UTF-8";
  }
}

TEST(Charts, OfKernelsKeepHostileNamesText) {
  const ChartRenderer renderer{Templates{}};
  std::set<std::string> kinds;
  for (const json& chart : charts_of(samples::hostile())) {
    kinds.insert(chart["kind"]);
    const std::string svg = renderer.svg(chart);
    EXPECT_EQ(svg.find("<script"), std::string::npos) << chart["id"];
    EXPECT_EQ(svg.find("NaN"), std::string::npos) << chart["id"];
    EXPECT_EQ(svg, renderer.svg(chart)) << "the second drawing has the same bytes";
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"dots", "percent_bars", "roofline", "stacked_bars"}));
}

TEST(Charts, AScriptErrorIsAnErrorForAPerson) {
  const ChartRenderer renderer{Templates{}};
  EXPECT_THROW((void)renderer.svg({{"id", "x"}, {"kind", "pie"}, {"rows", json::array()}}), Error);
  const test::TemporaryDirectory directory;
  directory.write("charts.js", "var a = ;");
  try {
    const ChartRenderer broken{Templates{directory.path()}};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("charts.js"), std::string::npos);
  }
}

TEST(Charts, ASingleCaseAndAnEmptyRun) {
  EXPECT_TRUE(charts_of(samples::empty_run()).empty());
  mprof::Run single = samples::empty_run();
  single.variants = {samples::variant("conv/only")};
  single.cases = {samples::timed_case(single.variants[0], 100, 1, 2)};
  const auto charts = charts_of(single);
  EXPECT_EQ(charts.size(), 5U) << "two op times, one total time, two throughputs, no speed-up";
  const ChartRenderer renderer{Templates{}};
  for (const json& chart : charts) EXPECT_EQ(renderer.svg(chart).find("NaN"), std::string::npos);
}

TEST(JoinSurrogates, MakesUtf8) {
  EXPECT_EQ(join_surrogates("a\xed\xa0\xbd\xed\xb8\x80z"), "a\U0001F600z");
  EXPECT_EQ(join_surrogates("\xed\xa0\xbd!"), "\ufffd!");
  EXPECT_EQ(join_surrogates("\xed\x9f\xbf\u00fc"), "\xed\x9f\xbf\u00fc") << "not a surrogate";
}

}  // namespace
}  // namespace mprof
