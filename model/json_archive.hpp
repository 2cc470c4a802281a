// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/fields.hpp"
#include "model/json_document.hpp"
#include "system/error.hpp"

namespace mprof {

/// How many bytes of memory documents may take: three times their own, and what small ones may need beyond
/// that. A record has many documents, and one allowance.
class Allowance {
 public:
  static constexpr std::uintmax_t of_small_documents = std::uintmax_t{256} << 20;
  explicit Allowance(std::uintmax_t small_documents = of_small_documents)
      : beyond_(small_documents), granted_(small_documents) {}

  /// Of a document of so many bytes that is read next.
  void grant(std::uintmax_t document_bytes) { granted_ += 3 * document_bytes; }
  /// For good, for what is made of a document. False when it is more than what is left.
  [[nodiscard]] bool take(std::uintmax_t bytes) {
    taken_ += bytes;
    return fits();
  }
  /// While a document is read, in the place of what was held before. False when it is more than what is left.
  [[nodiscard]] bool hold(std::uintmax_t bytes) {
    held_ = bytes;
    return fits();
  }
  /// Besides what is held. False when it is more than what is left.
  [[nodiscard]] bool hold_more(std::uintmax_t bytes) { return hold(held_ + bytes); }
  /// Nothing is held any more.
  void release() { held_ = 0; }
  /// What one of its own allowed to a document, as if that had been read with this one. False when it would
  /// have been more than what is left; then this one is as it was.
  [[nodiscard]] bool join(const Allowance& own) {
    if (taken_ + own.most_ > granted_ + own.granted_ - own.beyond_) return false;
    granted_ += own.granted_ - own.beyond_;
    taken_ += own.taken_;
    return true;
  }

 private:
  [[nodiscard]] bool fits() {
    most_ = std::max(most_, taken_ + held_);
    return taken_ + held_ <= granted_;
  }

  std::uintmax_t beyond_, granted_, taken_ = 0, held_ = 0, most_ = 0;
};

}  // namespace mprof

/// JSON of any struct that has a `fields` function: to_json(value) and from_json<T>(json, where).
namespace mprof::json {

using Json = nlohmann::ordered_json;

template <class T>
concept Enumeration = std::is_enum_v<T>;

class Writer;

inline Json to_json(const std::string& value) {
  return value;
}
inline Json to_json(Name value) {
  return value.text();
}
inline Json to_json(bool value) {
  return value;
}
template <class T>
requires std::is_arithmetic_v<T> Json to_json(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) throw Error(ExitCode::fault, "a non-finite number reached the run record");
  }
  return value;
}
template <Enumeration T>
Json to_json(T value) {
  return std::string(to_string(value));
}
inline Json to_json(const Fact& fact) {
  if (const auto* text = std::get_if<std::string>(&fact)) return *text;
  if (const auto* number = std::get_if<double>(&fact)) return to_json(*number);
  return Json{{"absent", std::get<Absent>(fact).reason}};
}
inline Json to_json(const Problem& problem) {
  Json object = Json::object();
  for (const Coordinate& c : problem.coordinates) object[c.axis] = c.value;
  return object;
}
/// Measurements of kernels as tables of columns (model/measurement_table.cpp).
Json to_json(const std::vector<Measurement>& measurements);
template <class T>
Json to_json(const std::vector<T>& values);
template <class T>
Json to_json(const std::map<std::string, T>& values);
template <class T>
requires std::is_class_v<T> Json to_json(const T& value);

