// SPDX-License-Identifier: MIT
// The rival: NVIDIA's cuDNN, called as its expert would.
//
// Idea        cuDNN computes a convolution in dozens of ways, and says beforehand only which it thinks fast.
//             Its graph interface has three heuristics that propose engines with their knobs set; its older
//             one has eight algorithms, from an implicit matrix product to FFT. All that they offer for the
//             shape at hand is run in the first prepare() for it, as the library's own front end does when it
//             tunes, and the fastest is kept. What is timed is the whole op: where cuDNN is faster on
//             interleaved channels (NHWC) or on halves, bringing the tensors there and back counts.
//             Descriptors, the choice and memory stay for all later executions, so neither op_time nor (from
//             the second execution on) group_time contains the search. Later passes and rounds run the same
//             choice: of two that are as fast another search may prefer the other.
//
//             Tried are planes (NCHW) and interleaved channels, the output in the input's layout or in
//             planes, which need no conversion then, and for math=fp16 halves for both, halves for the input
//             alone, and 4 channels filled up to 8. Where a conversion remains, the batch is also tried in
//             sections whose converted tensors stay in the L2 cache from one kernel to the next.
//
//             math=fp32 permits FMA only (CUDNN_FMA_MATH; no engine on tensor cores). math=tf32 also permits
//             tensor cores that round FP32 inputs to TF32, math=fp16 those on halves; sums are FP32. What
//             comes in and goes out is FP32 in planes, as for every variant.
//
// Cost        General kernels. Tiles are made for channels and maps in multiples of 8 and more; with 1 and 4
//             channels and 4 and 16 maps most of a tile is padding. A 7 x 7 mask has no Winograd algorithm.
//
// The profile should show
//             one kernel of the library (several for FFT), with names that tell the algorithm. In FP32 a FLOP
//             rate well below register_tiled's: what a kernel for the shape at hand is worth. With tf32, the
//             tensor pipe active in layer 2. With fp16, interleave() before the convolution at the DRAM's
//             limit, perhaps separate() behind it; many launches of each where sections won.
//
//             On an H200 at batch 10000, layers 1 and 2: FP32 6.19 and 4.00 ms, TF32 6.19 and 2.14, FP16 5.03
//             and 1.45 (1.49 before), of which the convolution itself takes 4.58 and 1.01, as in PyTorch's
//             channels last (4.56 and 1.01).
#include <optional>
#include <string>

#include "kernels/conv/device/device_convolution.hpp"
#include "system/error.hpp"

#if __has_include(<cudnn.h>)  // which does not come with the CUDA toolkit

#include <algorithm>
#include <chrono>
#include <limits>
#include <list>
#include <memory>
#include <vector>

#include <cuda_fp16.h>

#include "kernels/choices.hpp"
#include "kernels/conv/device/cudnn_arrangements.hpp"
#include "kernels/conv/device/half_conversion.cuh"
#include "kernels/conv/device/interleave.cuh"

namespace mprof::conv {
namespace {

using cudnn::Arrangement;
using cudnn::Engine;
using cudnn::Math;

std::optional<std::string> unavailable() {
  if (cudnn::library().loaded()) return std::nullopt;
  return "cuDNN was not found (" + cudnn::library().error() + "). Install cuDNN " +
         std::to_string(CUDNN_MAJOR) + " for this CUDA version, or add its folder to LD_LIBRARY_PATH.";
}

std::string version() {
  return cudnn::version();
}

/// Device memory for what an arrangement has beside the op's own tensors; nothing for what it has not.
struct Staging {
  cuda::DeviceBuffer<std::byte> input;
  cuda::DeviceBuffer<std::byte> masks;
  cuda::DeviceBuffer<std::byte> output;

  Staging() = default;
  /// The masks are brought into cuDNN's type and layout once, as weights are.
  Staging(const Shape& s, const Arrangement& a, const float* host_mask) {
    const cudnn::StagedBytes staged(s, a);
    input = cuda::DeviceBuffer<std::byte>(a.images * staged.input);
    output = cuda::DeviceBuffer<std::byte>(a.images * staged.output);
    if (a.input.type == CUDNN_DATA_HALF) {
      copy(cudnn::arranged_masks<__half>(s, a, host_mask));
    } else {
      copy(cudnn::arranged_masks<float>(s, a, host_mask));
    }
  }

