// SPDX-License-Identifier: MIT
// The best kernels behind small copies: many lanes keep both directions of the link and the host's cores
// busy.
//
// Idea        A layer brings its input to the GPU and its output back, and with a fast kernel that is nearly
//             all of its time: at batch 10000 layer 1 moves 0.30 GB in and 1.02 GB out. The link's rate is a
//             floor under that, and `streams` stays far above it: one thread makes all calls, and its chunks
//             of tens of megabytes go from the copy engine to DRAM, from there to the cores, and back to
//             DRAM.
//
//             Here a lane is a thread that does what is to be done next, of any chunk: it copies the input of
//             one to page-locked memory and queues copy in and kernel, or it waits for an output that is on
//             its way and copies it to the caller, past the caches, so that no line is read only to be
//             overwritten. Copies out take longest. They are queued in one stream, and there are three
//             places for them more than lanes: while all lanes copy, the engine has its next one. The place
//             that was freed last is taken first, so that few are in use, and an output still lies in the
//             CPU's cache when a lane reads it.
//
//             The kernels are those of `banded` and `banded_split`.
//
//                 copies in     | 0 | 1 | 2 | 3 | 4 | ...
//                 kernels           | 0 | 1 | 2 | 3 | 4 | ...
//                 copies out            |  0  |  1  |  2  |  3  | ...
//                 lane 0    | in 0 | in 2  |  | out 0 | in 5 | out 3 ...
//                 lane 1    | in 1 | in 3  |        | out 1 | in 6 ...
//
// Cost        As `streams`: all of it happens in forward(), so that its op time holds the copies, and the
//             host moves each byte once more than the link does. Threads, page-locked memory and the chunks'
//             device memory are made once and kept as long as the object lives. A kernel of some ten images
//             does not fill a large GPU; those of several chunks run side by side.
//
// The profile should show
//             in the timeline copies out without a pause, and copies in and kernels in their shadow; a layer
//             time close to what the larger of the two copies takes at the link's rate; a GPU that computes
//             for a few percent of the time. What limits it is the link, or the host's cores where there are
//             few.
#include "kernels/conv/device/pipeline.hpp"

namespace mprof::conv {
namespace {

using banded::Precision;
using pipeline::Pipeline;
using pipeline::Wire;

constexpr std::size_t kibibyte = 1024;

Precision precision_of(const std::string& name) {
  if (name == "tf32") return Precision::tf32;
  return name == "fp16" ? Precision::fp16 : Precision::split_fp16;
}

const Register registered{Declaration{
    .title = "Small chunks in many lanes, with the best kernels",
    .idea =
        "Lanes are threads that bring small chunks to the GPU and their outputs to the caller, through few "
        "page-locked places, which stay in the CPU's cache between the copy engine and the host's copy. All "
        "of it happens in forward(): compare layer time and GPU time, not op time.",
    .device = "cuda",
    .baseline = "conv/streams",
    .parameters = {{.name = "precision",
                    .meaning = "of the kernel: fp32 is banded_split's, the others are banded's",
                    .default_value = "fp32",
                    .values = {"fp32", "tf32", "fp16"}},
                   {.name = "lanes",
                    .meaning = "threads; no more than there are CPUs to use",
                    .default_value = "12",
                    .values = {"1", "2", "4", "6", "8", "12", "16"}},
                   {.name = "chunk_kib",
                    .meaning = "output of a chunk at most, in KiB",
                    .default_value = "8192",
                    .values = {"512", "1024", "2048", "4096", "8192", "16384", "32768"}}},
    .expectations = {{.metric = "group_time",
                      .op = "layer1",
                      .factor = 2.2,
                      .because = "1.02 GB out at the link's rate, and everything else beside it."},
                     {.metric = "group_time",
                      .op = "layer2",
                      .factor = 2.2,
                      .because = "0.74 GB out at the link's rate, and everything else beside it."},
                     {.metric = "gpu_time",
                      .op = "layer2",
                      .factor = 10,
                      .because = "The kernel is banded_split's in place of the baseline's."},
                     {.metric = "total_time", .because = "The layers' times are most of it."}},
    .references = {"CUDA C++ Programming Guide, section on asynchronous concurrent execution",
                   "Intel 64 and IA-32 Architectures Optimization Reference Manual, sections on non-temporal "
                   "stores and Data Direct I/O"},
    .tolerance_of =
        [](const Parameters& parameters) {
          return parameters.at("precision") == "fp32" ? single_precision_tolerance : 2e-3;
        },
    .make = [](const Parameters& parameters) -> std::unique_ptr<Convolution> {
      return std::make_unique<Pipeline>(
          pipeline::Settings{.precision = precision_of(parameters.at("precision")),
                             .wire = Wire::single,
                             .lanes = std::stoul(parameters.at("lanes")),
                             .chunk_bytes = std::stoul(parameters.at("chunk_kib")) * kibibyte},
          "conv/pipeline");
    },
}};

}  // namespace
}  // namespace mprof::conv
