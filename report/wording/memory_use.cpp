// SPDX-License-Identifier: MIT
#include "report/wording/memory_use.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

std::string bytes_text(std::uint64_t bytes) {
  return format::about(static_cast<double>(bytes), Unit::byte);
}

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// The ranges that both lie in.
std::vector<std::string> shared_ranges(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.erase(std::ranges::mismatch(a, b).in1, a.end());
  return a;
}

/// How many ranges all have in common: "step" says nothing where all was allocated in it.
std::size_t ranges_in_common(const std::vector<MemoryHolder>& holders) {
  std::optional<std::vector<std::string>> common;
  for (const MemoryHolder& holder : holders) {
    if (!holder.range.empty()) common = common ? shared_ranges(*common, holder.range) : holder.range;
  }
  return common ? common->size() : 0;
}

/// By the outermost ranges that differ, the most first. Of one such range it is the innermost one that has
/// all of it. Without any range it is by calls.
std::vector<MemoryHolder> grouped_holders(const MemoryUse& use, bool has_ranges) {
  const std::size_t common = ranges_in_common(use.holders);
  std::vector<MemoryHolder> groups;
  for (const MemoryHolder& holder : use.holders) {
    const auto is_same = [&](const MemoryHolder& group) {
      if (!has_ranges) return group.call == holder.call;
      if (group.range.size() <= common || holder.range.size() <= common) return group.range == holder.range;
      return group.range[common] == holder.range[common];
    };
    const auto group = std::ranges::find_if(groups, is_same);
    if (group == groups.end()) {
      groups.push_back(holder);
      continue;
    }
    group->range = shared_ranges(group->range, holder.range);
    group->bytes += holder.bytes;
  }
  std::ranges::stable_sort(groups, std::ranges::greater{}, &MemoryHolder::bytes);
  return groups;
}

/// " Allocated in: forward 61.0 % and backward 30.2 %." of ranges; " Allocated by: cudaMalloc 100.0 %."
/// without.
std::string holders_text(const MemoryUse& use) {
  constexpr std::size_t most = 3;
  constexpr double least = 0.05;
  const bool has_ranges =
      std::ranges::any_of(use.holders, [](const MemoryHolder& one) { return !one.range.empty(); });
  std::vector<std::string> named;
  for (const MemoryHolder& group : grouped_holders(use, has_ranges)) {
    const double share = share_of(group.bytes, use.peak);
    if (named.size() == most || share < least) break;
    const std::string name = has_ranges           ? holder_range(group)
                             : group.call.empty() ? "a call that was not traced"
                                                  : format::one_line(group.call);
    named.push_back(fmt::format("{} {}", name, format::percent(share)));
  }
  if (named.empty()) return {};
  return fmt::format(" Allocated {}: {}.", has_ranges ? "in" : "by", format::list(named));
}

/// "step 1", "step 1, while warming up"; "before the first step".
std::string moment_text(const MemoryUse& use, const ProgramPicture& picture) {
  if (!picture.steps) return {};
  if (!use.peak_step) {
    const bool is_before = use.peak_time < picture.steps->all.front().host.start;
    return is_before ? "before the first step" : "after the last step";
  }
  const bool is_warming_up = *use.peak_step < picture.steps->steady;
  return fmt::format("in step {}{}", *use.peak_step + 1, is_warming_up ? ", while warming up" : "");
}

std::string growth_text(const MemoryGrowth& growth) {
  return fmt::format("It grows by {} a step.", format::about(growth.a_step, Unit::byte));
}

std::string absent_text(const NoMemoryUse& absent) {
  const std::string unseen = "cuMemCreate was called, and no record tells how much memory it gave.";
  if (absent.calls == 0)
    return "Not known: " +
           (absent.unseen_calls > 0 ? unseen : "the trace has no call that allocates memory of a GPU.");
  return fmt::format(
      "Not known: {} was called, and the trace does not say what it allocated. Nsight Systems records that "
      "with --cuda-memory-usage=true.{}",
      format::one_line(absent.call), absent.unseen_calls > 0 ? " " + unseen : "");
}

/// Memory that no record tells of comes on top.
std::string_view or_more(const MemoryUse& use) {
  return use.unseen_calls > 0 ? "at least " : "";
}

std::string peak_remark(const MemoryUse& use, const ProgramPicture& picture) {
  const std::string moment = moment_text(use, picture);
  std::string text = fmt::format(
      "The peak is {}{}, first reached {} after the program's start{}{}.", or_more(use), bytes_text(use.peak),
      format::nanoseconds(std::max<std::int64_t>(0, use.peak_time - picture.whole.start)),
      moment.empty() ? "" : ", ", moment);
  if (use.steady_peak && *use.steady_peak != use.peak && use.unseen_calls == 0)
    text += fmt::format(" The steady steps hold at most {}.", bytes_text(*use.steady_peak));
  return text;
}

