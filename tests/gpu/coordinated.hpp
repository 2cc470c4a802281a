// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "model/run.hpp"

namespace mprof::test {

/// A run of `variants` of one family, which only the tests' worker may have, at these problems. It is
/// planned, measured by that worker in processes of its own, read back and derived, as the product does it.
[[nodiscard]] Run coordinated(const std::string& family, const std::vector<std::string>& variants,
                              const std::vector<Problem>& problems, const std::vector<Pass>& passes,
                              const Stopping& stopping);

}  // namespace mprof::test
