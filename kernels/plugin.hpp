// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/registry.hpp"
#include "model/run.hpp"
#include "plugin/plugin.h"

namespace mprof {

/// The sizes and the arrays of an op, as a plug-in is given them.
struct PluginTask {
  std::vector<std::pair<const char*, std::size_t>> sizes{};
  std::vector<std::span<const float>> inputs{};
  std::span<float> output{};
};

/// A task as the boundary has it.
class BoundTask {
 public:
  /// What `task` points to must outlive it.
  explicit BoundTask(const PluginTask& task);
  BoundTask(BoundTask&&) = default;
  BoundTask& operator=(BoundTask&&) = default;

  [[nodiscard]] const mprof_task& operator*() const { return task_; }

 private:
  mprof_task task_{};
  std::vector<mprof_size> sizes_;
  std::vector<const float*> inputs_;
  std::vector<std::size_t> input_elements_;
};

/// A shared library that holds one variant, behind the C boundary of plugin/plugin.h. Loading it runs its
/// code: only workers do. Its symbols are its own (RTLD_LOCAL), and mprof's were bound when it started, so
/// that it replaces none of them. It is never unloaded, since its threads and its runtime may still be there.
class Plugin {
 public:
  /// Throws Error(usage) that names the library when it cannot be loaded, is of another version of the
  /// boundary, or declares what cannot be.
  explicit Plugin(const std::filesystem::path& library);

  /// What it declares of itself: everything but its id and its source file.
  [[nodiscard]] const VariantInfo& info() const { return info_; }
  /// Of its own; what precision() gives counts before it.
  [[nodiscard]] std::optional<double> tolerance() const;
  /// The parameters that it declares, and `precision`, by which mprof knows what its user declares
  /// (precision()).
  [[nodiscard]] std::vector<ParameterInfo> parameters() const;
  /// The precision in which its outputs may be right although they miss the tolerance. It is what the user or
  /// its parameter says, or "" for the precision that is found; nullopt where it asks for a tolerance of its
  /// own.
  [[nodiscard]] std::optional<std::string> precision(const Parameters& parameters) const;
  [[nodiscard]] bool is_for_odd_sizes() const { return (declared_->flags & MPROF_AT_ODD_SIZES) != 0; }
  [[nodiscard]] const mprof_variant& functions() const { return *declared_; }
  /// Why these values of its parameters cannot go together; nullopt where they can, or it does not say.
  [[nodiscard]] std::optional<std::string> impossible(const Parameters& parameters) const;
  /// The parameters that it knows.
  [[nodiscard]] Parameters own(Parameters parameters) const;

 private:
  const mprof_variant* declared_ = nullptr;
  decltype(&mprof_impossible) impossible_ = nullptr;
  VariantInfo info_;
};

/// What computes one op. Each function throws Error with what the plug-in says when it fails.
class PluginOp {
 public:
  PluginOp(std::shared_ptr<const Plugin> plugin, const Parameters& parameters);
  ~PluginOp();
  PluginOp(const PluginOp&) = delete;
  PluginOp& operator=(const PluginOp&) = delete;

  void prepare(const PluginTask& task);
  void forward();
  void finish();
  void poison_output(std::uint32_t pattern);

 private:
  std::shared_ptr<const Plugin> plugin_;
  void* op_ = nullptr;
  std::optional<BoundTask> task_;  ///< what prepare() was given, until finish()
};

/// Sets what is called for each kernel that plug-ins launch, which happens in runtimes of their own. Call it
/// once, before a plug-in is loaded.
void tell_of_plugin_launches(mprof_launching launching);

/// Plugin::precision() of the variant `id`; nullopt too where no library holds it.
[[nodiscard]] std::optional<std::string> precision_of_plugin(const std::string& id,
                                                             const Parameters& parameters);

/// Adds the variant of a library to the registry, and lets its family know it; or adds the family of a
/// library. For workers.
void load_plugin(Registry& registry, const PluginSource& source);

}  // namespace mprof
