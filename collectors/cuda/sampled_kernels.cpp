// SPDX-License-Identifier: MIT
#include "collectors/cuda/sampled_kernels.hpp"

#include <algorithm>
#include <functional>

#include "model/kernel_name.hpp"

namespace mprof {
namespace {

/// A line with a smaller share of its kernel's samples is not told apart.
constexpr double least_share = 0.01;

/// The most sampled lines of a kernel, and behind them the others together.
std::vector<SourceLine> most_sampled(const SampledKernel& kernel) {
  std::vector<SourceLine> lines;
  SourceLine others;
  for (const auto& [place, line] : kernel.lines) {
    const bool is_hot = !place.file.empty() && static_cast<double>(line.samples) >=
                                                   least_share * static_cast<double>(kernel.samples);
    if (is_hot) {
      lines.push_back(line);
      continue;
    }
    others.samples += line.samples;
    for (const auto& [reason, samples] : line.stalls) others.stalls[reason] += samples;
  }
  std::ranges::stable_sort(lines, std::greater{}, &SourceLine::samples);
  if (others.samples > 0) lines.push_back(std::move(others));
  return lines;
}

}  // namespace

void SampledKernel::add(const cuda::SourcePlace& place, const std::map<std::string, std::uint64_t>& stalls) {
  SourceLine& line = lines[place];
  line.file = place.file;
  line.line = place.line;
  for (const auto& [reason, count] : stalls) {
    line.stalls[reason] += count;
    line.samples += count;
    samples += count;
  }
}

std::vector<std::pair<std::string, const SampledKernel*>> named(const SampledKernels& kernels) {
  std::vector<std::string> symbols;
  for (const auto& [symbol, kernel] : kernels) symbols.push_back(symbol);
  const std::vector<std::string> names = distinct_kernel_names(symbols);
  std::vector<std::pair<std::string, const SampledKernel*>> all;
  for (std::size_t i = 0; i < names.size(); ++i) all.emplace_back(names[i], &kernels.at(symbols[i]));
  return all;
}

void add_most_sampled(const SampledKernels& kernels, const std::string& op, std::vector<SourceLine>& all) {
  for (const auto& [name, kernel] : named(kernels)) {
    for (SourceLine& line : most_sampled(*kernel)) {
      line.op = op;
      line.kernel = name;
      all.push_back(std::move(line));
    }
  }
}

}  // namespace mprof
