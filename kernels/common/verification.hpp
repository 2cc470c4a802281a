// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/lower_precision.hpp"
#include "kernels/common/turning.hpp"
#include "kernels/workload.hpp"
#include "model/run.hpp"

namespace mprof {

/// An output and what is right, in the family's words. The output is blocks of items of elements: a block is
/// what one call of `reference` computes, an item what must be right by itself.
struct OutputToVerify {
  std::string_view op{};
  std::string_view item{};         ///< "image", as in "the relative L2 error of image 3"
  std::string_view items{};        ///< "images"
  std::size_t item_size = 1;       ///< elements
  std::size_t items_in_block = 1;  ///< so that many small items cost no call each
  std::span<const float> output{};
  double tolerance = 0;     ///< the largest relative L2 error of an item that still counts as right
  std::string precision{};  ///< that was declared; empty: none was
  /// In what else an output may be right that does not meet `tolerance`, the tightest first.
  std::vector<Arithmetic> lower{};
  /// None was declared, and nothing says how large the products are: a declared precision would make these
  /// right by their tolerance.
  bool may_declare = false;
  /// What block `block` should hold, in double precision. Called from several threads.
  std::function<std::vector<double>(std::size_t block)> reference{};
  /// Where the element of this index of `output` is: "[image 3, map 0, row 4, column 4]".
  std::function<std::string(std::size_t element)> place{};
  /// The magnitudes of the products that each element of block `block` adds up, in an arithmetic, and how
  /// many these are. Called from several threads; needed where there is a lower one.
  std::function<std::vector<Magnitude>(std::size_t block, const Arithmetic& arithmetic)> magnitudes{};
  std::size_t terms = 0;
};

/// Passes when every element was written and is finite, and no item's relative L2 error exceeds the
/// tolerance. Passes as well where one of the lower arithmetics explains the error of each element. Then its
/// tolerance is the one met.
[[nodiscard]] Verification verify(const OutputToVerify& output);

/// The output to verify where its precision was declared, or is found ("") in what the error of each element
/// shows. nullopt: by its tolerance alone.
[[nodiscard]] OutputToVerify in_precision(OutputToVerify output, const std::optional<std::string>& precision);

/// Shows what is asked of one op's outputs, in all executions of a process. Blocks are what is turned.
class OutputProof {
 public:
  /// `turning` is how the op's blocks turn.
  explicit OutputProof(const Turning& turning) : turning_(turning) {}

  /// As trial.proof asks. An output that was right is kept. One that is compared as before may be as far from
  /// the kept one as the tolerance allows: its op may have read an input that is within its own tolerance.
  /// Where a lower precision is right, a block that is further from it is compared with the reference.
  [[nodiscard]] Verification operator()(const OutputToVerify& asked, const Trial& trial);

 private:
  [[nodiscard]] Verification verify_and_keep(const OutputToVerify& output, std::size_t first);
  /// Where the output has the bits of one that was verified in another process: keeps it, and compares some
  /// items. nullopt where it has others.
  [[nodiscard]] std::optional<Verification> verify_same_bits(const OutputToVerify& output,
                                                             const Trial& trial);
  [[nodiscard]] Verification verify_as_before(const OutputToVerify& output, std::size_t first) const;
  /// What comes after an output that was right must be so in the same precision. `verified`: in another
  /// process.
  [[nodiscard]] OutputToVerify as_precise(OutputToVerify output,
                                          std::span<const Verification> verified) const;

  Turning turning_;
  std::optional<Verification> right_;  ///< of the output that was verified first
  std::unique_ptr<float[]> kept_;      ///< all blocks of it, in the order of turn 0; null: none was right
};

}  // namespace mprof
