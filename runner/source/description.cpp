// SPDX-License-Identifier: MIT
#include "runner/source/description.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "inputs/checksum.hpp"
#include "runner/protocol.hpp"
#include "system/error.hpp"
#include "system/process.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

/// What is not asked for is not in the answer.
Message answer_of(const PluginSource& source, const std::vector<Problem>& problems, const Asking& asking) {
  Job job{.kind = JobKind::describe, .token = random_token()};
  job.plan.sources = {source};
  for (const Problem& problem : problems) job.cases.push_back({.problem = problem});
  const StraysEnd with_worker;
  Process worker(asking.worker_command, to_line(job));
  const auto event = worker.next(asking.clock, asking.clock.now() + asking.limit, asking.interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (event.kind != Process::Event::Kind::line) {
    const bool is_slow = event.kind == Process::Event::Kind::deadline;
    worker.kill();
    const std::string words = worker.last_words();
    throw Error(ExitCode::wrong_output,
                fmt::format("{}: asked what it declares, it gave no answer: {}{}{}", source.path,
                            is_slow ? fmt::format("it took longer than {:g} s", asking.limit)
                                    : "its process ended with " + worker.how_it_ended(),
                            words.empty() ? "." : ". Its last words: ", words));
  }
  const Message answer = parse_message(event.line);
  const bool is_answer = source.family.empty() ? answer.variant.has_value() : answer.family.has_value();
  if (answer.token != job.token || (!is_answer && answer.refusal.empty()))
    throw Error(ExitCode::wrong_output, source.path + ": asked what it declares, it wrote something else.");
  if (is_answer) return answer;
  std::string refusal = answer.refusal;
  if (refusal.starts_with(source.library)) refusal.replace(0, source.library.size(), source.path);
  throw Error(ExitCode::usage, refusal);
}

/// What is known of a family whose library other processes load.
class DescribedFamily final : public Family {
 public:
  DescribedFamily(PluginSource source, FamilyInfo info, std::vector<Problem> problems,
                  std::vector<Problem> quick_problems, Asking asking)
      : source_(std::move(source)),
        known_(std::move(info.problems)),
        info_(std::move(info)),
        problems_(std::move(problems)),
        quick_problems_(std::move(quick_problems)),
        asking_(std::move(asking)) {
    info_.problems.clear();
  }

  [[nodiscard]] const FamilyInfo& info() const override { return info_; }
  [[nodiscard]] std::vector<Problem> default_problems(bool quick) const override {
    return quick ? quick_problems_ : problems_;
  }

  [[nodiscard]] std::vector<OpInfo> ops(const Problem& problem) const override {
    auto known = std::ranges::find(known_, problem, &ProblemInfo::problem);
    if (known == known_.end()) {
      const Message answer = answer_of(source_, {problem}, asking_);
      known = known_.insert(known_.end(), answer.family->problems.front());
    }
    return known->ops;
  }

  /// What is computed and what is right stands in its file, which is therefore an input of the run.
  [[nodiscard]] std::vector<InputFile> validate(const InputPaths& /*inputs*/) const override {
    return {{.family = info_.id,
             .name = "family",
             .path = source_.path,
             .size = std::filesystem::file_size(source_.path),
             .checksum = sha256_of_file(source_.path)}};
  }

  [[nodiscard]] std::unique_ptr<Workload> load(const Problem& /*problem*/,
                                               const InputPaths& /*inputs*/) const override {
    throw Error(ExitCode::fault, fmt::format("{} was not loaded", source_.library));
  }

 private:
  PluginSource source_;
  mutable std::vector<ProblemInfo> known_;
  FamilyInfo info_;
  std::vector<Problem> problems_;
  std::vector<Problem> quick_problems_;
  Asking asking_;
};

/// To ask later, when whoever could interrupt it now may be gone.
Asking uninterrupted(const Asking& asking) {
  return {asking.worker_command, asking.clock, -1, asking.limit};
}

}  // namespace

VariantInfo described_variant(const PluginSource& source, const Asking& asking) {
  return *answer_of(source, {}, asking).variant;
}

std::unique_ptr<Family> described_family(const PluginSource& source, const Asking& asking) {
  Message answer = answer_of(source, {}, asking);
  return std::make_unique<DescribedFamily>(source, std::move(*answer.family), std::move(answer.problems),
                                           std::move(answer.quick_problems), uninterrupted(asking));
}

std::unique_ptr<Family> recorded_family(const PluginSource& source, const FamilyInfo& recorded,
                                        const Asking& asking) {
  std::vector<Problem> problems;
  for (const ProblemInfo& info : recorded.problems) problems.push_back(info.problem);
  return std::make_unique<DescribedFamily>(source, recorded, problems, problems, uninterrupted(asking));
}

}  // namespace mprof
