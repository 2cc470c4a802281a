// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "system/clock.hpp"

namespace mprof {

struct MemcheckRequest {
  const Run& run;  ///< of the variant alone
  Problem problem{};
  /// As SanitizeContext::through.
  std::function<std::vector<std::string>(const std::filesystem::path& folder)> through{};
  const Registry& registry;
  const Devices& devices;
  const Clock& clock;
  int interrupt_fd = -1;
  double timeout = 0;              ///< s
  std::filesystem::path folder{};  ///< for its record
};

/// Both empty: compute-sanitizer found nothing.
struct Memcheck {
  std::string skipped{};  ///< why it was not done
  std::string error{};    ///< what it found
};

/// The variant under compute-sanitizer's memcheck. Throws Error(interrupted).
[[nodiscard]] Memcheck memcheck_of(const MemcheckRequest& request);

}  // namespace mprof
