// @NAME@: say here what it does otherwise, what that should cost, and what a profile should show.
//
//   mprof run --source @FILE@          # builds it, verifies it, times it beside its baseline
#include <cmath>

#include <mprof/elementwise.hpp>

namespace {

// v becomes v + sqrt(f(v) + 1), `iterations` times; f depends on the column.
class Map final : public mprof::plugin::elementwise::HostMap {
 public:
  void forward() override {
    const mprof::plugin::elementwise::Matrix& m = matrix();
    for (std::size_t row = 0; row < m.size; ++row) {
      for (std::size_t column = 0; column < m.size; ++column) {
        float v = input(row)[column];
        for (unsigned i = 0; i < m.iterations; ++i) v += std::sqrt(function_of(column, v) + 1.0F);
        output(row)[column] = v;
      }
    }
  }

 private:
  static float function_of(std::size_t column, float v) {
    switch (column % mprof::plugin::elementwise::functions) {
      case 0:
        return std::log(v);
      case 1:
        return std::cos(v);
      case 2:
        return std::sin(v);
      default:
        return std::tan(v);
    }
  }
};

}  // namespace

MPROF_VARIANT(
        .family = "elementwise", .title = "@NAME@", .idea = "One thread, one element at a time.",
        .device = "cpu", .baseline = "elementwise/cpu_naive",
        .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Map>(); })
