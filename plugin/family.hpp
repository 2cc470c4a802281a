// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <mprof/variant.hpp>

/// A family of the user's own as C++ classes: what is computed, on what, and what is right. Its file ends
/// with one MPROF_FAMILY; each other source in its folder is a variant of it.
namespace mprof::plugin {

/// One of the whole numbers that make a problem.
struct Axis {
  const char* name = "";     ///< "size": also the option's, --size
  const char* plural = "";   ///< empty: the name with an s
  const char* title = "";    ///< over a column of a table; empty: the name with a capital
  const char* meaning = "";  ///< "rows of the table"
  std::uint64_t default_value = 1;
  std::uint64_t min = 1;
  std::uint64_t max = 0;  ///< 0: no limit
};

/// An array that an op reads.
struct Input {
  const char* name = "";
  std::size_t elements = 0;            ///< of each block's own part; of all, if it is shared
  bool is_shared = false;              ///< all blocks read the whole
  std::uint32_t type = MPROF_FLOAT32;  ///< or MPROF_INT32
};

/// What one op computes at one problem: see mprof_op in <mprof/plugin.h>, which has the same fields.
struct OpDefinition {
  const char* name = "";
  std::string title{};  ///< empty: its name
  std::vector<Input> inputs{};
  std::size_t blocks = 1;
  std::size_t items_in_block = 1;
  std::size_t item_elements = 1;
  double tolerance = 0;  ///< relative L2 error of an item that counts as right
  double flops = 0;
  double bytes = 0;  ///< 0: each input and the output once
  double special_operations = 0;
  std::vector<mprof_size> sizes{};  ///< what variants get besides the values of the axes
};

/// Which op of a family, by its place in what ops() gives, and which part of it.
struct Drawn {
  std::size_t op = 0;
  std::size_t input = 0;
  std::uint64_t seed = 0;  ///< all that the values may depend on, beside the problem
};
struct Asked {
  std::size_t op = 0;
  std::size_t block = 0;
};

/// What a family says of itself.
struct FamilyDeclaration {
  const char* name = "";   ///< first part of its variants' ids
  const char* title = "";  ///< one line
  const char* item = "";   ///< "row"; empty: items are not counted
  const char* items = "";  ///< empty: the item with an s
  const char* whole = "";  ///< what one execution of all ops is called; empty: "execution"
  std::vector<Axis> axes{};
  /// What is run where the user names no problem: a value for each axis, in their order.
  std::vector<std::vector<std::uint64_t>> problems{};
  std::vector<std::vector<std::uint64_t>> quick_problems{};  ///< what takes seconds; none: the first problem
  std::function<std::vector<OpDefinition>(const Sizes& problem)> ops{};
  /// Fills an input; with integers, where its type says so, by their bits. Left out: floats, drawn evenly
  /// from [-1, 1).
  std::function<void(const Sizes& problem, const Drawn& drawn, std::span<float> values)> fill{};
  /// Writes what a block of the output should hold, computed in double precision by the definition. Called
  /// from several threads at once.
  std::function<void(const Task& task, const Asked& asked, std::span<double> values)> reference{};
};

namespace detail {

/// A family as the boundary has it. What is given across it points into here.
class BoundFamily {
 public:
  static BoundFamily& instance() {
    static BoundFamily family;
    return family;
  }

  const mprof_family* bind(FamilyDeclaration declared) {
    declared_ = std::move(declared);
    axes_.clear();
    for (const Axis& axis : declared_.axes)
      axes_.push_back(
          {axis.name, axis.plural, axis.title, axis.meaning, axis.default_value, axis.min, axis.max});
    family_ = {.name = declared_.name,
               .title = declared_.title,
               .item = declared_.item,
               .items = declared_.items,
               .whole = declared_.whole,
               .axes = axes_.data(),
               .axis_count = axes_.size(),
               .problems = flat(declared_.problems, problems_),
               .problem_count = declared_.problems.size(),
               .quick_problems = flat(declared_.quick_problems, quick_problems_),
               .quick_problem_count = declared_.quick_problems.size(),
               .ops = declared_.ops ? ops : nullptr,
               .fill = declared_.fill ? fill : nullptr,
               .reference = declared_.reference ? reference : nullptr};
    return &family_;
  }

