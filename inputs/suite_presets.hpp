// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "inputs/suite_file.hpp"

namespace mprof {

/// What a suite says with `preset = "NAME"`: the lines that many programs of one origin print, and their
/// words.
struct SuitePreset {
  std::string name{};
  Nouns nouns{};
  std::vector<SuiteNumber> numbers{};
  std::vector<QualityInfo> qualities{};
  std::vector<std::string> ops{};
};

[[nodiscard]] const std::vector<SuitePreset>& suite_presets();

}  // namespace mprof
