// SPDX-License-Identifier: MIT
#include "report/analysis/kernels/slower_kernels.hpp"

#include <algorithm>

namespace mprof {
namespace {

/// The factor below which kernels take such a share of the time.
double factor_at(std::vector<SlowerKernel> kernels, double share) {
  std::ranges::sort(kernels, {}, &SlowerKernel::factor);
  double all = 0, until = 0;
  for (const SlowerKernel& kernel : kernels) all += kernel.time;
  for (const SlowerKernel& kernel : kernels) {
    until += kernel.time;
    if (until >= share * all) return kernel.factor;
  }
  return 1;
}

}  // namespace

double excess_of_mean(double mean, double median) {
  return std::max(mean - median, 0.0);
}

std::optional<Slowness> slowness_of(const std::vector<SlowerKernel>& kernels, double more) {
  constexpr double low = 0.1, middle = 0.5, noticeable = 1.01;
  if (kernels.empty()) return std::nullopt;
  double by_some = 0, by_all = 0;
  for (const SlowerKernel& kernel : kernels) {
    by_some += kernel.more_by_some;
    by_all += kernel.more;
  }
  if (2 * by_some >= more) return Slowness{.of = Slowness::Of::some_launches};
  const double least = factor_at(kernels, low), half = factor_at(kernels, middle);
  if (2 * by_all >= more && half > noticeable && least - 1 >= (half - 1) / 2)
    return Slowness{.of = Slowness::Of::all_kernels, .factor = half};
  const SlowerKernel& slowest = *std::ranges::max_element(kernels, {}, &SlowerKernel::more);
  if (2 * slowest.more >= more)
    return Slowness{.of = Slowness::Of::one_kernel, .factor = slowest.factor, .kernel = slowest.name};
  return std::nullopt;
}

}  // namespace mprof
