// SPDX-License-Identifier: MIT
// The batch in chunks over several streams: while one chunk computes, others are copied.
//
// Idea        The baseline's layer takes far longer than its kernel: the input goes to the GPU, then the
//             kernel runs, then the output comes back, one after the other, through pageable memory, which
//             the driver copies in small pieces and waits for. Here the batch is cut into chunks. Chunk i
//             belongs to stream i % streams: copy in, kernel and copy out are queued there, so that they keep
//             their order in a stream, while the copy engines of both directions and the multiprocessors work
//             for different streams at the same time. The last chunk may be smaller than the others.
//
//             Copies only overlap from and to page-locked memory, and the caller's memory is pageable.
//             Page-locking all of it (1.3 GB in layer 1) would take longer than copying it. So each
//             stream has page-locked buffers for one chunk, and some host threads copy between these and
//             the caller's memory, while the GPU works for the other streams. One thread makes all CUDA
//             calls.
//
//             Where that happens: in forward(), all of it, since a chunk's kernel cannot wait for all of the
//             copies without stopping the pipeline. So its op time holds the copies, which those of others
//             do not: compare this variant by its layer time and its GPU time.
//
// Cost        An extra copy in host memory, each way, on up to 8 threads. Page-locked memory is made in
//             the first prepare() and kept as long as the object lives, since locking pages costs about
//             as much as the copies through them; the first layer time is that much longer. Small chunks
//             pay for their calls, large ones for the ends of the pipeline, where nothing overlaps: at
//             most 256 images here.
//
// The profile should show
//             in the timeline copies in both directions beside kernels, which with streams = 1 follow one
//             another; the same GPU time as the baseline's, since the kernel is the same; memory
//             operations several times as fast as pageable ones. Two or three streams should bring nearly
//             all there is: two directions and a kernel are all that can overlap.
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/fill.hpp"
#include "cuda/handles.hpp"
#include "kernels/common/parallel.hpp"
#include "kernels/common/poison.hpp"
#include "kernels/conv/device/device_shape.cuh"
#include "kernels/conv/lenet/variant.hpp"

