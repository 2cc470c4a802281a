// SPDX-License-Identifier: MIT
#include "report/text/rich_text.hpp"

#include <gtest/gtest.h>

#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RichText, KeepsWhatAnAuthorNeeds) {
  const RichText text = rich_text(
      "A *word*, `code` and a [link](https://example.org/a?b=1&c).\n\n"
      "| a | b |\n|---|--:|\n| 1 | 2 |\n\n- one\n- two\n",
      {});
  EXPECT_TRUE(has(text.html, "<em>word</em>"));
  EXPECT_TRUE(has(text.html, "<code>code</code>"));
  EXPECT_TRUE(has(text.html, "<a href=\"https://example.org/a?b=1&amp;c\">link</a>"));
  EXPECT_TRUE(has(text.html, "<td align=\"right\">2</td>"));
  EXPECT_TRUE(has(text.html, "<li>two</li>"));
  EXPECT_TRUE(has(text.markdown, "[link](https://example.org/a?b=1&c)"));
  EXPECT_TRUE(has(text.markdown, "| 1 | 2 |"));
}

TEST(RichText, PutsHeadingsBelowThoseOfThePage) {
  RichTextPlace place;
  place.heading_level = 4;
  const RichText text = rich_text("# One\n\n## Two\n\n##### Five\n", place);
  EXPECT_TRUE(has(text.html, "<h4>One</h4>"));
  EXPECT_TRUE(has(text.html, "<h5>Two</h5>"));
  EXPECT_TRUE(has(text.html, "<h6>Five</h6>"));
  EXPECT_TRUE(has(text.markdown, "#### One\n"));
}

TEST(RichText, ShowsHtmlAsTheTextThatItIs) {
  const RichText text =
      rich_text("<script>alert(1)</script>\n\nand <b onclick=x>this</b> <!-- and that -->\n", {});
  EXPECT_FALSE(has(text.html, "<script"));
  EXPECT_FALSE(has(text.html, "<b "));
  EXPECT_TRUE(has(text.html, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_TRUE(has(text.html, "&lt;b onclick=x&gt;"));
  // In Markdown too it is code, which no renderer takes for HTML.
  EXPECT_TRUE(has(text.markdown, "`<b onclick=x>`"));
  const RichText again = rich_text(text.markdown, {});
  EXPECT_FALSE(has(again.html, "<script"));
}

TEST(RichText, LinksLeadToTheWebOrToKnownPlacesOnly) {
  RichTextPlace place;
  place.html_link = [](std::string_view address) {
    return address == "baseline.md" ? std::string("#conv-baseline") : std::string();
  };
  const RichText text = rich_text(
      "[a](javascript:alert(1)) [b](baseline.md) [c](other.md) [d](file:///etc/passwd) "
      "[e](data:text/html,x)\n",
      place);
  EXPECT_EQ(text.html, "<p>a <a href=\"#conv-baseline\">b</a> c d e</p>\n");
}

TEST(RichText, HoldsItsImagesItself) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "figure.png", std::string("\x89PNG", 4));
  RichTextPlace place;
  place.pictures = directory.path();
  const RichText text = rich_text(
      "![a figure](figure.png) ![gone](gone.png) ![out](../../etc/passwd.png) ![web](https://e.org/x.png)\n",
      place);
  EXPECT_TRUE(has(text.html, "<img src=\"data:image/png;base64,iVBORw==\" alt=\"a figure\" />"));
  EXPECT_TRUE(has(text.html, " gone (picture left out: gone.png is not there, above 512 KiB, or "));
  EXPECT_TRUE(has(text.html, " out (picture left out: ../../etc/passwd.png is not there"));
  EXPECT_TRUE(has(text.html, " web</p>"));
}

TEST(RichText, SectionsAreCutAtHeadingsOfLevelTwo) {
  const auto sections = sections_of(
      "# conv/x\n\n## How it works\n\nText.\n\n### Deeper\n\n```\n## not a heading\n```\n\n"
      "## References\n\n- one\n");
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0].title, "How it works");
  EXPECT_TRUE(has(sections[0].markdown, "Text."));
  EXPECT_TRUE(has(sections[0].markdown, "## not a heading"));
  EXPECT_EQ(sections[1].title, "References");
  EXPECT_TRUE(has(sections[1].markdown, "- one"));
}

TEST(RichText, ATextWithoutSectionsIsOne) {
  const auto sections = sections_of("Only text.\n");
  ASSERT_EQ(sections.size(), 1U);
  EXPECT_EQ(sections[0].title, "");
  EXPECT_EQ(sections[0].markdown, "Only text.\n");
  EXPECT_TRUE(sections_of("").empty());
}

TEST(RichText, TitleIsTheFirstHeading) {
  EXPECT_EQ(title_of("text\n\n## The `one`\n\n# Two\n"), "The one");
  EXPECT_EQ(title_of("no heading"), "");
}

}  // namespace
}  // namespace mprof
