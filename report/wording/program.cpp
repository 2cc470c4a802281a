// SPDX-License-Identifier: MIT
#include "report/wording/program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/kernel_name.hpp"
#include "report/analysis/program/next_gain.hpp"
#include "report/text/format.hpp"
#include "report/wording/advice.hpp"
#include "report/wording/kernels.hpp"
#include "report/wording/launch_lines.hpp"
#include "report/wording/memory_use.hpp"
#include "report/wording/slow_steps.hpp"
#include "report/wording/time_budget.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

std::string steps_text(std::size_t count) {
  return format::plural(count, "step");
}

/// "load, forward and backward"; of a kernel the function's own name.
std::string step_names(const Steps& steps) {
  std::vector<std::string> names;
  for (const std::string& name : steps.names) names.push_back(format::short_id(name));
  if (steps.mark == StepMark::launches) names = {kernel_name_of_demangled(steps.names.front()).brief};
  return format::list(names);
}

/// "A step is the NVTX ranges load, forward and backward."
std::string what_a_step_is(const Steps& steps) {
  if (steps.mark == StepMark::launches)
    return fmt::format("A step begins with each launch of {}, which repeats. {}", step_names(steps),
                       steps.has_ranges ? "Its NVTX ranges are not used: a step is a push/pop range that "
                                          "repeats at least five times on a thread."
                                        : "NVTX ranges would name it.");
  return fmt::format("A step is the NVTX {} {}.", steps.names.size() > 1 ? "ranges" : "range",
                     step_names(steps));
}

LedText step_line(const Steps& steps) {
  const double pace = steps.median_pace();
  std::string text = format::nanoseconds(pace);
  if (const auto interval = steps.pace_interval())
    text += fmt::format(" (median of {}, 95\u00a0%: {} to {})", steps_text(steps.steady_steps()),
                        format::nanoseconds(interval->low), format::nanoseconds(interval->high));
  else
    text += fmt::format(" (median of {})", steps_text(steps.steady_steps()));
  text += fmt::format(", {} steps a second on average, while traced. {}",
                      format::significant(steps.rate(), 3), what_a_step_is(steps));
  return {"A step", text};
}

/// Shares of the time in which kernels ran, with the little ones as one.
std::string kinds_text(const ProgramPicture& picture) {
  constexpr std::size_t most = 6;
  constexpr double least = 0.01;
  std::vector<std::string> parts;
  double rest = 1;
  for (const KindTime& kind : picture.kinds) {
    const double share = picture.share_of_kernels(kind.time);
    if (parts.size() == most || share < least || kind.kind == KernelKind::other) continue;
    parts.push_back(fmt::format("{} {}", kind_name(kind.kind), format::percent(share)));
    rest -= share;
  }
  constexpr double visible = 0.0005;
  if (parts.empty()) return {};
  if (rest > visible) parts.push_back(fmt::format("other kernels {}", format::percent(rest)));
  return format::list(parts);
}

/// " (CUDA calls 2.2 %, waits 1.1 %)": the causes of idle time that are worth a word.
std::string idle_text(const std::array<std::int64_t, budget_parts>& parts, std::int64_t window) {
  constexpr double least = 0.005;
  constexpr std::size_t most = 3;
  const auto of = [&](BudgetPart part) { return parts.at(static_cast<std::size_t>(part)); };
  const auto share = [&](BudgetPart part) {
    return static_cast<double>(of(part)) / static_cast<double>(window);
  };
  std::vector<BudgetPart> causes;
  for (std::size_t i = 0; i < budget_parts; ++i) {
    const auto part = static_cast<BudgetPart>(i);
    if (is_idle(part) && share(part) >= least) causes.push_back(part);
  }
  std::ranges::stable_sort(causes, std::ranges::greater{}, of);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, causes.size()); ++i)
    texts.push_back(fmt::format("{} {}", idle_cause(causes[i]), format::percent(share(causes[i]))));
  return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, ", "));
}

/// " Warming up has more than steady steps of: the cost of tracing (+40 ms)."
std::string warming_up_text(const ProgramPicture& picture) {
  constexpr std::size_t most = 2;
  const std::vector<std::pair<BudgetPart, double>> parts = picture.more_in_warming_up();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(most, parts.size()); ++i)
    texts.push_back(
        fmt::format("{} (+{})", part_phrase(parts[i].first), format::nanoseconds(parts[i].second)));
  return texts.empty() ? ""
                       : fmt::format(" Warming up has more than steady steps of: {}.", format::list(texts));
}

