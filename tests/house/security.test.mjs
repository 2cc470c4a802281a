// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { source } from "./house.mjs";

/** The rows of the table below "## Threats", as [threat, defence, tests]. */
function threats(page) {
  const rows = page.split(/^## Threats$/m)[1].split("\n").filter((line) => line.startsWith("|")).slice(2);
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** Rows without a test, and tests that are not there: `FILE`, or `FILE: NAME`, whose text has the name. */
function untested(page, root) {
  return threats(page).flatMap(([threat, , tests]) => {
    const named = [...(tests ?? "").matchAll(/`(tests\/[^`: ]+)(?:: ([^`]+))?`/g)];
    if (named.length === 0) return [`${threat}: names no test`];
    return named
      .filter(([, file, name]) => !existsSync(join(root, file)) || (name && !readFileSync(join(root, file), "utf8").includes(name)))
      .map(([all]) => `${threat}: ${all} is not there`);
  });
}

test("SECURITY.md names a test that is there for each threat", () => {
  const page = readFileSync(join(source, "SECURITY.md"), "utf8");
  assert.notEqual(threats(page).length, 0);
  assert.deepEqual(untested(page, source), []);
});

// --- The test itself ---

test("a threat without a test is found", () => {
  const page = [
    "| a | b | `tests/before` |", "## Threats", "", "| Threat | Defence | Test |", "|---|---|---|",
    "| good | x | `tests/house/security.test.mjs`, `tests/house/security.test.mjs: a threat without a test is found` |",
    "| bare | x | |", "| gone | x | `tests/gone.cpp` |", `| unknown | x | \`tests/house/security.test.mjs: ${["no", "such", "name"].join(" ")}\` |`,
  ].join("\n");
  assert.deepEqual(untested(page, source).map((line) => line.split(":")[0]), ["bare", "gone", "unknown"]);
});
