// SPDX-License-Identifier: MIT
#include "cli/judge_request.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/family_options.hpp"
#include "cli/sources.hpp"
#include "cli/values.hpp"
#include "model/compact_json.hpp"
#include "serve/judge/judgement_json.hpp"
#include "serve/judge/score.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof::cli {
namespace {

/// The passes of --passes. Throws Error(usage) for another one.
std::vector<std::string> passes_of(const Arguments& arguments) {
  std::vector<std::string> passes = split(arguments.text("passes"));
  for (const std::string& pass : passes) {
    if (pass != "timing" && pass != "counters" && pass != "sanitize")
      throw Error(ExitCode::usage,
                  fmt::format("--passes {}: a file is judged by timing, counters and sanitize.", pass));
  }
  return passes;
}

std::uint64_t whole_number(const std::string& option, const std::string& text) {
  if (const auto number = parse_whole(text)) return *number;
  throw Error(ExitCode::usage, fmt::format("--{} {}: expected a whole number.", option, text));
}

/// B. Throws Error(usage) for a limit that the sandbox cannot keep.
std::uint64_t memory_limit(const Arguments& arguments) {
  constexpr unsigned gib_bits = 30;
  constexpr std::uint64_t most = std::uint64_t{1} << 20;  // GiB
  const std::string text = arguments.text("memory-limit");
  const std::uint64_t limit = whole_number("memory-limit", text);
  if (limit == 0 || limit > most)
    throw Error(ExitCode::usage, fmt::format("--memory-limit {}: expected GiB from 1 to {}.", text, most));
  if (arguments.flag("no-sandbox"))
    throw Error(ExitCode::usage,
                fmt::format("--memory-limit {}: the sandbox keeps this limit, and --no-sandbox makes none. "
                            "Leave one of the two out.",
                            text));
  return limit << gib_bits;
}

std::uint64_t seed_in(const std::string& file) {
  constexpr std::uintmax_t longest = 100;
  std::string text = read_file(file, longest);
  text.erase(text.find_last_not_of(" \r\n\t") + 1);
  if (const auto seed = parse_whole(text)) return *seed;
  throw Error(ExitCode::usage, fmt::format("--seed-from {}: expected one whole number in it.", file));
}

/// What was given on the command line, as each hand-in is judged by it.
std::vector<std::string> options_for_each(const Arguments& arguments) {
  constexpr std::array<std::string_view, 9> own{"FILE",  "format",  "json",  "out",  "overwrite",
                                                "quiet", "starter", "limit", "alone"};
  std::vector<std::string> words;
  for (const Option& option : arguments.options()) {
    if (std::ranges::find(own, option.name) != own.end()) continue;
    if (option.argument.empty()) {
      if (arguments.flag(option.name)) words.push_back("--" + option.name);
      continue;
    }
    if (!arguments.given(option.name)) continue;
    words.push_back("--" + option.name);
    if (!option.repeatable) words.push_back(arguments.text(option.name));
    for (const std::string& value :
         option.repeatable ? arguments.texts(option.name) : std::vector<std::string>())
      words.push_back(value);
  }
  return words;
}

}  // namespace

std::vector<Option> judge_options() {
  return {
      {"against", "ID", "",
       "The variant that it is compared with. Default: the baseline that it declares. A folder of hand-ins "
       "needs it."},
      {"budget", "S", "60", "Longest time of all measurements, in seconds, once the file is compiled."},
      {"passes", "LIST", "timing,sanitize",
       "What is done: timing, sanitize (compute-sanitizer's memcheck, on a GPU), counters (why it is as "
       "fast as it is)."},
      {"timeout", "S", "60", "Time limit of an execution, and of a round, in seconds."},
      {"compile-timeout", "S", "120", "Time limit of the compiler, in seconds."},
      {"sampling-time", "S", "1", "Longest sampling in one round, in seconds."},
      {"compiler-flags", "TEXT", "", "More options for the compiler, separated by blanks."},
      {"precision", "NAME", "",
       "The precision in which outputs must be right: fp32, tf32, bf16, fp16. Default: FP32, or the lower "
       "precision that explains the error of each element."},
      {"memory-limit", "GIB", "",
       "Memory that all processes of the file may take together, in whole GiB. Default: three quarters of "
       "the machine's."},
      {"no-sandbox", "", "", "Run the file with the rights of this user: only for files that you trust."},
      {"alone", "", "",
       "Judge FILE without the headers and sources beside it, as each file of a folder of hand-ins is."},
      {"seed-from", "FILE", "",
       "Draw inputs from the number in FILE, for tests. Default: nobody knows the seed."},
      {"max-bytes", "N", fmt::format("{}", usual_judge_bytes), "Longest JSON, in bytes; at least 2048."},
      {"rubric", "FILE", "", "Give points as this rubric says (TOML)."},
      {"starter", "FILE", "",
       "Of a folder of hand-ins: what all of them were given, which does not make two alike."},
      {"limit", "S", "300", "Of a folder of hand-ins: longest time of one, in seconds, whatever it does."},
      chosen_from("text json gradescope",
                  {"format", "NAME", "text", "text, json, or gradescope (results.json)."}),
      json_option(),
      {"out", "DIR", "",
       "Keep the records of both sides here, and the answer as judge.json, judge.txt and results.json."},
      {"overwrite", "", "", "Replace what is in --out."},
      {"quiet", "", "", "Print no line a stage on standard error."}};
}

