// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>

#include "cli/example_names.hpp"
#include "cli/help.hpp"
#include "cli/json_answer.hpp"
#include "cli/options.hpp"
#include "cli/standard_streams.hpp"
#include "cli/terminal.hpp"
#include "kernels/registry.hpp"
#include "model/version.hpp"
#include "system/error.hpp"
#include "system/folder_lock.hpp"
#include "system/strays.hpp"
#include "system/suggest.hpp"

namespace mprof::cli {
namespace {

std::vector<Verb> all_verbs() {
  std::vector<Verb> verbs{run_verb(),     submit_verb(),  status_verb(), merge_verb(), sanitize_verb(),
                          report_verb(),  compare_verb(), ab_verb(),     judge_verb(), tune_verb(),
                          history_verb(), fleet_verb(),   ranks_verb(),  stats_verb(), export_verb(),
                          import_verb(),  list_verb(),    new_verb(),    watch_verb(), doctor_verb(),
                          mcp_verb(),     answer_verb(),  worker_verb()};
  name_examples(verbs, Registry::instance());
  return verbs;
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

const Verb& find_verb(const std::vector<Verb>& verbs, const std::string& name) {
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& verb) { return verb.name == name; });
  if (found != verbs.end()) return *found;
  std::vector<std::string> names;
  for (const Verb& verb : verbs) {
    if (!verb.hidden) names.push_back(verb.name);
  }
  throw Error(ExitCode::usage,
              fmt::format("mprof has no verb '{}'.{} See `mprof --help`.", name, did_you_mean(name, names)));
}

/// Of the terminal; 80 where there is none.
unsigned help_width() {
  return stdout_is_terminal() ? terminal_width() : 80;
}

/// `mprof help ...`: of everything or of a verb, as text, Markdown, a man page or a shell's completion.
void print_help(const std::vector<Verb>& verbs, const std::vector<std::string>& words) {
  const std::string what = words.empty() ? "" : words[0];
  const std::string of = words.size() > 1 ? words[1] : "";
  if (what == "--markdown") return print(markdown_help(verbs));
  if (what == "--man") return print(of.empty() ? man_page(verbs) : man_page(find_verb(verbs, of)));
  if (what == "--completion") {
    std::vector<std::string> variants;
    for (const RegisteredVariant* variant : Registry::instance().variants())
      variants.push_back(variant->info.id);
    return print(completion(of, verbs, variants));
  }
  const bool is_general = what.empty() || what == "--help" || what == "-h" || what == "help";
  print(is_general ? help(verbs, help_width()) : help(find_verb(verbs, what), help_width()));
}

int dispatch(const std::vector<std::string>& command_line) {
  const std::vector<Verb> verbs = all_verbs();
  const std::string first = command_line.size() > 1 ? command_line[1] : "";
  if (first == "--version" || first == "-V" || first == "version") {
    if (command_line.size() > 2 && command_line[2] == "--json")
      JsonAnswer(true).print("mprof.version/1", {{"version", version}, {"revision", revision}});
    else
      print(fmt::format("mprof {} ({})\n", version, revision));
    return 0;
  }
  if (first == "help" || first == "--help" || first == "-h") {
    print_help(verbs, {command_line.begin() + 2, command_line.end()});
    return 0;
  }
  if (first.empty()) {
    // Nothing was asked for, so nothing goes where results go.
    std::fputs(help(verbs, help_width()).c_str(), stderr);
    return static_cast<int>(ExitCode::usage);
  }
  const Verb& verb = find_verb(verbs, first);
  const Arguments arguments = parse(verb, command_line);
  if (arguments.flag("help")) {
    print(help(verb, help_width()));
    return 0;
  }
  return verb.run(arguments);
}

int complain(const std::string& message, ExitCode code) {
  std::fflush(stdout);
  fmt::print(stderr, "mprof: {}\n", message);
  return static_cast<int>(code);
}

/// Two that write to one place at once are not kept apart then.
void warn_of_no_lock(const std::filesystem::path& folder, const std::string& why) {
  fmt::print(stderr, "mprof: {} cannot be locked: {}. Let no other mprof write there at the same time.\n",
             folder.string(), why);
}

/// A file that grows beyond a limit (ulimit -f) is an error of the write, as a full disk is, and not the end
/// of mprof.
void survive_limits_of_files() {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGXFSZ, &ignore, nullptr);
}

/// The only place that catches: what is thrown anywhere becomes one message and one exit code here.
int exit_code_of(int argc, char** argv) {
  try {
    adopt_strays();
    FolderLock::on_obstacle(warn_of_no_lock);
    Registry::instance().export_environment();
    return dispatch({argv, argv + argc});
  } catch (const Error& error) {
    return complain(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return complain("out of memory. Close other programs, or run smaller problems (`mprof run --help`).",
                    ExitCode::environment);
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(fmt::format("cannot read {}: {}. Give another file, or make this one readable.",
                                error.path1().string(), error.code().message()),
                    ExitCode::usage);
  } catch (const std::exception& error) {
    return complain(
        fmt::format("a fault of mprof itself: {}. Please report it with the command line.", error.what()),
        ExitCode::fault);
  }
}

/// The exit code of a command whose output met this error; its own, where that tells of something already.
int with_output_error(int code, int error) {
  if (error == 0 || error == EPIPE) return code;  // who reads no further has what he wanted
  const bool is_full = error == ENOSPC || error == EDQUOT;
  const int lost =
      complain(fmt::format("cannot write to standard output: {}. What was printed is not complete; {}.",
                           std::strerror(error),
                           is_full ? "free some space, or send it elsewhere" : "send it elsewhere"),
               ExitCode::environment);
  return code == 0 ? lost : code;
}

/// A report makes and frees large lists, beside millions of small blocks. glibc goes through all of its lists
/// of small free blocks when a large one is freed, so small blocks are merged at once. It also asks the
/// system for each large list and gives it back, and the system clears its pages every time: what is freed
/// stays with the process up to a limit, but for a server, which waits for its next request. What a worker
/// measures allocates as it would anywhere else.
void suit_allocator_to(std::string_view verb) {
  if (verb == "worker") return;
#ifdef M_MXFAST
  ::mallopt(M_MXFAST, 0);
  if (verb == "mcp") return;
  constexpr int mebibyte = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, 32 * mebibyte);    // the most that every glibc takes
  ::mallopt(M_MMAP_THRESHOLD, 1024 * mebibyte);  // of millions of rows
  ::mallopt(M_TRIM_THRESHOLD, 1024 * mebibyte);
#endif
}

}  // namespace
}  // namespace mprof::cli

int main(int argc, char** argv) {
  using namespace mprof::cli;
  suit_allocator_to(argc < 2 ? "" : argv[1]);
  take_over_streams();
  survive_limits_of_files();
  const int code = exit_code_of(argc, argv);
  return with_output_error(code, finish_stdout());
}
