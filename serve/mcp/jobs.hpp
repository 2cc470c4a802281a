// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "serve/mcp/limits.hpp"
#include "system/clock.hpp"
#include "system/temporary_folder.hpp"

/// Jobs: other processes of mprof, which measure. One runs at a time, since two would disturb each other.
namespace mprof::mcp {

using Json = nlohmann::ordered_json;

/// What a job is started with.
struct JobRequest {
  std::string tool{};                  ///< "judge", "profile"
  std::string key{};                   ///< a request with the key of a job joins it
  bool is_named = false;               ///< the caller chose the key, and a job that has ended is joined too
  std::vector<std::string> command{};  ///< without a shell
  double limit = 0;                    ///< s, from its start; then it is ended
  std::string run{};                   ///< below the root, where its result will be
  std::string working_folder{};        ///< below the root; empty: the root
  /// Of its own, gone with it: a source that came in a call.
  std::shared_ptr<const TemporaryFolder> folder{};
};

enum class JobState { queued, running, done, failed, cancelled };
[[nodiscard]] std::string_view to_string(JobState state);

/// A job at a moment.
struct JobView {
  std::string id;
  std::string tool;
  JobState state = JobState::queued;
  std::size_t position = 0;        ///< of a queued one, from 1
  double seconds = 0;              ///< that it has run
  std::vector<std::string> log{};  ///< the last lines of its standard error
  std::optional<int> exit_code{};  ///< where it ended by itself
  std::string output{};            ///< its standard output, of one that ended
  std::string run{};
  std::string error{};  ///< why it failed
  [[nodiscard]] bool has_ended() const { return state != JobState::queued && state != JobState::running; }
};

class Jobs {
 public:
  /// `budget`: s, of all jobs together.
  Jobs(double budget, const Clock& clock);
  /// Ends all jobs, and waits until their processes are gone.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// The job of that key, or a new one. `make` gives a new one's command; it is not called for a job that is
  /// joined. Throws Trouble where the queue is full or the budget is spent.
  [[nodiscard]] std::string start(const std::string& tool, const std::string& key, bool is_named,
                                  const std::function<JobRequest()>& make);
  /// nullopt: there is no such job.
  [[nodiscard]] std::optional<JobView> look(const std::string& id) const;
  /// Waits until it has ended, `deadline` has come, or `gives_up` says so, which is asked now and then.
  void wait(const std::string& id, double deadline, const std::function<bool()>& gives_up);
  /// Its result was sent: a request like it begins another job, unless the caller named the key.
  void is_told(const std::string& id);
  void cancel(const std::string& id);

  [[nodiscard]] double budget_left() const;
  /// The id of the job that runs; empty: none does.
  [[nodiscard]] std::string running() const;

 private:
  struct Job;

  void work();
  void run(const std::shared_ptr<Job>& job);
  [[nodiscard]] std::shared_ptr<Job> find(const std::string& id) const;
  [[nodiscard]] std::shared_ptr<Job> joined(const std::string& tool, const std::string& key) const;
  [[nodiscard]] JobView view(const Job& job) const;
  void forget_old();

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<Job>> jobs_;  ///< in the order of their requests
  double budget_;
  double spent_ = 0;
  std::size_t last_ = 0;
  bool ends_ = false;
  int wake_ = -1;  ///< readable when the running job must end
  std::thread worker_;
};

}  // namespace mprof::mcp
