// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"

namespace mprof {

/// One side of a session: a variant with values of its parameters, in one build of mprof; or a program.
struct SessionSide {
  std::string name{};     ///< as the user wrote it
  std::string variant{};  ///< its id
  std::map<std::string, std::vector<std::string>> settings{};
  std::string program{};                ///< whose workers run it
  std::vector<std::string> through{};   ///< what its workers' command line begins with, such as a sandbox
  std::vector<std::string> command{};   ///< of a program that is run as it is, in place of a variant
  std::vector<PluginSource> sources{};  ///< what it is built from, where it is not one of mprof's own
};

/// What a name stands for. It is a variant with parameters, as in family/variant[width=16]; or one of these
/// sources, which are registered; or another build of mprof, by its program, which runs `variant_of_builds`.
/// Throws Error(usage) for any other name; `other` is the name of the other side, for what to type instead.
[[nodiscard]] SessionSide session_side(const std::string& name, const std::string& other,
                                       const std::string& variant_of_builds,
                                       const std::vector<PluginSource>& sources, const Registry& registry);

}  // namespace mprof