 private:
  template <class T>
  void copy(const std::vector<T>& arranged) {
    masks = cuda::DeviceBuffer<std::byte>(arranged.size() * sizeof(T));
    cuda::check(cudaMemcpy(masks.data(), arranged.data(), masks.bytes(), cudaMemcpyHostToDevice));
  }
};

/// How a convolution of one shape is to be run.
struct Plan {
  Shape shape;
  Arrangement arrangement;
  std::unique_ptr<Engine> engine;
  std::string name;
};

/// A search for the fastest plan.
struct Search {
  using Clock = std::chrono::steady_clock;

  std::optional<Plan> best{};
  double seconds = std::numeric_limits<double>::infinity();  ///< of the best
  std::size_t most_bytes = 0;                                ///< of a workspace, and of what is staged
  std::optional<Clock::time_point> since{};                  ///< nullopt: the library is still starting

  /// Whether it has taken as long as thousands of ops, or a second: times `share`.
  [[nodiscard]] bool is_long(double share) const {
    constexpr double most = 1;    // s
    constexpr double ops = 5000;  // after so many, finding a faster one has not paid
    if (!since || !best) return false;
    return std::chrono::duration<double>(Clock::now() - *since).count() >
           share * std::min(most, ops * seconds);
  }
};

class CudnnConvolution final : public DeviceConvolution {
 public:
  explicit CudnnConvolution(Math math) : math_(math) {}

 protected:
  void allocate(const float* host_mask) override {
    const auto known = std::ranges::find(plans_, shape(), &Plan::shape);
    plan_ = known != plans_.end() ? &*known : &plans_.emplace_back(chosen_plan(host_mask));
    staging_ = Staging(shape(), plan_->arrangement, host_mask);
    if (workspace_.size() < plan_->engine->workspace_bytes()) {
      workspace_ = {};  // before the larger one is allocated
      workspace_ = cuda::DeviceBuffer<std::byte>(plan_->engine->workspace_bytes());
    }
  }

  void launch() override {
    cudnn::check(convolve(plan_->arrangement, *plan_->engine, staging_, workspace_.data()),
                 "the convolution");
  }

  void release() override { staging_ = {}; }

 private:
  /// The whole op, from input() to output().
  [[nodiscard]] cudnnStatus_t convolve(const Arrangement& a, const Engine& engine, const Staging& staging,
                                       void* workspace) const {
    const Shape& s = shape();
    for (std::size_t first = 0; first < s.batch; first += a.images) {
      const float* const from = input() + first * s.image_size();
      float* const to = output() + first * s.out_image_size();
      const bool stages_input = staging.input.size() != 0;
      const bool stages_output = staging.output.size() != 0;
      if (stages_input) bring_in(a, from, staging.input.data());
      const cudnnStatus_t status = engine.run(
          stages_input ? static_cast<const void*>(staging.input.data()) : from, staging.masks.data(),
          stages_output ? static_cast<void*>(staging.output.data()) : to, workspace);
      if (status != CUDNN_STATUS_SUCCESS) return status;
      if (stages_output) bring_back(a, staging.output.data(), to);
    }
    return CUDNN_STATUS_SUCCESS;
  }

  void bring_in(const Arrangement& a, const float* from, std::byte* to) const {
    const std::size_t channels = shape().channels, plane = shape().height * shape().width;
    auto* const halves = reinterpret_cast<__half*>(to);
    if (a.input.layout == CUDNN_TENSOR_NCHW || a.input.channels == 1) {  // then they are not FP32
      to_half(from, halves, a.images * channels * plane);
    } else if (a.input.type == CUDNN_DATA_HALF) {
      interleave_images(from, halves, a.images, plane, channels, a.input.channels);
    } else {
      interleave_images(from, reinterpret_cast<float*>(to), a.images, plane, channels, a.input.channels);
    }
    cuda::check_launch();
  }

  void bring_back(const Arrangement& a, const std::byte* from, float* to) const {
    const std::size_t maps = shape().maps, plane = shape().plane_size();
    const auto* const halves = reinterpret_cast<const __half*>(from);
    if (a.output.layout == CUDNN_TENSOR_NCHW || a.output.channels == 1) {
      to_float(halves, to, a.images * maps * plane);
    } else if (a.output.type == CUDNN_DATA_HALF) {
      separate_images(halves, to, a.images, plane, maps, a.output.channels);
    } else {
      separate_images(reinterpret_cast<const float*>(from), to, a.images, plane, maps, a.output.channels);
    }
    cuda::check_launch();
  }

