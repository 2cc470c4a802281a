// SPDX-License-Identifier: MIT
// The banded product by wgmma: Hopper's instructions of four warps, with whole images as bulk copies.
//
// Idea        mma.sync, the instruction of `banded`, reaches 60 % of the rate at which Hopper's tensor cores
//             multiply TF32; the rest is wgmma's, of which a warpgroup (4 warps) asks and which goes on
//             while the warps do other things. It has 64 rows, here windows of the image as in `banded`, and
//             takes the other factor from shared memory: the weights of all 16 maps, of one mask row and
//             channel, are 32 columns. So no register holds weights, and what is free holds sums.
//
//             An image of layer 2 is 7 bands of 5 output rows. A row has 17 windows, so that all bands
//             together are 119 of the 128 rows of two warpgroups. A lane's window goes down its band's 11
//             input rows; each is loaded and rounded once, and multiplied by the mask rows that lead to the
//             band's up to 5 output rows, whose sums stay in registers (80) until the image is done.
//
//             An image comes as one bulk copy and leaves as one: all of its sums, 73,984 bytes in a row,
//             begin and end with a line of the cache. A multiprocessor has one block for all images, of two
//             groups that have nothing but the weights in common: one multiplies while the other
//             stages its sums, or waits for its next image, which comes as soon as the last one is used up.
//
//             Layer 1 is `banded`'s: it is bound by DRAM already.
//
// Cost        Compute capability 9.0 alone has wgmma. Each instruction computes all 16 maps and 64 windows:
//             7 % of the rows are padding, one product in 8 is with zero. Nearly all of the shared memory.
//
// What limits it
//             4.6 million multiply-adds an image, padding included, take 174 us of 279 at the tensor cores'
//             rate, and 1 GB to move takes about 240 us. Each group does one after the other, and there is no
//             room for a third. With FP16 half of the multiplication goes: 266 us (predicted 265).
//
// The profile should show
//             on an H200 at batch 10000, 279 us for layer 2 in TF32, where `banded` takes 357 (predicted from
//             a trial of the kernel alone: 286): the tensor pipe near 60 % and DRAM near 75 % of what it can
//             do, one block of 16 warps a multiprocessor, fewer warp instructions than `banded` has. No
//             spilled register.
#include "kernels/conv/device/banded_product.hpp"

namespace mprof::conv {
namespace {

using banded::BandedConvolution;
using banded::Precision;

const Register registered{Declaration{
    .title = "Banded product by wgmma",
    .idea = "Four warps ask for a product of 64 windows and the weights of all maps, which lie in shared "
            "memory. Sums stay in registers for a whole image, which comes and leaves as one bulk copy.",
    .device = "cuda",
    .baseline = "conv/banded",
    .parameters = {{.name = "precision",
                    .meaning = "of inputs and weights; sums are FP32",
                    .default_value = "tf32",
                    .values = {"tf32", "fp16"}}},
    .expectations =
        {{.metric = "op_time",
          .op = "layer1",
          .direction = Direction::unchanged,
          .because = "It is the same kernel."},
         {.metric = "op_time",
          .op = "layer2",
          .factor = 1.2,
          .because = "wgmma multiplies TF32 at 1.7 times the rate of mma.sync, which set the pace; now it is "
                     "more the 1.0 GB that have to move at batch 10000."},
         {.metric = "smsp__inst_executed.sum",
          .op = "layer2",
          .factor = 1.4,
          .because = "An instruction of a warpgroup does the work of 16 of a warp."},
         {.metric = "dram__bytes.sum.per_second",
          .op = "layer2",
          .direction = Direction::increases,
          .factor = 1.2,
          .because = "The same bytes in less time."}},
    .references = {"NVIDIA: PTX ISA, asynchronous warpgroup-level matrix instructions, "
                   "https://docs.nvidia.com/cuda/parallel-thread-execution/"},
    .unavailable = banded::wgmma_unavailable,
    .tolerance = 2e-3,  // as banded's
    .make = [](const Parameters& parameters) -> std::unique_ptr<Convolution> {
      const Precision precision = parameters.at("precision") == "fp16" ? Precision::fp16 : Precision::tf32;
      return std::make_unique<BandedConvolution>(banded::make_wgmma_product(precision, "conv/banded_wgmma"));
    },
}};

}  // namespace
}  // namespace mprof::conv
