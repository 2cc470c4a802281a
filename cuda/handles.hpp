// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <utility>

#include <cuda_runtime_api.h>

#include "cuda/check.hpp"

/// What CUDA lends, owned: given back when the object ends. Destructors ignore errors, since an error that a
/// launch left behind is reported again by the next call that is checked.
namespace mprof::cuda {

struct DeviceMemory {
  static cudaError_t allocate(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
  static void free(void* data) { cudaFree(data); }
};

struct PinnedMemory {
  static cudaError_t allocate(void** data, std::size_t bytes) { return cudaMallocHost(data, bytes); }
  static void free(void* data) { cudaFreeHost(data); }
};

/// `size` elements in memory of a kind, not initialized. Throws Error when there is no room.
template <class T, class Memory>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : size_(size) {
    if (size != 0) check(Memory::allocate(reinterpret_cast<void**>(&data_), size * sizeof(T)));
  }
  ~Buffer() { Memory::free(data_); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class T>
using DeviceBuffer = Buffer<T, DeviceMemory>;

/// In page-locked host memory: copies from and to it are asynchronous.
template <class T>
using PinnedBuffer = Buffer<T, PinnedMemory>;

/// A stream that does not wait for the default one.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event, with a time stamp if nothing else is asked for: without one it takes less of the GPU's time.
class Event {
 public:
  explicit Event(unsigned flags = cudaEventDefault) { check(cudaEventCreateWithFlags(&event_, flags)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  [[nodiscard]] cudaEvent_t get() const { return event_; }
  void record(cudaStream_t stream = nullptr) const { check(cudaEventRecord(event_, stream)); }
  void synchronize() const { check(cudaEventSynchronize(event_)); }
  /// What is queued in the stream from now on waits for it.
  void hold(cudaStream_t stream) const { check(cudaStreamWaitEvent(stream, event_)); }
  /// Seconds since `start` was reached; both must have been, and have time stamps.
  [[nodiscard]] double seconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace mprof::cuda
