// SPDX-License-Identifier: MIT
#include "report/page/render.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <kainjow/mustache.hpp>

#include "embedded/templates.hpp"
#include "report/text/format.hpp"
#include "report/text/markdown.hpp"
#include "report/text/plain_text.hpp"
#include "system/error.hpp"
#include "system/files.hpp"

namespace mprof {
namespace {

using nlohmann::json;
namespace mustache = kainjow::mustache;
using Escape = std::function<std::string(const std::string&)>;

template <class View>
using Members = std::conditional_t<std::is_const_v<View>, const json::object_t, json::object_t>;

template <class View>
void give_way(View& value) {
  if constexpr (!std::is_const_v<View>) value = nullptr;
}

/// Strings, lists and flags. A template can ask whether a string is there, so an empty one is false; numbers
/// are not for templates, since views hold finished text. A view that may change gives way to what is made of
/// it: both take the most memory of a report.
template <class View>
mustache::data to_data(View& value) {
  if (value.is_object()) {
    mustache::data object{mustache::data::type::object};
    for (auto& [key, member] : value.template get_ref<Members<View>&>()) object[key] = to_data(member);
    give_way(value);
    return object;
  }
  if (value.is_array()) {
    mustache::data list{mustache::data::type::list};
    // Its push_back() copies all that an element holds, and so would each list around it.
    auto& elements =
        const_cast<mustache::list&>(list.list_value());  // NOLINT(*-const-cast): not a const list
    elements.reserve(value.size());
    for (View& element : value) elements.push_back(to_data(element));
    give_way(value);
    return list;
  }
  if (value.is_string() && !value.template get_ref<const std::string&>().empty())
    return value.template get<std::string>();
  return value.is_boolean() && value.template get<bool>();
}

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
                  mustache::data& data) {
  for (const std::string& name : partials_of(text)) {
    if (data.get(name) != nullptr) continue;
    const std::string partial = without_last_newline(templates.load(fmt::format("{}.{}", name, extension)));
    data.set(name, mustache::data(partial));
    add_partials(templates, partial, extension, data);
  }
}

std::string render(const Templates& templates, const std::string& file, std::string_view extension,
                   mustache::data data, const Escape& escape) {
  const std::string text = templates.load(file);
  mustache::mustache compiled(text);
  compiled.set_custom_escape(escape);
  add_partials(templates, text, extension, data);
  std::string result = compiled.is_valid() ? compiled.render(data) : std::string();
  if (!compiled.is_valid()) {
    throw Error(ExitCode::usage,
                fmt::format("the template {} cannot be used: {}. Correct it, or leave --templates out.", file,
                            compiled.error_message()));
  }
  return result;
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

std::string render_html(const Templates& templates, std::string_view name, json view) {
  return render(templates, fmt::format("{}.html.mustache", name), "html.mustache", to_data(view),
                mustache::html_escape<std::string>);
}

std::string render_markdown(const Templates& templates, std::string_view name, const json& view) {
  return markdown::align_tables(format::plain_text(squeezed(render(
      templates, fmt::format("{}.md.mustache", name), "md.mustache", to_data(view), markdown::escape))));
}

std::string render_text(const Templates& templates, std::string_view name, const json& view) {
  return squeezed(render(templates, fmt::format("{}.text.mustache", name), "text.mustache", to_data(view),
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
