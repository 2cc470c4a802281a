// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/workload.hpp"
#include "model/run.hpp"
#include "runner/protocol.hpp"
#include "system/clock.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"

/// Executions that a worker cannot forge. Their inputs are drawn by a seed that this process chooses when the
/// variant has been loaded. Their outputs come here as bits, and this process compares them with its own
/// reference. Its own clock says how long they took.
namespace mprof {

struct ChallengeContext {
  const Case& subject;  ///< with its ops
  const Plan& plan;
  /// Of the subject's problem, in this process; for as long as the worker lives.
  Workload& workload;
  std::vector<std::string> worker_command;
  const Clock& clock;
  int interrupt_fd = -1;
  double timeout = 0;  ///< s, of one execution
};

struct ChallengeResult {
  Status status = Status::ok;  ///< or wrong, crashed, timeout
  std::string reason{};
  /// s, from when the seed was sent until the last bit of the outputs was here.
  double seconds = 0;
  std::vector<Verification> verification{};
};

/// A worker that has one variant loaded.
class ChallengedWorker {
 public:
  /// Throws Error(environment) where it cannot be started.
  explicit ChallengedWorker(const ChallengeContext& context);

  /// One execution on inputs drawn by `seed`. Which items are compared is drawn by `items_seed`, of which the
  /// worker hears nothing. After a result that is not ok the worker is gone. Throws Error(interrupted).
  [[nodiscard]] ChallengeResult ask(std::uint64_t seed, std::uint64_t items_seed);

  /// Stops it and all that it has started until resume(), while another one is asked.
  void pause() noexcept { stop_tree(process_.id()); }
  void resume() noexcept { resume_tree(process_.id()); }

  /// The end of what the worker printed; at most 2 KiB.
  [[nodiscard]] std::string last_words() { return process_.last_words(); }

 private:
  [[nodiscard]] Message next_message(double deadline);
  [[nodiscard]] std::vector<float> next_values(std::uint64_t elements, double deadline);
  [[nodiscard]] ChallengeResult answer(std::uint64_t seed, std::uint64_t items_seed);

  ChallengeContext context_;
  std::string token_ = random_token();
  Process process_;
  bool is_ready_ = false;
};

/// Whether the family of a workload can verify what another process computed.
[[nodiscard]] bool can_be_challenged(Workload& workload);

}  // namespace mprof
