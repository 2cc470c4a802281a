// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>

#include "model/derive/subjects.hpp"
#include "model/rounds.hpp"
#include "model/statistics/variance.hpp"

namespace mprof {
namespace {

/// A number or why there is none, on its way to a Measurement.
struct Value {
  double number = 0;
  std::string absent{};
};

/// A kind of work: what an op needs of it, and the metrics and the peak that follow from it.
struct Work {
  double OpInfo::*amount;
  const char* metric;
  const char* rate;
  const char* throughput;
  const char* ceiling;
  bool is_always_shown;                                 ///< an op that needs none has a row that says so
  std::optional<double> VariantInfo::*share = nullptr;  ///< of it that a variant's algorithm needs
};

constexpr Work kinds_of_work[] = {
    {&OpInfo::flops, "flops", "flop_rate", "compute_throughput", "fp32_flop_rate", true},
    {&OpInfo::bytes, "bytes", "byte_rate", "memory_throughput", "memory_bandwidth", true},
    {&OpInfo::special_operations, "special_operations", "special_rate", "special_throughput",
     "special_function_rate", false, &VariantInfo::special_functions},
};

/// A program's op declares none: nothing can be said of its rate.
bool has_known_work(const OpInfo& op) {
  return std::ranges::any_of(kinds_of_work, [&](const Work& work) { return op.*work.amount > 0; });
}

Value peak(std::string_view id, std::string_view device, std::span<const Ceiling> ceilings) {
  const auto found = std::ranges::find_if(
      ceilings, [&](const Ceiling& ceiling) { return ceiling.id == id && ceiling.device == device; });
  if (found == ceilings.end())
    return {0, "the peak " + std::string(id) + " of " + std::string(device) + " was not measured"};
  if (!found->value) return {0, "the peak " + std::string(id) + " is absent: " + found->absent};
  return {*found->value};
}

/// As reports print it: of the rounds, each by its median.
Value reported_time(const Measurement& op_time) {
  if (op_time.samples.empty()) return {0, "op_time is absent: " + op_time.absent};
  const double seconds = geometric_mean(round_medians(op_time));
  if (seconds <= 0) return {0, "op_time is 0: the variant works outside forward()"};
  return {seconds};
}

Value rate_of(double work, const Value& time) {
  return time.absent.empty() ? Value{work / time.number} : time;
}

Value percentage(const Value& part, const Value& whole) {
  if (!part.absent.empty()) return part;
  return whole.absent.empty() ? Value{100 * part.number / whole.number} : whole;
}

Measurement modelled(const char* metric, const std::string& op, const Value& value) {
  Measurement row{metric, op, "", Source::modelled, {}, value.absent};
  if (value.absent.empty()) row.samples.push_back(value.number);
  return row;
}

}  // namespace

std::vector<Measurement> modelled_speed_of_light(const Case& subject, const VariantInfo& variant,
                                                 std::span<const Ceiling> ceilings) {
  std::vector<Measurement> rows;
  for (const OpInfo& op : subject.ops) {
    const Measurement* const op_time = find_measurement(subject, "op_time", op.name);
    if (op_time == nullptr || !has_known_work(op)) continue;
    const Value time = reported_time(*op_time);
    for (const Work& work : kinds_of_work) {
      const double amount = op.*work.amount;
      if (amount == 0 && !work.is_always_shown) continue;
      const Value rate = rate_of(amount, time);
      const double share = work.share != nullptr ? (variant.*work.share).value_or(1) : 1;
      rows.push_back(modelled(work.metric, op.name, {amount}));
      rows.push_back(modelled(work.rate, op.name, rate));
      rows.push_back(
          modelled(work.throughput, op.name,
                   percentage(rate_of(share * amount, time), peak(work.ceiling, variant.device, ceilings))));
    }
  }
  return rows;
}

}  // namespace mprof
