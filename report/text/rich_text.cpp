// SPDX-License-Identifier: MIT
#include "report/text/rich_text.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <utility>

#include <boost/algorithm/string/replace.hpp>
#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <fmt/format.h>

#include "report/text/format.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

constexpr int lowest_heading = 6;

/// A picture above this is not put into the page, which has to stay one file that mail accepts.
constexpr std::uintmax_t largest_picture = 512 * 1024;

struct FreeParser {
  void operator()(cmark_parser* parser) const { cmark_parser_free(parser); }
};
struct FreeNode {
  void operator()(cmark_node* node) const { cmark_node_free(node); }
};
struct FreeIterator {
  void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};

/// A parsed text. The parser owns the list of extensions that renderers ask for.
struct Document {
  explicit Document(std::string_view markdown) {
    cmark_gfm_core_extensions_ensure_registered();
    parser.reset(cmark_parser_new(options));
    for (const char* name : {"table", "strikethrough", "autolink"}) {
      if (cmark_syntax_extension* extension = cmark_find_syntax_extension(name))
        cmark_parser_attach_syntax_extension(parser.get(), extension);
    }
    const std::string clean = format::text_block(markdown);
    cmark_parser_feed(parser.get(), clean.data(), clean.size());
    root.reset(cmark_parser_finish(parser.get()));
  }

  static constexpr int options = CMARK_OPT_VALIDATE_UTF8;
  std::unique_ptr<cmark_parser, FreeParser> parser;
  std::unique_ptr<cmark_node, FreeNode> root;
};

/// All nodes in reading order: an iterator does not survive changes to what it stands on.
std::vector<cmark_node*> nodes_of(cmark_node* root) {
  std::vector<cmark_node*> nodes;
  const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(root));
  while (cmark_iter_next(iterator.get()) != CMARK_EVENT_DONE) {
    if (cmark_iter_get_event_type(iterator.get()) == CMARK_EVENT_ENTER)
      nodes.push_back(cmark_iter_get_node(iterator.get()));
  }
  return nodes;
}

bool is(cmark_node* node, cmark_node_type type) {
  return cmark_node_get_type(node) == type;
}

std::string literal(cmark_node* node) {
  const char* text = cmark_node_get_literal(node);
  return text == nullptr ? "" : text;
}

std::string address_of(cmark_node* node) {
  const char* url = cmark_node_get_url(node);
  return url == nullptr ? "" : url;
}

/// The words below a node, without markup.
std::string plain_text(cmark_node* root) {
  std::string text;
  for (cmark_node* node : nodes_of(root)) {
    if (is(node, CMARK_NODE_TEXT) || is(node, CMARK_NODE_CODE)) text += literal(node);
    if (is(node, CMARK_NODE_SOFTBREAK) || is(node, CMARK_NODE_LINEBREAK)) text += ' ';
  }
  return text;
}

void take_out(cmark_node* node) {
  cmark_node_unlink(node);
  cmark_node_free(node);
}

/// What a link or a picture says, without leading anywhere.
void leave_the_words(cmark_node* node) {
  while (cmark_node* child = cmark_node_first_child(node)) cmark_node_insert_before(node, child);
  take_out(node);
}

/// HTML of the author's as the text that it is.
void show_as_text(cmark_node* html) {
  const bool block = is(html, CMARK_NODE_HTML_BLOCK);
  cmark_node* shown = cmark_node_new(block ? CMARK_NODE_CODE_BLOCK : CMARK_NODE_CODE);
  cmark_node_set_literal(shown, literal(html).c_str());
  cmark_node_replace(html, shown);
  cmark_node_free(html);
}

bool has_scheme(std::string_view address) {
  const std::size_t colon = address.find(':');
  return colon != std::string_view::npos && address.find_first_of("/?#") > colon;
}

bool leads_to_the_web(std::string_view address) {
  return address.starts_with("https://") || address.starts_with("http://") || address.starts_with("mailto:");
}

void place_link(cmark_node* link, const std::function<std::string(std::string_view)>& resolve) {
  const std::string address = address_of(link);
  if (leads_to_the_web(address)) return;
  const std::string target = resolve && !has_scheme(address) ? resolve(address) : "";
  if (target.empty()) {
    leave_the_words(link);
  } else {
    cmark_node_set_url(link, target.c_str());
  }
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = (group << 8U) | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= bytes.size() - at ? digits[(group >> (18 - 6 * i)) & 63U] : '=';
  }
  return text;
}

/// The file that a picture's address names, below `folder`; nullopt when there is none that a page can hold.
std::optional<std::filesystem::path> picture_file(const std::string& address,
                                                  const std::filesystem::path& folder) {
  if (folder.empty() || has_scheme(address)) return std::nullopt;
  const std::filesystem::path relative = std::filesystem::path(address).lexically_normal();
  if (relative.empty() || relative.is_absolute() || *relative.begin() == "..") return std::nullopt;
  std::error_code error;
  const std::filesystem::path file = folder / relative;
  const bool fits = std::filesystem::is_regular_file(file, error) &&
                    std::filesystem::file_size(file, error) <= largest_picture && !error &&
                    is_within(folder, file);
  return fits ? std::optional(file) : std::nullopt;
}

std::string media_type(const std::filesystem::path& file) {
  static const std::map<std::string, std::string> types{{".png", "image/png"},
                                                        {".jpg", "image/jpeg"},
                                                        {".jpeg", "image/jpeg"},
                                                        {".gif", "image/gif"},
                                                        {".webp", "image/webp"}};
  const auto found = types.find(file.extension().string());
  return found == types.end() ? "" : found->second;
}

