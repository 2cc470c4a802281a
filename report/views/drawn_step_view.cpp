// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "report/analysis/program/drawn_step.hpp"
#include "report/text/format.hpp"
#include "report/views/program_parts.hpp"
#include "report/wording/drawn_step.hpp"

/// The drawing of a step: as an SVG that needs no script, and as data for the script that lets a reader zoom.
namespace mprof {
namespace {

using nlohmann::json;

/// A colour on light and on dark ground, each with whether light words stand on it.
struct PaintColour {
  std::string_view light;
  bool light_words = false;
  std::string_view dark;
  bool light_words_on_dark = false;
};

/// In the order of Paint. Neighbours differ in lightness too.
constexpr std::array<PaintColour, all_paints> colours{{
    {"#1f5fa8", true, "#3d8bdc"},  // kernels, by kind
    {"#f2a65a", false, "#f5bd85"},
    {"#14634f", true, "#2aa481"},
    {"#cdb2ee", false, "#d9c5f7"},
    {"#6a4f10", true, "#a5842c"},
    {"#8ccfe6", false, "#a9dff0"},
    {"#8f2d56", true, "#d4709b"},
    {"#b7d77a", false, "#c7e394"},
    {"#3d3a8c", true, "#8583e0"},
    {"#f5c6d6", false, "#f7d5e1"},
    {"#0f6b7a", true, "#3fa9bb"},
    {"#f3e08a", false, "#f6e9a8"},
    {"#7a2e12", true, "#c96a42"},
    {"#a6e3c5", false, "#bdeed6"},
    {"#4c4452", true, "#998ea3"},
    {"#e6b8a2", false, "#efcbb9"},
    {"#8a949e", false, "#79848f"},
    {"#2f4a1d", true, "#7da35e"},  // a graph
    {"#e0a100", false, "#e8bd4a"},
    {"#a03a1e", true, "#d97757"},
    {"#c9b48a", false, "#d8c9a6"},
    {"#5c4a33", true, "#b39b7c"},
    {"#b5d3c9", false, "#3f6156", true},  // a range
    {"#86b3e0", false, "#34608f", true},  // calls
    {"#d5dae0", false, "#4a525c", true},
    {"#9b2f5c", true, "#d4709b"},
    {"#f6d3ae", false, "#7d5a38", true},
    {"#a0a8b1", false, "#666f79", true},  // causes of idle time, behind those of work
    {"#ffffff", false, "#ffffff"},
    {"#ffffff", false, "#ffffff"},
    {"#ffffff", false, "#ffffff"},
    {"#ffffff", false, "#ffffff"},
    {"#ffffff", false, "#ffffff"},
    {"#ffffff", false, "#ffffff"},
    {"#4c5660", true, "#7d8893"},
    {"#ccb1ed", false, "#dac6f6"},
    {"#7b3fb4", true, "#b07ee6"},
    {"#efa9c7", false, "#f3bdd5"},
    {"#0f6b7a", true, "#3fa9bb"},
    {"#b9c1c9", false, "#a9b2bb"},
    {"#e4d7b0", false, "#d9cda3"},
    {"#6b7a2e", true, "#a3b35c"},
}};

constexpr std::size_t longest_block_name = 64;
constexpr double drawing_width = 1000, label_width = 132, row_height = 20, head_height = 22, axis_height = 24;

std::string block_name(const std::string& name) {
  return format::elide(format::one_line(name), longest_block_name);
}

std::set<Paint> paints_in(const DrawnStep& drawn) {
  std::set<Paint> paints;
  for (const DrawnLane& lane : drawn.lanes) {
    for (const DrawnBlock& block : lane.blocks) paints.insert(block.paint);
  }
  return paints;
}

/// Rules for the paints alone that are there. A reader of SVG that knows no light-dark() keeps the first one.
std::string style_of(const std::set<Paint>& paints) {
  std::string style =
      "<style>.step text{font:11px system-ui,'Segoe UI','Noto Sans','DejaVu Sans',sans-serif;fill:#1f2328;"
      "fill:light-dark(#1f2328,#e6edf3)}.step .m{fill:#59636e;fill:light-dark(#59636e,#9da5ae)}"
      ".step .f{fill:#f0f2f5;fill:light-dark(#f0f2f5,#1c222a)}.step .a{stroke:#d1d9e0;"
      "stroke:light-dark(#d1d9e0,#3d444d)}.step .e{stroke:#59636e;stroke:light-dark(#59636e,#9da5ae);"
      "stroke-dasharray:4 3}.step "
      ".j{stroke:#1f2328;stroke:light-dark(#1f2328,#e6edf3);stroke-opacity:.45;fill:none}"
      ".step .w{fill:#fffffe;fill:light-dark(#fffffe,#0a0d12)}.step "
      ".b{fill:#101419;fill:light-dark(#101419,#0a0d12)}"
      ".step .c{fill:#101418;fill:light-dark(#101418,#f0f3f6)}";
  for (const Paint paint : paints) {
    const PaintColour& colour = colours.at(paint);
    style +=
        fmt::format(".step .p{0}{{fill:{1};fill:light-dark({1},{2})}}", paint, colour.light, colour.dark);
  }
  return style + "</style>";
}

std::string_view words_class(Paint paint) {
  const PaintColour& colour = colours.at(paint);
  return colour.light_words ? "w" : colour.light_words_on_dark ? "c" : "b";
}

/// Where a block stands in its row: copies to the GPU above, and those to the host below.
std::pair<double, double> place_of(Paint paint) {
  constexpr double gap = 2, half = (row_height - 2 * gap) / 2;
  if (paint == paint_of(OtherPaint::copy_in)) return {gap, half};
  if (paint == paint_of(OtherPaint::copy_out)) return {gap + half, half};
  return {gap, row_height - 2 * gap};
}

std::string axis_text(double ns) {
  constexpr double s_of_ns = 1e-9;
  return ns == 0 ? "0" : format::about(ns * s_of_ns, Unit::second);
}

/// A round distance between ticks, of which there are five to ten.
double tick_step(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 5)));
  for (const double factor : {5.0, 2.0}) {
    if (length / (factor * power) >= 5) return factor * power;
  }
  return power;
}

