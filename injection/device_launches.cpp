// SPDX-License-Identifier: MIT
#include "injection/device_launches.hpp"

#include <string_view>

namespace mprof::injection {

bool launches_from_device(const char* cubin, std::size_t size) {
  // What the compiler makes of <<<>>> in a kernel.
  constexpr std::string_view launch = ".text.__cudaCDP2LaunchDevice";
  return cubin != nullptr && std::string_view(cubin, size).find(launch) != std::string_view::npos;
}

}  // namespace mprof::injection
