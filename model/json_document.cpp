// SPDX-License-Identifier: MIT
#include "model/json_document.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "model/compact_json.hpp"
#include "model/json_archive.hpp"
#include "model/json_faults.hpp"

namespace mprof::json {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What stands in a text as it is: no quote, no backslash, nothing that must be escaped or decoded.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';  // NOLINT: below 256
  return plain;
}();

/// The bytes of the character in UTF-8 that begins with one of 0x80 or more; 0: it is none (RFC 3629, section
/// 4).
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(0);
  };
  const auto in = [&](std::size_t i, unsigned low, unsigned high) {
    return byte(i) >= low && byte(i) <= high;
  };
  constexpr unsigned low = 0x80, high = 0xbf;
  if (in(0, 0xc2, 0xdf)) return in(1, low, high) ? 2 : 0;
  if (in(0, 0xe0, 0xef)) {
    const bool fits = in(1, byte(0) == 0xe0 ? 0xa0 : low, byte(0) == 0xed ? 0x9f : high);
    return fits && in(2, low, high) ? 3 : 0;
  }
  if (in(0, 0xf0, 0xf4)) {
    const bool fits = in(1, byte(0) == 0xf0 ? 0x90 : low, byte(0) == 0xf4 ? 0x8f : high);
    return fits && in(2, low, high) && in(3, low, high) ? 4 : 0;
  }
  return 0;
}

void append_character(std::string& text, std::uint32_t code) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
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

/// Reads the grammar of RFC 8259, and stops at the first byte that does not belong to it.
class Document::Parser {
 public:
  Parser(Document& document, const std::string& name, Allowance& allowance)
      : document_(document), text_(document.text_), name_(name), allowance_(allowance) {}

  void read() {
    constexpr std::string_view mark = "\xef\xbb\xbf";  // of the order of bytes, which some editors write
    if (text_.starts_with(mark)) at_ = mark.size();
    blanks();
    value(0);
    blanks();
    if (at_ != text_.size()) fail();
  }

