// SPDX-License-Identifier: MIT
#include "model/json_document.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "model/json_archive.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using json::Document;
using json::Json;
using test::expect_contains;
using test::message_of;

/// Empty when the text is refused.
std::string read(const std::string& text) {
  Allowance allowance;
  try {
    return Document(text, "x", allowance).root().tree().dump();
  } catch (const Error&) {
    return "";
  }
}

const std::vector<std::string> valid{
    "1",
    " [ ] ",
    "{}",
    "\xef\xbb\xbf[1]",
    R"({"a": [1, 2.5, true, null, [], {}], "b": {"c": {"d": 18446744073709551615}}})",
    R"([0.1, 1e5, 1E-7, 0e0, 123456789012345678901234567890, 4.9e-324, 1e-400, 1.7976931348623157e308])",
    R"([9223372036854775808, 18446744073709551616, -9223372036854775809])",
    R"([0.000172538, 2.5e-324, 1.0000000000000002, 9007199254740993.0, 5e-324, 123456789.0123456789012345])",
    R"(["\"\\\/\b\f\n\r\t", "\u00e9\u20ac\ud83d\ude00", "é€😀", "a\u0041b", ""])",
    "[\n\t1 ,\r\n2 ]",
    "-0",
    "[0, -0, 0.0, -0.0, -0e5, 1e-05, -0]",
    R"({"-0": "-0", "a-0": [-1, -9223372036854775808, 9223372036854775807]})",
    R"([2.2250738585072011e-308, 1.7976931348623158e308, 0.1e-6, 100e-2, 1.0, 1E+2])",
    R"(["\ud834\udd1e", "\\ud834", "\\\\ud834", "\u0000", "\uD7FF\uE000", "\/"])",
    R"({"": {"": []}, "a": {"a": {"a": null}}})",
    "[\"\x7f\", \"\xf4\x8f\xbf\xbf\"]",
};

const std::vector<std::string> invalid{
    "",
    " ",
    "[",
    "]",
    "{",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    R"({"a"})",
    R"({"a":})",
    R"({"a":1,})",
    R"({a:1})",
    "01",
    "-",
    "+1",
    "1.",
    ".5",
    "1e",
    "1e+",
    "--1",
    "tru",
    "nulll",
    "[1]]",
    "[1] 2",
    "'a'",
    "\"a",
    R"("\x")",
    R"("\u12")",
    R"("\u12g4")",
    R"("\ud83d")",
    R"("\ude00")",
    R"("\ud83d\u0041")",
    "\"\n\"",
    "\"\xff\"",
    "\"\xc0\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xe2\x82\"",
    "[1e999]",
    "NaN",
    R"({"a": 1, "b": 2, "a": 3})",
    R"({"a": 1, "b": 2, "\u0061": 3})",
    std::string("\"a\0b\"", 5),
    "[1e400]",
    "[-1e400]",
    R"(["\\ud834", "\ud834"])",
    R"(["\uD834"])",
    R"(["\udd1e\ud834"])",
    "[1]\xef\xbb\xbf",
    "[1,2]]",
    "[1}",
    "{\"a\": 1]",
    "[\"a\": 1]",
    "[1 /* one */]",
    "[00]",
    "[-]",
    "[0x1]",
    "[1_000]",
    "[Infinity]",
    "\"\x01\"",
    "\"\t\"",
    "[1\v]",
};

TEST(Document, ReadsWhatAParserReads) {
  for (const std::string& text : valid) EXPECT_EQ(read(text), Json::parse(text).dump()) << text;
}

TEST(Document, RefusesWhatAParserRefusesInItsWords) {
  for (const std::string& text : invalid) {
    const std::string expected = message_of([&] { static_cast<void>(json::parse(text, "x.json")); });
    Allowance allowance;
    EXPECT_EQ(message_of([&] { Document(text, "x.json", allowance); }), expected) << text;
    EXPECT_NE(expected, "") << text;
  }
}

/// The kinds of numbers, which decide where a whole number is asked for.
std::string kinds(const std::string& text) {
  Allowance allowance;
  const Document document(text, "x", allowance);
  std::string found;
  for (const json::Value& value : document.root().elements())
    found += value.is_count() ? 'n' : value.tree().is_number_integer() ? 'i' : 'r';
  return found;
}

TEST(Document, TellsKindsOfNumbersApartAsAParserDoes) {
  const std::string ending =
      "18446744073709551615, 18446744073709551616, 9223372036854775808, -9223372036854775808]";
  for (const std::string& text : {"[0, 1, -1, 0.0, 1e2, 1.0, " + ending, "[-0, 0, -0.0, 1, -00.0, " + ending,
                                  "[0, -0, -1, 1e-05, -0e1, " + ending, "[0, -0.5, 0, 1, -0.0, " + ending}) {
    std::string expected;
    try {
      for (const Json& value : json::parse(text, "x"))
        expected += value.is_number_unsigned() ? 'n' : value.is_number_integer() ? 'i' : 'r';
      EXPECT_EQ(kinds(text), expected) << text;
    } catch (const Error&) {
      EXPECT_EQ(read(text), "") << text;
    }
  }
}

