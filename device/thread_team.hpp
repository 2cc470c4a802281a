// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

namespace mprof {

/// Runs `work(0)` ... `work(members - 1)` on threads of their own, each kept on one of the usable CPUs in
/// turn, all started together. Returns the seconds from the first start to the last end.
double run_together(unsigned members, const std::function<void(unsigned member)>& work);

}  // namespace mprof