/// Collects the fields of one struct into an object.
class Writer {
 public:
  template <class T>
  void field(const char* name, const T& value) {
    object_[name] = to_json(value);
  }
  template <class T>
  void optional_field(const char* name, const std::optional<T>& value) {
    if (value) field(name, *value);
  }
  template <class T>
  requires std::is_class_v<T>
  void optional_field(const char* name, const T& container) {
    if (!container.empty()) field(name, container);
  }
  /// Left out when false or 0.
  template <class T>
  requires std::is_arithmetic_v<T>
  void optional_field(const char* name, const T& value) {
    if (value != T{}) field(name, value);
  }
  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

template <class T>
Json to_json(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}
template <class T>
Json to_json(const std::map<std::string, T>& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object[name] = to_json(value);
  return object;
}
template <class T>
requires std::is_class_v<T> Json to_json(const T& value) {
  Writer writer;
  fields(writer, value);
  return writer.take();
}

/// A value as a message quotes it, cut to a readable length.
[[nodiscard]] std::string quote(const Json& value);
[[nodiscard]] std::string quote(const Value& value);

/// Where in a document a value stands, and what may be made of it.
class Place {
 public:
  Place(std::string_view document, Allowance& allowance) : name_(document), allowance_(&allowance) {}
  [[nodiscard]] Place member(std::string_view name) const { return {*this, name, no_index}; }
  [[nodiscard]] Place element(std::size_t index) const { return {*this, {}, index}; }

  /// "case.json.passes[0].status"
  [[nodiscard]] std::string text() const;
  /// Throws Error(usage) when documents have taken all that they may.
  void take(std::uintmax_t bytes) const;

 private:
  static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
  Place(const Place& within, std::string_view name, std::size_t index)
      : within_(&within), name_(name), index_(index), allowance_(within.allowance_) {}

  const Place* within_ = nullptr;
  std::string_view name_;
  std::size_t index_ = no_index;
  Allowance* allowance_;
};

/// Throws Error(usage): "WHERE: expected EXPECTED, found VALUE".
[[noreturn]] void fail(const std::string& where, const std::string& expected, const Json& found);
[[noreturn]] void fail(const Place& where, const std::string& expected, const Value& found);

// Declared ahead: these call each other, and argument-dependent lookup does not look in this namespace.
void read(const Value& json, const Place& where, std::vector<Measurement>& measurements);
template <class T>
void read(const Value& json, const Place& where, std::vector<T>& values);
template <class T>
void read(const Value& json, const Place& where, std::map<std::string, T>& values);
template <class T>
requires std::is_class_v<T>
void read(const Value& json, const Place& where, T& value);

inline void read(const Value& json, const Place& where, std::string& value) {
  if (!json.is_text()) fail(where, "text", json);
  value = json.text();
  where.take(value.size());
}
/// That a name which nothing else has needs on the heap, beside its text.
inline constexpr std::size_t bytes_of_name = 96;
inline void read(const Value& json, const Place& where, Name& value) {
  if (!json.is_text()) fail(where, "text", json);
  where.take(json.size() + bytes_of_name);
  value = json.text();
}
inline void read(const Value& json, const Place& where, bool& value) {
  if (!json.is_boolean()) fail(where, "true or false", json);
  value = json.truth();
}
inline void read(const Value& json, const Place& where, double& value) {
  if (!json.is_number()) fail(where, "a number", json);
  value = json.number();
  if (!std::isfinite(value)) fail(where, "a finite number", json);
}
template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void read(const Value& json, const Place& where,
                                                                      T& value) {
  const bool fits =
      json.is_count() && json.count() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (!fits) fail(where, "a whole number that is not negative", json);
  value = static_cast<T>(json.count());
}
template <Enumeration T>
void read(const Value& json, const Place& where, T& value) {
  if (!json.is_text() || !from_string(json.text(), value)) fail(where, "one of the known words", json);
}
inline void read(const Value& json, const Place& where, Fact& value) {
  if (json.is_text()) return read(json, where, value.emplace<std::string>());
  if (json.is_number()) return read(json, where, value.emplace<double>());
  const bool is_one = json.is_object() && json.size() == 1;
  const std::optional<Value> reason = is_one ? json.find("absent") : std::nullopt;
  if (!reason || !reason->is_text()) fail(where, "text, a number or {\"absent\": reason}", json);
  where.take(reason->size());
  value = Absent{std::string(reason->text())};
}
inline void read(const Value& json, const Place& where, Problem& problem) {
  if (!json.is_object()) fail(where, "an object of whole numbers by axis", json);
  problem.coordinates.clear();
  where.take(json.size() * sizeof(Coordinate));
  problem.coordinates.reserve(json.size());
  for (const auto& [axis, value] : json.members()) {
    where.take(axis.size());
    read(value, where.member(axis), problem.coordinates.emplace_back(Coordinate{std::string(axis), 0}).value);
  }
}
template <class T>
void read(const Value& json, const Place& where, std::vector<T>& values) {
  if (!json.is_array()) fail(where, "an array", json);
  values.clear();
  where.take(json.size() * sizeof(T));
  values.reserve(json.size());
  for (const Value& element : json.elements()) {
    const Place here = where.element(values.size());
    read(element, here, values.emplace_back());
  }
}
template <class T>
void read(const Value& json, const Place& where, std::map<std::string, T>& values) {
  if (!json.is_object()) fail(where, "an object", json);
  values.clear();
  for (const auto& [name, element] : json.members()) {
    constexpr std::size_t bytes_of_node = 48;  // beside the pair
    where.take(sizeof(std::pair<const std::string, T>) + bytes_of_node + name.size());
    read(element, where.member(name), values[std::string(name)]);
  }
}

/// Hands the members of one object to the fields of a struct. Members that no field asks for are left alone:
/// a later version of this schema may have added them.
class Reader {
 public:
  Reader(const Value& object, const Place& where) : where_(where), end_(object.next()), next_(end_) {
    if (!object.is_object()) fail(where, "an object", object);
    first_ = next_ = object.inner();
  }
  template <class T>
  void field(const char* name, T& value) {
    const std::optional<Value> member = find(name);
    if (!member) throw Error(ExitCode::usage, where_.text() + ": the field \"" + name + "\" is missing");
    read(*member, where_.member(name), value);
  }
  template <class T>
  void optional_field(const char* name, std::optional<T>& value) {
    value.reset();
    if (const std::optional<Value> member = find(name)) read(*member, where_.member(name), value.emplace());
  }
  template <class T>
  void optional_field(const char* name, T& value) {
    value = T{};
    if (const std::optional<Value> member = find(name)) read(*member, where_.member(name), value);
  }

