// SPDX-License-Identifier: MIT
#include "serve/mcp/server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "model/json_archive.hpp"
#include "serve/mcp/commands.hpp"
#include "serve/mcp/input_lines.hpp"
#include "serve/mcp/jobs.hpp"
#include "serve/mcp/output_lines.hpp"
#include "serve/mcp/protocol.hpp"
#include "serve/mcp/questions.hpp"
#include "serve/mcp/schema.hpp"
#include "serve/mcp/tools.hpp"
#include "system/error.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"

namespace mprof::mcp {
namespace {

/// A descriptor that becomes readable once.
class Signal {
 public:
  Signal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Signal() { ::close(descriptor_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void raise() {
    is_raised_ = true;
    const std::uint64_t one = 1;
    static_cast<void>(!::write(descriptor_, &one, sizeof one));
  }
  [[nodiscard]] bool is_raised() const { return is_raised_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  std::atomic<bool> is_raised_ = false;
};

/// Lets so many through in a second, and as many at once.
class Rate {
 public:
  explicit Rate(double per_second) : per_second_(per_second), left_(per_second) {}
  bool allows(double now) {
    left_ = std::min(per_second_, left_ + (now - last_) * per_second_);
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double per_second_, left_, last_ = 0;
};

Outcome outcome_of(const Trouble& trouble) {
  return {trouble.document(), true};
}

/// Children see this, and no other variable of whoever started the server: there may be secrets among them.
bool is_passed_on(std::string_view variable) {
  constexpr std::array exact{"PATH",   "HOME", "USER",  "LOGNAME",         "LANG",
                             "TMPDIR", "TZ",   "SHELL", "LD_LIBRARY_PATH", "CXX"};
  constexpr std::array beginnings{"LC_",  "CUDA", "NVIDIA_",   "CUDNN", "CUPTI",  "MPROF_",
                                  "XDG_", "OMP_", "OPENBLAS_", "ASAN_", "UBSAN_", "PYTHON"};
  return std::ranges::find(exact, variable) != exact.end() ||
         std::ranges::any_of(beginnings, [&](std::string_view one) { return variable.starts_with(one); });
}

/// Unsetting does not clear what /proc/PID/environ shows: nobody may look at this process, nor attach to it.
/// Programs that it starts are their own again.
void forget_variables() {
  ::prctl(PR_SET_DUMPABLE, 0);
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!is_passed_on(name)) names.emplace_back(name);
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

/// The root is where all of it runs, and may be a stranger's: no relative path finds a program or a library
/// there.
void forget_relative_paths() {
  for (const char* const variable : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH"}) {
    std::vector<std::string> folders;
    for (const std::filesystem::path& folder : search_path(environment_variable(variable))) {
      if (folder.is_absolute()) folders.push_back(folder.string());
    }
    if (folders.empty())
      ::unsetenv(variable);
    else
      ::setenv(variable, fmt::format("{}", fmt::join(folders, ":")).c_str(), 1);
  }
  for (const char* const variable :
       {"CUDA_HOME", "CUDA_PATH", "CXX", "PYTHONHOME", "CUDA_INJECTION64_PATH"}) {
    const std::string value = environment_variable(variable);
    const bool is_name = std::string_view(variable) == "CXX" && value.find('/') == std::string::npos;
    if (!is_name && !std::filesystem::path(value).is_absolute()) ::unsetenv(variable);
  }
}

/// It and its children are in the root from now on, whatever becomes of the path to it.
void enter(const std::filesystem::path& root) {
  const int folder = ::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = folder >= 0 && ::fchdir(folder) != 0 ? errno : folder < 0 ? errno : 0;
  if (folder >= 0) ::close(folder);
  if (error != 0)
    throw Error(ExitCode::usage, fmt::format("--root {}: {}. Give a directory that can be entered.",
                                             root.string(), std::strerror(error)));
}

/// Files of jobs have an end, and no process leaves its memory on the disk.
void limit_files() {
  constexpr rlim_t largest = rlim_t{16} << 30;
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur > largest) {
    limit.rlim_cur = largest;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

class Server {
 public:
  Server(const ServerOptions& options, const Clock& clock)
      : options_(options),
        clock_(clock),
        output_(options.interrupt_fd, ends_.descriptor()),
        jobs_(options.budget, clock),
        protocol_(tools(), std::string(instructions())) {}

  ~Server() {
    ends_.raise();  // no call waits long for a client that does not read
    for (const auto& one : calls_) one->stop.raise();
    for (const auto& one : calls_) one->thread.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int run() {
    InputLines lines(longest_message);
    std::array<char, 65536> chunk;
    while (!output_.is_closed()) {
      std::array<pollfd, 2> watched{pollfd{STDIN_FILENO, POLLIN, 0},
                                    pollfd{options_.interrupt_fd, POLLIN, 0}};
      if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
      if (watched[1].revents != 0) return static_cast<int>(ExitCode::interrupted);
      if (watched[0].revents == 0) continue;
      const ssize_t n = ::read(STDIN_FILENO, chunk.data(), chunk.size());
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) break;
      lines.add(
          {chunk.data(), static_cast<std::size_t>(n)}, [&](std::string_view line) { receive(line); },
          [&] { output_.write(Protocol::too_long()); });
    }
    return static_cast<int>(ExitCode::success);
  }

 private:
  /// A call that is being answered, in a thread of its own.
  struct Active {
    Call call;
    Signal stop{};  ///< nobody waits for it any more
    std::atomic<bool> is_over = false;
    std::thread thread{};
  };

  void receive(std::string_view line) {
    Reaction reaction = protocol_.receive(line);
    if (const auto* reply = std::get_if<Reply>(&reaction)) output_.write(reply->line);
    if (const auto* cancelled = std::get_if<Cancelled>(&reaction)) {
      for (const auto& one : calls_) {
        if (one->call.id == cancelled->id) one->stop.raise();
      }
    }
    if (auto* call = std::get_if<Call>(&reaction)) begin(std::move(*call));
  }

  void begin(Call call) {
    join_over();
    if (!rate_.allows(clock_.now())) {
      refuse(call, Trouble("too_many_calls", fmt::format("More than {:g} calls a second came.", calls_per_s),
                           "Wait a second, and call again."));
    } else if (calls_.size() >= most_calls) {
      refuse(call, Trouble("busy", fmt::format("{} calls are being answered.", calls_.size()),
                           "Wait for an answer, and call again."));
    } else {
      calls_.push_back(std::make_unique<Active>());
      Active& active = *calls_.back();
      active.call = std::move(call);
      active.thread = std::thread([this, &active] {
        const Outcome outcome = answered(active);
        if (!active.stop.is_raised()) output_.write(Protocol::answer(active.call, outcome));
        active.is_over = true;
      });
    }
  }

  void refuse(const Call& call, const Trouble& trouble) {
    output_.write(Protocol::answer(call, outcome_of(trouble)));
  }

  void join_over() {
    std::erase_if(calls_, [](const auto& one) {
      if (one->is_over) one->thread.join();
      return one->is_over.load();
    });
  }

  Outcome answered(Active& active) {
    try {
      const Json& arguments = active.call.arguments;
      const std::string& name = active.call.tool;
      require_schema(tool(name)["inputSchema"], arguments);
      if (name == "judge" || name == "profile") return started(active, arguments);
      if (name == "job") return asked_for_job(active, arguments);
      return read(active, arguments);
    } catch (const Trouble& trouble) {
      return outcome_of(trouble);
    } catch (const Error& error) {
      return outcome_of(Trouble("failed", error.what(), "Change what it names, and call again."));
    } catch (const std::exception& error) {
      return outcome_of(Trouble("fault", fmt::format("A fault of mprof itself: {}.", error.what()),
                                "Please report it with the call."));
    }
  }

  Outcome started(Active& active, const Json& arguments) {
    const std::string& name = active.call.tool;
    if (name == "judge" && arguments.contains("source") == arguments.contains("code"))
      throw Trouble("bad_argument", "A judge needs either source or code.", "Give one of them.");
    const auto make = [&] {
      return name == "judge" ? judge_request(arguments, options_) : profile_request(arguments, options_);
    };
    // What is not allowed has no job, not even one to join.
    if (!options_.may_measure || (name == "judge" && !options_.may_compile)) static_cast<void>(make());
    const std::string id = jobs_.start(name, key_of_call(name, arguments), arguments.contains("key"), make);
    return waited(active, id, static_cast<double>(longest_wait_s), arguments);
  }

  Outcome asked_for_job(Active& active, const Json& arguments) {
    const std::string id = arguments["id"].get<std::string>();
    if (!jobs_.look(id))
      throw Trouble("no_such_job", fmt::format("There is no job '{}'.", foreign(id, 64)),
                    "judge and profile give the ids of jobs.");
    const bool cancels = arguments.value("cancel", false);
    if (cancels) jobs_.cancel(id);
    return waited(active, id, cancels ? 10 : arguments.value("wait_s", 0.0), arguments);
  }

  Outcome waited(Active& active, const std::string& id, double seconds, const Json& arguments) {
    const double begun = clock_.now();
    double next_progress = begun + progress_every_s;
    jobs_.wait(id, clock_.now() + seconds, [&] {
      if (active.call.progress_token && clock_.now() >= next_progress) {
        next_progress += progress_every_s;
        tell_progress(active, id, clock_.now() - begun);
      }
      return active.stop.is_raised() || output_.is_closed();
    });
    const std::optional<JobView> job = jobs_.look(id);
    if (!job)
      throw Trouble(
          "no_such_job", fmt::format("The job '{}' has ended, and others took its place.", id),
          fmt::format("The last {} jobs are kept. Its result is below results/, if it left one.", kept_jobs));
    if (job->has_ended() && !active.stop.is_raised()) jobs_.is_told(id);
    return {job_document(active.call.tool, *job, arguments.value("max_bytes", options_.bytes)), false};
  }

  void tell_progress(const Active& active, const std::string& id, double waited_s) {
    const auto job = jobs_.look(id);
    if (!job || active.stop.is_raised()) return;
    const std::string said = job->log.empty() ? std::string(to_string(job->state)) : job->log.back();
    output_.write(Protocol::progress(*active.call.progress_token, waited_s, std::nullopt, said));
  }

  /// By a process of its own, which is gone with its answer.
  Outcome read(Active& active, const Json& arguments) {
    ServerFacts facts{
        .bytes = options_.bytes, .budget_left = jobs_.budget_left(), .running = jobs_.running()};
    if (options_.may_measure) facts.allowed.emplace_back("measure");
    if (options_.may_compile) facts.allowed.emplace_back("compile");
    Process process({own_program().string(), "answer"}, question_text(active.call.tool, arguments, facts));
    const Process::Event event =
        process.next(clock_, clock_.now() + longest_read_s, active.stop.descriptor());
    if (event.kind == Process::Event::Kind::line) {
      Json result = json::parse(event.line, "the answer");
      return {result["document"], result["is_error"].get<bool>()};
    }
    process.kill();
    if (event.kind == Process::Event::Kind::deadline)
      throw Trouble("too_slow", fmt::format("Reading took longer than {:g} s.", longest_read_s),
                    "Ask for one case, or read the run with `mprof report`.");
    throw Trouble("fault", fmt::format("The process that read it ended with {}.", process.how_it_ended()),
                  "The record may be damaged: try `mprof report` on it.");
  }

  const ServerOptions& options_;
  const Clock& clock_;
  Signal ends_;
  OutputLines output_;
  Jobs jobs_;
  Protocol protocol_;
  Rate rate_{calls_per_s};
  std::list<std::unique_ptr<Active>> calls_;
};

}  // namespace

int serve(const ServerOptions& options, const Clock& clock) {
  ::signal(SIGPIPE, SIG_IGN);  // children are started with the default
  forget_variables();
  forget_relative_paths();
  if (!options.device.empty()) ::setenv("CUDA_VISIBLE_DEVICES", options.device.c_str(), 1);
  enter(options.root);
  limit_files();
  return Server(options, clock).run();
}

}  // namespace mprof::mcp