  /// The one that was chosen for this shape before, or the fastest.
  Plan chosen_plan(const float* host_mask) {
    const std::string problem = conv::name_of(shape());
    if (const std::optional<std::string> name = choices::known(problem)) {
      if (std::optional<Plan> plan = plan_of(*name, host_mask)) return std::move(*plan);
    }
    Plan plan = find_plan(host_mask);
    choices::keep(problem, plan.name);
    return plan;
  }

  /// Run as the fastest of a search has been; nullopt where this library does not offer it, or not on this
  /// GPU.
  [[nodiscard]] std::optional<Plan> plan_of(const std::string& name, const float* host_mask) const {
    std::vector<Arrangement> all = cudnn::arrangements(shape(), math_);
    for (const Arrangement& whole : cudnn::arrangements(shape(), math_))
      std::ranges::move(cudnn::in_sections(shape(), whole), std::back_inserter(all));
    for (const Arrangement& arrangement : all) {
      if (!name.starts_with(name_of(arrangement, ""))) continue;
      for (const cudnn::Candidate& candidate : candidates(arrangement)) {
        if (name != name_of(arrangement, candidate.name)) continue;
        std::unique_ptr<Engine> engine = candidate.make();
        constexpr double any = std::numeric_limits<double>::infinity();
        if (engine == nullptr || engine->workspace_bytes() > memory_limit() ||
            time(arrangement, *engine, Staging(shape(), arrangement, host_mask), any) == any)
          return std::nullopt;
        return Plan{shape(), arrangement, std::move(engine), name};
      }
    }
    return std::nullopt;
  }

  static std::string name_of(const Arrangement& arrangement, const std::string& engine) {
    return cudnn::name_of(arrangement) + ": " + engine;
  }

  /// Runs what may be run on this shape and returns what took the least time.
  Plan find_plan(const float* host_mask) {
    Search search{.most_bytes = memory_limit()};
    for (const Arrangement& arrangement : cudnn::arrangements(shape(), math_)) {
      try_all(arrangement, host_mask, search, 1);
      if (!search.since) search.since = Search::Clock::now();
    }
    if (search.best) {
      for (const Arrangement& arrangement : cudnn::in_sections(shape(), search.best->arrangement)) {
        try_all(arrangement, host_mask, search, 1.5);
      }
      return std::move(*search.best);
    }
    throw Error(ExitCode::fault,
                "conv/cudnn: nothing of cuDNN's takes this shape in " + std::to_string(search.most_bytes) +
                    " B of workspace. Give --batch a smaller one, or end what else uses the GPU (nvidia-smi "
                    "lists it).");
  }

  /// Device memory that a plan may have beside what the op needs.
  static std::size_t memory_limit() {
    constexpr std::size_t most = std::size_t{4} << 30U;
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total));
    return std::min(most, free / 2);
  }

  /// Every engine for the arrangement, unless the search has become long.
  void try_all(const Arrangement& a, const float* host_mask, Search& search, double share) {
    const cudnn::StagedBytes staged(shape(), a);
    if (search.is_long(share) || a.images * staged.sum() > search.most_bytes) return;
    const Staging staging(shape(), a, host_mask);
    for (const cudnn::Candidate& candidate : candidates(a)) {
      if (search.is_long(share)) return;
      std::unique_ptr<Engine> engine = candidate.make();
      if (engine == nullptr || engine->workspace_bytes() > search.most_bytes) continue;
      const double seconds = time(a, *engine, staging, search.seconds);
      if (seconds >= search.seconds) continue;
      search.seconds = seconds;
      search.best = Plan{shape(), a, std::move(engine), name_of(a, candidate.name)};
    }
  }

  [[nodiscard]] std::vector<cudnn::Candidate> candidates(const Arrangement& a) const {
    Shape section = shape();
    section.batch = a.images;
    const cudnn::Task task{section, a.input, a.output};
    std::vector<cudnn::Candidate> all = cudnn::graph_engines(handle_.get(), task, math_);
    std::ranges::move(cudnn::algorithms(handle_.get(), task, math_), std::back_inserter(all));
    return all;
  }

