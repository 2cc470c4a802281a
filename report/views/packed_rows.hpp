// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

/// Rows of large tables in a view. Each cell of a row has eleven named members, which take a kilobyte and a
/// half; packed it takes some fifty bytes. Who lays out a view unpacks a row when its turn comes.
namespace mprof {

/// A row of Table::view() as binary data.
[[nodiscard]] nlohmann::json packed_row(const nlohmann::json& row);

/// The row again.
[[nodiscard]] nlohmann::json unpacked_row(const nlohmann::json& packed);

/// Unpacks all that is packed in a view.
void unpack(nlohmann::json& view);

}  // namespace mprof
