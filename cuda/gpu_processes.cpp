// SPDX-License-Identifier: MIT
#include "cuda/gpu_processes.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mprof::cuda {
namespace {

/// What a display or a monitor takes now and then.
constexpr double little_use = 0.02;

bool lists(std::span<const GpuProcess> processes, unsigned id) {
  return std::ranges::find(processes, id, &GpuProcess::id) != processes.end();
}

/// Whether one of them must be us, and nobody knows which.
bool hides_us(std::span<const GpuProcess> processes, const OwnProcess& own) {
  return own.has_context && !lists(processes, own.id);
}

/// How many of those that are not ours by their id are ours nevertheless.
std::size_t ours_among_others(std::span<const GpuProcess> processes, const OwnProcess& own) {
  return (hides_us(processes, own) ? 1U : 0U) + (own.has_partner ? 1U : 0U);
}

std::string text_of(const GpuProcess& process) {
  constexpr double gibibyte = 1024.0 * 1024 * 1024;
  std::string text = process.memory
                         ? fmt::format("pid {} ({:.1f} GiB", process.id, *process.memory / gibibyte)
                         : fmt::format("pid {} (memory unknown", process.id);
  if (process.share) text += fmt::format(", {:.0f} % of the multiprocessors", 100 * *process.share);
  return text + ")";
}

}  // namespace

void add_shares(std::vector<GpuProcess>& processes, std::span<const GpuUse> uses) {
  for (GpuProcess& process : processes) {
    double sum = 0;
    std::size_t periods = 0;
    for (const GpuUse& use : uses) {
      if (use.id != process.id || use.id == 0 || use.percent > 100) continue;
      sum += use.percent / 100.0;
      ++periods;
    }
    process.share = periods == 0 ? 0 : sum / static_cast<double>(periods);
  }
}

std::vector<GpuProcess> without_own(std::span<const GpuProcess> processes, const OwnProcess& own) {
  std::vector<GpuProcess> others;
  std::ranges::copy_if(processes, std::back_inserter(others),
                       [&](const GpuProcess& process) { return process.id != own.id; });
  return others;
}

std::size_t count_others(std::span<const GpuProcess> processes, const OwnProcess& own) {
  const std::size_t others = without_own(processes, own).size();
  return others - std::min(others, ours_among_others(processes, own));
}

std::optional<double> share_of_others(std::span<const GpuProcess> processes, const OwnProcess& own) {
  std::vector<double> shares;
  for (const GpuProcess& process : without_own(processes, own)) {
    if (!process.share) return std::nullopt;
    shares.push_back(*process.share);
  }
  std::ranges::sort(shares, std::greater());
  const std::size_t ours = std::min(shares.size(), ours_among_others(processes, own));
  const double sum = std::accumulate(shares.begin() + static_cast<std::ptrdiff_t>(ours), shares.end(), 0.0);
  return std::clamp(sum, 0.0, 1.0);
}

std::string described(std::span<const GpuProcess> processes) {
  std::vector<std::string> texts;
  for (const GpuProcess& process : processes) texts.push_back(text_of(process));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string who_used_the_gpu(std::span<const GpuProcess> processes, const OwnProcess& own) {
  std::vector<GpuProcess> users = without_own(processes, own);
  std::erase_if(users,
                [](const GpuProcess& process) { return !process.share || *process.share <= little_use; });
  const std::size_t ours = ours_among_others(processes, own);
  if (users.size() <= ours) return {};
  if (ours > 0)
    return fmt::format("another process used the GPU: {} did, and only {} of these {} our own",
                       described(users), ours == 1 ? "one" : "two", ours == 1 ? "is" : "are");
  return fmt::format("{} used the GPU: {}", users.size() == 1 ? "another process" : "other processes",
                     described(users));
}

}  // namespace mprof::cuda
