// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/run.hpp"

/// Shards: the cases of a plan spread over processes or machines. They need not know of each other, since
/// each calculates the same shares from the same plan.
namespace mprof {

/// How long each case is expected to take, in s. It is as long as the case took in `earlier`, when that is
/// given and finished the case. Otherwise it follows from the work of its ops (work_of()).
[[nodiscard]] std::vector<double> expected_costs(const std::vector<Case>& cases, const Run* earlier);

/// The shard, from 1, of each case: the dearest first, each to the shard that has the least so far. The
/// dearest shard is then at most a third dearer than the dearest one of the best spread (R. L. Graham, Bounds
/// on multiprocessing timing anomalies, SIAM J. Appl. Math. 17, 1969). The same costs give the same shards
/// everywhere.
[[nodiscard]] std::vector<std::uint32_t> assign_shards(std::span<const double> costs, std::uint32_t count);

/// The shard, from 1, of each of the run's cases. All cases of a family's problem are in one: a report
/// compares them, and two devices of one model differ.
[[nodiscard]] std::vector<std::uint32_t> assign_problems(const Run& run, std::uint32_t count,
                                                         const Run* earlier);

/// The cases of a plan that are a shard's, in plan order; none where there are more shards than cases.
[[nodiscard]] std::vector<Case> cases_of_shard(std::vector<Case> cases, const Shard& shard,
                                               const Run* earlier);

}  // namespace mprof
