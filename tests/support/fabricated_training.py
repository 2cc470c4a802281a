#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes an export of Nsight Systems of a training: `fabricated_training.py FILE STEPS LAYERS [MICROSECONDS]`.

A step has the NVTX ranges load, forward, backward and update. In forward each layer has a range of its own with 6 kernels.
A second thread launches the backward pass, with 12 kernels for each layer; update has 2. So a step has 20 launches a layer,
and the GPU needs MICROSECONDS (15) on average for each. The first step allocates: 1 MiB for each layer in forward, 2 MiB in
backward. The same arguments make the same rows.
"""
import sqlite3
import sys

import fabricated_export

MEMORY = """
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER NOT NULL, globalPid INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, virtualAddress INTEGER NOT NULL, bytes INTEGER NOT NULL, memKind INTEGER NOT NULL,
  memoryOperationType INTEGER NOT NULL, name TEXT, correlationId INTEGER, streamId INTEGER);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
"""
PROCESS = 4242 << 24
MAIN, AUTOGRAD = PROCESS + 4243, PROCESS + 4250
LAUNCH, MALLOC, WAIT = 1, 2, 3
KERNELS = 30


class Training:
    def __init__(self, microseconds):
        self.host = self.gpu = self.correlation = 0
        self.length = 1000 * microseconds
        self.kernels, self.calls, self.ranges, self.memory = [], [], [], []

    def call(self, name, length, thread):
        self.correlation += 1
        self.calls.append((self.host, self.host + length, 0, thread, self.correlation, name, 0, None))
        self.host += length

    def launch(self, kernel, thread):
        self.call(LAUNCH, 4000, thread)
        # Lengths differ without a pattern, from a half to three halves.
        length = self.length // 2 + self.correlation * 7919 % self.length
        start = max(self.host, self.gpu) + 300
        self.gpu = start + length
        k = kernel % KERNELS
        self.kernels.append((start, self.gpu, 0, 1, None, 7, self.correlation, PROCESS, 10 + k, 50 + k, 90 + k, 2, 0, 32, 100 + k,
                             1, 1, 256, 1, 1, 0, 0, 0, 0, self.correlation, 0, None, 0))
        self.host += 1000

    def allocate(self, size, thread):
        self.memory.append((self.host + 500, PROCESS, 0, 1, 1 << 40 | self.correlation << 24, size, 2, 0, None,
                            self.correlation + 1, None))
        self.call(MALLOC, 20000, thread)

    def range(self, name, thread, inside):
        start = self.host
        inside()
        self.ranges.append((start, self.host, 59, name, thread, None, None, 0))

    def wait(self):
        start, self.host = self.host, max(self.host, self.gpu)
        self.correlation += 1
        self.calls.append((start, self.host + 3000, 0, MAIN, self.correlation, WAIT, 0, None))
        self.host += 3000

    def layer(self, step, layer):
        if step == 0:
            self.allocate(1 << 20, MAIN)
        for k in range(6):
            self.launch(layer + k, MAIN)

    def forward(self, step, layers):
        for layer in range(layers):
            self.range(f"layer {layer}", MAIN, lambda layer=layer: self.layer(step, layer))

    def backward(self, step, layers):
        for layer in range(layers):
            if step == 0:
                self.allocate(2 << 20, AUTOGRAD)
            for k in range(12):
                self.launch(layer + 6 + k, AUTOGRAD)

    def update(self, layers):
        for layer in range(2 * layers):
            self.launch(layer, MAIN)
        self.wait()

    def load(self):
        self.host += 200_000

    def step(self, step, layers):
        self.range("load", MAIN, self.load)
        self.range("forward", MAIN, lambda: self.forward(step, layers))
        self.range("backward", MAIN, lambda: self.backward(step, layers))
        self.range("update", MAIN, lambda: self.update(layers))


def fabricate(path, steps, layers, microseconds=15):
    training = Training(microseconds)
    for step in range(steps):
        training.step(step, layers)
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + fabricated_export.SCHEMA + MEMORY)
    names = [(LAUNCH, "cudaLaunchKernel_v7000"), (MALLOC, "cudaMalloc_v3020"), (WAIT, "cudaStreamSynchronize_v3020")]
    for k in range(KERNELS):
        names += [(10 + k, f"void layer{k}<float, {k}>(float const*, float*, int)"), (50 + k, f"layer{k}"),
                  (90 + k, f"_Z{len(f'layer{k}')}layer{k}IfLi{k}EEvPKfPfi")]
    tables = {"StringIds": names, "CUPTI_ACTIVITY_KIND_KERNEL": training.kernels, "CUPTI_ACTIVITY_KIND_RUNTIME": training.calls,
              "NVTX_EVENTS": training.ranges, "CUDA_GPU_MEMORY_USAGE_EVENTS": training.memory}
    for table, rows in tables.items():
        if rows:
            database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    database.commit()
    database.close()


if __name__ == "__main__":
    fabricate(sys.argv[1], *(int(argument) for argument in sys.argv[2:]))