namespace mprof::conv {
namespace {

constexpr std::size_t max_images = 256;      ///< of a chunk
constexpr std::size_t max_copy_threads = 8;  ///< about as many as it takes to use the host's memory bandwidth

/// The baseline's kernel, for the images of a chunk.
__global__ void conv_streams(const float* input, const float* mask, float* output, DeviceShape s) {
  const unsigned tiles_x = (s.out_width + blockDim.x - 1) / blockDim.x;
  const unsigned x = blockIdx.y % tiles_x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y / tiles_x * blockDim.y + threadIdx.y;
  const unsigned m = blockIdx.x;
  const unsigned b = blockIdx.z;
  if (x >= s.out_width || y >= s.out_height) return;
  float sum = 0;
  for (unsigned c = 0; c < s.channels; ++c) {
    for (unsigned p = 0; p < s.mask; ++p) {
      for (unsigned q = 0; q < s.mask; ++q) {
        sum += input[s.input(b, c, y * s.stride + p, x * s.stride + q)] * mask[s.weight(m, c, p, q)];
      }
    }
  }
  output[s.output(b, m, y, x)] = sum;
}

/// Copies in host memory, on several threads.
void copy_on_host(const float* from, std::size_t count, float* to) {
  parallel_for(count, std::min(hardware_threads(), max_copy_threads),
               [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
}

/// Makes `buffer` hold at least `size` elements.
void reserve(cuda::PinnedBuffer<float>& buffer, std::size_t size) {
  if (buffer.size() >= size) return;
  buffer = {};  // first frees what it had
  buffer = cuda::PinnedBuffer<float>(size);
}

/// A stream and the memory of the chunk that it works on.
struct Lane {
  cuda::Stream stream;
  cuda::PinnedBuffer<float> pinned_input;
  cuda::PinnedBuffer<float> pinned_output;
  cuda::DeviceBuffer<float> input;
  cuda::DeviceBuffer<float> output;
  std::size_t first = 0;  ///< image of the chunk
  std::size_t count = 0;  ///< images of the chunk; 0: the lane is free
};

class Streams final : public Convolution {
 public:
  explicit Streams(std::size_t streams) : lanes_(streams) {}

  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    shape_ = shape;
    host_input_ = input;
    host_output_ = output;
    chunk_ = std::clamp<std::size_t>(blocks_for(shape.batch, lanes_.size()), 1, max_images);
    for (Lane& lane : lanes_) {
      reserve(lane.pinned_input, chunk_ * shape.image_size());
      reserve(lane.pinned_output, chunk_ * shape.out_image_size());
      lane.input = cuda::DeviceBuffer<float>(chunk_ * shape.image_size());
      lane.output = cuda::DeviceBuffer<float>(chunk_ * shape.out_image_size());
    }
    mask_ = cuda::DeviceBuffer<float>(shape.mask_size());
    cuda::check(cudaMemcpy(mask_.data(), mask, mask_.bytes(), cudaMemcpyHostToDevice));
    // The copy may still be on its way from the driver's own buffer, and our streams do not wait for it.
    cuda::check(cudaDeviceSynchronize());
  }

  void forward() override {
    std::size_t next = 0;
    for (std::size_t first = 0; first < shape_.batch; first += chunk_) {
      Lane& lane = lanes_[next++ % lanes_.size()];
      collect(lane);
      start(lane, first, std::min(chunk_, shape_.batch - first));
    }
    for (std::size_t i = 0; i < lanes_.size(); ++i) collect(lanes_[next++ % lanes_.size()]);  // oldest first
  }

  void finish() override {
    for (Lane& lane : lanes_) {
      lane.input = {};
      lane.output = {};
    }
    mask_ = {};
  }

  /// All places that a result is copied from.
  void poison_output(std::uint32_t pattern) override {
    for (Lane& lane : lanes_) {
      cuda::begin_fill(lane.output.data(), lane.output.size(), pattern);
      fill_bits({lane.pinned_output.data(), lane.pinned_output.size()}, pattern);
    }
    cuda::check(cudaDeviceSynchronize());
  }

 private:
  /// Queues all that is to be done for `count` images from `first` on.
  void start(Lane& lane, std::size_t first, std::size_t count) const {
    lane.first = first;
    lane.count = count;
    const std::size_t in_size = count * shape_.image_size();
    const std::size_t out_size = count * shape_.out_image_size();
    copy_on_host(host_input_ + first * shape_.image_size(), in_size, lane.pinned_input.data());
    cuda::check(cudaMemcpyAsync(lane.input.data(), lane.pinned_input.data(), in_size * sizeof(float),
                                cudaMemcpyHostToDevice, lane.stream.get()));
    launch(lane);
    cuda::check(cudaMemcpyAsync(lane.pinned_output.data(), lane.output.data(), out_size * sizeof(float),
                                cudaMemcpyDeviceToHost, lane.stream.get()));
  }

  void launch(const Lane& lane) const {
    Shape s = shape_;
    s.batch = lane.count;
    const dim3 block(16, 16);
    const std::size_t tiles = blocks_for(s.out_width(), block.x) * blocks_for(s.out_height(), block.y);
    const dim3 grid(static_cast<unsigned>(s.maps), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(s.batch));
    conv_streams<<<grid, block, 0, lane.stream.get()>>>(lane.input.data(), mask_.data(), lane.output.data(),
                                                        DeviceShape(s));
    cuda::check_launch();
  }

  /// Waits for the lane's chunk, if it has one, and brings its result to the caller.
  void collect(Lane& lane) const {
    if (lane.count == 0) return;
    lane.stream.synchronize();
    copy_on_host(lane.pinned_output.data(), lane.count * shape_.out_image_size(),
                 host_output_ + lane.first * shape_.out_image_size());
    lane.count = 0;
  }

  Shape shape_;
  const float* host_input_ = nullptr;
  float* host_output_ = nullptr;
  std::size_t chunk_ = 1;  ///< images of a chunk
  cuda::DeviceBuffer<float> mask_;
  std::vector<Lane> lanes_;
};

const Register registered{Declaration{
    .title = "Chunks over several streams",
    .idea = "Cut the batch into chunks and let the copies of some overlap the kernels of others. Only "
            "page-locked memory can be copied so, and the host copies each chunk to and from it. All of it "
            "happens in forward(): compare layer time and GPU time, not op time.",
    .device = "cuda",
    .baseline = "conv/baseline",
    .parameters = {{.name = "streams",
                    .meaning = "streams, and chunks that are under way at the same time",
                    .default_value = "4",
                    .values = {"1", "2", "3", "4", "5", "6", "7", "8"}}},
    .expectations =
        {{.metric = "group_time",
          .op = "layer1",
          .factor = 2,
          .because =
              "1.3 GB of copies are most of the layer's time: they should run both ways at once, beside "
              "kernels, while the host fills the buffers of the next chunks."},
         {.metric = "group_time",
          .op = "layer2",
          .factor = 1.5,
          .because = "Copies of some chunks should run beside the kernels of others."},
         {.metric = "concurrent_streams",
          .op = "layer1",
          .direction = Direction::increases,
          .factor = 2,
          .because = "Copies of some chunks run beside copies and kernels of others."},
         {.metric = "gpu_time",
          .op = "layer2",
          .direction = Direction::unchanged,
          .because = "The same kernel computes the same elements, chunk by chunk."},
         {.metric = "total_time", .because = "The layers' times are most of it."}},
    .references = {"CUDA C++ Programming Guide, section on asynchronous concurrent execution",
                   "M. Harris: How to Overlap Data Transfers in CUDA C/C++, NVIDIA Technical Blog, 2012"},
    .make =
        [](const Parameters& parameters) {
          return std::make_unique<Streams>(std::stoul(parameters.at("streams")));
        },
}};

}  // namespace
}  // namespace mprof::conv
