// SPDX-License-Identifier: MIT
#include "model/json_document.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include <simdjson.h>

#include "model/compact_json.hpp"
#include "model/json_archive.hpp"
#include "model/json_faults.hpp"

namespace mprof::json {
namespace {

/// Of memory for each byte of text, at most: what the fast parser needs, and what is made of the text then.
constexpr std::size_t bytes_of_fast_reading = 48;
/// The longest text that it reads, and the longest for which a thread keeps its memory for the next text.
constexpr std::size_t longest_fast_text = std::size_t{4} << 20, longest_kept_text = std::size_t{256} << 10;

/// Whether a number is -0, which the fast parser does not tell from 0.
bool has_whole_negative_zero(std::string_view text) {
  constexpr std::string_view zero = "-0", goes_on = ".0123456789eE";
  for (std::size_t at = text.find(zero); at != std::string_view::npos; at = text.find(zero, at + 1)) {
    const std::size_t behind = at + zero.size();
    if (behind == text.size() || goes_on.find(text[behind]) == std::string_view::npos) return true;
  }
  return false;
}

/// Half a pair of UTF-16, of which the fast parser lets some pass that are not in a pair.
bool has_surrogate(std::string_view text) {
  return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

}  // namespace

double Value::number() const {
  switch (kind()) {
    case Kind::count:
      return static_cast<double>(node().bits);
    case Kind::integer:
      return static_cast<double>(static_cast<std::int64_t>(node().bits));
    default:
      return std::bit_cast<double>(node().bits);
  }
}

std::optional<Value> Value::find(std::string_view name) const {
  for (const Member& member : members()) {
    if (member.name == name) return member.value;
  }
  return std::nullopt;
}

nlohmann::ordered_json Value::tree() const {
  if (is_boolean()) return truth();
  if (is_count()) return count();
  if (kind() == Kind::integer) return static_cast<std::int64_t>(node().bits);
  if (is_number()) return number();
  if (is_text()) return std::string(text());
  if (is_array()) {
    auto array = nlohmann::ordered_json::array();
    for (const Value& element : elements()) array.push_back(element.tree());
    return array;
  }
  if (is_null()) return nullptr;
  auto object = nlohmann::ordered_json::object();
  // A name stands once, so it is not looked for.
  for (const auto& [name, member] : members())
    object.get_ref<nlohmann::ordered_json::object_t&>().emplace_back(name, member.tree());
  return object;
}

std::string Value::compact(std::size_t longest) const {
  std::string out;
  compact_into(out, longest);
  return out;
}

void Value::compact_into(std::string& out, std::size_t longest) const {
  if (is_null()) {
    out += "null";
  } else if (is_boolean()) {
    out += truth() ? "true" : "false";
  } else if (is_text()) {
    out += json::compact(std::string(text().substr(0, longest + 1)));
  } else if (kind() == Kind::count) {
    out += json::compact(count());
  } else if (kind() == Kind::integer) {
    out += json::compact(static_cast<std::int64_t>(node().bits));
  } else if (kind() == Kind::real) {
    out += json::compact(number());
  } else if (is_array()) {
    out += '[';
    for (const Value& element : elements()) {
      if (element.place_ > place_ + 1) out += ',';
      element.compact_into(out, longest);
      if (out.size() > longest) return;
    }
    out += ']';
  } else {
    out += '{';
    bool first = true;
    for (const Member& member : members()) {
      if (!std::exchange(first, false)) out += ',';
      out += json::compact(std::string(member.name)) + ':';
      member.value.compact_into(out, longest);
      if (out.size() > longest) return;
    }
    out += '}';
  }
}

/// Fills a document with what a parser finds. What returns false ends the parser's work.
class Document::Filler {
 public:
  Filler(Document& document, std::string& text, const std::string& name, Allowance& allowance)
      : document_(document), text_(text), name_(name), allowance_(allowance) {}

  void read() {
    if (!read_fast()) read_as_nlohmann();
  }

  bool null() { return add({.kind = Kind::null}); }
  bool boolean(bool value) { return add({.kind = value ? Kind::yes : Kind::no}); }
  bool number_integer(std::int64_t value) {
    return add({static_cast<std::uint64_t>(value), 0, Kind::integer});
  }
  bool number_unsigned(std::uint64_t value) { return add({value, 0, Kind::count}); }
  bool number_float(double value, const std::string&) { return add_real(value); }
  bool string(std::string_view text) {
    count();
    return key(text);
  }
  static bool binary(const nlohmann::ordered_json::binary_t&) { return false; }  // not in JSON
  bool start_object(std::size_t) { return open(Kind::object); }
  bool key(std::string_view name) {
    make_room(document_.texts_, name.size(), text_.size());
    make_room(document_.nodes_, 1);
    document_.add_text(name);
    return true;
  }
  bool end_object() {
    refuse_twins(close());
    return true;
  }
  bool start_array(std::size_t) { return open(Kind::array); }
  bool end_array() {
    close();
    return true;
  }
  static bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }

