// SPDX-License-Identifier: MIT
#include "serve/mcp/questions.hpp"

#include <array>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <new>
#include <regex>

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "model/compact_json.hpp"
#include "model/json_archive.hpp"
#include "serve/mcp/protocol.hpp"
#include "serve/mcp/tools.hpp"
#include "system/error.hpp"

namespace mprof::mcp {
namespace {

Answer answered(const std::string& tool, const Json& arguments, const ServerFacts& facts) {
  if (tool == "machine") return answer_machine(arguments, facts);
  if (tool == "summary") return answer_summary(arguments);
  if (tool == "rows") return answer_rows(arguments);
  if (tool == "explain") return answer_explain(arguments);
  if (tool == "compare") return answer_compare(arguments);
  if (tool == "lines") return answer_lines(arguments);
  throw Error(ExitCode::usage, fmt::format("'{}' is no question that is answered by reading.", tool));
}

/// A message about a run says its path below the root, and not the descriptor that it was opened as.
std::string without_descriptors(const std::string& message) {
  static const std::regex descriptor("/proc/self/fd/[0-9]+/?");
  return std::regex_replace(message, descriptor, "");
}

Json trouble(const std::string& code, const std::string& text, const std::string& how) {
  return Trouble(code, text, how).document();
}

/// { document, is_error }.
Json result_of(const Json& question) {
  Json document;
  try {
    const Json& arguments = question.at("arguments");
    const Json& known = question.at("facts");
    const ServerFacts facts{.bytes = known.at("bytes").get<std::size_t>(),
                            .allowed = known.at("allowed").get<std::vector<std::string>>(),
                            .budget_left = known.at("budget_left").get<double>(),
                            .running = known.at("running").get<std::string>()};
    const Answer answer = answered(question.at("tool").get<std::string>(), arguments, facts);
    return {{"document", answer.document(page_of(arguments, facts.bytes))}, {"is_error", false}};
  } catch (const Trouble& error) {
    document = error.document();
  } catch (const Error& error) {
    document = trouble(error.code() == ExitCode::incomparable ? "incomparable" : "unreadable",
                       without_descriptors(error.what()), "The tool machine lists the runs below the root.");
  } catch (const std::bad_alloc&) {
    document = trouble("too_large", "Reading this took more memory than a call may take.",
                       "Ask for a smaller run, or read it with `mprof report`.");
  } catch (const std::exception& error) {
    document =
        trouble("fault", fmt::format("A fault of mprof itself: {}.", without_descriptors(error.what())),
                "Please report it with the call.");
  }
  return {{"document", std::move(document)}, {"is_error", true}};
}

/// It must not outlive the server, nor take the machine's memory for a record that says so.
void limit_this_process() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  constexpr rlim_t most_memory = rlim_t{6} << 30;
  const rlimit limit{most_memory, most_memory};
  ::setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace

std::string question_text(std::string_view tool, const Json& arguments, const ServerFacts& facts) {
  const Json question{{"tool", tool},
                      {"arguments", arguments},
                      {"facts",
                       {{"bytes", facts.bytes},
                        {"allowed", facts.allowed},
                        {"budget_left", facts.budget_left},
                        {"running", facts.running}}}};
  return json::compact(question);
}

int answer_from_standard_input() {
  limit_this_process();
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json result = result_of(json::parse(text, "the question"));
  fmt::print("{}\n", json::compact(result));
  return 0;
}

}  // namespace mprof::mcp
