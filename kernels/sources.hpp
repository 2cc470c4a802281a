// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mprof {

/// A file below kernels/ as it was when this program was built: "conv/baseline.cu", "conv/baseline.md";
/// nullopt for an unknown file. A run keeps the files of its variants, so that a report shows the code that
/// was measured.
[[nodiscard]] std::optional<std::string_view> source_text(std::string_view path);

/// "sha256:" and 64 hexadecimal digits over a variant's file below kernels/ and what it includes from there.
/// It also covers the files that define what these headers declare. With another checksum, times belong to
/// another variant. Empty when there is no such file.
[[nodiscard]] std::string source_checksum(const std::string& source_file);

/// A file that mprof brings along.
struct BuiltInFile {
  std::string_view name{};  ///< "mprof/variant.hpp"
  std::string_view text{};
};

/// The headers that sources from outside are compiled with.
[[nodiscard]] std::vector<BuiltInFile> plugin_headers();

/// A first variant of a family that works, to begin with; nullopt where the family has none for the device.
/// In it @NAME@ and @FILE@ stand for what it will be called.
[[nodiscard]] std::optional<std::string_view> first_variant(std::string_view family, std::string_view device);

/// The files of a first family that works, with a baseline and an optimization for the device. In them @NAME@
/// and @FOLDER@ stand for what it will be called.
[[nodiscard]] std::vector<BuiltInFile> first_family(std::string_view device);

}  // namespace mprof
