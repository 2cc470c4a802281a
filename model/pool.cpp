// SPDX-License-Identifier: MIT
#include "model/pool.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/case_file.hpp"
#include "model/rounds.hpp"

namespace mprof {
namespace {

bool was_run(const PassResult& pass) {
  return pass.status != Status::pending && pass.status != Status::interrupted &&
         pass.status != Status::skipped;
}

/// What went wrong in one run is wrong in all of them together.
void add_timing(PassResult& all, PassResult more) {
  const Status status = all.status;
  const std::string reason = all.reason;
  add_rounds(all, std::move(more));
  if (status == Status::ok) return;
  all.status = status;
  all.reason = reason;
}

/// Of traces one is kept; but how long steps took in each of them says how executions differ.
void add_trace(PassResult& all, PassResult more) {
  for (Measurement& row : more.measurements) {
    const auto known = std::ranges::find(all.measurements, row.metric, &Measurement::metric);
    if (row.metric == "step_time" && known != all.measurements.end() && have_like_steps(*known, row))
      add_steps(*known, std::move(row));
  }
}

void add_pass(std::vector<PassResult>& passes, PassResult more) {
  const auto same = std::ranges::find(passes, more.pass, &PassResult::pass);
  if (same == passes.end()) {
    passes.push_back(std::move(more));
  } else if (!was_run(more)) {
    return;
  } else if (was_run(*same) && more.pass == Pass::timing) {
    add_timing(*same, std::move(more));
  } else if (same->status == Status::ok && more.status == Status::ok && more.pass == Pass::trace) {
    add_trace(*same, std::move(more));
  } else if (!was_run(*same) || (same->status != Status::ok && more.status == Status::ok)) {
    *same = std::move(more);
  }
}

template <class Row, class Id>
void add_unknown(std::vector<Row>& known, const std::vector<Row>& more, Id id) {
  for (const Row& row : more) {
    if (std::ranges::find(known, std::invoke(id, row), id) == known.end()) known.push_back(row);
  }
}

/// Of all cases so far.
using Places = std::map<CaseKey, std::size_t>;

/// The parts of a run, of which itself is the only one unless it was merged.
std::vector<RunPart> parts_of(const Run& run) {
  return run.parts.empty() ? std::vector{as_part(run)} : run.parts;
}

void add_run(Run& all, Places& places, Run more) {
  std::ranges::move(parts_of(more), std::back_inserter(all.parts));
  for (Case& c : more.cases) {
    const auto [place, is_new] = places.emplace(c.key, all.cases.size());
    if (is_new) {
      all.cases.push_back(std::move(c));
      continue;
    }
    for (PassResult& pass : c.passes) add_pass(all.cases[place->second].passes, std::move(pass));
  }
  add_unknown(all.variants, more.variants, &VariantInfo::id);
  add_unknown(all.families, more.families, &FamilyInfo::id);
  if (all.state == RunState::complete) all.state = more.state;
}

}  // namespace

RunPart as_part(const Run& run) {
  RunPart part{.shard = run.shard,
               .command_line = run.command_line,
               .seed = run.plan.seed,
               .started = run.started,
               .finished = run.finished,
               .environment = run.environment,
               .ceilings = run.ceilings,
               .spent = run.spent};
  for (const Case& c : run.cases) {
    if (has_results(c)) part.cases.push_back(c.id);
  }
  return part;
}

Run pooled(std::vector<Run> runs) {
  Run all = std::move(runs.front());
  if (runs.size() > 1) all.parts = parts_of(all);
  Places places;
  for (std::size_t i = 0; i < all.cases.size(); ++i) places.emplace(all.cases[i].key, i);
  for (std::size_t i = 1; i < runs.size(); ++i) add_run(all, places, std::move(runs[i]));
  return all;
}

}  // namespace mprof
