#pragma once

#include <functional>
#include <vector>

namespace mprof {

/// The numbers of the CPUs that the calling thread may use; empty where the kernel does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// How many CPUs this process may use; at least 1.
[[nodiscard]] unsigned usable_cpus();

/// Runs `work(0)` ... `work(members - 1)` on threads of their own, each kept on one of the usable CPUs in
/// turn, all started together. Returns the seconds from the first start to the last end.
double run_together(unsigned members, const std::function<void(unsigned member)>& work);

}  // namespace mprof