/// The author wants to know that a reader does not see it.
void say_what_is_missing(cmark_node* picture, const std::string& address) {
  cmark_node* text = cmark_node_new(CMARK_NODE_TEXT);
  const std::string missing =
      fmt::format(" (picture left out: {} is not there, above {} KiB, or not a PNG, JPEG, GIF or WebP)",
                  address, largest_picture / 1024);
  cmark_node_set_literal(text, missing.c_str());
  cmark_node_insert_after(picture, text);
}

enum class Form { html, markdown };

void place_picture(cmark_node* picture, const RichTextPlace& place, Form form) {
  const std::string address = address_of(picture);
  if (form == Form::markdown && leads_to_the_web(address)) return;
  const auto file = picture_file(address, place.pictures);
  const std::string type = file ? media_type(*file) : "";
  if (type.empty()) {
    if (!place.pictures.empty() && !has_scheme(address)) say_what_is_missing(picture, address);
    leave_the_words(picture);
  } else if (form == Form::html) {
    cmark_node_set_url(picture, fmt::format("data:{};base64,{}", type, base64(read_file(*file))).c_str());
  } else {
    const std::string target = place.markdown_link ? place.markdown_link(address) : "";
    if (target.empty()) {
      leave_the_words(picture);
    } else {
      cmark_node_set_url(picture, target.c_str());
    }
  }
}

/// Headings keep their order of rank, the highest at the level that the place asks for.
void place_headings(const std::vector<cmark_node*>& nodes, int level) {
  int highest = lowest_heading;
  for (cmark_node* node : nodes) {
    if (is(node, CMARK_NODE_HEADING)) highest = std::min(highest, cmark_node_get_heading_level(node));
  }
  for (cmark_node* node : nodes) {
    if (!is(node, CMARK_NODE_HEADING)) continue;
    const int wanted = cmark_node_get_heading_level(node) - highest + level;
    cmark_node_set_heading_level(node, std::min(wanted, lowest_heading));
  }
}

Document placed(std::string_view markdown, const RichTextPlace& place, Form form) {
  Document document(markdown);
  const std::vector<cmark_node*> nodes = nodes_of(document.root.get());
  place_headings(nodes, place.heading_level);
  // From the inside out, so that no node is changed after what surrounds it is gone.
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (is(*node, CMARK_NODE_HTML_BLOCK) || is(*node, CMARK_NODE_HTML_INLINE)) {
      show_as_text(*node);
    } else if (is(*node, CMARK_NODE_IMAGE)) {
      place_picture(*node, place, form);
    } else if (is(*node, CMARK_NODE_LINK)) {
      place_link(*node, form == Form::html ? place.html_link : place.markdown_link);
    }
  }
  return document;
}

/// Wide parts scroll by themselves. No tag of the author's is among those, since they are shown as text.
std::string with_scrolling(std::string html) {
  boost::replace_all(html, "<table>", "<div class=\"scroll\"><table>");
  boost::replace_all(html, "</table>", "</table></div>");
  boost::replace_all(html, "<pre>", "<pre class=\"scroll\">");
  return html;
}

std::string owned(char* text) {
  const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

RichText rich_text(std::string_view markdown, const RichTextPlace& place) {
  const Document html = placed(markdown, place, Form::html);
  const Document text = placed(markdown, place, Form::markdown);
  constexpr int no_wrapping = 0;
  return {with_scrolling(owned(cmark_render_html(html.root.get(), Document::options,
                                                 cmark_parser_get_syntax_extensions(html.parser.get())))),
          owned(cmark_render_commonmark(text.root.get(), Document::options, no_wrapping))};
}

std::vector<TextSection> sections_of(std::string_view markdown) {
  // Cut by lines of the text, where the parser saw headings: what the author wrote stays as it is.
  const Document document(markdown);
  std::vector<std::string> lines;
  const std::string clean = format::text_block(markdown);
  for (std::size_t start = 0; start < clean.size();) {
    const std::size_t end = std::min(clean.find('\n', start), clean.size());
    lines.push_back(clean.substr(start, end - start));
    start = end + 1;
  }
  std::vector<TextSection> sections(1);
  std::size_t line = 0;
  const auto take_lines_before = [&](std::size_t end) {
    for (; line < std::min(end, lines.size()); ++line) sections.back().markdown += lines[line] + "\n";
  };
  for (cmark_node* node = cmark_node_first_child(document.root.get()); node != nullptr;
       node = cmark_node_next(node)) {
    if (!is(node, CMARK_NODE_HEADING) || cmark_node_get_heading_level(node) > 2) continue;
    take_lines_before(static_cast<std::size_t>(cmark_node_get_start_line(node)) - 1);
    line = static_cast<std::size_t>(cmark_node_get_end_line(node));
    if (cmark_node_get_heading_level(node) == 2) sections.push_back({plain_text(node), {}});
  }
  take_lines_before(lines.size());
  std::erase_if(sections, [](const TextSection& section) {
    return section.title.empty() && section.markdown.find_first_not_of(" \n") == std::string::npos;
  });
  return sections;
}

std::string title_of(std::string_view markdown) {
  const Document document(markdown);
  for (cmark_node* node = cmark_node_first_child(document.root.get()); node != nullptr;
       node = cmark_node_next(node)) {
    if (is(node, CMARK_NODE_HEADING)) return plain_text(node);
  }
  return {};
}

}  // namespace mprof