 private:
  [[noreturn]] void fail() const { refuse_syntax(text_, name_, at_); }
  [[nodiscard]] char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
  }
  void expect(char c) {
    if (here() != c) fail();
    ++at_;
  }

  void add(Node node) {
    std::vector<Node>& nodes = document_.nodes_;
    if (nodes.size() == nodes.capacity()) grow();
    nodes.push_back(node);
  }

  /// To what the whole text needs if it goes on like this.
  void grow() {
    std::vector<Node>& nodes = document_.nodes_;
    constexpr std::size_t first = 1024;
    constexpr double most_times = 64, spare = 1.05;
    const double times = static_cast<double>(text_.size()) / static_cast<double>(at_ + 1);
    const auto expected =
        static_cast<std::size_t>(static_cast<double>(nodes.size()) * std::min(times, most_times) * spare);
    const std::size_t wanted = std::max({nodes.size() + nodes.size() / 2, expected, first});
    const std::size_t size = std::min(wanted, nodes.size() + text_.size() - at_ + 1);  // a value has a byte
    hold(size * sizeof(Node));
    nodes.reserve(size);
  }

  /// What there is, and so many bytes that are needed next.
  void hold(std::size_t more) {
    const std::size_t names = names_.capacity() * sizeof(std::string_view);
    if (!allowance_.hold(text_.size() + document_.bytes() + names + more)) refuse_size(name_);
  }

  /// For so many bytes of decoded text, and a character.
  void make_room(std::size_t bytes) {
    constexpr std::size_t longest_character = 4;
    std::string& decoded = document_.decoded_;
    const std::size_t needed = decoded.size() + bytes + longest_character;
    if (needed <= decoded.capacity()) return;
    const std::size_t size = std::max(needed, 2 * decoded.capacity());
    hold(size);
    decoded.reserve(size);
  }

  void value(std::size_t depth) {
    switch (here()) {
      case '{':
        object(depth);
        break;
      case '[':
        array(depth);
        break;
      case '"':
        string();
        break;
      case 't':
        word("true", Kind::yes);
        break;
      case 'f':
        word("false", Kind::no);
        break;
      case 'n':
        word("null", Kind::null);
        break;
      default:
        number();
    }
  }

  void word(std::string_view word, Kind kind) {
    if (!text_.substr(at_).starts_with(word)) fail();
    at_ += word.size();
    add({.kind = kind});
  }

  std::size_t open(Kind kind, std::size_t depth) {
    if (depth >= deepest) refuse_depth(text_, name_, at_);
    const std::size_t place = document_.nodes_.size();
    add({.kind = kind});
    ++at_;
    blanks();
    return place;
  }

  void close(std::size_t place, std::uint32_t size) {
    ++at_;
    document_.nodes_[place].bits = document_.nodes_.size();
    document_.nodes_[place].size = size;
  }

  void array(std::size_t depth) {
    const std::size_t place = open(Kind::array, depth);
    std::uint32_t size = 0;
    while (here() != ']' || size > 0) {
      value(depth + 1);
      ++size;
      blanks();
      if (here() == ']') break;
      expect(',');
      blanks();
    }
    close(place, size);
  }

  void object(std::size_t depth) {
    const std::size_t place = open(Kind::object, depth);
    std::uint32_t size = 0;
    while (here() != '}' || size > 0) {
      if (here() != '"') fail();
      string();
      blanks();
      expect(':');
      blanks();
      value(depth + 1);
      ++size;
      blanks();
      if (here() == '}') break;
      expect(',');
      blanks();
    }
    close(place, size);
    refuse_twins(Value(document_, place));
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

  void string() {
    const std::size_t begin = ++at_;
    for (;;) {
      while (at_ < text_.size() && plain_bytes[static_cast<unsigned char>(text_[at_])]) ++at_;
      if (here() == '"') break;
      if (here() == '\\') return escaped_string(begin);
      others();
    }
    add({begin, static_cast<std::uint32_t>(at_ - begin), Kind::text});
    ++at_;
  }

  /// A character of several bytes.
  void others() {
    const std::size_t bytes = at_ < text_.size() ? bytes_of_character(text_.substr(at_)) : 0;
    if (bytes == 0) fail();
    at_ += bytes;
  }

  void escaped_string(std::size_t begin) {
    std::string& decoded = document_.decoded_;
    const std::size_t start = decoded.size();
    for (;;) {
      while (at_ < text_.size() && plain_bytes[static_cast<unsigned char>(text_[at_])]) ++at_;
      if (here() != '"' && here() != '\\') {
        others();
        continue;
      }
      make_room(at_ - begin);
      decoded.append(text_.substr(begin, at_ - begin));
      if (here() == '"') break;
      ++at_;
      escape();
      begin = at_;
    }
    ++at_;
    add({start, static_cast<std::uint32_t>(decoded.size() - start), Kind::decoded_text});
  }

  void escape() {
    constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    const char letter = here();
    if (letter == 'u') return append_character(document_.decoded_, code());
    const std::size_t which = letter == '\0' ? std::string_view::npos : letters.find(letter);
    if (which == std::string_view::npos) fail();
    document_.decoded_ += meanings[which];
    ++at_;
  }

  /// \uXXXX, or two of them that make one character.
  std::uint32_t code() {
    constexpr std::uint32_t first_high = 0xd800, first_low = 0xdc00, last_low = 0xdfff;
    const std::uint32_t high = four_digits();
    if (high >= first_low && high <= last_low) fail();
    if (high < first_high || high > last_low) return high;
    expect('\\');
    const std::uint32_t low = four_digits();
    if (low < first_low || low > last_low) fail();
    return 0x10000 + ((high - first_high) << 10U) + (low - first_low);
  }

  std::uint32_t four_digits() {
    expect('u');
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || digits.size() != 4 || end != digits.data() + 4) fail();
    at_ += 4;
    return code;
  }

  void digits() {
    if (!is_digit(here())) fail();
    while (is_digit(here())) ++at_;
  }

  void number() {
    const std::size_t begin = at_;
    const bool is_negative = here() == '-';
    if (is_negative) ++at_;
    if (here() == '0')
      ++at_;
    else
      digits();
    const std::size_t whole = at_;
    if (here() == '.') {
      ++at_;
      digits();
    }
    if (here() == 'e' || here() == 'E') {
      ++at_;
      if (here() == '+' || here() == '-') ++at_;
      digits();
    }
    const char *first = text_.data() + begin, *last = text_.data() + at_;
    if (at_ == whole && (is_negative ? take<std::int64_t>(first, last, Kind::integer)
                                     : take<std::uint64_t>(first, last, Kind::count)))
      return;
    double real = 0;
    auto [end, error] = std::from_chars(first, last, real);
    if (error == std::errc::result_out_of_range)
      real = std::strtod(std::string(first, last).c_str(), nullptr);
    if (!std::isfinite(real)) fail();
    add({std::bit_cast<std::uint64_t>(real), 0, Kind::real});
  }

  /// False when the number is too large for one.
  template <class Whole>
  bool take(const char* first, const char* last, Kind kind) {
    Whole whole = 0;
    if (std::from_chars(first, last, whole).ec != std::errc()) return false;
    add({static_cast<std::uint64_t>(whole), 0, kind});
    return true;
  }

  Document& document_;
  std::string_view text_;
  const std::string& name_;
  Allowance& allowance_;
  std::size_t at_ = 0;
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

Document::Document(std::string_view text, const std::string& name, Allowance& allowance) : text_(text) {
  allowance.grant(text.size());
  Parser(*this, name, allowance).read();
  // What was read without growing is held as well.
  if (!allowance.hold(text.size() + bytes())) refuse_size(name);
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
  decoded_.reserve(text_bytes);
}

void Document::add_text(std::string_view text) {
  nodes_.push_back({decoded_.size(), static_cast<std::uint32_t>(text.size()), Kind::decoded_text});
  decoded_ += text;
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
