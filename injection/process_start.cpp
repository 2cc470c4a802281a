// SPDX-License-Identifier: MIT
#include "injection/process_start.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <unistd.h>

#include "injection/journal_writer.hpp"

namespace mprof::injection {

std::int64_t process_start() {
  constexpr int fields_before = 20;  // from the state on, which stands behind the name
  constexpr std::int64_t second = 1'000'000'000;
  std::array<char, 1024> text{};
  const int file = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const char* at = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
  for (int field = 0; at != nullptr && field < fields_before; ++field) at = std::strchr(at + 1, ' ');
  const long ticks_a_second = ::sysconf(_SC_CLK_TCK);
  timespec since_boot{};
  if (at == nullptr || ticks_a_second <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return 0;
  const std::int64_t began = std::strtoll(at, nullptr, 10) * (second / ticks_a_second);
  return now() - (since_boot.tv_sec * second + since_boot.tv_nsec) + began;
}

}  // namespace mprof::injection
