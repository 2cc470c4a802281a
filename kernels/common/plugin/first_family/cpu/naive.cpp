// The definition: each element of C is a sum over a row of A and a column of B. Neighbours in a column lie a
// row apart, so that nearly each read of B needs a cache line of its own.
#include <mprof/variant.hpp>

namespace {

class Product final : public mprof::plugin::HostOp {
 public:
  void forward() override {
    const std::size_t n = task().size("size");
    const float* a = task().input(0);
    const float* b = task().input(1);
    float* c = task().output();
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t column = 0; column < n; ++column) {
        float sum = 0;
        for (std::size_t k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
      }
    }
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "@NAME@", .title = "Three loops, as the definition has them",
        .idea = "A thread, an element of C at a time.", .device = "cpu",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Product>(); })
