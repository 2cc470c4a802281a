// SPDX-License-Identifier: MIT
#include "report/page/charts.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <duktape.h>
#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {
namespace {

/// What ECharts expects of its surroundings. Nothing is drawn later: a static chart has no animation.
constexpr std::string_view surroundings = R"js(
  var global = this, console = { log: function () {}, warn: function () {}, error: function () {} };
  function setTimeout() { return 0; }
  function clearTimeout() {}
  // Duktape sorts by pivots that it draws at random. What compares alike keeps its order since ES2019, as in
  // browsers: ECharts hides those of many labels that come last.
  Array.prototype.sort = function (compare) {
    var order = compare || function (a, b) { return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0; };
    var from = this.filter(function (value) { return value !== undefined; }), to = from.slice(), count = from.length;
    for (var width = 1; width < count; width *= 2) {
      for (var low = 0; low < count; low += 2 * width) {
        var middle = Math.min(low + width, count), high = Math.min(low + 2 * width, count), a = low, b = middle;
        for (var k = low; k < high; k++) {
          var first = b >= high || (a < middle && !(order(from[a], from[b]) > 0));
          to[k] = first ? from[a++] : from[b++];
        }
      }
      var sorted = to;
      to = from;
      from = sorted;
    }
    for (var i = 0; i < this.length; i++) this[i] = from[i];
    return this;
  };
)js";

/// Duktape calls this when its heap is beyond use, out of memory for one; it must not return.
void give_up(void*, const char* message) {
  std::fprintf(stderr, "mprof: the chart renderer failed: %s\n",
               message == nullptr ? "no reason given" : message);
  std::abort();
}

[[noreturn]] void throw_script_error(duk_context* heap, std::string_view doing) {
  const std::string trace = duk_safe_to_stacktrace(heap, -1);
  duk_pop(heap);
  throw Error(ExitCode::usage,
              fmt::format("{} failed in JavaScript: {}\nCorrect the script, or leave --templates out.", doing,
                          trace));
}

void evaluate(duk_context* heap, std::string_view script, const char* name) {
  duk_push_string(heap, name);
  const bool failed =
      duk_pcompile_lstring_filename(heap, 0, script.data(), script.size()) != 0 || duk_pcall(heap, 0) != 0;
  if (failed) throw_script_error(heap, fmt::format("loading {}", name));
  duk_pop(heap);
}

bool is_surrogate(std::string_view text, std::size_t at, unsigned char lowest, unsigned char highest) {
  if (at + 3 > text.size() || text[at] != '\xed') return false;
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return second >= lowest && second <= highest;
}

/// The ten bits that a surrogate carries.
std::uint32_t payload(std::string_view text, std::size_t at) {
  return (static_cast<std::uint32_t>(text[at + 1] & 0x0f) << 6U) |
         static_cast<std::uint32_t>(text[at + 2] & 0x3f);
}

void append_utf8(std::string& text, std::uint32_t code) {
  text += static_cast<char>(0xf0U | (code >> 18U));
  text += static_cast<char>(0x80U | ((code >> 12U) & 0x3fU));
  text += static_cast<char>(0x80U | ((code >> 6U) & 0x3fU));
  text += static_cast<char>(0x80U | (code & 0x3fU));
}

/// A script as a page holds it: without the lines that only say something to who reads its file.
std::string without_comments(std::string_view script) {
  std::string code;
  for (std::size_t begin = 0; begin < script.size();) {
    const std::size_t end = std::min(script.find('\n', begin), script.size() - 1) + 1;
    const std::string_view line = script.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string_view::npos || !line.substr(first).starts_with("//")) code += line;
    begin = end;
  }
  return code;
}

}  // namespace

std::string join_surrogates(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (is_surrogate(text, at, 0xa0, 0xaf) && is_surrogate(text, at + 3, 0xb0, 0xbf)) {
      append_utf8(joined, 0x10000U + ((payload(text, at) << 10U) | payload(text, at + 3)));
      at += 6;
    } else if (is_surrogate(text, at, 0xa0, 0xbf)) {
      joined += "\ufffd";
      at += 3;
    } else {
      joined += text[at++];
    }
  }
  return joined;
}

void add_page_parts(nlohmann::json& view, const Templates& templates, const nlohmann::json& charts,
                    std::initializer_list<std::string_view> scripts) {
  std::string definitions;
  for (const char* part : chart_scripts) definitions += without_comments(templates.load(part)) + "\n";
  view["style_css"] = templates.load("style.css");
  // The licences of ECharts and Prism go wherever they go, as a comment that a template cannot leave out.
  view["echarts_js"] =
      fmt::format("/*!\n{}*/\n{}", templates.load("licences.txt"), templates.load("echarts.min.js"));
  view["charts_js"] = definitions;
  view["chart_data"] = json_for_script(charts);
  for (const std::string_view script : scripts)
    view[fmt::format("{}_js", script)] = without_comments(templates.load(fmt::format("{}.js", script)));
}

ChartRenderer::ChartRenderer(const Templates& templates)
    : heap_(duk_create_heap(nullptr, nullptr, nullptr, nullptr, give_up), [](duk_context* heap) {
        if (heap != nullptr) duk_destroy_heap(heap);
      }) {
  if (heap_ == nullptr)
    throw Error(ExitCode::environment, "no memory for the chart renderer. Free some and try again.");
  evaluate(heap_.get(), surroundings, "surroundings");
  // Not echarts.min.js: Duktape finds a variable by a hash of its name, and its names of two letters collide.
  evaluate(heap_.get(), templates.load("echarts.js"), "echarts.js");
  for (const char* script : chart_scripts) evaluate(heap_.get(), templates.load(script), script);
}

std::string ChartRenderer::svg(const nlohmann::json& chart) const {
  duk_context* heap = heap_.get();
  const std::string view = chart.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  duk_get_global_string(heap, "mprof_static_svg");
  duk_push_lstring(heap, view.data(), view.size());
  if (duk_pcall(heap, 1) != 0)
    throw_script_error(heap, fmt::format("drawing the chart {}", chart.value("id", "?")));
  duk_size_t length = 0;
  const char* text = duk_safe_to_lstring(heap, -1, &length);
  std::string svg = join_surrogates({text, length});
  duk_pop(heap);
  return svg;
}

}  // namespace mprof
