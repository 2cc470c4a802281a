// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Who else uses a GPU, by what NVML lists. Plain functions, so that a test feeds processes that it made up.
///
/// NVML names processes by the ids of a namespace that need not be ours. In a container its list may hold ids
/// that mean nothing here, or leave processes out. Our process is known by its id.
///
/// Suppose we have a context on the GPU and the list does not hold our id. Then one of the listed processes
/// is taken to be us, and which one is not said. So a list of one is never another process, and a GPU that
/// only we use is quiet. What is missed that way is a process that NVML does not show at all.
namespace mprof::cuda {

/// A process with a context on a GPU.
struct GpuProcess {
  unsigned id = 0;
  std::optional<double> memory{};  ///< B
  std::optional<double> share{};   ///< of the multiprocessors' time, 0 to 1, since it was asked for
  bool operator==(const GpuProcess&) const = default;
};

/// What a process did in one of the driver's sampling periods, of a sixth of a second to a second each.
struct GpuUse {
  unsigned id = 0;
  unsigned percent = 0;  ///< of the multiprocessors' time
};

/// Gives each process the mean of its periods, 0 without one. What cannot be (no id, more than 100 %) is left
/// out: some drivers fill in rows that nobody has written.
void add_shares(std::vector<GpuProcess>& processes, std::span<const GpuUse> uses);

/// This process, as the others' list may name it.
struct OwnProcess {
  unsigned id = 0;
  bool has_context = true;   ///< on that GPU
  bool has_partner = false;  ///< one of the others is mprof as well, and works only while we do not; at most
                             ///< one process is taken for it
};

/// How many of them are not ours.
[[nodiscard]] std::size_t count_others(std::span<const GpuProcess> processes, const OwnProcess& own);

/// Which part of the multiprocessors' time they had together, 0 to 1; nullopt where NVML does not tell. Where
/// it is not known who we are, without the one that had the most.
[[nodiscard]] std::optional<double> share_of_others(std::span<const GpuProcess> processes,
                                                    const OwnProcess& own);

/// "another process used the GPU: pid 4242 (2.1 GiB, 97 % of the multiprocessors)"; empty when none did. One
/// that has a context and memory, and whose kernels took no more than 2 % of the time, does not disturb.
[[nodiscard]] std::string who_used_the_gpu(std::span<const GpuProcess> processes, const OwnProcess& own);

/// "pid 4242 (2.1 GiB, 97 % of the multiprocessors), pid 7 (memory unknown)"
[[nodiscard]] std::string described(std::span<const GpuProcess> processes);

/// The processes that are certainly not ours: all of them where we have no context or are not in the list.
[[nodiscard]] std::vector<GpuProcess> without_own(std::span<const GpuProcess> processes,
                                                  const OwnProcess& own);

}  // namespace mprof::cuda
