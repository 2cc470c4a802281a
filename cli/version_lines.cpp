// SPDX-License-Identifier: MIT
#include "cli/version_lines.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "report/analysis/judgement/compare.hpp"
#include "report/views/version_view.hpp"

namespace mprof::cli {
namespace {

bool is_right(const Run& run, const std::string& variant) {
  return std::ranges::any_of(run.cases, [&](const Case& c) {
    return c.key.variant == variant && find_pass(c, Pass::timing)->status == Status::ok;
  });
}

}  // namespace

void VersionLines::is_measured(Version version) {
  for (const Case& c : version.run.cases) {
    const PassResult& timing = *find_pass(c, Pass::timing);
    if (timing.status != Status::ok)
      fmt::print("\nVersion {} of {}: {} is {}: {}. It is left out.\n", version.number, file_, c.key.variant,
                 to_string(timing.status), timing.reason);
  }
  show_verdicts(version);
  fmt::print("Measured in {:.1f} s. Details: mprof report {}\n", version.seconds, version.path.string());
  for (const WatchedVariant& variant : version.variants) {
    if (is_right(version.run, variant.id)) right_[variant.id] = version;
  }
}

void VersionLines::show_verdicts(const Version& version) const {
  const Run& run = version.run;
  for (const WatchedVariant& variant : version.variants) {
    const std::string& baseline = find_variant(run, variant.id)->baseline;
    if (baseline.empty() || !is_right(run, variant.id) || !is_right(run, baseline)) continue;
    const Comparison over = compare(run, run, {.pairing = {.of = baseline, .with = variant.id}});
    const auto before = right_.find(variant.id);
    std::optional<Comparison> since;
    if (before != right_.end() && before->second.run.inputs == run.inputs)  // otherwise it did other work
      since = compare(before->second.run, run, {.pairing = {.of = variant.id, .with = variant.id}});
    print_readable(render_version({.name = variant.name,
                                   .baseline = baseline,
                                   .number = version.number,
                                   .before = since ? before->second.number : 0,
                                   .over = &over,
                                   .since = since ? &*since : nullptr},
                                  terminal_width()));
  }
}

void VersionLines::is_unchanged() {
  fmt::print("Nothing that is measured has changed.\n");
}

void VersionLines::is_refused(const Error& why) {
  fmt::print("\n{}\nThis version is left out.\n", why.what());
}

void VersionLines::waits() {
  fmt::print("Waiting for {} to be saved; Ctrl-C ends it.\n", file_);
  std::fflush(stdout);
}

}  // namespace mprof::cli