  /// The shortest of a few runs, after one that warms up; infinite for what cuDNN cannot do. What is far
  /// behind is not run again.
  [[nodiscard]] double time(const Arrangement& a, const Engine& engine, const Staging& staging,
                            double best_seconds) const {
    constexpr int runs = 3;
    constexpr double loading = 0.25;  // s, which a kernel's code may take in the first run
    const cuda::DeviceBuffer<std::byte> workspace(engine.workspace_bytes());
    double shortest = std::numeric_limits<double>::infinity();
    for (int run = 0; run <= runs; ++run) {
      const cuda::Event start;
      const cuda::Event stop;
      start.record();
      const cudnnStatus_t status = convolve(a, engine, staging, workspace.data());
      stop.record();
      stop.synchronize();
      if (status != CUDNN_STATUS_SUCCESS) {
        static_cast<void>(cudaGetLastError());  // a launch that cuDNN gave up is no error of ours
        return std::numeric_limits<double>::infinity();
      }
      const double seconds = stop.seconds_since(start);
      if (run != 0) shortest = std::min(shortest, seconds);
      if (seconds > 2 * best_seconds + (run == 0 ? loading : 0)) break;
    }
    return shortest;
  }

  Math math_;
  cudnn::Owned<cudnnHandle_t> handle_ =
      cudnn::make_owned(cudnn::functions().create, cudnn::functions().destroy);
  std::list<Plan> plans_;  ///< one a shape; their addresses stay
  const Plan* plan_ = nullptr;
  Staging staging_;
  cuda::DeviceBuffer<std::byte> workspace_;  ///< kept from one execution to the next
};

std::unique_ptr<Convolution> make(const Parameters& parameters) {
  const std::string& math = parameters.at("math");
  return std::make_unique<CudnnConvolution>(math == "fp16"   ? Math::fp16
                                            : math == "tf32" ? Math::tf32
                                                             : Math::fp32);
}

}  // namespace
}  // namespace mprof::conv

#else

namespace mprof::conv {
namespace {

std::optional<std::string> unavailable() {
  return "This build of mprof does not know cuDNN: install its headers (cudnn.h) and build again.";
}

std::string version() {
  return "not found";
}

std::unique_ptr<Convolution> make(const Parameters& /*parameters*/) {
  throw Error(ExitCode::environment, *unavailable());
}

}  // namespace
}  // namespace mprof::conv

#endif

namespace mprof::conv {
namespace {

const Register registered{Declaration{
    .title = "cuDNN's fastest engine",
    .idea =
        "The vendor's library, with the fastest of its algorithms and engines for the shape, in the layout "
        "that suits it, found by running them: the rival.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters =
        {{.name = "math",
          .meaning = "what cuDNN may multiply with; conversions from and to FP32 planes are part of the op",
          .default_value = "fp32",
          .values = {"fp32", "tf32", "fp16"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer2",
          .direction = Direction::decreases,
          .factor = 1.5,
          .because =
              "The library tiles for registers and shared memory, and 16 maps fill a part of its tiles."},
         {.metric = "l1tex__t_sector_hit_rate.pct",
          .direction = Direction::decreases,
          .because = "Its kernels stage inputs in shared memory once, where the baseline finds each of its "
                     "many loads in L1."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .direction = Direction::decreases,
          .factor = 2,
          .because =
              "An element that is loaded is used for several multiply-adds, and addresses are computed "
              "ahead."}},
    .references = {"NVIDIA: cuDNN, the graph interface's heuristics and cudnnConvolutionForward, "
                   "https://docs.nvidia.com/deeplearning/cudnn/",
                   "S. Chetlur et al.: cuDNN: Efficient Primitives for Deep Learning, 2014, "
                   "https://arxiv.org/abs/1410.0759"},
    .unavailable = unavailable,
    .tolerance_of =
        [](const Parameters& parameters) {
          return parameters.at("math") == "fp32" ? 1e-5 : 2e-3;  // 10 bits of a factor's mantissa are kept
        },
    .libraries = {{"cuDNN", version}},
    .arithmetic = 1 / 2.25,  // it may take Winograd's
    .make = make,
}};

}  // namespace
}  // namespace mprof::conv
