// The rival: NVIDIA's cuDNN, with the best algorithm that it has for the shape.
//
// Idea        cuDNN has eight algorithms for a forward convolution, from an implicit matrix product to FFT.
//             Each is run on the shape at hand, with its own workspace, and the fastest is kept, as its
//             documentation recommends: here by timing whole ops, conversions included, in the first
//             prepare() for a shape. Descriptors, the choice and the workspace stay for all later
//             executions, so neither op_time nor (from the second execution on) layer_time contains the
//             search.
//
//             math=fp32 permits FMA only (CUDNN_FMA_MATH; the default would be TF32). math=tf32 also permits
//             tensor cores that round FP32 inputs to TF32. math=fp16 stores tensors as halves and sums in
//             FP32; what comes in and goes out is FP32 as for every variant, so a conversion each way is part
//             of the op, and since it copies anyway, it may as well reorder: NCHW and NHWC are both tried.
//
// Cost        General kernels. Tiles are made for channels and maps in multiples of 8 and more; with 1 and 4
//             channels and 4 and 16 maps most of a tile is padding. A 7 x 7 mask has no Winograd algorithm.
//
// The profile should show
//             one kernel of the library (several for FFT), with names that tell the algorithm. In FP32 a FLOP
//             rate well below register_tiled's: what a kernel for the shape at hand is worth. With tf32, the
//             tensor pipe active in layer 2. With fp16, conversions beside the convolution.
#include <optional>
#include <string>

#include "cuda/shared_library.hpp"
#include "kernels/conv/device_convolution.hpp"
#include "kernels/conv/device_shape.cuh"
#include "model/error.hpp"

#if __has_include(<cudnn.h>)  // which does not come with the CUDA toolkit

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <memory>
#include <type_traits>
#include <vector>

#include <cuda_fp16.h>
#include <cudnn.h>

namespace mprof::conv {
namespace {

const cuda::SharedLibrary& cudnn_library() {
  static const cuda::SharedLibrary library(cuda::toolkit_paths("libcudnn.so." + std::to_string(CUDNN_MAJOR)));
  return library;
}

/// The functions of the library that this file calls.
struct Cudnn {
  decltype(cudnnCreate)* create;
  decltype(cudnnDestroy)* destroy;
  decltype(cudnnGetErrorString)* error_string;
  decltype(cudnnCreateTensorDescriptor)* create_tensor;
  decltype(cudnnSetTensor4dDescriptor)* set_tensor;
  decltype(cudnnDestroyTensorDescriptor)* destroy_tensor;
  decltype(cudnnCreateFilterDescriptor)* create_filter;
  decltype(cudnnSetFilter4dDescriptor)* set_filter;
  decltype(cudnnDestroyFilterDescriptor)* destroy_filter;
  decltype(cudnnCreateConvolutionDescriptor)* create_convolution;
  decltype(cudnnSetConvolution2dDescriptor)* set_convolution;
  decltype(cudnnSetConvolutionMathType)* set_math_type;
  decltype(cudnnDestroyConvolutionDescriptor)* destroy_convolution;
  decltype(cudnnGetConvolutionForwardWorkspaceSize)* workspace_size;
  decltype(cudnnConvolutionForward)* forward;