 private:
  void read_as_nlohmann() {
    const bool is_read = nlohmann::ordered_json::sax_parse(text_, this);
    const std::size_t end = text_.find('\0');  // the parser stops there, and no JSON has such a byte
    if (is_read && end == std::string::npos) return;
    require_shallow(text_, name_);
    refuse_syntax(text_, name_, end);
  }

  /// False when the text is too long, or not surely read as the other parser does, who has words for what is
  /// wrong. Then the document is empty.
  bool read_fast() {
    if (text_.size() > longest_fast_text || has_surrogate(text_)) return false;
    if (!allowance_.hold(bytes_of_fast_reading * text_.size())) return false;
    if (text_.size() > longest_kept_text) return read_with(simdjson::dom::parser());
    static thread_local simdjson::dom::parser kept;
    return read_with(kept);
  }
  bool read_with(simdjson::dom::parser&& parser) { return read_with(parser); }
  bool read_with(simdjson::dom::parser& parser) {
    if (parser.capacity() < text_.size() && parser.allocate(text_.size(), deepest + 1) != simdjson::SUCCESS)
      return false;
    text_.reserve(text_.size() + simdjson::SIMDJSON_PADDING);  // which it may read
    simdjson::dom::element root;
    if (parser.parse(text_.data(), text_.size(), false).get(root) != simdjson::SUCCESS) return false;
    constexpr std::size_t bytes_of_value = 12, bytes_by_texts = 4;  // of what mprof writes: about so many
    make_room(document_.nodes_, text_.size() / bytes_of_value);
    make_room(document_.texts_, text_.size() / bytes_by_texts, text_.size());
    if (put(root)) return true;
    document_.nodes_ = {};
    document_.texts_ = {};
    open_.clear();
    return false;
  }
  /// What the fast parser has found, whose kind was looked at before its value is taken.
  bool put(simdjson::dom::element value) {
    switch (value.type()) {
      case simdjson::dom::element_type::NULL_VALUE:
        return null();
      case simdjson::dom::element_type::BOOL:
        return boolean(static_cast<bool>(value));
      case simdjson::dom::element_type::INT64:
        return put_whole(static_cast<std::int64_t>(value));
      case simdjson::dom::element_type::UINT64:
        return number_unsigned(static_cast<std::uint64_t>(value));
      case simdjson::dom::element_type::DOUBLE:
        return add_real(static_cast<double>(value));
      case simdjson::dom::element_type::STRING:
        return string(static_cast<std::string_view>(value));
      case simdjson::dom::element_type::ARRAY:
        return put_array(static_cast<simdjson::dom::array>(value));
      case simdjson::dom::element_type::OBJECT:
        return put_object(static_cast<simdjson::dom::object>(value));
    }
    return false;
  }
  bool put_array(const simdjson::dom::array& array) {
    if (!open(Kind::array)) return false;
    for (const simdjson::dom::element element : array) {
      if (!put(element)) return false;
    }
    return end_array();
  }
  bool put_object(const simdjson::dom::object& object) {
    if (!open(Kind::object)) return false;
    for (const auto& [name, member] : object) {
      key(name);
      if (!put(member)) return false;
    }
    return end_object();
  }
  bool put_whole(std::int64_t value) {
    if (value < 0) return number_integer(value);
    if (value == 0 && !is_zero_positive_) {
      if (has_whole_negative_zero(text_)) return false;
      is_zero_positive_ = true;
    }
    return number_unsigned(static_cast<std::uint64_t>(value));
  }

  bool add_real(double value) { return add({std::bit_cast<std::uint64_t>(value), 0, Kind::real}); }
  bool add(Node node) {
    count();
    make_room(document_.nodes_, 1);
    document_.nodes_.push_back(node);
    return true;
  }
  /// A value, in the list or object that holds it.
  void count() {
    if (!open_.empty()) ++document_.nodes_[open_.back()].size;
  }

  bool open(Kind kind) {
    if (open_.size() >= deepest) return false;
    add({.kind = kind});
    open_.push_back(document_.nodes_.size() - 1);
    return true;
  }
  Value close() {
    const std::size_t place = open_.back();
    open_.pop_back();
    document_.nodes_[place].bits = document_.nodes_.size();
    return {document_, place};
  }

  /// It will never be larger than `largest`.
  template <class List>
  void make_room(List& list, std::size_t more,
                 std::size_t largest = std::numeric_limits<std::size_t>::max()) {
    const std::size_t needed = list.size() + more;
    if (needed <= list.capacity()) return;
    const std::size_t size = std::min(needed + needed / 2, std::max(needed, largest));
    hold(size * sizeof(typename List::value_type));
    list.reserve(size);
  }

