// SPDX-License-Identifier: MIT
#include "report/wording/advice.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "report/text/format.hpp"
#include "report/wording/why.hpp"

namespace mprof {
namespace {

/// What to change in the program, by the rule that fired.
struct Change {
  std::string_view rule;
  std::string_view text;
};

constexpr std::array changes{std::to_array<Change>({
    {"instructions",
     "Tile into registers: let a thread compute several outputs of each value that it loads, "
     "and unroll its loops"},
    {"instructions_and_accesses",
     "Tile into registers, so that each loaded value is used several times, and read 16 bytes at once "
     "(float4)"},
    {"unfused_arithmetic", "Write a * b + c as one expression or fmaf(), and compile without -fmad=false"},
    {"launch_gaps",
     "Merge small kernels, launch them without waiting in between, or launch more of them as one CUDA graph"},
    {"partial_waves",
     "Launch as many blocks as the GPU holds at once, or a multiple, and let each loop over its work"},
    {"idle_multiprocessors", "Cut the work into more blocks of equal length"},
    {"theoretical_occupancy",
     "Give a thread fewer registers (__launch_bounds__), a block less shared memory, or choose another block "
     "size: the table of occupancy says which one limits"},
    {"achieved_occupancy", "Make blocks smaller and of equal length, so that one begins as soon as one ends"},
    {"issue_slots",
     "Give each thread independent work: several outputs, unrolled loops, and loads that are issued before "
     "they are needed"},
    {"long_scoreboard",
     "Load early what is needed later: double buffering with cp.async, or several loads of a thread in "
     "flight; keep what is used again in registers or shared memory"},
    {"barrier", "Use two buffers, so that a step needs one barrier, or warp shuffles and __syncwarp()"},
    {"short_scoreboard",
     "Keep what is used again in registers, read shared memory 16 bytes at once (float4), and use fast "
     "intrinsics for special functions where precision allows"},
    {"mio_throttle",
     "Read shared memory 16 bytes at once (float4), and use each value several times from registers"},
    {"lg_throttle",
     "Read global memory 16 bytes at once (float4), and use each value several times from registers"},
    {"coalescing",
     "Let thread i of a warp read element i: swap the loops or the layout, or stage a tile in shared memory"},
    {"bank_conflicts", "Pad the rows of arrays in shared memory by one element, or swizzle their indices"},
    {"cache_bandwidth",
     "Tile into registers, so that each value that is read from a cache or shared memory is used several "
     "times"},
    {"dram_bandwidth",
     "Read and write 16 bytes at once (float4), and keep several loads of each thread in flight"},
    {"dram_traffic",
     "Fuse kernels, so that nothing between them goes through DRAM; tile, so that data is read once; or "
     "store in half precision"},
    {"serial_copies",
     "Copy in chunks by cudaMemcpyAsync on several streams, from pinned memory, while another chunk is "
     "computed"},
    {"copy_rate", "Copy from pinned memory (cudaMallocHost or cudaHostRegister)"},
    {"allocation", "Allocate once and use it again, or take memory from a pool (cudaMallocAsync)"},
    {"synchronization", "Order the work by streams and events, and wait once at the end"},
    {"host_code", "Launch first and compute on the host while the GPU works, or use a second thread"},
    {"whole_kernels", "Make the kernels faster that take the longest, as the advice for the ops says"},
    {"whole_serial_copies",
     "Copy in chunks by cudaMemcpyAsync on several streams, from pinned memory, while another chunk is "
     "computed"},
    {"whole_copy_rate", "Copy from pinned memory (cudaMallocHost or cudaHostRegister)"},
    {"whole_allocation",
     "Allocate and pin once and use it again, or take memory from a pool (cudaMallocAsync)"},
    {"whole_synchronization", "Order the work by streams and events, and wait once at the end"},
    {"whole_calls", "Merge small kernels and copies, or launch them as one CUDA graph"},
    {"whole_system_calls", "Leave files, locks and sleeping to another thread while the GPU works"},
    {"whole_host_code",
     "Launch first and compute on the host while the GPU works, spread the host's code over threads, or move "
     "it to the GPU"},
})};

std::string_view name_of(AdviceEvidence evidence) {
  switch (evidence) {
    case AdviceEvidence::kernels:
      return "its kernels";
    case AdviceEvidence::dram_bytes:
      return "its DRAM bytes";
    case AdviceEvidence::copies_and_host:
      return "its copies and what the host did";
    case AdviceEvidence::time_budget:
      break;
  }
  return "its time budget";
}

/// Of the variant, not of what is missing.
bool is_flaw(Because because) {
  return because == Because::works_elsewhere || because == Because::copies_in_forward ||
         because == Because::prints_copies || because == Because::prints_too_little;
}

}  // namespace

std::string_view change_text(const AdviceRule& rule, bool of_steps) {
  if (of_steps && rule.id == whole_kernels_rule)
    return "Make the kernels faster that take the longest: the table of kernels says what holds each back";
  const auto* const found = std::ranges::find(changes, rule.id, &Change::rule);
  return found == changes.end() ? rule.advice : found->text;
}

std::string example_text(const Advice& advice) {
  const AdviceRule& rule = *advice.rule;
  const AdviceExample& example = advice.example;
  if (example.result == nullptr) return fmt::format("See {}", rule.source);
  return fmt::format("{} has {} ({} {}). All its changes together make it {} as fast",
                     format::short_id(example.result->configuration), rule.lower ? "less" : "more",
                     rule.limit, format::from_to(advice.value, example.value, rule.unit),
                     format::times(*example.achieved.factor));
}

std::string record_text(const AdviceRecord& record) {
  if (record.tries == 0) return "no comparison of this run changed this limit";
  std::string text = fmt::format("{} of this run changed this limit: {} faster",
                                 format::plural(record.tries, "comparison"), record.right);
  if (record.wrong > 0) text += fmt::format(", {} slower", record.wrong);
  if (const std::size_t open = record.tries - record.right - record.wrong; open > 0)
    text += fmt::format(", {} undecided", open);
  if (record.leading == record.tries) return text;
  if (record.leading == 0) return text + "; it was never the largest predicted gain";
  return text + fmt::format("; it was the largest predicted gain in {}", format::count(record.leading));
}

std::string not_judged_text(const NotJudged& missing) {
  const std::string why = say(missing.why);
  if (is_flaw(missing.why.because))
    return fmt::format("{} (it {}, so its op time is not theirs)", name_of(missing.evidence), why);
  return fmt::format("{} ({})", name_of(missing.evidence), why);
}

}  // namespace mprof
