// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/family.hpp"
#include "plugin/plugin.h"

namespace mprof {

/// An array that an op of a family from outside reads.
struct InputLayout {
  std::string name{};
  std::size_t elements = 0;  ///< of each block's own part; of all, if it is shared
  bool is_shared = false;
};

/// An op of a family from outside at one problem.
struct OpLayout {
  OpInfo info{};
  std::vector<std::pair<std::string, std::size_t>> sizes{};  ///< the axes' values, and the op's own
  std::vector<InputLayout> inputs{};
  std::size_t blocks = 0;
  std::size_t items_in_block = 0;
  std::size_t item_elements = 0;
  double tolerance = 0;

  [[nodiscard]] std::size_t block_elements() const { return items_in_block * item_elements; }
  [[nodiscard]] std::size_t output_elements() const { return blocks * block_elements(); }
};

/// A shared library that holds one family, behind the C boundary of plugin/plugin.h. Like Plugin, it is for
/// workers, and is never unloaded.
class FamilyLibrary {
 public:
  /// Throws Error(usage) that names the library when it cannot be loaded, is of another version of the
  /// boundary, or declares what cannot be.
  explicit FamilyLibrary(const std::filesystem::path& library);

  [[nodiscard]] const FamilyInfo& info() const { return info_; }
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  [[nodiscard]] const std::vector<Problem>& quick_problems() const { return quick_problems_; }

  /// Throws Error(usage) when the library gives none, or some that cannot be.
  [[nodiscard]] std::vector<OpLayout> ops(const Problem& problem) const;
  /// Whether it says what its inputs hold.
  [[nodiscard]] bool fills() const { return declared_->fill != nullptr; }
  /// Fills the input of this place, all blocks of it, as `seed` has it. Throws Error(wrong_output) with what
  /// the library says when it fails; so does reference().
  void fill(const Problem& problem, std::size_t op, std::size_t input, std::uint64_t seed,
            std::span<float> values) const;
  /// What block `block` of the output should hold: as many values as the task says that a block has. From any
  /// thread.
  [[nodiscard]] std::vector<double> reference(std::size_t op, std::size_t block,
                                              const mprof_task& task) const;

 private:
  void require_sound_problems() const;

  std::filesystem::path library_;
  const mprof_family* declared_ = nullptr;
  FamilyInfo info_;
  std::vector<Problem> problems_;
  std::vector<Problem> quick_problems_;
};

}  // namespace mprof
