// mprof check as far as it goes without a GPU: what it refuses, skips and leaves; check.json by its schema.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { mprof, small, source, temporary } from "./support.mjs";

const schema = JSON.parse(readFileSync(join(source, "model", "check.schema.json"), "utf8"));
const matches_schema = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(schema);
const errors = (check) => (matches_schema(check) ? "" : JSON.stringify(matches_schema.errors));
const read_check = (directory) => JSON.parse(readFileSync(join(directory, "check.json"), "utf8"));

/** A copy of a recorded run of CPU variants. */
function cpu_run(t) {
  const directory = join(temporary(t), "run");
  mkdirSync(directory);
  copyFileSync(join(source, "tests", "golden", "run_a", "run.json"), join(directory, "run.json"));
  return directory;
}

test("CPU variants are skipped with the reason, and exit code 5 says that nothing was checked", (t) => {
  const run = cpu_run(t);
  const result = mprof(["check", run, "--tool", "racecheck,memcheck"]);
  assert.equal(result.code, 5, result.err);
  assert.equal(result.err.split("\n").filter((line) => line.includes("CUDA code only")).length, 1, "each reason once");
  assert.match(result.out, /^8 checks: 8 skipped\.\nNothing could be checked/);
  const check = read_check(run);
  assert.equal(errors(check), "");
  assert.deepEqual(check.results.slice(0, 2).map((row) => row.tool), ["memcheck", "racecheck"], "in the order of the tools");
  assert.ok(check.results.every((row) => row.status === "skipped" && row.reason === "compute-sanitizer reads CUDA code only"));

  assert.equal(mprof(["check", run, "--variant", "conv/cpu_naive,conv/cpu_on*", "--tool", "synccheck", "--quiet"]).code, 5);
  assert.equal(read_check(run).results.length, 10, "what is not asked for stays");

  assert.equal(mprof(["report", run]).code, 0);
  assert.match(readFileSync(join(run, "milestone.md"), "utf8"), /## Check run\n\nNo variant was checked by compute-sanitizer: /);
});

test("what cannot be asked for is refused before anything is written", (t) => {
  const run = cpu_run(t);
  const cases = [
    [["--variant", "conv/cpu_naiv"], /no such variant\. Did you mean conv\/cpu_naive\?/],
    [["--variant", ""], /--variant needs/],
    [["--batch", "10001"], /--batch 10001: the conv family takes 1 to 10000/],
    [["--batch", "0"], /--batch 0/],
    [["--batch", "100,1000"], /one whole number/],
    [["--tool", "memcheck,leakcheck"], /no tool 'leakcheck'/],
    [["--tool", ""], /no tool ''/],
    [["--timeout", "-1"], /positive number/],
  ];
  for (const [options, message] of cases) {
    const { code, err } = mprof(["check", run, ...options]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.match(err, /^mprof: [^\n]+\n$/);
    assert.ok(!existsSync(join(run, "check.json")), options.join(" "));
  }
});

test("a record that is none is an error for check and report, and stays as it is", (t) => {
  const run = cpu_run(t);
  writeFileSync(join(run, "check.json"), "{\"schema_version\": 1, \"results\": [{\"variant\": 7}]}");
  for (const verb of ["check", "report"]) {
    const { code, err } = mprof([verb, run]);
    assert.equal(code, 2);
    assert.match(err, /check\.json\.results\[0\]\.variant: expected text, found 7/);
  }
  assert.match(readFileSync(join(run, "check.json"), "utf8"), /"variant": 7/);
});

const skip = existsSync("/usr/share/datasets/fashion-mnist") ? false : "Debian's dataset-fashion-mnist is not installed";
test("a run that replaces another one does not keep its check", { skip }, (t) => {
  const run = cpu_run(t);
  assert.equal(mprof(["check", run]).code, 5);
  assert.ok(existsSync(join(run, "check.json")));
  const result = mprof([...small, "--passes", "timing", "--out", run, "--overwrite"]);
  assert.equal(result.code, 0, result.err);
  assert.ok(!existsSync(join(run, "check.json")));
});

test("the schema holds results of every status to what belongs to them", () => {
  const made = {
    variant: "conv/baseline", tool: "memcheck", batch: 100, status: "clean", started: "2026-11-21T02:51:07Z", seconds: 4.5,
    mprof: { version: "0.1.0", revision: "0123456789ab" }, device: "NVIDIA H200", sanitizer: "2025.3.1.0", command: ["compute-sanitizer"],
  };
  const of = (...results) => ({ schema_version: 1, results });
  assert.equal(errors(of(made, { ...made, status: "errors", errors: 3, first_report: "Invalid" }, { ...made, warnings: 1 },
    { ...made, status: "timeout", reason: "took longer than 600 s (--timeout)" })), "");
  for (const bad of [{ ...made, status: "errors" }, { ...made, errors: 1 }, { ...made, status: "failed" }, { ...made, reason: "why" },
    { ...made, status: "skipped", reason: "no GPU" }, { ...made, seconds: undefined }, { ...made, other: 1 }]) {
    assert.notEqual(errors(of(JSON.parse(JSON.stringify(bad)))), "", JSON.stringify(bad));
  }
});
