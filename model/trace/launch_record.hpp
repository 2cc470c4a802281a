// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The file in which mprof's library in a process notes its last launches. It lies in the folder of the
/// process's journal, under the same name. It has a Head and the places of `kept` launches, of which the
/// oldest is overwritten. The process writes through a shared mapping, so that whatever ends it leaves them.
/// Only this machine and this build can read it.
namespace mprof::launch_log {

inline constexpr char magic[8] = {'m', 'p', 'r', 'o', 'f', 'l', 'n', '1'};
inline constexpr const char* extension = ".launches";
inline constexpr std::size_t kept = 4096;

struct Head {
  char magic[8] = {};
  std::uint64_t launches = 0;  ///< of the process so far
};

struct Launch {
  std::uint64_t number = 0;  ///< of the process, from 1; 0: nothing is here, or it is being written
  std::int64_t time = 0;     ///< ns since 1970, when it was asked for
  std::uint64_t symbol = 0;  ///< a text's number in the journal; 0: a CUDA graph
  std::uint64_t nth = 0;     ///< of this kernel in the process, from 1
  std::uint32_t correlation = 0;
  std::uint32_t thread = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t dynamic_shared_memory = 0;  ///< B
  std::uint32_t result = 0;                 ///< CUDA's error where the call failed
};

}  // namespace mprof::launch_log
