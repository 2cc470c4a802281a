// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "model/trace/sqlite.hpp"
#include "model/trace/trace.hpp"

/// What an export of Nsight Systems has beside the tables that a Trace is made of: MPI, OpenMP, OpenACC,
/// metrics of GPUs, networks and storage, page faults. Each table is counted and summed by name and op.
namespace mprof::trace {

/// As a file has it: "mpi"
[[nodiscard]] std::string_view word_of(TallyKind kind);
bool kind_of(std::string_view word, TallyKind& kind);

/// Adds them to an export's trace. Each row belongs to an op that make_program_case() found. An event belongs
/// to the op that its thread or its process had open, a sample of a machine to the op that was opened last.
/// Tables of events that mprof does not know, and unknown columns of known tables, are named
/// (TallyKind::unread).
void read_tallies(const std::filesystem::path& file, Trace& trace);
void read_tallies(const sqlite::Database& database, Trace& trace);

/// The same for samples of GPUs that a trace has as they are: each belongs to the op that was opened last.
void add_sample_tallies(Trace& trace);

/// These, and what the trace's own rows say in the same form: graphs by node, migrations of unified memory,
/// calls of the operating system. Of one case, or of all together. By kind, then the longest first.
[[nodiscard]] std::vector<Tally> tallies_of(const Trace& trace, std::optional<CaseIndex> only = std::nullopt);

}  // namespace mprof::trace
