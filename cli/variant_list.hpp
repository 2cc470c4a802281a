// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "kernels/registry.hpp"

/// What `mprof list` says of families and their variants.
namespace mprof::cli {

[[nodiscard]] std::string variants_json(const std::vector<const Family*>& families,
                                        const std::vector<const RegisteredVariant*>& variants);

/// A line each.
void print_variant_lines(const std::vector<const RegisteredVariant*>& variants);

/// With everything that is known of them and of their families.
void print_variants(const std::vector<const Family*>& families,
                    const std::vector<const RegisteredVariant*>& variants);

}  // namespace mprof::cli
