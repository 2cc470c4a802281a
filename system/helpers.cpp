// SPDX-License-Identifier: MIT
#include "system/helpers.hpp"

#include <algorithm>
#include <system_error>

#include "system/cpus.hpp"

namespace mprof {

std::vector<std::future<void>> start_helpers(std::size_t tasks, std::size_t share,
                                             const std::function<void()>& work) {
  constexpr std::size_t most_threads = 8;
  const std::size_t threads = std::min({tasks / share, most_threads, std::size_t{usable_cpus()}});
  std::vector<std::future<void>> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error&) {
    // No more threads are to be had: those that there are do all.
  }
  return helpers;
}

}  // namespace mprof