/// Each length of text, and each amount of memory that may be taken, gives the same.
TEST(Document, IsTheSameHoweverLongAndHoweverItIsRead) {
  std::string text = R"({"rows": [[-0, 0, 1.5e-07, "é\n"])";
  for (const std::size_t rows : {1U, 10'000U, 200'000U}) {
    for (std::size_t i = 0; i < rows; ++i)
      text += ", [" + std::to_string(i) + R"(, -1e-05, "a\u0041", {"k": null, "-0": true}])";
    const std::string whole = text + "]}";
    const std::string expected = json::parse(whole, "x").dump();
    EXPECT_EQ(read(whole), expected);
    for (const std::uintmax_t small :
         {16U, 64U}) {  // bytes of memory for each of text, besides its own three
      Allowance allowance(small * whole.size());
      EXPECT_EQ(Document(whole, "x", allowance).root().tree().dump(), expected) << rows << " " << small;
    }
  }
}

TEST(Document, IsAsRecordsAreWritten) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MPROF_SOURCE_DIR "/results")) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = read_file(entry.path());
    EXPECT_EQ(read(text), Json::parse(text).dump()) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 50U);
}

TEST(Allowance, OfItsOwnIsJoined) {
  Allowance all(1000), own(500);
  own.grant(100);
  ASSERT_TRUE(own.hold(700));
  own.release();
  ASSERT_TRUE(own.take(600));
  EXPECT_TRUE(all.join(own));  // 600 of 1300 are taken, and 700 were for a moment
  EXPECT_TRUE(all.take(700));
  EXPECT_FALSE(all.take(1));
}

TEST(Allowance, IsNotJoinedWhereItWouldHaveBeenTooMuch) {
  Allowance all(1000), own(2000);
  own.grant(10);
  ASSERT_TRUE(own.hold(1031));  // for a moment more than 1000 and three times 10
  own.release();
  ASSERT_TRUE(own.take(5));
  EXPECT_FALSE(all.join(own));
  EXPECT_TRUE(all.take(1000));  // nothing has changed
  EXPECT_FALSE(all.take(1));
}

TEST(Document, DoesNotEndAtAByteOfZero) {
  for (const std::string& text : {std::string("[1]\0", 4), std::string("[1] \0[2]", 8)}) {
    Allowance allowance;
    expect_contains(message_of([&] { Document(text, "x.json", allowance); }),
                    "x.json: not valid JSON at line 1, column ");
  }
}

/// Each cut and each changed byte of a document gives what a parser makes of it.
TEST(Document, AgreesWithAParserOnDamagedText) {
  const std::string whole = R"({"a": [1, -2.5e3, "x\u00e9\n", {"b": null}], "é": true, "c": []})";
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const std::string& text :
         {whole.substr(0, i), whole.substr(0, i) + whole.substr(i + 1),
          std::string(whole).replace(i, 1, "\""), std::string(whole).replace(i, 1, "]"),
          std::string(whole).replace(i, 1, "\xe2"), std::string(whole).replace(i, 1, "1")}) {
      std::string expected;
      try {
        expected = json::parse(text, "x").dump();
      } catch (const Error&) {
        expected = "";
      }
      EXPECT_EQ(read(text), expected.empty() ? "" : Json::parse(text).dump()) << text;
    }
  }
}

TEST(Document, OfATreeIsTheSame) {
  for (const std::string& text : valid) {
    const Json tree = Json::parse(text);
    EXPECT_EQ(Document(tree).root().tree().dump(), tree.dump()) << text;
  }
}

TEST(Document, NestsAHundredLevels) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_NE(read(nested(100)), "");
  Allowance allowance;
  expect_contains(message_of([&] { Document(nested(101), "x.json", allowance); }),
                  "x.json: not usable JSON at line 1, column 100: nested deeper than 100 levels");
}

TEST(Document, OfManySmallValuesIsRefused) {
  const std::string text = test::list_of("0", 60'000'000);
  Allowance allowance;
  expect_contains(message_of([&] { Document(text, "x", allowance); }),
                  "x: reading it takes more memory than 256 MiB and three times ");
}

TEST(Document, IsQuotedInOneLine) {
  Allowance allowance;
  const std::string text = R"({"a": [-1, 2.5, "b\n"], "c": {"d": null, "e": false}, "f": []})";
  EXPECT_EQ(json::quote(Document(text, "x", allowance).root()), json::quote(Json::parse(text)));
}

}  // namespace
}  // namespace mprof
