// SPDX-License-Identifier: MIT
// The banded product in single precision: each factor is the sum of two FP16 numbers.
//
// Idea        A float has 24 bits of mantissa. The FP16 number next to it has 11 of them, and the FP16 number
//             next to what is left has 11 more and a sign. Of the four products of two such sums the three
//             larger are added, by tensor cores, into FP32: what is left out is 2^-22 of a product. Three
//             FP16 instructions do the work of two of TF32 in the time of three, and tensor cores have many
//             times the rate of the FP32 pipes: less time than the multiply-adds of the definition take.
//
//             The kernels are those of `banded`. Inputs are split in registers, once for the 7 rows of the
//             mask.
//
// Cost        FP16 has 5 bits of exponent. Factors are multiplied by powers of two, so that what rounding
//             leaves is no subnormal number: the weights by that which suits the largest of them, inputs by
//             64. That is right for inputs up to 1023 whose root mean square in an image is at least 10^-4;
//             larger ones become NaN, smaller ones lose digits, and verification finds either.
//
// The profile should show
//             three times the matrix instructions of `banded` with FP16, at the same DRAM traffic: the tensor
//             pipe the busiest unit in layer 2, DRAM in layer 1. No FP32 multiply-add.
#include "kernels/conv/device/banded_product.hpp"

namespace mprof::conv {
namespace {

using banded::BandedConvolution;
using banded::Precision;

const Register registered{Declaration{
    .title = "Banded product of split floats on tensor cores",
    .idea = "Each factor is the sum of two FP16 numbers, of whose products tensor cores add three: single "
            "precision in less time than the multiply-adds take on FP32 pipes.",
    .device = "cuda",
    .baseline = "conv/per_layer",
    .expectations = {{.metric = "op_time",
                      .op = "layer1",
                      .factor = 1.4,
                      .because =
                          "Tensor cores leave the pace to the 1.32 GB that have to move at batch 10000."},
                     {.metric = "op_time",
                      .op = "layer2",
                      .factor = 2,
                      .because = "Three FP16 products on tensor cores take less than one on FP32 pipes."},
                     {.metric = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
                      .direction = Direction::increases,
                      .because = "per_layer multiplies on FP32 pipes and leaves the tensor pipe idle."}},
    .references =
        {"S. Markidis et al.: NVIDIA Tensor Core Programmability, Performance & Precision, IPDPSW 2018",
         "H. Ootomo, R. Yokota: Recovering single precision accuracy from Tensor Cores while "
         "surpassing the FP32 theoretical peak performance, IJHPCA 2022"},
    .make = [](const Parameters& /*parameters*/) -> std::unique_ptr<Convolution> {
      return std::make_unique<BandedConvolution>(Precision::split_fp16, "conv/banded_split");
    },
}};

}  // namespace
}  // namespace mprof::conv
