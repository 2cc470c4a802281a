// SPDX-License-Identifier: MIT
#include "report/page/pdf.hpp"

#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "report/page/report.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "tests/report/sample_runs.hpp"
#include "tests/support/temporary_directory.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Sets an environment variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Shell scripts in the place of Chromium. $pdf is where it shall print to, $page the page's URL.
class Pdf : public testing::Test {
 protected:
  [[nodiscard]] fs::path browser(const std::string& name, const std::string& script) const {
    const fs::path file = directory.path() / name;
    write_file(file,
               "#!/bin/sh\nfor word; do case $word in --print-to-pdf=*) pdf=${word#*=};; file://*) "
               "page=$word;; esac; done\n" +
                   script + "\n");
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  /// What a failing print says; an empty text when it did not fail.
  [[nodiscard]] static std::string failure(const fs::path& chromium, double limit = 60) {
    try {
      (void)print_to_pdf(chromium, "<p>x</p>", std::chrono::duration<double>(limit));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::environment);
      return error.what();
    }
    return {};
  }
  void TearDown() override { EXPECT_TRUE(fs::is_empty(temporary.path())) << "something was left behind"; }

  test::TemporaryDirectory directory;
  test::TemporaryDirectory temporary;
  Variable folder_for_temporary_files{"TMPDIR", temporary.path().string()};
};

TEST_F(Pdf, IsWhatChromiumPrints) {
  const fs::path chromium =
      browser("chromium",
              R"(printf '%%PDF-1.4\n' > $pdf; cat "${page#file://}" >> $pdf; printf '%%%%EOF\n' >> $pdf)");
  EXPECT_EQ(print_to_pdf(chromium, "<p>page</p>"), "%PDF-1.4\n<p>page</p>%%EOF\n");
}

TEST_F(Pdf, HalfAPdfIsNone) {
  const fs::path chromium = browser(
      "chromium", R"(printf '%%PDF-1.4\nhalf' > $pdf; echo warming up >&2; echo the disk is full >&2)");
  EXPECT_NE(failure(chromium).find("made no PDF and said last: the disk is full"), std::string::npos);
}

TEST_F(Pdf, ABrowserThatDoesNotEndIsEnded) {
  const fs::path alive = directory.path() / "alive";
  const fs::path chromium = browser("chromium", "sleep 600 & echo $! > " + alive.string() + "; wait");
  EXPECT_NE(failure(chromium, 0.5).find("did not print the report within 0.5 s"), std::string::npos);
  // A killed process may stay a zombie until its new parent looks; a signal then still finds it, but no file.
  if (!fs::exists(alive)) GTEST_SKIP() << "the machine is too busy to have started the script";
  const std::string child = read_file(alive);
  const fs::path process = fs::path("/proc") / child.substr(0, child.find('\n')) / "exe";
  std::error_code error;
  for (int i = 0; i < 200 && !fs::read_symlink(process, error).empty(); ++i) ::usleep(10'000);
  EXPECT_TRUE(fs::read_symlink(process, error).empty()) << "its children end with it";
}

TEST_F(Pdf, ChromiumIsFoundByItsNamesOrTheVariable) {
  const Variable none("CHROMIUM", "");
  const Variable path("PATH", "/nowhere::" + directory.path().string());
  EXPECT_THROW((void)find_chromium(), Error);
  const fs::path chrome = browser("google-chrome", "");
  EXPECT_EQ(find_chromium(), chrome);
  const fs::path chromium = browser("chromium", "");
  EXPECT_EQ(find_chromium(), chromium);
  const fs::path other = browser("another", "");
  {
    const Variable by_path("CHROMIUM", other.string());
    EXPECT_EQ(find_chromium(), other);
  }
  {
    const Variable by_name("CHROMIUM", "another");
    EXPECT_EQ(find_chromium(), other);
  }
  const Variable wrong("CHROMIUM", "/nowhere/chromium");
  EXPECT_THROW((void)find_chromium(), Error) << "who names one does not want another one";
}

TEST_F(Pdf, WithoutChromiumTheOtherFormatsAreWritten) {
  const Variable wrong("CHROMIUM", "/nowhere/chromium");
  const fs::path out = directory.path() / "out";
  std::vector<fs::path> written;
  ReportOptions options{{"pdf", "html", "md"}, out, {}, {}};
  options.written = [&](const fs::path& file) { written.push_back(file.filename()); };
  EXPECT_THROW((void)write_report(samples::empty_run(), options), Error);
  EXPECT_EQ(written, (std::vector<fs::path>{"brief.md", "milestone.md", "evidence.md", "milestone.html"}));
  EXPECT_TRUE(fs::exists(out / "milestone.html"));
  EXPECT_FALSE(fs::exists(out / "milestone.pdf"));
}

TEST_F(Pdf, NothingOfAFailedPrintReplacesAnEarlierPdf) {
  const fs::path out = directory.path() / "out";
  write_file(out / "milestone.pdf", "earlier");
  const Variable broken("CHROMIUM", browser("broken", "exit 1").string());
  EXPECT_THROW((void)write_report(samples::empty_run(), {{"pdf"}, out, {}, {}}), Error);
  EXPECT_EQ(read_file(out / "milestone.pdf"), "earlier");
}

}  // namespace
}  // namespace mprof
