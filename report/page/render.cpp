// SPDX-License-Identifier: MIT
#include "report/page/render.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <kainjow/mustache.hpp>

#include "embedded/templates.hpp"
#include "report/text/format.hpp"
#include "report/text/markdown.hpp"
#include "report/text/plain_text.hpp"
#include "report/views/packed_rows.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using nlohmann::json;
namespace mustache = kainjow::mustache;
using Escape = std::function<std::string(const std::string&)>;

/// What a template sees of a view: strings, lists and flags. A template can ask whether a string is there, so
/// an empty one is false; numbers are not for templates, since views hold finished text. Mustache's own data
/// of a whole view would take the most memory of a report: each value is made when it is asked for.
class ViewContext : public mustache::basic_context<std::string> {
 public:
  ViewContext(const json& view, std::map<std::string, mustache::data> partials)
      : partials_(std::move(partials)) {
    frames_.push_back({&view, {}});
    lists_.emplace_back();
  }

  void push(const mustache::data* data) override {
    const json& view = pushed(data);
    frames_.push_back({&view, {}});
    if (view.is_binary()) {
      Frame& frame = frames_.back();
      frame.unpacked = unpacked_row(view);
      frame.view = &frame.unpacked;
    }
    if (lists_.size() < frames_.size()) lists_.emplace_back();
  }
  void pop() override { frames_.pop_back(); }

  const mustache::data* get(const std::string& name) const override {
    if (name == ".") return shown(*frames_.back().view);
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
      if (const json* const found = find(*frame->view, name)) return shown(*found);
    }
    return nullptr;
  }

  const mustache::data* get_partial(const std::string& name) const override {
    const auto found = partials_.find(name);
    return found == partials_.end() ? nullptr : &found->second;
  }

 private:
  /// An element of a list, or an object, within which names are looked up.
  struct Frame {
    const json* view = nullptr;
    json unpacked{};  ///< of a packed row
  };
  /// What Mustache goes through while the elements of a list are shown, one after the other.
  struct List {
    mustache::data elements{mustache::data::type::list};
    const json* view = nullptr;
  };

  /// "a.b" is b of a.
  static const json* find(const json& view, std::string_view name) {
    const std::size_t dot = name.find('.');
    if (!view.is_object()) return nullptr;
    const auto found = view.find(std::string(name.substr(0, dot)));
    if (found == view.end()) return nullptr;
    return dot == std::string_view::npos ? &*found : find(*found, name.substr(dot + 1));
  }

  /// Mustache asks for the next value when it is done with the last one, but for a list: that of a frame is
  /// in use until it asks for another one from the same frame.
  const mustache::data* shown(const json& view) const {
    last_ = &view;
    if (view.is_array() && !view.empty()) {
      List& list = lists_[frames_.size() - 1];
      list.view = &view;
      list.elements = mustache::data(mustache::list(view.size(), mustache::data(true)));
      return &list.elements;
    }
    const bool is_text = view.is_string() && !view.get_ref<const std::string&>().empty();
    const bool is_there = view.is_object() || view.is_binary() || (view.is_boolean() && view.get<bool>());
    value_ = is_text ? mustache::data(view.get_ref<const std::string&>()) : mustache::data(is_there);
    return &value_;
  }

  /// The view of what Mustache goes into: an element of this frame's list, or the last value.
  const json& pushed(const mustache::data* data) const {
    const List& list = lists_[frames_.size() - 1];
    if (data == &value_ || list.view == nullptr) return *last_;
    const mustache::list& elements = list.elements.list_value();
    return (*list.view)[static_cast<std::size_t>(data - elements.data())];
  }

  std::map<std::string, mustache::data> partials_;
  std::deque<Frame> frames_;        ///< the view, then inwards
  mutable std::deque<List> lists_;  ///< of each frame
  mutable mustache::data value_{};  ///< the last one that is no list
  mutable const json* last_ = nullptr;
};

