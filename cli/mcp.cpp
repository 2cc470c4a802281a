// SPDX-License-Identifier: MIT
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "cli/interrupts.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/server.hpp"
#include "system/error.hpp"
#include "system/numbers.hpp"
#include "system/programs.hpp"

namespace mprof::cli {
namespace {

std::size_t parse_bytes(const std::string& text) {
  const auto bytes = parse_as<std::size_t>(text);
  if (bytes && *bytes >= mcp::fewest_bytes && *bytes <= mcp::most_bytes) return *bytes;
  throw Error(ExitCode::usage, fmt::format("--max-bytes {}: give a whole number from {} to {}.", text,
                                           mcp::fewest_bytes, mcp::most_bytes));
}

/// The words of a command, its program by its path.
std::vector<std::string> parse_sandbox(const std::string& text) {
  std::vector<std::string> words;
  for (std::string& word : split(text, ' ')) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  if (words.empty())
    throw Error(ExitCode::usage, "--sandbox: give a command, such as 'bwrap --unshare-net ...'.");
  const auto program = words.front().find('/') != std::string::npos
                           ? std::optional(std::filesystem::absolute(words.front()))
                           : find_program(words.front(), search_path(environment_variable("PATH")));
  if (!program || !is_program(*program))
    throw Error(
        ExitCode::usage,
        fmt::format("--sandbox {}: there is no such program. Install it, or give its path.", words.front()));
  words.front() = program->string();
  return words;
}

int serve(const Arguments& arguments) {
  mcp::ServerOptions options{.root = arguments.text("root")};
  for (const std::string& allowed : arguments.texts("allow")) {
    if (allowed == "measure")
      options.may_measure = true;
    else if (allowed == "compile")
      options.may_compile = true;
    else
      throw Error(ExitCode::usage, fmt::format("--allow {}: give measure or compile.", allowed));
  }
  if (options.may_compile && !options.may_measure)
    throw Error(ExitCode::usage, "--allow compile: what is compiled is measured too. Add --allow measure.");
  options.device = arguments.text("device");
  options.budget = parse_seconds("budget", arguments.text("budget"));
  options.bytes = parse_bytes(arguments.text("max-bytes"));
  options.trusts_sources = arguments.flag("no-sandbox");
  if (arguments.given("sandbox")) options.sandbox = parse_sandbox(arguments.text("sandbox"));
  const Interrupts interrupts;
  options.interrupt_fd = interrupts.fd();
  return mcp::serve(options, steady_clock());
}

}  // namespace

Verb mcp_verb() {
  return {
      .name = "mcp",
      .summary = "serve runs and measurements to agents: MCP on standard input and output",
      .description =
          "Answers a client of the Model Context Protocol on standard input and output, until its input "
          "ends. "
          "There is no network. The tools read runs below the root. With --allow measure they run programs, "
          "and with --allow compile they also build sources. docs/agents.md describes the tools.",
      .examples = {{"mprof mcp --root .", "an agent may read the runs below this directory"},
                   {"mprof mcp --root . --allow measure", "it may also run programs"},
                   {"mprof mcp --root . --allow measure --allow compile",
                    "it may also build and judge sources"}},
      .section = Section::start,
      .options =
          {{"root", "DIR", ".",
            "Everything that is read lies below this directory. No link leads out of it."},
           {"allow", "WHAT", "",
            "What else it may do: measure (run programs with your rights), compile (build sources, and run "
            "them). May be repeated.",
            true},
           {"device", "UUID", "", "The GPU that is measured on, as CUDA_VISIBLE_DEVICES names it."},
           {"budget", "S", "1800", "Seconds that all measuring together may take."},
           {"max-bytes", "N", std::to_string(mcp::usual_bytes),
            "Longest answer in bytes, unless a call asks for another one. At most 16384."},
           {"sandbox", "COMMAND", "",
            "Put this command before each program that is measured, such as 'bwrap --unshare-net ...'. "
            "Sources "
            "are judged in a sandbox of mprof's own."},
           {"no-sandbox", "", "",
            "Judge sources with your rights, outside of that sandbox: only if you trust whoever writes "
            "them."}},
      .run = serve};
}

Verb answer_verb() {
  return {.name = "answer",
          .summary = "one question of a client of `mprof mcp`",
          .description =
              "Reads a question from standard input and answers it. Started by `mprof mcp`, not by hand.",
          .options = {},
          .run = [](const Arguments&) { return mcp::answer_from_standard_input(); },
          .hidden = true};
}

}  // namespace mprof::cli
