// SPDX-License-Identifier: MIT
#include "kernels/family_library.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "kernels/plugin_library.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

std::string text_or(const char* value, std::string otherwise) {
  std::string text = plugin_text(value);
  return text.empty() ? std::move(otherwise) : text;
}

std::string capitalized(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// What can be a part of names of files and options.
bool is_name(std::string_view text) {
  const auto is_plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(text, is_plain);
}

AxisInfo axis_of(const mprof_axis& declared) {
  const std::string name = plugin_text(declared.name);
  return {.name = name,
          .plural = text_or(declared.plural, name.ends_with('s') ? name : name + "s"),
          .title = text_or(declared.title, capitalized(name)),
          .meaning = plugin_text(declared.meaning),
          .default_value = declared.default_value,
          .min = declared.min,
          .max = declared.max};
}

FamilyInfo described(const mprof_family& declared) {
  const std::string item = plugin_text(declared.item);
  FamilyInfo info{.id = plugin_text(declared.name),
                  .title = plugin_text(declared.title),
                  .nouns = {.item = item,
                            .items = text_or(declared.items, item.empty() ? "" : item + "s"),
                            .whole = text_or(declared.whole, "execution"),
                            .op_time_title = "Op Time",
                            .total_time_title = "Total Time"}};
  for (std::size_t i = 0; i < declared.axis_count; ++i) info.axes.push_back(axis_of(declared.axes[i]));
  return info;
}

bool is_within(const AxisInfo& axis, std::uint64_t value) {
  return value >= axis.min && (axis.max == 0 || value <= axis.max);
}

std::string fault_of(const AxisInfo& axis) {
  if (!is_name(axis.name))
    return fmt::format("the name of an axis, \"{}\", is not a letter with letters, digits, _ and - behind it",
                       axis.name);
  if (axis.meaning.empty()) return fmt::format("its axis {} has no meaning", axis.name);
  if (!is_within(axis, axis.default_value))
    return fmt::format("the default of its axis {}, {}, is outside of it", axis.name, axis.default_value);
  return {};
}

/// What is wrong with a declaration; empty: nothing.
std::string fault_of(const mprof_family& declared, const FamilyInfo& info) {
  if (!is_name(info.id))
    return fmt::format("its family's name, \"{}\", is not a letter with letters, digits, _ and - behind it",
                       info.id);
  if (info.title.empty()) return "its family has no title";
  if (info.axes.empty()) return "its family has no axis";
  std::set<std::string> names;
  for (const AxisInfo& axis : info.axes) {
    if (std::string fault = fault_of(axis); !fault.empty()) return fault;
    if (!names.insert(axis.name).second) return fmt::format("two of its axes are called {}", axis.name);
  }
  if (declared.problem_count == 0) return "its family has no problem to run where the user names none";
  return declared.ops == nullptr || declared.reference == nullptr ? "its family lacks ops or reference" : "";
}

std::vector<Problem> problems_of(const std::uint64_t* values, std::size_t count, const FamilyInfo& info) {
  std::vector<Problem> problems(count);
  for (Problem& problem : problems) {
    for (const AxisInfo& axis : info.axes) problem.coordinates.push_back({axis.name, *values++});
  }
  return problems;
}

/// a * b of sizes that another one declared. Throws Error(usage) for what no memory could hold.
std::size_t product(std::size_t a, std::size_t b) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max() / 64;
  if (b != 0 && a > most / b)
    throw Error(ExitCode::usage, "its op has more elements than any memory could hold");
  return a * b;
}

/// Sizes by name, as the boundary has them. The names must outlive it.
std::vector<mprof_size> sizes_of(const Problem& problem) {
  std::vector<mprof_size> sizes;
  for (const Coordinate& coordinate : problem.coordinates)
    sizes.push_back({coordinate.axis.c_str(), coordinate.value});
  return sizes;
}

OpLayout layout_of(const mprof_op& declared, const Problem& problem) {
  const std::string name = plugin_text(declared.name);
  OpLayout layout{.info = {.name = name,
                           .title = text_or(declared.title, name),
                           .flops = declared.flops,
                           .bytes = declared.bytes,
                           .special_operations = declared.special_operations},
                  .blocks = declared.blocks,
                  .items_in_block = declared.items_in_block,
                  .item_elements = declared.item_elements,
                  .tolerance = declared.tolerance};
  for (const Coordinate& coordinate : problem.coordinates)
    layout.sizes.emplace_back(coordinate.axis, coordinate.value);
  for (std::size_t i = 0; i < declared.size_count; ++i)
    layout.sizes.emplace_back(plugin_text(declared.sizes[i].name), declared.sizes[i].value);
  for (std::size_t i = 0; i < declared.input_count; ++i)
    layout.inputs.push_back({.name = plugin_text(declared.inputs[i].name),
                             .elements = declared.inputs[i].elements,
                             .is_shared = declared.inputs[i].is_shared != 0});
  return layout;
}

bool is_amount(double value) {
  return std::isfinite(value) && value >= 0;
}

