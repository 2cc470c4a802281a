// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.hpp"
#include "report/analysis/kernels/kernels.hpp"

/// Speed of Light: how near each kernel comes to what the GPU can do, what holds it back, and what became of
/// that since its baseline's kernel. The rules are Nsight Compute's.
namespace mprof {

struct FamilyResult;
struct VariantResult;
struct CaseResult;

/// Both in % of the GPU's peak, as Nsight Compute names them.
inline constexpr std::string_view counted_sm_throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
inline constexpr std::string_view counted_memory_throughput =
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

/// What holds a kernel back.
enum class Bound { compute, memory, balanced, latency };

[[nodiscard]] std::string_view to_string(Bound bound);

/// A part of the GPU, as readers of Nsight Compute know it, and how busy it was.
struct BusyPart {
  std::string_view name;
  double percent = 0;
  std::string_view metric{};  ///< that counts it; empty: the issue slots

  /// A pipe or port of memory instructions, which is in the multiprocessors and computes nothing.
  [[nodiscard]] bool moves_data() const;
  [[nodiscard]] bool is_dram() const;
};

/// The part of a multiprocessor that no metric of its own counts.
inline constexpr std::string_view issue_slots = "issue slots";
/// The one of the tensor cores.
inline constexpr std::string_view tensor_pipe = "tensor pipe";

struct Bottleneck {
  Bound bound = Bound::latency;
  bool near_limit = false;      ///< the higher of the two is above 80 %: only less work makes it faster
  bool under_one_wave = false;  ///< the grid does not fill the GPU once
  double compute = 0;           ///< %, SM throughput
  double memory = 0;            ///< %, memory throughput
  /// The parts whose throughputs the two are: "issue slots", "L1/TEX"; nullopt where no counted part is as
  /// busy.
  std::optional<BusyPart> compute_part{};
  std::optional<BusyPart> memory_part{};
  /// Busier than the memory throughput says, which leaves out some of what keeps a cache busy.
  std::optional<BusyPart> busier{};
  std::optional<double> issue_slots{};  ///< %, instructions issued of all that could be
  std::optional<double> dram{};         ///< %, DRAM throughput
};

/// Latency: both throughputs are under 60 %. Otherwise balanced when they differ by less than 10 points, and
/// bound by the higher one when not. nullopt where a throughput is unknown; unknown waves flag nothing.
[[nodiscard]] std::optional<Bottleneck> bottleneck_of(const Value& compute, const Value& memory,
                                                      const Value& waves);
/// The same of a kernel, with the parts that it keeps busy.
[[nodiscard]] std::optional<Bottleneck> bottleneck_of(const KernelCounters& kernel);

/// Multiprocessors of the GPU that a kernel ran on: nobody counts them, but waves are computed from them.
[[nodiscard]] std::optional<double> multiprocessors_of(const KernelCounters& kernel);

/// What limits the theoretical occupancy: all that allow the fewest blocks, "registers", "shared memory",
/// ...; nothing when one of them is unknown.
[[nodiscard]] std::vector<std::string> occupancy_limits_of(const KernelCounters& kernel);

/// What the tensor cores executed in a launch.
[[nodiscard]] double tensor_operations(const KernelCounters& kernel);

/// The ceiling of what most of these operations were of: "tf32_tensor_flop_rate" or "fp16_tensor_flop_rate";
/// empty without any.
[[nodiscard]] std::string_view tensor_ceiling(const KernelCounters& kernel);

/// Whether FP16 is what the kernel computes with. The compiler also moves constants with FP16 instructions.
/// So FP16 instructions count only in a kernel that has more of them than of FP32 ones, and enough to do a
/// good part of the op with.
[[nodiscard]] bool computes_in_half(const KernelCounters& kernel, const OpInfo& op);

/// FLOP that a launch executed, a packed pair of FP16 counted once; nullopt where a count was not read.
[[nodiscard]] std::optional<double> executed_flops(const KernelCounters& kernel, const OpInfo& op);

/// Why the counted DRAM bytes are not what the op's launches, `of_op`, make DRAM move; nothing where they
/// are, or the capacity of the L2 cache (B) is unknown. A launch whose data fit the L2 leaves what it wrote
/// there, and DRAM gets it only after the profiled kernel.
[[nodiscard]] Why why_dram_untold(std::span<const KernelCounters> of_op, const OpInfo& op,
                                  std::optional<double> l2_capacity);

/// The kernel that another one is compared with.
struct KernelBefore {
  std::string variant;
  std::string kernel;
  Value compute;
  Value memory;
  std::optional<Bottleneck> bottleneck;
};

/// Why warps waited, in cycles per issued instruction.
struct Stall {
  std::string_view key;     ///< of the counter: "long_scoreboard"
  std::string_view reason;  ///< as readers know it: "long scoreboard"
  double cycles = 0;

