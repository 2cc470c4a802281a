// The loops in another order: the innermost one runs along rows of B and C, where neighbours share cache
// lines and vector registers.
#include <algorithm>

#include <mprof/variant.hpp>

namespace {

class Product final : public mprof::plugin::HostOp {
 public:
  void forward() override {
    const std::size_t n = task().size("size");
    const float* a = task().input(0);
    const float* b = task().input(1);
    float* c = task().output();
    std::fill(c, c + n * n, 0.0F);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t column = 0; column < n; ++column)
          c[row * n + column] += a[row * n + k] * b[k * n + column];
      }
    }
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "@NAME@", .title = "Loops along rows",
        .idea =
            "The innermost loop runs along rows of B and C, so that it reads and writes whole cache lines.",
        .device = "cpu", .baseline = "@NAME@/naive",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Product>(); })
