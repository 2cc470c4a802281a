// SPDX-License-Identifier: MIT
#include "runner/inputs.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "system/programs.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

/// Of the usual places.
std::string first_place(const std::vector<InputInfo>& inputs) {
  std::vector<fs::path> places;
  for (const InputInfo& input : inputs) {
    for (const fs::path& place : input.places) {
      places.push_back((program_directory() / place).lexically_normal());
    }
  }
  if (places.empty()) return "";
  const auto found = std::ranges::find_if(places, [](const fs::path& place) {
    std::error_code error;
    return fs::exists(place, error);
  });
  return (found == places.end() ? places.front() : *found).string();
}

bool exists(const std::string& path) {
  std::error_code error;
  return !path.empty() && fs::exists(path, error);
}

}  // namespace

std::string input_variable(const std::string& input) {
  std::string name = "MPROF_";
  for (const char c : input) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

InputsByName inputs_of(const Registry& registry) {
  InputsByName inputs;
  for (const Family* const family : registry.families()) {
    for (const InputInfo& input : family->inputs()) {
      auto found = std::ranges::find(inputs, input.name, &InputsByName::value_type::first);
      if (found == inputs.end()) found = inputs.insert(inputs.end(), {input.name, {}});
      found->second.push_back(input);
    }
  }
  return inputs;
}

InputPaths locate_inputs(InputPaths named, const Registry& registry, const InputPaths& known) {
  InputPaths paths = std::move(named);
  for (const auto& [name, inputs] : inputs_of(registry)) {
    if (paths.contains(name)) continue;
    const auto before = known.find(name);
    const std::string variable = environment_variable(input_variable(name).c_str());
    if (before != known.end() && exists(before->second)) {
      paths[name] = before->second;
    } else {
      paths[name] = variable.empty() ? first_place(inputs) : variable;
    }
  }
  return paths;
}

}  // namespace mprof