/// "once", "3 times"
std::string times_text(std::uint64_t count) {
  return count == 1 ? "once" : format::count(count) + " times";
}

std::string traffic_remark(const MemoryTraffic& traffic, const Steps& steps) {
  if (traffic.allocations == 0 && traffic.releases == 0)
    return "The steady steps allocate and free no memory of the GPU.";
  const auto count = static_cast<double>(steps.steady_steps());
  if (traffic.allocations < steps.steady_steps())
    return fmt::format(
        "The {} steady steps {} They {}.", steps.steady_steps(),
        traffic.allocations == 0
            ? "allocate no memory of the GPU."
            : fmt::format("allocate memory {}. Together that is {}.", times_text(traffic.allocations),
                          format::about(static_cast<double>(traffic.bytes), Unit::byte)),
        traffic.releases == 0 ? "free none" : "free memory " + times_text(traffic.releases));
  return fmt::format("A steady step allocates {} times, {}, and frees {} times, on average.",
                     format::significant(static_cast<double>(traffic.allocations) / count, 3),
                     format::about(static_cast<double>(traffic.bytes) / count, Unit::byte),
                     format::significant(static_cast<double>(traffic.releases) / count, 3));
}

/// The evidence of a leak.
std::string growth_remark(const MemoryUse& use, const ProgramPicture& picture) {
  constexpr std::size_t most = 2;
  const MemoryGrowth& growth = *use.growth;
  std::string text = fmt::format(
      "Memory grows: {} are held before the {} steady steps and {} after them. Each quarter of the steps "
      "adds to it, {} a step on average.",
      bytes_text(growth.before), picture.steps->steady_steps(), bytes_text(growth.after),
      format::about(growth.a_step, Unit::byte));
  if (use.of_gpu && *use.of_gpu > growth.after) {
    const auto steps =
        static_cast<std::uint64_t>(static_cast<double>(*use.of_gpu - growth.after) / growth.a_step);
    text += steps == 0 ? " At this rate the GPU is full within the next step."
                       : fmt::format(" At this rate the GPU is full after at most {} more step{}.",
                                     format::count(steps), steps == 1 ? "" : "s");
  }
  std::vector<std::string> named;
  for (const MemoryHolder& holder : growth.holders) {
    if (named.size() == most) break;
    // A larger buffer may have taken the place of a smaller one.
    const std::string more =
        holder.allocations > 0 ? format::plural(holder.allocations, "more allocation") + " " : "";
    named.push_back(
        fmt::format("{} {} ({}by {})", bytes_text(holder.bytes),
                    holder.range.empty() ? "in no range" : "in " + holder_range(holder), more,
                    holder.call.empty() ? "a call that was not traced" : format::one_line(holder.call)));
  }
  if (!named.empty()) text += fmt::format(" They added: {}.", format::list(named));
  return text;
}

std::string reserver_remark(MemoryReserver reserver) {
  switch (reserver) {
    case MemoryReserver::pytorch:
      return "PyTorch's allocator keeps what CUDA gave it. So this is what it reserved, and tensors may use "
             "less. torch.cuda.memory_summary() says how much.";
    case MemoryReserver::xla:
      return "XLA's allocator keeps what CUDA gave it. So this is what it reserved, and arrays may use less. "
             "jax.profiler.save_device_memory_profile() says how much. Unless "
             "XLA_PYTHON_CLIENT_PREALLOCATE=false is set, XLA reserves 75\u00a0% of the GPU when it starts. "
             "So "
             "this does not say what a larger input needs.";
    case MemoryReserver::none:
      break;
  }
  return {};
}

/// Why no share of a GPU is told.
std::string several_remark(const MemoryUse& use) {
  if (use.processes < 2)
    return fmt::format(
        "The trace has several GPUs under the number {}. Their memory counts together, so the "
        "share of a GPU is not known.",
        use.gpu);
  return fmt::format(
      "{} processes held memory of GPU {}. It counts together, also of a process that ended without freeing "
      "it. So the share of the GPU is not known.",
      use.processes, use.gpu);
}

