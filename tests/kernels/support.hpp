// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/registry.hpp"

/// What tests of kernels share, whatever the family.
namespace mprof::test {

/// Whether a variant is one that tests register.
inline bool is_of_a_test(const VariantInfo& variant) {
  return variant.id.find("/test_") != std::string::npos;
}

/// The product's variants of a family and a device.
inline std::vector<std::string> variants_of(const std::string& family, const std::string& device) {
  std::vector<std::string> ids;
  for (const RegisteredVariant* variant : Registry::instance().variants()) {
    const VariantInfo& info = variant->info;
    if (info.family == family && info.device == device && !is_of_a_test(info)) ids.push_back(info.id);
  }
  return ids;
}

/// A variant's id as the name of a parameterized test.
inline std::string name_of(const ::testing::TestParamInfo<std::string>& parameter) {
  std::string name = parameter.param;
  for (char& c : name) c = c == '/' ? '_' : c;
  return name;
}

/// Values in [-1, 1), the same on every machine.
inline std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(generator() % 20001) / 10000.0F - 1.0F;
  return values;
}

}  // namespace mprof::test
