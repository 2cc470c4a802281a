// SPDX-License-Identifier: MIT
#include "model/json_archive.hpp"

#include <ctime>
#include <fstream>
#include <new>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "messages.hpp"
#include "tests/support/sanitizer.hpp"

namespace mprof {
namespace {

using json::Json;
using test::message_of;

TEST(ParseJson, ReadsWhatTheFormatHas) {
  const std::string text =
      R"({"a": [1, -2, 2.5, true, null, "\u00e9", [], {}], "b": {"c": {"d": 18446744073709551615}}})";
  EXPECT_EQ(json::parse(text, "x").dump(), Json::parse(text).dump());
  for (const char* scalar : {"1", "\"a\"", "null", "[]"}) EXPECT_EQ(json::parse(scalar, "x").dump(), scalar);
}

TEST(ParseJson, SaysWhereItIsWrong) {
  EXPECT_EQ(message_of([] {
              static_cast<void>(json::parse("{\n  \"a\": ]", "x.json"));
            }).rfind("x.json: not valid JSON at line 2, column 8: ", 0),
            0U);
  EXPECT_NE(message_of([] { static_cast<void>(json::parse("[1e999]", "x")); }).find("x: not usable JSON: "),
            std::string::npos);
}

TEST(ParseJson, RefusesANameThatStandsTwice) {
  EXPECT_EQ(message_of([] { static_cast<void>(json::parse(R"([{"a": 1, "b": 2, "a": 3}])", "x")); }),
            "x: not usable JSON: the name \"a\" stands twice in one object");
}

/// Ten times as many names took a hundred times as long once: minutes for a file of 3 MB.
TEST(ParseJson, TakesTheTimeOfItsLength) {
  const auto seconds = [](int names) {
    std::string text = "{";
    for (int i = 0; i < names; ++i) text += fmt::format("{}\"k{}\": 1", i == 0 ? "" : ",", i);
    text += '}';
    const std::clock_t start = std::clock();
    EXPECT_EQ(json::parse(text, "x").size(), static_cast<std::size_t>(names));
    return static_cast<double>(std::clock() - start);
  };
  EXPECT_LT(seconds(100'000), 50 * std::max(seconds(10'000), 1.0));
}

/// Samples are what makes a record large. The file's text is there already.
TEST(ParseJson, OfNumbersTakesTwiceItsFileBesideIt) {
  if (test::under_address_sanitizer)
    GTEST_SKIP() << "the address sanitizer needs more addresses than this test has";
  std::string text = "{\"samples\": [0.123456";
  for (int i = 0; i < 2'200'000; ++i) text += ", 0.123456";
  text += "]}";
  const pid_t child = ::fork();
  if (child == 0) {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + 2 * text.size();
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      Json document = json::parse(text, "x");
      json::empty(document);
    } catch (const std::bad_alloc&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Each takes ten times its text and more.
TEST(ParseJson, OfManySmallValuesIsRefused) {
  for (const std::string element : {"{}", "[]", "0", "\"\"", "[0]", R"({"a":1})"}) {
    EXPECT_NO_THROW(json::require_plain(test::list_of(element, 100'000), "x")) << element;
    const std::string large = test::list_of(element, 60'000'000);
    EXPECT_NO_THROW(json::require_shallow(large, "x")) << "who makes no tree of it may read it";
    test::expect_contains(message_of([&] { json::require_plain(large, "x"); }),
                          "x: reading it takes more memory than 256 MiB and three times ");
  }
}

TEST(Allowance, IsThreeTimesTheDocumentsAndALittleForSmallOnes) {
  constexpr std::uintmax_t little = std::uintmax_t{256} << 20;
  Allowance allowance;
  EXPECT_TRUE(allowance.take(little));
  EXPECT_FALSE(allowance.hold(1));
  allowance.grant(1000);
  EXPECT_TRUE(allowance.take(2000));
  EXPECT_FALSE(allowance.hold(1001));
  EXPECT_TRUE(allowance.hold(1000));
  allowance.release();
  EXPECT_TRUE(allowance.take(1000));
  EXPECT_FALSE(allowance.take(1));
}

/// Text stands in the document and in what is made of it.
TEST(FromJson, HoldsADocumentUntilItIsRead) {
  const std::string text = "[\"" + std::string(1'000'000, 'a') + "\"]";
  Allowance allowance;
  EXPECT_TRUE(allowance.take(std::uintmax_t{256} << 20));
  const std::vector<std::string> read =
      json::from_json<std::vector<std::string>>(json::Document(text, "x", allowance), "x", allowance);
  EXPECT_EQ(read.front().size(), 1'000'000U);
  EXPECT_TRUE(allowance.take(1'900'000)) << "the document is gone";
  EXPECT_FALSE(allowance.take(200'000));
}

TEST(Place, IsNamedFromTheDocumentInwards) {
  Allowance allowance;
  const json::Place document("case.json", allowance), passes = document.member("passes"),
                                                      first = passes.element(0);
  EXPECT_EQ(first.member("status").text(), "case.json.passes[0].status");
}

}  // namespace
}  // namespace mprof
