#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cuda/handles.hpp"
#include "kernels/common/standing_threads.hpp"
#include "kernels/conv/device/banded_product.hpp"
#include "kernels/conv/device/image_chunks.hpp"
#include "kernels/conv/lenet/variant.hpp"

/// The batch in small chunks that several lanes bring to the GPU and back, for the variants `pipeline` and
/// `pipeline_half`, whose files tell the idea.
namespace mprof::conv::pipeline {

/// What an element is between the host and the GPU.
enum class Wire : std::uint8_t { single, half };

struct Settings {
  banded::Precision precision = banded::Precision::split_fp16;
  Wire wire = Wire::single;
  std::size_t lanes = 1;        ///< at most; no more than hardware_threads()
  std::size_t chunk_bytes = 1;  ///< of a chunk's output on the wire, at most
};

/// A chunk that is under way, and its memory, which is kept from one use to the next.
class Chunk {
 public:
  /// Makes room for `images` images of a shape.
  void reserve(const Shape& shape, std::size_t images, Wire wire);
  void begin_poisoning_device(std::uint32_t pattern) const;  ///< on the default stream
  void poison_host(std::uint32_t pattern) const;

  cuda::Event computed{cudaEventDisableTiming};  ///< the output is in device memory
  cuda::Event done{cudaEventDisableTiming};      ///< the output is in page-locked memory
  Images images;
  cuda::PinnedBuffer<std::byte> host_input;
  cuda::PinnedBuffer<std::byte> host_output;
  cuda::DeviceBuffer<std::byte> wire_input;   ///< nothing where the wire has floats
  cuda::DeviceBuffer<std::byte> wire_output;  ///< likewise
  cuda::DeviceBuffer<float> input;
  cuda::DeviceBuffer<float> output;
};

/// All of the work is done in forward(), by a thread a lane.
class Pipeline final : public Convolution {
 public:
  /// Throws Error(environment) where the GPU or the host cannot do it, for the variant `id`.
  Pipeline(const Settings& settings, const std::string& id);

  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override;
  void forward() override;
  void finish() override;
  /// All places that a result is copied from.
  void poison_output(std::uint32_t pattern) override;

 private:
  /// A thread, a stream, and two chunks: while one is on its way the host copies the other's.
  struct Lane {
    cuda::Stream stream;
    Chunk chunks[2];
  };

  void work(Lane& lane);
  void start(const Lane& lane, Chunk& chunk) const;
  void collect(const Chunk& chunk) const;

  Settings settings_;
  int device_ = 0;
  cuda::Stream out_;  ///< for the copies out of all lanes
  std::unique_ptr<banded::Product> product_;
  Shape shape_;
  const float* host_input_ = nullptr;
  float* host_output_ = nullptr;
  std::vector<Images> chunks_;         ///< of the batch
  std::atomic<std::size_t> next_ = 0;  ///< of chunks_: no lane has taken it yet
  std::deque<Lane> lanes_;
  StandingThreads threads_;
};

}  // namespace mprof::conv::pipeline
