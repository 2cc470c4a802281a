// SPDX-License-Identifier: MIT
#include "kernels/common/verification.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernels/common/fingerprint.hpp"
#include "kernels/common/parallel.hpp"
#include "kernels/common/poison.hpp"
#include "kernels/common/random.hpp"
#include "model/precision.hpp"

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

/// Which items are not right.
struct WrongItems {
  std::size_t count = 0;
  std::size_t first = nowhere;
  std::size_t last = 0;

  void add(std::size_t item) {
    ++count;
    first = std::min(first, item);
    last = std::max(last, item);
  }
  void merge(const WrongItems& other) {
    count += other.count;
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
};

/// What was found in some items. Merging is commutative, ties go to the lower index: threads change nothing.
struct Findings {
  Defect never_written;
  Defect non_finite;
  Defect no_reference;  ///< the reference itself is not finite: the op's input was not
  WrongItems wrong;
  bool is_any_near = false;  ///< an item that is neither wrong nor within the tolerance
  double relative_l2 = 0;
  std::size_t worst_item = nowhere;
  double max_error = 0;
  std::size_t worst_element = nowhere;
  std::uint64_t fingerprint = 0;  ///< the sum of its terms; in any order

  void add_item(std::size_t item, double item_relative_l2) {
    if (item_relative_l2 > relative_l2 || (item_relative_l2 == relative_l2 && item < worst_item)) {
      relative_l2 = item_relative_l2;
      worst_item = item;
    }
  }
  [[nodiscard]] std::uint64_t defects() const { return non_finite.count + no_reference.count; }
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
    wrong.merge(other.wrong);
    is_any_near = is_any_near || other.is_any_near;
    add_item(other.worst_item, other.relative_l2);
    add_error(other.worst_element, other.max_error);
    fingerprint += other.fingerprint;
  }
};

/// An item that is further off is right in no precision.
double loosest_tolerance(const OutputToVerify& comparison) {
  double loosest = comparison.tolerance;
  for (const Arithmetic& one : comparison.lower) loosest = std::max(loosest, one.tolerance);
  return loosest;
}

/// Compares one item with what it should hold.
template <typename Real>
void compare_item(const OutputToVerify& comparison, std::size_t item, std::span<const Real> reference,
                  Findings& findings) {
  const std::size_t offset = item * comparison.item_size;
  const std::span<const float> output = comparison.output.subspan(offset, comparison.item_size);
  double squared_error = 0;
  double squared_reference = 0;
  const std::uint64_t defects = findings.defects();
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
    const double right = reference[i];
    const double error = std::abs(static_cast<double>(output[i]) - right);
    squared_error += error * error;
    squared_reference += right * right;
    findings.add_error(offset + i, error);
  }
  // Where the reference is all zeros the error has nothing to be relative to, and counts as it is.
  const double error = std::sqrt(squared_error / (squared_reference > 0 ? squared_reference : 1.0));
  findings.add_item(item, error);
  if (error > loosest_tolerance(comparison) || findings.defects() != defects)
    findings.wrong.add(item);
  else if (error > comparison.tolerance)
    findings.is_any_near = true;
}

template <typename Real>
void compare_block(const OutputToVerify& comparison, std::size_t block, std::span<const Real> reference,
                   Findings& findings) {
  const std::size_t size = comparison.item_size;
  for (std::size_t i = 0; i < comparison.items_in_block; ++i) {
    const std::size_t item = block * comparison.items_in_block + i;
    compare_item(comparison, item, reference.subspan(i * size, size), findings);
  }
}

std::size_t block_size(const OutputToVerify& comparison) {
  return comparison.item_size * comparison.items_in_block;
}

