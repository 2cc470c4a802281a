// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/error.hpp"
#include "system/spawn.hpp"
#include "system/started_processes.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_line = std::size_t{64} << 20;
constexpr std::size_t kept_errors = 2048;

[[noreturn]] void fail(const std::string& what) {
  throw Error(ExitCode::environment,
              fmt::format("cannot start a worker process: {}: {}", what, std::strerror(errno)));
}

/// The input as a file in memory: unlike a pipe it cannot block a writer whose reader has died.
int file_in_memory(const std::string& contents) {
  const int fd = ::memfd_create("mprof-job", MFD_CLOEXEC);
  if (fd < 0) fail("memfd_create");
  for (std::size_t written = 0; written < contents.size();) {
    const ssize_t n = ::write(fd, contents.data() + written, contents.size() - written);
    if (n < 0) fail("write");
    written += static_cast<std::size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

/// A stream that both ends read and write, in place of a pipe: a write to a child that has ended is no
/// signal.
Pipe make_stream() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("socketpair");
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  return {ends[0], ends[1]};
}

/// Milliseconds for poll(): -1 waits for ever.
int milliseconds_until(const Clock& clock, std::optional<double> deadline) {
  if (!deadline) return -1;
  const double left = std::ceil((*deadline - clock.now()) * 1000);
  return static_cast<int>(std::clamp(left, 0.0, 3600.0 * 1000));
}

/// Appends what is there to read; false at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n > 0) {
      into.append(chunk.data(), static_cast<std::size_t>(n));
      if (into.size() > longest_line) return true;
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

}  // namespace

Process::Process(const std::vector<std::string>& command, const std::string& input,
                 const std::map<std::string, std::string>& variables, Input kind,
                 const std::filesystem::path& folder) {
  const Pipe stream = kind == Input::open ? make_stream() : Pipe{file_in_memory(input), -1};
  const int input_fd = stream.read;
  input_fd_ = stream.write;
  const Pipe output = make_pipe();
  const Pipe error = make_pipe();
  pid_ = spawn(command, own_variables(variables), input_fd, output.write, error.write, folder);
  const int failure = errno;
  for (const int fd : {input_fd, output.write, error.write}) ::close(fd);
  output_fd_ = output.read;
  error_fd_ = error.read;
  if (pid_ > 0) ended_fd_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (pid_ < 0) {
    for (const int fd : {input_fd_, output_fd_, error_fd_}) ::close(fd);
    errno = failure;
    fail(command.front());
  }
  if (kind == Input::open) tell(input);
}

Process::~Process() {
  kill();
  if (input_fd_ >= 0) ::close(input_fd_);
  ::close(output_fd_);
  ::close(error_fd_);
  if (ended_fd_ >= 0) ::close(ended_fd_);
}

void Process::tell(std::string_view text) {
  to_send_ += text;
  send();
}