/// " If only what came since the first step began did (4.0 GiB), one 9.1× as large would.": a model is
/// mostly there before. Empty where that is much the same.
std::string room_of_steps_text(const MemoryUse& use, double room) {
  constexpr double notable = 1.1;
  if (!use.before_steps || !use.peak_step || *use.before_steps >= use.peak) return {};
  const std::uint64_t of_steps = use.peak - *use.before_steps;
  const double larger = share_of(*use.of_gpu - *use.before_steps, of_steps);
  if (larger < notable * room) return {};
  return fmt::format(" If only what came since the first step began did ({}), one {} as large would.",
                     bytes_text(of_steps), format::times(larger));
}

/// By how much the input can grow at least, if nothing grows faster than it.
std::string larger_input_remark(const MemoryUse& use) {
  constexpr double least = 1.1, plenty = 50;
  const std::string second =
      "One run does not say how much of it grows: run a second size and compare the "
      "peaks.";
  if (!use.of_gpu) return "How much memory the GPU has is not known. " + second;
  const double room = share_of(*use.of_gpu, use.peak);
  if (room > plenty)
    return fmt::format("The GPU has {}, {} times as much.", bytes_text(*use.of_gpu),
                       format::count(static_cast<std::uint64_t>(room)));
  if (room < least)
    return fmt::format("The GPU has {}: next to nothing is left for a larger input. {}",
                       bytes_text(*use.of_gpu), second);
  return fmt::format(
      "The GPU has {}, {} more than the program held at the peak. CUDA itself and other processes take some "
      "of that. If all that is held grew with the input of a step, one {} as large would fill it.{} {}",
      bytes_text(*use.of_gpu), bytes_text(*use.of_gpu - use.peak), format::times(room),
      room_of_steps_text(use, room), second);
}

}  // namespace

std::string holder_range(const MemoryHolder& holder) {
  if (holder.range.empty()) return "no range";
  std::vector<std::string> names;
  for (const std::string& name : holder.range) names.push_back(format::one_line(name));
  return fmt::format("{}", fmt::join(names, " / "));
}

bool says_what_input_needs(const MemoryUse& use) {
  return use.unseen_calls == 0 && !use.is_of_several && use.reserver != MemoryReserver::xla;
}

std::string memory_text(const ProgramPicture& picture) {
  constexpr double worth_telling = 0.001;
  if (!picture.memory.use) return absent_text(picture.memory.absent);
  const MemoryUse& use = *picture.memory.use;
  const double share = use.of_gpu ? share_of(use.peak, *use.of_gpu) : 0;
  const std::string moment = moment_text(use, picture);
  std::string text = fmt::format(
      "{}{} of GPU memory at its peak{}{}{}.", use.unseen_calls > 0 ? "At least " : "", bytes_text(use.peak),
      share >= worth_telling ? fmt::format(", {} of what the GPU has", format::percent(share)) : "",
      moment.empty() ? "" : ", ", moment);
  text += holders_text(use);
  if (use.growth) text += " " + growth_text(*use.growth);
  if (use.reserver != MemoryReserver::none) text += " It is what the framework reserved.";
  return text;
}

std::vector<std::string> memory_remarks(const ProgramPicture& picture) {
  std::vector<std::string> remarks;
  if (!picture.memory.use) return remarks;
  const MemoryUse& use = *picture.memory.use;
  if (use.growth) remarks.push_back(growth_remark(use, picture));
  remarks.push_back(peak_remark(use, picture));
  if (use.traffic && use.unseen_calls == 0) remarks.push_back(traffic_remark(*use.traffic, *picture.steps));
  if (std::string text = reserver_remark(use.reserver); !text.empty()) remarks.push_back(std::move(text));
  if (says_what_input_needs(use)) remarks.push_back(larger_input_remark(use));
  if (use.is_of_several) remarks.push_back(several_remark(use));
  if (use.from_pools > 0)
    remarks.push_back(fmt::format(
        "{} of the peak came from a memory pool, which may hold more of the GPU than the program uses.",
        bytes_text(use.from_pools)));
  if (use.managed > 0)
    remarks.push_back(
        fmt::format("{} of the peak is managed memory, which may lie on the host.", bytes_text(use.managed)));
  if (!use.others.empty()) {
    std::vector<std::string> peaks;
    for (const std::uint64_t peak : use.others) peaks.push_back(bytes_text(peak));
    remarks.push_back(fmt::format("This is GPU {}, which held the most. The peaks of the others: {}.",
                                  use.gpu, format::list(peaks)));
  }
  if (use.unseen_calls > 0)
    remarks.push_back(
        fmt::format("cuMemCreate was called {}. No record tells of its memory, so it is not counted.",
                    times_text(use.unseen_calls)));
  return remarks;
}

}  // namespace mprof
