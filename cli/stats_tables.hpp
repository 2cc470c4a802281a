// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/reader.hpp"
#include "report/trace/profile_tables.hpp"

namespace mprof::cli {

/// Reads what each table needs when its turn comes: all of a large trace together takes too much memory. Says
/// on standard error how many records are in no table.
void print_reports(const std::vector<const ProfileReport*>& reports, const std::string& format,
                   trace::TraceFile& file, const std::function<void(std::string_view)>& write);

}  // namespace mprof::cli
