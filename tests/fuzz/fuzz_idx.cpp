// SPDX-License-Identifier: MIT
// The IDX reader and the gzip reader in front of it must answer any bytes with an array or an Error, in
// bounded memory.
#include <cstddef>
#include <cstdint>
#include <span>

#include "inputs/gzip.hpp"
#include "inputs/idx.hpp"
#include "system/error.hpp"

namespace {

constexpr std::size_t gunzip_limit = std::size_t{1} << 20;

/// Runs a reader, whose answer may be an Error of the right kind, and nothing else that is thrown.
template <typename Read>
void expect_answer(Read&& read) {
  try {
    read();
  } catch (const mprof::Error& error) {
    if (error.code() != mprof::ExitCode::usage) __builtin_trap();
  }
}

void check(std::span<const std::byte> bytes) {
  const mprof::IdxArray array = mprof::parse_idx(bytes, "fuzz");
  std::size_t elements = 1;
  for (const std::size_t extent : array.shape) elements *= extent;
  if (array.values.size() != elements) __builtin_trap();
}

}  // namespace

// libFuzzer gives the name. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  expect_answer([&] { check(bytes); });
  expect_answer([&] { check(mprof::gunzip(bytes, "fuzz", gunzip_limit)); });
  return 0;
}
