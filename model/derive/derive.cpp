// SPDX-License-Identifier: MIT
#include "model/derive/derive.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/derive/subjects.hpp"
#include "model/metric_presets.hpp"
#include "model/parts.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

PassResult* find_pass(Case& subject, Pass pass) {
  const auto found = std::ranges::find(subject.passes, pass, &PassResult::pass);
  return found == subject.passes.end() ? nullptr : &*found;
}

/// Puts rows in the places of stored ones of the same metric, op and kernel, and the others behind them.
void put(std::vector<Measurement>& measurements, std::vector<Measurement> rows) {
  // A name is kept once, so that its address stands for it.
  const auto key_of = [](const Measurement& m) {
    return std::tuple(&m.metric.text(), &m.op.text(), &m.kernel.text());
  };
  std::vector<std::pair<decltype(key_of(rows.front())), std::size_t>> stored;
  stored.reserve(measurements.size());
  for (std::size_t i = 0; i < measurements.size(); ++i) stored.emplace_back(key_of(measurements[i]), i);
  std::ranges::sort(stored);
  measurements.reserve(measurements.size() + rows.size());
  for (Measurement& row : rows) {
    const auto found = std::ranges::lower_bound(stored, std::pair(key_of(row), std::size_t{0}));
    if (found == stored.end() || found->first != key_of(row)) {
      measurements.push_back(std::move(row));
    } else if (!row.samples.empty() || measurements[found->second].samples.empty()) {
      measurements[found->second] = std::move(row);
    }
  }
}

void derive_speed_of_light(Run& run) {
  const PartIndex parts(run);
  for (Case& subject : run.cases) {
    PassResult* const timing = find_pass(subject, Pass::timing);
    const VariantInfo* const variant = find_variant(run, subject.key.variant);
    if (timing == nullptr || variant == nullptr) continue;
    put(timing->measurements, modelled_speed_of_light(subject, *variant, parts.ceilings(subject.id)));
  }
}

/// Whether the trace is this pass's: one that did not end well may have left the trace of an earlier attempt,
/// but for a program, of which all is kept that was seen until it ended.
bool has_trace(const PassResult& traced) {
  return traced.status == Status::ok || (traced.outcome && traced.status != Status::skipped);
}

void derive_from_trace(Run& run, const trace::Trace& trace) {
  const auto indices = trace::case_indices(trace);
  for (Case& subject : run.cases) {
    PassResult* const traced = find_pass(subject, Pass::trace);
    const auto index = indices.find(subject.id);
    if (traced == nullptr || !has_trace(*traced) || index == indices.end()) continue;
    const VariantInfo* const variant = find_variant(run, subject.key.variant);
    const bool is_program = variant != nullptr && (variant->is_imported() || variant->is_program());
    std::vector<Measurement> rows =
        trace_metrics(trace, index->second, subject.ops, is_program ? kernels_of_program : kernels_with_rows);
    rows.push_back(trace_overhead(subject, rows));
    if (is_program) {
      for (Measurement& row : launch_times(trace, index->second, subject.ops)) rows.push_back(std::move(row));
      for (Measurement& row : step_times(trace, index->second)) rows.push_back(std::move(row));
    }
    put(traced->measurements, std::move(rows));
  }
}

/// Where the hardware gave no duration of a kernel, what else it counted is of no whole launch: the units
/// were read while others ran, or not at all. What a launch asks for stays.
void derive_whole_launches(Run& run) {
  constexpr std::string_view asked_for = "launch__";
  for (Case& subject : run.cases) {
    PassResult* const counters = find_pass(subject, Pass::counters);
    if (counters == nullptr) continue;
    std::set<std::pair<std::string, std::string>> unread;  // op and kernel
    for (const Measurement& m : counters->measurements) {
      if (m.metric == "gpu__time_duration.sum" && hardware_gave_no_number(m.absent))
        unread.emplace(m.op, m.kernel);
    }
    for (Measurement& m : counters->measurements) {
      if (m.samples.empty() || m.metric.starts_with(asked_for) || !unread.contains({m.op, m.kernel}))
        continue;
      m.samples.clear();
      m.absent = "it was not counted over a whole launch: the hardware gave not even the kernel's duration";
    }
  }
}

void derive_suspicion(Run& run) {
  for (Case& subject : run.cases) {
    PassResult* const timing = find_pass(subject, Pass::timing);
    const VariantInfo* const variant = find_variant(run, subject.key.variant);
    if (timing == nullptr || variant == nullptr || timing->status != Status::ok) continue;
    timing->reason = contradiction(subject, *variant);
    if (!timing->reason.empty()) timing->status = Status::suspect;
  }
}

bool is_traced(const Run& run) {
  return std::ranges::any_of(run.cases, [](const Case& subject) {
    const PassResult* const pass = find_pass(subject, Pass::trace);
    return pass != nullptr && has_trace(*pass);
  });
}

}  // namespace

void derive(Run& run, const std::filesystem::path& directory) {
  static_cast<void>(derive_and_keep_trace(run, directory, {}));
}

std::optional<trace::Trace> derive_and_keep_trace(Run& run, const std::filesystem::path& directory,
                                                  const trace::Parts& parts) {
  derive_whole_launches(run);
  derive_speed_of_light(run);
  derive_copies(run);
  const std::filesystem::path file = directory / trace::file_name;
  std::error_code error;
  std::optional<trace::Trace> trace;
  if (is_traced(run) && std::filesystem::exists(file, error)) {
    require_within(directory, file);
    trace::Parts read = parts;
    read |= {.kernels = true,
             .transfers = true,
             .calls = true,
             .ranges = true,
             .synchronizations = true,
             .overheads = true,
             .allocations = true};
    // With the pauses: what the host did in them kept the GPU idle or busy as well.
    trace = trace::read_trace(file, {.parts = read, .with_pauses = true});
    derive_from_trace(run, *trace);
    trace::leave_out_pauses(*trace);
    if (!parts.allocations) trace->allocations = {};
  }
  derive_variation(run);
  derive_suspicion(run);
  return trace;
}

}  // namespace mprof