/// The GPUs that a sentence names: all, or of many the two busiest and the two idlest ones.
std::vector<GpuShare> named_gpus(const TimeBudget& budget) {
  constexpr std::size_t most = 4;
  std::vector<GpuShare> gpus = budget.gpus;
  if (gpus.size() <= most) return gpus;
  std::ranges::stable_sort(gpus, std::ranges::greater{}, &GpuShare::kernels);
  gpus.erase(gpus.begin() + most / 2, gpus.end() - most / 2);
  return gpus;
}

std::string share_of_window(const TimeBudget& budget, std::int64_t time) {
  return format::percent(static_cast<double>(time) / static_cast<double>(budget.window));
}

std::int64_t idle_of(const TimeBudget& budget, const GpuShare& gpu) {
  return budget.window - gpu.kernels - gpu.copies;
}

/// "Of the steady steps, GPU 0 runs kernels for 99.0 % and is idle for 1.0 %. GPU 1 runs ..."
std::string by_gpu_text(const ProgramPicture& picture) {
  const TimeBudget& budget = picture.budget;
  const std::vector<GpuShare> named = named_gpus(budget);
  std::vector<std::string> texts;
  for (const GpuShare& gpu : named) {
    texts.push_back(fmt::format(
        "GPU {} runs kernels for {} and is idle for {}{}", gpu.gpu, share_of_window(budget, gpu.kernels),
        share_of_window(budget, idle_of(budget, gpu)), idle_text(gpu.idle, budget.window)));
  }
  std::string text =
      fmt::format("Of {}, {}.", picture.steps ? "the steady steps" : "the time from the first CUDA call",
                  fmt::join(texts, ". "));
  const std::size_t others = budget.gpus.size() - named.size();
  if (others == 1) text += " The other GPU lies between.";
  if (others > 1) text += fmt::format(" The {} other GPUs lie between.", others);
  return text;
}

/// " 2 processes have kernels on GPU 0: process 7 for 60.0 % and process 8 for 50.0 % of the time. ..."
std::string by_process_text(const TimeBudget& budget) {
  constexpr std::size_t most = 4;
  std::string text;
  for (auto first = budget.processes.begin(); first != budget.processes.end();) {
    const auto end = std::find_if(first, budget.processes.end(),
                                  [&](const ProcessShare& one) { return one.gpu != first->gpu; });
    std::vector<ProcessShare> shares(first, end);
    std::ranges::stable_sort(shares, std::ranges::greater{}, &ProcessShare::kernels);
    std::vector<std::string> named;
    for (std::size_t i = 0; i < std::min(most, shares.size()); ++i)
      named.push_back(
          fmt::format("process {} for {}", shares[i].process, share_of_window(budget, shares[i].kernels)));
    text += fmt::format(
        " {} processes have kernels on GPU {}: {} of the time. What is said of it counts them together.",
        shares.size(), first->gpu, format::list(named));
    first = end;
  }
  return text;
}

LedText budget_line(const ProgramPicture& picture) {
  const TimeBudget& budget = picture.budget;
  const auto share = [&](std::int64_t time) {
    return format::percent(static_cast<double>(time) / static_cast<double>(budget.window));
  };
  const std::int64_t kernels = budget.of(BudgetPart::kernels) + budget.of(BudgetPart::kernels_and_copies);
  const std::int64_t copies = budget.window - budget.idle() - kernels;
  std::string text =
      fmt::format("Kernels run for {} of {}{}, and the GPU has nothing to do for {}{}.", share(kernels),
                  picture.steps ? "the steady steps" : "the time from the first CUDA call",
                  share(copies) == share(0) ? "" : ", copies or memsets alone for " + share(copies),
                  share(budget.idle()), idle_text(budget.parts, budget.window));
  if (!budget.gpus.empty()) text = by_gpu_text(picture);
  text += by_process_text(budget);
  if (picture.loader && budget.gpus.empty())
    text +=
        fmt::format(" In {}, which by its name gets the input, the GPU has nothing to do for {} of the time.",
                    format::one_line(picture.loader->first), share(picture.loader->second));
  if (const std::string kinds = kinds_text(picture); !kinds.empty())
    text += fmt::format(" Of the time of kernels: {} (by their names).", kinds);
  return {picture.steps ? "Where a step goes" : "Where the time goes", text};
}

