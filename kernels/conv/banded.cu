// SPDX-License-Identifier: MIT
// A product with a banded matrix on tensor cores: what neighbours in memory is multiplied as it lies.
//
// Idea        im2col gathers, because it asks for all taps of one pixel in a row of the product. Here a row
//             is 8 neighbouring inputs of one row of the image, as they lie in memory, which hold all 7 taps
//             of 2 neighbouring pixels. Columns are maps x 2 pixels: the weights stand in them one place
//             lower for the second pixel, with a zero above or below - a banded (Toeplitz) matrix. One
//             product in 8 is with zero.
//
//             An input row adds to 7 output rows, by as many rows of the mask. So a warp walks down the
//             image: it loads the windows of a row into registers once, multiplies them by all 7 rows of the
//             mask, into the sums of 7 open output rows, and stores the one that is complete. The weights of
//             all taps stay in registers too: a load of 8 bytes a lane and window serves 7 instructions.
//
//             Sums are collected in shared memory and stored many whole rows at a time: a row of layer 2,
//             136 bytes, is no whole number of sectors, and stores as lanes have the sums take several times
//             as long as those of whole lines.
//
//             FP16: an instruction multiplies two such windows, of two channels in layer 2, of two rows in
//             layer 1, where the eighth row of the mask is zero.
//
// Cost        About half of the registers hold weights and sums. Inputs and weights keep 10 bits of their
//             mantissa; FP16 ends at 65504. The kernels serve two shapes; any other one takes a plain kernel
//             in FP32.
//
// The profile should show
//             DRAM the busiest unit in layer 1, the L2 cache in layer 2 with FP16. TF32 needs twice the
//             matrix instructions of FP16 in layer 2: at the rate that mma.sync reaches on an H200 they take
//             285 us at batch 10000, of 366. FP32 multiply-adds round to TF32, and are one for each
//             number that a lane loads; with FP16 there is none.
#include "kernels/conv/device/banded_product.hpp"

namespace mprof::conv {
namespace {

using banded::BandedConvolution;
using banded::Precision;

const Register registered{Declaration{
    .title = "Banded product on tensor cores",
    .idea =
        "Eight neighbouring inputs of a row serve two pixels: the weights become a banded matrix, nothing "
        "is gathered, and a window stays in registers while all mask rows are multiplied with it.",
    .device = "cuda",
    .baseline = "conv/tensor_core",
    .parameters = {{.name = "precision",
                    .meaning = "of inputs and weights; sums are FP32",
                    .default_value = "tf32",
                    .values = {"tf32", "fp16"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .factor = 3,
          .because = "The gather set the pace; now it is the 1.32 GB that have to move at batch 10000."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 2.7,
          .because =
              "A load from shared memory serves 7 matrix instructions in place of one half, and stores are "
              "whole rows, 14 of them together."},
         {.metric = "smsp__inst_executed.sum",
          .direction = Direction::decreases,
          .factor = 2,
          .because = "No table of offsets, no address and no load for each pixel and tap."}},
    .references = {"NVIDIA: PTX ISA, matrix fragments for mma.m16n8k8 and mma.m16n8k16, "
                   "https://docs.nvidia.com/cuda/parallel-thread-execution/"},
    .tolerance = 2e-3,  // TF32 and FP16 alike: 10 bits of mantissa are stored, an error of about 2^-11
    .make = [](const Parameters& parameters) -> std::unique_ptr<Convolution> {
      const Precision precision = parameters.at("precision") == "fp16" ? Precision::fp16 : Precision::tf32;
      return std::make_unique<BandedConvolution>(precision, "conv/banded");
    },
}};

}  // namespace
}  // namespace mprof::conv