class StepSvg {
 public:
  explicit StepSvg(const DrawnStep& drawn) : drawn_(drawn) {}

  /// `alone`: in a file of its own, with a legend.
  /// `styled`: what has a colour in it, and elsewhere on the page.
  std::string svg(const std::string& alt, bool alone, const std::set<Paint>& styled) {
    place_lanes();
    const std::set<Paint> paints = paints_in(drawn_);
    std::string body = axis() + lanes() + joints();
    if (alone) body += legend(paints);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"step\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
        "aria-label=\"{}\">{}{}{}</svg>",
        drawing_width, height_, format::xml_text(alt),
        alone ? "<style>svg{color-scheme:light dark}</style>" : "", style_of(styled), body);
  }

 private:
  void place_lanes() {
    height_ = axis_height;
    bool in_gpu = false;
    std::int64_t thread = -1;
    for (const DrawnLane& lane : drawn_.lanes) {
      const bool is_host = lane.what == LaneOf::ranges || lane.what == LaneOf::calls;
      if (is_host && lane.thread != thread) head(thread_name(lane));
      if (!is_host && !in_gpu) head("GPU");
      if (is_host) thread = lane.thread;
      in_gpu = !is_host;
      tops_.push_back(height_);
      height_ += row_height;
    }
    height_ += 4;
  }

  void head(const std::string& text) {
    heads_ += fmt::format(
        "<rect class=\"f\" x=\"0\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"/><text x=\"4\" "
        "y=\"{:.0f}\" font-weight=\"600\">{}</text>",
        height_ + 2, drawing_width, head_height - 4, height_ + 15, format::xml_text(text));
    height_ += head_height;
  }

  [[nodiscard]] double x_of(std::int64_t time) const {
    const double share =
        static_cast<double>(time - drawn_.view.start) / static_cast<double>(drawn_.view.length());
    return label_width + share * (drawing_width - label_width - 4);
  }

  [[nodiscard]] std::string axis() const {
    std::string text;
    const auto zero = static_cast<double>(drawn_.own.start);
    const double step = tick_step(static_cast<double>(drawn_.view.length()));
    const auto first =
        static_cast<std::int64_t>(std::ceil((static_cast<double>(drawn_.view.start) - zero) / step));
    for (std::int64_t i = first;; ++i) {
      const double at = static_cast<double>(i) * step;
      if (at + zero > static_cast<double>(drawn_.view.end)) break;
      const double x = x_of(static_cast<std::int64_t>(at + zero));
      text += fmt::format(
          "<path class=\"a\" d=\"M{0:.1f} {1:.0f}V{2:.0f}\"/><text class=\"m\" x=\"{0:.1f}\" y=\"13\" "
          "text-anchor=\"{4}\">{3}</text>",
          x, axis_height - 7, height_, axis_text(at), x > drawing_width - 30 ? "end" : "middle");
    }
    for (const std::int64_t edge : {drawn_.own.start, drawn_.own.end}) {
      if (edge >= drawn_.view.start && edge <= drawn_.view.end)
        text += fmt::format("<path class=\"e\" d=\"M{:.1f} {:.0f}V{:.0f}\"/>", x_of(edge), axis_height - 7,
                            height_);
    }
    return text;
  }

  [[nodiscard]] std::string lanes() const {
    std::string text = heads_;
    for (std::size_t i = 0; i < drawn_.lanes.size(); ++i) {
      const DrawnLane& lane = drawn_.lanes[i];
      const std::string name = lane_name(lane, drawn_.several_gpus);
      if (!name.empty())
        text += fmt::format("<text class=\"m\" x=\"4\" y=\"{:.0f}\">{}</text>", tops_[i] + 14,
                            format::xml_text(name));
      for (const DrawnBlock& block : lane.blocks) text += block_svg(block, tops_[i]);
    }
    return text;
  }

  [[nodiscard]] std::string block_svg(const DrawnBlock& block, double top) const {
    constexpr double least_width = 0.6, letter = 6.2;
    if (block.time.end < drawn_.view.start) return {};
    const double from = x_of(std::max(block.time.start, drawn_.view.start)), to = x_of(block.time.end);
    const auto [y, height] = place_of(block.paint);
    std::string text =
        fmt::format("<rect class=\"p{}\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>",
                    block.paint, from, top + y, std::max(to - from, least_width), height);
    const std::string name = block_name(drawn_.names[block.name]);
    const auto wide = static_cast<double>(format::width(name)) * letter + 6;
    if (!name.empty() && height > 10 && to - from > wide)
      text += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>",
                          words_class(block.paint), (from + to) / 2, top + 14, format::xml_text(name));
    return text;
  }

  /// The longest of what runs in the view, joined to the calls that launched it.
  [[nodiscard]] std::string joints() const {
    constexpr std::size_t most = 30;
    struct Joint {
      std::int64_t length = 0, call = 0, start = 0;
      double top = 0, bottom = 0;
    };
    std::vector<std::pair<const DrawnBlock*, double>> calls;
    for (std::size_t i = 0; i < drawn_.lanes.size(); ++i) {
      if (drawn_.lanes[i].what != LaneOf::calls) continue;
      for (const DrawnBlock& block : drawn_.lanes[i].blocks)
        calls.emplace_back(&block, tops_[i] + row_height - 2);
    }
    std::vector<Joint> all;
    for (std::size_t i = 0; i < drawn_.lanes.size(); ++i) {
      for (const DrawnBlock& block : drawn_.lanes[i].blocks) {
        if (block.launch == 0 || block.time.end < drawn_.view.start) continue;
        const auto& [call, bottom] = calls.at(block.launch - 1);
        if (call->time.start < drawn_.view.start) continue;
        all.push_back({block.time.length(), call->time.start, block.time.start, bottom, tops_[i] + 2});
      }
    }
    std::ranges::stable_sort(all, std::ranges::greater{}, &Joint::length);
    std::string text;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
      text += fmt::format("<path class=\"j\" d=\"M{:.1f} {:.0f}L{:.1f} {:.0f}\"/>", x_of(all[i].call),
                          all[i].top, x_of(all[i].start), all[i].bottom);
    return text;
  }

  std::string legend(const std::set<Paint>& paints) {
    constexpr double column = 160, line = 18;
    std::string text;
    double x = 4;
    for (const Paint paint : paints) {
      if (x + column > drawing_width) {
        x = 4;
        height_ += line;
      }
      text += fmt::format(
          "<rect class=\"p{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"11\" height=\"11\"/><text x=\"{:.0f}\" "
          "y=\"{:.0f}\">{}</text>",
          paint, x, height_ + 4, x + 16, height_ + 13, format::xml_text(paint_name(paint)));
      x += column;
    }
    height_ += line + 4;
    return text;
  }

  const DrawnStep& drawn_;
  std::vector<double> tops_;
  std::string heads_;
  double height_ = 0;
};

