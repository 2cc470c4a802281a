// SPDX-License-Identifier: MIT
// How much a neighbour slows what runs next to it, while neither waits for a CPU. Compile it with
// `g++ -O2 -march=native -std=c++20 -pthread` and run it on a free machine.
//
// Each victim runs on CPU 0 and is timed by its own CPU time, so that it does not matter who else waits. Each
// neighbour runs on CPUs of its own. docs/how-it-works/disturbances.md has what came of it.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>

namespace {

constexpr std::size_t kib = std::size_t{1} << 10, mib = kib << 10;
volatile double result_of_floats = 0;
volatile std::uint64_t result_of_words = 0;

void stay_on(unsigned cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  if (pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) != 0) std::abort();
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

using Work = std::function<void()>;  // some milliseconds of it

Work arithmetic(bool chained) {
  return [chained] {
    double sums[12]{};
    for (int i = 0; i < 400'000; ++i) {
      for (double& sum : sums) sum = sum * 0.999 + 1.5;
      if (chained) std::fill(std::begin(sums), std::end(sums), sums[0]);
    }
    result_of_floats = std::accumulate(std::begin(sums), std::end(sums), 0.0);
  };
}

Work branches() {
  return [state = std::uint64_t{88172645463325252}]() mutable {
    std::uint64_t sum = 0;
    for (int i = 0; i < 1'000'000; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      sum += (state & 1) != 0 ? state / 7 : state * 3;
    }
    result_of_words = sum;
  };
}

/// From one cache line to the next one in a random order: each access waits for the one before.
Work chase(std::size_t bytes) {
  constexpr std::size_t line = 8;
  const std::size_t lines = bytes / 64;
  std::vector<std::uint64_t> order(lines), next(lines * line);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(1));
  for (std::size_t i = 0; i < lines; ++i) next[order[i] * line] = order[(i + 1) % lines] * line;
  return [next = std::move(next), at = std::uint64_t{0}]() mutable {
    for (int i = 0; i < 200'000; ++i) at = next[at];
    result_of_words = at;
  };
}

Work read_all(std::size_t bytes) {
  return [data = std::vector<std::uint64_t>(bytes / 8, 1)] {
    std::uint64_t sum = 0;
    for (std::size_t read = 0; read < 64 * mib; read += 8 * data.size()) {
      for (const std::uint64_t word : data) sum += word;
    }
    result_of_words = sum;
  };
}

Work copy_all(std::size_t bytes) {
  return [from = std::vector<double>(bytes / 16, 1), to = std::vector<double>(bytes / 16)]() mutable {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = 0.5 * from[i] + to[i];
    result_of_floats = to[from.size() / 2];
  };
}

struct Kind {
  std::string name;
  std::function<Work()> make;
};

const std::vector<Kind> victims{{"arithmetic, throughput", [] { return arithmetic(false); }},
                                {"arithmetic, latency", [] { return arithmetic(true); }},
                                {"branches", [] { return branches(); }},
                                {"reads 24 KiB", [] { return read_all(24 * kib); }},
                                {"reads 512 KiB", [] { return read_all(512 * kib); }},
                                {"chases 24 KiB", [] { return chase(24 * kib); }},
                                {"chases 512 KiB", [] { return chase(512 * kib); }},
                                {"chases 8 MiB", [] { return chase(8 * mib); }},
                                {"chases 20 MiB", [] { return chase(20 * mib); }},
                                {"chases 256 MiB", [] { return chase(256 * mib); }},
                                {"reads 8 MiB", [] { return read_all(8 * mib); }},
                                {"reads 256 MiB", [] { return read_all(256 * mib); }},
                                {"copies 256 MiB", [] { return copy_all(256 * mib); }}};
const std::vector<Kind> neighbours{{"arithmetic", [] { return arithmetic(false); }},
                                   {"reads 512 KiB", [] { return read_all(512 * kib); }},
                                   {"chases 20 MiB", [] { return chase(20 * mib); }},
                                   {"copies 256 MiB", [] { return copy_all(256 * mib); }}};

/// The lower quartile over some executions.
double seconds_of(const Work& work) {
  std::vector<double> times;
  work();
  const double until = cpu_seconds() + 0.4;
  while (times.size() < 7 || cpu_seconds() < until) {
    const double start = cpu_seconds();
    work();
    times.push_back(cpu_seconds() - start);
  }
  std::ranges::sort(times);
  return times[times.size() / 4];
}

}  // namespace

int main() {
  const unsigned cpus = std::thread::hardware_concurrency();
  stay_on(0);
  std::vector<unsigned> counts{1};
  if (cpus > 4) counts.push_back(cpus / 2);
  if (cpus > 2) counts.push_back(cpus - 1);
  double worst = 1;
  for (const Kind& victim : victims) {
    const Work work = victim.make();
    const double alone = seconds_of(work);
    std::printf("%-24s alone %8.3f ms", victim.name.c_str(), 1e3 * alone);
    for (const Kind& neighbour : neighbours) {
      for (const unsigned count : counts) {
        std::atomic<bool> over{false};
        std::atomic<unsigned> ready{0};
        std::vector<std::thread> threads;
        for (unsigned i = 1; i <= count; ++i) {
          threads.emplace_back([&, i] {
            stay_on(i);
            const Work its_work = neighbour.make();
            ++ready;
            while (!over) its_work();
          });
        }
        while (ready < count) std::this_thread::yield();
        const double factor = seconds_of(work) / alone;
        worst = std::max(worst, factor);
        std::printf("  %s x%u %.2f", neighbour.name.c_str(), count, factor);
        over = true;
        for (std::thread& thread : threads) thread.join();
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  std::printf("worst %.2f\n", worst);
}