/// " The host does its part of a step in 5.5 ms at best, so it is not what holds the GPU up."
std::string host_is_ahead(const ProgramPicture& picture) {
  constexpr double well_ahead = 0.8;
  if (!picture.steps) return {};
  const auto host = static_cast<double>(picture.steps->fastest_host());
  if (host > well_ahead * picture.steps->median_pace()) return {};
  return fmt::format(" The host does its part of a step in {} at best, so it is not what holds the GPU up.",
                     format::nanoseconds(host));
}

/// " It waits 2.0 times a step in cudaStreamSynchronize."
std::string waits_text(const ProgramPicture& picture) {
  if (picture.waits.empty()) return {};
  const WaitTime& wait = picture.waits.front();
  const std::string from = wait.range.empty() ? "" : ", mostly in " + format::one_line(wait.range);
  if (!picture.steps)
    return fmt::format(" It waits {} in {}{}, the longest of these calls.",
                       format::plural(wait.count, "time"), wait.call, from);
  return fmt::format(
      " It waits {} times a step in {}{}.",
      format::significant(
          static_cast<double>(wait.count) / static_cast<double>(picture.steps->steady_steps()), 2),
      wait.call, from);
}

/// " 61.2 % of that is in load."
std::string in_range_text(const ProgramPicture& picture) {
  if (picture.bounding_range.empty()) return {};
  return fmt::format(" {} of that is in {}.", format::percent(picture.in_bounding_range),
                     format::one_line(picture.bounding_range));
}

/// " A larger input a step, such as a larger batch, gives each launch more work, ..." Where the GPU's memory
/// holds an input that is half as large again or larger.
std::string larger_input_text(const ProgramPicture& picture) {
  constexpr double worth_it = 1.5;
  if (!picture.memory.use || !says_what_input_needs(*picture.memory.use)) return {};
  const MemoryUse& use = *picture.memory.use;
  if (!use.of_gpu || use.peak == 0) return {};
  const double room = static_cast<double>(*use.of_gpu) / static_cast<double>(use.peak);
  if (room < worth_it) return {};
  return " A larger input a step, such as a larger batch, gives each launch more work, and the GPU's memory "
         "has room for it.";
}

/// ns in which the GPU that bounds the program is idle while the host is in calls of CUDA.
std::int64_t calls_of_bounding_gpu(const TimeBudget& budget) {
  if (budget.gpus.empty()) return budget.of(BudgetPart::idle_calls);
  const auto busiest = std::ranges::minmax_element(budget.gpus, {}, &GpuShare::kernels).max;
  return busiest->idle.at(static_cast<std::size_t>(BudgetPart::idle_calls));
}

/// " Each of 420 launches a step costs some of it: ..." Where there are many, whose calls take a notable part
/// of what bounds the program. Kernels of CUDA graphs are launched together already.
std::string many_launches_text(const ProgramPicture& picture) {
  constexpr double many = 50;
  if (!picture.steps) return {};
  if (4 * calls_of_bounding_gpu(picture.budget) < picture.bounding) return {};
  const double launches = static_cast<double>(picture.launches - picture.of_graphs) /
                          static_cast<double>(picture.steps->steady_steps());
  if (launches < many) return {};
  return fmt::format(
      " Each of {} launches a step costs some of it: CUDA graphs, or fewer and larger kernels, spare that.",
      format::count(static_cast<std::uint64_t>(launches)));
}

/// Where programs wait for what another thread or process has to give them.
bool waits_for_others(std::string_view call) {
  constexpr std::array<std::string_view, 6> waiting{"cond_", "sem_", "poll", "select", "futex", "join"};
  return std::ranges::any_of(waiting, [&](std::string_view one) { return call.find(one) != call.npos; });
}

/// What the calls of the operating system are that keep the GPU idle.
std::string system_text(const TimeBudget& budget) {
  if (budget.system.empty()) return {};
  const std::string& call = budget.system.front().name;
  if (waits_for_others(call))
    return " There it waits for another thread or process: a loader that is too slow looks like this. Give "
           "it more workers, or let it load ahead.";
  return {};
}

