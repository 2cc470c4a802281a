// SPDX-License-Identifier: MIT
#pragma once

#include <cupti_activity.h>

#include "injection/journal_writer.hpp"

namespace mprof::injection {

/// Adds a record, with the texts that it points to, and frees what is its reader's to free. Kinds that a
/// trace has no use for are left out.
void add_record(CUpti_Activity& record, JournalWriter& journal, Chunk& chunk);

}  // namespace mprof::injection
