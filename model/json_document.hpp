// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace mprof {

class Allowance;

}  // namespace mprof

/// JSON in a list of its values, read in one pass. A tree of values takes several times the memory and time.
namespace mprof::json {

enum class Kind : std::uint8_t { null, no, yes, count, integer, real, text, array, object };

/// 16 bytes a value, in the order of the text: a list or an object, then all that it holds. A member of an
/// object is its name, then its value.
struct Node {
  std::uint64_t bits = 0;  ///< the number, where the text begins, or the place behind all that it holds
  std::uint32_t size = 0;  ///< bytes of text, elements or members
  Kind kind = Kind::null;
};

class Document;
struct Member;

/// A value of a document, which must outlive it.
class Value {
 public:
  Value(const Document& document, std::size_t place) : document_(&document), place_(place) {}

  [[nodiscard]] bool is_null() const { return kind() == Kind::null; }
  [[nodiscard]] bool is_boolean() const { return kind() == Kind::no || kind() == Kind::yes; }
  [[nodiscard]] bool is_count() const { return kind() == Kind::count; }  ///< whole, and not below 0
  [[nodiscard]] bool is_number() const { return kind() >= Kind::count && kind() <= Kind::real; }
  [[nodiscard]] bool is_text() const { return kind() == Kind::text; }
  [[nodiscard]] bool is_array() const { return kind() == Kind::array; }
  [[nodiscard]] bool is_object() const { return kind() == Kind::object; }

  /// Each of one kind alone.
  [[nodiscard]] bool truth() const { return kind() == Kind::yes; }
  [[nodiscard]] std::uint64_t count() const { return node().bits; }
  [[nodiscard]] double number() const;
  [[nodiscard]] std::string_view text() const;
  /// Of elements or members.
  [[nodiscard]] std::size_t size() const { return node().size; }

  template <class Row>
  class Rows;
  [[nodiscard]] Rows<Value> elements() const;
  [[nodiscard]] Rows<Member> members() const;
  [[nodiscard]] std::optional<Value> find(std::string_view name) const;

  [[nodiscard]] nlohmann::ordered_json tree() const;
  /// On one line without blanks; cut behind so many bytes and a value.
  [[nodiscard]] std::string compact(std::size_t longest) const;

  /// The first of what it holds: an element, or the name of a member.
  [[nodiscard]] Value inner() const { return {*document_, place_ + 1}; }
  /// What stands behind it and all that it holds.
  [[nodiscard]] Value next() const;
  bool operator==(const Value&) const = default;

 private:
  [[nodiscard]] const Node& node() const;
  [[nodiscard]] Kind kind() const { return node().kind; }
  void compact_into(std::string& out, std::size_t longest) const;

  const Document* document_;
  std::size_t place_;
};

struct Member {
  std::string_view name;
  Value value;
};

/// What a list or an object holds, one after the other.
template <class Row>
class Value::Rows {
 public:
  class Iterator {
   public:
    // NOLINTBEGIN(readability-identifier-naming): the standard library's names
    using iterator_category = std::input_iterator_tag;
    using value_type = Row;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Row;
    // NOLINTEND(readability-identifier-naming)
    explicit Iterator(Value at) : at_(at) {}
    Row operator*() const {
      if constexpr (std::is_same_v<Row, Member>)
        return {at_.text(), at_.next()};
      else
        return at_;
    }
    Iterator& operator++() {
      at_ = at_.next();
      if constexpr (std::is_same_v<Row, Member>) at_ = at_.next();
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    Value at_;
  };
  explicit Rows(Value of) : of_(of) {}
  [[nodiscard]] Iterator begin() const { return Iterator(of_.inner()); }
  [[nodiscard]] Iterator end() const { return Iterator(of_.next()); }

 private:
  Value of_;
};

class Document {
 public:
  /// Reads JSON text, whose bytes are granted to the allowance; it is held with the values until it was read.
  /// Throws Error(usage) "NAME: line L, column C: ..." when it is not JSON, when a name stands twice in an
  /// object, when it nests too deep, or when it takes more memory than it may.
  Document(std::string text, const std::string& name, Allowance& allowance);
  /// Of a tree.
  explicit Document(const nlohmann::ordered_json& tree);
  /// The same, held besides what is held. Throws Error(usage) when that is more memory than it may take.
  [[nodiscard]] static Document of_tree(const nlohmann::ordered_json& tree, const std::string& name,
                                        Allowance& allowance);
  /// Not while there are values of it.
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  [[nodiscard]] Value root() const { return {*this, 0}; }
  /// Of memory that its values take.
  [[nodiscard]] std::size_t bytes() const { return nodes_.capacity() * sizeof(Node) + texts_.capacity(); }
  /// Of memory that Value::tree() of its root takes at most.
  [[nodiscard]] std::size_t tree_bytes() const {
    return nodes_.size() * (sizeof(nlohmann::ordered_json) + 2 * sizeof(std::string)) + texts_.size();
  }

 private:
  friend class Value;
  class Filler;
  void add(const nlohmann::ordered_json& tree);
  void reserve(std::size_t values, std::size_t text_bytes);
  void add_text(std::string_view text);

  std::string texts_{};  ///< all of them, one behind the other
  std::vector<Node> nodes_{};
};

inline const Node& Value::node() const {
  return document_->nodes_[place_];
}

inline Value Value::next() const {
  const bool holds = is_array() || is_object();
  return {*document_, holds ? static_cast<std::size_t>(node().bits) : place_ + 1};
}

inline std::string_view Value::text() const {
  return std::string_view(document_->texts_).substr(static_cast<std::size_t>(node().bits), node().size);
}

inline Value::Rows<Value> Value::elements() const {
  return Rows<Value>(*this);
}

inline Value::Rows<Member> Value::members() const {
  return Rows<Member>(*this);
}

}  // namespace mprof::json
