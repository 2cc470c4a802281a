// SPDX-License-Identifier: MIT
#include "model/json_archive.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "model/compact_json.hpp"
#include "model/json_faults.hpp"
#include "system/files.hpp"

namespace mprof::json {
namespace {

constexpr std::size_t line_width = 120;
constexpr std::size_t longest_quote = 60;

bool is_array_of_numbers(const Json& json) {
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [](const Json& e) { return e.is_number(); });
}

/// compact() with a space after each comma and colon that stands outside of strings.
std::string one_line(const Json& json) {
  const std::string dense = compact(json);
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
    if (json.is_object()) out += compact(Json(key)) + ": ";
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

/// Bytes that the tree of values needs beside its elements: for what stands on the heap, where the text of a
/// string does as well when it is long. An element of a list is a value; one of an object has its name.
constexpr std::size_t bytes_of_container = 32, bytes_of_string = 48, longest_short_string = 15;
constexpr std::size_t bytes_of_element = sizeof(Json), bytes_of_member = sizeof(Json::object_t::value_type);

/// A list or an object of more elements gets its memory at once. One that grows takes up to three times as
/// much for a moment.
constexpr std::size_t large_container = 1024;

std::string twin_text(std::string_view name) {
  return "the name " + quote(Json(name)) + " stands twice in one object";
}

/// How many commas stand in each large list or object, in the order in which these open.
using LargeContainers = std::map<std::size_t, std::size_t>;

/// Takes what a parser of JSON finds, and makes the document of it. The parser that nlohmann's own documents
/// have searches all earlier keys of an object for each one, which takes minutes for a hundred thousand.
class Builder {
 public:
  explicit Builder(const LargeContainers& large) : large_(large) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(Json::binary_t& value) { return add(std::move(value)); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool end_object() {
    refuse_twins(open_.back()->get_ref<const Json::object_t&>());
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  template <class Fault>
  bool parse_error(std::size_t, const std::string&, const Fault& fault) {
    throw fault;
  }

  Json take() { return std::move(document_); }

 private:
  template <class T>
  bool add(T&& value) {
    put(Json(std::forward<T>(value)));
    return true;
  }

  Json& put(Json&& value) {
    if (open_.empty()) return document_ = std::move(value);
    if (open_.back()->is_array()) {
      auto& array = open_.back()->get_ref<Json::array_t&>();
      return array.emplace_back(std::move(value));
    }
    auto& object = open_.back()->get_ref<Json::object_t&>();
    return object.emplace_back(std::move(key_), std::move(value)).second;
  }

  bool open(Json&& container) {
    Json& opened = put(std::move(container));
    if (const auto large = large_.find(opened_++); large != large_.end()) {
      if (opened.is_array())
        opened.get_ref<Json::array_t&>().reserve(large->second + 1);
      else
        opened.get_ref<Json::object_t&>().reserve(large->second + 1);
    }
    open_.push_back(&opened);
    return true;
  }

  static void refuse_twins(const Json::object_t& object) {
    std::vector<std::string_view> names;
    names.reserve(object.size());
    for (const auto& [name, value] : object) names.push_back(name);
    std::ranges::sort(names);
    if (const auto twin = std::ranges::adjacent_find(names); twin != names.end())
      throw std::invalid_argument(twin_text(*twin));
  }

  const LargeContainers& large_;
  Json document_;
  std::vector<Json*> open_;  ///< from the document inwards
  std::size_t opened_ = 0;
  std::string key_;
};

/// Takes what a parser finds, and makes nothing of it.
struct NoBuilder {
  static bool null() { return true; }
  static bool boolean(bool) { return true; }
  static bool number_integer(std::int64_t) { return true; }
  static bool number_unsigned(std::uint64_t) { return true; }
  static bool number_float(double, const std::string&) { return true; }
  static bool string(const std::string&) { return true; }
  static bool binary(const Json::binary_t&) { return true; }
  static bool start_object(std::size_t) { return true; }
  static bool key(const std::string&) { return true; }
  static bool end_object() { return true; }
  static bool start_array(std::size_t) { return true; }
  static bool end_array() { return true; }
  template <class Fault>
  static bool parse_error(std::size_t, const std::string&, const Fault& fault) {
    throw fault;
  }
};

/// What can be told of JSON before it is parsed.
struct Outline {
  LargeContainers large{};
  std::uintmax_t tree = 0;  ///< bytes of memory that the tree of its values takes
};

/// Throws as require_shallow() does.
Outline outline_of(std::string_view text, const std::string& name) {
  struct Open {
    std::size_t number, commas;
    bool is_object;
  };
  std::vector<Open> open;
  auto [large, tree] = Outline{};
  std::size_t opened = 0, string = 0;  // where the last one begins
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      if (!in_string && i - string > longest_short_string) tree += i - string;
    } else if (c == '"') {
      in_string = true;
      string = i;
      tree += bytes_of_string;
    } else if (c == '[' || c == '{') {
      open.push_back({opened++, 0, c == '{'});
      tree += bytes_of_container;
      if (open.size() > deepest) refuse_depth(text, name, i);
    } else if ((c == ']' || c == '}') && !open.empty()) {
      const auto [number, commas, is_object] = open.back();
      open.pop_back();
      if (commas > large_container) large.emplace(number, commas);
      // One that grows has room for up to twice its elements.
      tree += (commas + 1) * (is_object ? bytes_of_member : bytes_of_element) *
              (commas > large_container ? 1 : 2);
    } else if (c == ',' && !open.empty()) {
      ++open.back().commas;
    }
  }
  return {std::move(large), tree};
}

/// Throws Error(usage) that says why the text is no JSON.
template <class Sink>
void parse_into(Sink& sink, std::string_view text, const std::string& name) {
  try {
    Json::sax_parse(text, &sink);
  } catch (const Json::parse_error& error) {
    throw Error(ExitCode::usage,
                name + ": not valid JSON at " + position(text, error.byte) + ": " + plain(error.what()));
  } catch (const Json::exception& error) {
    throw Error(ExitCode::usage, name + ": not usable JSON: " + plain(error.what()));
  } catch (const std::invalid_argument& error) {
    throw Error(ExitCode::usage, name + ": not usable JSON: " + error.what());
  }
}

/// Throws when the text and its tree are more than is left; then the tree alone is held.
void hold_tree(std::string_view text, const std::string& name, const Outline& outline, Allowance& allowance) {
  allowance.grant(text.size());
  if (!allowance.hold(text.size() + outline.tree) || !allowance.hold(outline.tree)) refuse_size(name);
}

}  // namespace

void refuse_size(const std::string& name) {
  throw Error(
      ExitCode::usage,
      fmt::format("{}: reading it takes more memory than 256 MiB and three times the size of its files. "
                  "Nothing that mprof writes is like that. Ask for the files again, or leave them out",
                  name));
}

void refuse_depth(std::string_view text, const std::string& name, std::size_t byte) {
  throw Error(ExitCode::usage, name + ": not usable JSON at " + position(text, byte) +
                                   ": nested deeper than " + std::to_string(deepest) + " levels");
}

void refuse_syntax(std::string_view text, const std::string& name, std::size_t byte) {
  NoBuilder nothing;
  parse_into(nothing, text, name);
  throw Error(ExitCode::usage, name + ": not valid JSON at " + position(text, byte));
}

void refuse_twin(const std::string& document, std::string_view name) {
  throw Error(ExitCode::usage, document + ": not usable JSON: " + twin_text(name));
}

namespace {

std::string cut(std::string text) {
  if (text.size() > longest_quote) text = text.substr(0, longest_quote) + "...";
  return text;
}

}  // namespace

std::string quote(const Json& value) {
  return cut(compact(value));
}

std::string quote(const Value& value) {
  return cut(value.compact(longest_quote));
}

void fail(const std::string& where, const std::string& expected, const Json& found) {
  throw Error(ExitCode::usage, where + ": expected " + expected + ", found " + quote(found));
}

void fail(const Place& where, const std::string& expected, const Value& found) {
  throw Error(ExitCode::usage, where.text() + ": expected " + expected + ", found " + quote(found));
}

std::string Place::text() const {
  if (within_ == nullptr) return std::string(name_);
  if (index_ != no_index) return fmt::format("{}[{}]", within_->text(), index_);
  return fmt::format("{}.{}", within_->text(), name_);
}

void Place::take(std::uintmax_t bytes) const {
  if (!allowance_->take(bytes)) refuse_size(text());
}

void empty(Json& json) {
  if (json.is_structured())
    for (Json& element : json) empty(element);
  json.clear();
}

void require_shallow(std::string_view text, const std::string& name) {
  static_cast<void>(outline_of(text, name));
}

void require_plain(std::string_view text, const std::string& name) {
  Allowance allowance;
  hold_tree(text, name, outline_of(text, name), allowance);
}

Json parse(std::string_view text, const std::string& name) {
  Allowance allowance;
  return parse(text, name, allowance);
}

Json parse(std::string_view text, const std::string& name, Allowance& allowance) {
  const Outline outline = outline_of(text, name);
  hold_tree(text, name, outline, allowance);
  Builder builder(outline.large);
  parse_into(builder, text, name);
  return builder.take();
}

std::string print(const Json& json) {
  std::string out;
  print_into(out, json, 0);
  return out + "\n";
}

}  // namespace mprof::json
