#include <algorithm>
#include <bit>

#include "kernels/common/device/blocks.hpp"
#include "kernels/common/host_copy.hpp"
#include "kernels/common/parallel.hpp"
#include "kernels/conv/device/half_conversion.cuh"
#include "kernels/conv/device/pipeline.hpp"
#include "system/error.hpp"

namespace mprof::conv::pipeline {
namespace {

/// The smallest chunk is this part of the largest.
constexpr std::size_t smallest_share = 8;

std::size_t wire_bytes(std::size_t count, Wire wire) {
  return count * (wire == Wire::half ? sizeof(__half) : sizeof(float));
}

template <class Buffer>
void grow(Buffer& buffer, std::size_t size) {
  if (buffer.size() >= size) return;
  buffer = {};  // first frees what it had
  buffer = Buffer(size);
}

}  // namespace

void Chunk::reserve(const Shape& shape, std::size_t most_images, Wire wire) {
  const std::size_t in = most_images * shape.image_size();
  const std::size_t out = most_images * shape.out_image_size();
  grow(host_input, wire_bytes(in, wire));
  grow(host_output, wire_bytes(out, wire));
  grow(input, in);
  grow(output, out);
  if (wire == Wire::single) return;
  grow(wire_input, wire_bytes(in, wire));
  grow(wire_output, wire_bytes(out, wire));
}

void Chunk::begin_poisoning_device(std::uint32_t pattern) const {
  cuda::begin_fill(output.data(), output.size(), pattern);
  cuda::begin_fill(wire_output.data(), wire_output.size() / sizeof(pattern), pattern);
}

void Chunk::poison_host(std::uint32_t pattern) const {
  std::fill_n(reinterpret_cast<std::uint32_t*>(host_output.data()), host_output.size() / sizeof(pattern),
              pattern);
}

Pipeline::Pipeline(const Settings& settings, const std::string& id)
    : settings_(settings),
      product_(banded::make_product(settings.precision, id)),
      threads_(std::min(settings.lanes, hardware_threads())) {
  if (settings.wire == Wire::half && !converts_halves()) {
    throw Error(ExitCode::environment,
                id + ": this build's host code cannot convert half precision (F16C). Build with "
                     "-DMPROF_CPU_ARCH=x86-64-v3, or use conv/pipeline.");
  }
  cuda::check(cudaGetDevice(&device_));
  lanes_.resize(threads_.count());
}

void Pipeline::prepare(const Shape& shape, const float* input, const float* mask, float* output) {
  shape_ = shape;
  host_input_ = input;
  host_output_ = output;
  const std::size_t image_bytes = wire_bytes(shape.out_image_size(), settings_.wire);
  const std::size_t of_a_lane = std::max<std::size_t>(1, blocks_for(shape.batch, lanes_.size()));
  const std::size_t most = std::clamp<std::size_t>(settings_.chunk_bytes / image_bytes, 1, of_a_lane);
  const std::size_t least =
      std::clamp<std::size_t>(settings_.chunk_bytes / smallest_share / image_bytes, 1, most);
  chunks_ = image_chunks(shape.batch, lanes_.size(), least, most);
  for (Lane& lane : lanes_) {
    for (Chunk& chunk : lane.chunks) chunk.reserve(shape, most, settings_.wire);
  }
  product_->prepare(shape, mask);
  // The copy of the masks may still be on its way from the driver's own buffer, and our streams do not wait.
  cuda::check(cudaDeviceSynchronize());
}

void Pipeline::forward() {
  if (chunks_.empty()) return;
  next_ = 0;
  threads_.run(std::min(lanes_.size(), chunks_.size()), [&](std::size_t lane) { work(lanes_[lane]); });
}

void Pipeline::finish() {
  product_->release();
}

void Pipeline::poison_output(std::uint32_t pattern) {
  for (const Lane& lane : lanes_) {
    for (const Chunk& chunk : lane.chunks) chunk.begin_poisoning_device(pattern);
  }
  threads_.run(lanes_.size(), [&](std::size_t lane) {
    for (const Chunk& chunk : lanes_[lane].chunks) chunk.poison_host(pattern);
  });
  cuda::check(cudaDeviceSynchronize());
}

void Pipeline::work(Lane& lane) {
  cuda::check(cudaSetDevice(device_));
  Chunk* under_way = nullptr;
  std::size_t turn = 0;
  for (std::size_t next = next_++; next < chunks_.size(); next = next_++) {
    Chunk& chunk = lane.chunks[turn++ % 2];
    chunk.images = chunks_[next];
    start(lane, chunk);
    if (under_way != nullptr) collect(*under_way);
    under_way = &chunk;
  }
  if (under_way != nullptr) collect(*under_way);
}

void Pipeline::start(const Lane& lane, Chunk& chunk) const {
  const cudaStream_t stream = lane.stream.get();
  const std::size_t in = chunk.images.count * shape_.image_size();
  const std::size_t out = chunk.images.count * shape_.out_image_size();
  const float* const images = host_input_ + chunk.images.first * shape_.image_size();
  const auto copy_in = [&](void* to) {
    cuda::check(cudaMemcpyAsync(to, chunk.host_input.data(), wire_bytes(in, settings_.wire),
                                cudaMemcpyHostToDevice, stream));
  };
  const void* result = chunk.output.data();
  if (settings_.wire == Wire::half) {
    halves_from_floats(images, in, reinterpret_cast<std::uint16_t*>(chunk.host_input.data()));
    copy_in(chunk.wire_input.data());
    to_float(reinterpret_cast<const __half*>(chunk.wire_input.data()), chunk.input.data(), in, stream);
    cuda::check_launch();
  } else {
    std::copy_n(images, in, reinterpret_cast<float*>(chunk.host_input.data()));
    copy_in(chunk.input.data());
  }
  product_->launch(chunk.input.data(), chunk.images.count, chunk.output.data(), stream);
  cuda::check_launch();
  if (settings_.wire == Wire::half) {
    to_half(chunk.output.data(), reinterpret_cast<__half*>(chunk.wire_output.data()), out, stream);
    cuda::check_launch();
    result = chunk.wire_output.data();
  }
  chunk.computed.record(stream);
  chunk.computed.hold(out_.get());
  cuda::check(cudaMemcpyAsync(chunk.host_output.data(), result, wire_bytes(out, settings_.wire),
                              cudaMemcpyDeviceToHost, out_.get()));
  chunk.done.record(out_.get());
}

void Pipeline::collect(const Chunk& chunk) const {
  chunk.done.synchronize();
  const std::size_t count = chunk.images.count * shape_.out_image_size();
  float* const to = host_output_ + chunk.images.first * shape_.out_image_size();
  if (settings_.wire == Wire::half) {
    floats_from_halves_past_caches(reinterpret_cast<const std::uint16_t*>(chunk.host_output.data()), count,
                                   to);
  } else {
    copy_past_caches(reinterpret_cast<const float*>(chunk.host_output.data()), count, to);
  }
}

}  // namespace mprof::conv::pipeline
