// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/kernels.hpp"

#include <algorithm>
#include <tuple>

#include "model/metric.hpp"

namespace mprof {
namespace {

constexpr std::string_view duration = "gpu__time_duration.sum";

/// The measurement of one kernel of the op.
const Measurement* find_of_kernel(const PassResult& pass, const Name& metric, const Name& op,
                                  const Name& kernel) {
  const auto found = std::find_if(
      pass.measurements.begin(), pass.measurements.end(),
      [&](const Measurement& m) { return m.metric == metric && m.op == op && m.kernel == kernel; });
  return found == pass.measurements.end() ? nullptr : &*found;
}

/// What the trace says of a kernel of an op.
std::optional<double> traced_of(const Case& c, const Name& metric, const Name& op, const Name& kernel) {
  const PassResult* trace = find_pass(c, Pass::trace);
  const Measurement* row = trace == nullptr ? nullptr : find_of_kernel(*trace, metric, op, kernel);
  if (row == nullptr || row->samples.empty()) return std::nullopt;
  return median(row->samples);
}

std::optional<double> launches_of(const Case& c, const Name& op, const Name& kernel) {
  return traced_of(c, "kernel_instances", op, kernel);
}

/// One kernel's part in the value of an op.
struct Part {
  std::string op;
  std::string kernel;
  Value value;
  std::optional<double> launches = 1;  ///< how often `value` counts; nullopt: nobody knows
  double time = 0;                     ///< s, what the longest is found by; 0: unknown
};

Part counted_part(const Case& c, const PassResult& pass, const Measurement& m) {
  Part part{m.op, m.kernel, value_of(m), launches_of(c, m.op, m.kernel)};
  const Measurement* time = find_of_kernel(pass, duration, m.op, m.kernel);
  if (time != nullptr && !time->samples.empty())
    part.time = median(time->samples) * part.launches.value_or(1);
  return part;
}

/// What the trace says of a kernel holds for all of its launches.
Part traced_part(const PassResult& pass, const Measurement& m) {
  Part part{m.op, m.kernel, value_of(m)};
  const Measurement* time = find_of_kernel(pass, "kernel_time", m.op, m.kernel);
  if (time != nullptr && !time->samples.empty()) part.time = median(time->samples);
  return part;
}

bool is_part(const Measurement& m, const Name& metric, const Name& op) {
  return m.metric == metric && !m.kernel.empty() && (op.empty() || m.op == op);
}

std::vector<Part> parts_of(const Case& c, std::string_view metric, std::string_view op) {
  const Name wanted(metric), of(op);
  std::vector<Part> parts;
  for (const PassResult& pass : c.passes) {
    for (const Measurement& m : pass.measurements) {
      if (!is_part(m, wanted, of)) continue;
      parts.push_back(pass.pass == Pass::counters ? counted_part(c, pass, m) : traced_part(pass, m));
    }
  }
  return parts;
}

/// The same kernel in another op is named once.
bool is_named(const std::vector<SummedKernel>& kernels, const std::string& kernel) {
  return std::ranges::find(kernels, kernel, &SummedKernel::kernel) != kernels.end();
}

Reading sum_of(const std::vector<Part>& parts) {
  double sum = 0;
  bool plain = parts.size() == 1;
  Origin origin{.how = Origin::How::sum};
  for (const Part& part : parts) {
    if (!part.value) return {part.value, {}, true};
    sum += part.value->median * part.launches.value_or(1);
    origin.all_launches = origin.all_launches && part.launches;
    plain = plain && part.launches == 1;
    if (!is_named(origin.kernels, part.kernel))
      origin.kernels.push_back({part.kernel, part.launches.value_or(1)});
  }
  if (plain) origin = {};
  return {derived_value(sum), std::move(origin), true};
}

Reading longest_of(const std::vector<Part>& parts, bool of_all_ops) {
  const auto longest = std::ranges::max_element(parts, {}, &Part::time);
  if (parts.size() > 1 && !(longest->time > 0)) {
    const auto kernels = static_cast<double>(parts.size());
    return {absent_value({Because::durations_not_read, {std::string(duration)}, {kernels}}), {}, true};
  }
  return {longest->value,
          {.how = Origin::How::longest,
           .kernels = {{longest->kernel, 1}},
           .op = of_all_ops ? longest->op : "",
           .among = parts.size()},
          true};
}

}  // namespace

Value KernelCounters::value(std::string_view metric) const {
  const auto found = values.find(metric);
  return found == values.end() ? absent_value(Because::counter_not_read) : found->second;
}

Value KernelCounters::shared_memory() const {
  const Value fixed = value("launch__shared_mem_per_block_static");
  const Value dynamic = value("launch__shared_mem_per_block_dynamic");
  if (!fixed || !dynamic) return fixed ? dynamic : fixed;
  return derived_value(fixed->median + dynamic->median);
}

double KernelCounters::time() const {
  const Value once = value(duration);
  return once ? once->median * launches.value_or(1) : 0;
}

std::vector<KernelCounters> kernels_of(const Case& c, std::optional<std::string_view> op) {
  const std::optional<Name> wanted = op ? std::optional<Name>(*op) : std::nullopt;
  const PassResult* pass = find_pass(c, Pass::counters);
  std::vector<KernelCounters> kernels;
  if (pass == nullptr) return kernels;
  for (const Measurement& m : pass->measurements) {
    if (m.kernel.empty() || (wanted && m.op != *wanted)) continue;
    auto kernel = std::find_if(kernels.begin(), kernels.end(), [&](const KernelCounters& known) {
      return std::tie(known.op, known.kernel) == std::tie(m.op, m.kernel);
    });
    if (kernel == kernels.end()) {
      kernel = kernels.insert(
          kernel,
          {m.op, m.kernel, launches_of(c, m.op, m.kernel), traced_of(c, "kernel_time", m.op, m.kernel), {}});
    }
    kernel->values.emplace(m.metric, value_of(m));
  }
  return kernels;
}

Why why_not_counted(const Case& c) {
  const PassResult* pass = find_pass(c, Pass::counters);
  if (pass == nullptr) return Because::no_counters_pass;
  if (pass->status == Status::ok) return Because::metric_not_read;
  return {Because::counters_pass_ended, {std::string(to_string(pass->status)), pass->reason}};
}

bool adds_up(std::string_view metric) {
  const Metric* row = find_metric(metric);
  return row == nullptr ? metric.ends_with(".sum") : row->combine == Combine::sum;
}

bool is_known_by_kernel(const Case& c, std::string_view metric, std::string_view op) {
  const Name wanted(metric), of(op);
  return std::any_of(c.passes.begin(), c.passes.end(), [&](const PassResult& pass) {
    return std::any_of(pass.measurements.begin(), pass.measurements.end(),
                       [&](const Measurement& m) { return is_part(m, wanted, of); });
  });
}

std::string op_of_longest_kernel(const Case& c, std::string_view metric) {
  const std::vector<Part> parts = parts_of(c, metric, "");
  const auto longest = std::max_element(parts.begin(), parts.end(),
                                        [](const Part& a, const Part& b) { return a.time < b.time; });
  return longest == parts.end() ? std::string() : longest->op;
}

Reading value_over_kernels(const Case& c, std::string_view metric, std::string_view op) {
  const std::vector<Part> parts = parts_of(c, metric, op);
  if (parts.empty()) return {absent_value(why_not_counted(c)), {}, true};
  return adds_up(metric) ? sum_of(parts) : longest_of(parts, op.empty());
}

}  // namespace mprof
