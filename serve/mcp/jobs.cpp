// SPDX-License-Identifier: MIT
#include "serve/mcp/jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "serve/mcp/answer.hpp"
#include "system/error.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"

namespace mprof::mcp {
namespace {

constexpr std::size_t most_log_lines = 5;
constexpr std::size_t most_output = std::size_t{512} << 10;
constexpr double looks_every_s = 1;  ///< at what a job says, and more would disturb what it measures
constexpr double ends_within_s = 5;  ///< after it was asked to

std::vector<std::string> last_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(foreign(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  if (lines.size() > most_log_lines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(most_log_lines));
  return lines;
}

/// Codes with which mprof has measured nothing: a wrong request, a machine that lacks something, a fault.
bool came_to_nothing(int exit_code) {
  return exit_code == static_cast<int>(ExitCode::usage) ||
         exit_code == static_cast<int>(ExitCode::environment) ||
         exit_code == static_cast<int>(ExitCode::fault);
}

}  // namespace

struct Jobs::Job {
  std::string id;
  JobRequest request;
  JobState state = JobState::queued;
  bool must_end = false;
  bool was_told = false;
  double started = 0;
  double ended = 0;
  std::vector<std::string> log{};
  std::string output{};
  std::optional<int> exit_code{};
  std::string error{};
  [[nodiscard]] bool has_ended() const { return state != JobState::queued && state != JobState::running; }
};

std::string_view to_string(JobState state) {
  switch (state) {
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::cancelled:
      return "cancelled";
  }
  return "";
}

Jobs::Jobs(double budget, const Clock& clock)
    : clock_(clock), budget_(budget), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  worker_ = std::thread([this] { work(); });
}

Jobs::~Jobs() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    for (const auto& job : jobs_) {
      if (job->state == JobState::queued) job->state = JobState::cancelled;
      job->must_end = true;
    }
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wake_, &one, sizeof one));
  }
  changed_.notify_all();
  worker_.join();
  ::close(wake_);
}

std::shared_ptr<Jobs::Job> Jobs::find(const std::string& id) const {
  const auto found = std::ranges::find(jobs_, id, [](const auto& job) { return job->id; });
  return found == jobs_.end() ? nullptr : *found;
}

/// A retry finds the job that it has begun: while it waits or runs, and afterwards until its result was told.
std::shared_ptr<Jobs::Job> Jobs::joined(const std::string& tool, const std::string& key) const {
  const auto found = std::ranges::find_if(jobs_, [&](const auto& job) {
    const bool is_open = !job->has_ended() || !job->was_told || job->request.is_named;
    return is_open && job->state != JobState::cancelled && job->request.tool == tool &&
           job->request.key == key;
  });
  return found == jobs_.end() ? nullptr : *found;
}

std::string Jobs::start(const std::string& tool, const std::string& key, bool is_named,
                        const std::function<JobRequest()>& make) {
  const std::lock_guard lock(mutex_);
  if (const auto job = joined(tool, key)) return job->id;
  const auto waiting =
      std::ranges::count(jobs_, JobState::queued, [](const auto& job) { return job->state; });
  if (static_cast<std::size_t>(waiting) >= longest_queue)
    throw Trouble("queue_full", fmt::format("{} jobs wait already.", waiting),
                  "Wait for one with the tool job, or cancel it.");
  if (spent_ >= budget_)
    throw Trouble("budget_spent", fmt::format("The jobs of this server have taken their {:g} s.", budget_),
                  "Whoever starts the server may give more with --budget.");
  auto job = std::make_shared<Job>();
  job->request = make();
  job->request.tool = tool;
  job->request.key = key;
  job->request.is_named = is_named;
  job->id = fmt::format("job-{}", ++last_);
  jobs_.push_back(job);
  forget_old();
  changed_.notify_all();
  return job->id;
}

/// Somebody may still ask for a result that nobody was told: others go before it.
void Jobs::forget_old() {
  const auto has_ended = [](const auto& job) { return job->has_ended(); };
  const auto is_known = [](const auto& job) {
    return job->has_ended() && (job->was_told || job->state == JobState::cancelled);
  };
  while (static_cast<std::size_t>(std::ranges::count_if(jobs_, has_ended)) > kept_jobs) {
    const auto known = std::ranges::find_if(jobs_, is_known);
    jobs_.erase(known != jobs_.end() ? known : std::ranges::find_if(jobs_, has_ended));
  }
}

JobView Jobs::view(const Job& job) const {
  JobView view{.id = job.id,
               .tool = job.request.tool,
               .state = job.state,
               .log = job.log,
               .exit_code = job.exit_code,
               .output = job.output,
               .run = job.request.run,
               .error = job.error};
  if (job.state == JobState::running) view.seconds = clock_.now() - job.started;
  if (job.has_ended() && job.started > 0) view.seconds = job.ended - job.started;
  if (job.state == JobState::queued) {
    for (const auto& other : jobs_) {
      if (other->state == JobState::queued) ++view.position;
      if (other.get() == &job) break;
    }
  }
  return view;
}

