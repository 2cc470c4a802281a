// SPDX-License-Identifier: MIT
// The lines for pandas in docs/formats/export.md run on every recorded run, and on an import.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

const page = readFileSync(join(source, "docs", "formats", "export.md"), "utf8");
const lines = page.match(/^```python\n([\s\S]*?)^```$/m)?.[1];

// Debian's own Python has Debian's pandas, whatever comes first in PATH.
const python = ["python3", "/usr/bin/python3"].find((name) => spawnSync(name, ["-c", "import pandas"]).status === 0);
const skip = python ? false : "no python3 here has pandas (Debian: python3-pandas)";

/** Exports a run and runs the page's lines beside it. */
function run_lines(t, directory, args = []) {
  const folder = temporary(t);
  const { code, err } = mprof(["export", directory, "--format", "csv,json", "--out", join(folder, "export"), ...args]);
  assert.equal(code, 0, err);
  const result = spawnSync(python, ["-W", "error", "-c", lines], { cwd: folder, encoding: "utf8" });
  assert.equal(result.status, 0, result.stderr);
  return result.stdout;
}

test("the page has lines for pandas", () => {
  assert.match(lines ?? "", /^import json\n[\s\S]*read_csv\("export\/kernels.csv"\)[\s\S]*json_normalize/);
});

const recorded = readdirSync(join(source, "results"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory()).map((entry) => entry.name);

test("there are recorded runs", () => assert.ok(recorded.length > 3));

for (const name of recorded) {
  test(`the lines for pandas run on results/${name}`, { skip }, (t) => {
    assert.ok(run_lines(t, join(source, "results", name)).includes("total_speed_up"), "the first table was printed");
  });
}

test("the lines for pandas run on an import without a trace", { skip }, (t) => {
  const out = join(temporary(t), "import");
  const counters = join(source, "tests", "fuzz", "seeds", "ncu_csv");
  const file = readdirSync(counters).map((one) => join(counters, one)).find((one) => mprof(["import", "--ncu", `p=${one}`, "--out", out]).code === 0);
  assert.ok(file, "one of the seeds is whole");
  run_lines(t, out);
});
