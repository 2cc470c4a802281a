// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/trace/trace.hpp"

/// A timeline as a viewer takes it, and the two files that Perfetto reads: its own protobuf, and JSON.
namespace mprof {

/// A text that the file knows; 0: none.
using PerfettoText = std::uint32_t;

/// What stands beside a slice: a number, some numbers, or a text.
struct PerfettoArgument {
  std::string_view name;
  std::variant<std::int64_t, trace::Size, PerfettoText> value;
};

/// From a slice of the host to a slice of a GPU.
struct PerfettoArrow {
  std::uint64_t id = 0;      ///< from 1 on; 0: no id
  std::uint64_t thread = 0;  ///< where it begins
  std::int64_t start = 0;    ///< of the slice that it begins at
};

/// Times in ns from the start of the case.
struct PerfettoSlice {
  std::string_view category{};
  PerfettoText name = 0;
  trace::Interval time{};
  std::uint64_t thread = 0;
  std::span<const PerfettoArgument> arguments{};
  PerfettoArrow arrow{};          ///< that ends here
  std::uint64_t first_arrow = 0;  ///< of the arrows that begin here, with the next ids
  std::uint64_t arrows = 0;
};

/// Processes, their threads and what is on these. Slices of a thread come by their starts, the outer ones
/// first.
class PerfettoSink {
 public:
  PerfettoSink() = default;
  PerfettoSink(const PerfettoSink&) = delete;
  PerfettoSink& operator=(const PerfettoSink&) = delete;
  virtual ~PerfettoSink() = default;

  /// Makes a text known.
  [[nodiscard]] virtual PerfettoText text(std::string_view text) = 0;
  /// Facts of the whole file, before all others.
  virtual void about(const std::vector<std::pair<std::string, std::string>>& facts) = 0;
  /// `order`: from 1 on; `label`: nothing, or what went wrong.
  virtual void process(std::uint64_t process, std::string_view name, std::uint64_t order,
                       std::string_view label) = 0;
  /// Of the process before.
  virtual void thread(std::uint64_t thread, std::string_view name, std::uint64_t order) = 0;
  virtual void slice(const PerfettoSlice& slice) = 0;
  /// A track of numbers over time, of the process before; it has a number of its own among threads.
  virtual void counter(std::uint64_t track, std::string_view name, std::uint64_t order) = 0;
  /// The track has the value from this time on, in ns from the start of the case.
  virtual void count(std::uint64_t track, std::int64_t time, double value) = 0;
  /// No slice of these threads follows.
  virtual void end_threads() {}
  /// The file appears.
  virtual void commit() = 0;
};

[[nodiscard]] std::unique_ptr<PerfettoSink> perfetto_json(const std::filesystem::path& file);
/// Compressed by gzip.
[[nodiscard]] std::unique_ptr<PerfettoSink> perfetto_protobuf(const std::filesystem::path& file);

}  // namespace mprof
