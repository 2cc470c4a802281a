// SPDX-License-Identifier: MIT
// The rival: Intel's oneDNN, used as its documentation says to.
//
// Idea        Ask the library for a forward convolution with the layouts left open (format_tag::any). It
//             chooses an implementation for this CPU, generated at run time, and the layouts that suit it: on
//             AVX2 eight channels side by side ("nChw8c"), with AVX-512 all of them (NHWC). Weights are
//             brought into its layout once, in prepare(). Images go through in sections of up to 64,
//             reordered to and from NCHW where the library wants another layout, while they are still in the
//             cache; both reorders are part of forward(), as NCHW is what every variant is given and gives.
//             Sections overlap when the batch does not divide, so that one primitive serves all of them.
//
// Cost        Eight channels side by side need eight channels. Layer 1 has four maps, so half of each
//             register computes nothing, and the padded output is twice as large as the real one before it is
//             copied back. With AVX-512 nothing is padded, but three quarters of each register are idle.
//
// The profile should show
//             against cpu_naive, many times faster on both layers; against cpu_threads, a bit less in layer
//             2, and a fifth to a third of its FLOP rate in layer 1, which is what a kernel for the shape at
//             hand is worth.
#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/core.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/conv/lenet/host_convolution.hpp"

namespace mprof::conv {
namespace {

using Tag = dnnl::memory::format_tag;
using Dims = dnnl::memory::dims;

constexpr std::size_t max_section = 64;

Dims dims(std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  return {static_cast<dnnl::memory::dim>(a), static_cast<dnnl::memory::dim>(b),
          static_cast<dnnl::memory::dim>(c), static_cast<dnnl::memory::dim>(d)};
}

dnnl::memory::desc describe(const Dims& extents, Tag tag) {
  return {extents, dnnl::memory::data_type::f32, tag};
}

/// oneDNN's memory objects take a pointer to non-const, for inputs too; it does not write to those.
void* writable(const float* data) {
  return const_cast<float*>(data);
}

/// One tensor in the caller's layout and in the library's: the same memory when these agree.
class Tensor {
 public:
  Tensor(const dnnl::memory::desc& ours, const dnnl::memory::desc& theirs, const dnnl::engine& engine)
      : ours_(ours, engine, DNNL_MEMORY_NONE),
        theirs_(theirs, engine, ours == theirs ? DNNL_MEMORY_NONE : DNNL_MEMORY_ALLOCATE) {
    if (ours == theirs) return;
    to_theirs_ = dnnl::reorder(ours_, theirs_);
    to_ours_ = dnnl::reorder(theirs_, ours_);
  }

  void point_at(void* data) {
    ours_.set_data_handle(data);
    if (!to_theirs_) theirs_.set_data_handle(data);
  }
  void import_from_ours(dnnl::stream& stream) {
    if (to_theirs_) to_theirs_->execute(stream, ours_, theirs_);
  }
  void export_to_ours(dnnl::stream& stream) {
    if (to_ours_) to_ours_->execute(stream, theirs_, ours_);
  }
  [[nodiscard]] const dnnl::memory& theirs() const { return theirs_; }

  /// Fills the library's copy, when there is one.
  void fill(float value) {
    if (to_theirs_)
      std::fill_n(static_cast<float*>(theirs_.get_data_handle()), theirs_.get_desc().get_size() / 4, value);
  }

 private:
  dnnl::memory ours_;
  dnnl::memory theirs_;
  std::optional<dnnl::reorder> to_theirs_;
  std::optional<dnnl::reorder> to_ours_;
};

/// A convolution of a section of images, with all that it needs.
struct Plan {
  Plan(const Shape& section, const dnnl::engine& engine)
      : Plan(section, describe_convolution(section, engine), engine) {}

  Tensor input;
  Tensor mask;
  Tensor output;
  dnnl::convolution_forward convolution;

 private:
  using Description = dnnl::convolution_forward::primitive_desc;

  static Dims input_dims(const Shape& s) { return dims(s.batch, s.channels, s.height, s.width); }
  static Dims mask_dims(const Shape& s) { return dims(s.maps, s.channels, s.mask, s.mask); }
  static Dims output_dims(const Shape& s) { return dims(s.batch, s.maps, s.out_height(), s.out_width()); }

  static Description describe_convolution(const Shape& s, const dnnl::engine& engine) {
    const auto stride = static_cast<dnnl::memory::dim>(s.stride);
    const dnnl::convolution_forward::desc operation(
        dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
        describe(input_dims(s), Tag::any), describe(mask_dims(s), Tag::any),
        describe(output_dims(s), Tag::any), {stride, stride}, {0, 0}, {0, 0});
    return {operation, engine};
  }

  Plan(const Shape& s, const Description& description, const dnnl::engine& engine)
      : input(describe(input_dims(s), Tag::nchw), description.src_desc(), engine),
        mask(describe(mask_dims(s), Tag::oihw), description.weights_desc(), engine),
        output(describe(output_dims(s), Tag::nchw), description.dst_desc(), engine),
        convolution(description) {}
};

class CpuOneDnn final : public HostConvolution {
 public:
  void prepare(const Shape& shape, const float* input, const float* mask, float* output) override {
    HostConvolution::prepare(shape, input, mask, output);
    // Sections of equal size, or the overlap of the last two would be wasted work: 100 images are 2 x 50.
    const std::size_t sections = (shape.batch + max_section - 1) / max_section;
    Shape section = shape;
    section.batch = (shape.batch + sections - 1) / sections;
    section_ = section.batch;
    plan_.emplace(section, engine_);
    plan_->mask.point_at(writable(mask));
    plan_->mask.import_from_ours(stream_);
    stream_.wait();
  }

  void forward() override {
    for (std::size_t begin = 0; begin < shape().batch; begin += section_) {
      const std::size_t first = std::min(begin, shape().batch - section_);
      plan_->input.point_at(writable(input(first)));
      plan_->output.point_at(output(first));
      plan_->input.import_from_ours(stream_);
      plan_->convolution.execute(stream_, {{DNNL_ARG_SRC, plan_->input.theirs()},
                                           {DNNL_ARG_WEIGHTS, plan_->mask.theirs()},
                                           {DNNL_ARG_DST, plan_->output.theirs()}});
      plan_->output.export_to_ours(stream_);
    }
    stream_.wait();
  }

  void finish() override { plan_.reset(); }

  void poison_output(std::uint32_t pattern) override { plan_->output.fill(std::bit_cast<float>(pattern)); }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::size_t section_ = 0;
  std::optional<Plan> plan_;
};

const Register registered{Declaration{
    .title = "oneDNN",
    .idea = "The vendor's library, with the layouts that it chooses for itself: the rival.",
    .device = "cpu",
    .baseline = "conv/cpu_naive",
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 5,
          .because =
              "Generated vector code on every core, though four maps fill half of a register at most."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 20,
          .because = "Sixteen maps fill the registers of the generated code."},
         {.metric = "instructions",
          .factor = 5,
          .because = "One instruction multiplies and adds eight maps."}},
    .references =
        {"oneDNN 2.6, https://oneapi-src.github.io/oneDNN/v2.6/dev_guide_convolution.html",
         "E. Georganas et al.: Anatomy of High-Performance Deep Learning Convolutions on SIMD Architectures, "
         "SC 2018, https://arxiv.org/abs/1808.05567"},
    .libraries = {{"oneDNN",
                   [] {
                     const dnnl_version_t& version = *dnnl_version();
                     return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
                   }}},
    .make = [](const Parameters&) { return std::make_unique<CpuOneDnn>(); },
}};

}  // namespace
}  // namespace mprof::conv
