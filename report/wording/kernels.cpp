// SPDX-License-Identifier: MIT
#include "report/wording/kernels.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text/format.hpp"

namespace mprof {
namespace {

constexpr std::size_t longest_name = 40;
constexpr std::size_t longest_list = 4;  // of kernels that a footnote names

std::string short_name(const std::string& kernel) {
  return format::elide(format::one_line(kernel), longest_name);
}

std::string sum_text(const Origin& origin) {
  std::vector<std::string> names;
  for (const auto& [kernel, launches] : origin.kernels)
    names.push_back(launches == 1 ? short_name(kernel)
                                  : fmt::format("{} {}", format::plain_times(launches), short_name(kernel)));
  std::string text = names.size() <= longest_list
                         ? fmt::format("the sum over {}", format::list(names))
                         : fmt::format("the sum over all launches of {} kernels", names.size());
  if (!origin.all_launches) text += ", one launch of each: no trace says how many there were";
  return text;
}

std::string longest_text(const Origin& origin) {
  const std::string where = origin.op.empty() ? "" : " in " + format::one_line(origin.op);
  const std::string among =
      origin.among > 1 ? fmt::format(", the longest of {} kernels", origin.among) : std::string();
  return fmt::format("of {}{}{}", short_name(origin.kernels.front().kernel), where, among);
}

}  // namespace

BoundWords bound_words(const Bottleneck& bottleneck) {
  const std::optional<BusyPart>&compute = bottleneck.compute_part, &memory = bottleneck.memory_part;
  BoundWords words{std::string(to_string(bottleneck.bound)), {}, {}};
  switch (bottleneck.bound) {
    case Bound::compute:
      words.figures = format::whole_percent(bottleneck.compute);
      if (!compute) break;
      // The pipes of memory instructions are in the multiprocessors, and compute nothing.
      if (!compute->moves_data()) {
        words.head = fmt::format("compute ({})", compute->name);
        break;
      }
      words.head = compute->name;
      if (bottleneck.issue_slots)
        words.beside = fmt::format("{} {}", issue_slots, format::whole_percent(*bottleneck.issue_slots));
      break;
    case Bound::memory:
      words.figures = format::whole_percent(bottleneck.memory);
      if (memory) {
        words.head = memory->name;
      } else if (bottleneck.dram) {
        words.head = "memory pipeline";
      }
      if (bottleneck.dram && (!memory || !memory->is_dram()))
        words.beside = fmt::format("DRAM {}", format::whole_percent(*bottleneck.dram));
      if (bottleneck.busier)
        words.beside += fmt::format("{}{} {}", words.beside.empty() ? "" : ", ", bottleneck.busier->name,
                                    format::whole_percent(bottleneck.busier->percent));
      break;
    case Bound::balanced:
      if (compute && memory) words.beside = fmt::format("{} and {}", compute->name, memory->name);
      [[fallthrough]];
    case Bound::latency:
      words.figures = format::whole_percents(bottleneck.compute, bottleneck.memory);
      break;
  }
  return words;
}

std::string bound_text(const Bottleneck& bottleneck) {
  const BoundWords words = bound_words(bottleneck);
  return fmt::format("{} {}{}{}", words.head, words.figures, words.beside.empty() ? "" : ", ", words.beside);
}

std::string_view hint_text(KernelHint hint) {
  switch (hint) {
    case KernelHint::more_blocks:
      return "Give it more work a launch: its grid fills less than half of the GPU";
    case KernelHint::less_tensor_work:
      return "Multiply less, or in a lower precision: the tensor cores are busy";
    case KernelHint::fewer_instructions:
      return "Execute fewer instructions";
    case KernelHint::fewer_dram_bytes:
      return "Move fewer bytes: fuse it with its neighbours, or use a narrower type";
    case KernelHint::fewer_cache_bytes:
      return "Read less from caches: use each value that is read more often, in registers or tiles";
    case KernelHint::more_loads:
      return "Keep more loads on their way: load ahead, or load more at once";
    case KernelHint::shared_memory:
      return "Use shared memory less, or without bank conflicts";
    case KernelHint::fewer_barriers:
      return "Wait less at barriers: smaller blocks, or fewer barriers";
    case KernelHint::more_warps:
      return "Have more warps at once: few are resident";
    case KernelHint::longer_chains:
      return "Give each warp more independent work";
  }
  return "";
}

std::string waits_text(const KernelResult& kernel) {
  constexpr std::size_t most = 2;
  std::vector<std::string> texts;
  for (const Stall& stall : kernel.stalls) {
    if (texts.size() == most || !(stall.cycles > 0)) break;
    if (stall.harms())
      texts.push_back(fmt::format("{} {}", stall.reason, format::significant(stall.cycles, 3)));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string origin_text(const Origin& origin, const Words& words) {
  switch (origin.how) {
    case Origin::How::plainly:
      return {};
    case Origin::How::sum:
      return sum_text(origin);
    case Origin::How::longest:
      return longest_text(origin);
    case Origin::How::group_time:
      break;
  }
  return words.time("group_time") + ", for the op time of one of the two says little";
}

}  // namespace mprof
