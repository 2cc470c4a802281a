// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/handles.hpp"
#include "kernels/common/standing_threads.hpp"
#include "kernels/conv/device/banded_product.hpp"
#include "kernels/conv/device/image_chunks.hpp"
#include "kernels/conv/lenet/variant.hpp"

/// The batch in small chunks that several threads bring to the GPU and back, for the variants `pipeline` and
/// `pipeline_half`, whose files tell the idea.
namespace mprof::conv::pipeline {

/// What an element is between the host and the GPU.
enum class Wire : std::uint8_t { single, half };

struct Settings {
  banded::Precision precision = banded::Precision::split_fp16;
  Wire wire = Wire::single;
  std::size_t lanes = 1;        ///< threads, at most; no more than hardware_threads()
  std::size_t chunk_bytes = 1;  ///< of a chunk's output on the wire, at most
};

/// A chunk on its way in and through the kernel, and its memory.
class Chunk {
 public:
  /// Makes room for `images` images of a shape.
  void reserve(const Shape& shape, std::size_t images, Wire wire);
  void begin_poisoning(std::uint32_t pattern) const;  ///< on the default stream
  /// What is copied out, in device memory.
  [[nodiscard]] const void* result() const;

  cuda::Stream stream;
  cuda::Event computed{cudaEventDisableTiming};
  Images images;
  cuda::PinnedBuffer<std::byte> host_input;
  cuda::DeviceBuffer<std::byte> wire_input;   ///< nothing where the wire has floats
  cuda::DeviceBuffer<std::byte> wire_output;  ///< nothing where the wire has floats
  cuda::DeviceBuffer<float> input;
  cuda::DeviceBuffer<float> output;
};

/// Page-locked memory that a chunk's output is copied out to.
struct Landing {
  cuda::PinnedBuffer<std::byte> memory;
  cuda::Event arrived{cudaEventDisableTiming};
  Images images;
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
  /// What a lane does next: with a chunk alone it starts it, with a landing too it brings what lands there to
  /// the caller. Neither: nothing is left that another lane is not at.
  struct Job {
    Chunk* chunk = nullptr;
    Landing* landing = nullptr;
  };

  void work();
  Job next_job();
  void start(Chunk& chunk);
  void bring(const Job& job);
  void begin_copies_out();

  Settings settings_;
  int device_ = 0;
  std::unique_ptr<banded::Product> product_;
  Shape shape_;
  const float* host_input_ = nullptr;
  float* host_output_ = nullptr;
  std::vector<Images> cut_;  ///< the batch
  std::deque<Chunk> chunks_;
  std::deque<Landing> landings_;
  cuda::Stream out_;  ///< for all copies out
  StandingThreads threads_;

  std::mutex mutex_;      ///< of what follows
  std::size_t next_ = 0;  ///< of cut_: no lane has taken it yet
  std::vector<Chunk*> free_chunks_;
  std::vector<Landing*> free_landings_;  ///< the last one is in the cache most likely
  std::deque<Chunk*> computed_;          ///< or about to be, and without a landing
  std::deque<Job> arriving_;             ///< in the order of the copies
};

}  // namespace mprof::conv::pipeline
