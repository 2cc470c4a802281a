// SPDX-License-Identifier: MIT
#include "model/trace/stored_payloads.hpp"

#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include "model/trace/table.hpp"

namespace mprof::trace::tables {
namespace {

constexpr std::size_t largest_event = 4096;  // B; NCCL's have some sixty
constexpr std::size_t most_fields = 100'000;

/// Stands before the bytes of a payload in NVTX_EVENTS.binaryData.
struct Head {
  std::uint64_t domain = 0;
  std::uint64_t schema = 0;
  std::uint64_t size = 0;   ///< B, of the payload
  std::uint64_t whole = 0;  ///< B, with this head
};

std::optional<Head> head_of(const std::string& data) {
  Head head;
  if (data.size() < sizeof head || data.size() > largest_event) return std::nullopt;
  std::memcpy(&head, data.data(), sizeof head);
  return head.whole == data.size() && head.size == data.size() - sizeof head ? std::optional(head)
                                                                             : std::nullopt;
}

/// Bytes may be written as text, two digits each.
std::string from_digits(const std::string& data) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string bytes;
  if (data.size() % 2 != 0 || data.size() > 2 * largest_event) return bytes;
  for (std::size_t i = 0; i < data.size(); i += 2) {
    const auto digit = [&](char c) {
      return digits.find(static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
    };
    const std::size_t high = digit(data[i]), low = digit(data[i + 1]);
    if (high == digits.npos || low == digits.npos) return {};
    bytes += static_cast<char>(high * digits.size() + low);
  }
  return bytes;
}

}  // namespace

StoredPayloads::StoredPayloads(const sqlite::Database& database, StoredStrings& strings) : strings_(strings) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, PayloadField>
      fields;  // by the last one's place
  Rows<PayloadEntry> entries(database, payload_entries, strings);
  while (auto entry = entries.next()) {
    entries.finish(*entry);
    if (fields.size() >= most_fields) break;
    fields[{entry->schema, entry->domain, entry->place}] = std::move(entry->of);
  }
  for (auto& [key, field] : fields) {
    const auto& [id, domain, place] = key;
    schemas_[{id, domain}].fields.push_back(std::move(field));
  }
}

const PayloadSchema* StoredPayloads::schema(std::int64_t id, std::int64_t domain) const {
  auto found = schemas_.find({id, domain});
  // Domains are numbered within a process.
  if (found == schemas_.end()) found = schemas_.lower_bound({id, std::numeric_limits<std::int64_t>::min()});
  return found != schemas_.end() && found->first.first == id ? &found->second : nullptr;
}

std::string StoredPayloads::json_of(const NvtxEvent& event) {
  if (event.payload) return *event.payload;
  if (event.payload_string) return strings_.text(*event.payload_string);
  if (!event.data || schemas_.empty()) return {};
  std::string data = *event.data;
  std::optional<Head> head = head_of(data);
  if (!head) {
    data = from_digits(data);
    head = head_of(data);
  }
  if (!head) return {};
  const PayloadSchema* const found = schema(static_cast<std::int64_t>(head->schema), event.domain);
  return found == nullptr ? std::string() : payload_json(*found, std::string_view(data).substr(sizeof *head));
}

}  // namespace mprof::trace::tables
