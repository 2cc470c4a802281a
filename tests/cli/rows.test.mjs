// SPDX-License-Identifier: MIT
// What a trace of many rows costs: processor time beside two plain queries of the same file, and memory beside its size. What a
// run of many cases costs, beside one of fewer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { program, source, temporary } from "./support.mjs";

const python = (...args) => spawnSync("python3", args, { encoding: "utf8" });
const skip = python("-c", "import sqlite3").status !== 0 && "needs Python 3 with sqlite3";
const support = (name) => join(source, "tests", "support", name);

function measured(...command) {
  const { stdout, stderr } = python(support("measured.py"), ...command);
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

/** A command, and how many times the processor time of two plain queries it took: at the least of three tries where that is more
 * than a limit, since others on the machine take caches away from both. `prepare` comes before each. */
function beside_queries(file, words, limit, prepare) {
  let least;
  for (let tries = 0; tries < 3 && !(least?.times <= limit); ++tries) {
    prepare();
    const queries = measured("--group-by", file), cost = measured(program, ...words);
    const times = cost.cpu / queries.cpu;
    if (least === undefined || times < least.times) least = { ...cost, times };
  }
  return least;
}

/** By verb: how many times the two queries' processor time, about twice what was measured. */
const most = { stats: 3, "stats --report all": 30, import: 10, report: 13, compare: 9, "export --format perfetto": 12, "export --format csv": 10 };
/** By verb: its memory beyond the base, in sizes of its files. What is summed while it is read is not kept. */
const most_memory = { stats: 0.5, import: 1.5 };
/** Programs, libraries and reports take so much whatever the trace is. */
const base = 60e6;

test("many rows cost few times what SQLite takes to group them, and memory of at most twice the file", { skip }, (t) => {
  const folder = temporary(t), file = join(folder, "many.sqlite"), run = join(folder, "run"), out = join(folder, "out");
  assert.equal(python(support("fabricated_export.py"), file, "300000").status, 0);
  const commands = {
    stats: ["stats", file], "stats --report all": ["stats", file, "--report", "all", "--out", join(folder, "all.txt")],
    import: ["import", "--nsys", `p=${file}`, "--out", run], report: ["report", run, "--out", out],
    compare: ["compare", run, run], "export --format perfetto": ["export", run, "--format", "perfetto", "--out", out],
    "export --format csv": ["export", run, "--format", "csv", "--out", out],
  };
  for (const [verb, words] of Object.entries(commands)) {
    const size = statSync(words.includes(file) || verb === "import" ? file : join(run, "trace.sqlite")).size;
    const cost = beside_queries(file, words, most[verb], () => verb === "import" && rmSync(run, { recursive: true, force: true }));
    t.diagnostic(`${verb}: ${cost.times.toFixed(1)} times the queries, ${((cost.memory - base) / size).toFixed(2)} times the file`);
    assert.equal(cost.code, 0, `${verb}: ${cost.err}`);
    const files = verb === "compare" ? 2 * size : size;
    assert.ok(cost.memory <= base + (most_memory[verb] ?? 2) * files, `${verb}: ${cost.memory} bytes for ${files} bytes of files`);
    assert.ok(cost.times <= most[verb], `${verb}: ${cost.times} times the queries`);
  }
});

/** So many times the cost for four times the cases: in proportion, with room for a busy machine. */
const growth = 6;
/** By verb: bytes of memory for each further case; a report takes 22,000, and took 79,000 when it unpacked its tables. */
const most_of_case = { report: 45e3 };

test("the cost of many cases grows with their number", { skip }, (t) => {
  const folder = temporary(t);
  const few = join(folder, "few"), many = join(folder, "many");
  for (const [run, cases] of [[few, "1000"], [many, "4000"]])
    assert.equal(python(support("fabricated_cases.py"), join(source, "results"), run, cases).status, 0);
  const commands = { report: (run) => ["report", run, "--format", "html", "--out", folder], compare: (run) => ["compare", run, run] };
  for (const [verb, words] of Object.entries(commands)) {
    const [one, four] = [few, many].map((run) => measured(program, ...words(run)));
    t.diagnostic(`${verb}: ${(four.cpu / one.cpu).toFixed(1)} times the time, ${(four.memory / one.memory).toFixed(1)} times the memory`);
    for (const cost of [one, four]) assert.equal(cost.code, 0, `${verb}: ${cost.err}`);
    assert.ok(four.cpu <= growth * one.cpu, `${verb}: ${four.cpu} s for 4,000 cases, ${one.cpu} s for 1,000`);
    assert.ok(four.memory <= growth * one.memory, `${verb}: ${four.memory} bytes for 4,000 cases, ${one.memory} for 1,000`);
    const of_case = (four.memory - one.memory) / 3000;
    assert.ok(!(of_case > most_of_case[verb]), `${verb}: ${of_case} bytes for each further case`);
  }
});
