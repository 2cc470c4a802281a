#include "kernels/common/op.hpp"

#include "kernels/common/poison.hpp"

namespace mprof {

void run_stages(std::string_view name, Op& op, const std::function<void()>& prepare, std::span<float> output,
                bool poisoned, StageObserver& observer) {
  if (poisoned) poison(output);
  observer.stage(name, Stage::prepare, prepare);
  if (poisoned) op.poison_output(poison_pattern);
  observer.stage(name, Stage::forward, [&] { op.forward(); });
  observer.stage(name, Stage::finish, [&] { op.finish(); });
}

}  // namespace mprof
