// SPDX-License-Identifier: MIT
#include "report/analysis/program/launch_lines.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "model/kernel_name.hpp"
#include "report/analysis/program/kernel_kinds.hpp"
#include "report/trace/graph_captures.hpp"

namespace mprof {
namespace {

using trace::StackFrame;
using trace::StackIndex;

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return text.find(part) != text.npos; });
}

/// "Solver::step" of void Solver::step(float*): without parameters and the type that it returns.
std::string brief_function(const std::string& whole) {
  const std::string templated = kernel_name_of_demangled(whole).templated;
  const std::size_t at = whole.find(templated);
  if (templated.empty() || at == std::string::npos) return whole;
  std::size_t begin = at;
  for (int depth = 0; begin > 0; --begin) {
    const char before = whole[begin - 1];
    depth += before == '>' || before == ')' ? 1 : before == '<' || before == '(' ? -1 : 0;
    if (before == ' ' && depth == 0) break;
  }
  return whole.substr(begin, at - begin) + templated;
}

/// "AddmmBackward0" of torch::autograd::generated::AddmmBackward0::apply(...); empty of anything else.
std::string gradient_of(const std::string& function) {
  constexpr std::string_view space = "torch::autograd::", generated = "generated::",
                             tail = "_apply_functional";
  const std::string brief = brief_function(function);
  if (!brief.starts_with(space)) return {};
  std::string_view text = std::string_view(brief).substr(space.size());
  if (text.starts_with(generated)) text.remove_prefix(generated.size());
  text = text.substr(0, text.find("::"));
  if (text.ends_with(tail)) text.remove_suffix(tail.size());
  const bool is_operation =
      text.find("Backward") != text.npos || text == "AccumulateGrad" || text == "CopySlices";
  return is_operation ? std::string(text) : std::string();
}

/// What a stack is made of, seen once for all launches that have it.
class KnownStack {
 public:
  KnownStack(const trace::Trace& trace, StackIndex index) : trace_(trace), frames_(trace.stacks[index]) {
    has_python_ = std::ranges::any_of(frames_, &StackFrame::is_python);
  }

  [[nodiscard]] bool has_python() const { return has_python_; }

  /// The line that the user would look at, of a launch of this kernel.
  [[nodiscard]] CodePlace own_line(const std::string& kernel) const {
    if (has_python_) return own_line_of_python();
    if (auto gradient = gradient_place()) return *gradient;
    return own_line_of_machine_code(kernel);
  }

  /// From the outermost to the innermost one that tells something.
  [[nodiscard]] std::vector<CodePlace> path(const std::string& kernel) const {
    if (auto gradient = has_python_ ? std::nullopt : gradient_place()) return {*gradient};
    std::vector<CodePlace> places;
    for (const StackFrame& frame : frames_) {
      if (has_python_ != frame.is_python() || is_hidden(frame, kernel)) continue;
      places.push_back(place_of(frame));
    }
    std::ranges::reverse(places);
    return places;
  }

 private:
  [[nodiscard]] const std::string& name(std::uint32_t index) const { return trace_.names[index]; }

  [[nodiscard]] CodePlace place_of(const StackFrame& frame) const {
    const std::string& function = name(frame.function);
    return {.function = frame.is_python() ? function : brief_function(function),
            .file = name(frame.file),
            .module = name(frame.module),
            .line = frame.line};
  }

  /// The innermost one of the user's own; the innermost one where all are of libraries.
  [[nodiscard]] CodePlace own_line_of_python() const {
    const StackFrame* innermost = nullptr;
    for (const StackFrame& frame : frames_) {
      if (!frame.is_python()) continue;
      if (innermost == nullptr) innermost = &frame;
      if (!is_library_source(name(frame.file))) return place_of(frame);
    }
    return place_of(*innermost);
  }

  /// PyTorch's autograd runs the backward pass in threads of its own: a node says of which operation.
  [[nodiscard]] std::optional<CodePlace> gradient_place() const {
    for (const StackFrame& frame : frames_) {
      std::string node = gradient_of(name(frame.function));
      if (!node.empty())
        return CodePlace{.function = std::move(node), .module = name(frame.module), .is_gradient = true};
    }
    // What it does between two operations, such as adding gradients up.
    for (const StackFrame& frame : frames_) {
      if (name(frame.function).find("torch::autograd::Engine::") != std::string::npos)
        return CodePlace{.function = "Engine", .module = name(frame.module), .is_gradient = true};
    }
    return std::nullopt;
  }

