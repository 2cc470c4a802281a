// SPDX-License-Identifier: MIT
// Compiled for plain x86-64 (CMakeLists.txt), and run before any other initializer: a CPU without the
// instructions that the rest of the program was compiled for gets a message instead of an illegal
// instruction.

#include <cstring>

#include <unistd.h>

namespace {

#if defined(__x86_64__) && defined(MPROF_NEEDS_AVX2)
constexpr int environment_exit_code = 5;

[[gnu::constructor(101)]] void refuse_cpu_without_needed_instructions() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return;
  const char message[] =
      "mprof: this CPU has no AVX2 and FMA, and this build of mprof needs them. Build it with "
      "`cmake --preset host -DMPROF_CPU_ARCH=native`.\n";
  static_cast<void>(!::write(STDERR_FILENO, message, std::strlen(message)));
  ::_exit(environment_exit_code);
}
#endif

}  // namespace
