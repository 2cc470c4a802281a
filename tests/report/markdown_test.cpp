// SPDX-License-Identifier: MIT
#include "report/text/markdown.hpp"

#include <string>

#include <gtest/gtest.h>

namespace mprof {
namespace {

TEST(MarkdownEscape, LeavesIdsAndNumbersReadable) {
  for (const char* text :
       {"conv/cpu_im2col_gemm@1000", "41.30 ±0.3 %", "a - b", "3.5", "2 > 1", "x (y)", "a & b", "C#"}) {
    EXPECT_EQ(markdown::escape(text), text);
  }
}

struct Escaped {
  const char* raw;
  const char* text;
};

class MarkdownMarkup : public testing::TestWithParam<Escaped> {};

TEST_P(MarkdownMarkup, IsDisarmed) {
  EXPECT_EQ(markdown::escape(GetParam().raw), GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Signs, MarkdownMarkup,
    testing::Values(Escaped{"<script>", "\\<script>"}, Escaped{"a|b", "a\\|b"},
                    Escaped{"`code`", "\\`code\\`"}, Escaped{"*b* _i_", "\\*b\\* \\_i\\_"},
                    Escaped{"[a](javascript:b)", "\\[a\\](javascript:b)"}, Escaped{"![a](b)", "!\\[a\\](b)"},
                    Escaped{"&amp; &#60;", "\\&amp; \\&#60;"}, Escaped{"~~x~~", "\\~\\~x\\~\\~"},
                    Escaped{"$x$", "\\$x\\$"}, Escaped{"\\", "\\\\"}, Escaped{"# heading", "\\# heading"},
                    Escaped{"- item", "\\- item"}, Escaped{"> quote", "\\> quote"},
                    Escaped{"1. item", "1\\. item"}, Escaped{"12) item", "12\\) item"},
                    Escaped{"a\n# b", "a # b"}, Escaped{"a\r\n\r\n---", "a    ---"},
                    Escaped{"===", "\\==="}));

TEST(MarkdownTables, CellsArePaddedToTheirColumn) {
  EXPECT_EQ(markdown::align_tables(
                "text\n| a | b |\n| --- | ---: |\n| long \\| cell | 1 |\n| ü | 12345 |\n\nend\n"),
            "text\n"
            "| a            |     b |\n"
            "| ------------ | ----: |\n"
            "| long \\| cell |     1 |\n"
            "| ü            | 12345 |\n"
            "\nend\n");
}

}  // namespace
}  // namespace mprof
