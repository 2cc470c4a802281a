// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "model/trace/steps.hpp"
#include "report/analysis/program/picture.hpp"
#include "tests/report/fabricated_trace.hpp"

namespace mprof::test {

/// A program whose host launches kernels, and whose GPU runs them one after the other.
struct FabricatedProgram {
  FabricatedTrace made{};
  std::int64_t host = 0;  ///< now, on the host
  std::int64_t gpu = 0;   ///< when the GPU is done with all that was launched
  std::int64_t launches = 0;
  std::int64_t thread = 1;  ///< that does what comes
  std::uint64_t addresses = 0;

  FabricatedProgram() { made.add_case("program/p"); }
  void launch(const std::string& kernel, std::int64_t time, std::int64_t call = 5) {
    ++launches;
    made.call("cudaLaunchKernel", {host, host + call}, trace::Api::runtime, thread);
    made.trace.calls.back().correlation = launches;
    const std::int64_t start = std::max(host + call, gpu);
    made.kernel(7, {start, start + time}, 0, kernel);
    made.trace.kernels.change(made.trace.kernels.size() - 1,
                              [&](trace::Kernel& one) { one.correlation = launches; });
    host += call;
    gpu = start + time;
  }
  /// Returns the address.
  std::uint64_t allocate(std::uint64_t bytes, const std::string& name = "cudaMalloc",
                         trace::MemoryKind kind = trace::MemoryKind::device, std::uint32_t device = 0) {
    made.call(name, {host, host + 2}, trace::Api::runtime, thread);
    made.trace.calls.back().correlation = ++launches;
    made.trace.allocations.push_back({.time = {host + 1, host + 1},
                                      .correlation = launches,
                                      .address = ++addresses,
                                      .bytes = bytes,
                                      .queue = {device, 1, 0},
                                      .kind = kind});
    host += 2;
    return addresses;
  }
  void release(std::uint64_t address) {
    made.trace.allocations.push_back(
        {.time = {host, host}, .address = address, .kind = trace::MemoryKind::device, .is_release = true});
    host += 1;
  }
  void compute(std::int64_t time) { host += time; }
  void wait(const std::string& call = "cudaDeviceSynchronize") {
    made.call(call, {host, std::max(host, gpu) + 1}, trace::Api::runtime, thread);
    host = std::max(host, gpu) + 1;
  }
  template <class Do>
  void range(const std::string& name, Do what, const std::string& domain = "") {
    const std::int64_t start = host, of = thread;
    what();
    made.range(domain, name, {start, host}, of);
  }
  [[nodiscard]] Evidence evidence() const {
    Evidence evidence;
    evidence.profile = made.trace;
    evidence.profile->cases.front().window = {0, std::max(host, gpu)};
    return evidence;
  }
  [[nodiscard]] std::optional<Steps> steps() const { return steps_of(made.trace, 0); }
  /// `record`: its case, as far as more is in it than a trace.
  [[nodiscard]] ProgramPicture picture(Case record = {}) const {
    const FamilyResult family;
    static Case kept;
    static CaseResult result;
    kept = std::move(record);
    result.id = "program/p";
    result.status = Status::ok;
    result.source = &kept;
    auto picture = picture_of(family, result, evidence());
    EXPECT_TRUE(picture.has_value());
    return picture.value_or(ProgramPicture{});
  }
};

}  // namespace mprof::test
