// SPDX-License-Identifier: MIT
#include "report/text/schematic.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

constexpr std::array shapes{"svg",  "title",    "desc",    "g",    "path",  "rect",   "circle",
                            "line", "polyline", "polygon", "text", "tspan", "ellipse"};
constexpr std::array attributes{"xmlns",
                                "viewBox",
                                "width",
                                "height",
                                "x",
                                "y",
                                "x1",
                                "y1",
                                "x2",
                                "y2",
                                "dx",
                                "dy",
                                "cx",
                                "cy",
                                "r",
                                "rx",
                                "ry",
                                "d",
                                "points",
                                "transform",
                                "fill",
                                "fill-opacity",
                                "fill-rule",
                                "stroke",
                                "stroke-width",
                                "stroke-opacity",
                                "stroke-linecap",
                                "stroke-linejoin",
                                "opacity",
                                "stroke-dasharray",
                                "font-family",
                                "font-size",
                                "font-weight",
                                "font-style",
                                "text-anchor",
                                "letter-spacing",
                                "text-decoration",
                                "dominant-baseline"};
constexpr std::array entities{
    std::pair(std::string_view("&amp;"), '&'), std::pair(std::string_view("&lt;"), '<'),
    std::pair(std::string_view("&gt;"), '>'), std::pair(std::string_view("&quot;"), '"')};
constexpr std::string_view svg_namespace = "http://www.w3.org/2000/svg";

/// The colours of words in the two themes of style.css.
constexpr std::string_view both_themes =
    "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}</style>";

template <std::size_t size>
bool is_one_of(const std::array<const char*, size>& known, std::string_view name) {
  return std::ranges::any_of(known, [&](std::string_view one) { return one == name; });
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Plain text of words in which only the characters are escaped that XML must have escaped.
std::string unescaped(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [entity, stands_for] : entities) {
      if (!text.starts_with(entity)) continue;
      c = stands_for;
      taken = entity.size();
    }
    plain += c;
    text.remove_prefix(taken);
  }
  return format::one_line(plain);
}

/// Goes through a drawing once, element by element, and keeps what a page and a file need of it.
class Reader {
 public:
  Reader(std::string_view svg, std::string_view file) : rest_(svg), file_(file) {}

