#include "kernels/conv/lenet/verification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/common/parallel.hpp"
#include "kernels/conv/lenet/reference.hpp"

namespace mprof::conv {
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

/// What was found in some images. Merging is commutative, ties go to the lower index: threads change nothing.
struct Findings {
  Defect never_written;
  Defect non_finite;
  Defect no_reference;  ///< the reference itself is not finite: the op's input was not
  double relative_l2 = 0;
  std::size_t worst_image = nowhere;
  double max_error = 0;
  std::size_t worst_element = nowhere;

  void add_image(std::size_t image, double image_relative_l2) {
    if (image_relative_l2 > relative_l2 || (image_relative_l2 == relative_l2 && image < worst_image)) {
      relative_l2 = image_relative_l2;
      worst_image = image;
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
    add_image(other.worst_image, other.relative_l2);
    add_error(other.worst_element, other.max_error);
  }
};

/// Compares one image, whose first element has the index `offset` in the whole output.
void compare_image(std::size_t image, std::size_t offset, std::span<const float> output,
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
  findings.add_image(image, std::sqrt(squared_error / (squared_reference > 0 ? squared_reference : 1.0)));
}

std::string place(const Shape& shape, std::size_t index) {
  const std::size_t within = index % shape.out_image_size();
  const std::size_t pixel = within % shape.plane_size();
  return fmt::format("[image {}, map {}, row {}, column {}]", index / shape.out_image_size(),
                     within / shape.plane_size(), pixel / shape.out_width(), pixel % shape.out_width());
}

/// What is wrong, the plainest cause first; empty when nothing is.
std::string describe(const Findings& found, const Shape& shape, double tolerance) {
  const std::size_t elements = shape.output_size();
  if (found.never_written.count != 0) {
    return fmt::format("{} of {} elements were never written, the first at {}", found.never_written.count,
                       elements, place(shape, found.never_written.first));
  }
  if (found.non_finite.count != 0) {
    return fmt::format("{} of {} elements are NaN or infinite, the first at {}", found.non_finite.count,
                       elements, place(shape, found.non_finite.first));
  }
  if (found.no_reference.count != 0) {
    return fmt::format(
        "{} of {} elements have no reference, because the op's input is not finite or overflows; the "
        "first is {}",
        found.no_reference.count, elements, place(shape, found.no_reference.first));
  }
  if (found.relative_l2 > tolerance) {
    return fmt::format(
        "the relative L2 error of image {} is {:.2g}, above the tolerance of {:.2g}; the largest error "
        "is {:.2g}, at {}",
        found.worst_image, found.relative_l2, tolerance, found.max_error, place(shape, found.worst_element));
  }
  return {};
}

}  // namespace

void poison(std::span<float> output) {
  parallel_for(output.size(), hardware_threads(), [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(output.subspan(begin, end - begin), std::bit_cast<float>(poison_pattern));
  });
}

Verification verify(std::string_view op, const Shape& shape, std::span<const float> input,
                    std::span<const float> mask, std::span<const float> output, double tolerance) {
  Findings found;
  std::mutex mutex;
  parallel_for(shape.batch, hardware_threads(), [&](std::size_t begin, std::size_t end) {
    Findings part;
    for (std::size_t b = begin; b < end; ++b) {
      const std::size_t offset = b * shape.out_image_size();
      const std::vector<double> reference =
          reference_convolution(shape, input.subspan(b * shape.image_size(), shape.image_size()), mask);
      compare_image(b, offset, output.subspan(offset, shape.out_image_size()), reference, part);
    }
    const std::lock_guard lock(mutex);
    found.merge(part);
  });
  const std::string finding = describe(found, shape, tolerance);
  return {.op = std::string(op),
          .passed = finding.empty(),
          .relative_l2 = found.relative_l2,
          .max_error = found.max_error,
          .tolerance = tolerance,
          .elements = shape.output_size(),
          .non_finite = found.non_finite.count,
          .never_written = found.never_written.count,
          .finding = finding};
}

}  // namespace mprof::conv
