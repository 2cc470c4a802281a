#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch's forward convolution at the sizes of the family conv's two layers, as its expert would call it: cuDNN's benchmark mode
with every algorithm that it has, weights and images in the type and the memory format that are asked for.

    python3 examples/rivals/convolution.py --precision fp16 --layout channels_last 10000

For each layer it prints two times, each the median of samples that begin with a cold L2 cache: "Op Time" of the convolution
alone, of tensors that are in the asked form already, and "Layer Time" from FP32 in planes to FP32 in planes, with the conversions
that mprof's own variants have in their ops too. Then the largest difference from the CPU in double precision.
"""

import argparse
import statistics
import sys

try:
    import torch
    from torch.cuda import nvtx
except ImportError as error:
    sys.exit(f"This needs PyTorch with CUDA, which this Python does not have ({error}): {sys.executable}. Install it "
             "(https://pytorch.org/get-started/locally), or activate the environment that has it; python3 is looked for on PATH.")

#         name      channels, height = width, maps
LAYERS = {"layer1": (1, 86, 4), "layer2": (4, 40, 16)}
MASK = 7
WARM_UP, SAMPLES = 3, 15
CHECKED = 8  # images; as many as a CPU computes in no time
TYPES = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16}
FORMATS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}


class ColdCache:
    """Leaves the L2 cache with nothing of use in it, and clean: what was written has been pushed out by what is read."""

    def __init__(self) -> None:
        cache = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
        self.written = torch.empty(cache // 4, device="cuda")  # of 4 bytes an element
        self.read = torch.zeros(4 * cache // 4, device="cuda")

    def __call__(self) -> None:
        self.written.fill_(0)
        self.read.sum()


def median_ms(work, cold: ColdCache, name: str = "") -> float:
    """Of `work`, by events. Its launches are queued while the GPU is still busy with the cache, so that none is waited for. With
    a name each sample is a range."""
    for _ in range(WARM_UP):
        work()
    times = []
    for _ in range(SAMPLES):
        torch.cuda.synchronize()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        cold()
        if name:
            nvtx.range_push(name)
        start.record()
        result = work()
        stop.record()
        if name:
            nvtx.range_pop()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
        del result  # its memory is what the next sample gets
    return statistics.median(times)


def run_layer(name: str, batch: int, precision: str, layout: str, cold: ColdCache) -> float:
    """Prints the layer's times and returns the largest error, as a share of the largest right value."""
    channels, size, maps = LAYERS[name]
    form = {"dtype": TYPES[precision], "memory_format": FORMATS[layout]}
    images = torch.rand(batch, channels, size, size, device="cuda") * 2 - 1
    masks = torch.rand(maps, channels, MASK, MASK, device="cuda") * 2 - 1
    formed_masks = masks.to(**form)

    def whole() -> torch.Tensor:
        made = torch.nn.functional.conv2d(images.to(**form), formed_masks)
        return made.to(dtype=torch.float32, memory_format=torch.contiguous_format)

    layer_time = median_ms(whole, cold)
    formed = images.to(**form)
    op_time = median_ms(lambda: torch.nn.functional.conv2d(formed, formed_masks), cold, name)
    print(f"Conv-GPU==\nLayer Time: {layer_time:.4f} ms\nOp Time: {op_time:.4f} ms")

    places = torch.linspace(0, batch - 1, min(batch, CHECKED)).long().to("cuda")
    right = torch.nn.functional.conv2d(images[places].cpu().double(), masks.cpu().double())
    return float((whole()[places].cpu().double() - right).abs().max() / right.abs().max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("batch", type=int, nargs="?", default=1000, help="images of one convolution")
    parser.add_argument("--precision", choices=TYPES, default="fp32", help="what may be multiplied; sums are FP32")
    parser.add_argument("--layout", choices=FORMATS, default="contiguous", help="planes, or channels interleaved")
    parser.add_argument("--check", action="store_true", help="say whether this can run here, and end")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit(f"This needs a GPU that PyTorch {torch.__version__} can use, and it sees none "
                 f"(built for CUDA {torch.version.cuda or 'not at all'}; nvidia-smi shows the driver's).")
    if arguments.check:
        print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name(0)}")
        return

    torch.manual_seed(408)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.benchmark_limit = 0  # all algorithms, not the first ten
    torch.backends.cudnn.allow_tf32 = arguments.precision == "tf32"
    print(f"Test batch size: {arguments.batch}")
    with torch.inference_mode():
        cold = ColdCache()
        errors = [run_layer(name, arguments.batch, arguments.precision, arguments.layout, cold) for name in LAYERS]
    print(f"\nMax Error: {max(errors):.3g}")


if __name__ == "__main__":
    main()
