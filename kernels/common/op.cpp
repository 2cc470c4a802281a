// SPDX-License-Identifier: MIT
#include "kernels/common/op.hpp"

#include "kernels/common/poison.hpp"

namespace mprof {

void run_stages(std::string_view name, Op& op, const std::function<void()>& prepare, std::span<float> output,
                StageObserver& observer) {
  const std::function<void()> nothing;
  observer.aside([&] { poison(output); });
  observer.stage(name, Stage::prepare, prepare, nothing);
  observer.stage(
      name, Stage::forward, [&] { op.forward(); }, [&] { op.poison_output(poison_pattern); });
  observer.stage(
      name, Stage::finish, [&] { op.finish(); }, nothing);
}

}  // namespace mprof
