// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/version.hpp"
#include "report/analysis/program/launch_lines.hpp"
#include "report/export/export.hpp"
#include "report/text/format.hpp"
#include "report/wording/launch_lines.hpp"

/// The stacks of launches with the GPU's time, for other programs that draw flame graphs.
namespace mprof {
namespace {

using nlohmann::ordered_json;

/// A distinct path from the outermost frame to a kernel.
struct WeighedStack {
  std::vector<const Flame*> frames{};
  std::int64_t time = 0;  ///< ns
};

void add_stacks(const Flame& flame, std::vector<const Flame*>& path, std::vector<WeighedStack>& all) {
  for (const Flame& inner : flame.inner) {
    path.push_back(&inner);
    if (inner.is_kernel) all.push_back({path, inner.time});
    add_stacks(inner, path, all);
    path.pop_back();
  }
}

std::vector<WeighedStack> stacks_of(const LaunchLines& lines) {
  std::vector<WeighedStack> all;
  std::vector<const Flame*> path;
  add_stacks(lines.flame, path, all);
  return all;
}

/// "forward (model.py:12)".
std::string frame_text(const Flame& flame) {
  if (flame.is_kernel) return flame.place.function;
  const std::string place = place_text(flame.place);
  return flame.place.line != 0 ? fmt::format("{} ({})", around_place(flame.place), place) : place;
}

/// As a line of the format has it, in which semicolons part frames.
std::string folded_text(const Flame& flame) {
  std::string text = format::one_line(frame_text(flame));
  std::ranges::replace(text, ';', ',');
  return text;
}

/// Frames by their text, file and line, each once.
class SpeedscopeFrames {
 public:
  std::size_t index(const Flame& flame) {
    const auto [entry, is_new] =
        known_.try_emplace({frame_text(flame), flame.place.file, flame.place.line}, frames_.size());
    if (is_new) {
      ordered_json frame{{"name", std::get<0>(entry->first)}};
      if (!flame.place.file.empty()) frame["file"] = flame.place.file;
      if (flame.place.line != 0) frame["line"] = flame.place.line;
      frames_.push_back(std::move(frame));
    }
    return entry->second;
  }
  [[nodiscard]] const ordered_json& frames() const { return frames_; }

 private:
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> known_;
  ordered_json frames_ = ordered_json::array();
};

}  // namespace

std::vector<CaseStacks> case_stacks(const ExportedTrace& traced) {
  const auto indices = trace::case_indices(traced.rows);
  constexpr trace::Interval always{std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()};
  std::vector<CaseStacks> all;
  for (const ExportedCase& one : traced.cases) {
    auto lines = launch_lines_of(traced.rows, indices.at(one.result->id), always);
    if (lines) all.push_back({one.result->id, std::move(*lines)});
  }
  return all;
}

std::string folded_stacks(const std::vector<CaseStacks>& cases) {
  std::string text;
  for (const CaseStacks& one : cases) {
    for (const WeighedStack& stack : stacks_of(one.lines)) {
      if (cases.size() > 1) text += one.id + ";";
      for (const Flame* frame : stack.frames) text += folded_text(*frame) + (frame->is_kernel ? " " : ";");
      text += fmt::format("{}\n", stack.time);
    }
  }
  return text;
}

std::string speedscope_json(const std::vector<CaseStacks>& cases, const std::string& name) {
  SpeedscopeFrames frames;
  ordered_json profiles = ordered_json::array();
  for (const CaseStacks& one : cases) {
    ordered_json samples = ordered_json::array(), times = ordered_json::array();
    std::int64_t whole = 0;
    for (const WeighedStack& stack : stacks_of(one.lines)) {
      ordered_json sample = ordered_json::array();
      for (const Flame* frame : stack.frames) sample.push_back(frames.index(*frame));
      samples.push_back(std::move(sample));
      times.push_back(stack.time);
      whole += stack.time;
    }
    profiles.push_back({{"type", "sampled"},
                        {"name", one.id},
                        {"unit", "nanoseconds"},
                        {"startValue", 0},
                        {"endValue", whole},
                        {"samples", std::move(samples)},
                        {"weights", std::move(times)}});
  }
  const ordered_json whole{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                           {"name", name},
                           {"exporter", fmt::format("mprof {}", version)},
                           {"shared", {{"frames", frames.frames()}}},
                           {"profiles", std::move(profiles)}};
  return whole.dump() + "\n";
}

}  // namespace mprof
