// SPDX-License-Identifier: MIT
#include "model/family.hpp"

#include <algorithm>

namespace mprof {
namespace {

template <class Rows, class Key, class Member>
auto find_in(const Rows& rows, const Key& key, Member member) -> decltype(rows.data()) {
  const auto found = std::ranges::find(rows, key, member);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const AxisInfo* find_axis(const FamilyInfo& family, std::string_view name) {
  return find_in(family.axes, name, &AxisInfo::name);
}

const QualityInfo* find_quality(const FamilyInfo& family, std::string_view metric) {
  return find_in(family.qualities, metric, &QualityInfo::metric);
}

const ProblemInfo* find_problem(const FamilyInfo& family, const Problem& problem) {
  return find_in(family.problems, problem, &ProblemInfo::problem);
}

}  // namespace mprof
