#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small transformer to continue sequences that it draws itself:

    mprof run --out transformer -- python3 examples/pytorch/transformer.py --steps 200

Each step is an NVTX range, and so are its parts and each module's forward(), so the report tells them apart. A sequence is a
random walk with a fixed rule, so there is something to learn and no file to fetch.
"""

import argparse

import torch
from torch import nn
from torch.cuda import nvtx
from torch.nn import functional

SYMBOLS = 512


class Attention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.inward = nn.Linear(width, 3 * width, bias=False)
        self.outward = nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        query, key, value = self.inward(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.outward(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class Transformer(nn.Module):
    def __init__(self, width: int, heads: int, depth: int, length: int):
        super().__init__()
        self.symbols, self.places = nn.Embedding(SYMBOLS, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, SYMBOLS, bias=False)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        x = self.symbols(sequence) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def mark(model: nn.Module) -> None:
    """An NVTX range of each module's forward(), by its name: "blocks.0.attention"."""
    def entering(name: str):
        def enter(*_) -> None:
            nvtx.range_push(name)
        return enter

    def leave(*_) -> None:
        nvtx.range_pop()

    for name, module in model.named_modules():
        if name and not isinstance(module, nn.ModuleList):
            module.register_forward_pre_hook(entering(name))
            module.register_forward_hook(leave)


def sequences(batch: int, length: int) -> torch.Tensor:
    """One symbol more than `length`: each is the sum of the two before it, and of 0 or 1. Drawn on the CPU: it is no work that
    anyone would want to see in the trace of a GPU."""
    walk = [torch.randint(SYMBOLS, (batch,)) for _ in range(2)]
    noise = torch.randint(2, (length + 1, batch))
    for place in range(2, length + 1):
        walk.append((walk[-1] + walk[-2] + noise[place]) % SYMBOLS)
    return torch.stack(walk, dim=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32, help="sequences of a step")
    parser.add_argument("--length", type=int, default=256, help="symbols of a sequence")
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--depth", type=int, default=4, help="blocks of attention and MLP")
    arguments = parser.parse_args()

    device = torch.device("cuda")
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    model = Transformer(arguments.width, arguments.width // 64, arguments.depth, arguments.length).to(device)
    mark(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    data = sequences(8 * arguments.batch, arguments.length).to(device)

    for step in range(arguments.steps):
        with nvtx.range("step"):
            with nvtx.range("load"):
                chosen = data[torch.randint(len(data), (arguments.batch,), device=device)]
            with nvtx.range("forward"):
                guesses = model(chosen[:, :-1])
                loss = functional.cross_entropy(guesses.flatten(0, 1), chosen[:, 1:].flatten())
            with nvtx.range("backward"):
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
            with nvtx.range("update"):
                optimizer.step()
    print(f"Loss: {loss.item():.6f}")


if __name__ == "__main__":
    main()