/// By what holds them back, of the time of all kernels, the most first: "latency", "DRAM", "tensor pipe".
std::vector<std::pair<std::string, std::int64_t>> limits_of_kernels(const ProgramPicture& picture) {
  std::vector<std::pair<std::string, std::int64_t>> limits;
  for (const FunctionTime& function : picture.functions) {
    if (function.counted == nullptr || !function.counted->bottleneck) continue;
    const std::string head = bound_words(*function.counted->bottleneck).head;
    const auto known = std::ranges::find(limits, head, &std::pair<std::string, std::int64_t>::first);
    if (known == limits.end())
      limits.emplace_back(head, function.time);
    else
      known->second += function.time;
  }
  std::ranges::stable_sort(limits, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  return limits;
}

/// " What holds them back: latency for 59.1 % of their time, DRAM for 22.4 %." Which unit it is.
std::string units_text(const ProgramPicture& picture) {
  constexpr std::size_t most = 3;
  constexpr double least = 0.05;
  std::vector<std::string> texts;
  const auto limits = limits_of_kernels(picture);
  for (const auto& [head, time] : limits) {
    const double share = picture.share_of_kernels(time);
    if (texts.size() == most || share < least) break;
    texts.push_back(
        fmt::format("{} for {}{}", head, format::percent(share), texts.empty() ? " of their time" : ""));
  }
  if (texts.empty()) return {};
  return fmt::format(" What holds them back: {}.{}", format::list(texts),
                     limits.front().first == to_string(Bound::latency)
                         ? " Latency: warps wait, and no unit is busy for 60\u00a0% of what it can do."
                         : "");
}

std::string longest_kernel_text(const ProgramPicture& picture) {
  const FunctionTime& first = picture.functions.front();
  return fmt::format(" {} takes the most, {} of the time of kernels.", format::one_line(first.name),
                     format::percent(picture.share_of_kernels(first.time)));
}

/// Of several GPUs: the busiest one, and the idlest one where it does much less. The sum of all GPUs would
/// name a GPU that works as the bound of one that does not.
std::string bound_of_gpus(const TimeBudget& budget) {
  constexpr double uneven = 0.2;
  const auto [idlest, busiest] = std::ranges::minmax_element(budget.gpus, {}, &GpuShare::kernels);
  std::string text = fmt::format("GPU {}, the busiest of {}: it runs kernels for {} of the time.",
                                 busiest->gpu, budget.gpus.size(), share_of_window(budget, busiest->kernels));
  if (static_cast<double>(busiest->kernels - idlest->kernels) <= uneven * static_cast<double>(budget.window))
    return text;
  return text + fmt::format(" GPU {} is idle for {}. Divide the work more evenly, or use fewer GPUs.",
                            idlest->gpu, share_of_window(budget, idle_of(budget, *idlest)));
}

/// "GPU 0, the busiest of 2,", or "the GPU" where there is one.
std::string name_of_bounding_gpu(const TimeBudget& budget) {
  if (budget.gpus.empty()) return "the GPU";
  const auto busiest = std::ranges::minmax_element(budget.gpus, {}, &GpuShare::kernels).max;
  return fmt::format("GPU {}, the busiest of {},", busiest->gpu, budget.gpus.size());
}

LedText bound_line(const ProgramPicture& picture) {
  const std::string share =
      format::percent(static_cast<double>(picture.bounding) / static_cast<double>(picture.budget.window));
  const std::string gain =
      picture.gain ? fmt::format(" At most {} as fast without it.", format::times(*picture.gain)) : "";
  const std::string lead = "What bounds it", gpu = name_of_bounding_gpu(picture.budget);
  switch (picture.bound) {
    case ProgramBound::kernels:
      if (!picture.budget.gpus.empty())
        return {lead, bound_of_gpus(picture.budget) + longest_kernel_text(picture) + units_text(picture)};
      return {lead, fmt::format("The GPU: kernels run for {} of the time.{}{}{}", share,
                                longest_kernel_text(picture), units_text(picture), host_is_ahead(picture))};
    case ProgramBound::copies:
      return {lead, fmt::format("Copies: for {} of the time data are copied and no kernel runs.{} Copy from "
                                "pinned memory, on a "
                                "stream of its own, while kernels run.",
                                share, gain)};
    case ProgramBound::communication:
      return {lead,
              fmt::format("Communication: for {} of the time a GPU only exchanges data with others, or "
                          "waits for them in such a kernel.{} "
                          "Exchange while other kernels run, send less, or divide the work more evenly.",
                          share, gain)};
    case ProgramBound::launching:
      return {lead,
              fmt::format("Launching: for {} of the time {} waits for the next launch, mostly in "
                          "gaps below 50\u00a0µs.{}{} "
                          "{}{}",
                          share, gpu, in_range_text(picture), gain,
                          2 * picture.of_graphs >= picture.launches
                              ? "Most kernels are in CUDA graphs already: fewer and larger ones shorten them."
                              : "CUDA graphs, or fewer and larger kernels, shorten them.",
                          larger_input_text(picture))};
    case ProgramBound::host:
      return {lead, fmt::format("The host: for {} of the time {} has nothing to do while the host runs "
                                "code between CUDA calls.{}{} "
                                "Launch before that code, or move it to another thread.{}{}",
                                share, gpu, in_range_text(picture), gain, many_launches_text(picture),
                                larger_input_text(picture))};
    case ProgramBound::waiting:
      return {lead, fmt::format("Waiting: for {} of the time {} has nothing to do while the host waits "
                                "in a call.{}{} Launch the "
                                "next work before waiting.",
                                share, gpu, gain, waits_text(picture))};
    case ProgramBound::allocation:
      return {lead, fmt::format("Allocation: for {} of the time {} has nothing to do while memory is "
                                "allocated or freed.{}{} Keep "
                                "buffers, or use cudaMallocAsync.",
                                share, gpu, in_range_text(picture), gain)};
    case ProgramBound::system:
      return {lead, fmt::format("The operating system: for {} of the time {} has nothing to do while "
                                "the host is in {}.{}{}{}",
                                share, gpu,
                                picture.budget.system.empty()
                                    ? "its calls"
                                    : "calls such as " + picture.budget.system.front().name,
                                in_range_text(picture), gain, system_text(picture.budget))};
    case ProgramBound::tracing:
      return {
          lead,
          fmt::format("Not known: for {} of the time recording the trace, or loading code, held up the host.",
                      share)};
  }
  return {lead, ""};
}

/// "2 of 19 steps took more than 1.25 times the median. The slowest: step 9 96.1 ms (garbage collection) and
/// step 14 70.2 ms (the loader)."
LedText pace_line(const ProgramPicture& picture) {
  const Steps& steps = *picture.steps;
  const std::vector<std::size_t> slow = steps.slow();
  if (slow.empty()) return {"Its pace", "Even: no steady step took more than 1.25 times the median."};
  constexpr std::size_t most = 3;
  std::vector<std::string> named;
  for (const SlowStep& one : std::span(picture.slow).first(std::min(most, picture.slow.size()))) {
    const std::string_view cause = slow_step_cause(one);
    named.push_back(fmt::format("step {} {}{}", one.step + 1, format::nanoseconds(one.pace),
                                cause.empty() ? "" : fmt::format(" ({})", cause)));
  }
  return {"Its pace", fmt::format("{} of {} took more than 1.25 times the median. The slowest: {}.",
                                  slow.size(), steps_text(steps.steady_steps()), format::list(named))};
}

/// "Make scale faster: its busiest unit reaches 19 % (up to 1.28×)."
std::string gain_text(const NextGain& gain) {
  if (gain.rule != nullptr) return fmt::format("{} ({}).", change_text(*gain.rule), format::up_to(gain.gain));
  return fmt::format("Make {} faster: its busiest unit reaches {} ({}).",
                     format::one_line(gain.function->name), format::whole_percent(100 * gain.floor),
                     format::up_to(gain.gain));
}

/// Where a kernel that was not counted may be the part that is worth a gain.
std::string uncounted_text(const ProgramPicture& picture) {
  const bool is_counted = std::ranges::any_of(
      picture.functions, [](const FunctionTime& one) { return ProgramPicture::floor_of(one).has_value(); });
  return fmt::format("How much faster the {}kernels could be is not known: they were not counted. ",
                     is_counted ? "other " : "");
}

LedText next_line(const ProgramPicture& picture) {
  constexpr std::size_t most = 3;
  const std::string of = picture.steps ? "a traced step" : "the time from the first CUDA call";
  std::string text;
  const std::vector<NextGain> gains = next_gains(picture);
  for (std::size_t i = 0; i < std::min(most, gains.size()); ++i) text += gain_text(gains[i]) + " ";
  const bool are_known = !may_gain_uncounted(picture);
  const std::uint64_t lacking = picture.budget.lacking;
  if (lacking > 0)
    text +=
        fmt::format("{}: the trace lacks {}, and what they stood for looks idle or like other work. ",
                    gains.empty() ? "Not known" : "These are no bounds", format::plural(lacking, "record"));
  else if (gains.empty())
    text = fmt::format("{} single part of {} is worth 5\u00a0% or more, as far as it was measured. ",
                       are_known ? "No" : "Apart from kernels, no", of);
  else
    text += fmt::format("{} of {}. ", gains.size() > 1 ? "Bounds, each alone," : "A bound", of);
  if (!are_known) text += uncounted_text(picture);
  text.pop_back();
  return {"The next gain", text};
}

/// "8.743 s traced: 2.932 s before its first CUDA call, 3.747 s from there to the first step ...": parts
/// that add up.
LedText beginning_line(const ProgramPicture& picture) {
  const trace::Interval& whole = picture.whole;
  const Value& untraced = picture.result->total_time;
  std::string text =
      untraced ? fmt::format("{} untraced. ", format::quantity(untraced->median, Unit::second)) : "";
  std::vector<std::string> before, then;
  const auto add = [](std::vector<std::string>& parts, std::int64_t time, std::string_view what) {
    if (time > 0) parts.push_back(fmt::format("{} {}", format::nanoseconds(time), what));
  };
  if (picture.steps) {
    const Steps& steps = *picture.steps;
    const std::int64_t first = steps.all.front().host.start;
    const bool calls_first = picture.first_call <= first;
    add(before, std::min(picture.first_call, first) - whole.start,
        calls_first ? "before its first CUDA call" : "before the first step");
    if (calls_first)
      add(before, first - std::max(picture.first_call, whole.start),
          before.empty() ? "before the first step" : "from there to the first step");
    if (steps.steady > 0)
      add(before, picture.told.start - first, fmt::format("of warming up ({})", steps_text(steps.steady)));
    add(then, picture.told.length(),
        fmt::format("of {} steady {}", steps.steady_steps(), steps.steady_steps() == 1 ? "step" : "steps"));
    add(then, whole.end - picture.told.end, "after them");
  } else {
    add(before, picture.first_call - whole.start, "before its first CUDA call");
    add(then, whole.end - std::max(picture.first_call, whole.start),
        before.empty() ? "from its first CUDA call to its end" : "from there to its end");
  }
  text += fmt::format("{} traced: {}.", format::nanoseconds(whole.length()),
                      format::list(before.empty() ? then : before));
  if (!before.empty() && !then.empty()) text += fmt::format(" Then {}.", format::list(then));
  return {"The whole program", text + warming_up_text(picture)};
}

}  // namespace

