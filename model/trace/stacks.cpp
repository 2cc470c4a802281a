// SPDX-License-Identifier: MIT
#include "model/trace/stacks.hpp"

namespace mprof::trace {

Stacks::Stacks() {
  index({});
}

Stacks::Stacks(const Stacks& other) {
  for (const auto& stack : other.all_) index(stack->first);
}

Stacks& Stacks::operator=(const Stacks& other) {
  return *this = Stacks(other);
}

StackIndex Stacks::index(const std::vector<StackFrame>& frames) {
  const auto [entry, is_new] = known_.try_emplace(frames, static_cast<StackIndex>(all_.size()));
  if (is_new) all_.emplace_back(entry);
  return entry->second;
}

}  // namespace mprof::trace
