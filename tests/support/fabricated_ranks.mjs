// SPDX-License-Identifier: MIT
// A data-parallel training as PyTorch's profiler writes it: a file for each rank, by the rank's own clock.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const piece = 2000, forward = 5000, transfer = 500, optimizer = 1000; // us

/** Numbers from 0 to 1 that are the same each time. */
function numbers(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

/** `nature(rank)`: { slower, offset (us), drift, stall (us before a step, in a function of the program) }. `reduces`: with AllReduce, one after each of the backward pass's `pieces`. Returns the folder. */
export function fabricate_ranks(folder, { ranks = 4, steps = 20, pieces = 4, nature = () => ({}), reduces = true }) {
  mkdirSync(folder, { recursive: true });
  const random = numbers(7);
  const all = Array.from({ length: ranks }, (_, rank) => ({ rank, now: 0, slower: 1, offset: 0, drift: 0, stall: 0, events: [], ...nature(rank) }));
  const add = (one, name, cat, start, end, tid, args) => one.events.push({
    ph: "X", cat, name, pid: ["user_annotation", "python_function"].includes(cat) ? 100 + one.rank : 0, tid,
    ts: start * (1 + one.drift) + one.offset, dur: (end - start) * (1 + one.drift), args });
  const compute = (one, name, time) => {
    const end = one.now + time * one.slower * (1 + 0.004 * (random() - 0.5));
    add(one, name, "kernel", one.now, end, 7, { device: 0, context: 1, stream: 7, correlation: one.events.length + 1 });
    return (one.now = end);
  };
  let free = 0;
  for (let step = 0; step < steps; ++step) {
    const begins = all.map((one) => one.now);
    for (const one of all) {
      if (one.stall === 0) continue;
      for (const name of ["torch/utils/data.py(7): next", "train.py(42): load", "<built-in method sleep>"])
        add(one, name, "python_function", one.now, one.now + one.stall, 1, {});
      one.now += one.stall;
    }
    for (const one of all) compute(one, "forward(float*)", forward);
    for (let i = 0; i < pieces; ++i) {
      const ready = all.map((one) => Math.max(compute(one, "backward(float*)", piece), free));
      if (!reduces) continue;
      free = Math.max(...ready) + transfer;
      all.forEach((one, rank) => add(one, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "kernel", ready[rank], free, 13, {
        device: 0, context: 1, stream: 13, correlation: one.events.length + 1, "Collective name": "allreduce", dtype: "Float",
        "In msg nelems": 6250000, "Out msg nelems": 6250000, "Group size": ranks, "Process Group Name": "0", "Process Group Ranks": `[0..${ranks - 1}]` }));
    }
    for (const one of all) {
      one.now = Math.max(one.now, free);
      compute(one, "optimizer(float*)", optimizer);
      add(one, `ProfilerStep#${step}`, "user_annotation", begins[one.rank], one.now - 1, 1, {});
      add(one, "cudaLaunchKernel", "cuda_runtime", begins[one.rank], begins[one.rank] + 1, 1, { correlation: 1 });
      one.events.at(-1).pid = 100 + one.rank;
    }
  }
  for (const one of all) writeFileSync(join(folder, `rank${one.rank}.json`), JSON.stringify({
    schemaVersion: 1, distributedInfo: { backend: "nccl", rank: one.rank, world_size: ranks }, traceEvents: one.events }));
  return folder;
}
