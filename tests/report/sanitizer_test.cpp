// SPDX-License-Identifier: MIT
#include "report/wording/sanitizer.hpp"

#include <gtest/gtest.h>

#include "model/sanitizer_file.hpp"
#include "report/analysis/analysis.hpp"
#include "report/page/report.hpp"
#include "report/wording/findings.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

/// The report of a run with this record beside it, or with none.
std::string report_of(const mprof::Run& run, const SanitizerRecord* check, const std::string& format) {
  const test::TemporaryDirectory directory;
  ReportOptions options{{format}, directory.path(), {}, directory.path()};
  if (check != nullptr) write_sanitizer_record(*check, sanitizer_file(directory.path()));
  write_report(run, options);
  if (format == "html") return read_file(directory.path() / "milestone.html");
  return read_file(directory.path() / "milestone.md") + read_file(directory.path() / "evidence.md");
}

/// The first section "Compute Sanitizer".
std::string section(const std::string& markdown) {
  const std::size_t begin = markdown.find("## Compute Sanitizer");
  return markdown.substr(begin, markdown.find("\n## ", begin) - begin);
}

bool says(const RunAnalysis& analysis, Severity severity, std::string_view part) {
  return std::any_of(analysis.findings.begin(), analysis.findings.end(), [&](const Finding& finding) {
    return finding.severity == severity && text_of(finding).find(part) != std::string::npos;
  });
}

TEST(SanitizerReport, CleanEverywhereIsOneSentenceAndATable) {
  const mprof::Run run = samples::gpu();
  const SanitizerRecord check = samples::clean_record(run);
  const std::string text = report_of(run, &check, "md");
  EXPECT_NE(text.find("\n- compute-sanitizer found no error: 4 tools over 2 variants.\n"), std::string::npos)
      << "among the checks at the top";
  const std::string part = section(text);
  for (const char* words :
       {"compute-sanitizer 2025.3.1.0 ran each variant at batch 100 on Example H9000 with memcheck (",
        "and synccheck (invalid use of barriers), beginning at 2025-03-02 10:00:00 UTC."}) {
    EXPECT_NE(part.find(words), std::string::npos) << part;
  }
  EXPECT_NE(part.find("| conv/streams  | clean    | clean     | clean     | clean     |"), std::string::npos)
      << part;
  EXPECT_EQ(part.find("made by mprof"), std::string::npos) << "it is the build that made the run";
  EXPECT_LT(text.find("## Verification"), text.find("## Compute Sanitizer"));
  EXPECT_LT(text.find("## Compute Sanitizer"), text.find("## Speed of Light"));
  EXPECT_NE(report_of(run, &check, "html").find("<h2 id=\"conv-sanitizer\">Compute Sanitizer"),
            std::string::npos);
}

TEST(SanitizerReport, EachOutcomeHasItsWordAndItsReason) {
  const mprof::Run run = samples::gpu();
  SanitizerRecord check = samples::clean_record(run);
  samples::spoil(check, "Invalid __global__ write of size 4 bytes at k+0x120 by thread (0,0,0)");
  const std::string part = section(report_of(run, &check, "md"));
  for (const char* text :
       {"3 errors<sup>a</sup>", "failed<sup>b</sup>", "time limit<sup>c</sup>", "skipped<sup>d</sup>",
        "memcheck: 3 errors, the first: Invalid \\_\\_global\\_\\_ write of size 4 bytes at k+0x120",
        "racecheck: compute-sanitizer left no summary", "initcheck: took longer than 600 s (--timeout)",
        "no NVIDIA driver"}) {
    EXPECT_NE(part.find(text), std::string::npos) << text << "\n" << part;
  }
  EXPECT_NE(
      part.find(
          "compute-sanitizer found errors in conv/baseline: 5 tool runs over 2 variants. 2 tool runs came to "
          "nothing."),
      std::string::npos)
      << part;
}

