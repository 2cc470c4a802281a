// SPDX-License-Identifier: MIT
#include "cuda/gpu_processes.hpp"

#include <algorithm>
#include <iterator>

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
  return hides_us(processes, own) && others > 0 ? others - 1 : others;
}

std::optional<double> share_of_others(std::span<const GpuProcess> processes, const OwnProcess& own) {
  double sum = 0, most = 0;
  for (const GpuProcess& process : without_own(processes, own)) {
    if (!process.share) return std::nullopt;
    sum += *process.share;
    most = std::max(most, *process.share);
  }
  return std::clamp(hides_us(processes, own) ? sum - most : sum, 0.0, 1.0);
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
  if (hides_us(processes, own)) {
    if (users.size() < 2) return {};
    return fmt::format("another process used the GPU: {} did, and only one of these is our own",
                       described(users));
  }
  if (users.empty()) return {};
  return fmt::format("{} used the GPU: {}", users.size() == 1 ? "another process" : "other processes",
                     described(users));
}

}  // namespace mprof::cuda