  Schematic read() {
    while (!rest_.empty()) {
      if (rest_.front() == '<') {
        rest_.remove_prefix(1);
        read_tag(until('>', "a tag has no end"));
      } else {
        read_words(rest_.substr(0, rest_.find('<')));
      }
    }
    if (!open_.empty()) refuse(fmt::format("<{}> is not closed", open_.back()));
    if (root_.empty()) refuse("there is no <svg>");
    if (result_.title.empty()) refuse("it has no <title>, which stands for it where it is not seen");
    if (result_.description.empty()) refuse("it has no <desc>, which says what it shows");
    std::string label = result_.title;
    for (std::size_t at = 0; (at = label.find_first_of("&\"<", at)) != std::string::npos; ++at)
      label.replace(at, 1, label[at] == '&' ? "&amp;" : label[at] == '"' ? "&quot;" : "&lt;");
    result_.inline_svg = fmt::format("<svg role=\"img\" aria-label=\"{}\"{}>{}", label, root_, drawn_);
    result_.file_svg =
        fmt::format("<svg{}{}><title>{}</title>{}{}", root_, size_, title_, both_themes, drawn_);
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const {
    throw Error(
        ExitCode::usage,
        fmt::format("the drawing {} cannot be shown: {}. Correct it, or remove it; CONTRIBUTING.md says "
                    "what may be in a drawing.",
                    file_, reason));
  }

  std::string_view until(char end, const char* otherwise) {
    const std::size_t at = rest_.find(end);
    if (at == std::string_view::npos) refuse(otherwise);
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return found;
  }

  [[nodiscard]] bool is_in(std::string_view element) const {
    return !open_.empty() && open_.back() == element;
  }

  void read_words(std::string_view words) {
    rest_.remove_prefix(words.size());
    require_known_entities(words);
    if (is_in("title")) {
      title_ += words;
      result_.title = unescaped(title_);
    } else if (is_in("desc")) {
      result_.description += unescaped(words);
    } else if (is_in("text") || is_in("tspan")) {
      drawn_ += words;
    } else if (!std::ranges::all_of(words, is_space)) {
      refuse(
          fmt::format("words stand outside of <text>: \"{}\"", format::elide(format::one_line(words), 40)));
    }
  }

  void require_known_entities(std::string_view words) const {
    for (std::size_t at = words.find('&'); at != std::string_view::npos; at = words.find('&', at + 1)) {
      const std::string_view found = words.substr(at);
      if (!std::ranges::any_of(entities, [&](const auto& one) { return found.starts_with(one.first); }))
        refuse("an & in its words does not begin &amp;, &lt;, &gt; or &quot;");
    }
  }

  void read_tag(std::string_view tag) {
    if (tag.starts_with('!') || tag.starts_with('?'))
      refuse("it has a comment, a declaration or an instruction; it may have elements only");
    if (tag.starts_with('/')) return close(tag.substr(1));
    const bool is_whole = tag.ends_with('/');
    if (is_whole) tag.remove_suffix(1);
    const std::string_view name = tag.substr(0, std::min(tag.find_first_of(" \n\t\r"), tag.size()));
    if (!is_one_of(shapes, name))
      refuse(fmt::format("it has the element <{}>", format::elide(format::one_line(name), 40)));
    const bool is_root = root_.empty();
    if (is_root != (name == "svg")) refuse("it is one <svg> and everything else in it");
    const std::string written = read_attributes(tag.substr(name.size()), is_root);
    if (is_root) {
      root_ = written;
    } else if (open_.empty()) {
      refuse("something stands behind </svg>");
    } else if (name != "title" && name != "desc") {
      drawn_ += fmt::format("<{}{}{}>", name, written, is_whole ? "/" : "");
    }
    if (!is_whole) open_.emplace_back(name);
  }

  void close(std::string_view name) {
    if (!is_in(name)) refuse(fmt::format("</{}> closes nothing", format::elide(format::one_line(name), 40)));
    open_.pop_back();
    if (name != "title" && name != "desc") drawn_ += fmt::format("</{}>", name);
  }

  /// As they are to be written, each behind a space.
  std::string read_attributes(std::string_view text, bool is_root) {
    std::string written;
    bool has_box = false, has_namespace = false;
    for (;;) {
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
      if (text.empty()) break;
      const std::size_t is = text.find("=\""), end = text.find('"', is + 2);
      if (is == std::string_view::npos || end == std::string_view::npos)
        refuse("an attribute is not written as name=\"value\"");
      const std::string_view name = text.substr(0, is), value = text.substr(is + 2, end - is - 2);
      require_harmless(name, value);
      has_box = has_box || name == "viewBox";
      has_namespace = has_namespace || name == "xmlns";
      if (is_root && name == "viewBox") size_ = size_of(value);
      // Its size on a page is the page's to choose.
      if (!is_root || (name != "width" && name != "height"))
        written += fmt::format(" {}=\"{}\"", name, value);
      text.remove_prefix(end + 1);
    }
    if (is_root && (!has_box || !has_namespace)) refuse("its <svg> has no viewBox, or no xmlns");
    return written;
  }

  void require_harmless(std::string_view name, std::string_view value) const {
    if (!is_one_of(attributes, name))
      refuse(fmt::format("it has the attribute {}", format::elide(format::one_line(name), 40)));
    const auto is_plain = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || is_space(c) ||
             std::string_view(".,#+-%'").find(c) != std::string_view::npos ||
             (name == "transform" && (c == '(' || c == ')'));
    };
    if (name == "xmlns" ? value != svg_namespace : !std::ranges::all_of(value, is_plain))
      refuse(fmt::format("{}=\"{}\" is more than a number, a name or a colour", name,
                         format::elide(format::one_line(value), 40)));
  }

  /// What a file says of its size: the last two numbers of its viewBox.
  static std::string size_of(std::string_view box) {
    const std::size_t height = box.find_last_of(' ');
    if (height == std::string_view::npos || height == 0) return {};
    const std::size_t width = box.find_last_of(' ', height - 1);
    return width == std::string_view::npos
               ? std::string()
               : fmt::format(" width=\"{}\" height=\"{}\"", box.substr(width + 1, height - width - 1),
                             box.substr(height + 1));
  }

  std::string_view rest_;
  std::string_view file_;
  std::vector<std::string> open_{};  ///< elements, the innermost last
  std::string root_{};               ///< attributes of <svg>
  std::string size_{};               ///< attributes of <svg> in a file
  std::string title_{};              ///< as it is written
  std::string drawn_{};              ///< everything behind the root's tag, without title and description
  Schematic result_{};
};

}  // namespace

Schematic read_schematic(std::string_view svg, std::string_view file) {
  if (svg.size() > largest_schematic) {
    throw Error(ExitCode::usage,
                fmt::format("the drawing {} has {} bytes, and {} are the most. Draw less, or "
                            "remove it.",
                            file, svg.size(), largest_schematic));
  }
  return Reader(svg, file).read();
}

}  // namespace mprof
