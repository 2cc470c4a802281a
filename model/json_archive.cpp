// SPDX-License-Identifier: MIT
#include "model/json_archive.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "system/files.hpp"

namespace mprof::json {
namespace {

constexpr std::size_t line_width = 120;
constexpr std::size_t longest_quote = 60;

bool is_array_of_numbers(const Json& json) {
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [](const Json& e) { return e.is_number(); });
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// dump() with a space after each comma and colon that stands outside of strings.
std::string one_line(const Json& json) {
  const std::string dense = dump(json);
  std::string spaced;
  spaced.reserve(dense.size() + dense.size() / 8);
  bool in_string = false;
  for (std::size_t i = 0; i < dense.size(); ++i) {
    const char c = dense[i];
    spaced += c;
    if (c == '\\' && in_string) {
      spaced += dense[++i];
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == ',' || c == ':')) {
      spaced += ' ';
    }
  }
  return spaced;
}

void print_into(std::string& out, const Json& json, std::size_t indent) {
  // An object of objects is always broken up, so that a record reads as an outline.
  const bool nested = json.is_structured() && std::any_of(json.begin(), json.end(), [](const Json& element) {
                        return element.is_object() && !element.empty();
                      });
  if (!nested || json.empty()) {
    std::string line = one_line(json);
    if (json.empty() || indent + line.size() <= line_width || is_array_of_numbers(json) ||
        !json.is_structured()) {
      out += line;
      return;
    }
  }
  const std::string margin(indent + 2, ' ');
  out += json.is_object() ? "{" : "[";
  bool first = true;
  for (const auto& [key, element] : json.items()) {
    out += first ? "\n" : ",\n";
    first = false;
    out += margin;
    if (json.is_object()) out += dump(Json(key)) + ": ";
    print_into(out, element, indent + 2);
  }
  out += '\n';
  out.append(indent, ' ');
  out += json.is_object() ? '}' : ']';
}

/// "line 3, column 12" of a byte offset.
std::string position(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = start == std::string_view::npos ? before.size() : before.size() - start - 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// nlohmann's message without its "[json.exception...] parse error at line..." head, which position() says
/// better.
std::string plain(const std::string& message) {
  const std::size_t head = message.find(": ");
  return head == std::string::npos ? message : message.substr(head + 2);
}

constexpr std::size_t deepest = 100;

/// A value costs its reader at least 16 bytes, however short its text is. Of a few million that does not
/// matter.
constexpr std::size_t bytes_of_value = 6, most_small_values = 4'000'000;

}  // namespace

std::string quote(const Json& value) {
  std::string text = dump(value);
  if (text.size() > longest_quote) text = text.substr(0, longest_quote) + "...";
  return text;
}

void fail(const std::string& where, const std::string& expected, const Json& found) {
  throw Error(ExitCode::usage, where + ": expected " + expected + ", found " + quote(found));
}

void require_plain(std::string_view text, const std::string& name) {
  std::size_t depth = 0, values = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) {
        throw Error(ExitCode::usage, name + ": not usable JSON at " + position(text, i) +
                                         ": nested deeper than " + std::to_string(deepest) + " levels");
      }
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    } else if (c == ',') {
      ++values;
    }
  }
  if (values > most_small_values && values > text.size() / bytes_of_value)
    throw Error(ExitCode::usage, fmt::format("{}: {} values in {} bytes are more than anything that mprof "
                                             "writes has. Ask for the file again, or leave it out",
                                             name, values, text.size()));
}

Json parse(std::string_view text, const std::string& name) {
  require_plain(text, name);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw Error(ExitCode::usage,
                name + ": not valid JSON at " + position(text, error.byte) + ": " + plain(error.what()));
  } catch (const Json::exception& error) {
    throw Error(ExitCode::usage, name + ": not usable JSON: " + plain(error.what()));
  }
}

Json read_document(const std::filesystem::path& directory, const std::filesystem::path& file) {
  return parse(read_file_within(directory, file, largest_document), file.string());
}

std::string print(const Json& json) {
  std::string out;
  print_into(out, json, 0);
  return out + "\n";
}

}  // namespace mprof::json
