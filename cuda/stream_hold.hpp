// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "cuda/handles.hpp"

namespace mprof::cuda {

/// Holds the default stream back until it is released, and with it all that waits for that stream. What is
/// queued meanwhile then begins at once, without the gaps that launching would leave. It gives up after its
/// time limit: work that itself waits for the GPU would wait for ever. Streams that do not wait for the
/// default one are not held.
class StreamHold {
 public:
  /// Throws Error when there is no page-locked memory that the GPU can see.
  StreamHold();
  StreamHold(const StreamHold&) = delete;
  StreamHold& operator=(const StreamHold&) = delete;
  ~StreamHold();

  void begin();
  void release();
  /// Whether it lasted from begin() until release(). Only once the stream is done with it.
  [[nodiscard]] bool has_lasted() const;

  static constexpr double limit = 0.02;  ///< s

 private:
  struct Signals {
    volatile std::uint32_t released;
    volatile std::uint32_t expired;
  };

  Signals* signals_ = nullptr;         // page-locked
  Signals* signals_on_gpu_ = nullptr;  // the same memory
};

}  // namespace mprof::cuda
