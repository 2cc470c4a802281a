// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

#include "model/run.hpp"

/// Rounds: a case is timed in several fresh processes, and what one process cannot show is how the next one
/// will differ.
namespace mprof {

/// How many rounds of a timing pass are there, whatever became of them.
[[nodiscard]] std::size_t rounds_of(const PassResult& pass);

/// The rounds of the case that was timed in the most rounds: of pooled runs more than their plan has.
[[nodiscard]] std::size_t most_rounds_of(const Run& run);

/// Adds what one more round left. Its samples go after the existing ones. A round that did not end well makes
/// the pass end as it did, and says in which round.
void add_round(PassResult& pass, PassResult round);

/// The same of a pass of any number of rounds, as one of another run; its reason, where it did not end well,
/// stays as it is.
void add_rounds(PassResult& pass, PassResult more);

/// Whether two rows of `step_time` are of steps that can be compared: they share a range, or begin with one
/// kernel.
[[nodiscard]] bool have_like_steps(const Measurement& a, const Measurement& b);

/// The steps of another traced execution as one more round.
void add_steps(Measurement& row, Measurement more);

/// The samples of each round.
[[nodiscard]] std::vector<std::span<const double>> samples_by_round(const Measurement& measurement);

/// Each round's median, without rounds that took no sample.
[[nodiscard]] std::vector<double> round_medians(const Measurement& measurement);

/// What is assumed of how much processes differ in times of a clock until rounds show it, as a standard
/// deviation over the time.
///
/// Measured on H200: op times differ by 0.2 to 0.4 %. Host times of programs that use such a GPU differ by 12
/// % in the root mean square on three hosts, and by 8 and 10 % in the median where there were three rounds.
/// Host times of programs that use no GPU differ by 2 to 10 %.
[[nodiscard]] double assumed_deviation(ClockSource clock, bool beside_gpu);

/// Whether something that was timed in the run uses a GPU, or may.
[[nodiscard]] bool is_beside_gpu(const Run& run);

/// Each round's share of the samples and of the time of a case, where `all` is what all of them may take.
[[nodiscard]] Stopping stopping_of_a_round(const Stopping& all, std::uint32_t rounds);

}  // namespace mprof
