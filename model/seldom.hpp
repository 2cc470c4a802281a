// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace mprof {

/// A value that few of many have. Those without one read the value T{}, and take a pointer's size.
template <class T>
class Seldom {
 public:
  Seldom() = default;
  Seldom(const Seldom& other) : own_(other.own_ ? std::make_unique<T>(*other.own_) : nullptr) {}
  Seldom(Seldom&&) noexcept = default;
  Seldom& operator=(const Seldom& other) { return *this = Seldom(other); }
  Seldom& operator=(Seldom&&) noexcept = default;
  ~Seldom() = default;

  const T* operator->() const { return &**this; }
  const T& operator*() const {
    static const T none{};
    return own_ ? *own_ : none;
  }
  /// The value to be changed.
  T& own() {
    if (!own_) own_ = std::make_unique<T>();
    return *own_;
  }
  friend bool operator==(const Seldom& a, const Seldom& b) { return *a == *b; }

 private:
  std::unique_ptr<T> own_;
};

}  // namespace mprof