std::string_view kind_name(KernelKind kind) {
  switch (kind) {
    case KernelKind::matrix_product:
      return "matrix products";
    case KernelKind::attention:
      return "attention";
    case KernelKind::convolution:
      return "convolutions";
    case KernelKind::normalization:
      return "normalization";
    case KernelKind::softmax:
      return "softmax and losses";
    case KernelKind::pooling:
      return "pooling";
    case KernelKind::elementwise:
      return "element-wise";
    case KernelKind::reduction:
      return "reductions";
    case KernelKind::optimizer:
      return "optimizer";
    case KernelKind::communication:
      return "communication";
    case KernelKind::layout:
      return "copies and layout";
    case KernelKind::indexing:
      return "indexing";
    case KernelKind::sorting:
      return "sorting and scans";
    case KernelKind::random:
      return "random numbers";
    case KernelKind::transform:
      return "FFT";
    case KernelKind::sparse:
      return "sparse products";
    case KernelKind::other:
      return "other";
  }
  return "other";
}

std::vector<LedText> program_lines(const ProgramPicture& picture) {
  std::vector<LedText> lines;
  if (picture.steps) lines.push_back(step_line(*picture.steps));
  lines.push_back(budget_line(picture));
  lines.push_back(bound_line(picture));
  lines.push_back(next_line(picture));
  if (picture.steps) lines.push_back(pace_line(picture));
  if (picture.launched_from) lines.push_back(launch_lines_line(*picture.launched_from));
  lines.push_back({"Memory", memory_text(picture)});
  lines.push_back(beginning_line(picture));
  return lines;
}

