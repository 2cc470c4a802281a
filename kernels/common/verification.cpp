#include "kernels/common/verification.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "kernels/common/parallel.hpp"
#include "kernels/common/poison.hpp"

namespace mprof {
namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

/// How many elements have a defect, and the first of them by its index in the whole output.
struct Defect {
  std::uint64_t count = 0;
  std::size_t first = nowhere;

  void add(std::size_t index) {
    ++count;
    first = std::min(first, index);
  }
  void merge(const Defect& other) {
    count += other.count;
    first = std::min(first, other.first);
  }
};

/// What was found in some items. Merging is commutative, ties go to the lower index: threads change nothing.
struct Findings {
  Defect never_written;
  Defect non_finite;
  Defect no_reference;  ///< the reference itself is not finite: the op's input was not
  double relative_l2 = 0;
  std::size_t worst_item = nowhere;
  double max_error = 0;
  std::size_t worst_element = nowhere;

  void add_item(std::size_t item, double item_relative_l2) {
    if (item_relative_l2 > relative_l2 || (item_relative_l2 == relative_l2 && item < worst_item)) {
      relative_l2 = item_relative_l2;
      worst_item = item;
    }
  }
  void add_error(std::size_t index, double error) {
    if (error > max_error || (error == max_error && index < worst_element)) {
      max_error = error;
      worst_element = index;
    }
  }
  void merge(const Findings& other) {
    never_written.merge(other.never_written);
    non_finite.merge(other.non_finite);
    no_reference.merge(other.no_reference);
    add_item(other.worst_item, other.relative_l2);
    add_error(other.worst_element, other.max_error);
  }
};

/// Compares one item, whose first element has the index `offset` in the whole output.
void compare_item(std::size_t item, std::size_t offset, std::span<const float> output,
                  std::span<const double> reference, Findings& findings) {
  double squared_error = 0;
  double squared_reference = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!is_finite(output[i])) {
      findings.non_finite.add(offset + i);
      if (std::bit_cast<std::uint32_t>(output[i]) == poison_pattern) findings.never_written.add(offset + i);
      continue;
    }
    if (!is_finite(reference[i])) {
      findings.no_reference.add(offset + i);
      continue;
    }
    const double error = std::abs(static_cast<double>(output[i]) - reference[i]);
    squared_error += error * error;
    squared_reference += reference[i] * reference[i];
    findings.add_error(offset + i, error);
  }
  // Where the reference is all zeros the error has nothing to be relative to, and counts as it is.
  findings.add_item(item, std::sqrt(squared_error / (squared_reference > 0 ? squared_reference : 1.0)));
}

void compare_block(const OutputToVerify& comparison, std::size_t block, Findings& findings) {
  const std::size_t size = comparison.item_size;
  const std::vector<double> reference = comparison.reference(block);
  for (std::size_t i = 0; i < comparison.items_in_block; ++i) {
    const std::size_t item = block * comparison.items_in_block + i;
    compare_item(item, item * size, comparison.output.subspan(item * size, size),
                 std::span(reference).subspan(i * size, size), findings);
  }
}

Findings compare(const OutputToVerify& comparison) {
  Findings found;
  std::mutex mutex;
  const std::size_t blocks = comparison.output.size() / (comparison.item_size * comparison.items_in_block);
  parallel_for(blocks, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    Findings part;
    for (std::size_t block = begin; block < end; ++block) compare_block(comparison, block, part);
    const std::lock_guard lock(mutex);
    found.merge(part);
  });
  return found;
}

/// "3 of 100 elements <what>, the first at <place>".
std::string describe(const Defect& defect, std::string_view what, const OutputToVerify& comparison) {
  return fmt::format("{} of {} elements {}, the first at {}", defect.count, comparison.output.size(), what,
                     comparison.place(defect.first));
}

/// What is wrong, the plainest cause first; empty when nothing is.
std::string describe(const Findings& found, const OutputToVerify& comparison) {
  if (found.never_written.count != 0) return describe(found.never_written, "were never written", comparison);
  if (found.non_finite.count != 0) return describe(found.non_finite, "are NaN or infinite", comparison);
  if (found.no_reference.count != 0) {
    return describe(found.no_reference,
                    "have no reference, because the op's input is not finite or overflows", comparison);
  }
  if (found.relative_l2 > comparison.tolerance) {
    return fmt::format(
        "the relative L2 error of {} {} is {:.2g}, above the tolerance of {:.2g}; the largest error "
        "is {:.2g}, at {}",
        comparison.item, found.worst_item, found.relative_l2, comparison.tolerance, found.max_error,
        comparison.place(found.worst_element));
  }
  return {};
}

}  // namespace

Verification verify(const OutputToVerify& comparison) {
  const Findings found = compare(comparison);
  const std::string finding = describe(found, comparison);
  return {.op = std::string(comparison.op),
          .passed = finding.empty(),
          .relative_l2 = found.relative_l2,
          .max_error = found.max_error,
          .tolerance = comparison.tolerance,
          .elements = comparison.output.size(),
          .non_finite = found.non_finite.count,
          .never_written = found.never_written.count,
          .finding = finding};
}

}  // namespace mprof
