// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <cupti.h>
#include <unistd.h>

#include "collectors/cuda/cupti_records.hpp"
#include "model/trace/trace.hpp"

namespace mprof {

/// The buffers that CUPTI writes records to. Some are made in advance, so that an application thread rarely
/// waits for one. Their number is limited.
class BufferPool {
 public:
  static constexpr std::size_t buffer_size = std::size_t{4} << 20;  // CUPTI advises 1 to 10 MB

  BufferPool();

  /// nullptr when there is no memory or there are too many in use: CUPTI then counts what it drops.
  std::uint8_t* take() noexcept;
  void give_back(std::uint8_t* buffer) noexcept;

 private:
  std::uint8_t* allocate() noexcept;

  std::mutex mutex_;
  std::vector<std::uint8_t*> free_;
  std::size_t allocated_ = 0;
};

/// CUPTI, recording from before there is a CUDA context until the process ends, as what it instruments is
/// then instrumented once. One recording a process for another reason, too: from the second on, CUPTI 13.0
/// gives graph launches wrong correlation ids. What belongs to a case is cut out by flushing before and
/// after.
class CuptiRecorder {
 public:
  /// Starts to record at the first call. Throws Error(environment) when CUPTI cannot; the process then stays
  /// as it is. Never destroyed: CUPTI may call back while the process ends.
  static CuptiRecorder& instance();

  /// ns since the epoch, by the clock of the records.
  [[nodiscard]] std::int64_t now() const;

  /// From now on, what the calling thread asks of CUDA belongs to `id`; until popped.
  void push(std::uint64_t id) const;
  void pop() const noexcept;

  /// Forgets all that was recorded so far. The device must be idle.
  void forget();

  /// What was recorded since forget(), of `window`: CuptiRecords::take(). The device must be idle.
  trace::Recording take(trace::Interval window);

 private:
  void start();
  void flush();
  void count_dropped() noexcept;
  void read(std::uint8_t* buffer, std::size_t valid_size) noexcept;
  void add(CUpti_Activity& record) noexcept;
  void stop(const CUpti_StateData& state) noexcept;

  // --- called by CUPTI, on any thread ---

  static void CUPTIAPI on_callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void* data);
  static void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                           std::size_t* most_records);
  static void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                           std::size_t size, std::size_t valid_size);

  /// The one that the callbacks work for: they come while instance() still makes it.
  static inline CuptiRecorder* active = nullptr;

  std::uint32_t process_ = static_cast<std::uint32_t>(::getpid());
  BufferPool buffers_;
  /// Of what follows. Never held in a call of CUPTI: that takes a lock of its own, under which it may be
  /// calling back here.
  std::mutex mutex_;
  CuptiRecords records_{process_};
  std::uint64_t dropped_ = 0;
  bool is_broken_ = false;
  std::string why_broken_;
};

}  // namespace mprof
