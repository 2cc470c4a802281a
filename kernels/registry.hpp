// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/library_fact.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

class FamilyLibrary;

/// A variant as the registry holds it.
struct RegisteredVariant {
  VariantInfo info;
  /// Why the variant cannot run on this machine, or nullopt. Must not create a device context.
  std::function<std::optional<std::string>()> unavailable;
  /// Why values of its parameters cannot go together, or nullopt; empty where all can, or where only its
  /// library knows.
  std::function<std::optional<std::string>(const Parameters& parameters)> impossible{};
};

/// All families and variants that are linked into this program. Each variant's file adds itself at start-up.
class Registry {
 public:
  static Registry& instance();

  void add(std::unique_ptr<Family> family);
  void add(RegisteredVariant variant);
  /// Take out what is no longer what it was: a source from outside that has changed. What points to it
  /// dangles.
  void remove(std::string_view variant);
  void remove_family(std::string_view id);
  /// How a library's family is computed with, where this program has that.
  using FamilyMaker =
      std::function<std::unique_ptr<Family>(const std::shared_ptr<const FamilyLibrary>& library)>;
  void set_family_maker(FamilyMaker maker) { make_family_ = std::move(maker); }
  [[nodiscard]] std::unique_ptr<Family> make_family(
      const std::shared_ptr<const FamilyLibrary>& library) const {
    return make_family_(library);
  }
  /// For runs with that variant; for every run if it is empty.
  void add_library(LibraryFact library, std::string variant = {}) {
    libraries_.push_back({std::move(library), std::move(variant)});
  }
  /// Variables that a library reads when it is loaded.
  void add_environment(std::function<std::map<std::string, std::string>()> variables) {
    environments_.push_back(std::move(variables));
  }

  /// By id; nullptr for an unknown id.
  [[nodiscard]] const Family* family(std::string_view id) const;
  [[nodiscard]] const RegisteredVariant* variant(std::string_view id) const;
  /// Sorted by id, each baseline before the variants that build on it.
  [[nodiscard]] std::vector<const RegisteredVariant*> variants() const;
  [[nodiscard]] std::vector<const Family*> families() const;
  /// The group "libraries" of a run's environment: the libraries of these variants, if the variant can run. A
  /// library must be loaded for that, which may take a second.
  [[nodiscard]] Environment library_versions(const std::vector<std::string>& variants) const;
  /// Sets what variants' libraries read when they are loaded, for the processes that this one starts; what is
  /// set already stays. Call it before any thread is started: the environment belongs to all.
  void export_environment() const;

 private:
  struct RegisteredLibrary {
    LibraryFact fact;
    std::string variant;
  };

  std::vector<std::unique_ptr<Family>> families_;
  std::vector<std::unique_ptr<RegisteredVariant>> variants_;
  std::vector<RegisteredLibrary> libraries_;
  std::vector<std::function<std::map<std::string, std::string>()>> environments_;
  FamilyMaker make_family_;
};

/// The id of the variant defined in `file`: its path below kernels/ without the extension. A variant is one
/// file.
[[nodiscard]] std::string variant_id_of(std::string_view file);
/// The path below kernels/, with the extension.
[[nodiscard]] std::string source_file_of(std::string_view file);

}  // namespace mprof
