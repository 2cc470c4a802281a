// SPDX-License-Identifier: MIT
#include "model/trace/counter_request.hpp"

#include <cstring>
#include <type_traits>

namespace mprof::journal {
namespace {

constexpr std::uint64_t mark = 0x3174736575716572;  // "request1"

/// Goes over the fields of a request in the one order that writing and reading share.
template <class Archive, class Request>
void visit(Archive& archive, Request& request) {
  archive(request.chip);
  archive(request.metrics);
  archive(request.several);
  archive(request.passes);
  archive(request.config);
  archive(request.ops);
  archive(request.ranges);
  archive(request.kernels);
  archive(request.launch_skip);
  archive(request.max_kernels);
  archive(request.left_out);
  archive(request.wanted);
  archive(request.replays);
}

class Writer {
 public:
  template <class Number>
  std::enable_if_t<std::is_integral_v<Number>> operator()(const Number& number) {
    const auto wide = static_cast<std::uint64_t>(number);
    bytes_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void operator()(const std::string& text) {
    (*this)(text.size());
    bytes_.append(text);
  }
  template <class Value>
  void operator()(const std::vector<Value>& values) {
    (*this)(values.size());
    for (const Value& value : values) (*this)(value);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  std::enable_if_t<std::is_integral_v<Number>> operator()(Number& number) {
    std::uint64_t wide = 0;
    if (bytes_.size() < sizeof wide) return fail();
    std::memcpy(&wide, bytes_.data(), sizeof wide);
    bytes_.remove_prefix(sizeof wide);
    number = static_cast<Number>(wide);
  }
  void operator()(std::string& text) {
    const std::uint64_t size = length();
    text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
  }
  template <class Value>
  void operator()(std::vector<Value>& values) {
    for (std::uint64_t left = length(); left > 0 && !has_failed_; --left) (*this)(values.emplace_back());
  }
  /// All was there, and nothing else.
  [[nodiscard]] bool is_whole() const { return !has_failed_ && bytes_.empty(); }

 private:
  /// No more than what is left, whatever the file says.
  std::uint64_t length() {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > bytes_.size()) fail();
    return has_failed_ ? 0 : size;
  }
  void fail() {
    has_failed_ = true;
    bytes_ = {};
  }

  std::string_view bytes_;
  bool has_failed_ = false;
};

}  // namespace

bool is_of_communication(std::string_view symbol) {
  return symbol.find("nccl") != std::string_view::npos || symbol.find("nvshmem") != std::string_view::npos;
}

std::string bytes_of(const CounterRequest& request) {
  Writer writer;
  writer(mark);
  visit(writer, request);
  return writer.take();
}

std::optional<CounterRequest> read_counter_request(std::string_view bytes) {
  Reader reader(bytes);
  std::uint64_t begin = 0;
  CounterRequest request;
  reader(begin);
  if (begin != mark) return std::nullopt;
  visit(reader, request);
  return reader.is_whole() ? std::optional(std::move(request)) : std::nullopt;
}

}  // namespace mprof::journal
