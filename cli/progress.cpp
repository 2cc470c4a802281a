// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/standard_streams.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "report/text/format.hpp"
#include "runner/survey.hpp"

namespace mprof::cli {
namespace {

constexpr const char* about_survey = "measuring this machine's peak rates";

/// "ok, 12 samples", or the status with its reason. A reason is for one line here; the record has all of it.
std::string outcome(const PassResult& result) {
  if (result.status == Status::ok) {
    return result.sampling ? fmt::format("ok, {}, {}", format::plural(result.sampling->samples, "sample"),
                                         duration(result.seconds))
                           : "ok";
  }
  return fmt::format("{}: {}", to_string(result.status), result.reason.substr(0, result.reason.find('\n')));
}

bool is_news(const PassResult& result) {
  return result.status != Status::ok && result.status != Status::skipped;
}

/// Counts what is done; all styles share it.
class Counted : public Progress {
 public:
  explicit Counted(const Clock& clock) : clock_(clock) {}

  void begin(std::size_t steps, double work) override {
    done_ = 0;
    steps_ = steps;
    work_done_ = 0;
    work_ = work;
    start_ = clock_.now();
  }
  void case_ends(const Case& c, const PassResult& result) override {
    // A step that was skipped took no time: it tells nothing of how long the others will take.
    if (result.status == Status::skipped) {
      work_ -= work_of(c);
      --steps_;
    } else {
      work_done_ += work_of(c);
      ++done_;
    }
  }
  void case_is_added(const Case& c) override {
    ++steps_;
    work_ += work_of(c);
  }
  /// The number of steps that a user has seen stays.
  void case_is_left_out(const Case& c) override {
    ++done_;
    work_ -= work_of(c);
  }

 protected:
  [[nodiscard]] std::string counter() const { return fmt::format("{}/{}", done_, steps_); }
  [[nodiscard]] std::string time_left() const {
    if (work_done_ <= 0) return "";
    const double elapsed = clock_.now() - start_;
    return fmt::format("about {} left", duration(elapsed * std::max(0.0, work_ - work_done_) / work_done_));
  }
  [[nodiscard]] double share() const {
    return steps_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(steps_);
  }

 private:
  const Clock& clock_;
  std::size_t steps_ = 0;
  std::size_t done_ = 0;
  double work_ = 0;
  double work_done_ = 0;
  double start_ = 0;
};

class Lines final : public Counted {
 public:
  using Counted::Counted;
  void surveying() override {
    if (wants_peaks()) fmt::print(stderr, "{}\n", about_survey);
  }
  void case_ends(const Case& c, const PassResult& result) override {
    Counted::case_ends(c, result);
    if (result.status == Status::skipped)
      skipped_[std::string(to_string(result.pass))].insert(result.reason.substr(0, result.reason.find('\n')));
    else
      fmt::print(stderr, "[{}] {} {}: {}\n", counter(), c.id, to_string(result.pass), outcome(result));
  }
  /// A pass that this machine cannot run is skipped for every case: one line says so, and each reason once.
  void end() override {
    std::map<std::set<std::string>, std::vector<std::string>> passes_by_reasons;
    for (const auto& [pass, reasons] : skipped_) passes_by_reasons[reasons].push_back(pass);
    std::vector<std::string> parts;
    for (const auto& [reasons, passes] : passes_by_reasons)
      parts.push_back(fmt::format("{} ({})", fmt::join(passes, ", "), fmt::join(reasons, "; ")));
    if (!parts.empty()) fmt::print(stderr, "Skipped passes: {}.\n", fmt::join(parts, "; "));
    skipped_.clear();
  }

 private:
  std::map<std::string, std::set<std::string>> skipped_;  ///< the reasons by the pass
};

class Quiet final : public Counted {
 public:
  using Counted::Counted;
  void case_ends(const Case& c, const PassResult& result) override {
    if (is_news(result)) fmt::print(stderr, "{} {}: {}\n", c.id, to_string(result.pass), outcome(result));
  }
};

class Bar final : public Counted {
 public:
  using Counted::Counted;
  void surveying() override {
    if (wants_peaks()) draw(about_survey);
  }
  void case_begins(const Case& c, Pass pass) override {
    current_ = fmt::format("{} {}", c.id, to_string(pass));
    draw_current(0);
  }
  void case_goes_on(std::uint32_t samples) override { draw_current(samples); }
  void case_ends(const Case& c, const PassResult& result) override {
    Counted::case_ends(c, result);
    if (!is_news(result)) return;
    clear_line();
    fmt::print(stderr, "{} {}: {}\n", c.id, to_string(result.pass), outcome(result));
  }
  void end() override { clear_line(); }

 private:
  void draw_current(std::uint32_t samples) {
    constexpr std::size_t bar_width = 20;
    const auto filled = static_cast<std::size_t>(share() * bar_width);
    std::string line =
        fmt::format("[{:█<{}}{:░<{}}] {}  {}", "", filled, "", bar_width - filled, counter(), current_);
    if (samples > 0) line += ", " + format::plural(samples, "sample");
    const std::string left = time_left();
    draw(left.empty() ? line : line + ", " + left);
  }
  void draw(const std::string& line) {
    clear_line();
    fmt::print(stderr, "{}", cut(line, terminal_width() - 1));
  }
  /// At most `columns` characters: a line that wraps cannot be rewritten.
  static std::string cut(const std::string& line, std::size_t columns) {
    std::size_t end = 0;
    for (std::size_t seen = 0; end < line.size() && seen < columns; ++seen) {
      do ++end;
      while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U);
    }
    return line.substr(0, end);
  }

  std::string current_;
};

}  // namespace

ProgressStyle style_of(bool quiet) {
  if (quiet) return ProgressStyle::quiet;
  return stderr_is_terminal() ? ProgressStyle::bar : ProgressStyle::lines;
}

std::unique_ptr<Progress> make_progress(ProgressStyle style, const Clock& clock) {
  switch (style) {
    case ProgressStyle::bar:
      return std::make_unique<Bar>(clock);
    case ProgressStyle::lines:
      return std::make_unique<Lines>(clock);
    case ProgressStyle::quiet:
      return std::make_unique<Quiet>(clock);
  }
  return nullptr;
}

}  // namespace mprof::cli
