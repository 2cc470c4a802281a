// SPDX-License-Identifier: MIT
// Summaries of many ranks and steps for `mprof ranks`, made of a small world's.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const at = (values, base) => values.map((value) => value + base);
const repeated = (values, times) => Array.from({ length: times }, () => values).flat();
const in_turns = (values, times, period) => Array.from({ length: times }, (_, turn) => at(values, turn * period)).flat();

/** A summary whose steps are repeated `times`. */
function longer(summary, times) {
  const period = summary.steps.end.at(-1) - summary.start, { steps, collectives, stretches } = summary;
  const every = (columns, moments) => Object.fromEntries(Object.entries(columns).map(([name, values]) => [name,
    name === moments ? in_turns(values, times, period) : name === "idle" ? values.map((one) => repeated(one, times)) : repeated(values, times)]));
  return { ...summary, steps: every(steps, "end"), collectives: every(collectives, "start"), stretches: every(stretches) };
}

/** Writes `ranks` summaries to a folder, each `times` as long as those of `small`, the folder of a world whose ranks
 * differ by `late` alone: rank `late` is like rank 1 there, all others are like rank 0. */
export function write_many(folder, small, { ranks, times, late }) {
  mkdirSync(folder, { recursive: true });
  const [usual, slow] = [0, 1].map((rank) => JSON.stringify(longer(JSON.parse(readFileSync(join(small, `rank-000${rank}.json`), "utf8")), times)));
  for (let rank = 0; rank < ranks; ++rank) {
    const text = rank === late ? slow : usual, name = `rank${rank}`;
    const own = text.replace(/"name":"[^"]*"/, `"name":"${name}"`).replace(/"clock":"[^"]*"/, `"clock":"${name}"`)
      .replace(/"rank":\d+/, `"rank":${rank}`).replace(/"world_size":\d+/, `"world_size":${ranks}`);
    writeFileSync(join(folder, `rank-${String(rank).padStart(4, "0")}.json`), own);
  }
  return folder;
}
