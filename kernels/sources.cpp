#include "kernels/sources.hpp"

#include "embedded/kernel_sources.hpp"

namespace mprof {

std::optional<std::string_view> source_text(std::string_view path) {
  return embedded::kernel_sources(path);
}

}  // namespace mprof
