// SPDX-License-Identifier: MIT
// Half the bytes on the link: inputs and outputs cross it in half precision.
//
// Idea        `pipeline` keeps the link busy in both directions, so that only fewer bytes make it faster. The
//             host's copies touch each element anyway: those to page-locked memory round floats to half
//             precision on the way (F16C, eight elements an instruction), those to the caller widen them, and
//             on the GPU a small kernel before and one behind the convolution do the same.
//
// Cost        Accuracy: 11 bits of mantissa for inputs and outputs, and so FP16 for the kernel too, which
//             reads what was rounded already. Outputs beyond 65504 become infinite, which verification would
//             find. The kernels that convert move six bytes an element; in chunks that lie in the L2 this is
//             little.
//
// The profile should show
//             half of `pipeline`'s bytes in both directions, and a layer time that the link no longer sets:
//             the host still writes as many bytes to the caller's memory.
#include "kernels/conv/device/pipeline.hpp"

namespace mprof::conv {
namespace {

using banded::Precision;
using pipeline::Pipeline;
using pipeline::Wire;

const Register registered{Declaration{
    .title = "Small chunks in many lanes, half precision on the link",
    .idea = "The host's copies to and from page-locked memory convert on the way, so that half as many bytes "
            "cross the link. Compare layer time and GPU time, not op time.",
    .device = "cuda",
    .baseline = "conv/pipeline",
    .expectations = {{.metric = "group_time",
                      .op = "layer1",
                      .factor = 1.3,
                      .because = "Half as many bytes cross the link, and the host writes as many as before."},
                     {.metric = "group_time",
                      .op = "layer2",
                      .factor = 1.3,
                      .because = "Half as many bytes cross the link, and the host writes as many as before."},
                     {.metric = "total_time", .because = "The layers' times are most of it."}},
    .references = {"Intel 64 and IA-32 Architectures Software Developer's Manual, VCVTPS2PH and VCVTPH2PS"},
    .tolerance = 2e-3,  // 11 bits of mantissa: an error of 2^-11 at most in each factor and in the output
    .make = [](const Parameters& /*parameters*/) -> std::unique_ptr<Convolution> {
      return std::make_unique<Pipeline>(pipeline::Settings{.precision = Precision::fp16,
                                                           .wire = Wire::half,
                                                           .lanes = 12,
                                                           .chunk_bytes = std::size_t{4} << 20U},
                                        "conv/pipeline_half");
    },
}};

}  // namespace
}  // namespace mprof::conv
