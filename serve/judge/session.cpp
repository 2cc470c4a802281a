// SPDX-License-Identifier: MIT
#include "serve/judge/session.hpp"

#include <array>

#include "model/derive/derive.hpp"

namespace mprof {

Session judged_session(const SessionArms& arms) {
  std::array<Run, 3> runs{arms[0].run, arms[1].run, arms[2].run};
  for (Run& run : runs) derive_variation(run);
  return judge_session(runs[0].cases.at(0), runs[1].cases.at(0), runs[2].cases.at(0));
}

}  // namespace mprof
