// SPDX-License-Identifier: MIT
#include "report/materials/notes.hpp"

#include <gtest/gtest.h>

#include "report/page/report.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

std::string report_with(const fs::path& directory, const std::string& format) {
  ReportOptions options{{format}, directory, {}, directory};
  write_report(samples::healthy(), options);
  return read_file(directory / ("milestone." + format));
}

std::size_t position(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at;
}

TEST(Notes, AreReadByTheirNames) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "notes/conv/streams.md", "s");
  write_file(directory.path() / "notes/introduction.md", "i");
  write_file(directory.path() / "notes/figure.png", "not a note");
  const auto notes = read_notes(directory.path());
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes.at("conv/streams").text, "s");
  EXPECT_EQ(notes.at("introduction").text, "i");
  EXPECT_TRUE(read_notes({}).empty());
}

TEST(Notes, ATooLargeOneIsRefusedByName) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "notes/huge.md", std::string(2 << 20, 'x'));
  try {
    (void)read_notes(directory.path());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("huge.md"), std::string::npos);
  }
}

/// A run directory may come from anybody: none of its links puts a file of this machine into a report.
TEST(Notes, ALinkThatLeadsOutIsRefusedByName) {
  const test::TemporaryDirectory directory, elsewhere;
  write_file(elsewhere.path() / "secret", "a secret");
  fs::create_directories(directory.path() / "notes");
  fs::create_symlink(elsewhere.path() / "secret", directory.path() / "notes/introduction.md");
  try {
    (void)read_notes(directory.path());
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("introduction.md"), std::string::npos) << error.what();
  }
}

TEST(Notes, ALinkWithinTheRunIsFollowed) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "texts/one.md", "one");
  fs::create_directories(directory.path() / "notes");
  fs::create_symlink(directory.path() / "texts/one.md", directory.path() / "notes/conclusion.md");
  EXPECT_EQ(read_notes(directory.path()).at("conclusion").text, "one");
}

/// A picture is a file of the reader's machine as well.
TEST(Notes, NoPictureIsReadThroughALinkThatLeadsOut) {
  const test::TemporaryDirectory directory, elsewhere;
  write_file(elsewhere.path() / "secret.png", "a secret picture");
  write_file(directory.path() / "notes/introduction.md", "![see](figure.png)\n");
  fs::create_symlink(elsewhere.path() / "secret.png", directory.path() / "notes/figure.png");
  const std::string html = report_with(directory.path(), "html");
  EXPECT_EQ(html.find("data:image/png"), std::string::npos);
}

TEST(Notes, StandWhereTheyBelong) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() / "notes/introduction.md", "The beginning.\n");
  write_file(directory.path() / "notes/conv/cpu_onednn.md", "Of a rival; see [threads](cpu_threads.md).\n");
  write_file(directory.path() / "notes/conclusion.md", "# The end\n");
  write_file(directory.path() / "notes/method.md", "A method.\n");
  for (const std::string format : {"md", "html"}) {
    const std::string text = report_with(directory.path(), format);
    const std::string heading = format == "md" ? "## " : "id=\"";
    EXPECT_LT(position(text, "The beginning."),
              position(text, heading + (format == "md" ? "The answer" : "answer\"")));
    EXPECT_LT(position(text, "Of a rival"), position(text, "The end"));
    EXPECT_LT(position(text, "A method."), position(text, "The end"));
  }
  EXPECT_NE(report_with(directory.path(), "html").find("<h3>The end</h3>"), std::string::npos);
  EXPECT_EQ(read_file(directory.path() / "notes/method.md"), "A method.\n") << "notes are the user's";
}

TEST(Notes, OfAHostileKindDoNoHarm) {
  const test::TemporaryDirectory directory;
  const std::string attack =
      "<script>document.title='owned'</script>\n\n[x](javascript:owned) <img src=x onerror=y>\n\n" +
      std::string(2000, 'n') + "\n";
  write_file(directory.path() / "notes/introduction.md", attack);
  write_file(directory.path() / "notes/<b>.md", attack);
  const std::string html = report_with(directory.path(), "html");
  EXPECT_EQ(html.find("<script>document.title"), std::string::npos);
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_EQ(html.find("javascript:"), std::string::npos);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  const std::string text = report_with(directory.path(), "md");
  EXPECT_EQ(text.find("\n<script"), std::string::npos);
}

TEST(ReportText, OfAHostileKindDoesNoHarm) {
  const test::TemporaryDirectory directory;
  const std::string attack =
      "</title><script>alert(1)</script> | `code` [x](javascript:y)\n# heading " + std::string(2000, 't');
  ReportOptions options{{"md", "html"}, directory.path(), {}, {}};
  options.text = {attack, attack};
  write_report(samples::healthy(), options);
  const std::string html = read_file(directory.path() / "milestone.html");
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("&lt;script&gt;alert(1)"), std::string::npos) << "it is shown as the text that it is";
  const std::string text = read_file(directory.path() / "milestone.md");
  EXPECT_EQ(text.find("\n# heading"), std::string::npos);
  EXPECT_EQ(text.find("[x](javascript"), std::string::npos);
}

}  // namespace
}  // namespace mprof