/// Calls `compare_one(index, findings)` for each index below `count`, on all threads.
template <typename CompareOne>
Findings compare(std::size_t count, const CompareOne& compare_one) {
  Findings found;
  std::mutex mutex;
  parallel_for(count, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    Findings part;
    for (std::size_t index = begin; index < end; ++index) compare_one(index, part);
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
std::string cause(const Findings& found, const OutputToVerify& comparison) {
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

/// "; only the first 64 of 100 images are right": which items are wrong, of an output of which each was
/// compared. Empty where all are. An item that only meets a lower precision's tolerance is not yet right.
std::string extent(const Findings& found, const OutputToVerify& comparison) {
  const WrongItems& wrong = found.wrong;
  const std::size_t items = comparison.output.size() / comparison.item_size;
  if (wrong.count == 0 || wrong.count == items) return {};
  const std::size_t others = items - wrong.count;
  const std::string_view right = found.is_any_near ? "close to right" : "right";
  const auto only = [&](std::string_view which) {
    const std::string count = others == 1 ? std::string() : fmt::format(" {}", others);
    return fmt::format("; only the {}{} of {} {} {} {}", which, count, items, comparison.items,
                       others == 1 ? "is" : "are", right);
  };
  if (wrong.count == 1 && wrong.last == items - 1 && others > 1)
    return fmt::format("; all {} but the last are {}", comparison.items, right);
  if (wrong.first == others) return only("first");
  if (wrong.last + 1 == wrong.count) return only("last");
  return fmt::format("; {} of {} {} {} wrong", wrong.count, items, comparison.items,
                     wrong.count == 1 ? "is" : "are");
}

/// What stands for an output's bits, whatever the order of its items is: that of its items in their order.
std::string checksum_of(const Findings& found, const OutputToVerify& comparison) {
  return fmt::format("{:016x}", found.fingerprint + comparison.output.size());
}

/// Copies a block's values to their place in turn 0, and adds their terms to the fingerprint.
void keep(std::span<const float> values, std::size_t at, float* kept, Findings& findings) {
  std::ranges::copy(values, kept + at);
  for (std::size_t i = 0; i < values.size(); ++i) findings.fingerprint += fingerprint_term(at + i, values[i]);
}

Verification judge(const Findings& found, const OutputToVerify& comparison, std::uint64_t elements) {
  std::string finding = cause(found, comparison);
  if (elements == comparison.output.size()) finding += extent(found, comparison);
  return {.op = std::string(comparison.op),
          .passed = finding.empty(),
          .relative_l2 = found.relative_l2,
          .max_error = found.max_error,
          .tolerance = comparison.tolerance,
          .elements = elements,
          .non_finite = found.non_finite.count,
          .never_written = found.never_written.count,
          .finding = finding,
          .declared_precision = comparison.precision};
}

/// The blocks that are compared: block `of(index)` for each index below `count`.
struct Blocks {
  std::size_t count = 0;
  std::function<std::size_t(std::size_t index)> of;
};

/// The elements that are further off than this arithmetic allows.
Defect beyond(const Arithmetic& arithmetic, const OutputToVerify& output, const Blocks& blocks) {
  Defect all;
  std::mutex mutex;
  const std::size_t size = block_size(output);
  parallel_for(blocks.count, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    Defect part;
    for (std::size_t index = begin; index < end; ++index) {
      const std::size_t block = blocks.of(index);
      const std::vector<double> right = output.reference(block);
      const std::vector<Magnitude> magnitudes = output.magnitudes(block, arithmetic);
      for (std::size_t i = 0; i < size; ++i) {
        const double error = std::abs(static_cast<double>(output.output[block * size + i]) - right[i]);
        const bool is_allowed = error <= allowance(arithmetic, magnitudes[i], right[i], output.terms);
        if (!is_allowed) part.add(block * size + i);
      }
    }
    const std::lock_guard lock(mutex);
    all.merge(part);
  });
  return all;
}

Findings compare_with_reference(const OutputToVerify& output, const Blocks& blocks) {
  return compare(blocks.count, [&](std::size_t index, Findings& findings) {
    const std::size_t block = blocks.of(index);
    compare_block<double>(output, block, output.reference(block), findings);
  });
}

/// "; in FP16 or BF16 an output may be so far off: --precision fp16 or bf16 declares that". `precisions`: the
/// formats that would do.
std::string declaring(std::span<const std::string_view> formats) {
  std::vector<std::string> names;
  for (const std::string_view format : formats) {
    std::string name(format);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    names.push_back(std::move(name));
  }
  return fmt::format("; in {} an output may be so far off: --precision {} declares that",
                     fmt::join(names, " or "), fmt::join(formats, " or "));
}

/// What a user could declare to make an output right that misses its tolerance; empty: nothing would.
std::string declaration_hint(const Findings& found, const OutputToVerify& output, const Blocks& blocks) {
  std::vector<std::string_view> formats;
  for (const std::string_view precision : precisions) {
    if (precision == output.precision || (output.precision.empty() && !output.may_declare)) continue;
    const auto explains = [&](const Arithmetic& one) {
      if (found.relative_l2 > one.tolerance) return false;
      return output.may_declare || (output.magnitudes && beyond(one, output, blocks).count == 0);
    };
    if (std::ranges::any_of(arithmetics_of(precision), explains)) formats.push_back(precision);
  }
  return formats.empty() ? std::string() : declaring(formats);
}

/// As an output is judged; where it does not meet its tolerance, by what the lower arithmetics allow in these
/// blocks. `elements`: of all that was compared.
Verification judge_in_all(const Findings& found, const OutputToVerify& output, const Blocks& blocks,
                          std::uint64_t elements) {
  Verification judged = judge(found, output, elements);
  if (judged.passed && !output.precision.empty() && !output.lower.empty() &&
      found.relative_l2 <= output.lower.front().tolerance)
    judged.tolerance = output.lower.front().tolerance;
  if (judged.passed || found.defects() != 0) return judged;
  std::string beyond_words;
  for (const Arithmetic& arithmetic : output.lower) {
    if (found.relative_l2 > arithmetic.tolerance) continue;
    const Defect further = beyond(arithmetic, output, blocks);
    if (further.count == 0) {
      judged.passed = true;
      judged.tolerance = arithmetic.tolerance;
      judged.precision = format_of_tolerance(arithmetic.tolerance).value_or("");
      judged.finding.clear();
      return judged;
    }
    beyond_words = fmt::format("; no lower precision explains it: {}",
                               describe(further, "are further off than it allows", output));
  }
  judged.finding += beyond_words + declaration_hint(found, output, blocks);
  return judged;
}

Verification verify_some(const OutputToVerify& comparison, std::uint64_t seed) {
  constexpr std::size_t enough_elements = 1 << 20;
  const std::size_t size = block_size(comparison);
  const std::size_t blocks = comparison.output.size() / size;
  const Blocks some{std::clamp<std::size_t>(enough_elements / size, 1, blocks),
                    [=](std::size_t index) { return random_bits(seed + index) % blocks; }};
  return judge_in_all(compare_with_reference(comparison, some), comparison, some, some.count * size);
}

Blocks all_blocks(const OutputToVerify& output) {
  return {output.output.size() / block_size(output), [](std::size_t index) { return index; }};
}

/// What was verified of this op and was right; nullptr: nothing.
const Verification* find_right(std::span<const Verification> verified, std::string_view op) {
  const auto found = std::ranges::find(verified, op, &Verification::op);
  return found == verified.end() || !found->passed ? nullptr : &*found;
}

/// Whether an output that was as precise as this is right here too.
bool is_precise_enough(const Verification& verified, const OutputToVerify& output) {
  if (verified.tolerance <= output.tolerance) return true;
  return std::ranges::any_of(
      output.lower, [&](const Arithmetic& arithmetic) { return verified.tolerance <= arithmetic.tolerance; });
}

}  // namespace

Verification verify(const OutputToVerify& comparison) {
  const Blocks blocks = all_blocks(comparison);
  return judge_in_all(compare_with_reference(comparison, blocks), comparison, blocks,
                      comparison.output.size());
}

Verification OutputProof::operator()(const OutputToVerify& asked, const Trial& trial) {
  const OutputToVerify output = as_precise(asked, trial.verified);
  const std::size_t first = turning_.first(trial.turn);
  if (trial.proof == Proof::some_items || trial.unseen)
    return verify_some(output, trial.items_seed.value_or(trial.seed));
  if (trial.proof == Proof::as_before && kept_ != nullptr) return verify_as_before(output, first);
  std::optional<Verification> verified = verify_same_bits(output, trial);
  if (!verified) verified = verify_and_keep(output, first);
  if (verified->passed && !right_) right_ = verified;
  return *verified;
}

OutputToVerify in_precision(OutputToVerify output, const std::optional<std::string>& precision) {
  if (!precision) return output;
  output.precision = *precision;
  output.lower = arithmetics_of(*precision);
  if (output.magnitudes) return output;
  // Nothing says how large the products are: a tolerance must do, and only where the user asks for it.
  if (!precision->empty()) output.tolerance = loosest_tolerance(output);
  output.may_declare = precision->empty();
  output.lower.clear();
  return output;
}

OutputToVerify OutputProof::as_precise(OutputToVerify output, std::span<const Verification> verified) const {
  const Verification* const right = right_ ? &*right_ : find_right(verified, output.op);
  if (right != nullptr)
    std::erase_if(output.lower, [&](const Arithmetic& one) { return one.tolerance > right->tolerance; });
  return output;
}

std::optional<Verification> OutputProof::verify_same_bits(const OutputToVerify& output, const Trial& trial) {
  const Verification* const before = find_right(trial.verified, output.op);
  if (before == nullptr || before->checksum.empty() || before->elements != output.output.size() ||
      !is_precise_enough(*before, output))
    return std::nullopt;
  kept_ = std::make_unique_for_overwrite<float[]>(output.output.size());
  const std::size_t size = block_size(output);
  const std::size_t first = turning_.first(trial.turn);
  const Findings found = compare(output.output.size() / size, [&](std::size_t block, Findings& findings) {
    keep(output.output.subspan(block * size, size), turning_.item(first, block) * size, kept_.get(),
         findings);
  });
  if (checksum_of(found, output) != before->checksum) {
    kept_.reset();
    return std::nullopt;
  }
  // A checksum can be contrived; items that nobody knows beforehand cannot.
  const Verification some = verify_some(output, trial.seed);
  if (some.passed) return *before;
  kept_.reset();
  return some;
}

Verification OutputProof::verify_and_keep(const OutputToVerify& output, std::size_t first) {
  kept_ = std::make_unique_for_overwrite<float[]>(output.output.size());
  const std::size_t size = block_size(output);
  const Findings found = compare(output.output.size() / size, [&](std::size_t block, Findings& findings) {
    compare_block<double>(output, block, output.reference(block), findings);
    keep(output.output.subspan(block * size, size), turning_.item(first, block) * size, kept_.get(),
         findings);
  });
  Verification verified = judge_in_all(found, output, all_blocks(output), output.output.size());
  verified.checksum = checksum_of(found, output);
  if (!verified.passed) kept_.reset();
  return verified;
}

Verification OutputProof::verify_as_before(const OutputToVerify& output, std::size_t first) const {
  const std::size_t size = block_size(output);
  OutputToVerify beside = output;
  beside.lower.clear();
  std::vector<std::size_t> others;
  std::mutex mutex;
  Findings found = compare(output.output.size() / size, [&](std::size_t block, Findings& findings) {
    const std::span<const float> before(kept_.get() + turning_.item(first, block) * size, size);
    // Most ops give the same bits again, which are compared as fast as memory is read.
    if (std::memcmp(output.output.data() + block * size, before.data(), before.size_bytes()) == 0) return;
    Findings of_block;
    compare_block<float>(beside, block, before, of_block);
    // A lower precision must explain each element, and what was kept does not say what is right of one.
    if (of_block.wrong.count == 0 || output.lower.empty()) return findings.merge(of_block);
    const std::lock_guard lock(mutex);
    others.push_back(block);
  });
  const Blocks blocks{others.size(), [&](std::size_t index) { return others[index]; }};
  found.merge(compare_with_reference(output, blocks));
  return judge_in_all(found, output, blocks, output.output.size());
}

}  // namespace mprof