/// As step.js unpacks them: `gap,length,paint,name,count,busy,launch` each, joined by `;`, without what is 0
/// at the end. A gap is counted from the end of the block before; a count of 1 and a busy time like the
/// length are written as 0.
std::string packed_blocks(const std::vector<DrawnBlock>& blocks) {
  std::string text;
  std::int64_t before = 0;
  for (const DrawnBlock& block : blocks) {
    const std::int64_t length = block.time.length();
    const std::array<std::int64_t, 7> fields{block.time.start - before,
                                             length,
                                             block.paint,
                                             block.name,
                                             block.count == 1 ? 0 : static_cast<std::int64_t>(block.count),
                                             block.busy == length ? 0 : block.busy,
                                             block.launch};
    std::size_t last = fields.size();
    while (last > 3 && fields.at(last - 1) == 0) --last;
    if (!text.empty()) text += ';';
    text +=
        fmt::format("{}", fmt::join(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(last), ","));
    before = block.time.end;
  }
  return text;
}

/// All that step.js needs.
std::string data_of(const DrawnStep& drawn, const std::string& alt) {
  json names = json::array(), lanes = json::array(), paints = json::object();
  for (const std::string& name : drawn.names) names.push_back(block_name(name));
  for (const DrawnLane& lane : drawn.lanes) {
    const bool is_host = lane.what == LaneOf::ranges || lane.what == LaneOf::calls;
    lanes.push_back({{"head", is_host ? thread_name(lane) : "GPU"},
                     {"name", lane_name(lane, drawn.several_gpus)},
                     {"calls", lane.what == LaneOf::calls},
                     {"blocks", packed_blocks(lane.blocks)}});
  }
  for (const Paint paint : paints_in(drawn))
    paints[std::to_string(paint)] = {{"name", paint_name(paint)},
                                     {"words", words_class(paint)},
                                     {"half", paint == paint_of(OtherPaint::copy_in)    ? 1
                                              : paint == paint_of(OtherPaint::copy_out) ? 2
                                                                                        : 0}};
  const json data{{"alt", alt},
                  {"length", drawn.window.length()},
                  {"view", {drawn.view.start, drawn.view.end}},
                  {"own", {drawn.own.start, drawn.own.end}},
                  {"names", std::move(names)},
                  {"lanes", std::move(lanes)},
                  {"paints", std::move(paints)}};
  return data.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// A part of a step, as a share of it.
struct StripPart {
  Paint paint = 0;
  double share = 0;
};

/// Kernels by kind, then copies, then idle time by cause. They add up to 1.
std::vector<StripPart> strip_parts(const ProgramPicture& picture) {
  const TimeBudget& budget = picture.budget;
  std::vector<StripPart> parts;
  const double kernels = budget.share(BudgetPart::kernels) + budget.share(BudgetPart::kernels_and_copies);
  for (const KindTime& kind : picture.kinds)
    parts.push_back({paint_of(kind.kind), kernels * picture.share_of_kernels(kind.time)});
  parts.push_back({paint_of(OtherPaint::copy_in), budget.share(BudgetPart::copies_in)});
  parts.push_back({paint_of(OtherPaint::copy_out), budget.share(BudgetPart::copies_out)});
  parts.push_back({paint_of(OtherPaint::copy_other),
                   budget.share(BudgetPart::copies_both_ways) + budget.share(BudgetPart::other_work)});
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    if (is_idle(part)) parts.push_back({paint_of(part), budget.share(part)});
  }
  std::erase_if(parts, [](const StripPart& part) { return !(part.share > 0); });
  return parts;
}

}  // namespace

