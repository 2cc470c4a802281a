// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"
#include "system/clock.hpp"

namespace mprof {

class Process;

/// Of a machine whose devices are surveyed one by one, the host needs it only once.
enum class Surveyed { all, host, devices };

/// Whether the environment leaves the ceilings in: MPROF_NO_PEAKS is not set there.
[[nodiscard]] bool wants_peaks();

/// Has a worker look at the machine and measure its ceilings, for the run's record, beside what that has
/// already; what it could not find out is absent there. With MPROF_NO_PEAKS in the environment no ceiling is
/// measured. False, and the run as it was, when `interrupt_fd` became readable meanwhile.
[[nodiscard]] bool survey_machine(Run& run, const std::vector<std::string>& worker_command,
                                  const Clock& clock, int interrupt_fd, Surveyed what = Surveyed::all);

/// The same for another build, whose workers must be able to take turns. Throws Error(environment) where it
/// does not answer as such a build does.
[[nodiscard]] bool survey_for_turns(Run& run, const std::vector<std::string>& worker_command,
                                    const Clock& clock, int interrupt_fd);

/// "SENTENCE. Its last words: ..." where it had any.
[[nodiscard]] std::string with_last_words(const std::string& sentence, Process& worker);

}  // namespace mprof
