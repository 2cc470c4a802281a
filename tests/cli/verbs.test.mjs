// SPDX-License-Identifier: MIT
// Each verb once, briefly: none asks the command line for an option that it does not have (exit code 70), and each file
// of a verb is its table of options and little besides.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

const golden = (name) => join(source, "tests", "golden", name);
const one = ["--size", "64", "--iterations", "1"];

/** What each verb is run with, in an empty folder, and the exit codes that are right there. */
const commands = {
  run: [["--variant", "elementwise/cpu_naive", ...one, "--quick", "--passes", "timing", "--out", "run"], 0],
  submit: [["slurm", "--all", "--quick", "--out", "submitted", "--dry-run"], 0],
  status: [[golden("run_a")], 0],
  merge: [[golden("run_a"), golden("run_b"), "--out", "merged"], 2, 4],
  sanitize: [["run"], 5],
  report: [[golden("run_a"), "--out", "report", "--format", "md"], 0],
  compare: [[golden("run_a"), golden("run_b")], 0, 1],
  ab: [["elementwise/cpu_naive", "elementwise/cpu_threads", ...one, "--budget", "1", "--sampling-time", "0.05", "--out", "ab"], 0, 1],
  judge: [["none.cpp", "--no-sandbox"], 2],
  tune: [["elementwise/cpu_threads", ...one, "--quick", "--budget", "1", "--sampling-time", "0.05", "--out", "tune"], 0, 3],
  history: [[golden("run_a"), golden("run_b")], 0],
  fleet: [[golden("run_a"), golden("run_b")], 0, 1, 2, 4],
  ranks: [[golden("run_a")], 2, 4],
  stats: [[join(source, "results", "suite")], 0],
  export: [[golden("run_a"), "--format", "csv", "--out", "exported"], 0],
  import: [["--nsys", "none.sqlite"], 2],
  list: [["--json"], 0],
  new: [["suite", "mprof.toml"], 0],
  watch: [["none.cpp"], 2],
  doctor: [[], 0, 5],
  mcp: [["--root", "."], 0],
};

test("no verb asks for an option that it does not have", (t) => {
  const folder = temporary(t);
  for (const [verb, [words, ...codes]] of Object.entries(commands)) {
    const { code, err } = mprof([verb, ...words], { cwd: folder });
    assert.ok(codes.includes(code), `mprof ${verb} ${words.join(" ")}: ${code}\n${err}`);
  }
});

test("this test knows every verb", () => {
  const out = mprof(["--help"]).out;
  const named = [...out.matchAll(/^  mprof ([a-z]+)/gm)].map((match) => match[1]).filter((name) => name !== "help");
  assert.deepEqual(named.sort(), Object.keys(commands).sort());
});

test("a verb's file is its table and at most a hundred lines of code", () => {
  for (const name of readdirSync(join(source, "cli")).filter((file) => file.endsWith(".cpp"))) {
    const text = readFileSync(join(source, "cli", name), "utf8"), table = text.search(/^Verb \w+_verb\(\) \{$/m);
    if (table < 0) continue;
    const code = text.slice(0, table).split("\n").filter((line) => line.trim() && !/^(#include|\/\/)/.test(line.trim()));
    assert.ok(code.length <= 100, `cli/${name} has ${code.length} lines before its table: move its machinery below runner/ or report/`);
  }
});
