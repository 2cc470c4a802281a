#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Train the LeNet that mprof's `conv` family runs, and write its weights and test vectors.

    tools/train_lenet.py --images DIR --out data

Reads Fashion-MNIST (gzip IDX, as Debian's package dataset-fashion-mnist ships it) from DIR and writes

    lenet.safetensors           weights, float32, PyTorch's names and layouts
    lenet_vectors.safetensors   what the test images must give: resized pixels, logits, predicted classes
    lenet.md                    how, when, on what and with what result

Trained on the 60,000 training images alone; the 10,000 test images are read once, after the last epoch.
Needs PyTorch and the `safetensors` package. A GPU makes it minutes instead of hours.
"""

import argparse
import datetime
import gzip
import pathlib
import platform
import struct
import time

import numpy
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

SIDE = 86  # pixels a side after the resize
BATCHES = (100, 1000, 5000, 10000)


class LeNet(nn.Module):
    """conv 1 -> ReLU -> max-pool 2 -> conv 2 -> ReLU -> max-pool 4 -> FC 32 -> ReLU -> FC 10. Returns logits."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 4, 7, bias=False)
        self.conv2 = nn.Conv2d(4, 16, 7, bias=False)
        self.fc1 = nn.Linear(16 * 8 * 8, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 4)
        x = functional.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def read_idx(path):
    with gzip.open(path) as file:
        _, _, kind, rank = struct.unpack("4B", file.read(4))
        assert kind == 8, f"{path}: element type {kind}, expected unsigned byte (8)"
        shape = struct.unpack(f">{rank}I", file.read(4 * rank))
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8).reshape(shape).copy())


def resize(pixels):
    """uint8 [N, 28, 28] -> float32 [N, 1, 86, 86] in [0, 1]."""
    return functional.interpolate(
        pixels.unsqueeze(1).float() / 255, size=(SIDE, SIDE), mode="bilinear", align_corners=False
    )


def augment(pixels, generator):
    """A horizontal flip of half the images and a shift by up to two pixels each way, on the 28x28 pixels."""
    count = pixels.shape[0]
    flip = torch.rand(count, generator=generator, device=pixels.device) < 0.5
    pixels = torch.where(flip[:, None, None], pixels.flip(2), pixels)
    padded = functional.pad(pixels, (2, 2, 2, 2))
    dy, dx = torch.randint(0, 5, (2, count), generator=generator, device=pixels.device)
    rows = torch.arange(28, device=pixels.device)
    image = torch.arange(count, device=pixels.device)[:, None, None]
    return padded[image, (dy[:, None] + rows)[:, :, None], (dx[:, None] + rows)[:, None, :]]


def train(pixels, labels, epochs, seed, device):
    torch.manual_seed(seed)
    generator = torch.Generator(device).manual_seed(seed)
    model = LeNet().to(device)
    batch = 256
    steps = epochs * (len(labels) // batch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps, pct_start=0.15)
    for epoch in range(epochs):
        order = torch.randperm(len(labels), generator=generator, device=device)
        total = 0.0
        for chosen in order[: len(order) // batch * batch].view(-1, batch):
            logits = model(resize(augment(pixels[chosen], generator)))
            loss = functional.cross_entropy(logits, labels[chosen], label_smoothing=0.05)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.detach()
        if epoch % 10 == 9 or epoch == epochs - 1:
            print(f"epoch {epoch + 1:3d}/{epochs}  loss {total.item() / (len(order) // batch):.4f}", flush=True)
    return model.eval()


@torch.no_grad()
def predict(model, pixels):
    return torch.cat([model(resize(part)) for part in pixels.split(500)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=pathlib.Path, required=True, help="folder with the four gzip IDX files")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("data"))
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True

    train_pixels = read_idx(options.images / "train-images-idx3-ubyte.gz").to(device)
    train_labels = read_idx(options.images / "train-labels-idx1-ubyte.gz").long().to(device)
    started = time.monotonic()
    model = train(train_pixels, train_labels, options.epochs, options.seed, device)
    seconds = time.monotonic() - started

    test_pixels = read_idx(options.images / "t10k-images-idx3-ubyte.gz")
    test_labels = read_idx(options.images / "t10k-labels-idx1-ubyte.gz").long()
    # The recorded result and the vectors are computed in double on the CPU: no device's rounding is in them.
    model = model.cpu().double()
    logits = torch.cat([model(resize(part).double()).detach() for part in test_pixels.split(500)])
    right = logits.argmax(1) == test_labels
    accuracy = {n: right[:n].double().mean().item() for n in BATCHES}
    print("accuracy", accuracy, f"trained in {seconds:.0f} s")

    options.out.mkdir(parents=True, exist_ok=True)
    save_file({k: v.float().contiguous() for k, v in model.state_dict().items()},
              str(options.out / "lenet.safetensors"), metadata={"architecture": "mprof LeNet 86x86, conv without bias"})
    save_file({"images": resize(test_pixels[:16]).contiguous(), "logits": logits[:16].float().contiguous(),
               "predictions": logits.argmax(1).to(torch.uint8).contiguous()},
              str(options.out / "lenet_vectors.safetensors"))
    where = torch.cuda.get_device_name() if device == "cuda" else platform.processor()
    (options.out / "lenet.md").write_text(f"""# lenet.safetensors

| | |
|---|---|
| made by | `tools/train_lenet.py --epochs {options.epochs} --seed {options.seed}` |
| when | {datetime.date.today().isoformat()}, {seconds:.0f} s of training |
| on | {where}, PyTorch {torch.__version__} (TF32 off, deterministic cuDNN) |
| trained on | the 60,000 training images of Fashion-MNIST, random flips and shifts of up to 2 pixels |
| weights | {sum(p.numel() for p in model.parameters())}, float32, PyTorch's names and layouts; the convolutions have no bias |
| input | pixel / 255, resized to {SIDE}x{SIDE} (bilinear, `align_corners=False`) |

Accuracy on the first N test images (computed in double on the CPU):

| N | accuracy |
|---|---|
""" + "".join(f"| {n} | {a:.4f} |\n" for n, a in accuracy.items()) + """
`lenet_vectors.safetensors` holds, for the first 16 test images, the resized pixels (`images`, 16x1x86x86) and the
logits (`logits`, 16x10, computed in double and rounded to float32), and the predicted class of all 10,000
(`predictions`, uint8). The tests hold mprof's own inference against them; a run holds each variant's predictions
against the last.
""")


if __name__ == "__main__":
    main()
