// SPDX-License-Identifier: MIT
#include "cuda/ceiling_timing.hpp"

#include <algorithm>

#include "cuda/handles.hpp"

namespace mprof::cuda {

double shortest(double seconds, const std::function<void()>& work) {
  constexpr int least = 3;
  const Event start;
  const Event stop;
  double best = 0;
  double spent = 0;
  for (int round = -1; round < least || spent < seconds; ++round) {
    start.record();
    work();
    stop.record();
    stop.synchronize();
    const double time = stop.seconds_since(start);
    if (round < 0) continue;
    best = round == 0 ? time : std::min(best, time);
    spent += time;
  }
  return best;
}

}  // namespace mprof::cuda
