#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small residual network on images that it draws itself, as a program that knows nothing of mprof:

    mprof run --out training -- python3 examples/pytorch/train.py --steps 500

The steps are NVTX ranges, so the report tells loading, forward, backward and update apart. Labels come from a fixed random
projection of the images: there is something to learn, and no file to fetch. Under torchrun each process trains on its own part
of every batch, and gradients are averaged.
"""

import argparse
import os

import torch
from torch import nn
from torch.cuda import nvtx

CLASSES = 10


class Block(nn.Module):
    """Two convolutions beside a shortcut; the first one may halve the image."""

    def __init__(self, channels_in: int, channels: int, stride: int):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False),
            nn.BatchNorm2d(channels),
        )
        same = stride == 1 and channels_in == channels
        self.shortcut = nn.Identity() if same else nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


def network(width: int) -> nn.Module:
    stages = [(1, width, 1), (width, width, 1), (width, 2 * width, 2), (2 * width, 4 * width, 2)]
    return nn.Sequential(*(Block(*stage) for stage in stages), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(4 * width, CLASSES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--batch", type=int, default=512, help="images of a step, of all processes together")
    parser.add_argument("--size", type=int, default=64, help="rows and columns of an image")
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--deterministic", action="store_true", help="the same loss to the bit in each run")
    arguments = parser.parse_args()

    rank, processes = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
    torch.cuda.set_device(device)
    if arguments.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    if processes > 1:
        torch.distributed.init_process_group("nccl", device_id=device)

    torch.manual_seed(1)
    model = network(arguments.width).to(device)
    parallel = nn.parallel.DistributedDataParallel(model, device_ids=[device.index]) if processes > 1 else model
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.02, momentum=0.9)
    projection = torch.randn(arguments.size * arguments.size, CLASSES, device=device)
    draw = torch.Generator(device).manual_seed(2 + rank)

    shape = (arguments.batch // processes, 1, arguments.size, arguments.size)
    for _ in range(arguments.steps):
        with nvtx.range("load"):
            images = torch.randn(shape, device=device, generator=draw)
            labels = (images.flatten(1) @ projection).argmax(1)
        with nvtx.range("forward"):
            loss = nn.functional.cross_entropy(parallel(images), labels)
        with nvtx.range("backward"):
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        with nvtx.range("update"):
            optimizer.step()
    print(f"Loss: {loss.item():.9f}")
    if processes > 1:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
