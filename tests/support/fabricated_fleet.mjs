// SPDX-License-Identifier: MIT
// Records of many GPUs, made from one run's: what a fleet, the shards of a large plan, or hosts with several GPUs leave.
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Uniform in (0, 1], the same for the same seed: what SHA-512 makes of the seed and a count. */
function uniform(seed) {
  const numbers = [];
  let count = 0;
  return () => {
    if (numbers.length === 0) {
      const block = createHash("sha512").update(`${seed} ${count++}`).digest();
      for (let at = 0; at < block.length; at += 4) numbers.push(block.readUInt32LE(at));
    }
    return (numbers.pop() + 1) / 2 ** 32;
  };
}

/** Normal, of mean 0 and deviation 1 (Box and Muller). */
function normal(random) {
  return () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
}

const read_json = (...path) => JSON.parse(readFileSync(join(...path), "utf8"));
const case_file = (id) => `${id.replace("/", ".")}.json`;

/** What the samples of each round take, as parts of what is usual. */
const rounds = [[0.99, 1, 1.01, 0.995, 1.005], [1.002, 0.992, 1.012, 0.997, 1.007], [1.008, 0.998, 0.988, 1.003, 0.993]];

/**
 * The run in `folder` with times that do not depend on how busy the machine was: of each op, and of copies of it that
 * noticeably hold each other up, so that both are followed.
 */
export function with_fixed_times(folder) {
  const cases = join(folder, "cases"), sampling = (samples) => ({ warmups: 1, samples, ended_by: "seconds" });
  for (const [i, name] of readdirSync(cases).sort().entries()) {
    const file = read_json(cases, name), [{ pass, status, seconds, verification, scrutiny }] = file.passes;
    const row = (metric, usual, op) => ({
      metric, ...op, source: "measured", samples: rounds.flat().map((part) => part * usual * (i + 1)), rounds: rounds.map(({ length }) => length),
    });
    const measurements = verification.flatMap(({ op }) => [row("op_time", 20e-6, { op }), row("group_time", 25e-6, { op })]);
    measurements.push(row("total_time", 40e-6));
    file.passes = [{
      pass, status, seconds, sampling: sampling(rounds.flat().length), rounds: rounds.map(({ length }) => sampling(length)), verification, scrutiny, measurements,
    }];
    writeFileSync(join(cases, name), JSON.stringify(file));
  }
  return folder;
}

/**
 * Of a whole run, what its parts on other GPUs are made of. natural: the deviation between healthy GPUs' times;
 * slow and flipped: the GPUs, by number, at two thirds of the performance and with other bits in an output.
 */
export class Fleet {
  constructor(template, { natural = 0.08, slow = [], flipped = [] } = {}) {
    this.template = template;
    this.run = read_json(template, "run.json");
    const cases = join(template, "cases");
    this.cases = readdirSync(cases).map((name) => read_json(cases, name));
    Object.assign(this, { natural, slow, flipped });
  }

  /** GPU number `gpu` of the fleet: its name, and how its samples differ from the template's. */
  machine(gpu) {
    const random = uniform(gpu), deviate = normal(random);
    const nature = this.slow.includes(gpu) ? 1.5 : this.flipped.includes(gpu) ? 1 : Math.exp(this.natural * deviate());
    return { uuid: `GPU-${String(gpu).padStart(8, "0")}`, nature, deviate };
  }

  /**
   * The record of a GPU in `folder`, with the cases that are `chosen`; change(run, cases) may say more. Of its last
   * case an output has other bits where the GPU flips them.
   */
  write(folder, gpu, chosen = () => true, change = () => {}) {
    const run = structuredClone(this.run), machine = this.machine(gpu);
    const cases = structuredClone(this.cases.filter(chosen));
    run.environment.gpu = { name: "Fabricated GPU", ...run.environment.gpu, UUID: machine.uuid };
    run.plan.seed = gpu;
    run.cases = run.cases.filter(chosen);
    for (const c of cases) {
      for (const row of c.passes.flatMap((pass) => pass.measurements ?? [])) {
        if (row.metric.endsWith("_time"))
          row.samples = row.samples?.map((seconds) => seconds * machine.nature * Math.exp(0.01 * machine.deviate()));
      }
    }
    if (this.flipped.includes(gpu)) cases.at(-1).passes[0].verification[0].checksum = "0123456789abcdef";
    change(run, cases);
    mkdirSync(join(folder, "cases"), { recursive: true });
    for (const c of cases)
      writeFileSync(join(folder, "cases", case_file(c.id)), JSON.stringify({ ...c, run: `${run.started} ${run.plan.seed}` }));
    writeFileSync(join(folder, "run.json"), JSON.stringify(run));
    const trace = join(this.template, "trace.sqlite");
    if (existsSync(trace)) copyFileSync(trace, join(folder, "trace.sqlite"));
  }

  /** Runs of all cases on each of `gpus` GPUs. */
  whole_runs(folder, gpus) {
    return Array.from({ length: gpus }, (_, gpu) => {
      const path = join(folder, String(gpu));
      this.write(path, gpu);
      return path;
    });
  }

  /** The shards of one host of `count` GPUs, of which each measured a share of the template's cases; to be merged. */
  shards_of_host(folder, host, count) {
    return Array.from({ length: count }, (_, index) => {
      const path = join(folder, String(index)), share = this.run.cases.filter((_, i) => i % count === index);
      const ids = new Set(share.map((c) => c.id));
      this.write(path, host * count + index, (c) => ids.has(c.id), (run) => { run.shard = { index: index + 1, count }; });
      return path;
    });
  }

  /** Shards of a plan of as many variants as GPUs, of which each GPU measured one with all problems of the template. */
  shards(folder, gpus) {
    const [model] = this.run.variants, name = (gpu) => `${model.id}_${gpu}`;
    const numbers = Array.from({ length: gpus }, (_, gpu) => gpu);
    const variants = numbers.map((gpu) => ({ ...model, id: name(gpu) }));
    return numbers.map((gpu) => {
      const path = join(folder, String(gpu));
      this.write(path, gpu, (c) => c.variant === model.id, (run, cases) => {
        Object.assign(run, { variants, shard: { index: gpu + 1, count: gpus } });
        run.plan.variants = variants.map((variant) => variant.id);
        for (const c of [...run.cases, ...cases])
          Object.assign(c, { variant: name(gpu), id: c.id.replace(model.id, name(gpu)) });
      });
      return path;
    });
  }
}