TEST(SanitizerReport, ErrorsAreTheGravestFinding) {
  const mprof::Run run = samples::gpu();
  SanitizerRecord check = samples::clean_record(run);
  EXPECT_EQ(analyse(run, &check).findings.size(), analyse(run).findings.size());
  samples::spoil(check, "Invalid __global__ write");
  const RunAnalysis analysis = analyse(run, &check);
  EXPECT_EQ(analysis.findings.front().severity, Severity::wrong);
  EXPECT_TRUE(
      says(analysis, Severity::wrong,
           "compute-sanitizer (memcheck) found 3 errors in conv/baseline at batch 100; the first: Invalid "
           "__global__ write."));
  EXPECT_TRUE(says(analysis, Severity::broken,
                   "The racecheck of conv/baseline came to nothing: compute-sanitizer left no summary"));
  EXPECT_TRUE(
      says(analysis, Severity::caution, "compute-sanitizer (racecheck) gave 1 warning in conv/streams"));
}

TEST(SanitizerReport, ManyFailuresForOneReasonAreOneFinding) {
  const mprof::Run run = samples::gpu();
  SanitizerRecord check = samples::clean_record(run);
  for (SanitizerResult& result : check.results) {
    result.status = SanitizerStatus::failed;
    result.reason = "the driver is too old";
  }
  const RunAnalysis analysis = analyse(run, &check);
  EXPECT_TRUE(
      says(analysis, Severity::broken, "and 11 other tool runs came to nothing: the driver is too old."));
  EXPECT_EQ(sanitizer_sentence(analysis.families[0].sanitizer),
            "No variant was run under compute-sanitizer: the driver is too old.");
}

TEST(SanitizerReport, AToolForSomeVariantsOnlyIsCountedInChecks) {
  const mprof::Run run = samples::gpu();
  SanitizerRecord check = samples::clean_record(run);
  std::erase_if(check.results, [](const SanitizerResult& result) {
    return result.variant == "conv/streams" || result.tool == SanitizerTool::synccheck;
  });
  const RunAnalysis analysis = analyse(run, &check);
  EXPECT_EQ(sanitizer_sentence(analysis.families[0].sanitizer),
            "compute-sanitizer found no error: 3 tools over 1 of 2 variants.");
  const std::string part = section(report_of(run, &check, "md"));
  EXPECT_NE(part.find("not run"), std::string::npos) << part;
  EXPECT_EQ(part.find("synccheck"), std::string::npos) << part;
}

TEST(SanitizerReport, AnotherBuildIsNamed) {
  const mprof::Run run = samples::gpu();
  SanitizerRecord check = samples::clean_record(run);
  check.results[0].mprof.revision = "another";
  EXPECT_NE(
      section(report_of(run, &check, "md")).find("It was started by mprof 0.1.0 (another), and the run by"),
      std::string::npos);
}

TEST(SanitizerReport, WithoutARecordItSaysHowToMakeOne) {
  EXPECT_NE(section(report_of(samples::gpu(), nullptr, "md"))
                .find("No variant of this family was run under compute-sanitizer. `mprof "
                      "sanitize DIR`"),
            std::string::npos);
  const std::string cpu = section(report_of(samples::healthy(), nullptr, "md"));
  EXPECT_NE(cpu.find("reads CUDA code only"), std::string::npos);
  EXPECT_EQ(cpu.find("mprof sanitize"), std::string::npos) << "no advice that cannot help";
}

TEST(SanitizerReport, ARecordThatCannotBeReadIsAnError) {
  const test::TemporaryDirectory directory;
  directory.write("sanitizer.json", "{\"results\": []}");
  const ReportOptions options{{"md"}, directory.path(), {}, directory.path()};
  try {
    write_report(samples::gpu(), options);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(
        std::string(error.what()).find("sanitizer.json: this is JSON, but no record of `mprof sanitize`"),
        std::string::npos)
        << error.what();
  }
}

TEST(SanitizerReport, HostileTextIsHarmless) {
  const mprof::Run run = samples::hostile();
  SanitizerRecord check = samples::clean_record(run);
  samples::spoil(check, "<img src=x onerror=owned>|`\n# heading" + std::string(2000, 'k'));
  for (SanitizerResult& result : check.results) {
    result.device = result.sanitizer = result.mprof.version = "<script>owned</script>\n- item";
  }
  const std::string html = report_of(run, &check, "html");
  EXPECT_EQ(html.find("<img src=x"), std::string::npos);
  EXPECT_EQ(html.find("<script>owned"), std::string::npos);
  const std::string text = report_of(run, &check, "md");
  for (const char* markup : {"\n# heading", "\n- item"})
    EXPECT_EQ(text.find(markup), std::string::npos) << markup;
}

}  // namespace
}  // namespace mprof