  explicit Cudnn(const cuda::SharedLibrary& library) {
    library.import(create, "cudnnCreate");
    library.import(destroy, "cudnnDestroy");
    library.import(error_string, "cudnnGetErrorString");
    library.import(create_tensor, "cudnnCreateTensorDescriptor");
    library.import(set_tensor, "cudnnSetTensor4dDescriptor");
    library.import(destroy_tensor, "cudnnDestroyTensorDescriptor");
    library.import(create_filter, "cudnnCreateFilterDescriptor");
    library.import(set_filter, "cudnnSetFilter4dDescriptor");
    library.import(destroy_filter, "cudnnDestroyFilterDescriptor");
    library.import(create_convolution, "cudnnCreateConvolutionDescriptor");
    library.import(set_convolution, "cudnnSetConvolution2dDescriptor");
    library.import(set_math_type, "cudnnSetConvolutionMathType");
    library.import(destroy_convolution, "cudnnDestroyConvolutionDescriptor");
    library.import(workspace_size, "cudnnGetConvolutionForwardWorkspaceSize");
    library.import(forward, "cudnnConvolutionForward");
  }
};

const Cudnn& cudnn() {
  static const Cudnn functions(cudnn_library());
  return functions;
}

void check(cudnnStatus_t status, const std::string& what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  throw Error(ExitCode::fault,
              "conv/cudnn: " + what + " failed: " + cudnn().error_string(status) +
                  ". With CUDNN_LOGLEVEL_DBG=2 and CUDNN_LOGDEST_DBG=stderr in the environment, cuDNN says "
                  "more.");
}

std::optional<std::string> unavailable() {
  if (cudnn_library().loaded()) return std::nullopt;
  return "cuDNN was not found (" + cudnn_library().error() + "). Install cuDNN " +
         std::to_string(CUDNN_MAJOR) + " for this CUDA version, or add its folder to LD_LIBRARY_PATH.";
}

std::string version() {
  auto* const get = reinterpret_cast<decltype(cudnnGetVersion)*>(cudnn_library().find("cudnnGetVersion"));
  if (get == nullptr) return "not found";
  const std::size_t number = get();  // 91900 for 9.19.0
  return std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
         std::to_string(number % 100);
}

/// A handle or a descriptor, destroyed with its owner.
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cudnnStatus_t (*)(Handle)>;

template <class Handle>
Owned<Handle> make_owned(cudnnStatus_t (*create)(Handle*), cudnnStatus_t (*destroy)(Handle)) {
  Handle handle = nullptr;
  check(create(&handle), "creating a handle or a descriptor");
  return {handle, destroy};
}

constexpr unsigned convert_block = 256;

/// How far apart neighbours are in a tensor of halves, in elements. FP32 tensors are NCHW.
struct Strides {
  std::size_t image, channel, pixel;
};

/// blockIdx.x counts blocks of pixels, `image_blocks` an image; a thread converts all channels of a pixel.
template <unsigned block>
__global__ void __launch_bounds__(block)
    convert_to_half(const float* __restrict__ from, __half* __restrict__ to, Strides strides,
                    unsigned image_blocks, unsigned channels, unsigned plane) {
  const std::size_t image = blockIdx.x / image_blocks;
  const unsigned pixel = blockIdx.x % image_blocks * block + threadIdx.x;
  if (pixel >= plane) return;
  for (unsigned c = 0; c < channels; ++c) {
    to[image * strides.image + c * strides.channel + pixel * strides.pixel] =
        __float2half_rn(from[(image * channels + c) * plane + pixel]);
  }
}

/// The way back.
template <unsigned block>
__global__ void __launch_bounds__(block)
    convert_from_half(const __half* __restrict__ from, float* __restrict__ to, Strides strides,
                      unsigned image_blocks, unsigned channels, unsigned plane) {
  const std::size_t image = blockIdx.x / image_blocks;
  const unsigned pixel = blockIdx.x % image_blocks * block + threadIdx.x;
  if (pixel >= plane) return;
  for (unsigned c = 0; c < channels; ++c) {
    to[(image * channels + c) * plane + pixel] =
        __half2float(from[image * strides.image + c * strides.channel + pixel * strides.pixel]);
  }
}

/// What a value of the parameter `math` stands for.
struct Math {
  cudnnDataType_t type;                    ///< of the tensors that cuDNN sees
  std::vector<cudnnMathType_t> permitted;  ///< each is tried
  std::vector<cudnnTensorFormat_t> layouts;
};

Math math_of(const std::string& name) {
  if (name == "fp16")
    return {CUDNN_DATA_HALF, {CUDNN_TENSOR_OP_MATH}, {CUDNN_TENSOR_NCHW, CUDNN_TENSOR_NHWC}};
  if (name == "tf32")
    return {CUDNN_DATA_FLOAT, {CUDNN_DEFAULT_MATH, CUDNN_TENSOR_OP_MATH}, {CUDNN_TENSOR_NCHW}};
  return {CUDNN_DATA_FLOAT, {CUDNN_FMA_MATH}, {CUDNN_TENSOR_NCHW}};
}

/// How a convolution of one shape is to be run.
struct Plan {
  Shape shape;
  cudnnTensorFormat_t layout = CUDNN_TENSOR_NCHW;
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  std::size_t workspace_bytes = 0;
  Owned<cudnnTensorDescriptor_t> input = make_owned(cudnn().create_tensor, cudnn().destroy_tensor);
  Owned<cudnnTensorDescriptor_t> output = make_owned(cudnn().create_tensor, cudnn().destroy_tensor);
  Owned<cudnnFilterDescriptor_t> mask = make_owned(cudnn().create_filter, cudnn().destroy_filter);
  Owned<cudnnConvolutionDescriptor_t> convolution =
      make_owned(cudnn().create_convolution, cudnn().destroy_convolution);

