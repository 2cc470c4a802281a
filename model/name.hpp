// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <concepts>
#include <string>
#include <string_view>

#ifndef __CUDACC__  // nvcc cannot compile fmt, and kernels print no names
#include <fmt/format.h>
#endif

namespace mprof {

/// Text that stands in many places, as the name of a metric or of a kernel does. Each distinct one is kept
/// once, as long as the program runs. Several threads may make names at once.
class Name {
 public:
  Name() noexcept : text_(&none) {}
  Name(std::string_view text);
  Name(const std::string& text) : Name(std::string_view(text)) {}
  Name(const char* text) : Name(std::string_view(text)) {}

  operator const std::string&() const noexcept { return *text_; }
  operator std::string_view() const noexcept { return *text_; }
  [[nodiscard]] const std::string& text() const noexcept { return *text_; }
  [[nodiscard]] bool empty() const noexcept { return text_->empty(); }
  [[nodiscard]] bool starts_with(std::string_view beginning) const { return text_->starts_with(beginning); }

  friend bool operator==(const Name& a, const Name& b) noexcept { return a.text_ == b.text_; }
  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  friend bool operator==(const Name& name, const T& text) noexcept {
    return name.text().compare(std::string_view(text)) == 0;
  }
  friend std::strong_ordering operator<=>(const Name& a, const Name& b) noexcept {
    return a.text().compare(b.text()) <=> 0;
  }
  friend std::string operator+(const std::string& a, const Name& b) { return a + b.text(); }
  friend std::string operator+(const Name& a, const char* b) { return a.text() + b; }

 private:
  static const std::string none;
  const std::string* text_;
};

}  // namespace mprof

#ifndef __CUDACC__
template <>
struct fmt::formatter<mprof::Name> : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const mprof::Name& name, Context& context) const {
    return fmt::formatter<std::string_view>::format(name.text(), context);
  }
};
#endif