namespace {

LedText process_time_line(const ProcessPicture& process) {
  const auto time = [](double seconds) { return format::quantity(seconds, Unit::second); };
  std::string text = fmt::format("{} in the median", time(process.median()));
  if (const std::optional<double> deviation = process.deviation())
    text += fmt::format(", {} ± {} (mean ± standard deviation), {} to {}", time(process.mean()),
                        time(*deviation), time(process.least()), time(process.most()));
  return {"How long it takes",
          fmt::format("{}. It ran {}, without a profiler.", text,
                      process.times.size() == 1 ? "once" : fmt::format("{} times", process.times.size()))};
}

/// What CPUs did, and for how long none of them did anything.
LedText processor_line(const ProcessPicture& process) {
  const double busy = process.user.value_or(0) + process.system.value_or(0);
  std::string text = fmt::format("{} of user time and {} of system time",
                                 format::quantity(process.user.value_or(0), Unit::second),
                                 format::quantity(process.system.value_or(0), Unit::second));
  if (process.cores_busy)
    text += fmt::format(": {} cores were busy on average", format::significant(*process.cores_busy, 2));
  text += ".";
  if (busy < process.median())
    text += fmt::format(" It waited, or was not scheduled, for at least {} of its time.",
                        format::percent(1 - busy / process.median()));
  return {"What CPUs did", text};
}

LedText system_calls_line(const std::vector<SystemCalls>& calls) {
  constexpr std::size_t most = 3;
  std::vector<std::string> named;
  for (std::size_t i = 0; i < std::min(most, calls.size()); ++i)
    named.push_back(fmt::format("{} {} ({})", format::one_line(calls[i].name),
                                format::nanoseconds(calls[i].time),
                                calls[i].count == 1 ? "1 call" : format::count(calls[i].count) + " calls"));
  return {"Where it waited",
          fmt::format("In calls of the operating system, of all threads: {}.", format::list(named))};
}

}  // namespace

