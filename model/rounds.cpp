// SPDX-License-Identifier: MIT
#include "model/rounds.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/statistics/median.hpp"

namespace mprof {
namespace {

/// A round's median should not hang on one sample, where there is time for more.
constexpr std::uint32_t fewest_samples = 3;

std::uint32_t share(std::uint32_t all, std::uint32_t rounds) {
  return (all + rounds - 1) / rounds;
}

Measurement* find_row(std::vector<Measurement>& rows, const Measurement& like) {
  const auto found = std::ranges::find_if(rows, [&](const Measurement& row) {
    return row.metric == like.metric && row.op == like.op && row.kernel == like.kernel;
  });
  return found == rows.end() ? nullptr : &*found;
}

/// How many samples each of its `rounds` rounds took, of a row that may have none in the last of them.
void complete_counts(Measurement& row, std::size_t rounds) {
  // Of one round so far, or of those before it, in which it had none.
  const bool in_first = row.rounds.empty();
  row.rounds.resize(rounds, 0);
  if (in_first && rounds > 0) row.rounds.front() = static_cast<std::uint32_t>(row.samples.size());
}

/// `before`: rounds that went before those of `more`, which are `added`.
void add_samples(std::vector<Measurement>& rows, Measurement more, std::size_t before, std::size_t added) {
  complete_counts(more, added);
  Measurement* row = find_row(rows, more);
  if (row == nullptr) {
    more.rounds.insert(more.rounds.begin(), before, 0);
    rows.push_back(std::move(more));
    return;
  }
  complete_counts(*row, before);
  row->rounds.insert(row->rounds.end(), more.rounds.begin(), more.rounds.end());
  row->samples.insert(row->samples.end(), more.samples.begin(), more.samples.end());
  if (!row->samples.empty()) row->absent.clear();
}

/// All rounds as one: the last one's ending, the first disturbance of each kind.
Sampling together(Sampling all, std::span<const Sampling> more) {
  for (const Sampling& next : more) {
    all.warmups += next.warmups;
    all.samples += next.samples;
    all.ended_by = next.ended_by;
    all.retries += next.retries;
    if (all.disturbance.empty()) all.disturbance = next.disturbance;
    if (all.host_disturbance.empty()) all.host_disturbance = next.host_disturbance;
    all.relative_half_width =
        all.relative_half_width && next.relative_half_width
            ? std::optional(std::max(*all.relative_half_width, *next.relative_half_width))
            : std::nullopt;
  }
  return all;
}

bool has_failed(const Verification& verification) {
  return !verification.passed;
}

}  // namespace

std::size_t rounds_of(const PassResult& pass) {
  if (!pass.rounds.empty()) return pass.rounds.size();
  return pass.sampling ? 1 : 0;
}

std::size_t most_rounds_of(const Run& run) {
  std::size_t most = 0;
  for (const Case& c : run.cases) {
    if (const PassResult* const timing = find_pass(c, Pass::timing))
      most = std::max(most, rounds_of(*timing));
  }
  return most;
}

namespace {

/// What was chosen otherwise stands beside what was known, once.
void add_choices(Choices& choices, const Choices& more) {
  const std::string between = " | ";
  for (const auto& [problem, choice] : more) {
    std::string& known = choices[problem];
    if (known.empty()) {
      known = choice;
    } else if ((between + known + between).find(between + choice + between) == std::string::npos) {
      known += between + choice;
    }
  }
}

}  // namespace

void add_round(PassResult& pass, PassResult round) {
  const std::size_t before = rounds_of(pass);
  if (before > 0 && round.status != Status::ok)
    round.reason = "in round " + std::to_string(before + 1) + ": " + round.reason;
  add_rounds(pass, std::move(round));
}

void add_rounds(PassResult& pass, PassResult more) {
  const std::size_t before = rounds_of(pass), added = rounds_of(more);
  if (before == 0) {
    pass = std::move(more);
    return;
  }
  pass.seconds += more.seconds;
  if (more.outcome) pass.outcome = std::move(more.outcome);
  if (more.status != Status::ok) {
    pass.status = more.status;
    pass.reason = more.reason;
  }
  add_choices(pass.choices, more.choices);
  if (std::ranges::any_of(more.verification, has_failed)) pass.verification = std::move(more.verification);
  if (pass.scrutiny && more.scrutiny) {
    pass.scrutiny->executions += more.scrutiny->executions;
    pass.scrutiny->orders = std::max(pass.scrutiny->orders, more.scrutiny->orders);
    pass.scrutiny->unseen += more.scrutiny->unseen;
  } else {
    pass.scrutiny.reset();
  }
  if (added == 0) return;
  if (pass.rounds.empty()) pass.rounds.push_back(*pass.sampling);
  if (more.rounds.empty()) more.rounds.push_back(*more.sampling);
  if (!pass.sampling) pass.sampling = together(pass.rounds.front(), std::span(pass.rounds).subspan(1));
  pass.sampling = together(*std::move(pass.sampling), more.rounds);
  pass.rounds.insert(pass.rounds.end(), more.rounds.begin(), more.rounds.end());
  for (Measurement& row : more.measurements) add_samples(pass.measurements, std::move(row), before, added);
}

bool have_like_steps(const Measurement& a, const Measurement& b) {
  return std::ranges::any_of(a.derived->step, [&](const std::string& name) {
    return std::ranges::find(b.derived->step, name) != b.derived->step.end();
  });
}

void add_steps(Measurement& row, Measurement more) {
  complete_counts(row, std::max<std::size_t>(row.rounds.size(), 1));
  complete_counts(more, std::max<std::size_t>(more.rounds.size(), 1));
  row.rounds.insert(row.rounds.end(), more.rounds.begin(), more.rounds.end());
  row.samples.insert(row.samples.end(), more.samples.begin(), more.samples.end());
}

std::vector<std::span<const double>> samples_by_round(const Measurement& measurement) {
  const std::span<const double> all(measurement.samples);
  if (measurement.rounds.empty()) return {all};
  std::vector<std::span<const double>> rounds;
  std::size_t taken = 0;
  for (const std::uint32_t count : measurement.rounds) {
    const std::size_t here = std::min<std::size_t>(count, all.size() - taken);
    rounds.push_back(all.subspan(taken, here));
    taken += here;
  }
  return rounds;
}

std::vector<double> round_medians(const Measurement& measurement) {
  std::vector<double> medians;
  for (const std::span<const double> samples : samples_by_round(measurement)) {
    if (!samples.empty()) medians.push_back(median(samples));
  }
  return medians;
}

double assumed_deviation(ClockSource clock, bool beside_gpu) {
  if (clock == ClockSource::device) return 0.003;
  return beside_gpu ? 0.1 : 0.05;
}

bool is_beside_gpu(const Run& run) {
  return std::ranges::any_of(run.cases, [&](const Case& c) {
    const PassResult* const timing = find_pass(c, Pass::timing);
    const VariantInfo* const variant = find_variant(run, c.key.variant);
    return timing != nullptr && !timing->measurements.empty() && variant != nullptr &&
           variant->device != "cpu";
  });
}

Stopping stopping_of_a_round(const Stopping& all, std::uint32_t rounds) {
  if (rounds <= 1) return all;
  Stopping one = all;
  one.min_samples = std::min(all.min_samples, std::max(share(all.min_samples, rounds), fewest_samples));
  one.max_samples = std::max(share(all.max_samples, rounds), one.min_samples);
  one.max_seconds = all.max_seconds / rounds;
  return one;
}

}  // namespace mprof
