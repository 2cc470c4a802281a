// SPDX-License-Identifier: MIT
#include "model/trace/op_name.hpp"

#include <cctype>

namespace mprof::trace {

std::string without_numbers(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) text += c;
    if (digit && !text.ends_with('#')) text += '#';
  }
  return text;
}

std::string_view without_operation_ids(std::string_view name) {
  for (const std::string_view mark : {", seq = ", ", op_id = ", ", sizes = "})
    name = name.substr(0, name.find(mark));
  return name;
}

}  // namespace mprof::trace
