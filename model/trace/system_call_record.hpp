// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// The file in which mprof's library in a process notes its calls of libc and POSIX threads. It has a Head,
/// names, and from head_size on records. The process writes them through a shared mapping, so that whatever
/// ends it leaves them. Only this machine and this build can read it.
namespace mprof::system_calls {

inline constexpr char magic[8] = {'m', 'p', 'r', 'o', 'f', 's', 'c', '1'};
inline constexpr const char* extension = ".calls";

/// ns. Shorter calls are left out, as Nsight Systems does by default.
inline constexpr std::int64_t threshold = 1000;

inline constexpr std::size_t head_size = 8192;  ///< B

/// Names follow it: the process's and the functions', each with a zero after it.
struct Head {
  char magic[8] = {};
  std::uint32_t process = 0;     ///< the operating system's id
  std::uint32_t names_size = 0;  ///< B
  std::uint64_t dropped = 0;     ///< calls that found no room
};

struct Record {
  std::int64_t start = 0;  ///< ns since 1970
  std::int64_t end = 0;    ///< ns since 1970; 0: not written yet
  std::uint32_t thread = 0;
  std::uint32_t name = 0;  ///< which of the functions' names, from 0; or thread_name
};

/// Of a record that is no call: `start` and `end` are the characters of the thread's name, the last of them
/// being 1 in place of 0.
inline constexpr std::uint32_t thread_name = ~std::uint32_t{0};
inline constexpr std::size_t thread_name_size = 16;  ///< B, with the 0 behind it, as the kernel has it

inline constexpr std::size_t chunk_records = 4096;
inline constexpr std::size_t chunk_size = chunk_records * sizeof(Record);  ///< B, what a file grows by
inline constexpr std::size_t most_chunks = 2048;                           ///< 192 MiB, 8 million calls

}  // namespace mprof::system_calls