json step_strip_view(const ProgramPicture& picture) {
  constexpr double strip_height = 28, worth_a_word = 0.001;
  const std::vector<StripPart> parts = strip_parts(picture);
  std::set<Paint> paints;
  std::string rects, alt = picture.steps ? "Where a step goes" : "Where the time goes";
  json legend = json::array();
  double x = 0;
  for (const StripPart& part : parts) {
    const double width = part.share * drawing_width;
    const bool is_all_kernels = part.paint == paint_of(KernelKind::other) && picture.kinds.size() == 1;
    const std::string name(is_all_kernels ? "kernels" : paint_name(part.paint));
    const std::string share = format::percent(part.share);
    rects += fmt::format(
        "<rect class=\"p{}\" x=\"{:.2f}\" y=\"0\" width=\"{:.2f}\" height=\"{:.0f}\"><title>{} "
        "{}</title></rect>",
        part.paint, x, width, strip_height, format::xml_text(name), share);
    x += width;
    paints.insert(part.paint);
    if (part.share < worth_a_word) continue;
    alt += fmt::format("{} {} {}", legend.empty() ? ":" : ",", name, share);
    legend.push_back({{"class", fmt::format("p{}", part.paint)}, {"name", name}, {"share", share}});
  }
  const std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"step\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{}\">{}{}</svg>",
      drawing_width, strip_height, format::xml_text(alt), style_of(paints), rects);
  return {{"svg", svg}, {"legend", std::move(legend)}};
}

