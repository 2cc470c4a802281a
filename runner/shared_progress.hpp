// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <utility>

#include "runner/coordinator.hpp"

namespace mprof {

/// Takes what several coordinators tell to one that knows of one.
class SharedProgress final : public Progress {
 public:
  explicit SharedProgress(Progress& progress) : progress_(progress) {}
  /// Of the host and of each device.
  void surveying() override {
    const std::scoped_lock lock(mutex_);
    if (!std::exchange(is_surveying_, true)) progress_.surveying();
  }
  void case_begins(const Case& c, Pass pass) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_begins(c, pass);
  }
  void case_goes_on(std::uint32_t samples) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_goes_on(samples);
  }
  void case_ends(const Case& c, const PassResult& result) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_ends(c, result);
  }
  void case_is_left_out(const Case& c) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_is_left_out(c);
  }
  void case_is_added(const Case& c) override {
    const std::scoped_lock lock(mutex_);
    progress_.case_is_added(c);
  }

 private:
  Progress& progress_;
  std::mutex mutex_;
  bool is_surveying_ = false;
};

}  // namespace mprof