  Plan(const Shape& s, cudnnDataType_t type, cudnnTensorFormat_t tensor_layout, cudnnMathType_t math)
      : shape(s), layout(tensor_layout) {
    check(cudnn().set_tensor(input.get(), layout, type, extent(s.batch), extent(s.channels), extent(s.height),
                             extent(s.width)),
          "describing the input");
    check(cudnn().set_tensor(output.get(), layout, type, extent(s.batch), extent(s.maps),
                             extent(s.out_height()), extent(s.out_width())),
          "describing the output");
    check(cudnn().set_filter(mask.get(), type, layout, extent(s.maps), extent(s.channels), extent(s.mask),
                             extent(s.mask)),
          "describing the masks");
    check(cudnn().set_convolution(convolution.get(), 0, 0, extent(s.stride), extent(s.stride), 1, 1,
                                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
          "describing the convolution");
    check(cudnn().set_math_type(convolution.get(), math), "cudnnSetConvolutionMathType");
  }

 private:
  static int extent(std::size_t size) { return static_cast<int>(size); }
};

class CudnnConvolution final : public DeviceConvolution {
 public:
  explicit CudnnConvolution(Math math) : math_(std::move(math)) {}

 protected:
  void allocate(const float* host_mask) override {
    if (halves()) {
      half_input_ = cuda::DeviceBuffer<__half>(shape().input_size());
      half_mask_ = cuda::DeviceBuffer<__half>(shape().mask_size());
      half_output_ = cuda::DeviceBuffer<__half>(shape().output_size());
    }
    const auto known = std::ranges::find(plans_, shape(), &Plan::shape);
    plan_ = known != plans_.end() ? &*known : &plans_.emplace_back(find_plan(host_mask));
    copy_half_mask(*plan_, host_mask);
    if (workspace_.size() < plan_->workspace_bytes) {
      workspace_ = {};  // before the larger one is allocated
      workspace_ = cuda::DeviceBuffer<std::byte>(plan_->workspace_bytes);
    }
  }

  void launch() override { check(convolve(*plan_, workspace_), "cudnnConvolutionForward"); }

  void release() override {
    half_input_ = {};
    half_mask_ = {};
    half_output_ = {};
  }

 private:
  [[nodiscard]] bool halves() const { return math_.type == CUDNN_DATA_HALF; }

  /// The whole op, from input() to output().
  cudnnStatus_t convolve(const Plan& plan, const cuda::DeviceBuffer<std::byte>& workspace) {
    const float one = 1;
    const float zero = 0;
    const void* from = halves() ? static_cast<const void*>(half_input_.data()) : input();
    const void* masks = halves() ? static_cast<const void*>(half_mask_.data()) : mask();
    void* to = halves() ? static_cast<void*>(half_output_.data()) : output();
    if (halves()) convert_input(plan);
    const cudnnStatus_t status = cudnn().forward(
        handle_.get(), &one, plan.input.get(), from, plan.mask.get(), masks, plan.convolution.get(),
        plan.algorithm, workspace.data(), plan.workspace_bytes, &zero, plan.output.get(), to);
    if (halves() && status == CUDNN_STATUS_SUCCESS) convert_output(plan);
    return status;
  }

  void convert_input(const Plan& plan) {
    const Shape& s = shape();
    const std::size_t plane = s.height * s.width;
    const std::size_t image_blocks = blocks_for(plane, convert_block);
    convert_to_half<convert_block><<<static_cast<unsigned>(s.batch * image_blocks), convert_block>>>(
        input(), half_input_.data(), strides(plan.layout, s.channels, plane),
        static_cast<unsigned>(image_blocks), static_cast<unsigned>(s.channels), static_cast<unsigned>(plane));
    cuda::check_launch();
  }

  void convert_output(const Plan& plan) {
    const Shape& s = shape();
    const std::size_t plane = s.plane_size();
    const std::size_t image_blocks = blocks_for(plane, convert_block);
    convert_from_half<convert_block><<<static_cast<unsigned>(s.batch * image_blocks), convert_block>>>(
        half_output_.data(), output(), strides(plan.layout, s.maps, plane),
        static_cast<unsigned>(image_blocks), static_cast<unsigned>(s.maps), static_cast<unsigned>(plane));
    cuda::check_launch();
  }

  static Strides strides(cudnnTensorFormat_t layout, std::size_t channels, std::size_t plane) {
    if (layout == CUDNN_TENSOR_NHWC) return {.image = channels * plane, .channel = 1, .pixel = channels};
    return {.image = channels * plane, .channel = plane, .pixel = 1};
  }

  /// The masks are brought into cuDNN's type and layout once, as weights are.
  void copy_half_mask(const Plan& plan, const float* host_mask) {
    if (!halves()) return;
    const std::size_t area = shape().mask * shape().mask;
    const Strides to = strides(plan.layout, shape().channels, area);
    std::vector<__half> halved(shape().mask_size());
    for (std::size_t m = 0; m < shape().maps; ++m) {
      for (std::size_t c = 0; c < shape().channels; ++c) {
        for (std::size_t i = 0; i < area; ++i) {
          halved[m * to.image + c * to.channel + i * to.pixel] =
              __float2half_rn(host_mask[(m * shape().channels + c) * area + i]);
        }
      }
    }
    cuda::check(cudaMemcpy(half_mask_.data(), halved.data(), half_mask_.bytes(), cudaMemcpyHostToDevice));
  }