std::vector<LedText> process_lines(const ProcessPicture& process) {
  std::vector<LedText> lines{process_time_line(process)};
  if (process.user && process.system) lines.push_back(processor_line(process));
  if (!process.calls.empty()) lines.push_back(system_calls_line(process.calls));
  if (process.peak_memory)
    lines.push_back({"Memory", fmt::format("{} at the peak of the largest process.",
                                           format::about(*process.peak_memory, Unit::byte))});
  if (!process.untraced.empty()) {
    const Because because = process.untraced.because;
    const bool is_of_gpu_alone =
        because == Because::case_lacks_kernels || because == Because::case_has_whole_graphs;
    lines.push_back({"Not recorded", fmt::format("What it did on a GPU{}: {}.",
                                                 is_of_gpu_alone ? "" : " and in the operating system",
                                                 say(process.untraced))});
  }
  return lines;
}

std::string bound_remark(const ProgramPicture& picture) {
  if (picture.gain) return fmt::format("at most {} as fast without it", format::times(*picture.gain));
  const auto limits = limits_of_kernels(picture);
  if (picture.bound != ProgramBound::kernels || limits.empty()) return {};
  return fmt::format("{} for {} of kernel time", limits.front().first,
                     format::percent(picture.share_of_kernels(limits.front().second)));
}

std::string_view bound_name(ProgramBound bound) {
  switch (bound) {
    case ProgramBound::kernels:
      return "the GPU";
    case ProgramBound::copies:
      return "copies";
    case ProgramBound::communication:
      return "communication";
    case ProgramBound::launching:
      return "launching";
    case ProgramBound::host:
      return "the host";
    case ProgramBound::waiting:
      return "waiting";
    case ProgramBound::allocation:
      return "allocation";
    case ProgramBound::system:
      return "the system";
    case ProgramBound::tracing:
      return "not known";
  }
  return "";
}

}  // namespace mprof
