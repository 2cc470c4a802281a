// SPDX-License-Identifier: MIT
// A run for other programs: which files, what is in them, and what is said when there is nothing to write.
import assert from "node:assert/strict";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { mprof, source, temporary } from "./support.mjs";

const golden = join(source, "tests", "golden");
const without_trace = join(golden, "run_a");
const run_tables = ["cases.csv", "ops.csv", "measurements.csv", "samples.csv"];
const trace_tables = ["kernels.csv", "transfers.csv", "api_calls.csv"];

/** A result directory with a trace: the cases of a recorded run are called as those of the trace. */
function traced_run(t) {
  const directory = temporary(t);
  const run = JSON.parse(readFileSync(join(golden, "h200", "run.json"), "utf8"));
  const rename = (id) => id.replace("@1000", "@100");
  run.cases.forEach((c) => { c.id = rename(c.id); c.key.batch = 100; });
  writeFileSync(join(directory, "run.json"), JSON.stringify(run));
  copyFileSync(join(golden, "trace", "recorded.sqlite"), join(directory, "trace.sqlite"));
  return directory;
}

const printed = (out) => out.trim().split("\n");

test("writes all formats into DIR/export, and prints what it wrote", (t) => {
  const directory = traced_run(t);
  const { code, out, err } = mprof(["export", directory]);
  assert.equal(code, 0, err);
  assert.equal(err, "");
  const names = ["trace.perfetto-trace.gz", ...run_tables, ...trace_tables, "analysis.json"];
  assert.deepEqual(printed(out), names.map((name) => join(directory, "export", name)));
  assert.deepEqual(readdirSync(join(directory, "export")).sort(), [...names].sort());
  const own = gunzipSync(readFileSync(join(directory, "export", "trace.perfetto-trace.gz")));
  assert.equal(own[0], 0x0a, "packets of Perfetto");
  assert.ok(own.includes("conv/unroll_matmul@100"));
  mprof(["export", directory, "--format", "perfetto-json"]);
  const trace = JSON.parse(readFileSync(join(directory, "export", "trace.perfetto.json"), "utf8"));
  const processes = trace.traceEvents.filter((e) => e.name === "process_name").map((e) => e.args.name);
  assert.deepEqual(processes, ["conv/unroll_matmul@100", "conv/streams@100"], "in the order of the run");
  assert.equal(JSON.parse(readFileSync(join(directory, "export", "analysis.json"), "utf8")).schema_version, 2);
});

test("writes the formats that are asked for where it is told to, byte for byte the same", (t) => {
  const directory = traced_run(t);
  const first = join(directory, "first"), second = join(directory, "a", "b");
  for (const out of [first, second]) {
    const { code, err } = mprof(["export", directory, "--format", "csv,perfetto", "--out", out]);
    assert.equal(code, 0, err);
  }
  assert.equal(existsSync(join(directory, "export")), false);
  assert.equal(existsSync(join(first, "analysis.json")), false);
  for (const name of readdirSync(first)) {
    assert.ok(readFileSync(join(first, name)).equals(readFileSync(join(second, name))), name);
  }
});

test("--case takes ids and patterns", (t) => {
  const directory = traced_run(t);
  const cases = (list) => {
    const { code, err } = mprof(["export", directory, "--format", "csv", "--case", list]);
    assert.equal(code, 0, err);
    return readFileSync(join(directory, "export", "cases.csv"), "utf8").trim().split("\n").slice(1)
      .map((line) => line.split(",")[0]);
  };
  assert.deepEqual(cases("conv/streams@100"), ["conv/streams@100"]);
  assert.deepEqual(cases("conv/streams@100,conv/unroll*"), ["conv/unroll_matmul@100", "conv/streams@100"]);
  assert.equal(cases("*").length, 4);
});

test("a comma in the brackets of an id separates nothing", (t) => {
  const directory = temporary(t);
  const run = JSON.parse(readFileSync(join(without_trace, "run.json"), "utf8"));
  const id = "conv/cpu_threads[a=1,b=2]@100";
  run.cases.find((c) => c.id === "conv/cpu_threads@100").id = id;
  writeFileSync(join(directory, "run.json"), JSON.stringify(run));
  const { code, err } = mprof(["export", directory, "--format", "csv", "--case", `${id},conv/cpu_naive@100`]);
  assert.equal(code, 0, err);
  assert.equal(readFileSync(join(directory, "export", "cases.csv"), "utf8").trim().split("\n").length, 3);
});

