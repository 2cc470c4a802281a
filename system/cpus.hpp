#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace mprof {

/// The numbers of the CPUs that the calling thread may use; empty where the kernel does not say.
[[nodiscard]] std::vector<int> allowed_cpus();

/// How many CPUs the calling thread may use, which a scheduler or `taskset` may have made fewer than the
/// machine has; at least 1.
[[nodiscard]] unsigned usable_cpus();

/// Keeps the calling thread, and the threads and processes that it starts from now on, on these CPUs. Without
/// effect where the kernel refuses, and for an empty list.
void stay_on(std::span<const int> cpus);

/// The numbers in the kernel's way of writing them, "0-3,8"; empty when it is not that.
[[nodiscard]] std::vector<int> cpus_of_list(std::string_view text);

}  // namespace mprof
