// SPDX-License-Identifier: MIT
#include "device/cpu_ceilings.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <sys/mman.h>

#include "device/fma_chains.hpp"
#include "device/fma_chains_avx512.hpp"
#include "device/thread_team.hpp"

namespace mprof {
namespace {

// The largest alignment that the target's registers ask for is the width of its vectors: 16, 32 or 64 bytes.
constexpr std::size_t native_vector_bytes = __BIGGEST_ALIGNMENT__;

constexpr float start = 1.0F;
constexpr float factor = 0.5F;
constexpr float term = 1.0F;

/// Memory straight from the kernel, in huge pages where it grants them; untouched, so that each thread's
/// first write puts its part near itself.
class Array {
 public:
  explicit Array(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ != MAP_FAILED) madvise(data_, bytes_, MADV_HUGEPAGE);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() {
    if (*this) munmap(data_, bytes_);
  }
  explicit operator bool() const { return data_ != MAP_FAILED; }
  [[nodiscard]] float* floats() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// to[i] = from[i] + factor * other[i].
void triad(float* to, const float* from, const float* other, std::size_t count) {
  using Vector = VectorOf<native_vector_bytes>::Type;
  constexpr std::size_t lanes = native_vector_bytes / sizeof(float);
  const auto load = [](const float* at) {
    Vector values;
    std::memcpy(&values, at, sizeof values);
    return values;
  };
  for (std::size_t i = 0; i + lanes <= count; i += lanes) {
    const Vector sum = load(from + i) + factor * load(other + i);
    std::memcpy(to + i, &sum, sizeof sum);
  }
}

}  // namespace

std::size_t FmaWork::lanes() const {
  return fma_chains * (vector_bytes / sizeof(float));
}

double FmaWork::flops(std::uint64_t rounds) const {
  return 2.0 * static_cast<double>(rounds) * static_cast<double>(lanes());
}

float FmaWork::expected() const {
  return 2.0F * static_cast<float>(lanes());
}

FmaWork widest_fma_work() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {64, run_fma_chains_avx512};
#endif
  return {native_vector_bytes, run_fma_chains<native_vector_bytes>};
}

BestRate best_rate(double work, double seconds, const Clock& clock, const std::function<double()>& round) {
  const double end = clock.now() + seconds;
  BestRate best;
  double took = 0;
  while (best.rounds < 2 || clock.now() + took < end) {
    took = round();
    best.rate = std::max(best.rate, work / took);
    ++best.rounds;
  }
  return best;
}

Ceiling measure_fp32_flop_rate(unsigned threads, double seconds) {
  // About 5 ms a round at a few GHz: long against the start of a thread, short against the noise of a shared
  // machine.
  constexpr std::uint64_t rounds = 2'000'000;
  const FmaWork work = widest_fma_work();
  std::atomic<bool> exact = true;
  const BestRate best = best_rate(threads * work.flops(rounds), seconds, steady_clock(), [&] {
    return run_together(threads, [&](unsigned) {
      if (work.run(rounds, start, factor, term) != work.expected()) exact = false;
    });
  });
  Ceiling ceiling{"fp32_flop_rate", "cpu", best.rate, "", ""};
  ceiling.method =
      fmt::format("best of {} rounds of {} chains of multiply-adds in {}-bit vectors on {} threads",
                  best.rounds, fma_chains, 8 * work.vector_bytes, threads);
  if (!exact) {
    ceiling.value.reset();
    ceiling.absent = "the multiply-adds gave a wrong sum, so their time says nothing";
  }
  return ceiling;
}

Ceiling measure_memory_bandwidth(unsigned threads, std::size_t array_bytes, double seconds) {
  Ceiling ceiling{"memory_bandwidth", "cpu", std::nullopt, "", ""};
  const std::size_t part = array_bytes / sizeof(float) / threads;  // elements a thread
  const auto bytes = static_cast<double>(part * threads * sizeof(float));
  const Array a(array_bytes);
  const Array b(array_bytes);
  const Array c(array_bytes);
  if (!a || !b || !c) {
    ceiling.absent = fmt::format("the kernel gave no memory for three arrays of {} MiB", array_bytes >> 20);
    return ceiling;
  }
  const auto together = [&](auto work) {
    return [&, work] { return run_together(threads, [&](unsigned member) { work(member * part); }); };
  };
  const Clock& clock = steady_clock();
  const double begin = clock.now();
  together([&](std::size_t at) {
    std::fill_n(a.floats() + at, part, 0.0F);
    std::fill_n(b.floats() + at, part, 1.0F);
    std::fill_n(c.floats() + at, part, 2.0F);
  })();
  const double half = (seconds - (clock.now() - begin)) / 2;  // the first touch of the pages takes its part
  const BestRate copied = best_rate(2 * bytes, half, clock, together([&](std::size_t at) {
                                      std::memcpy(a.floats() + at, b.floats() + at, part * sizeof(float));
                                    }));
  const bool right_copy = a.floats()[part * threads - 1] == 1.0F;
  const BestRate added = best_rate(3 * bytes, half, clock, together([&](std::size_t at) {
                                     triad(a.floats() + at, b.floats() + at, c.floats() + at, part);
                                   }));
  if (!right_copy || a.floats()[0] != 1.0F + factor * 2.0F) {
    ceiling.absent = "the copy or the triad left wrong values, so its time says nothing";
    return ceiling;
  }
  ceiling.value = std::max(copied.rate, added.rate);
  ceiling.method = fmt::format(
      "bytes read and written by the better of copy ({} rounds) and triad ({} rounds) over "
      "arrays of {} MiB on {} threads",
      copied.rounds, added.rounds, array_bytes >> 20, threads);
  return ceiling;
}

std::size_t bandwidth_array_bytes(std::size_t last_level_cache, std::uint64_t usable_memory) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const std::size_t wanted = std::min(std::max(2 * last_level_cache, 64 * mebibyte), 1024 * mebibyte);
  const auto affordable = static_cast<std::size_t>(usable_memory / 8 / 3);
  return std::max(std::min(wanted, affordable), mebibyte) / mebibyte * mebibyte;
}

}  // namespace mprof
