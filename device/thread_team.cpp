#include "device/thread_team.hpp"

#include <algorithm>
#include <barrier>
#include <thread>
#include <vector>

#include <sched.h>

#include "system/clock.hpp"

namespace mprof {
namespace {

/// Without effect where the kernel refuses: the thread then runs where it is put.
void stay_on(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  sched_setaffinity(0, sizeof only, &only);
}

}  // namespace

std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;  // more CPUs than cpu_set_t holds
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

unsigned usable_cpus() {
  const auto allowed = allowed_cpus().size();
  return allowed > 0 ? static_cast<unsigned>(allowed) : std::max(1U, std::thread::hardware_concurrency());
}

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
        if (!cpus.empty()) stay_on(cpus[member % cpus.size()]);
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
