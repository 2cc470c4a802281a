// SPDX-License-Identifier: MIT
#include "report/page/pdf.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "report/text/format.hpp"
#include "system/clock.hpp"
#include "system/error.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"
#include "system/temporary_folder.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr std::array browsers{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};

[[noreturn]] void fail(const std::string& message) {
  throw Error(ExitCode::environment, message);
}

/// A path as a URL: whatever is not plain is written as %XX.
std::string file_url(const fs::path& path) {
  std::string url = "file://";
  for (const char c : fs::absolute(path).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("/-._~", c) != nullptr;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return url;
}

std::vector<std::string> print_command(const fs::path& chromium, const fs::path& folder) {
  std::vector<std::string> command{
      chromium.string(),
      "--headless",
      "--disable-gpu",
      "--disable-dev-shm-usage",  // containers have a small one
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-extensions",
      "--disable-sync",
      "--no-first-run",
      "--no-default-browser-check",
      "--user-data-dir=" + (folder / "profile").string(),
      "--no-pdf-header-footer",
      "--generate-pdf-document-outline",
      "--print-to-pdf=" + (folder / "page.pdf").string(),
  };
  // Chromium's sandbox cannot work for root; the page is mprof's own and its policy lets nothing in.
  if (::geteuid() == 0) command.emplace_back("--no-sandbox");
  command.push_back(file_url(folder / "page.html"));
  return command;
}

bool is_whole(std::string_view pdf) {
  constexpr std::size_t tail = 1024;  // where readers look for the end mark
  return pdf.starts_with("%PDF-") &&
         pdf.substr(pdf.size() - std::min(pdf.size(), tail)).find("%%EOF") != std::string_view::npos;
}

/// What Chromium complained of last, for an error message.
std::string complaint(std::string log) {
  log.erase(log.find_last_not_of(" \n\r\t") + 1);
  const std::size_t line = log.find_last_of('\n');
  const std::string last = format::one_line(line == std::string::npos ? log : log.substr(line + 1));
  return last.empty() ? "and did not say why" : "and said last: " + format::elide(last, 300);
}

/// Chromium and the processes it starts are in a group of their own, which ends with `browser`.
bool ends_within(Process& browser, Seconds limit) {
  constexpr int nothing_interrupts = -1;
  const Clock& clock = steady_clock();
  const double deadline = clock.now() + limit.count();
  Process::Event event;
  do {
    event = browser.next(clock, deadline, nothing_interrupts);
  } while (event.kind == Process::Event::Kind::line);
  return event.kind == Process::Event::Kind::ended;
}

}  // namespace

fs::path find_chromium() {
  const std::vector<fs::path> path = search_path(environment_variable("PATH"));
  const std::string chosen = environment_variable("CHROMIUM");
  if (!chosen.empty()) {
    const auto found = chosen.find('/') == std::string::npos ? find_program(chosen, path) : fs::path(chosen);
    if (found && is_program(*found)) return *found;
    fail(fmt::format(
        "a report in PDF is printed by Chromium, and CHROMIUM={} names no program that can run. Let it "
        "name one, or unset it. The formats md and html need no Chromium.",
        format::one_line(chosen)));
  }
  for (const char* name : browsers) {
    if (const auto found = find_program(name, path)) return *found;
  }
  fail(fmt::format(
      "a report in PDF is printed by Chromium, and none of {} is on the PATH. Install one (Debian: apt-get "
      "install chromium), or let the environment variable CHROMIUM name it. The formats md and "
      "html need no Chromium.",
      fmt::join(browsers, ", ")));
}

std::string print_to_pdf(const fs::path& chromium, std::string_view html, Seconds limit) {
  const TemporaryFolder folder("mprof-pdf");
  write_file(folder.path() / "page.html", html);
  std::string complaints;
  {
    Process browser(print_command(chromium, folder.path()), "");
    if (!ends_within(browser, limit)) {
      fail(fmt::format(
          "{} did not print the report within {:g} s. Try again when the machine is less busy, or print "
          "milestone.html from a browser.",
          chromium.string(), limit.count()));
    }
    (void)browser.how_it_ended();
    complaints = browser.last_words();
  }
  const fs::path file = folder.path() / "page.pdf";
  std::string pdf = fs::exists(file) ? read_file(file) : "";
  if (is_whole(pdf)) return pdf;
  fail(fmt::format(
      "{} made no PDF {}. Print milestone.html from a browser instead, or let the environment variable "
      "CHROMIUM name another one.",
      chromium.string(), complaint(std::move(complaints))));
}

}  // namespace mprof
