# SPDX-License-Identifier: MIT
"""Vectors for tests/model/rounds_test.cpp, computed with SciPy: python3 statistics.py > statistics.json.

Made with SciPy 1.10.1. The pairs are round medians in seconds; all is reckoned on their logarithms.
"""

import json

import numpy
from scipy import optimize, special, stats

random = numpy.random.default_rng(20261121)


def rounds(count, center, spread):
    return [float(f"{value:.9g}") for value in center * numpy.exp(spread * random.standard_normal(count))]


def welch(before, after):
    a, b = numpy.log(before), numpy.log(after)
    p = stats.ttest_ind(b, a, equal_var=False).pvalue
    from_a, from_b = numpy.var(a, ddof=1) / len(a), numpy.var(b, ddof=1) / len(b)
    dof = (from_a + from_b) ** 2 / (from_a**2 / (len(a) - 1) + from_b**2 / (len(b) - 1))
    difference = numpy.mean(b) - numpy.mean(a)
    low, high = stats.t.interval(0.95, dof, loc=difference, scale=numpy.sqrt(from_a + from_b))
    return {"ratio": numpy.exp(difference), "p": p, "low": numpy.exp(low), "high": numpy.exp(high)}


def next_run(before):
    logs = numpy.log(before)
    scale = numpy.std(logs, ddof=1) * numpy.sqrt(2 / len(logs))
    low, high = stats.t.interval(0.95, len(logs) - 1, loc=numpy.mean(logs), scale=scale)
    return {"low": numpy.exp(low), "high": numpy.exp(high)}


def prior(variances, dof):
    """Smyth (2004), section 6.2, with a root finder in place of his iteration."""
    logs = numpy.log(variances) - special.digamma(numpy.array(dof) / 2) + numpy.log(numpy.array(dof) / 2)
    excess = numpy.var(logs, ddof=1) - numpy.mean(special.polygamma(1, numpy.array(dof) / 2))
    half = optimize.brentq(lambda y: special.polygamma(1, y) - excess, 1e-3, 1e6)
    return {"value": numpy.exp(numpy.mean(logs) + special.digamma(half) - numpy.log(half)), "dof": 2 * half}


pairs = []
for n_before, n_after, change, spread in [(3, 3, 0.03, 0.01), (5, 5, 0.0, 0.01), (5, 5, 0.03, 0.01), (7, 4, -0.2, 0.002),
                                          (10, 10, 0.005, 0.03), (2, 9, 1.0, 0.1)]:
    before, after = rounds(n_before, 1.7e-3, spread), rounds(n_after, 1.7e-3 * (1 + change), spread * 1.5)
    pairs.append({"before": before, "after": after, "welch": welch(before, after), "next_run": next_run(before)})

priors = []
for count, least_dof, most_dof, spread in [(12, 2, 2, 1.5), (40, 4, 4, 1.0), (25, 2, 9, 2.0)]:
    dof = [int(d) for d in random.integers(least_dof, most_dof + 1, count)]
    variances = [float(f"{v:.9g}") for v in 1e-4 * numpy.exp(spread * random.standard_normal(count)) *
                 random.chisquare(dof) / dof]
    priors.append({"variances": variances, "dof": dof, "prior": prior(variances, dof)})

print(json.dumps({"pairs": pairs, "priors": priors}, indent=1))
