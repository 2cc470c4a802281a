#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// A variant as the registry holds it.
struct RegisteredVariant {
  VariantInfo info;
  /// Why the variant cannot run on this machine, or nullopt. Must not create a device context.
  std::function<std::optional<std::string>()> unavailable;
};

/// All families and variants that are linked into this program. Each variant's file adds itself at start-up.
class Registry {
 public:
  static Registry& instance();

  void add(std::unique_ptr<Family> family);
  void add(RegisteredVariant variant);
  /// A library that a variant calls, and how to ask for its version: it goes into each run's environment.
  void add_library(std::string name, std::function<std::string()> version) {
    libraries_.emplace_back(std::move(name), std::move(version));
  }

  /// By id; nullptr when there is none.
  [[nodiscard]] const Family* family(std::string_view id) const;
  [[nodiscard]] const RegisteredVariant* variant(std::string_view id) const;
  /// Sorted by id, each baseline before the variants that build on it.
  [[nodiscard]] std::vector<const RegisteredVariant*> variants() const;
  [[nodiscard]] std::vector<const Family*> families() const;
  /// The group "libraries" of a run's environment.
  [[nodiscard]] Environment library_versions() const {
    Environment environment;
    for (const auto& [name, version] : libraries_) environment["libraries"][name] = version();
    return environment;
  }

 private:
  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<RegisteredVariant>> variants_;
  std::vector<std::pair<std::string, std::function<std::string()>>> libraries_;
};

/// The id of the variant defined in `file`: its path below kernels/ without the extension. A variant is one
/// file.
[[nodiscard]] std::string variant_id_of(std::string_view file);
/// The path below kernels/, with the extension.
[[nodiscard]] std::string source_file_of(std::string_view file);

}  // namespace mprof
