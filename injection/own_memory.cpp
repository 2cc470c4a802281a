// SPDX-License-Identifier: MIT
#include "injection/own_memory.hpp"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

namespace mprof::injection {
namespace {

/// Of the calling thread: asked for once, since the main thread's is looked up in a file.
StackRange whole_stack() {
  struct Known {
    bool is_set = false;
    StackRange stack{};
  };
  thread_local Known known;
  if (known.is_set) return known.stack;
  known.is_set = true;
  pthread_attr_t attributes{};
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return known.stack;
  void* low = nullptr;
  std::size_t size = 0;
  if (::pthread_attr_getstack(&attributes, &low, &size) == 0) {
    const auto begin = reinterpret_cast<std::uintptr_t>(low);
    known.stack = {begin, begin + size};
  }
  (void)::pthread_attr_destroy(&attributes);
  return known.stack;
}

}  // namespace

bool read_memory(std::uintptr_t from, void* to, std::size_t size) {
  const iovec local{to, size};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address that was read from memory
  const iovec remote{reinterpret_cast<void*>(from), size};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

StackRange used_stack() {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const StackRange whole = whole_stack();
  return whole.holds(here, 1) ? StackRange{here, whole.high} : StackRange{};
}

}  // namespace mprof::injection
