// SPDX-License-Identifier: MIT
#include "kernels/plugin.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "kernels/family_library.hpp"
#include "kernels/plugin_library.hpp"
#include "model/precision.hpp"
#include "system/error.hpp"
#include "system/strays.hpp"

namespace mprof {
namespace {

mprof_launching told_of_launches = nullptr;

/// By the id of the variant that it holds.
std::map<std::string, std::shared_ptr<const Plugin>>& loaded_plugins() {
  static std::map<std::string, std::shared_ptr<const Plugin>> plugins;
  return plugins;
}

ParameterInfo parameter_of(const mprof_parameter& declared) {
  ParameterInfo parameter{.name = plugin_text(declared.name),
                          .meaning = plugin_text(declared.meaning),
                          .default_value = plugin_text(declared.default_value)};
  for (std::size_t i = 0; i < declared.value_count; ++i)
    parameter.values.push_back(plugin_text(declared.values[i]));
  return parameter;
}

VariantInfo described(const mprof_variant& declared) {
  VariantInfo info{.family = plugin_text(declared.family),
                   .title = plugin_text(declared.title),
                   .idea = plugin_text(declared.idea),
                   .device = plugin_text(declared.device),
                   .baseline = plugin_text(declared.baseline)};
  for (std::size_t i = 0; i < declared.parameter_count; ++i)
    info.parameters.push_back(parameter_of(declared.parameters[i]));
  if (declared.arithmetic > 0) info.arithmetic = declared.arithmetic;
  return info;
}

/// What is wrong with a declaration; empty: nothing.
std::string fault_of(const mprof_variant& declared, const VariantInfo& info) {
  if (info.family.empty()) return "its variant names no family (`mprof list` shows them)";
  if (info.title.empty()) return "its variant has no title";
  if (info.device != "cpu" && info.device != "cuda")
    return fmt::format("its variant is for the device \"{}\"; say cpu or cuda", info.device);
  for (const ParameterInfo& parameter : info.parameters) {
    if (parameter.name.empty()) return "a parameter of its variant has no name";
    if (std::ranges::find(parameter.values, parameter.default_value) == parameter.values.end())
      return fmt::format("the default of its parameter {}, \"{}\", is not one of its values", parameter.name,
                         parameter.default_value);
  }
  if (!(declared.tolerance >= 0 && declared.tolerance <= largest_tolerance))
    return fmt::format("its variant asks for a tolerance of {:g}; it may be up to {:g}", declared.tolerance,
                       largest_tolerance);
  if (!(declared.arithmetic >= 0 && declared.arithmetic <= 1))
    return fmt::format("its variant says that it needs {:g} of an op's FLOPs; that is a share of 1",
                       declared.arithmetic);
  const bool is_whole = declared.create != nullptr && declared.prepare != nullptr &&
                        declared.forward != nullptr && declared.finish != nullptr &&
                        declared.destroy != nullptr;
  return is_whole ? "" : "its variant lacks one of create, prepare, forward, finish and destroy";
}

/// As the boundary has them; they point into `parameters`.
std::vector<mprof_setting> settings_of(const Parameters& parameters) {
  std::vector<mprof_setting> settings;
  for (const auto& [name, value] : parameters) settings.push_back({name.c_str(), value.c_str()});
  return settings;
}

/// Throws what a plug-in's function says.
void check(mprof_failure failure) {
  end_copy();
  if (failure != nullptr) throw Error(ExitCode::wrong_output, failure);
}

}  // namespace

Plugin::Plugin(const std::filesystem::path& library) {
  void* const handle = open_plugin(library, "variant");
  const auto plugin = find_function<decltype(mprof_plugin)>(handle, "mprof_plugin");
  declared_ = plugin == nullptr ? nullptr : plugin();
  if (declared_ == nullptr) {
    const bool is_family =
        find_function<decltype(mprof_family_plugin)>(handle, "mprof_family_plugin") != nullptr;
    refuse_plugin(library, is_family
                               ? "it holds a family and no variant: give its folder, in which each other "
                                 "source is a variant of it."
                               : "it holds no variant: mprof_plugin() is missing or gives none");
  }
  info_ = described(*declared_);
  if (const std::string fault = fault_of(*declared_, info_); !fault.empty())
    refuse_plugin(library, fault + ".");
  impossible_ = find_function<decltype(mprof_impossible)>(handle, "mprof_impossible");
  const auto count = find_function<decltype(mprof_count_launches)>(handle, "mprof_count_launches");
  if (count != nullptr && told_of_launches != nullptr) count(told_of_launches);
}

std::optional<std::string> Plugin::impossible(const Parameters& parameters) const {
  if (impossible_ == nullptr) return std::nullopt;
  const Parameters known = own(parameters);
  const std::vector<mprof_setting> settings = settings_of(known);
  const std::string reason = plugin_text(impossible_(settings.data(), settings.size()));
  return reason.empty() ? std::nullopt : std::optional(reason);
}

std::optional<double> Plugin::tolerance() const {
  return declared_->tolerance > 0 ? std::optional(declared_->tolerance) : std::nullopt;
}

std::vector<ParameterInfo> Plugin::parameters() const {
  std::vector<ParameterInfo> all = info_.parameters;
  const std::string name(precision_parameter);
  if (std::ranges::find(all, name, &ParameterInfo::name) != all.end()) return all;
  ParameterInfo& precision = all.emplace_back();
  precision.name = name;
  precision.values.assign(precisions.begin(), precisions.end());
  precision.values.emplace_back();  // nobody declared any
  return all;
}

std::optional<std::string> Plugin::precision(const Parameters& parameters) const {
  const auto found = parameters.find(std::string(precision_parameter));
  const bool is_declared =
      found != parameters.end() && std::ranges::find(precisions, found->second) != precisions.end();
  const bool is_own = std::ranges::find(info_.parameters, precision_parameter, &ParameterInfo::name) !=
                      info_.parameters.end();
  if (tolerance() && (is_own || !is_declared)) return std::nullopt;
  return is_declared ? found->second : std::string();
}

Parameters Plugin::own(Parameters parameters) const {
  std::erase_if(parameters, [&](const auto& given) {
    return std::ranges::find(info_.parameters, given.first, &ParameterInfo::name) == info_.parameters.end();
  });
  return parameters;
}

BoundTask::BoundTask(const PluginTask& task) {
  for (const auto& [name, value] : task.sizes) sizes_.push_back({name, value});
  for (const std::span<const float> input : task.inputs) {
    inputs_.push_back(input.data());
    input_elements_.push_back(input.size());
  }
  task_ = {.sizes = sizes_.data(),
           .size_count = sizes_.size(),
           .inputs = inputs_.data(),
           .input_elements = input_elements_.data(),
           .input_count = inputs_.size(),
           .output = task.output.data(),
           .output_elements = task.output.size()};
}

PluginOp::PluginOp(std::shared_ptr<const Plugin> plugin, const Parameters& parameters)
    : plugin_(std::move(plugin)) {
  const Parameters known = plugin_->own(parameters);
  const std::vector<mprof_setting> settings = settings_of(known);
  check(plugin_->functions().create(settings.data(), settings.size(), &op_));
}

PluginOp::~PluginOp() {
  plugin_->functions().destroy(op_);
}

void PluginOp::prepare(const PluginTask& task) {
  task_.emplace(task);
  check(plugin_->functions().prepare(op_, &**task_));
}

void PluginOp::forward() {
  check(plugin_->functions().forward(op_));
}

void PluginOp::finish() {
  check(plugin_->functions().finish(op_));
}

void PluginOp::poison_output(std::uint32_t pattern) {
  if (plugin_->functions().poison_output != nullptr) check(plugin_->functions().poison_output(op_, pattern));
}

void tell_of_plugin_launches(mprof_launching launching) {
  told_of_launches = launching;
}

std::optional<std::string> precision_of_plugin(const std::string& id, const Parameters& parameters) {
  const auto found = loaded_plugins().find(id);
  return found == loaded_plugins().end() ? std::nullopt : found->second->precision(parameters);
}

void load_plugin(Registry& registry, const PluginSource& source) {
  if (!source.family.empty()) {
    registry.add(registry.make_family(std::make_shared<const FamilyLibrary>(source.library)));
    return;
  }
  const auto plugin = std::make_shared<const Plugin>(source.library);
  const Family* const family = registry.family(plugin->info().family);
  if (family == nullptr) {
    throw Error(ExitCode::usage,
                fmt::format("{}: its variant is of the family \"{}\", which this mprof does not "
                            "have (`mprof list`).",
                            source.path, plugin->info().family));
  }
  VariantInfo info = plugin->info();
  info.id = source.variant;
  loaded_plugins().insert_or_assign(info.id, plugin);
  family->adopt(info.id, plugin);
  registry.add(RegisteredVariant{std::move(info), {}, [plugin](const Parameters& parameters) {
                                   return plugin->impossible(parameters);
                                 }});
}

void Family::adopt(const std::string& id, const std::shared_ptr<const Plugin>& /*plugin*/) const {
  throw Error(ExitCode::usage,
              fmt::format("{}: the family {} takes no variants from outside.", id, info().id));
}

}  // namespace mprof
