// SPDX-License-Identifier: MIT
#include "system/watched_program.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/programs.hpp"
#include "system/spawn.hpp"
#include "system/standard_input.hpp"
#include "system/started_processes.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kept_output = std::size_t{8} << 10;  // B
constexpr double patience = 2;                             // s, from SIGTERM to SIGKILL
constexpr int glance = 20;  // ms, from one look to the next where the kernel has no descriptor of processes

/// A descriptor that is closed with its object.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return value_; }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }

 private:
  int value_;
};

[[noreturn]] void refuse_start(const std::string& program, int error) {
  const char* const next = error == ENOEXEC ? " Give its interpreter, as in: -- bash " : "";
  throw Error(ExitCode::usage, fmt::format("{} cannot be started: {}.{}{}", program, std::strerror(error),
                                           next, *next != '\0' ? program : ""));
}

double seconds_of(const timeval& time) {
  constexpr double micro = 1e-6;
  return static_cast<double>(time.tv_sec) + micro * static_cast<double>(time.tv_usec);
}

std::uint64_t bytes_of(long kibibytes) {
  return static_cast<std::uint64_t>(kibibytes) << 10U;
}

/// One run of a program.
class Watch {
 public:
  Watch(const ProgramLaunch& launch, const Clock& clock) : launch_(launch), clock_(clock) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) refuse_start(launch.command.front(), errno);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    output_.emplace(ends[0]);
    const Descriptor written(ends[1]), input(open_standard_input());
    start_ = clock.now();
    pid_ = spawn(launch.command, initial_variables(launch.variables), input.get(), written.get(),
                 written.get(), launch.folder);
    if (pid_ < 0) refuse_start(launch.command.front(), errno);
    ended_.emplace(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  }

  ProgramEnd end() {
    double deadline = start_ + launch_.time_limit;
    while (!reaped()) {
      wait_until(deadline);
      if (clock_.now() >= deadline && !reaped()) {
        if (is_asked_) ::kill(-pid_, SIGKILL);
        ask_to_end(is_asked_ ? end_.how : ProgramEnd::How::time_limit);
        deadline = clock_.now() + patience;
      } else if (is_interrupted_ && !is_asked_) {
        ask_to_end(ProgramEnd::How::interrupted);
        deadline = clock_.now() + patience;
      } else if (is_given_up_ && !is_asked_) {
        ask_to_end(ProgramEnd::How::given_up);
        deadline = clock_.now() + patience;
      }
    }
    ::kill(-pid_, SIGKILL);  // what it left running
    end_strays();            // and what went into a session of its own
    drain();
    const std::size_t last = end_.output.find_last_not_of(" \n\r\t");
    end_.output.resize(last == std::string::npos ? 0 : last + 1);
    return std::move(end_);
  }

 private:
  void ask_to_end(ProgramEnd::How why) {
    if (!is_asked_) ::kill(-pid_, SIGTERM);
    is_asked_ = true;
    end_.how = why;
  }

  /// Something to read, the end, an interruption, or the deadline.
  void wait_until(double deadline) {
    constexpr double milli = 1000;
    const double left = std::ceil((deadline - clock_.now()) * milli);
    const double longest = ended_->get() >= 0 ? milli : glance;
    std::array<pollfd, 4> watched{pollfd{output_->get(), POLLIN, 0}, pollfd{ended_->get(), POLLIN, 0},
                                  pollfd{is_interrupted_ ? -1 : launch_.interrupt_fd, POLLIN, 0},
                                  pollfd{is_given_up_ ? -1 : launch_.give_up_fd, POLLIN, 0}};
    const int ready =
        ::poll(watched.data(), watched.size(), static_cast<int>(std::clamp(left, 0.0, longest)));
    reap_strays();
    if (ready <= 0) return;
    if (watched[2].revents != 0) is_interrupted_ = true;
    if (watched[3].revents != 0) is_given_up_ = true;
    if (watched[0].revents != 0) drain();
  }

  void drain() {
    if (output_->get() < 0) return;
    std::array<char, 65536> chunk;
    while (true) {
      const ssize_t n = ::read(output_->get(), chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n == 0) output_->close();  // no process has the other end any more
      if (n <= 0) return;
      if (launch_.on_output) launch_.on_output({chunk.data(), static_cast<std::size_t>(n)});
      end_.output.append(chunk.data(), static_cast<std::size_t>(n));
      if (end_.output.size() <= kept_output) continue;
      end_.output.erase(0, end_.output.size() - kept_output);
      const std::size_t line = end_.output.find('\n');  // whole lines, where there are any
      if (line != std::string::npos) end_.output.erase(0, line + 1);
    }
  }

  bool reaped() {
    if (is_reaped_) return true;
    int status = 0;
    rusage used{};
    if (::wait4(pid_, &status, WNOHANG, &used) != pid_) return false;
    is_reaped_ = true;
    StartedProcesses::remove(pid_);
    end_.seconds = clock_.now() - start_;
    end_.user_time = seconds_of(used.ru_utime);
    end_.system_time = seconds_of(used.ru_stime);
    rusage own{};
    ::getrusage(RUSAGE_SELF, &own);
    if (used.ru_maxrss > own.ru_maxrss) end_.peak_memory = bytes_of(used.ru_maxrss);
    if (is_asked_) return true;
    end_.how = WIFSIGNALED(status) ? ProgramEnd::How::signalled : ProgramEnd::How::exited;
    end_.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }

  const ProgramLaunch& launch_;
  const Clock& clock_;
  double start_ = 0;
  pid_t pid_ = -1;
  std::optional<Descriptor> output_;
  std::optional<Descriptor> ended_;  ///< readable when it has ended; without a descriptor where there is none
  bool is_reaped_ = false;
  bool is_interrupted_ = false;
  bool is_given_up_ = false;
  bool is_asked_ = false;  ///< to end
  ProgramEnd end_;
};

}  // namespace

ProgramEnd run_to_end(const ProgramLaunch& launch, const Clock& clock) {
  return Watch(launch, clock).end();
}

std::string how_it_ended(const ProgramEnd& end, double time_limit) {
  switch (end.how) {
    case ProgramEnd::How::exited:
      return fmt::format("exit code {}", end.code);
    case ProgramEnd::How::signalled: {
      const char* const hint = end.code == SIGKILL ? "; often the kernel, when memory runs out" : "";
      return fmt::format("signal {} ({}){}", end.code, ::strsignal(end.code), hint);
    }
    case ProgramEnd::How::time_limit:
      return fmt::format("it took longer than {:g} s (--timeout) and was ended", time_limit);
    case ProgramEnd::How::given_up:
      return "a kernel that was counted did not end, and the program was ended";
    case ProgramEnd::How::interrupted:
      break;
  }
  return "it was interrupted";
}

std::string program_path(const std::string& word) {
  const auto refuse = [&](const std::string& why) { throw Error(ExitCode::usage, word + ": " + why); };
  if (word.empty()) throw Error(ExitCode::usage, "-- needs a program: mprof run -- ./program ARGUMENT...");
  if (word.find('/') == std::string::npos) {
    const auto found = find_program(word, search_path(environment_variable("PATH")));
    if (!found) refuse("no folder of PATH has a program of this name; one that lies here is ./" + word + ".");
    return fs::absolute(*found).string();
  }
  std::error_code error;
  if (!fs::exists(word, error)) refuse("there is no such file.");
  if (fs::is_directory(word, error)) refuse("this is a folder, and not a program.");
  if (!is_program(word)) refuse("this file may not be executed: chmod +x " + word);
  return fs::absolute(word).string();
}

}  // namespace mprof
