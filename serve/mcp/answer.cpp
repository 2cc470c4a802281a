// SPDX-License-Identifier: MIT
#include "serve/mcp/answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "model/compact_json.hpp"
#include "report/text/format.hpp"
#include "system/numbers.hpp"
#include "system/text_hash.hpp"

namespace mprof::mcp {
namespace {

constexpr std::size_t longest_reason = 320;
constexpr std::size_t longest_plain = 200;
constexpr std::size_t most_absent = 8, most_next = 6;

bool are_plain(const Json& arguments) {
  return std::ranges::all_of(arguments, [](const Json& value) {
    if (value.is_array()) return are_plain(value);
    return !value.is_string() || is_plain(value.get_ref<const std::string&>());
  });
}

/// Text of records may make the rest of an answer long too. The last of what matters least goes first.
Json fitted(Json document, std::size_t bytes) {
  for (const char* member : {"absent", "next", "rows"}) {
    while (size_of(document) > bytes && !document[member].empty())
      document[member].erase(document[member].size() - 1);
  }
  return document;
}

[[noreturn]] void refuse_cursor() {
  throw Trouble("bad_argument", "No answer gave this cursor.",
                "Take next_cursor of the answer before, or leave cursor out.");
}

}  // namespace

std::size_t size_of(const Json& document) {
  return json::compact(document).size();
}

Json Trouble::document() const {
  return {
      {"code", code_}, {"text", foreign(what(), longest_reason * 4)}, {"how", foreign(how_, longest_reason)}};
}

Page page_of(const Json& arguments, std::size_t bytes) {
  Page page{.bytes = bytes};
  page.limit = arguments.value("limit", page.limit);
  page.bytes = arguments.value("max_bytes", page.bytes);
  const std::string cursor = arguments.value("cursor", "");
  if (cursor.empty()) return page;
  const auto first = parse_as<std::size_t>(cursor);
  if (!first || *first == 0) refuse_cursor();
  page.first = *first;
  return page;
}

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == 0) return 0;
  const double digits = 3 - std::floor(std::log10(std::abs(value)));
  // By text: a product with a power of ten leaves a tail of digits.
  const std::string text = fmt::format("{:.3e}", value);
  const double rounded = std::stod(text);
  constexpr double largest_whole = 1e15;
  if (digits <= 3 && rounded == std::floor(rounded) && std::abs(rounded) < largest_whole)
    return static_cast<std::int64_t>(rounded);
  return rounded;
}

std::string foreign(std::string_view text, std::size_t most) {
  const std::string line = format::one_line(text);
  if (format::width(line) <= most) return line;
  std::size_t end = 0, seen = 0;
  while (end < line.size() && seen < most) {
    ++end;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) ++end;
    ++seen;
  }
  return line.substr(0, end) + "…";
}

bool is_plain(std::string_view name) {
  constexpr std::string_view signs = "_./@=,[]:+-*%#";
  const auto is_letter = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= longest_plain && std::ranges::all_of(name, is_letter);
}

std::string key_of(std::string_view kind, std::string_view name) {
  return is_plain(name) ? std::string(name) : fmt::format("{}-{:016x}", kind, text_hash(name));
}

Answer::Answer(std::string tool, Json arguments) : tool_(std::move(tool)), arguments_(std::move(arguments)) {}

void Answer::lack(std::string_view what, std::string_view why, std::string_view how) {
  Json row{{"what", foreign(what)}, {"why", foreign(why, longest_reason)}, {"how", foreign(how)}};
  if (absent_.size() < most_absent && std::ranges::find(absent_, row) == absent_.end())
    absent_.push_back(std::move(row));
}

void Answer::lead_on(std::string_view tool, Json arguments) {
  if (next_.size() < most_next && are_plain(arguments))
    next_.push_back({{"tool", tool}, {"arguments", std::move(arguments)}});
}

/// Reasons are a record's or a trace's own wherever a row has one: NAME_absent, NAME_why.
Json Answer::untrusted() const {
  std::vector<std::string> names{"absent"};
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  std::ranges::for_each(foreign_, add);
  for (const Json& row : rows_) {
    for (const auto& [name, value] : row.items()) {
      if (name.ends_with("_absent") || name.ends_with("_why")) add(name);
    }
  }
  return names;
}

Json Answer::document(const Page& page) const {
  if (page.first > 0 && page.first >= rows_.size()) refuse_cursor();
  Json document{{"schema", fmt::format("mprof.{}/1", tool_)}};
  if (const auto run = arguments_.find("run"); run != arguments_.end())
    document["run"] = foreign(run->get<std::string>());
  document["answer"] = foreign(sentence_, longest_reason * 2);
  document["rows"] = Json::array();
  if (!units_.is_null()) document["units"] = units_;
  document["truncated"] = nullptr;
  document["absent"] = absent_;
  document["next"] = next_;
  document["untrusted"] = untrusted();

  document = fitted(std::move(document), page.bytes / 2);  // rows have the other half

  // What a page costs that is not the last one.
  Json more{{"shown", rows_.size()}, {"total", rows_.size()}, {"next_cursor", std::to_string(rows_.size())}};
  Json again = arguments_;
  again["cursor"] = more["next_cursor"];
  const Json next_page{{"tool", tool_}, {"arguments", again}};
  std::size_t used = size_of(document) + size_of(more) + size_of(next_page) + 8;
  const std::size_t first = page.first;
  const std::size_t limit = arguments_.contains("limit") ? page.limit : std::min(page.limit, usual_rows_);
  const std::size_t last = std::min(rows_.size(), first + limit);
  std::size_t shown = first;
  for (; shown < last; ++shown) {
    const std::size_t size = size_of(rows_[shown]) + 1;
    if (used + size > page.bytes) break;
    used += size;
    document["rows"].push_back(rows_[shown]);
  }
  if (shown == first && first < last) {  // one that fits no page: its key says which
    document["rows"].push_back({{"key", rows_[shown].value("key", "")}, {"too_large", true}});
    ++shown;
  }
  if (first == 0 && shown == rows_.size()) return fitted(std::move(document), page.bytes);
  document["truncated"] = {{"shown", shown - first}, {"total", rows_.size()}};
  document["truncated"]["next_cursor"] = nullptr;
  if (shown == rows_.size()) return fitted(std::move(document), page.bytes);
  document["truncated"]["next_cursor"] = std::to_string(shown);
  again["cursor"] = std::to_string(shown);
  if (are_plain(again))
    document["next"].insert(document["next"].begin(), Json{{"tool", tool_}, {"arguments", again}});
  return fitted(std::move(document), page.bytes);
}

}  // namespace mprof::mcp
