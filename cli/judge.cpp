// SPDX-License-Identifier: MIT
#include "serve/judge/judge.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/interrupts.hpp"
#include "cli/judge_request.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "model/compact_json.hpp"
#include "serve/judge/against.hpp"
#include "serve/judge/hand_ins.hpp"
#include "serve/judge/judgement_json.hpp"
#include "serve/judge/score.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

int judge_one(const Arguments& arguments) {
  const std::size_t most_bytes = judge_bytes(arguments);
  const std::optional<Rubric> rubric = judge_rubric(arguments);
  const std::unique_ptr<Sandbox> sandbox = judge_sandbox(arguments);
  const Interrupts interrupts;
  JudgeContext context{.registry = Registry::instance(),
                       .devices = Devices::instance(),
                       .clock = steady_clock(),
                       .sandbox = sandbox.get(),
                       .interrupt_fd = interrupts.fd()};
  if (!arguments.flag("quiet")) context.on_stage = say_stage;
  Judgement judgement = judge_file(judge_request(arguments), context);
  if (rubric) add_score(*rubric, judgement);
  if (arguments.given("out")) keep_answer(judgement, arguments.text("out"), most_bytes);
  const std::string format = arguments.format();
  if (format == "json") {
    fmt::print("{}\n", json::compact(judgement_json(judgement, most_bytes)));
  } else if (format == "gradescope") {
    if (!rubric) add_score(plain_rubric(), judgement);
    fmt::print("{}\n",
               gradescope_json(judgement).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    print_readable(judgement_text(judgement));
  }
  return exit_code_of(judgement);
}

int judge_folder(const Arguments& arguments) {
  const std::filesystem::path out = arguments.text("out");
  if (out.empty())
    throw Error(ExitCode::usage, "A folder of hand-ins needs --out DIR: each hand-in gets a folder there.");
  if (!arguments.given("against"))
    throw Error(
        ExitCode::usage,
        "A folder of hand-ins needs --against ID: all are compared with one variant, and none chooses "
        "its own (`mprof list`).");
  require_one_against(arguments.text("against"), Registry::instance());
  static_cast<void>(judge_sandbox(arguments));  // before the first one is judged
  const Interrupts interrupts;
  const ClassJudgement judgement = judge_class(class_request(arguments, interrupts.fd()));
  write_output(out / "class.json",
               class_json(judgement).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  write_output(out / "class.html", class_html(judgement));
  if (arguments.format() == "json")
    fmt::print("{}\n", json::compact(class_json(judgement)));
  else
    print_readable(
        fmt::format("{}Class: {}\n", class_text(judgement, terminal_width()), (out / "class.html").string()));
  return static_cast<int>(judgement.was_interrupted ? ExitCode::interrupted : ExitCode::success);
}

int judge(const Arguments& arguments) {
  require_judge_format(arguments.format());
  std::error_code error;
  return std::filesystem::is_directory(arguments.text("FILE"), error) ? judge_folder(arguments)
                                                                      : judge_one(arguments);
}

}  // namespace

Verb judge_verb() {
  std::vector<Option> options = judge_options();
  add_axis_options(options, Registry::instance(), AxisUse::one);
  add_input_options(options, Registry::instance());
  return {.name = "judge",
          .positional = "FILE",
          .summary = "whether a file is right, and faster, by checks that it cannot touch",
          .description =
              "Compiles FILE in a sandbox, compares its outputs with mprof's own reference on inputs that "
              "nobody knew before, and measures it in turns with the variant that it improves on. Each stage "
              "may be the last one, and a time is given only where the outputs are right. The answer is ten "
              "lines of text, or JSON of a bounded size. Exit code 1: slower; 3: not right. A folder of "
              "hand-ins is judged one after another, with a page about all of them in --out.",
          .examples = {{"mprof judge my_idea.cpp", "is it right, and how fast is it?"},
                       {"mprof judge my_idea.cu --json --max-bytes 4096", "the same for a program"},
                       {"mprof judge hand-ins --against {baseline} --out class", "a class"}},
          .section = Section::compare,
          .options = std::move(options),
          .run = judge,
          .takes_sources = true};
}

}  // namespace mprof::cli
