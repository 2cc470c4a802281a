// SPDX-License-Identifier: MIT
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

/// The smallest chunk is this part of the largest, or half of it where the batch makes it small.
constexpr std::size_t smallest_share = 4;
/// So many chunks and landings more than lanes: while all lanes copy, this many copies out are in line.
constexpr std::size_t in_line = 3;

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
  grow(input, in);
  grow(output, out);
  if (wire == Wire::single) return;
  grow(wire_input, wire_bytes(in, wire));
  grow(wire_output, wire_bytes(out, wire));
}

void Chunk::begin_poisoning(std::uint32_t pattern) const {
  cuda::begin_fill(output.data(), output.size(), pattern);
  cuda::begin_fill(wire_output.data(), wire_output.size() / sizeof(pattern), pattern);
}

const void* Chunk::result() const {
  return wire_output.size() == 0 ? static_cast<const void*>(output.data()) : wire_output.data();
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
  chunks_.resize(threads_.count() + in_line);
  landings_.resize(threads_.count() + in_line);
}

void Pipeline::prepare(const Shape& shape, const float* input, const float* mask, float* output) {
  shape_ = shape;
  host_input_ = input;
  host_output_ = output;
  const std::size_t lanes = threads_.count();
  const std::size_t image_bytes = wire_bytes(shape.out_image_size(), settings_.wire);
  const std::size_t of_a_lane = std::max<std::size_t>(1, blocks_for(shape.batch, lanes));
  const std::size_t most = std::clamp<std::size_t>(settings_.chunk_bytes / image_bytes, 1, of_a_lane);
  const std::size_t least =
      std::clamp<std::size_t>(settings_.chunk_bytes / smallest_share / image_bytes, 1, (most + 1) / 2);
  cut_ = image_chunks(shape.batch, lanes, least, most);
  for (Chunk& chunk : chunks_) chunk.reserve(shape, most, settings_.wire);
  for (Landing& landing : landings_) grow(landing.memory, most * image_bytes);
  product_->prepare(shape, mask);
  // The copy of the masks may still be on its way from the driver's own buffer, and our streams do not wait.
  cuda::check(cudaDeviceSynchronize());
}

void Pipeline::forward() {
  next_ = 0;
  computed_.clear();
  arriving_.clear();
  free_chunks_.clear();
  free_landings_.clear();
  for (Chunk& chunk : chunks_) free_chunks_.push_back(&chunk);
  for (Landing& landing : landings_) free_landings_.push_back(&landing);
  try {
    threads_.run(std::min(threads_.count(), cut_.size()), [&](std::size_t /*lane*/) { work(); });
  } catch (...) {
    cudaDeviceSynchronize();  // copies may be on their way to memory that is freed next
    throw;
  }
}

void Pipeline::finish() {
  product_->release();
}

void Pipeline::poison_output(std::uint32_t pattern) {
  for (const Chunk& chunk : chunks_) chunk.begin_poisoning(pattern);
  parallel_for(landings_.size(), threads_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const cuda::PinnedBuffer<std::byte>& memory = landings_[i].memory;
      std::fill_n(reinterpret_cast<std::uint32_t*>(memory.data()), memory.size() / sizeof(pattern), pattern);
    }
  });
  cuda::check(cudaDeviceSynchronize());
}

void Pipeline::work() {
  try {
    cuda::check(cudaSetDevice(device_));
    for (Job job = next_job(); job.chunk != nullptr; job = next_job()) {
      if (job.landing == nullptr)
        start(*job.chunk);
      else
        bring(job);
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    next_ = cut_.size();  // the others need not go on
    throw;
  }
}

/// Whenever the mutex is free computed_ or free_landings_ is empty, and there are more chunks and landings
/// than lanes. So where there is nothing to do, other lanes have what is left in their hands, and ask again.
Pipeline::Job Pipeline::next_job() {
  const std::lock_guard lock(mutex_);
  Job job;
  if (next_ < cut_.size() && !free_chunks_.empty()) {
    job.chunk = free_chunks_.back();
    free_chunks_.pop_back();
    job.chunk->images = cut_[next_++];
  } else if (!arriving_.empty()) {
    job = arriving_.front();
    arriving_.pop_front();
  }
  return job;
}

void Pipeline::start(Chunk& chunk) {
  const cudaStream_t stream = chunk.stream.get();
  const std::size_t in = chunk.images.count * shape_.image_size();
  const std::size_t out = chunk.images.count * shape_.out_image_size();
  const float* const images = host_input_ + chunk.images.first * shape_.image_size();
  const auto copy_in = [&](void* to) {
    cuda::check(cudaMemcpyAsync(to, chunk.host_input.data(), wire_bytes(in, settings_.wire),
                                cudaMemcpyHostToDevice, stream));
  };
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
  }
  chunk.computed.record(stream);
  const std::lock_guard lock(mutex_);
  computed_.push_back(&chunk);
  begin_copies_out();
}

void Pipeline::bring(const Job& job) {
  Landing& landing = *job.landing;
  landing.arrived.synchronize();
  {
    const std::lock_guard lock(mutex_);
    free_chunks_.push_back(job.chunk);
  }
  const std::size_t count = landing.images.count * shape_.out_image_size();
  float* const to = host_output_ + landing.images.first * shape_.out_image_size();
  if (settings_.wire == Wire::half) {
    floats_from_halves_past_caches(reinterpret_cast<const std::uint16_t*>(landing.memory.data()), count, to);
  } else {
    copy_past_caches(reinterpret_cast<const float*>(landing.memory.data()), count, to);
  }
  const std::lock_guard lock(mutex_);
  free_landings_.push_back(&landing);
  begin_copies_out();
}

/// As many as there are landings for. Needs the mutex.
void Pipeline::begin_copies_out() {
  while (!computed_.empty() && !free_landings_.empty()) {
    const Job job{.chunk = computed_.front(), .landing = free_landings_.back()};
    computed_.pop_front();
    free_landings_.pop_back();
    job.landing->images = job.chunk->images;
    job.chunk->computed.hold(out_.get());
    cuda::check(cudaMemcpyAsync(job.landing->memory.data(), job.chunk->result(),
                                wire_bytes(job.chunk->images.count * shape_.out_image_size(), settings_.wire),
                                cudaMemcpyDeviceToHost, out_.get()));
    job.landing->arrived.record(out_.get());
    arriving_.push_back(job);
  }
}

}  // namespace mprof::conv::pipeline
