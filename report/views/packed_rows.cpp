// SPDX-License-Identifier: MIT
#include "report/views/packed_rows.hpp"

#include <array>
#include <cstddef>

namespace mprof {
namespace {

using nlohmann::json;

/// The members of a cell, in the order in which their values are packed.
constexpr std::array packed_members{"text", "pad",    "detail", "mark",  "absent", "modelled",
                                    "best", "repeat", "link",   "value", "class"};

}  // namespace

json packed_row(const json& row) {
  json values = json::array();
  for (const json& cell : row["cells"]) {
    for (const char* const member : packed_members) values.push_back(cell[member]);
  }
  return json::binary(json::to_cbor(values));
}

json unpacked_row(const json& packed) {
  json values = json::from_cbor(packed.get_binary()), cells = json::array();
  for (std::size_t i = 0; i < values.size(); i += packed_members.size()) {
    json& cell = cells.emplace_back(json::object());
    for (std::size_t k = 0; k < packed_members.size(); ++k)
      cell[packed_members.at(k)] = std::move(values[i + k]);
  }
  return {{"cells", std::move(cells)}};
}

void unpack(json& view) {
  if (view.is_binary()) view = unpacked_row(view);
  if (!view.is_structured()) return;
  for (json& member : view) unpack(member);
}

}  // namespace mprof