 private:
  /// A writer has the members in the order in which a reader asks for them: it is mostly the next one.
  std::optional<Value> find(std::string_view name) {
    for (const auto& [from, to] : {std::pair(next_, end_), std::pair(first_, next_)}) {
      for (Value at = from; at != to;) {
        const Value value = at.next();
        if (at.text() == name) {
          next_ = value.next();
          return value;
        }
        at = value.next();
      }
    }
    return std::nullopt;
  }

  const Place& where_;
  Value end_, next_, first_ = next_;
};

template <class T>
requires std::is_class_v<T>
void read(const Value& json, const Place& where, T& value) {
  Reader reader(json, where);
  fields(reader, value);
}

/// Frees it value by value. Its destructor would first copy its largest array.
void empty(Json& json);

/// Of the document of that name, whose values are released.
template <class T>
[[nodiscard]] T from_json(const Document& document, const std::string& name, Allowance& allowance) {
  T value;
  read(document.root(), Place(name, allowance), value);
  allowance.release();
  return value;
}
template <class T>
[[nodiscard]] T from_json(const Json& tree, const std::string& name) {
  Allowance allowance;
  return from_json<T>(Document(tree), name, allowance);
}

/// Throws Error(usage) when what may be JSON nests deeper than anything that mprof writes: a level costs its
/// reader some of the stack.
void require_shallow(std::string_view text, const std::string& name);

/// The same when its tree of values takes more memory than it may.
void require_plain(std::string_view text, const std::string& name);

/// Parses JSON text as a tree, for what a Document is not enough for: the text's bytes are granted to the
/// allowance, and the tree is held. Throws Error(usage) "NAME: line L, column C: ..." when the text is not
/// JSON, or when require_plain() refuses it.
[[nodiscard]] Json parse(std::string_view text, const std::string& name, Allowance& allowance);
[[nodiscard]] Json parse(std::string_view text, const std::string& name);

/// No document that mprof reads is larger: what is made of one takes several times its bytes.
inline constexpr std::uintmax_t largest_document = std::uintmax_t{1} << 28;

/// Two-space indentation, but whatever fits on a line of 120 columns, and every array of numbers, on one
/// line.
[[nodiscard]] std::string print(const Json& json);

}  // namespace mprof::json
