// SPDX-License-Identifier: MIT
// All cores, and eight values of one function at a time.
//
// Idea        Rows are dealt out to threads. Within a row, 32 neighbouring columns are four vectors of eight
//             in which the four functions alternate; eight shuffles sort them into one vector a function:
//
//                      l c s t l c s t | ... | ... | ...      as they lie in memory
//                      l l l l l l l l | c c c c c c c c | s ... | t ...
//
//             Then glibc's vector library (libmvec) evaluates each function for eight values with one call,
//             and the square root is one instruction. Eight shuffles sort the results back. Columns that are
//             left over at the end of a row are computed one by one, and so is everything where there is no
//             AVX2 or no such library.
//
// Cost        16 shuffles for 32 elements, whatever the iterations. libmvec promises 4 ulp where the scalar
//             functions are nearly exact; the tolerance allows for that.
//
// The profile should show
//             against cpu_naive, a small part of the instructions, and an op time that is lower by that and
//             by the number of cores. With many cores memory comes into sight: 8 bytes an element.
#include <algorithm>
#include <array>

#if defined(__AVX2__) && defined(__GLIBC__)
#include <immintrin.h>
#endif
#include <gnu/libc-version.h>

#include "kernels/common/parallel.hpp"
#include "kernels/common/threads_parameter.hpp"
#include "kernels/common/vector.hpp"
#include "kernels/elementwise/map/host_map.hpp"

#if defined(__AVX2__) && __GLIBC_PREREQ(2, 35)  // the first that has a tangent
#define MPROF_HAS_VECTOR_FUNCTIONS
// libmvec's names, by the vector function ABI: AVX2, no mask, eight lanes, one vector.
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
mprof::Vec _ZGVdN8v_logf(mprof::Vec);
mprof::Vec _ZGVdN8v_cosf(mprof::Vec);
mprof::Vec _ZGVdN8v_sinf(mprof::Vec);
mprof::Vec _ZGVdN8v_tanf(mprof::Vec);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
#endif

namespace mprof::elementwise {
namespace {

#ifdef MPROF_HAS_VECTOR_FUNCTIONS

constexpr std::size_t group = functions * vector_lanes;  ///< columns that are sorted by function

/// Four vectors: as they lie in a row, or one a function.
using Group = std::array<Vec, functions>;

Group sort_by_function(const Group& row) {
  const Vec log_cos_low = __builtin_shufflevector(row[0], row[1], 0, 4, 8, 12, 1, 5, 9, 13);
  const Vec sin_tan_low = __builtin_shufflevector(row[0], row[1], 2, 6, 10, 14, 3, 7, 11, 15);
  const Vec log_cos_high = __builtin_shufflevector(row[2], row[3], 0, 4, 8, 12, 1, 5, 9, 13);
  const Vec sin_tan_high = __builtin_shufflevector(row[2], row[3], 2, 6, 10, 14, 3, 7, 11, 15);
  return {__builtin_shufflevector(log_cos_low, log_cos_high, 0, 1, 2, 3, 8, 9, 10, 11),
          __builtin_shufflevector(log_cos_low, log_cos_high, 4, 5, 6, 7, 12, 13, 14, 15),
          __builtin_shufflevector(sin_tan_low, sin_tan_high, 0, 1, 2, 3, 8, 9, 10, 11),
          __builtin_shufflevector(sin_tan_low, sin_tan_high, 4, 5, 6, 7, 12, 13, 14, 15)};
}

Group sort_by_column(const Group& sorted) {
  const Vec log_cos_low = __builtin_shufflevector(sorted[0], sorted[1], 0, 1, 2, 3, 8, 9, 10, 11);
  const Vec log_cos_high = __builtin_shufflevector(sorted[0], sorted[1], 4, 5, 6, 7, 12, 13, 14, 15);
  const Vec sin_tan_low = __builtin_shufflevector(sorted[2], sorted[3], 0, 1, 2, 3, 8, 9, 10, 11);
  const Vec sin_tan_high = __builtin_shufflevector(sorted[2], sorted[3], 4, 5, 6, 7, 12, 13, 14, 15);
  return {__builtin_shufflevector(log_cos_low, sin_tan_low, 0, 4, 8, 12, 1, 5, 9, 13),
          __builtin_shufflevector(log_cos_low, sin_tan_low, 2, 6, 10, 14, 3, 7, 11, 15),
          __builtin_shufflevector(log_cos_high, sin_tan_high, 0, 4, 8, 12, 1, 5, 9, 13),
          __builtin_shufflevector(log_cos_high, sin_tan_high, 2, 6, 10, 14, 3, 7, 11, 15)};
}

Vec next(Vec v, Vec f) {
  return v + static_cast<Vec>(_mm256_sqrt_ps(static_cast<__m256>(f + 1.0F)));
}

/// The columns of a row before the last incomplete group; returns how many.
std::size_t transform_groups(const float* in, float* out, std::size_t columns, unsigned iterations) {
  const std::size_t end = columns / group * group;
  for (std::size_t column = 0; column < end; column += group) {
    Group v;
    for (std::size_t i = 0; i < functions; ++i) v[i] = load_vector(in + column + i * vector_lanes);
    v = sort_by_function(v);
    for (unsigned i = 0; i < iterations; ++i) {
      v[0] = next(v[0], _ZGVdN8v_logf(v[0]));
      v[1] = next(v[1], _ZGVdN8v_cosf(v[1]));
      v[2] = next(v[2], _ZGVdN8v_sinf(v[2]));
      v[3] = next(v[3], _ZGVdN8v_tanf(v[3]));
    }
    v = sort_by_column(v);
    for (std::size_t i = 0; i < functions; ++i) store_vector(out + column + i * vector_lanes, v[i]);
  }
  return end;
}

#else

std::size_t transform_groups(const float*, float*, std::size_t, unsigned) {
  return 0;
}

#endif

class CpuThreads final : public HostMap {
 public:
  explicit CpuThreads(std::size_t threads) : threads_(threads) {}

  void forward() override {
    parallel_for(matrix().size, threads_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) transform_row(input(row), output(row));
    });
  }

 private:
  void transform_row(const float* in, float* out) const {
    const Matrix& m = matrix();
    for (std::size_t column = transform_groups(in, out, m.size, m.iterations); column < m.size; ++column) {
      out[column] = transform(column, in[column], m.iterations);
    }
  }

  std::size_t threads_;
};

const Register registered{Declaration{
    .title = "Threads and vectors",
    .idea = "Rows on all cores, columns sorted by function, and glibc's vector library for eight values a "
            "call.",
    .device = "cpu",
    .baseline = "elementwise/cpu_naive",
    .parameters = {threads_parameter("the rows")},
    .expectations = {{.metric = "op_time",
                      .op = "map",
                      .factor = 4,
                      .because = "Eight values a call, on every core; more where there are more than two."},
                     {.metric = "instructions",
                      .factor = 3,
                      .because = "One call evaluates a function for eight values."}},
    .references = {"Vector Function Application Binary Interface Specification for x86-64, "
                   "https://sourceware.org/glibc/wiki/libmvec",
                   "The GNU C Library manual, Errors in Math Functions"},
    .libraries = {{"glibc", [] { return std::string(gnu_get_libc_version()); }}},
    .is_own_work = true,
    .make = [](const Parameters& parameters) { return std::make_unique<CpuThreads>(threads_of(parameters)); },
}};

}  // namespace
}  // namespace mprof::elementwise
