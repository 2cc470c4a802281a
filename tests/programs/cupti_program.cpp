// SPDX-License-Identifier: MIT
// A program that has a stand-in for CUPTI in its process, and launches kernels in it.
// usage: cupti_program STANDIN TRACE_LIBRARY none|three|fault|refused|killed|hangs
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

namespace {

using Launch = void(const char* name, std::uint64_t start, std::uint32_t correlation, std::uint32_t result,
                    bool ends);
using Wait = void(std::uint64_t start, std::uint32_t correlation, std::uint32_t result);

constexpr const char* good = "_Z4goodPf";
constexpr const char* bad = "_Z3badPf";
constexpr std::uint32_t illegal_address = 700, invalid_configuration = 9;

/// ns since 1970.
std::uint64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  void* const cupti = ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
  void* const library = ::dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (cupti == nullptr || library == nullptr) return 3;
  auto* const launch = reinterpret_cast<Launch*>(::dlsym(cupti, "standin_launch"));
  auto* const wait = reinterpret_cast<Wait*>(::dlsym(cupti, "standin_wait"));
  auto* const begin = reinterpret_cast<int (*)()>(::dlsym(library, "InitializeInjection"));
  if (launch == nullptr || wait == nullptr || begin == nullptr || begin() != 1) return 4;
  const auto is = [&](const char* mode) { return std::strcmp(words[3], mode) == 0; };
  if (is("none")) return 0;
  std::uint32_t id = 0;
  const auto run = [&](const char* name, std::uint32_t result, bool ends) {
    launch(name, now(), ++id, result, ends);
  };
  if (is("refused")) {
    for (int i = 0; i < 10; ++i) run(bad, invalid_configuration, false);
    run(good, 0, true);
    return 0;
  }
  for (int i = 0; i < 3; ++i) run(good, 0, true);
  if (is("three")) return 0;
  run(bad, 0, false);
  if (is("hangs")) ::sleep(2);  // longer than the library lets pass between two looks
  if (is("killed") || is("hangs")) ::kill(::getpid(), SIGKILL);
  run(good, 0, false);
  wait(now(), ++id, illegal_address);
  return 0;
}
