// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/registry.hpp"
#include "runner/watch/watcher.hpp"

namespace mprof {

/// A variant's source, with what lies beside it: each version is verified and measured with its baseline.
class WatchedSource final : public Watched {
 public:
  /// Builds the source and registers what it needs.
  using Build = std::function<std::vector<PluginSource>()>;
  /// Where the inputs of the families are.
  using Inputs = std::function<InputPaths()>;

  /// `name`: the source's file, as the user gave it. Throws Error(usage) for a file that is no source, or for
  /// several.
  WatchedSource(std::string name, WatchRequest request, Registry& registry, Build build, Inputs inputs);

  [[nodiscard]] const std::filesystem::path& file() const override { return parts_.front(); }
  [[nodiscard]] Stamp sources() const override;
  [[nodiscard]] Run plan(const WatchContext& context) override;
  void measure(Run& run, ResultDirectory& directory, const WatchContext& context) override;
  [[nodiscard]] std::vector<WatchedVariant> variants(const Run& run) const override;

 private:
  void build();

  std::string name_;
  std::vector<std::filesystem::path> parts_;  ///< its files; the first one is the variant
  WatchRequest request_;
  Registry& registry_;
  Build build_;
  Inputs inputs_;
  std::vector<PluginSource> registered_;  ///< what the version that was built last registered
};

}  // namespace mprof
