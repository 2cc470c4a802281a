// SPDX-License-Identifier: MIT
// mprof sanitize as far as it goes without a GPU: what it refuses, skips and leaves; sanitizer.json by its schema.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { mprof, small, source, temporary } from "./support.mjs";

const schema = JSON.parse(readFileSync(join(source, "model", "sanitizer.schema.json"), "utf8"));
const matches_schema = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(schema);
const errors = (record) => (matches_schema(record) ? "" : JSON.stringify(matches_schema.errors));
const read_record = (directory) => JSON.parse(readFileSync(join(directory, "sanitizer.json"), "utf8"));

/** A copy of a recorded run of CPU variants. */
function cpu_run(t) {
  const directory = join(temporary(t), "run");
  mkdirSync(directory);
  copyFileSync(join(source, "tests", "golden", "run_a", "run.json"), join(directory, "run.json"));
  return directory;
}

test("CPU variants are skipped with the reason, and exit code 5 says that nothing ran", (t) => {
  const run = cpu_run(t);
  const result = mprof(["sanitize", run, "--tool", "racecheck,memcheck"]);
  assert.equal(result.code, 5, result.err);
  assert.equal(result.err.split("\n").filter((line) => line.includes("CUDA code only")).length, 1, "each reason once");
  assert.match(result.out, /^8 results: 8 skipped\.\nNothing could be run under it: compute-sanitizer reads CUDA code only\./);
  const record = read_record(run);
  assert.equal(errors(record), "");
  assert.deepEqual(record.results.slice(0, 2).map((row) => row.tool), ["memcheck", "racecheck"], "in the order of the tools");
  assert.ok(record.results.every((row) => row.status === "skipped" && row.reason === "compute-sanitizer reads CUDA code only"));

  assert.equal(mprof(["sanitize", run, "--variant", "conv/cpu_naive,conv/cpu_on*", "--tool", "synccheck", "--quiet"]).code, 5);
  assert.equal(read_record(run).results.length, 10, "what is not asked for stays");

  assert.equal(mprof(["report", run]).code, 0);
  assert.match(readFileSync(join(run, "evidence.md"), "utf8"), /## Compute Sanitizer\n\nNo variant was run under compute-sanitizer: compute-sanitizer reads CUDA code only\./);
});

test("a program of the user's is not run: the reason says who can", (t) => {
  const run = join(temporary(t), "run");
  assert.equal(mprof(["run", "--out", run, "--", "/bin/true"]).code, 0);
  const { code, out } = mprof(["sanitize", run]);
  assert.equal(code, 5);
  assert.match(out, /Nothing could be run under it: it is a program of its own: run `mprof sanitize -- PROGRAM`\./);
});

test("what cannot be asked for is refused before anything is written", (t) => {
  const run = cpu_run(t);
  const cases = [
    [["--variant", "conv/cpu_naiv"], /no such variant\. Did you mean conv\/cpu_naive\?/],
    [["--variant", ""], /--variant: the list is empty/],
    [["--batch", "10001"], /batch 10001: the family conv takes 1 to 10000/],
    [["--batch", "0"], /batch 0: /],
    [["--batch", "100,1000"], /give one value/],
    [["--tool", "memcheck,leakcheck"], /no tool 'leakcheck'/],
    [["--tool", ""], /--tool: the list is empty/],
    [["--timeout", "-1"], /positive number/],
  ];
  for (const [options, message] of cases) {
    const { code, err } = mprof(["sanitize", run, ...options]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.match(err, /^mprof: [^\n]+\n$/);
    assert.ok(!existsSync(join(run, "sanitizer.json")), options.join(" "));
  }
});

test("a record that is none is an error for sanitize and report, and stays as it is", (t) => {
  const run = cpu_run(t);
  writeFileSync(join(run, "sanitizer.json"), "{\"schema_version\": 2, \"results\": [{\"variant\": 7}]}");
  for (const verb of ["sanitize", "report"]) {
    const { code, err } = mprof([verb, run]);
    assert.equal(code, 2);
    assert.match(err, /sanitizer\.json\.results\[0\]\.variant: expected text, found 7/);
  }
  assert.match(readFileSync(join(run, "sanitizer.json"), "utf8"), /"variant": 7/);
});

/** A folder with a program of compute-sanitizer's name, which writes this log and runs what it is given. */
function stand_in_sanitizer(t, log) {
  const folder = temporary(t);
  writeFileSync(join(folder, "log"), log);
  writeFileSync(join(folder, "compute-sanitizer"), `#!/bin/sh
[ "$1" != --version ] || { echo "Version 2025.3.1.0 (build 1)"; exit 0; }
while [ "$1" != --log-file ]; do shift; done
cp ${join(folder, "log")} "$2"; shift 2; exec "$@"
`, { mode: 0o755 });
  return { env: { PATH: `${folder}:${process.env.PATH}` } };
}

test("a program of the user's runs under it as it is, and what it finds is told", (t) => {
  const found = stand_in_sanitizer(t, `========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at out_of_bounds(float *)+0x70 in fault.cu:11
=========     by thread (0,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
`);
  const result = mprof(["sanitize", "--json", "--", "sh", "-c", "echo working; exit 3"], found);
  assert.equal(result.code, 3, result.err);
  assert.match(result.err, /sh memcheck, \d+ s: 1 error, the first: Invalid __global__ write of size 4 bytes at out_of_bounds.*fault\.cu:11/);
  assert.match(result.err, /The last lines of sh under memcheck:\nworking/);
  const answer = JSON.parse(result.out);
  assert.deepEqual(answer.results.map((row) => [row.tool, row.status, row.errors]), [["memcheck", "errors", 1]]);

  const clean = stand_in_sanitizer(t, "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  const fine = mprof(["sanitize", "--tool", "racecheck,memcheck", "--", "true"], clean);
  assert.equal(fine.code, 0, fine.err);
  assert.match(fine.out, /^2 results: 2 clean\./);
  const failed = mprof(["sanitize", "--", "sh", "-c", "exit 4"], clean);
  assert.equal(failed.code, 5);
  assert.match(failed.out, /Nothing was found out: .*counts no error, and yet the program did not end well: exit code 4/);
  const late = mprof(["sanitize", "--timeout", "1", "--", "sleep", "100"], clean);
  assert.match(late.out, /longer than 1 s \(--timeout\)/);

  assert.match(mprof(["sanitize", "--", "./nowhere"], clean).err, /nowhere: there is no such file/);
  assert.match(mprof(["sanitize", "--variant", "a", "--", "true"], clean).err, /--variant is for the variants of a run/);
  assert.match(mprof(["sanitize", "run", "--", "true"], clean).err, /a run's folder, or a program after --/);
});

const skip = existsSync("/usr/share/datasets/fashion-mnist") ? false : "Debian's dataset-fashion-mnist is not installed";
test("a run that replaces another one does not keep what the sanitizer found", { skip }, (t) => {
  const run = cpu_run(t);
  assert.equal(mprof(["sanitize", run]).code, 5);
  assert.ok(existsSync(join(run, "sanitizer.json")));
  const result = mprof([...small, "--passes", "timing", "--out", run, "--overwrite"]);
  assert.equal(result.code, 0, result.err);
  assert.ok(!existsSync(join(run, "sanitizer.json")));
});

test("the schema holds results of every status to what belongs to them", () => {
  const made = {
    variant: "conv/baseline", tool: "memcheck", problem: { batch: 100 }, status: "clean", started: "2026-11-21T02:51:07Z", seconds: 4.5,
    mprof: { version: "0.1.0", revision: "0123456789ab" }, device: "NVIDIA H200", sanitizer: "2025.3.1.0", command: ["compute-sanitizer"],
  };
  const of = (...results) => ({ schema_version: 2, results });
  assert.equal(errors(of(made, { ...made, status: "errors", errors: 3, first_report: "Invalid" }, { ...made, warnings: 1 },
    { ...made, status: "timeout", reason: "took longer than 600 s (--timeout)" })), "");
  for (const bad of [{ ...made, status: "errors" }, { ...made, errors: 1 }, { ...made, status: "failed" }, { ...made, reason: "why" },
    { ...made, status: "skipped", reason: "no GPU" }, { ...made, seconds: undefined }, { ...made, other: 1 }]) {
    assert.notEqual(errors(of(JSON.parse(JSON.stringify(bad)))), "", JSON.stringify(bad));
  }
});
