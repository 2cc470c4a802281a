// SPDX-License-Identifier: MIT
#include "runner/challenge.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "runner/survey.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

/// No answer: what became of the worker.
struct NoAnswer {
  Status status = Status::crashed;
  std::string reason{};
};

std::string job_line(const ChallengeContext& context, const std::string& token) {
  return to_line(
      Job{.kind = JobKind::challenge, .plan = context.plan, .cases = {context.subject.key}, .token = token});
}

const OpInfo* find_op(const Case& c, std::string_view name) {
  const auto found = std::ranges::find(c.ops, name, &OpInfo::name);
  return found == c.ops.end() ? nullptr : &*found;
}

}  // namespace

ChallengedWorker::ChallengedWorker(const ChallengeContext& context)
    : context_(context),
      process_(context.worker_command, job_line(context, token_), {}, Process::Input::open) {}

Message ChallengedWorker::next_message(double deadline) {
  const Process::Event event = process_.next(context_.clock, deadline, context_.interrupt_fd);
  switch (event.kind) {
    case Process::Event::Kind::interrupted:
      throw Error(ExitCode::interrupted, "interrupted");
    case Process::Event::Kind::deadline:
      throw NoAnswer{Status::timeout, is_ready_ ? fmt::format("it took longer than {:g} s", context_.timeout)
                                                : std::string("its process did not begin")};
    case Process::Event::Kind::ended:
      throw NoAnswer{Status::crashed, "its process ended without an answer: " + process_.how_it_ended()};
    case Process::Event::Kind::flooded:
      throw NoAnswer{Status::crashed, "its process wrote without end"};
    case Process::Event::Kind::line:
      break;
  }
  try {
    Message message = parse_message(event.line);
    if (message.token != token_)
      throw NoAnswer{Status::crashed, "something else in its process wrote an answer"};
    return message;
  } catch (const Error& error) {
    throw NoAnswer{Status::crashed, fmt::format("its process wrote what is no answer: {}", error.what())};
  }
}

std::vector<float> ChallengedWorker::next_values(std::uint64_t elements, double deadline) {
  const Process::Event event =
      process_.next_bytes(elements * sizeof(float), context_.clock, deadline, context_.interrupt_fd);
  if (event.kind == Process::Event::Kind::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  if (event.kind == Process::Event::Kind::deadline)
    throw NoAnswer{Status::timeout, fmt::format("it took longer than {:g} s", context_.timeout)};
  if (event.kind != Process::Event::Kind::line)
    throw NoAnswer{Status::crashed, "its process ended within an answer: " + process_.how_it_ended()};
  std::vector<float> values(elements);
  std::memcpy(values.data(), event.line.data(), event.line.size());
  return values;
}

ChallengeResult ChallengedWorker::answer(std::uint64_t seed, std::uint64_t items_seed) {
  if (!is_ready_) {
    if (next_message(context_.clock.now() + worker_start_limit + context_.timeout).kind != MessageKind::ready)
      throw NoAnswer{Status::crashed, "its process answered before it was asked"};
    is_ready_ = true;
  }
  const double start = context_.clock.now();
  const double deadline = start + context_.timeout;
  process_.tell(to_line(Challenge{seed}));
  std::map<std::string, std::vector<float>, std::less<>> outputs;
  while (true) {
    const Message message = next_message(deadline);
    if (message.kind == MessageKind::answered) break;
    const OpInfo* const op = find_op(context_.subject, message.op);
    // An op's bytes hold its output once.
    if (message.kind != MessageKind::output || op == nullptr || outputs.contains(message.op) ||
        static_cast<double>(message.elements) * sizeof(float) > op->bytes)
      throw NoAnswer{Status::crashed, "its process gave an output that no op has"};
    outputs[message.op] = next_values(message.elements, deadline);
  }
  ChallengeResult result{.seconds = context_.clock.now() - start};
  const std::unique_ptr<Execution> replay =
      context_.workload.replay([&](std::string_view op) -> std::span<const float> {
        const auto found = outputs.find(op);
        return found == outputs.end() ? std::span<const float>() : std::span<const float>(found->second);
      });
  if (replay == nullptr) throw Error(ExitCode::fault, "the family cannot verify what another process gave");
  NoObserver nobody;
  result.verification =
      replay
          ->run(nobody, {.proof = Proof::some_items, .unseen = true, .seed = seed, .items_seed = items_seed})
          .verification;
  for (const Verification& v : result.verification) {
    if (v.passed) continue;
    result.status = Status::wrong;
    result.reason += fmt::format("{}{}: {}", result.reason.empty() ? "" : "; ", v.op, v.finding);
  }
  return result;
}

ChallengeResult ChallengedWorker::ask(std::uint64_t seed, std::uint64_t items_seed) {
  const StraysEnd with_worker;
  try {
    return answer(seed, items_seed);
  } catch (const NoAnswer& none) {
    process_.kill();
    return {.status = none.status, .reason = none.reason};
  }
}

bool can_be_challenged(Workload& workload) {
  return workload.replay([](std::string_view) { return std::span<const float>(); }) != nullptr;
}

}  // namespace mprof
