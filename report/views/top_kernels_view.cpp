// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/views/cells.hpp"
#include "report/views/variant_parts.hpp"
#include "report/wording/kernels.hpp"

/// The kernels in which a program's GPU time went, with what hardware counted of them.
namespace mprof {
namespace {

constexpr std::size_t most_top_kernels = 8;
constexpr std::size_t longest_top_name = 40;
constexpr const char* not_traced = "no trace says it";

/// A kernel of an op in the traced execution; of those that were counted alone, what is known so.
struct TopKernel {
  std::string op;
  std::string name;
  double time = 0;      ///< s, of all its launches
  double launches = 0;  ///< 0: unknown
  /// Of the time in which any kernel of the op ran; of the sum of their times where they ran beside each
  /// other.
  std::optional<double> share{};
};

std::vector<TopKernel> traced_kernels(const CaseResult& result) {
  const PassResult* const trace = find_pass(*result.source, Pass::trace);
  std::vector<TopKernel> kernels;
  if (trace == nullptr) return kernels;
  std::map<std::pair<std::string_view, std::string_view>, double> launches;  // by op and kernel
  std::map<std::string_view, double> busy, sums;                             // s, by op
  for (const Measurement& m : trace->measurements) {
    if (m.samples.empty()) continue;
    if (m.metric == "gpu_time" && m.kernel.empty()) busy.emplace(m.op, m.samples.front());
    if (m.kernel.empty()) continue;
    if (m.metric == "kernel_time") sums[m.op] += m.samples.front();
    if (m.metric == "kernel_instances") launches.emplace(std::pair(m.op, m.kernel), m.samples.front());
  }
  for (const Measurement& m : trace->measurements) {
    if (m.metric != "kernel_time" || m.kernel.empty() || m.samples.empty()) continue;
    const auto counted = launches.find({m.op, m.kernel});
    // On several GPUs or streams kernels run beside each other: their sum is longer than the op's GPU time.
    const double all = busy.contains(m.op) ? std::max(sums.at(m.op), busy.at(m.op)) : 0;
    kernels.push_back({.op = m.op,
                       .name = m.kernel,
                       .time = m.samples.front(),
                       .launches = counted == launches.end() ? 0 : counted->second,
                       .share = all > 0 ? std::optional(m.samples.front() / all) : std::nullopt});
  }
  return kernels;
}

/// Those of a case, the longest first.
std::vector<TopKernel> kernels_by_time(const FamilyResult& family, const CaseResult& result) {
  std::vector<TopKernel> kernels = traced_kernels(result);
  if (kernels.empty()) {
    for (const KernelResult& one : family.speed_of_light.kernels) {
      if (one.result == &result && one.counters.time() > 0)
        kernels.push_back({.op = one.counters.op,
                           .name = one.counters.kernel,
                           .time = one.counters.time(),
                           .launches = one.counters.launches.value_or(0),
                           .share = one.share});
    }
  }
  std::ranges::stable_sort(kernels, std::ranges::greater{}, &TopKernel::time);
  return kernels;
}

/// What a trace tells.
std::vector<Cell> traced_cells(const TopKernel& kernel) {
  return {
      Cell::words(format::elide(format::one_line(kernel.name), longest_top_name)), Cell::words(kernel.op),
      kernel.launches > 0
          ? Cell::figure(format::count(static_cast<std::uint64_t>(kernel.launches))).valued(kernel.launches)
          : Cell::missing(not_traced),
      Cell::bare(derived_value(kernel.time)),
      kernel.share ? Cell::figure(format::percent(*kernel.share)).valued(*kernel.share)
                   : Cell::missing(not_traced)};
}

/// nullptr where it was not counted.
const KernelResult* counted_of(const FamilyResult& family, const CaseResult& result,
                               const TopKernel& kernel) {
  const auto found = std::ranges::find_if(family.speed_of_light.kernels, [&](const KernelResult& one) {
    return one.result == &result && one.counters.op == kernel.op && one.counters.kernel == kernel.name;
  });
  return found == family.speed_of_light.kernels.end() ? nullptr : &*found;
}

}  // namespace

nlohmann::json top_kernels_view(const FamilyResult& family, const VariantResult& variant, Anchors& anchors) {
  if (!variant.info.is_program() && !variant.info.is_imported()) return false;
  for (auto result = variant.cases.rbegin(); result != variant.cases.rend(); ++result) {
    const std::vector<TopKernel> kernels = kernels_by_time(family, *result);
    if (kernels.empty()) continue;
    const std::size_t shown = std::min(kernels.size(), most_top_kernels);
    const std::string which = kernels.size() < most_top_kernels
                                  ? "Its kernels, the longest first,"
                                  : fmt::format("The {} kernels that take the longest", shown);
    Table table(anchors.make(variant.info.id + " kernels"),
                fmt::format("{} {}", which, family.words.at(result->key.problem)));
    table.text("Kernel").text("Op").numbers("Launches").numbers("Time", Unit::second);
    table.numbers("Share of the op");
    std::vector<const KernelResult*> counted;
    for (std::size_t i = 0; i < shown; ++i) counted.push_back(counted_of(family, *result, kernels[i]));
    const bool are_counted =
        std::ranges::any_of(counted, [](const KernelResult* one) { return one != nullptr; });
    if (are_counted) add_counted_columns(table);
    for (std::size_t i = 0; i < shown; ++i) {
      std::vector<Cell> cells = traced_cells(kernels[i]);
      if (are_counted) add_counted(cells, counted[i]);
      table.row(std::move(cells));
    }
    return table.view();
  }
  return false;
}

}  // namespace mprof
