// SPDX-License-Identifier: MIT
#include "report/page/history_page.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/history_runs.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

using nlohmann::json;

/// Six runs: the first op becomes slower in the fourth, the second one faster in the fifth.
History sample_history() {
  const auto first = [](std::size_t i) { return i < 3 ? 1e-3 : 1.03e-3; };
  const auto second = [](std::size_t i) { return i < 4 ? 2e-3 : 1.9e-3; };
  return history_of(samples::daily(6, first, second), {});
}

std::size_t place_of(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string_view::npos) << part << " is not in\n" << text;
  return at;
}

/// Whether a tag stands there without the backslash that makes it text in Markdown.
bool has_bare_script(const std::string& text) {
  for (std::size_t at = text.find("<script"); at != std::string::npos; at = text.find("<script", at + 1)) {
    if (at == 0 || text[at - 1] != '\\') return true;
  }
  return false;
}

TEST(RenderHistory, TextHasTheChangesTheNewestFirstIn80Columns) {
  const std::string text = render_history(sample_history(), "text", {.width = 80, .templates = {}});
  EXPECT_LT(place_of(text, "4 → 5"), place_of(text, "3 → 4"));
  place_of(text, "abc003 → 0abc004");
  place_of(text, "−5.0 %");
  place_of(text, "+3.0 %");
  place_of(text, "1 time without a change: 1 the same from first to last, 0 undecided. --all shows them.");
  EXPECT_TRUE(text.ends_with("2 changes in 2 of 3 times.\n")) << text;
  EXPECT_EQ(text.find("total"), std::string::npos) << "it did not change";
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_TRUE(columns <= 80 || line.find("--all") != std::string::npos) << line;
  }
  const std::string all =
      render_history(sample_history(), "text", {.width = 80, .templates = {}, .all = true});
  place_of(all, "total");
  EXPECT_EQ(all.find("--all"), std::string::npos);
}

TEST(RenderHistory, MarkdownHasItsChartsBesideIt) {
  const test::TemporaryDirectory directory;
  const auto files = write_history(sample_history(), "md", {}, directory.path() / "history.md");
  ASSERT_EQ(files.size(), 2U);
  const std::string markdown = read_file(files[0]), svg = read_file(files[1]);
  place_of(markdown, "](charts/" + files[1].filename().string() + ")");
  EXPECT_TRUE(svg.starts_with("<svg "));
  place_of(svg, ">+3.0\u00a0%<");
  place_of(svg, ">−5.0\u00a0%<");
  EXPECT_EQ(svg.find("NaN"), std::string::npos);
  EXPECT_EQ(render_history(sample_history(), "md").find("charts/"), std::string::npos)
      << "alone it has none to link";
}

TEST(RenderHistory, HtmlHoldsItsChartsAsData) {
  const std::string html = render_history(sample_history(), "html");
  const std::string open = "id=\"chart-data\">";
  const std::size_t from = place_of(html, open) + open.size();
  const json charts = json::parse(html.substr(from, html.find("</script>", from) - from));
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0]["kind"], "history");
  EXPECT_EQ(charts[0]["rows"], (json{"1", "2", "3", "4", "5", "6"}));
  EXPECT_EQ(charts[0]["series"].size(), 3U);
  EXPECT_EQ(charts[0]["axis"]["changes"][0], (json{{"at", 2.5}, {"text", "+3.0\u00a0%"}}));
  const json& points = charts[0]["series"][0]["points"];
  EXPECT_NEAR(points[5]["value"].get<double>(), 1.03, 1e-9);
  EXPECT_LT(points[5]["low"].get<double>(), points[5]["value"].get<double>());
  EXPECT_TRUE(points[3]["best"]);
  EXPECT_FALSE(points[4]["best"]);
}

TEST(RenderHistory, JsonHoldsTheNumbers) {
  const json history = json::parse(render_history(sample_history(), "json"));
  EXPECT_EQ(history["runs"].size(), 6U);
  EXPECT_EQ(history["runs"][3]["number"], 4);
  EXPECT_EQ(history["changed"], 2);
  const json& series = history["machines"][0]["cases"][0]["series"][0];
  EXPECT_EQ(series["points"].size(), 6U);
  EXPECT_EQ(series["points"][0]["run"], 1);
  const json& change = series["changes"].at(0);
  EXPECT_EQ(change["from"], 3);
  EXPECT_EQ(change["to"], 4);
  EXPECT_EQ(change["to_revision"], "0abc00399999");
  EXPECT_EQ(change["verdict"], "slower");
  EXPECT_NEAR(change["ratio"].get<double>(), 1.03, 1e-9);
  EXPECT_EQ(change["told_by"], "neighbours");
  EXPECT_EQ(history["machines"][0]["cases"][0]["series"][2]["overall"]["verdict"], "same");
}

TEST(RenderHistory, SaysWhichMachinesWereToldApart) {
  std::vector<RecordedRun> runs;
  for (std::size_t i = 0; i < 4; ++i) {
    mprof::Run run = samples::on_day(i, i < 2 ? 1e-3 : 1.03e-3, 1e-3);
    if (i == 1) run.environment["cpu"]["model"] = "Another 9000";
    runs.push_back(recorded_run(run, "results"));
  }
  const std::string text = render_history(history_of(runs, {}), "text");
  place_of(text, "Machine 2 is Another 9000.");
  place_of(text, "Run 1 and run 2 are of different machines: CPU model: ");
  place_of(text, "1 → 3");
}

TEST(RenderHistory, HostileNamesStayText) {
  std::vector<RecordedRun> runs;
  const std::string attack = "</script><script>x</script>|`<b>";
  for (std::size_t i = 0; i < 2; ++i) {
    mprof::Run run = samples::on_day(i, i == 0 ? 1e-3 : 2e-3, 1e-3);
    run.tool.revision = attack;
    run.cases[0].id = attack;
    run.cases[0].key.variant = "conv/" + attack;
    run.cases[0].ops[0].name = attack;
    for (Measurement& row : samples::timing(run.cases[0]).measurements) {
      if (row.op == "layer1") row.op = attack;
    }
    runs.push_back(recorded_run(run, attack));
  }
  const History history = history_of(runs, {});
  EXPECT_EQ(history.changed(), 2U);
  EXPECT_EQ(render_history(history, "html").find("<script>x"), std::string::npos);
  const test::TemporaryDirectory directory;
  for (const auto& file : write_history(history, "md", {}, directory.path() / "history.md"))
    EXPECT_FALSE(has_bare_script(read_file(file))) << file;
}

TEST(RenderHistory, AnUnknownFormatIsRefused) {
  EXPECT_THROW((void)render_history(sample_history(), "pdf"), Error);
}

}  // namespace
}  // namespace mprof