json drawn_step_view(const ProgramPicture& picture, const PageContext& page) {
  constexpr std::int64_t parts_of_picture = 1200;
  constexpr std::size_t blocks_of_picture = 2500;
  if (!picture.steps) return false;
  const trace::Trace& trace = *page.materials->evidence.profile;
  const auto whole = drawn_step_of(trace, picture.index, *picture.steps);
  const auto still =
      drawn_step_of(trace, picture.index, *picture.steps,
                    {.blocks = blocks_of_picture, .parts = parts_of_picture, .view_alone = true});
  if (!whole || !still) return false;
  const std::string title = drawn_step_title(*whole, *picture.steps);
  const std::string alt = title + ": what threads, streams and the GPU did when";
  json legend = json::array();
  for (const Paint paint : paints_in(*whole))
    legend.push_back({{"class", fmt::format("p{}", paint)}, {"name", paint_name(paint)}});
  const std::string file =
      page.plan->keep("one step", StepSvg(*still).svg(alt, true, paints_in(*still)) + "\n");
  return {{"id", page.anchor("one step")},
          {"title", title},
          {"svg", StepSvg(*still).svg(alt, false, paints_in(*whole))},
          {"alt", alt},
          {"file", file},
          {"data", data_of(*whole, alt)},
          {"legend", std::move(legend)},
          {"remarks", drawn_step_remarks(*whole)},
          {"still_remarks", drawn_step_remarks(*still)}};
}

}  // namespace mprof
