// SPDX-License-Identifier: MIT
#include "model/case_file.hpp"

#include <set>

#include <gtest/gtest.h>

#include "messages.hpp"
#include "sample_run.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using test::expect_contains;
using test::message_of;

TEST(CaseFile, ReadsBackWhatItWrote) {
  const Case c = test::full_case();
  const std::string text = case_to_json(c, "stamp");
  const StoredCase stored = parse_case(text, "case.json");
  EXPECT_EQ(stored.run, "stamp");
  EXPECT_EQ(stored.id, c.id);
  EXPECT_EQ(stored.key, c.key);
  EXPECT_EQ(stored.passes, c.passes);
  EXPECT_EQ(text.find("flops"), std::string::npos) << "the ops stand in run.json";
}

TEST(CaseFile, ASampleSeriesIsOneLine) {
  Case c = test::full_case();
  c.passes[0].measurements[0].samples.assign(500, 0.125);
  const std::string text = case_to_json(c, "stamp");
  const std::size_t start = text.find("\"samples\": [0.125, 0.125, ");
  ASSERT_NE(start, std::string::npos);
  EXPECT_EQ(text.substr(start, text.find('\n', start) - start).size(),
            std::string("\"samples\": []").size() + 500 * 7 - 2);
}

TEST(CaseFile, EveryTruncationIsRefused) {
  const std::string text = case_to_json(test::full_case(), "stamp");
  for (std::size_t length = 0; length + 2 < text.size(); length += 7)
    message_of([&] { static_cast<void>(parse_case(text.substr(0, length), "case.json")); });
}

TEST(CaseFile, OfANewerVersionIsRefusedByName) {
  const std::string text = test::replaced(case_to_json(test::full_case(), "stamp"), "\"schema_version\": 2",
                                          "\"schema_version\": 3");
  expect_contains(message_of([&] { static_cast<void>(parse_case(text, "case.json")); }),
                  "case.json: it was written in schema version 3");
  expect_contains(message_of([&] { static_cast<void>(parse_case("{}", "case.json")); }),
                  "case.json: this is JSON, but no file of a case");
}

TEST(CaseFile, IsNamedLikeItsCase) {
  EXPECT_EQ(case_file("conv/fused_matmul[tile_width=16]@1000"),
            "cases/conv.fused_matmul[tile_width=16]@1000.json");
  EXPECT_EQ(case_file("map/b@size=8192,iterations=5"), "cases/map.b@size=8192,iterations=5.json");
  EXPECT_EQ(case_file("a.b%c~d"), "cases/a%2Eb%25c%7Ed.json");
  EXPECT_EQ(case_file("\xc3\xbc b\n"), "cases/%C3%BC%20b%0A.json");
}

/// Ids out of a record from anywhere.
TEST(CaseFile, NoIdLeadsElsewhereOrSharesAFile) {
  const std::string deep(300, '/');
  const std::string wide(300, 'x');
  const std::string rising(300, '.');
  const std::vector<std::string> ids{"",
                                     ".",
                                     "..",
                                     "/",
                                     "//",
                                     "../run",
                                     "/etc/passwd",
                                     "a/../../b",
                                     "a//b",
                                     "a/b",
                                     "a.b",
                                     "a%2Eb",
                                     "a\\b",
                                     "cases/a",
                                     "a/b.json",
                                     "a~b",
                                     "A/B",
                                     deep,
                                     wide,
                                     wide + "y",
                                     wide + "z",
                                     rising,
                                     std::string("a\0b", 3),
                                     "a"};
  std::set<fs::path> files;
  for (const std::string& id : ids) {
    const fs::path file = case_file(id);
    EXPECT_TRUE(files.insert(file).second) << id << " shares " << file;
    EXPECT_EQ(file.parent_path(), "cases") << id;
    EXPECT_LE(file.filename().string().size(), 255U) << id;
    EXPECT_EQ(file.extension(), ".json") << id;
    EXPECT_EQ(file.lexically_normal(), file) << id;
    EXPECT_NE(file.filename().string().front(), '.') << id << " would be hidden";
  }
}

TEST(CaseFile, TheStampTellsRunsApart) {
  mprof::Run run = test::full_run();
  const std::string stamp = run_stamp(run);
  run.state = RunState::complete;
  run.finished = "later";
  EXPECT_EQ(run_stamp(run), stamp) << "it stays while the run goes on";
  run.plan.seed += 1;
  EXPECT_NE(run_stamp(run), stamp);
}

}  // namespace
}  // namespace mprof
