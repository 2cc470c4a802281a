// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "report/trace/profile_tables.hpp"

/// Tables of a trace as what `mprof stats` prints.
namespace mprof {

/// Of a cell, for people: thousands grouped; "" when there is nothing.
[[nodiscard]] std::string cell_text(const ProfileCell& cell, const ProfileColumn& column);

/// Prints one table after the other, bit by bit: their text may be larger than memory. `format` is "table":
/// aligned text with titles; "csv": a header with units and the rows, an empty line between two tables; or
/// "json": { schema, tables: { report: [ { column: value } ] } }. Throws Error(usage) for any other.
class ProfilePrinter {
 public:
  ProfilePrinter(std::string_view format, std::function<void(std::string_view)> write);
  void add(const ProfileTable& table);
  void end();

 private:
  std::string format_;
  std::function<void(std::string_view)> write_;
  bool is_first_ = true;
};

/// All that a ProfilePrinter prints.
[[nodiscard]] std::string render_profile(std::span<const ProfileTable> tables, std::string_view format);

/// Throws Error(usage) when there is no such format.
void require_profile_format(std::string_view format);

}  // namespace mprof
