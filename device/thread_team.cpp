// SPDX-License-Identifier: MIT
#include "device/thread_team.hpp"

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include "system/clock.hpp"
#include "system/cpus.hpp"

namespace mprof {

double run_together(unsigned members, const std::function<void(unsigned)>& work) {
  struct Span {
    double start = 0;
    double end = 0;
  };
  const Clock& clock = steady_clock();
  const std::vector<int> cpus = allowed_cpus();
  std::vector<Span> spans(members);
  std::barrier start_line(static_cast<std::ptrdiff_t>(members));
  {
    std::vector<std::jthread> threads;
    threads.reserve(members);
    for (unsigned member = 0; member < members; ++member) {
      threads.emplace_back([&, member] {
        if (!cpus.empty()) stay_on({&cpus[member % cpus.size()], 1});
        start_line.arrive_and_wait();
        spans[member].start = clock.now();
        work(member);
        spans[member].end = clock.now();
      });
    }
  }  // joined here
  const auto first = std::ranges::min(spans, {}, &Span::start).start;
  const auto last = std::ranges::max(spans, {}, &Span::end).end;
  return last - first;
}

}  // namespace mprof