  /// What there is, and so many bytes that are needed next.
  void hold(std::size_t more) {
    const std::size_t names = names_.capacity() * sizeof(std::string_view);
    if (!allowance_.hold(text_.size() + document_.bytes() + names + more)) refuse_size(name_);
  }

  /// By length first, which mostly tells.
  void refuse_twins(const Value& object) {
    names_.clear();
    if (object.size() > names_.capacity()) {
      names_ = std::vector<std::string_view>();
      hold(object.size() * sizeof(std::string_view));
      names_.reserve(object.size());
    }
    for (const Member& member : object.members()) names_.push_back(member.name);
    std::ranges::sort(names_, [](std::string_view a, std::string_view b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    const auto twin = std::ranges::adjacent_find(names_);
    if (twin != names_.end()) refuse_twin(name_, *twin);
  }

  Document& document_;
  std::string& text_;
  const std::string& name_;
  Allowance& allowance_;
  bool is_zero_positive_ = false;        ///< known of all whole zeros of the text
  std::vector<std::size_t> open_;        ///< places of lists and objects, from the document inwards
  std::vector<std::string_view> names_;  ///< of an object, kept for the next one
};

namespace {

/// How many values a document of a tree has, and how many bytes of text.
struct TreeSize {
  std::size_t values = 0, text_bytes = 0;
};

void add_size(const nlohmann::ordered_json& tree, TreeSize& size) {
  ++size.values;
  if (tree.is_string()) size.text_bytes += tree.get_ref<const std::string&>().size();
  if (tree.is_array()) {
    for (const auto& element : tree) add_size(element, size);
  }
  if (!tree.is_object()) return;
  for (const auto& [key, element] : tree.items()) {
    ++size.values;
    size.text_bytes += key.size();
    add_size(element, size);
  }
}

TreeSize size_of_tree(const nlohmann::ordered_json& tree) {
  TreeSize size;
  add_size(tree, size);
  return size;
}

}  // namespace

Document::Document(std::string text, const std::string& name, Allowance& allowance) {
  allowance.grant(text.size());
  Filler(*this, text, name, allowance).read();
  text = std::string();
  // What was read without growing is held as well.
  if (!allowance.hold(bytes())) refuse_size(name);
}

Document::Document(const nlohmann::ordered_json& tree) {
  const auto [values, text_bytes] = size_of_tree(tree);
  reserve(values, text_bytes);
  add(tree);
}

Document Document::of_tree(const nlohmann::ordered_json& tree, const std::string& name,
                           Allowance& allowance) {
  const auto [values, text_bytes] = size_of_tree(tree);
  if (!allowance.hold_more(values * sizeof(Node) + text_bytes)) refuse_size(name);
  return Document(tree);
}

void Document::reserve(std::size_t values, std::size_t text_bytes) {
  nodes_.reserve(values);
  texts_.reserve(text_bytes);
}

void Document::add_text(std::string_view text) {
  nodes_.push_back({texts_.size(), static_cast<std::uint32_t>(text.size()), Kind::text});
  texts_ += text;
}

void Document::add(const nlohmann::ordered_json& tree) {
  const auto add_container = [&](Kind kind, const auto& add_rows) {
    const std::size_t place = nodes_.size();
    nodes_.push_back({.size = static_cast<std::uint32_t>(tree.size()), .kind = kind});
    add_rows();
    nodes_[place].bits = nodes_.size();
  };
  switch (tree.type()) {
    case nlohmann::ordered_json::value_t::boolean:
      nodes_.push_back({.kind = tree.get<bool>() ? Kind::yes : Kind::no});
      break;
    case nlohmann::ordered_json::value_t::number_unsigned:
      nodes_.push_back({tree.get<std::uint64_t>(), 0, Kind::count});
      break;
    case nlohmann::ordered_json::value_t::number_integer:
      nodes_.push_back({static_cast<std::uint64_t>(tree.get<std::int64_t>()), 0, Kind::integer});
      break;
    case nlohmann::ordered_json::value_t::number_float:
      nodes_.push_back({std::bit_cast<std::uint64_t>(tree.get<double>()), 0, Kind::real});
      break;
    case nlohmann::ordered_json::value_t::string:
      add_text(tree.get_ref<const std::string&>());
      break;
    case nlohmann::ordered_json::value_t::array:
      add_container(Kind::array, [&] {
        for (const auto& element : tree) add(element);
      });
      break;
    case nlohmann::ordered_json::value_t::object:
      add_container(Kind::object, [&] {
        for (const auto& [key, element] : tree.items()) {
          add_text(key);
          add(element);
        }
      });
      break;
    default:
      nodes_.emplace_back();
  }
}

}  // namespace mprof::json
