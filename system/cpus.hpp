// SPDX-License-Identifier: MIT
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

/// Those CPUs by the core that they are hardware threads of, in the order of the cores' first ones.
[[nodiscard]] std::vector<std::vector<int>> allowed_cores();

/// Keeps the calling thread, and the threads and processes that it starts from now on, on these CPUs. Returns
/// whether the kernel does so; of an empty list it is not asked.
bool stay_on(std::span<const int> cpus);

/// The numbers in the kernel's way of writing them, "0-3,8"; empty when it is not that.
[[nodiscard]] std::vector<int> cpus_of_list(std::string_view text);

}  // namespace mprof
