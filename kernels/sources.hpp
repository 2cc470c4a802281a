#pragma once

#include <optional>
#include <string_view>

namespace mprof {

/// A file below kernels/ as it was when this program was built: "conv/baseline.cu", "conv/baseline.md";
/// nullopt when there was none. A run keeps those of its variants, so that a report shows the code that was
/// measured.
[[nodiscard]] std::optional<std::string_view> source_text(std::string_view path);

}  // namespace mprof
