// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/derive/subjects.hpp"
#include "model/parts.hpp"
#include "model/rounds.hpp"
#include "model/statistics/variance.hpp"

namespace mprof {
namespace {

/// The link is taken to be so many times as fast as it was measured.
constexpr double faster_than_measured = 2;
/// Of an op's bytes, read and written once, either the inputs or the outputs are so many at the least.
constexpr double larger_share = 0.5;
/// Copies that would take less of an op time are lost in its noise.
constexpr double noticeable_copies = 0.05;

/// B/s, the faster direction; 0: not measured.
double link_rate(std::string_view device, std::span<const Ceiling> ceilings) {
  double rate = 0;
  for (const Ceiling& ceiling : ceilings) {
    const bool is_link =
        ceiling.id == "pinned_host_to_device_bandwidth" || ceiling.id == "pinned_device_to_host_bandwidth";
    if (is_link && ceiling.device == device) rate = std::max(rate, ceiling.value.value_or(0));
  }
  return rate;
}

/// As reports print it, s; 0: not measured.
double reported_time(const Case& subject, std::string_view metric, std::string_view op) {
  const Measurement* const time = find_measurement(subject, metric, op);
  return time == nullptr || time->samples.empty() ? 0 : geometric_mean(round_medians(*time));
}

enum class Copies { elsewhere, perhaps_inside, inside };

/// Inside where what an op's time with its copies has beside the one without is too short for them, and the
/// latter long enough; perhaps, where they would be so little of it that noise may make the difference.
Copies copies_of(const Case& subject, const OpInfo& op, double link) {
  const double alone = reported_time(subject, "op_time", op.name);
  const double grouped = reported_time(subject, "group_time", op.name);
  if (link <= 0 || alone <= 0 || grouped <= 0) return Copies::elsewhere;
  const double least = larger_share * op.bytes / (faster_than_measured * link);
  const double noise = noticeable_copies * alone;
  const bool is_noticeable = least > noise;
  const double room = is_noticeable ? least : least + noise;
  if (least > alone || grouped - alone >= room) return Copies::elsewhere;
  return is_noticeable ? Copies::inside : Copies::perhaps_inside;
}

using Point = std::pair<std::string, Parameters>;

}  // namespace

void derive_copies(Run& run) {
  const PartIndex parts(run);
  std::map<Point, std::set<std::string>> inside;
  std::vector<std::pair<Point, std::string>> perhaps;
  std::set<std::pair<std::string, std::string>> at_some_point;  // variants and ops
  for (const Case& subject : run.cases) {
    const VariantInfo* const variant = find_variant(run, subject.key.variant);
    const PassResult* const timing = find_pass(subject, Pass::timing);
    if (variant == nullptr || timing == nullptr || timing->status != Status::ok) continue;
    const double link = link_rate(variant->device, parts.ceilings(subject.id));
    for (const OpInfo& op : subject.ops) {
      const Copies copies = copies_of(subject, op, link);
      const Point point{subject.key.variant, subject.key.parameters};
      if (copies == Copies::inside) {
        inside[point].insert(op.name);
        at_some_point.emplace(subject.key.variant, op.name);
      } else if (copies == Copies::perhaps_inside) {
        perhaps.emplace_back(point, op.name);
      }
    }
  }
  // A slow point of a variant that copies inside at others does so too.
  for (const auto& [point, op] : perhaps) {
    if (at_some_point.contains({point.first, op})) inside[point].insert(op);
  }
  for (Case& subject : run.cases) {
    const std::set<std::string>& ops = inside[{subject.key.variant, subject.key.parameters}];
    for (PassResult& pass : subject.passes) {
      for (Measurement& row : pass.measurements) {
        if (row.metric == "op_time") row.derived.own().holds_copies = ops.contains(row.op);
      }
    }
  }
}

}  // namespace mprof
