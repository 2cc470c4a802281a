// SPDX-License-Identifier: MIT
#pragma once

#include <span>

/// How much a time varies from one process to the next, learnt from few rounds. The variances of all cases
/// together say what one of them alone cannot (an empirical Bayes estimate).
///
/// G. K. Smyth, Linear models and empirical Bayes methods for assessing differential expression in microarray
/// experiments, Statistical Applications in Genetics and Molecular Biology 3 (2004), article 3.
namespace mprof {

/// A variance, and the degrees of freedom that it is known with.
struct Variance {
  double value = 0;
  double dof = 0;  ///< may be infinite
  bool operator==(const Variance&) const = default;
};

/// Where the variances of many cases lie: a scaled inverse chi-square distribution around `value`, the
/// narrower the more degrees of freedom it has; infinite: all cases vary alike.
struct VariancePrior {
  double value = 0;
  double dof = 0;
  double known_with = 0;  ///< degrees of freedom of all cases together: no variance is known better than that
  bool operator==(const VariancePrior&) const = default;
};

/// Of the logarithms of positive values, so that it is one of relative differences; 0 degrees of freedom
/// below two values.
[[nodiscard]] Variance variance_of_logs(std::span<const double> values);

/// The mean of such logarithms, as a value again: the geometric mean. `values` must not be empty.
[[nodiscard]] double geometric_mean(std::span<const double> values);

/// Fitted to at least three cases of at least one degree of freedom; of fewer, `fallback`.
[[nodiscard]] VariancePrior variance_prior(std::span<const Variance> cases, const VariancePrior& fallback);

/// A case's own variance, drawn towards the prior as far as it is less well known than that.
[[nodiscard]] Variance moderated(const Variance& own, const VariancePrior& prior);

}  // namespace mprof
