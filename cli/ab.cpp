// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/session_request.hpp"
#include "cli/sources.hpp"
#include "cli/terminal.hpp"
#include "cli/values.hpp"
#include "report/views/session_view.hpp"
#include "runner/session/turns.hpp"
#include "serve/judge/session.hpp"
#include "system/error.hpp"

namespace mprof::cli {
namespace {

void say(const Session& session, double seconds) {
  const auto decided = std::ranges::count_if(
      session.times, [](const SessionTime& time) { return time.speed_up.verdict != Verdict::inconclusive; });
  fmt::print(stderr, "block {}, {:.0f} s: {} of {} times decided\n", session.blocks, seconds, decided,
             session.times.size());
}

int ab(const Arguments& arguments) {
  const std::uint64_t seed = std::random_device{}();
  const std::string format = arguments.format();
  if (format != "text" && format != "json")
    throw Error(ExitCode::usage, fmt::format("--format {}: a session has text and json.", format));
  const double budget = parse_seconds("budget", arguments.text("budget"));
  Sources sources(arguments, arguments.flag("quiet"));  // as long as the session lasts
  SessionArms arms = make_arms(arguments, seed, sources);
  const Interrupts interrupts;
  const Clock& clock = steady_clock();
  const double start = clock.now();
  const auto seconds = [&] { return clock.now() - start; };
  Turns turns(std::move(arms), seed, clock, interrupts.fd());
  Session session;
  while (session.blocks < most_blocks() && (session.blocks < 3 || seconds() < budget) && turns.run_block()) {
    session = judged_session(turns.arms());
    if (!arguments.flag("quiet")) say(session, seconds());
    if (is_look(session.blocks) && session.told()) break;
  }
  if (session.blocks < 2) {
    fmt::print(stderr, "mprof: interrupted before two blocks were measured: nothing can be said.\n");
    return static_cast<int>(ExitCode::interrupted);
  }
  const SessionArm& first = turns.arms().front();
  const Case& c = first.run.cases.at(0);
  const Words words(*find_family(first.run, first.run.variants.at(0).family), {c.key.problem});
  const SessionSides sides{first.side.name, turns.arms()[1].side.name, words.at(c.key.problem), seconds()};
  if (format == "json") {
    fmt::print("{}\n",
               session_json(session, sides).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_readable(render_session(session, sides, words, table_width()));
    fmt::print("Result: {}\n", first.directory->path().parent_path().string());
  }
  if (turns.was_interrupted()) return static_cast<int>(ExitCode::interrupted);
  return static_cast<int>(session.is_slower() ? ExitCode::regression : ExitCode::success);
}

}  // namespace

Verb ab_verb() {
  std::vector<Option> options{
      {"variant", "ID", "", "The variant that both run, where A and B are builds of mprof."},
      {"budget", "S", "120", "Longest time of the session, in seconds. At least three blocks are measured."},
      {"sampling-time", "S", "1", "Longest sampling in one round, in seconds."},
      {"timeout", "S", "600", "Time limit of a round, in seconds."},
      chosen_from("text json", {"format", "NAME", "text", "text or json."}),
      json_option(),
      {"out", "DIR", "results/<UTC time>-ab", "Where the records of A, B and the control are kept."},
      {"overwrite", "", "", "Replace what is in --out."},
      {"quiet", "", "", "Print nothing while it measures."},
  };
  add_axis_options(options, Registry::instance(), AxisUse::one);
  add_input_options(options, Registry::instance());
  return {
      .name = "ab",
      .positional = "A B",
      .summary = "measure two variants, builds or programs in turns until one is significantly faster",
      .description =
          "Measures A and B in turns, each time in a fresh process, with A once more as a control. It ends "
          "when every time is decided, or when the budget is spent. A drift of the machine affects both "
          "sides, so a session resolves smaller changes than a comparison of two runs. A and B are "
          "variants, sources, or other builds of mprof with --variant. Two programs "
          "stand after --, each command in quotes. The exit code is 1 when B is slower.",
      .examples = {{"mprof ab {baseline} my_idea.cu", "is my idea faster than the baseline?"},
                   {"mprof ab ./old/mprof ./new/mprof --variant {variant}", "one variant in two builds"},
                   {"mprof ab -- './program 1' './program 2'", "two commands, each run as it is"}},
      .section = Section::compare,
      .options = std::move(options),
      .run = ab,
      .takes_program = true,
      .program_words = "'COMMAND A' 'COMMAND B'",
      .takes_sources = true};
}

}  // namespace mprof::cli