void Process::send() noexcept {
  while (input_fd_ >= 0 && !to_send_.empty()) {
    const ssize_t sent = ::send(input_fd_, to_send_.data(), to_send_.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      to_send_.erase(0, static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      ::close(std::exchange(input_fd_, -1));
    }
  }
}

void Process::pause() noexcept {
  if (!status_) ::kill(-pid_, SIGSTOP);
}

void Process::resume() noexcept {
  if (!status_) ::kill(-pid_, SIGCONT);
}

void Process::kill() noexcept {
  if (status_) return;
  ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  note_end(status);
}

void Process::ask_to_end() noexcept {
  if (!status_) ::kill(-pid_, SIGTERM);
}

void Process::note_end(int status) noexcept {
  status_ = status;
  StartedProcesses::remove(pid_);
}

void Process::read_errors() {
  errors_open_ = drain(error_fd_, errors_);
  if (errors_.size() > kept_errors) errors_.erase(0, errors_.size() - kept_errors);
}

std::optional<Process::Event> Process::wait(const Clock& clock, std::optional<double> deadline,
                                            int interrupt_fd) {
  if (!open_) return Event{Event::Kind::ended, {}};
  std::array<pollfd, 5> watched{pollfd{output_fd_, POLLIN, 0},
                                pollfd{errors_open_ ? error_fd_ : -1, POLLIN, 0},
                                pollfd{interrupt_fd, POLLIN, 0}, pollfd{ended_fd_, POLLIN, 0},
                                pollfd{to_send_.empty() ? -1 : input_fd_, POLLOUT, 0}};
  const int ready = ::poll(watched.data(), watched.size(), milliseconds_until(clock, deadline));
  if (ready < 0 && errno == EINTR) return std::nullopt;
  if (watched[2].revents != 0) return Event{Event::Kind::interrupted, {}};
  if (watched[4].revents != 0) send();
  if (watched[1].revents != 0) read_errors();
  if (watched[0].revents != 0) open_ = drain(output_fd_, buffer_);
  if (watched[3].revents != 0) {  // a process that it started may hold the pipe still
    static_cast<void>(drain(output_fd_, buffer_));
    open_ = false;
  }
  if (deadline && clock.now() >= *deadline) return Event{Event::Kind::deadline, {}};
  return std::nullopt;
}

Process::Event Process::next(const Clock& clock, std::optional<double> deadline, int interrupt_fd) {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      Event event{Event::Kind::line, buffer_.substr(begin_, end - begin_)};
      begin_ = searched_ = end + 1;
      return event;
    }
    buffer_.erase(0, std::exchange(begin_, 0));
    searched_ = buffer_.size();
    if (buffer_.size() > longest_line) return {Event::Kind::flooded, {}};
    if (auto event = wait(clock, deadline, interrupt_fd)) return *event;
  }
}

Process::Event Process::next_bytes(std::size_t count, const Clock& clock, std::optional<double> deadline,
                                   int interrupt_fd) {
  buffer_.erase(0, std::exchange(begin_, 0));
  searched_ = 0;
  buffer_.reserve(count);
  while (buffer_.size() < count) {
    if (auto event = wait(clock, deadline, interrupt_fd)) return *event;
  }
  Event event{Event::Kind::line, {}};
  const std::string rest = buffer_.substr(count);
  buffer_.resize(count);
  event.line = std::exchange(buffer_, rest);
  return event;
}

void Process::reap() {
  // A worker that closed its output but does not end is ended: its answer cannot come any more.
  constexpr int patience = 200;
  for (int i = 0; i < patience && !status_; ++i) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) note_end(status);
    if (!status_) ::usleep(10'000);
  }
  kill();
}

std::string Process::how_it_ended() {
  reap();
  if (WIFSIGNALED(*status_)) {
    const int signal = WTERMSIG(*status_);
    const char* hint = signal == SIGKILL ? "; often the kernel, when memory runs out" : "";
    return fmt::format("signal {} ({}){}", signal, ::strsignal(signal), hint);
  }
  const int code = WEXITSTATUS(*status_);
  constexpr int signalled = 128;  // what shells and sandboxes add to the signal that ended what they ran
  const char* name =
      code > signalled && code < signalled + SIGRTMIN ? ::strsignal(code - signalled) : nullptr;
  return name == nullptr ? fmt::format("exit code {}", code)
                         : fmt::format("exit code {} (of signal {}: {})", code, code - signalled, name);
}

std::optional<int> Process::exit_code() {
  reap();
  return WIFEXITED(*status_) ? std::optional(WEXITSTATUS(*status_)) : std::nullopt;
}

bool Process::ended_well() {
  reap();
  return WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
}

bool Process::was_asked_to_end() {
  reap();
  return WIFSIGNALED(*status_) && (WTERMSIG(*status_) == SIGINT || WTERMSIG(*status_) == SIGTERM);
}

std::string Process::last_words() {
  read_errors();
  const std::size_t last = errors_.find_last_not_of(" \n\r\t");
  return last == std::string::npos ? "" : errors_.substr(0, last + 1);
}

}  // namespace mprof