  /// A warp that was ready and not taken loses nothing.
  [[nodiscard]] bool harms() const;
};

/// The largest first.
[[nodiscard]] std::vector<Stall> stalls_of(const KernelCounters& kernel);

/// Warp instructions that a pipe executed.
struct PipeShare {
  std::string pipe;  ///< as the catalogue's label names it: "FMA"
  double instructions = 0;
};

/// A level of the memory system that bytes of a kernel went through, beside DRAM.
struct CacheTraffic {
  double bytes = 0;
  double intensity = 0;           ///< FLOP/B
  std::optional<double> of_peak;  ///< share of what the cache can do, by its bytes a cycle and its clock
};

/// A kernel's place under the measured roofs.
struct RooflinePoint {
  double flops = 0;      ///< FLOP that a launch executed
  double bytes = 0;      ///< B that it moved through DRAM
  double intensity = 0;  ///< FLOP/B
  double rate = 0;       ///< FLOP/s
  /// Share of what the lower roof allows, with tensor cores under theirs; nullopt without roofs.
  std::optional<double> of_roof;
  bool tensor_cores = false;
  std::optional<CacheTraffic> l1{};
  std::optional<CacheTraffic> l2{};
};

/// One kernel of one op, at the problem of the section.
struct KernelResult {
  const VariantResult* variant = nullptr;
  const CaseResult* result = nullptr;
  KernelCounters counters;
  std::optional<double> share;  ///< of the time of the op's counted kernels
  bool longest = false;         ///< of its op: it speaks for the variant in charts
  std::optional<Bottleneck> bottleneck;
  std::optional<KernelBefore> before;
  std::vector<std::string> limited_by;  ///< what limits the theoretical occupancy: "registers", "warps", ...
  std::vector<Stall> stalls;            ///< the longest first, without the issuing itself
  std::vector<BusyPart> pipes;          ///< in the order of the multiprocessor's parts
  std::vector<PipeShare> mix;           ///< in the order of the catalogue
  std::optional<RooflinePoint> roofline;
  Why no_roofline;  ///< why there is no point although all was counted
};

/// A case of which no kernel was counted.
struct Uncounted {
  const VariantResult* variant = nullptr;
  Why reason;
};

struct SpeedOfLight {
  Problem problem;                    ///< the one at which most variants were counted; the largest of these
  std::vector<KernelResult> kernels;  ///< variants, their ops and kernels in order; empty: see `absent`
  std::vector<Uncounted> uncounted;   ///< variants for the GPU without counters at this problem
  std::optional<double> peak_flop_rate;  ///< FLOP/s, measured FP32 roof
  std::optional<double> peak_bandwidth;  ///< B/s, measured memory roof
  std::optional<double> peak_copy_rate;  ///< B/s, measured between host and device with pinned memory
  std::optional<double> peak_tf32_rate;  ///< FLOP/s, measured roofs of the tensor cores
  std::optional<double> peak_fp16_rate;
  std::optional<double> l1_bandwidth;  ///< B/s, what the caches can do at the clock of the counted kernels
  std::optional<double> l2_bandwidth;
  std::optional<double> l2_capacity;  ///< B
  Why absent;                         ///< why there is no kernel
};

/// `family` must outlive the result, which points into it.
[[nodiscard]] SpeedOfLight speed_of_light(const Run& run, const FamilyResult& family);

/// A ceiling of the GPU by its id; nullopt where it was not measured.
[[nodiscard]] std::optional<double> measured_peak(std::span<const Ceiling> ceilings,
                                                  std::string_view ceiling);
/// The peak of a run; nullopt as well where several GPU models measured it, which have no peak in common.
[[nodiscard]] std::optional<double> measured_peak(const Run& run, std::string_view ceiling);

}  // namespace mprof
