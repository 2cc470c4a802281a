// The family @NAME@: what is computed, on what, how much work that is, and what is right. Each other source
// in this folder is a variant: one way to compute it.
//
//   mprof run --source @FOLDER@          # builds, verifies and times all of them
#include <mprof/family.hpp>

namespace {

using namespace mprof::plugin;

// C = A B of square matrices in row-major order. An item, which must be right by itself, is a row of C; it
// needs the same row of A, and all of B.
std::vector<OpDefinition> ops(const Sizes& problem) {
  const std::size_t n = problem.size("size");
  return {{.name = "product",
           .title = "C = A B of " + std::to_string(n) + " x " + std::to_string(n) + " elements",
           .inputs = {{.name = "A", .elements = n}, {.name = "B", .elements = n * n, .is_shared = true}},
           .blocks = n,
           .item_elements = n,
           .tolerance = 1e-5,
           .flops = 2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n)}};
}

// One row of C, in double precision by the definition.
void reference(const Task& task, const Asked& asked, std::span<double> row) {
  const std::size_t n = task.size("size");
  const float* a = task.input(0) + asked.block * n;
  const float* b = task.input(1);
  for (double& value : row) value = 0;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t column = 0; column < n; ++column)
      row[column] += static_cast<double>(a[k]) * static_cast<double>(b[k * n + column]);
  }
}

}  // namespace

MPROF_FAMILY(.name = "@NAME@", .title = "Product of two square matrices", .item = "row", .whole = "product",
             .axes = {{.name = "size",
                       .meaning = "rows and columns of a matrix",
                       .default_value = 1024,
                       .max = 16384}},
             .problems = {{512}, {1024}}, .quick_problems = {{128}, {256}}, .ops = ops,
             .reference = reference)
