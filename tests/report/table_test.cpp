// SPDX-License-Identifier: MIT
#include "report/views/table.hpp"

#include <gtest/gtest.h>

#include "report/text/format.hpp"
#include "report/views/packed_rows.hpp"

namespace mprof {
namespace {

using nlohmann::json;

Value value(double median) {
  return {Estimate{.median = median, .interval = Interval{median * 0.99, median * 1.01}, .samples = 20}, {}};
}

TEST(Table, OnePrefixForAllNumbersOfAUnit) {
  Table table("t", "Times");
  table.text("Variant").numbers("Op Time", Unit::second).numbers("Total", Unit::second);
  table.row({Cell::words("a"), Cell::value(value(0.004)), Cell::value(value(0.012))});
  table.row({Cell::words("b"), Cell::value(value(0.0004)), Cell::value(value(1.2))});
  const json view = table.view();
  EXPECT_EQ(view["columns"][1]["unit"], "ms");
  EXPECT_EQ(view["columns"][2]["unit"], "ms");
  EXPECT_EQ(view["rows"][0]["cells"][1]["text"], "4.000");
  EXPECT_EQ(view["rows"][1]["cells"][1]["text"], "0.4000");
  EXPECT_EQ(view["rows"][1]["cells"][2]["text"], "1,200");
  EXPECT_EQ(view["rows"][0]["cells"][1]["detail"], "±1.0\u00a0%");
}

TEST(Table, AbsentCellsShareAFootnoteForTheirReason) {
  Table table("t", "Times");
  table.text("Variant").numbers("A", Unit::second).numbers("B", Unit::second);
  table.row({Cell::words("a"), Cell::value(value(1)), Cell::missing("no clock")});
  table.row({Cell::words("b"), Cell::missing("no time"), Cell::missing("no clock")});
  table.row({Cell::words("c"), Cell::missing("no time"), Cell::value(value(1))});
  const json view = table.view();
  EXPECT_EQ(view["notes"], json::parse(R"([{"mark":"a","text":"no clock"},{"mark":"b","text":"no time"}])"));
  EXPECT_EQ(view["rows"][1]["cells"][1]["mark"], "b");
  EXPECT_EQ(view["rows"][1]["cells"][2]["mark"], "a");
  EXPECT_EQ(view["rows"][1]["cells"][2]["text"], "–");
}

/// Each cell is what it is in a small table with the same rows.
TEST(Table, RowsOfALargeOneArePacked) {
  const auto table_of = [](int rows) {
    Table table("t", "Times");
    table.text("Variant").numbers("Time", Unit::second);
    for (int row = 0; row < rows; ++row) {
      table.row({Cell::words_to("same", "place"),
                 row % 3 == 0
                     ? Cell::missing(row % 2 == 0 ? "no clock" : "no time")
                     : Cell::value(value(0.001 + row % 9)).with(row % 5 == 0 ? Tone::best : Tone::plain)});
    }
    return table.view();
  };
  const json small = table_of(90);
  json large = table_of(180);
  EXPECT_TRUE(large["rows"][0].is_binary());
  EXPECT_EQ(text_table(large, 0).substr(0, 200), text_table(small, 0).substr(0, 200));
  unpack(large);
  ASSERT_EQ(large["rows"].size(), 180U);
  EXPECT_EQ(large["notes"], small["notes"]);
  for (std::size_t i = 0; i < small["rows"].size(); ++i) EXPECT_EQ(large["rows"][i], small["rows"][i]) << i;
}

TEST(Table, AColumnThatIsAbsentThroughoutBecomesARemark) {
  Table table("t", "Counters");
  table.text("Variant")
      .numbers("Time", Unit::second)
      .numbers("Cycles", Unit::count)
      .numbers("Misses", Unit::count);
  table.row(
      {Cell::words("a"), Cell::value(value(1)), Cell::missing("forbidden"), Cell::missing("forbidden")});
  table.row(
      {Cell::words("b"), Cell::value(value(1)), Cell::missing("forbidden"), Cell::missing("forbidden")});
  const json view = table.view();
  EXPECT_EQ(view["columns"].size(), 2U);
  EXPECT_EQ(view["remarks"], json({"Cycles and Misses: forbidden"}));
  EXPECT_TRUE(view["notes"].empty());
}

TEST(Table, WithoutAnyFigureTheColumnsStay) {
  Table table("t", "Times");
  table.text("Variant").numbers("Time", Unit::second);
  table.row({Cell::words("a"), Cell::missing("skipped")});
  EXPECT_EQ(table.view()["columns"].size(), 2U);
  table.only_with_numbers();
  EXPECT_FALSE(table.view()["has_rows"]);
}

TEST(Table, ShortRowsEndInDashes) {
  Table table("t", "Times");
  table.text("Variant").numbers("A").numbers("B");
  table.row({Cell::words("a").noted("crashed")});
  const json cells = table.view()["rows"][0]["cells"];
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(cells[2]["text"], "–");
  EXPECT_EQ(cells[0]["mark"], "a");
}

TEST(Table, FootnotesGoOnAfterZ) {
  Table table("t", "");
  table.numbers("A").numbers("B");
  for (int i = 0; i < 28; ++i) table.row({Cell::missing("reason " + std::to_string(i)), Cell::figure("1")});
  EXPECT_EQ(table.view()["notes"][26]["mark"], "aa");
  EXPECT_EQ(table.view()["notes"][27]["mark"], "ab");
}

TEST(Table, CellsBringTheNumberTheyAreSortedBy) {
  Table table("t", "Times");
  table.text("Variant").numbers("Time", Unit::second).numbers("Speed-up").numbers("Launches");
  table.row({Cell::words("12"), Cell::value(value(0.0123456789)), Cell::speed_up({.factor = 2.345}),
             Cell::figure("1,234,567,890").valued(1234567890)});
  table.row({Cell::words("a"), Cell::missing("no clock"), Cell::words("baseline").valued(1), Cell::dash()});
  const json rows = table.view()["rows"];
  const auto values = [&](std::size_t row) {
    std::vector<std::string> list;
    for (const json& cell : rows[row]["cells"]) list.push_back(cell["value"]);
    return list;
  };
  EXPECT_EQ(values(0), (std::vector<std::string>{"", "0.01234568", "2.345", "1234567890"}));
  EXPECT_EQ(values(1), (std::vector<std::string>{"", "", "1", ""})) << "what is missing has no value";
}

TEST(TextTable, GroupsRowsAndKeepsToTheWidth) {
  Table table("t", "Times");
  table.text("Case").text("Time").numbers("A", Unit::second).numbers("Change");
  for (const char* op : {"layer1", "layer2"}) {
    table.row({Cell::words("conv/fused_matmul[tile_width=16]@10000"), Cell::words(op),
               Cell::value(value(0.0123)), Cell::figure("\u22125.0\u00a0%")});
  }
  EXPECT_EQ(text_table(table.view(), 0),
            "  Time          A (ms)  Change\n"
            "conv/fused_matmul[tile_width=16]@10000\n"
            "  layer1  12.30 ±1.0 %  \u22125.0 %\n"
            "  layer2  12.30 ±1.0 %  \u22125.0 %\n");
  const std::string narrow = text_table(table.view(), 26);
  EXPECT_EQ(narrow,
            "  Time    A (ms)  Change\n"
            "conv/fused_ma…th=16]@10000\n"
            "  layer1   12.30  \u22125.0 %\n"
            "  layer2   12.30  \u22125.0 %\n"
            "(intervals are left out: they need a wider terminal)\n")
      << "small print goes first, and it is said";
}

TEST(TextTable, ASpareColumnGoesBeforeTheIntervals) {
  Table table("t", "Times");
  table.text("Case").numbers("A", Unit::second).numbers("Change").numbers("Speed-up").spare().text("Verdict");
  table.row({Cell::words("conv/a@100"), Cell::value(value(0.0123)), Cell::figure("\u22125.0\u00a0%"),
             Cell::figure("1.05\u00d7"), Cell::words("faster")});
  EXPECT_NE(text_table(table.view(), 60).find("Speed-up"), std::string::npos);
  EXPECT_EQ(text_table(table.view(), 42),
            "Case              A (ms)  Change  Verdict\n"
            "conv/a@100  12.30 ±1.0 %  \u22125.0 %  faster\n");
}

TEST(TextTable, TheFirstColumnGivesWay) {
  Table table("t", "");
  table.text("Case").numbers("A");
  table.row({Cell::words("conv/cpu_im2col_gemm@10000"), Cell::figure("1.5")});
  table.row({Cell::words("conv/cpu_naive@100"), Cell::figure("12.25")});
  EXPECT_EQ(text_table(table.view(), 24),
            "Case                   A\n"
            "conv/cpu…mm@10000   1.5\n"
            "conv/cpu…aive@100  12.25\n");
}

TEST(Cell, ADisturbedTimeHasANoteAndItsSpeedUpNoColour) {
  Estimate slow{.median = 2, .samples = 9, .rounds = 5, .between = {1e-6, 40}, .clock = ClockSource::host};
  slow.interval = Interval{1.99, 2.01};
  Estimate fast = slow;
  fast.median = 1;
  fast.interval = Interval{0.99, 1.01};
  EXPECT_EQ(Cell::value({slow, {}}).note, "");
  EXPECT_EQ(Cell::speed_up(judge({slow, {}}, {fast, {}})).tone, Tone::good);
  slow.disturbed = {.by = {{"the GPU throttled"}}};
  slow.lengthened.reset();
  EXPECT_EQ(Cell::value({slow, {}}).note, "disturbed: the GPU throttled");
  const Cell cell = Cell::speed_up(judge({slow, {}}, {fast, {}}));
  EXPECT_EQ(cell.tone, Tone::plain);
  EXPECT_EQ(cell.note,
            "the time before was disturbed: the GPU throttled, and nothing recorded bounds how much");
}

}  // namespace
}  // namespace mprof