std::optional<JobView> Jobs::look(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto job = find(id);
  return job == nullptr ? std::nullopt : std::optional(view(*job));
}

void Jobs::wait(const std::string& id, double deadline, const std::function<bool()>& gives_up) {
  std::unique_lock lock(mutex_);
  const auto job = find(id);
  while (job != nullptr && !job->has_ended() && clock_.now() < deadline && !ends_) {
    lock.unlock();
    const bool enough = gives_up();
    lock.lock();
    if (enough) return;
    if (!job->has_ended()) changed_.wait_for(lock, std::chrono::milliseconds(200));
  }
}

void Jobs::is_told(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (const auto job = find(id)) job->was_told = true;
}

void Jobs::cancel(const std::string& id) {
  {
    const std::lock_guard lock(mutex_);
    const auto job = find(id);
    if (job == nullptr || job->has_ended()) return;
    job->must_end = true;
    if (job->state == JobState::queued) {
      job->state = JobState::cancelled;
    } else {
      const std::uint64_t one = 1;
      static_cast<void>(!::write(wake_, &one, sizeof one));
    }
  }
  changed_.notify_all();
}

double Jobs::budget_left() const {
  const std::lock_guard lock(mutex_);
  return std::max(0.0, budget_ - spent_);
}

std::string Jobs::running() const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(jobs_, JobState::running, [](const auto& job) { return job->state; });
  return found == jobs_.end() ? "" : (*found)->id;
}

void Jobs::work() {
  while (true) {
    std::shared_ptr<Job> next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] {
        const auto found =
            std::ranges::find(jobs_, JobState::queued, [](const auto& job) { return job->state; });
        next = found == jobs_.end() ? nullptr : *found;
        return ends_ || next != nullptr;
      });
      if (ends_) return;
      next->state = JobState::running;
      next->started = clock_.now();
      std::uint64_t old = 0;
      static_cast<void>(!::read(wake_, &old, sizeof old));
    }
    run(next);
    changed_.notify_all();
  }
}

void Jobs::run(const std::shared_ptr<Job>& job) {
  std::string output, error;
  std::optional<int> exit_code;
  bool was_cancelled = false;
  const double limit = std::min(job->request.limit, budget_left());
  try {
    if (limit <= 0)
      throw Error(ExitCode::usage, fmt::format("the jobs before it took all {:g} s that this server may "
                                               "measure, and it did not begin",
                                               budget_));
    Process process(job->request.command, "", {}, Process::Input::whole, job->request.working_folder);
    const double end = job->started + limit;
    double deadline = end;
    bool asked = false;
    for (bool goes_on = true; goes_on;) {
      const double look = std::min(clock_.now() + looks_every_s, deadline);
      const Process::Event event = process.next(clock_, look, asked ? -1 : wake_);
      switch (event.kind) {
        case Process::Event::Kind::line:
          if (output.size() < most_output) output += event.line + "\n";
          break;
        case Process::Event::Kind::ended:
          goes_on = false;
          break;
        case Process::Event::Kind::flooded:
          error = "it printed a line without an end";
          goes_on = false;
          break;
        case Process::Event::Kind::interrupted:
        case Process::Event::Kind::deadline:
          break;
      }
      {
        const std::lock_guard lock(mutex_);
        job->log = last_lines(process.last_words());
        was_cancelled = job->must_end;
      }
      if (goes_on && asked && clock_.now() >= deadline) break;  // it does not listen
      const bool is_late = clock_.now() >= end;
      if (goes_on && !asked && (was_cancelled || is_late)) {
        asked = true;
        if (is_late && !was_cancelled)
          error = fmt::format("it took longer than {:g} s, and was ended", limit);
        process.ask_to_end();
        deadline = clock_.now() + ends_within_s;
      }
    }
    process.kill();
    exit_code = process.exit_code();
    const std::lock_guard lock(mutex_);
    job->log = last_lines(process.last_words());
    if (error.empty() && (!exit_code || came_to_nothing(*exit_code))) error = process.how_it_ended();
  } catch (const Error& failure) {
    error = failure.what();
  }
  end_strays();  // what it left: a program in a process group of its own
  const std::lock_guard lock(mutex_);
  job->ended = clock_.now();
  spent_ += job->ended - job->started;
  job->output = std::move(output);
  job->exit_code = exit_code;
  job->error = error;
  job->request.folder.reset();
  job->state = was_cancelled ? JobState::cancelled : error.empty() ? JobState::done : JobState::failed;
}

}  // namespace mprof::mcp