  /// Runs all that may be run on this shape and returns what took the least time.
  Plan find_plan(const float* host_mask) {
    std::optional<Plan> best;
    double best_seconds = std::numeric_limits<double>::infinity();
    const std::size_t most_bytes = workspace_limit();
    for (const cudnnTensorFormat_t layout : math_.layouts) {
      for (const cudnnMathType_t math : math_.permitted) {
        for (int algorithm = 0; algorithm < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++algorithm) {
          Plan plan(shape(), math_.type, layout, math);
          plan.algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(algorithm);
          copy_half_mask(plan, host_mask);
          const double seconds = time(plan, most_bytes, best_seconds);
          if (seconds < best_seconds) {
            best_seconds = seconds;
            best.emplace(std::move(plan));
          }
        }
      }
    }
    if (best) return std::move(*best);
    throw Error(ExitCode::fault,
                "conv/cudnn: none of cuDNN's algorithms takes this shape in " + std::to_string(most_bytes) +
                    " B of workspace. Give --batch a smaller one, or end what else uses the GPU (nvidia-smi "
                    "lists it).");
  }

  /// Device memory that an algorithm may have beside what the op needs.
  static std::size_t workspace_limit() {
    constexpr std::size_t most = std::size_t{4} << 30U;
    std::size_t free = 0;
    std::size_t total = 0;
    cuda::check(cudaMemGetInfo(&free, &total));
    return std::min(most, free / 2);
  }

  /// The shortest of a few runs, after one that warms up; infinite for what cuDNN cannot do. A plan that is
  /// far behind is not run again. Sets the plan's workspace_bytes.
  double time(Plan& plan, std::size_t most_bytes, double best_seconds) {
    constexpr int runs = 3;
    double shortest = std::numeric_limits<double>::infinity();
    if (cudnn().workspace_size(handle_.get(), plan.input.get(), plan.mask.get(), plan.convolution.get(),
                               plan.output.get(), plan.algorithm,
                               &plan.workspace_bytes) != CUDNN_STATUS_SUCCESS ||
        plan.workspace_bytes > most_bytes) {
      return shortest;
    }
    const cuda::DeviceBuffer<std::byte> workspace(plan.workspace_bytes);
    for (int run = 0; run <= runs; ++run) {
      const cuda::Event start;
      const cuda::Event stop;
      start.record();
      const cudnnStatus_t status = convolve(plan, workspace);
      stop.record();
      stop.synchronize();
      if (status != CUDNN_STATUS_SUCCESS) {
        static_cast<void>(cudaGetLastError());  // a launch that cuDNN gave up is no error of ours
        return std::numeric_limits<double>::infinity();
      }
      const double seconds = stop.seconds_since(start);
      if (run != 0) shortest = std::min(shortest, seconds);
      if (run != 0 && seconds > 2 * best_seconds) break;
    }
    return shortest;
  }

  Math math_;
  Owned<cudnnHandle_t> handle_ = make_owned(cudnn().create, cudnn().destroy);
  std::list<Plan> plans_;  ///< one a shape; their addresses stay
  const Plan* plan_ = nullptr;
  cuda::DeviceBuffer<std::byte> workspace_;  ///< kept from one execution to the next
  cuda::DeviceBuffer<__half> half_input_;
  cuda::DeviceBuffer<__half> half_mask_;
  cuda::DeviceBuffer<__half> half_output_;
};

std::unique_ptr<Convolution> make(const Parameters& parameters) {
  return std::make_unique<CudnnConvolution>(math_of(parameters.at("math")));
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
    .title = "cuDNN's fastest algorithm",
    .idea = "The vendor's library, with the fastest of its algorithms for the shape, found by running them: "
            "the rival.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {{.name = "math",
                    .meaning = "what cuDNN may multiply with; fp16 includes conversions from and to FP32",
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
    .references = {"NVIDIA: cuDNN, cudnnConvolutionForward, https://docs.nvidia.com/deeplearning/cudnn/",
                   "S. Chetlur et al.: cuDNN: Efficient Primitives for Deep Learning, 2014, "
                   "https://arxiv.org/abs/1410.0759"},
    .unavailable = unavailable,
    .tolerance_of =
        [](const Parameters& parameters) {
          const std::string& math = parameters.at("math");
          // TF32 and FP16 keep 10 bits of a factor's mantissa.
          return math == "fp32" ? 1e-5 : math == "tf32" ? 2e-3 : 5e-3;
        },
    .library = "cuDNN",
    .library_version = version,
    .make = make,
}};

}  // namespace
}  // namespace mprof::conv
