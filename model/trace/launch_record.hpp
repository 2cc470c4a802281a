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

/// The symbol of a kernel whose name CUPTI does not tell.
inline constexpr std::uint64_t unnamed = ~std::uint64_t{0};

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

/// Of these failures so many are written for a process.
inline constexpr std::uint64_t most_failures = 10'000;

/// Errors after which a context is of no use, by CUDA's numbers: a kernel was at fault, not the call that
/// tells it.
constexpr bool is_of_kernel(std::uint32_t result) {
  switch (result) {
    case 700:  // illegal address
    case 702:  // launch timeout
    case 710:  // assert
    case 714:  // hardware stack error
    case 715:  // illegal instruction
    case 716:  // misaligned address
    case 717:  // invalid address space
    case 718:  // invalid program counter
    case 719:  // launch failure
      return true;
    default:
      return false;
  }
}

}  // namespace mprof::launch_log
