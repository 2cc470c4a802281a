// SPDX-License-Identifier: MIT
#include "tests/report/fabricated_world.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"

namespace mprof {
namespace {

constexpr std::size_t pieces = 4;
constexpr double forward = 5e-3, backward = 2e-3, attention = 1e-3, optimizer = 1e-3;
constexpr std::uint64_t message_bytes = 25'000'000;

class Rank {
 public:
  Rank(const FabricatedWorld& world, std::size_t number)
      : nature(world.nature(number)), number_(number), random_(number + 17), jitter_(0, world.jitter) {
    trace.cases.push_back({.id = "program/x", .process = process()});
    trace.processes.push_back({.id = process(),
                               .rank = static_cast<std::uint32_t>(number),
                               .world_size = static_cast<std::uint32_t>(world.ranks)});
    const std::size_t size = world.ranks / world.groups;
    if (world.named_groups)
      message_ = {.group = trace.names.index(fmt::format("group {}", number / size)),
                  .group_size = static_cast<std::uint32_t>(size),
                  .bytes = message_bytes};
  }

  double compute(const char* name, double seconds, std::size_t step) {
    const bool odd = step >= nature.since;
    const bool is_attention = std::string_view(name).starts_with("attention");
    const double factor =
        std::exp(jitter_(random_)) * (odd ? nature.slower * (is_attention ? nature.slower_attention : 1) : 1);
    const double held = odd && ++computed_ % 5 == 0 ? nature.interrupted : 0;
    add(name, now, now + seconds * factor + held, 7, 0, step);
    now += seconds * factor + held;
    return now;
  }

  void reduce(double start, double end, std::size_t step) {
    add("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096>)", start, end, 13,
        trace.messages.index(message_), step);
  }

  /// The GPU has nothing to do.
  void load(std::size_t step) {
    const double start = now;
    if (step >= nature.since) now += nature.host_delay;
    if (step < nature.skipped || now == start) return;
    trace.ranges.push_back(on_host(trace.names.index(":loader"), start));
    if (!nature.with_stack) return;
    for (const char* name : {"torch/nn/modules/module.py(7): call", "train.py(42): load",
                             "torch/utils/data/dataloader.py(9): next"})
      trace.frames.push_back(on_host(trace.names.index(name), start));
  }

  void end_step(double start, std::size_t step) {
    if (step < nature.skipped) return;
    trace.ranges.push_back(on_host(trace.names.index(fmt::format(":step {}", step)), start));
  }

  trace::Trace trace{};
  RankNature nature;
  double now = 0;  ///< s, true time at which its GPU is free

 private:
  [[nodiscard]] std::int64_t process() const {
    return trace::nsys::global_process(static_cast<std::uint32_t>(number_ + 100));
  }
  /// As its own clock shows a true time.
  [[nodiscard]] std::int64_t at(double time) const {
    return std::llround(1e9 * (time * (1 + nature.clock_drift) + nature.clock_offset));
  }
  [[nodiscard]] trace::Range on_host(trace::NameIndex name, double start) const {
    const std::int64_t thread = trace::nsys::global_thread(process(), 1);
    return {.time = {at(start), at(now)}, .thread = thread, .end_thread = thread, .name = name};
  }
  void add(const char* name, double start, double end, std::uint32_t stream, std::uint32_t message,
           std::size_t step) {
    if (step < nature.skipped) return;
    trace.kernels.push_back({.time = {at(start), at(end)},
                             .correlation = ++correlation_,
                             .process = process(),
                             .name = trace.names.index(name),
                             .queue = {0, 1, stream},
                             .message = message});
  }

  std::size_t number_;
  std::mt19937_64 random_;
  std::normal_distribution<double> jitter_;
  trace::Message message_{};
  std::int64_t correlation_ = 0;
  std::size_t computed_ = 0;
};

}  // namespace

std::vector<trace::Trace> fabricate(const FabricatedWorld& world) {
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < world.ranks; ++r) ranks.emplace_back(world, r);
  const std::size_t size = world.ranks / world.groups;
  std::vector<double> free(world.groups, 0), begins(world.ranks);
  const auto reduce_in = [&](std::size_t group, const std::vector<double>& ready, std::size_t step) {
    double last = free[group];
    for (std::size_t i = 0; i < size; ++i) last = std::max(last, ready[group * size + i]);
    const double end = last + world.transfer;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t r = group * size + i;
      ranks[r].reduce(std::max(ready[r], free[group]), end, step);
    }
    return free[group] = end;
  };
  for (std::size_t step = 0; step < world.steps; ++step) {
    for (std::size_t r = 0; r < world.ranks; ++r) {
      begins[r] = ranks[r].now;
      ranks[r].load(step);
      ranks[r].compute("attention(float*)", attention, step);
      ranks[r].compute("forward(float*)", forward - attention, step);
    }
    std::vector<double> ends(world.groups);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      std::vector<double> ready;
      for (Rank& rank : ranks) ready.push_back(rank.compute("backward(float*)", backward, step));
      for (std::size_t g = 0; g < world.groups; ++g) ends[g] = reduce_in(g, ready, step);
    }
    for (std::size_t r = 0; r < world.ranks; ++r) {
      ranks[r].now = std::max(ranks[r].now, ends[r / size]);
      ranks[r].compute("optimizer(float*)", optimizer, step);
      ranks[r].end_step(begins[r], step);
    }
  }
  std::vector<trace::Trace> traces;
  for (Rank& rank : ranks) traces.push_back(std::move(rank.trace));
  return traces;
}

}  // namespace mprof
