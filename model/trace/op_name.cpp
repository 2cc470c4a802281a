// SPDX-License-Identifier: MIT
#include "model/trace/op_name.hpp"

#include <cctype>
#include <charconv>
#include <system_error>

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

std::optional<std::uint64_t> sequence_number(std::string_view name) {
  constexpr std::string_view mark = ", seq = ";
  const std::size_t at = name.find(mark);
  if (at == name.npos) return std::nullopt;
  std::uint64_t number = 0;
  const char* const begin = name.data() + at + mark.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), number);
  return error == std::errc() && end != begin ? std::optional(number) : std::nullopt;
}

bool is_backward_pass(std::string_view name) {
  return name.starts_with("autograd::engine::evaluate_function");
}

}  // namespace mprof::trace
