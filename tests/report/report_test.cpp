// SPDX-License-Identifier: MIT
#include "report/page/report.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

std::string html_of(const Run& run) {
  const test::TemporaryDirectory directory;
  write_report(run, {{"html"}, directory.path(), {}});
  return read_file(directory.path() / "milestone.html");
}

std::string markdown_of(const Run& run) {
  const test::TemporaryDirectory directory;
  write_report(run, {{"md"}, directory.path(), {}});
  return read_file(directory.path() / "milestone.md");
}

/// The page without the scripts and the style, which are ours.
std::string body_of(const std::string& html) {
  const std::size_t body = html.find("<body>");
  return html.substr(body, html.find("<script type=\"application/json\"") - body);
}

TEST(Report, WritesWhatItSaysInOrder) {
  const test::TemporaryDirectory directory;
  const auto files = write_report(samples::healthy(), {{"md", "html"}, directory.path(), {}});
  ASSERT_EQ(files.size(), 13U);
  EXPECT_EQ(files[0], directory.path() / "brief.md");
  EXPECT_EQ(files[1], directory.path() / "milestone.md");
  EXPECT_EQ(files[2], directory.path() / "evidence.md");
  EXPECT_EQ(files[3], directory.path() / "charts/conv-op-time-1.svg");
  EXPECT_EQ(files.back(), directory.path() / "milestone.html");
  for (const fs::path& file : files) EXPECT_TRUE(fs::exists(file)) << file;
  EXPECT_LT(fs::file_size(files.back()), 3'000'000U);
}

TEST(Report, TheSameRunMakesTheSameBytes) {
  EXPECT_EQ(html_of(samples::troubled()), html_of(samples::troubled()));
  EXPECT_EQ(markdown_of(samples::gpu()), markdown_of(samples::gpu()));
}

TEST(Report, HasTheTableThatIsAskedFor) {
  const std::string text = markdown_of(samples::healthy());
  for (const char* head :
       {"| Batch Size |", " Op Time 1 (", " Op Time 2 (", " Total Execution Time (", " Accuracy |"}) {
    EXPECT_NE(text.find(head), std::string::npos) << head;
  }
}

TEST(Report, EveryRunMakesAReport) {
  mprof::Run skipped = samples::empty_run();
  skipped.variants = {samples::variant("conv/cudnn")};
  skipped.cases = {samples::failed_case(skipped.variants[0], 100, Status::skipped, "no CUDA device")};
  mprof::Run single = samples::empty_run();
  single.variants = {samples::variant("conv/only")};
  single.cases = {samples::timed_case(single.variants[0], 100, 1, 2)};
  mprof::Run undescribed = samples::healthy();
  undescribed.variants.clear();
  mprof::Run without_ops = single;
  without_ops.cases[0].ops.clear();
  mprof::Run without_passes = single;
  without_passes.cases[0].passes.clear();
  for (const mprof::Run& run :
       {samples::empty_run(), skipped, single, undescribed, without_ops, without_passes, mprof::Run{}}) {
    EXPECT_NE(html_of(run).find("</html>"), std::string::npos);
    EXPECT_NE(markdown_of(run).find("## Setup"), std::string::npos);
  }
  EXPECT_NE(markdown_of(skipped).find("skipped: no CUDA device"), std::string::npos);
  EXPECT_NE(markdown_of(skipped).find("there is no best variant"), std::string::npos);
}

TEST(Report, HostileTextIsTextInHtml) {
  const std::string html = html_of(samples::hostile());
  const std::string body = body_of(html);
  EXPECT_EQ(body.find("<script>document"), std::string::npos);
  EXPECT_EQ(body.find("<img"), std::string::npos);
  EXPECT_EQ(body.find("href=\"javascript"), std::string::npos);
  EXPECT_EQ(html.find("</script><img"), std::string::npos);
  EXPECT_NE(body.find("{{title}}"), std::string::npos) << "text is no template";
}

TEST(Report, HostileTextIsTextInMarkdown) {
  const std::string text = markdown_of(samples::hostile());
  for (const char* markup : {"\n# heading", "\n- item", "\n```"})
    EXPECT_EQ(text.find(markup), std::string::npos) << markup;
  for (std::size_t at = text.find("<script"); at != std::string::npos; at = text.find("<script", at + 1)) {
    // In text after a backslash, or in the indented block that shows the command.
    const bool in_block = text.substr(text.rfind('\n', at) + 1, 4) == "    ";
    EXPECT_TRUE(text[at - 1] == '\\' || in_block) << text.substr(at - 20, 60);
  }
}

TEST(Report, AUsersTemplateIsUsed) {
  const test::TemporaryDirectory templates, out;
  templates.write("milestone.md.mustache", "mine: {{title}}\n");
  write_report(samples::empty_run(), {{"md"}, out.path(), templates.path()});
  EXPECT_EQ(read_file(out.path() / "milestone.md"), "mine: Empty run on Example EPYC 2000\n");
}

TEST(Report, AnUnknownFormatWritesNothing) {
  const test::TemporaryDirectory directory;
  EXPECT_THROW(write_report(samples::healthy(), {{"md", "docx"}, directory.path(), {}}), Error);
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

}  // namespace
}  // namespace mprof