  /// What a launch goes through before it leaves the code that asked for it: stubs that the compiler makes,
  /// and headers.
  [[nodiscard]] bool is_of_launching(const StackFrame& frame, const std::string& kernel) const {
    const std::string& function = name(frame.function);
    if (function.starts_with("__device_stub__") || function.starts_with("__wrapper__device_stub") ||
        has_any(function, {"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "libcudart_static_"}))
      return true;
    const bool is_stub =
        !kernel.empty() && function_name(kernel_name_of_demangled(function).templated) == kernel;
    return is_stub ||
           has_any(name(frame.file), {"/targets/x86_64-linux/include/", "/cuda/include/", "tmpxft_"});
  }

  [[nodiscard]] CodePlace own_line_of_machine_code(const std::string& kernel) const {
    const StackFrame *with_line = nullptr, *with_name = nullptr;
    for (const StackFrame& frame : frames_) {
      if (is_of_launching(frame, kernel)) continue;
      const bool is_of_system = has_any(name(frame.file), {"/usr/include/", "/include/c++/", "/include/cub/",
                                                           "/include/thrust/", "/include/cutlass/"});
      if (frame.line != 0 && !is_of_system && with_line == nullptr) with_line = &frame;
      // A library's inner functions say little; the program's own say more.
      const bool is_of_program = !has_any(name(frame.module), {".so"});
      if (frame.function != 0 && is_of_program && with_name == nullptr) with_name = &frame;
    }
    if (with_line != nullptr) return place_of(*with_line);
    if (with_name != nullptr) return place_of(*with_name);
    const auto named = std::ranges::find_if(frames_, [](const StackFrame& one) { return one.function != 0; });
    return place_of(named == frames_.end() ? frames_.front() : *named);
  }

  /// Frames of a flame graph that every launch has, or that say nothing.
  [[nodiscard]] bool is_hidden(const StackFrame& frame, const std::string& kernel) const {
    const std::string& function = name(frame.function);
    if (frame.function == 0) return true;
    if (!frame.is_python())
      return function == "_start" || function.starts_with("__libc_start") || is_of_launching(frame, kernel);
    const std::string& file = name(frame.file);
    if (file.starts_with("<frozen importlib") || file.starts_with("<frozen runpy")) return true;
    if (!is_library_source(file)) return false;
    // Each call of a module of PyTorch goes through these.
    return has_any(function, {"_call_impl", "_wrapped_call_impl", "decorate_context"});
  }

  const trace::Trace& trace_;
  std::span<const StackFrame> frames_;
  bool has_python_ = false;
};

/// The stack of each kernel's launch; of a graph's kernel, of the launch that was captured.
class LaunchStacks {
 public:
  LaunchStacks(const trace::Trace& trace, trace::CaseIndex index) : trace_(trace), captures_(trace, index) {
    for (const trace::Call& call : trace::of_case(trace.calls, index)) {
      if (call.stack != trace::no_stack) of_calls_.emplace(call.correlation, call.stack);
    }
    // A graph may be from before the case's part of the program.
    for (const trace::GraphNode& node : trace.graph_nodes) {
      if (node.stack != trace::no_stack) of_nodes_.emplace(node.id, node.stack);
    }
  }

  [[nodiscard]] bool empty() const { return of_calls_.empty(); }

  [[nodiscard]] StackIndex of(const trace::KernelRow& row) const {
    if (const std::uint64_t node = trace_.kernels.graph_node(row); node != 0) {
      const auto origin = captures_.of(trace_.kernels.shared(row).process, node);
      const auto captured = of_nodes_.find(origin ? origin->node : node);
      if (captured != of_nodes_.end()) return captured->second;
    }
    const auto call = of_calls_.find(trace_.kernels.correlation(row));
    return call == of_calls_.end() ? trace::no_stack : call->second;
  }

 private:
  const trace::Trace& trace_;
  CapturePaths captures_;
  std::unordered_map<std::int64_t, StackIndex> of_calls_;   ///< by correlation id
  std::unordered_map<std::uint64_t, StackIndex> of_nodes_;  ///< by node
};

struct Sum {
  std::int64_t time = 0;
  std::uint64_t launches = 0;
};

struct LineSum {
  Sum all;
  std::map<std::string, std::int64_t> kernels;
};

Flame& inner_of(Flame& flame, CodePlace place, bool is_kernel) {
  const auto same = std::ranges::find_if(flame.inner, [&](const Flame& one) {
    return one.is_kernel == is_kernel && one.place.function == place.function &&
           one.place.file == place.file && one.place.line == place.line;
  });
  if (same != flame.inner.end()) return *same;
  return flame.inner.emplace_back(Flame{.place = std::move(place), .is_kernel = is_kernel});
}

void sort_flames(Flame& flame) {
  std::ranges::stable_sort(flame.inner, std::ranges::greater{}, &Flame::time);
  for (Flame& inner : flame.inner) sort_flames(inner);
}

}  // namespace

bool is_library_source(const std::string& file) {
  if (has_any(file, {"/site-packages/", "/dist-packages/"})) return true;
  if (file.starts_with("<"))
    return file != "<stdin>" && file != "<string>" && !file.starts_with("<ipython") &&
           !file.starts_with("<cell");
  // Python's own library lies in lib/python3.12; what users put below their home does not.
  const std::size_t at = file.find("/lib/python3.");
  return at != std::string::npos || has_any(file, {"/lib64/python3."});
}

std::optional<LaunchLines> launch_lines_of(const trace::Trace& trace, trace::CaseIndex index,
                                           const trace::Interval& window) {
  if (trace.stacks.size() <= 1) return std::nullopt;
  const LaunchStacks stacks(trace, index);
  if (stacks.empty()) return std::nullopt;
  // Rows are summed by stack and kernel first: these are few.
  std::map<std::pair<StackIndex, trace::NameIndex>, Sum> sums;
  LaunchLines found;
  for (const trace::KernelRow& row : trace::of_case(trace.kernels.rows(), index)) {
    if (row.time.start >= window.end || row.time.end <= window.start) continue;
    Sum& sum = sums[{stacks.of(row), trace.kernels.shared(row).name}];
    sum.time += row.time.length();
    ++sum.launches;
  }
  std::map<CodePlace, LineSum> lines;
  std::map<StackIndex, KnownStack> known;
  for (const auto& [key, sum] : sums) {
    const auto& [stack, name] = key;
    found.time += sum.time;
    found.launches += sum.launches;
    if (stack == trace::no_stack || trace.stacks[stack].empty()) {
      found.unknown_time += sum.time;
      found.unknown_launches += sum.launches;
      continue;
    }
    const KnownStack& frames = known.try_emplace(stack, trace, stack).first->second;
    const std::string kernel(function_name(kernel_name_of_demangled(trace.names[name]).templated));
    if (!frames.has_python()) {
      found.outside_python_time += sum.time;
      found.outside_python_launches += sum.launches;
    }
    const CodePlace own = frames.own_line(kernel);
    if (own.is_gradient) found.gradient_time += sum.time;
    LineSum& line = lines[own];
    line.all.time += sum.time;
    line.all.launches += sum.launches;
    line.kernels[kernel] += sum.time;
    Flame* at = &found.flame;
    at->time += sum.time;
    for (CodePlace& place : frames.path(kernel)) {
      at = &inner_of(*at, std::move(place), false);
      at->time += sum.time;
    }
    inner_of(*at, {.function = kernel}, true).time += sum.time;
  }
  if (lines.empty()) return std::nullopt;
  const bool has_python = std::ranges::any_of(known, [](const auto& one) { return one.second.has_python(); });
  if (!has_python) found.outside_python_time = found.outside_python_launches = 0;
  for (auto& [place, sum] : lines) {
    LaunchLine& line = found.lines.emplace_back(LaunchLine{place, sum.all.time, sum.all.launches, {}});
    line.kernels.assign(sum.kernels.begin(), sum.kernels.end());
    std::ranges::stable_sort(line.kernels, std::ranges::greater{},
                             &std::pair<std::string, std::int64_t>::second);
  }
  std::ranges::stable_sort(found.lines, std::ranges::greater{}, &LaunchLine::time);
  sort_flames(found.flame);
  return found;
}

}  // namespace mprof