/// What a template writes into.
struct Text {
  std::string text{};
  Text& operator<<(const std::string& more) {
    text += more;
    return *this;
  }
};

/// The names that a template asks for as {{> name}}.
std::set<std::string> partials_of(std::string_view text) {
  std::set<std::string> names;
  for (std::size_t at = text.find("{{>"); at != std::string_view::npos; at = text.find("{{>", at)) {
    const std::size_t first = text.find_first_not_of(' ', at + 3);
    const std::size_t end = text.find_first_of(" }", first);
    if (end == std::string_view::npos) break;
    names.emplace(text.substr(first, end - first));
    at = end;
  }
  return names;
}

/// A partial stands on a line of its own, which ends it: its own last newline would leave an empty line
/// behind.
std::string without_last_newline(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_partials(const Templates& templates, std::string_view text, std::string_view extension,
                  std::map<std::string, mustache::data>& partials) {
  for (const std::string& name : partials_of(text)) {
    if (partials.contains(name)) continue;
    const std::string partial = without_last_newline(templates.load(fmt::format("{}.{}", name, extension)));
    partials.emplace(name, partial);
    add_partials(templates, partial, extension, partials);
  }
}

std::string render(const Templates& templates, const std::string& file, std::string_view extension,
                   const json& view, const Escape& escape) {
  const std::string text = templates.load(file);
  mustache::mustache compiled(text);
  compiled.set_custom_escape(escape);
  std::map<std::string, mustache::data> partials;
  add_partials(templates, text, extension, partials);
  Text result;
  if (compiled.is_valid()) {
    ViewContext context(view, std::move(partials));
    compiled.render(context, result);
  }
  if (!compiled.is_valid()) {
    throw Error(ExitCode::usage,
                fmt::format("the template {} cannot be used: {}. Correct it, or leave --templates out.", file,
                            compiled.error_message()));
  }
  return std::move(result.text);
}

/// No empty line at either end and no two in a row: templates need not count what their parts leave behind.
std::string squeezed(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() && (result.empty() || result.ends_with("\n\n"))) continue;
    result.append(line).append("\n");
  }
  while (result.ends_with("\n\n")) result.pop_back();
  return result;
}

}  // namespace

Templates::Templates(std::filesystem::path directory) : directory_(std::move(directory)) {
  if (directory_.empty() || std::filesystem::is_directory(directory_)) return;
  throw Error(ExitCode::usage,
              fmt::format("the directory of templates {} does not exist. Give --templates one that "
                          "does, or leave it out.",
                          directory_.string()));
}

std::string Templates::load(std::string_view name) const {
  if (!directory_.empty() && std::filesystem::exists(directory_ / name)) return read_file(directory_ / name);
  if (const auto text = embedded::templates(name)) return std::string(*text);
  throw Error(ExitCode::usage,
              fmt::format("there is no template {}: mprof has none of this name{}.", name,
                          directory_.empty() ? "" : ", and neither has " + directory_.string()));
}

std::string render_html(const Templates& templates, std::string_view name, const json& view) {
  return render(templates, fmt::format("{}.html.mustache", name), "html.mustache", view,
                mustache::html_escape<std::string>);
}

std::string render_markdown(const Templates& templates, std::string_view name, const json& view) {
  return markdown::align_tables(format::plain_text(squeezed(
      render(templates, fmt::format("{}.md.mustache", name), "md.mustache", view, markdown::escape))));
}

std::string render_text(const Templates& templates, std::string_view name, const json& view) {
  return squeezed(render(templates, fmt::format("{}.text.mustache", name), "text.mustache", view,
                         [](const std::string& text) { return text; }));
}

std::string json_for_script(const json& value) {
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  // "</script>" and "<!--" end or change the element wherever they stand; inside JSON a < can only be in a
  // string.
  for (const char c : text) safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return safe;
}

}  // namespace mprof
