// SPDX-License-Identifier: MIT
#include "report/text/schematic.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "report/materials/sources.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

std::string drawing(const std::string& body, const std::string& root = "viewBox=\"0 0 640 200\"") {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" " + root +
         "><title>A &lt; \"B\"</title><desc>What it\nshows</desc>" + body + "</svg>\n";
}

std::string why_refused(const std::string& svg) {
  try {
    (void)read_schematic(svg, "kernels/map/tiled.svg");
  } catch (const Error& error) {
    return error.what();
  }
  return "it is not refused";
}

TEST(Schematic, IsForAPageAndForAFile) {
  const Schematic read = read_schematic(
      drawing("<g fill=\"currentColor\"><path d=\"M0 0h5\"/><text x=\"1\">a &amp; b</text></g>"), "x.svg");
  EXPECT_EQ(read.title, "A < \"B\"");
  EXPECT_EQ(read.description, "What it shows");
  EXPECT_EQ(read.inline_svg,
            "<svg role=\"img\" aria-label=\"A &lt; &quot;B&quot;\" xmlns=\"http://www.w3.org/2000/svg\" "
            "viewBox=\"0 0 640 200\"><g fill=\"currentColor\"><path d=\"M0 0h5\"/><text x=\"1\">a &amp; "
            "b</text></g></svg>");
  EXPECT_NE(
      read.file_svg.find("viewBox=\"0 0 640 200\" width=\"640\" height=\"200\"><title>A &lt; \"B\"</title>"),
      std::string::npos)
      << read.file_svg;
  EXPECT_NE(read.file_svg.find("prefers-color-scheme:dark"), std::string::npos);
}

TEST(Schematic, IsRefusedWithTheReason) {
  const std::pair<std::string, const char*> wrong[] = {
      {drawing("<script>alert(1)</script>"), "the element <script>"},
      {drawing("<style>*{}</style>"), "the element <style>"},
      {drawing("<image href=\"https://example.com/x.png\"/>"), "the element <image>"},
      {drawing("<a><text>x</text></a>"), "the element <a>"},
      {drawing("<foreignObject></foreignObject>"), "the element <foreignObject>"},
      {drawing("<svg></svg>"), "one <svg>"},
      {drawing("<rect onclick=\"x\"/>"), "the attribute onclick"},
      {drawing("<rect style=\"fill:red\"/>"), "the attribute style"},
      {drawing("<rect id=\"x\"/>"), "the attribute id"},
      {drawing("<rect fill=\"url(#x)\"/>"), "fill=\"url(#x)\""},
      {drawing("<rect fill=\"url(https://example.com)\"/>"), "more than a number"},
      {drawing("<rect x='1'/>"), "name=\"value\""},
      {drawing("<rect x=\"1>\"/>"), "name=\"value\""},
      {drawing("<!-- x -->"), "a comment"},
      {"<!DOCTYPE svg [<!ENTITY x \"y\">]>" + drawing(""), "a declaration"},
      {drawing("<text>&x;</text>"), "an & in its words"},
      {drawing("<g>"), "closes nothing"},
      {drawing("</g>"), "closes nothing"},
      {drawing("words"), "outside of <text>"},
      {drawing("<rect"), "the element"},
      {drawing("") + "<rect/>", "behind </svg>"},
      {drawing("", "width=\"5\""), "no viewBox"},
      {drawing("", "viewBox=\"0 0 1 1\" xmlns=\"http://example.com\""), "xmlns"},
      {"<svg viewBox=\"0 0 1 1\" xmlns=\"http://www.w3.org/2000/svg\"><desc>x</desc></svg>", "no <title>"},
      {"<svg viewBox=\"0 0 1 1\" xmlns=\"http://www.w3.org/2000/svg\"><title>x</title></svg>", "no <desc>"},
      {"<svg viewBox=\"0 0 1 1\" xmlns=\"http://www.w3.org/2000/svg\"><title>x</title>",
       "<svg> is not closed"},
      {"", "no <svg>"},
      {drawing("<text>" + std::string(largest_schematic, 'x') + "</text>"), "8192 are the most"},
  };
  for (const auto& [svg, reason] : wrong) {
    const std::string why = why_refused(svg);
    EXPECT_NE(why.find(reason), std::string::npos) << svg.substr(0, 300) << "\n" << why;
    EXPECT_NE(why.find("kernels/map/tiled.svg"), std::string::npos) << why;
  }
}

TEST(Schematic, IsTheRunsOwnOrThatOfTheSameCode) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "kernels/map/tiled.cu", "void launch() {}\n");
  VariantInfo info;
  info.id = "map/tiled";
  info.source_file = "map/tiled.cu";
  EXPECT_TRUE(read_source(directory.path(), info).schematic.empty());
  const std::string own_drawing = drawing("<text>own</text>");
  std::string own_code = "void launch() {}\n";
  const OwnSources own = [&](std::string_view path) -> std::optional<std::string_view> {
    if (path == "map/tiled.cu") return own_code;
    return path == "map/tiled.svg" ? std::optional<std::string_view>(own_drawing) : std::nullopt;
  };
  const auto drawn = [&] { return read_source(directory.path(), info, own).schematic.inline_svg; };
  EXPECT_NE(drawn().find("own"), std::string::npos);
  own_code = "void launch() { other(); }\n";
  EXPECT_EQ(drawn(), "") << "of another code";
  write_file(directory.path() / "kernels/map/tiled.svg", drawing("<text>kept</text>"));
  EXPECT_NE(drawn().find("kept"), std::string::npos);
  write_file(directory.path() / "kernels/map/tiled.svg", "<svg>");
  EXPECT_THROW((void)drawn(), Error);
}

/// Whoever draws one hears of a mistake here, and not from the first report.
TEST(Schematic, OfEachVariantCanBeShown) {
  std::size_t drawings = 0;
  const std::filesystem::path kernels = std::filesystem::path(MPROF_SOURCE_DIR) / "kernels";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kernels)) {
    if (entry.path().extension() != ".svg") continue;
    ++drawings;
    EXPECT_NO_THROW((void)read_schematic(read_file(entry.path()), entry.path().string()));
    std::filesystem::path source = entry.path();
    EXPECT_TRUE(exists(source.replace_extension(".cu")) || exists(source.replace_extension(".cpp")))
        << entry.path() << " is of no variant";
  }
  EXPECT_GE(drawings, 14U);
}

}  // namespace
}  // namespace mprof
