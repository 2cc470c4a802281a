// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "system/clock.hpp"

/// What libraries declare, by the processes that load them: no code of a library runs in this one.
namespace mprof {

/// How such a process is started, and ended early.
struct Asking {
  std::vector<std::string> worker_command;
  const Clock& clock;
  int interrupt_fd = -1;  ///< becomes readable when it is to stop; -1: never
  double limit = 0;       ///< s, for it to be loaded and to answer
};

/// What the library of a variant declares, without an id. Throws Error that names the source and says what is
/// wrong with it.
[[nodiscard]] VariantInfo described_variant(const PluginSource& source, const Asking& asking);

/// A family as its library declares it, for code that plans and keeps the record. It computes nothing. It
/// asks for the ops of a problem that is not the family's own when it must know them. `source` says what its
/// id is expected to be, for messages. Throws as described_variant() does.
[[nodiscard]] std::unique_ptr<Family> described_family(const PluginSource& source, const Asking& asking);

/// The same of one that a record describes: `recorded` with its problems.
[[nodiscard]] std::unique_ptr<Family> recorded_family(const PluginSource& source, const FamilyInfo& recorded,
                                                      const Asking& asking);

}  // namespace mprof