 private:
  /// Problems one behind the other. One without a value for each axis is refused by ops().
  const std::uint64_t* flat(const std::vector<std::vector<std::uint64_t>>& problems,
                            std::vector<std::uint64_t>& values) const {
    values.clear();
    for (std::vector<std::uint64_t> problem : problems) {
      problem.resize(axes_.size());
      values.insert(values.end(), problem.begin(), problem.end());
    }
    return values.data();
  }

  void require_whole_problems() const {
    for (const auto* problems : {&declared_.problems, &declared_.quick_problems}) {
      for (const std::vector<std::uint64_t>& problem : *problems) {
        if (problem.size() != axes_.size())
          throw std::invalid_argument("a problem of the family has " + std::to_string(problem.size()) +
                                      " values for " + std::to_string(axes_.size()) + " axes");
      }
    }
  }

  [[nodiscard]] Sizes sizes(const mprof_size* problem) const { return {problem, axes_.size()}; }

  static mprof_failure ops(const mprof_size* problem, const mprof_op** given, std::size_t* count) {
    return guarded([&] {
      BoundFamily& family = instance();
      family.require_whole_problems();
      family.definitions_ = family.declared_.ops(family.sizes(problem));
      family.give_ops();
      *given = family.ops_.data();
      *count = family.ops_.size();
    });
  }

  void give_ops() {
    inputs_.assign(definitions_.size(), {});
    ops_.clear();
    for (std::size_t i = 0; i < definitions_.size(); ++i) {
      const OpDefinition& op = definitions_[i];
      for (const Input& input : op.inputs)
        inputs_[i].push_back({input.name, input.elements, input.is_shared ? 1U : 0U, input.type});
      ops_.push_back({.name = op.name,
                      .title = op.title.c_str(),
                      .sizes = op.sizes.data(),
                      .size_count = op.sizes.size(),
                      .inputs = inputs_[i].data(),
                      .input_count = inputs_[i].size(),
                      .blocks = op.blocks,
                      .items_in_block = op.items_in_block,
                      .item_elements = op.item_elements,
                      .tolerance = op.tolerance,
                      .flops = op.flops,
                      .bytes = op.bytes,
                      .special_operations = op.special_operations});
    }
  }

  static mprof_failure fill(const mprof_size* problem, std::size_t op, std::size_t input, std::uint64_t seed,
                            void* values, std::size_t elements) {
    return guarded([&] {
      instance().declared_.fill(instance().sizes(problem), {op, input, seed},
                                {static_cast<float*>(values), elements});
    });
  }

  static mprof_failure reference(const mprof_task* task, std::size_t op, std::size_t block, double* values) {
    return guarded([&] {
      instance().declared_.reference(Task(*task), {op, block}, {values, task->output_elements});
    });
  }

  FamilyDeclaration declared_;
  std::vector<mprof_axis> axes_;
  std::vector<std::uint64_t> problems_;
  std::vector<std::uint64_t> quick_problems_;
  std::vector<OpDefinition> definitions_;
  std::vector<std::vector<mprof_input>> inputs_;
  std::vector<mprof_op> ops_;
  mprof_family family_{};
};

}  // namespace detail

}  // namespace mprof::plugin

/// The last lines of a family's file: its declaration, with the names of the fields.
#define MPROF_FAMILY(...)                                                                           \
  extern "C" __attribute__((visibility("default"))) std::uint32_t mprof_abi_version(void) {         \
    return MPROF_ABI_VERSION;                                                                       \
  }                                                                                                 \
  extern "C" __attribute__((visibility("default"))) const mprof_family* mprof_family_plugin(void) { \
    return mprof::plugin::detail::BoundFamily::instance().bind(                                     \
        mprof::plugin::FamilyDeclaration{__VA_ARGS__});                                             \
  }