test("an export for readers of Nsight Systems' files has what mprof stats shows, and pauses where they are asked for", (t) => {
  const run = join(source, "results", "all"), id = "conv/banded@100", out = temporary(t);
  const table = (from, ...args) => {
    const { code, out: text, err } = mprof(["stats", from, "--report", "cuda_gpu_kern_sum,cuda_api_sum,cuda_gpu_mem_time_sum", "--format", "csv", ...args]);
    assert.equal(code, 0, err);
    return text;
  };
  const exported = (...args) => {
    const { code, out: made, err } = mprof(["export", run, "--format", "nsys", "--case", id, "--out", out, ...args]);
    assert.equal(code, 0, err);
    return table(made.trim());
  };
  assert.equal(exported(), table(run, "--case", id));
  assert.doesNotMatch(exported(), /read_beyond_cache|fill_words/);
  const all = exported("--with-pauses");
  assert.match(all, /read_beyond_cache|fill_words/);
  assert.equal(all, table(run, "--case", id, "--with-pauses"));
});

test("without a trace it says why and what to run, and writes the rest", (t) => {
  const out = join(temporary(t), "out");
  const all = mprof(["export", without_trace, "--out", out]);
  assert.equal(all.code, 0, "left to mprof, it writes what there is");
  assert.deepEqual(readdirSync(out).sort(), [...run_tables, "analysis.json"].sort());
  assert.match(all.err, /^mprof: trace.perfetto-trace.gz, kernels.csv, transfers.csv and api_calls.csv were not written: [^\n]+\n$/);
  assert.match(all.err, /no collector for the trace pass.*`mprof run`/);
  const asked = mprof(["export", without_trace, "--out", out, "--format", "perfetto,json"]);
  assert.equal(asked.code, 2);
  assert.match(asked.err, /^mprof: trace.perfetto-trace.gz was not written: [^\n]+\n$/);
  assert.deepEqual(printed(asked.out), [join(out, "analysis.json")]);
  const json = mprof(["export", without_trace, "--out", out, "--format", "json"]);
  assert.deepEqual([json.code, json.err], [0, ""]);
});

const refusals = {
  "an unknown format": [["--format", "csv,perfeto"], /not exported in such a format. Did you mean perfetto\?/],
  "no format": [["--format", ""], /--format: the list is empty/],
  "an unknown case": [["--case", "conv/cpu_naiv@100"], /no such case. Did you mean conv\/cpu_naive@100/],
};
for (const [name, [args, message]] of Object.entries(refusals)) {
  test(`${name} is refused, and nothing is written`, (t) => {
    const out = join(temporary(t), "out");
    const result = mprof(["export", without_trace, "--out", out, ...args]);
    assert.equal(result.code, 2, result.err);
    assert.match(result.err, message);
    assert.match(result.err, /^mprof: [^\n]+\n$/, "one message on one line");
    assert.equal(result.out, "");
    assert.equal(existsSync(out), false);
  });
}

test("what is no run is refused, and so is a damaged trace", (t) => {
  const directory = temporary(t);
  mkdirSync(join(directory, "empty"));
  cpSync(without_trace, join(directory, "damaged"), { recursive: true });
  writeFileSync(join(directory, "damaged", "trace.sqlite"), "not a database");
  const expected = { none: /no such directory/, empty: /holds no run.json/, damaged: /no SQLite database/ };
  for (const [name, message] of Object.entries(expected)) {
    const { code, err } = mprof(["export", join(directory, name)]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.equal(existsSync(join(directory, name, "export")), false);
  }
});

test("a place that cannot be written to is named, with exit code 5", (t) => {
  const directory = temporary(t);
  writeFileSync(join(directory, "file"), "");
  const { code, err } = mprof(["export", without_trace, "--format", "json", "--out", join(directory, "file")]);
  assert.equal(code, 5, err);
  assert.match(err, /cannot make the directory .*file: Not a directory/);
});
