// SPDX-License-Identifier: MIT
#include "serve/judge/likeness.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mprof {
namespace {

/// A loop nest of its own for each `depth` and `operation`.
std::string source(const std::string& name, const std::string& operation, int statements) {
  std::string text =
      "#include <vector>\nvoid " + name + "(float* " + name + "_out, const float* in, int n) {\n";
  for (int i = 0; i < statements; ++i)
    text += "  for (int i = 0; i < n; ++i) { " + name + "_out[i] " + operation + "= in[i] * " +
            std::to_string(i) +
            (i % 3 == 0   ? " + in[i];"
             : i % 3 == 1 ? " - (in[i] / 2);"
                          : "; if (i > 3) break;") +
            " }\n";
  return text + "}\n";
}

TEST(Structure, LeavesNamesNumbersCommentsAndLayoutOut) {
  EXPECT_EQ(structure_of("#include <a>\nint first = 12; // one\n"),
            structure_of("int second=0x3f /* two\n */ ;"));
  EXPECT_NE(structure_of("int a = 1;"), structure_of("float a = 1;"));
  EXPECT_EQ(structure_of("f(\"a // b\", 'c');"), structure_of("g( \"\\\"\" , 'd' ) ;"));
}

TEST(AlikePairs, FindsARenamedCopyAndNothingElse) {
  const std::vector<std::string> sources{
      source("ann", "+", 12), "while (true) { ++a; a = b ? c : d; }", "/* mine */ " + source("bob", "+", 12),
      "struct A { int b[3]; };" + std::string(40, ';') + "switch (a) { case 1: break; }"};
  const std::vector<AlikePair> pairs = alike_pairs(sources, "");
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].first, 0U);
  EXPECT_EQ(pairs[0].second, 2U);
  EXPECT_DOUBLE_EQ(pairs[0].share, 1);
}

TEST(AlikePairs, DoNotCountWhatAllWereGiven) {
  const std::string starter = source("given", "+", 12);
  const std::vector<std::string> sources{starter, source("mine", "+", 12)};
  EXPECT_EQ(alike_pairs(sources, "").size(), 1U);
  EXPECT_TRUE(alike_pairs(sources, starter).empty());
}

TEST(AlikePairs, OfAnEmptySourceAreNone) {
  const std::vector<std::string> sources{"", "", "int a;"};
  EXPECT_TRUE(alike_pairs(sources, "").empty());
}

}  // namespace
}  // namespace mprof
