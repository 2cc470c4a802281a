// SPDX-License-Identifier: MIT
#include "report/page/charts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "report/analysis/analysis.hpp"
#include "report/views/chart_parts.hpp"
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
  EXPECT_EQ(charts.size(), 8U + 1U + 4U)
      << "those of the family, its ladder, and the samples of each variant";
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

/// ECharts sorts labels to hide those that overlap, and all are alike.
TEST(Charts, HideTheSameOfManyLabelsEachTime) {
  json points = json::array(), ticks = json::array(), rows = json::array();
  for (int step = 0; step < 400; ++step) {
    const double value = 1 + step % 7 * 0.01;
    points.push_back({{"row", step},
                      {"value", value},
                      {"low", value},
                      {"high", value},
                      {"best", false},
                      {"title", "Step"},
                      {"text", ""},
                      {"hover", ""}});
    ticks.push_back(3 * step + step % 3);
    rows.push_back(std::to_string(3 * step + step % 3));
  }
  const json chart{{"id", "pace"},
                   {"kind", "history"},
                   {"title", "Pace"},
                   {"caption", "Pace"},
                   {"alt", "Pace"},
                   {"rows", rows},
                   {"series", {{{"name", "Step"}, {"points", points}, {"gaps", json::array()}}}},
                   {"axis",
                    {{"name", "Step"},
                     {"ticks", ticks},
                     {"connected", true},
                     {"y", "Time"},
                     {"default", nullptr},
                     {"least", 1.2},
                     {"changes", json::array()}}}};
  const std::string first = ChartRenderer(Templates{}).svg(chart);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ChartRenderer(Templates{}).svg(chart), first);
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
  EXPECT_EQ(kinds, (std::set<std::string>{"dots", "percent_bars", "roofline", "stacked_bars", "strip"}));
}

/// The series of a stall chart by name, with their places.
std::map<std::string, int> stall_places_of(const std::vector<json>& charts, const std::string& op) {
  std::map<std::string, int> places;
  for (const json& chart : charts) {
    if (chart["kind"] != "stacked_bars" || chart["title"].get<std::string>().find(op) == std::string::npos)
      continue;
    for (const json& series : chart["series"]) places[series["name"]] = series["place"];
  }
  return places;
}

TEST(Charts, AReasonToWaitHasOnePlaceEverywhereAndLongOnesTheirName) {
  mprof::Run run = samples::gpu();
  const auto stall = [](const std::string& reason) {
    return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
  };
  Case& c = run.cases[0];
  samples::add_kernel(c, "layer1", "one", 40, 92);
  samples::add_kernel(c, "layer2", "two", 40, 92);
  PassResult& counters = samples::pass_of(c, Pass::counters);
  // Many reasons that cost more elsewhere; in layer2 membar is the longest, and in layer1 there is none.
  for (const char* reason : {"wait", "short_scoreboard", "mio_throttle", "math_pipe_throttle", "lg_throttle",
                             "no_instruction", "drain"})
    counters.measurements.push_back(samples::of_kernel(stall(reason), "layer1", "one", 3));
  counters.measurements.push_back(samples::of_kernel(stall("membar"), "layer2", "two", 50));
  const auto charts = charts_of(run);
  const auto first = stall_places_of(charts, "layer1"), second = stall_places_of(charts, "layer2");
  EXPECT_TRUE(second.contains("membar"));
  EXPECT_TRUE(first.contains("drain")) << "a good part of the waiting has its name";
  for (const auto& [name, place] : first) {
    if (!second.contains(name)) continue;
    EXPECT_EQ(second.at(name), place) << name;
  }
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
  EXPECT_EQ(charts.size(), 6U) << "two op times, one total time, two throughputs, samples, no speed-up";
  const ChartRenderer renderer{Templates{}};
  for (const json& chart : charts) EXPECT_EQ(renderer.svg(chart).find("NaN"), std::string::npos);
}

TEST(Charts, PlacesToDrawAreEvenAndKeepWhatIsNeeded) {
  EXPECT_EQ(places_to_draw(3, 5), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(places_to_draw(101, 5), (std::vector<std::size_t>{0, 25, 50, 75, 100}));
  const auto places = places_to_draw(2000, 10, std::array<std::size_t, 2>{7, 1234});
  EXPECT_EQ(places.size(), 10U);
  EXPECT_EQ(places.front(), 0U);
  EXPECT_EQ(places.back(), 1999U);
  EXPECT_TRUE(std::ranges::count(places, 7U) == 1 && std::ranges::count(places, 1234U) == 1);
  EXPECT_TRUE(std::ranges::is_sorted(places));
}

/// One variant at so many problems, the slowest and the fastest somewhere in between.
mprof::Run at_many_problems(std::size_t count) {
  mprof::Run run = samples::empty_run();
  run.variants = {samples::variant("conv/only")};
  for (std::size_t i = 1; i <= count; ++i) {
    const double time = i == count / 3 ? 5e-4 : i == count / 2 ? 50 : 1e-3 * static_cast<double>(i);
    run.cases.push_back(samples::timed_case(run.variants[0], i, time, time));
  }
  return run;
}

TEST(Charts, OfVeryManyProblemsAreThinnedAndSaySo) {
  const auto charts = charts_of(at_many_problems(150));
  std::size_t dots = 0;
  for (const json& chart : charts) {
    if (chart["kind"] != "dots") continue;
    ++dots;
    ASSERT_LE(chart["series"].size(), 24U);
    std::set<std::string> drawn;
    for (const json& series : chart["series"]) drawn.insert(series["problem"]);
    for (const char* needed : {"1", "150", "75"}) EXPECT_TRUE(drawn.contains(needed)) << needed;
    EXPECT_TRUE(chart["op"] == "" || drawn.contains("50")) << "the fastest op";
    EXPECT_NE(chart["caption"].get<std::string>().find("Drawn are 23 of 150 "), std::string::npos)
        << chart["caption"];
  }
  EXPECT_EQ(dots, 3U);
  for (const json& chart : charts_of(at_many_problems(20)))
    EXPECT_EQ(chart["caption"].get<std::string>().find("evenly chosen"), std::string::npos);
}

TEST(JoinSurrogates, MakesUtf8) {
  EXPECT_EQ(join_surrogates("a\xed\xa0\xbd\xed\xb8\x80z"), "a\U0001F600z");
  EXPECT_EQ(join_surrogates("\xed\xa0\xbd!"), "\ufffd!");
  EXPECT_EQ(join_surrogates("\xed\x9f\xbf\u00fc"), "\xed\x9f\xbf\u00fc") << "not a surrogate";
}

}  // namespace
}  // namespace mprof