/// What is wrong with an op; empty: nothing.
std::string fault_of(const mprof_op& declared, const OpLayout& layout, bool fills) {
  if (!is_name(layout.info.name))
    return fmt::format("the name of an op, \"{}\", is not a letter with letters, digits, _ and - behind it",
                       layout.info.name);
  if (layout.output_elements() == 0) return "its output has no element";
  for (const OpInfo& info = layout.info; double amount : {info.flops, info.bytes, info.special_operations}) {
    if (!is_amount(amount)) return "its flops, bytes or special operations are no amount";
  }
  if (!(layout.tolerance > 0 && layout.tolerance <= largest_tolerance))
    return fmt::format("its tolerance is {:g}; give one above 0, up to {:g}", layout.tolerance,
                       largest_tolerance);
  for (std::size_t i = 0; i < declared.input_count; ++i) {
    const mprof_input& input = declared.inputs[i];
    if (input.elements == 0) return fmt::format("its input {} has no element", layout.inputs[i].name);
    if (input.type != MPROF_FLOAT32 && input.type != MPROF_INT32)
      return fmt::format("its input {} is of a type that mprof does not know", layout.inputs[i].name);
    if (input.type != MPROF_FLOAT32 && !fills)
      return fmt::format("its input {} is not of floats: the family must fill it", layout.inputs[i].name);
  }
  return {};
}

/// What follows from the op's arrays.
void complete(OpLayout& layout, bool counts_items) {
  std::size_t elements = product(product(layout.blocks, layout.items_in_block), layout.item_elements);
  for (const InputLayout& input : layout.inputs)
    elements += product(input.is_shared ? 1 : layout.blocks, input.elements);
  if (layout.info.bytes == 0)
    layout.info.bytes = static_cast<double>(sizeof(float)) * static_cast<double>(elements);
  if (counts_items) layout.info.items = static_cast<double>(layout.blocks * layout.items_in_block);
}

/// Throws what a function of the library says.
void check(mprof_failure failure, std::string_view function) {
  if (failure != nullptr)
    throw Error(ExitCode::wrong_output, fmt::format("the family's {} failed: {}", function, failure));
}

}  // namespace

FamilyLibrary::FamilyLibrary(const std::filesystem::path& library) : library_(library) {
  void* const handle = open_plugin(library, "family");
  const auto plugin = find_function<decltype(mprof_family_plugin)>(handle, "mprof_family_plugin");
  declared_ = plugin == nullptr ? nullptr : plugin();
  if (declared_ == nullptr)
    refuse_plugin(library,
                  "it holds no family: mprof_family_plugin() is missing or gives none. The file "
                  "ends with MPROF_FAMILY, as `mprof new family` shows.");
  info_ = described(*declared_);
  if (const std::string fault = fault_of(*declared_, info_); !fault.empty())
    refuse_plugin(library, fault + ".");
  problems_ = problems_of(declared_->problems, declared_->problem_count, info_);
  quick_problems_ = problems_of(declared_->quick_problems, declared_->quick_problem_count, info_);
  if (quick_problems_.empty()) quick_problems_.push_back(problems_.front());
  require_sound_problems();
}

void FamilyLibrary::require_sound_problems() const {
  for (const std::vector<Problem>* problems : {&problems_, &quick_problems_}) {
    for (const Problem& problem : *problems) {
      static_cast<void>(ops(problem));
      for (std::size_t i = 0; i < info_.axes.size(); ++i) {
        if (!is_within(info_.axes[i], problem.coordinates[i].value))
          refuse_plugin(library_, fmt::format("its problem {} is outside of the axis {}.",
                                              problem_id(problem), info_.axes[i].name));
      }
    }
  }
}

std::vector<OpLayout> FamilyLibrary::ops(const Problem& problem) const {
  const auto refuse = [&](const std::string& fault) {
    refuse_plugin(library_, fmt::format("at the problem {}, {}.", problem_id(problem), fault));
  };
  const mprof_op* given = nullptr;
  std::size_t count = 0;
  const std::vector<mprof_size> sizes = sizes_of(problem);
  if (const mprof_failure failure = declared_->ops(sizes.data(), &given, &count); failure != nullptr)
    refuse(fmt::format("it gives no ops: {}", failure));
  if (count == 0 || given == nullptr) refuse("it gives no ops");
  std::vector<OpLayout> ops;
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    OpLayout& layout = ops.emplace_back(layout_of(given[i], problem));
    std::string fault = fault_of(given[i], layout, fills());
    if (!names.insert(layout.info.name).second) fault = "another op has its name";
    try {
      complete(layout, !info_.nouns.item.empty());
    } catch (const Error& error) {
      fault = error.what();
    }
    if (!fault.empty()) refuse(fmt::format("its op {} cannot be: {}", layout.info.name, fault));
  }
  return ops;
}

void FamilyLibrary::fill(const Problem& problem, std::size_t op, std::size_t input, std::uint64_t seed,
                         std::span<float> values) const {
  const std::vector<mprof_size> sizes = sizes_of(problem);
  check(declared_->fill(sizes.data(), op, input, seed, values.data(), values.size()), "fill");
}

std::vector<double> FamilyLibrary::reference(std::size_t op, std::size_t block,
                                             const mprof_task& task) const {
  std::vector<double> values(task.output_elements, std::numeric_limits<double>::quiet_NaN());
  check(declared_->reference(&task, op, block, values.data()), "reference");
  return values;
}

}  // namespace mprof
