// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mprof {

/// Decompresses one gzip member. `name` is what messages call the bytes.
/// Throws Error(usage) when they are no gzip stream, are cut short, fail their CRC-32 or length, go on after
/// the member's end, or expand to more than `limit` bytes. The limit bounds the memory: 4 MB of gzip can hold
/// 4 GB.
[[nodiscard]] std::vector<std::byte> gunzip(std::span<const std::byte> bytes, const std::string& name,
                                            std::size_t limit);

}  // namespace mprof
