// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "model/trace/trace.hpp"

/// trace.sqlite: the traces of all cases of a run in the schema that Nsight Systems exports, so that SQL
/// written for its exports works. Differences that such SQL does not notice: one file holds many cases, so
/// correlation ids are renumbered to be unique in it; times count from the first case's start
/// (TARGET_INFO_SESSION_START_TIME). What Nsight Systems does not know is in tables MPROF_...
namespace mprof::trace {

/// Adds the trace of its one case, in place of an older one of that case, in one transaction: killed at any
/// moment, the file has all of it or nothing. Throws Error(environment) when the file cannot be written.
void write_trace(const std::filesystem::path& file, const Trace& trace);

/// Undoes what a killed mprof left half done in its own file, if there is one: who only reads does not.
/// Throws Error(usage) when what lies beside the file is not of mprof.
void recover_trace(const std::filesystem::path& file);

/// The trace of its one case as a file of its own, whose times begin at 0, without the tables that Nsight
/// Systems does not know; in place of an older one. Throws like write_trace().
void write_export(const std::filesystem::path& file, const Trace& trace);

}  // namespace mprof::trace