JudgeRequest judge_request(const Arguments& arguments) {
  const std::vector<std::string> passes = passes_of(arguments);
  const auto has = [&](const char* pass) { return std::ranges::find(passes, pass) != passes.end(); };
  JudgeRequest request{
      .file = arguments.text("FILE"),
      .against = arguments.text("against"),
      .problem = [&arguments](const Family& family) { return one_problem(arguments, family); },
      .flags = compiler_flags(arguments),
      .precision = precision_of(arguments),
      .inputs = locate_inputs(arguments, Registry::instance()),
      .budget = parse_seconds("budget", arguments.text("budget")),
      .compile_limit = parse_seconds("compile-timeout", arguments.text("compile-timeout")),
      .timeout = parse_seconds("timeout", arguments.text("timeout")),
      .sampling_time = parse_seconds("sampling-time", arguments.text("sampling-time")),
      .is_alone = arguments.flag("alone"),
      .memcheck = has("sanitize"),
      .counters = has("counters"),
      .out = arguments.text("out"),
      .overwrite = arguments.flag("overwrite"),
      .command_line = arguments.command_line()};
  if (arguments.given("seed-from")) request.seed = seed_in(arguments.text("seed-from"));
  return request;
}

std::unique_ptr<Sandbox> judge_sandbox(const Arguments& arguments) {
  SandboxLimits limits = usual_sandbox_limits();
  if (arguments.given("memory-limit")) limits.memory = memory_limit(arguments);
  if (arguments.flag("no-sandbox")) return nullptr;
  limits.limits_data = !arguments.text("FILE").ends_with(".cu");
  return std::make_unique<Sandbox>(limits, steady_clock());
}

std::size_t judge_bytes(const Arguments& arguments) {
  const std::uint64_t bytes = whole_number("max-bytes", arguments.text("max-bytes"));
  if (bytes >= fewest_judge_bytes) return bytes;
  throw Error(ExitCode::usage,
              fmt::format("--max-bytes {}: an answer needs at least {}.", bytes, fewest_judge_bytes));
}

std::optional<Rubric> judge_rubric(const Arguments& arguments) {
  if (!arguments.given("rubric")) return std::nullopt;
  return read_rubric(arguments.text("rubric"));
}

void require_judge_format(const std::string& format) {
  if (format != "text" && format != "json" && format != "gradescope")
    throw Error(ExitCode::usage,
                fmt::format("--format {}: an answer has text, json and gradescope.", format));
}

ClassRequest class_request(const Arguments& arguments, int interrupt_fd) {
  static_cast<void>(judge_rubric(arguments));  // so that one that cannot be read is an error here
  ClassRequest request{
      .hand_ins = find_hand_ins(arguments.text("FILE"), arguments.text("starter"), arguments.text("out")),
      .starter = arguments.text("starter"),
      .options = options_for_each(arguments),
      .out = arguments.text("out"),
      .limit = parse_seconds("limit", arguments.text("limit")),
      .clock = steady_clock(),
      .interrupt_fd = interrupt_fd};
  if (!arguments.flag("quiet")) {
    request.on_judged = [](const JudgedHandIn& one) {
      const std::string status = one.answer.is_null() ? one.failure : one.answer["status"].get<std::string>();
      fmt::print(stderr, "judge: {}: {}, {:.1f} s\n", tamed(one.hand_in.name), tamed(status), one.seconds);
    };
  }
  return request;
}

void keep_answer(const Judgement& judgement, const std::filesystem::path& folder, std::size_t most_bytes) {
  write_output(folder / "judge.json", json::compact(judgement_json(judgement, most_bytes)) + "\n");
  write_output(folder / "judge.txt", judgement_text(judgement));
  Judgement scored = judgement;
  if (!scored.has_score) add_score(plain_rubric(), scored);
  write_output(folder / "results.json",
               gradescope_json(scored).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

void say_stage(const JudgedStage& stage) {
  if (stage.outcome == StageOutcome::skipped)
    fmt::print(stderr, "judge: {} skipped: {}\n", to_string(stage.stage), stage.why);
  else
    fmt::print(stderr, "judge: {} {}, {:.1f} s\n", to_string(stage.stage), to_string(stage.outcome),
               stage.seconds);
}

}  // namespace mprof::cli
