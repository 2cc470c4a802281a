// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "system/clock.hpp"

namespace mprof {

/// A child process that is given a text on standard input and answers in lines. Ends with its object.
class Process {
 public:
  /// Whether its standard input ends behind the text that it is given, or goes on with what tell() adds.
  enum class Input { whole, open };

  /// Starts `command` in a process group of its own (a Ctrl-C on the terminal is the coordinator's to
  /// handle), in this process's environment with `variables` set. It begins in `folder`, or where this
  /// process is when that is empty. Throws Error(environment) when it cannot be started.
  Process(const std::vector<std::string>& command, const std::string& input,
          const std::map<std::string, std::string>& variables = {}, Input kind = Input::whole,
          const std::filesystem::path& folder = {});
  /// Kills the group if it still runs, and reaps the child.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  struct Event {
    enum class Kind { line, ended, deadline, interrupted, flooded };
    Kind kind = Kind::ended;
    std::string line;
  };
  /// Waits for the next line, the end of the process, clock.now() >= deadline, or `interrupt_fd` becoming
  /// readable. `flooded`: a line grew past all reason (64 MiB).
  [[nodiscard]] Event next(const Clock& clock, std::optional<double> deadline, int interrupt_fd);

  /// The same for so many bytes, whatever they are; `line` has them.
  [[nodiscard]] Event next_bytes(std::size_t count, const Clock& clock, std::optional<double> deadline,
                                 int interrupt_fd);
  /// More of an open standard input. It is sent now, or while next() waits. If the child has ended,
  /// the text is dropped.
  void tell(std::string_view text);
  /// Stops its whole process group until resume(). kill() ends it meanwhile as well.
  void pause() noexcept;
  void resume() noexcept;
  [[nodiscard]] pid_t id() const { return pid_; }

  void kill() noexcept;
  /// Asks its group to end, by SIGTERM, if it still runs.
  void ask_to_end() noexcept;
  /// After `ended` or kill(): its exit code; nullopt where a signal ended it.
  [[nodiscard]] std::optional<int> exit_code();
  /// After `ended` or kill(): how it ended, as a message says it: "exit code 3", "signal 11 (Segmentation
  /// fault)".
  [[nodiscard]] std::string how_it_ended();
  /// After `ended`: whether it ended by itself with exit code 0.
  [[nodiscard]] bool ended_well();
  /// After `ended`: whether somebody asked it to, by SIGINT or SIGTERM.
  [[nodiscard]] bool was_asked_to_end();
  /// The last lines of its standard error; up to 2 KiB.
  [[nodiscard]] std::string last_words();

 private:
  /// Waits for more of its output. nullopt: there may be more in the buffer now.
  [[nodiscard]] std::optional<Event> wait(const Clock& clock, std::optional<double> deadline,
                                          int interrupt_fd);
  void read_errors();
  void send() noexcept;
  void reap();
  void note_end(int status) noexcept;

  pid_t pid_ = -1;
  int input_fd_ = -1;  ///< -1: it takes no more input
  int output_fd_ = -1;
  int error_fd_ = -1;
  int ended_fd_ = -1;  ///< readable when it has ended; -1 where the kernel has none
  std::string buffer_;
  std::size_t begin_ = 0;     ///< buffer_ has given away what is before this
  std::size_t searched_ = 0;  ///< it holds no newline from there up to this
  std::string to_send_;
  std::string errors_;
  bool errors_open_ = true;
  bool open_ = true;  ///< the output
  std::optional<int> status_;
};

}  // namespace mprof
