// SPDX-License-Identifier: MIT
#include "model/trace/nvtx_payload.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

#include <nlohmann/json.hpp>

namespace mprof::trace {
namespace {

using Json = nlohmann::ordered_json;

enum class Number : std::uint8_t { none, with_sign, without_sign, real };

struct TypeOf {
  std::size_t size = 0;  ///< B; 0: not known
  Number number = Number::none;
};

/// As NVTX numbers its types, on a machine of 64 bits.
TypeOf type_of(std::uint64_t type) {
  using enum Number;
  switch (type) {
    case 1:   // char
    case 11:  // int8_t
      return {1, with_sign};
    case 2:   // unsigned char
    case 12:  // uint8_t
    case 32:  // byte
      return {1, without_sign};
    case 3:   // short
    case 13:  // int16_t
      return {2, with_sign};
    case 4:   // unsigned short
    case 14:  // uint16_t
      return {2, without_sign};
    case 5:   // int
    case 15:  // int32_t
      return {4, with_sign};
    case 6:   // unsigned
    case 16:  // uint32_t
      return {4, without_sign};
    case 7:   // long
    case 9:   // long long
    case 17:  // int64_t
      return {8, with_sign};
    case 8:   // unsigned long
    case 10:  // unsigned long long
    case 18:  // uint64_t
    case 22:  // size_t
    case 23:  // an address
      return {8, without_sign};
    case 19:  // float
    case 43:
      return {4, real};
    case 20:  // double
    case 44:
      return {8, real};
    default:
      return {};
  }
}

template <class Value>
Value value_at(std::string_view bytes, std::size_t at) {
  Value value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

Json with_sign_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (size == 1) return value_at<std::int8_t>(bytes, at);
  if (size == 2) return value_at<std::int16_t>(bytes, at);
  if (size == 4) return value_at<std::int32_t>(bytes, at);
  return value_at<std::int64_t>(bytes, at);
}

Json without_sign_at(std::string_view bytes, std::size_t at, std::size_t size) {
  if (size == 1) return value_at<std::uint8_t>(bytes, at);
  if (size == 2) return value_at<std::uint16_t>(bytes, at);
  if (size == 4) return value_at<std::uint32_t>(bytes, at);
  return value_at<std::uint64_t>(bytes, at);
}

Json number_at(std::string_view bytes, std::size_t at, const TypeOf& type) {
  if (type.number == Number::with_sign) return with_sign_at(bytes, at, type.size);
  if (type.number == Number::without_sign) return without_sign_at(bytes, at, type.size);
  const double value = type.size == 4 ? double{value_at<float>(bytes, at)} : value_at<double>(bytes, at);
  return std::isfinite(value) ? Json(value) : Json();
}

}  // namespace

std::string payload_json(const PayloadSchema& schema, std::string_view bytes) {
  constexpr std::uint64_t pointer = 1U << 1U, relative = (1U << 2U) | (1U << 3U), arrays = 7U << 4U;
  Json values = Json::object();
  std::uint64_t next = 0;  // B, behind the field before
  bool is_next_known = true;
  for (const PayloadField& field : schema.fields) {
    const TypeOf type = type_of(field.type);
    const bool is_plain = type.size > 0 && (field.flags & (pointer | relative | arrays)) == 0;
    if (field.offset == 0 && !is_next_known) break;
    const std::uint64_t aligned = type.size > 0 ? (next + type.size - 1) / type.size * type.size : next;
    const std::uint64_t at = field.offset != 0 ? field.offset : aligned;
    is_next_known = is_plain;
    if (!is_plain) continue;
    if (at > bytes.size() || bytes.size() - at < type.size) {
      is_next_known = false;
      continue;
    }
    next = at + type.size;
    if (!field.name.empty()) values[field.name] = number_at(bytes, static_cast<std::size_t>(at), type);
  }
  return values.empty() ? "" : values.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mprof::trace
