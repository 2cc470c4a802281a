#include "kernels/plugin.hpp"

#include <algorithm>

#include <dlfcn.h>
#include <fmt/format.h>

#include "system/error.hpp"

namespace mprof {
namespace {

/// Beyond, it would no longer be the same computation: single precision has 1e-7, half precision 1e-3.
constexpr double largest_tolerance = 0.01;

mprof_launching told_of_launches = nullptr;

[[noreturn]] void refuse(const std::filesystem::path& library, const std::string& reason) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", library.string(), reason));
}

std::string text(const char* value) {
  return value == nullptr ? "" : value;
}

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void* open(const std::filesystem::path& library) {
  void* const handle = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse(library, fmt::format("cannot be loaded: {}", text(::dlerror())));
  return handle;
}

void require_version(const std::filesystem::path& library, void* handle) {
  auto* const version = find<decltype(mprof_abi_version)>(handle, "mprof_abi_version");
  if (version == nullptr) {
    refuse(library,
           "it holds no variant: it has no function mprof_abi_version(). A source registers its variant as "
           "`mprof new variant` shows; a library has the functions of <mprof/plugin.h>.");
  }
  if (const std::uint32_t found = version(); found != MPROF_ABI_VERSION) {
    refuse(library, fmt::format("it is of version {} of the boundary between mprof and variants "
                                "(MPROF_ABI_VERSION), and this mprof has version {}: compile it with the "
                                "headers of this mprof.",
                                found, MPROF_ABI_VERSION));
  }
}

ParameterInfo parameter_of(const mprof_parameter& declared) {
  ParameterInfo parameter{.name = text(declared.name),
                          .meaning = text(declared.meaning),
                          .default_value = text(declared.default_value)};
  for (std::size_t i = 0; i < declared.value_count; ++i) parameter.values.push_back(text(declared.values[i]));
  return parameter;
}

VariantInfo described(const mprof_variant& declared) {
  VariantInfo info{.family = text(declared.family),
                   .title = text(declared.title),
                   .idea = text(declared.idea),
                   .device = text(declared.device),
                   .baseline = text(declared.baseline)};
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
      return fmt::format("the default of its parameter {}, \"{}\", is none of its values", parameter.name,
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

/// Throws what a plug-in's function says.
void check(mprof_failure failure) {
  if (failure != nullptr) throw Error(ExitCode::wrong_output, failure);
}

}  // namespace

Plugin::Plugin(const std::filesystem::path& library) {
  void* const handle = open(library);
  require_version(library, handle);
  auto* const plugin = find<decltype(mprof_plugin)>(handle, "mprof_plugin");
  declared_ = plugin == nullptr ? nullptr : plugin();
  if (declared_ == nullptr) refuse(library, "it holds no variant: mprof_plugin() is missing or gives none");
  info_ = described(*declared_);
  if (const std::string fault = fault_of(*declared_, info_); !fault.empty()) refuse(library, fault + ".");
  auto* const count = find<decltype(mprof_count_launches)>(handle, "mprof_count_launches");
  if (count != nullptr && told_of_launches != nullptr) count(told_of_launches);
}

std::optional<double> Plugin::tolerance() const {
  return declared_->tolerance > 0 ? std::optional(declared_->tolerance) : std::nullopt;
}

PluginOp::PluginOp(std::shared_ptr<const Plugin> plugin, const Parameters& parameters)
    : plugin_(std::move(plugin)) {
  std::vector<mprof_setting> settings;
  for (const auto& [name, value] : parameters) settings.push_back({name.c_str(), value.c_str()});
  check(plugin_->functions().create(settings.data(), settings.size(), &op_));
}

PluginOp::~PluginOp() {
  plugin_->functions().destroy(op_);
}

void PluginOp::prepare(const PluginTask& task) {
  sizes_.clear();
  inputs_.clear();
  input_elements_.clear();
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
  check(plugin_->functions().prepare(op_, &task_));
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

void load_plugin(Registry& registry, const PluginSource& source) {
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
  family->adopt(info.id, plugin);
  registry.add(RegisteredVariant{std::move(info), {}});
}

void Family::adopt(const std::string& id, const std::shared_ptr<const Plugin>& /*plugin*/) const {
  throw Error(ExitCode::usage,
              fmt::format("{}: the family {} takes no variants from outside.", id, info().id));
}

}  // namespace mprof
