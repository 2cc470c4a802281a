// SPDX-License-Identifier: MIT
// README.md repeats what the program and the newest record say.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { digest, top_of_brief, made_from, newest_of_all_variants, pictures, sample, shown_brief } from "../../scripts/maintenance/readme_pictures.mjs";
import { mprof, source } from "./support.mjs";

const readme = readFileSync(join(source, "README.md"), "utf8");

/** The rows of every table with this head, as lists of cells. */
function rows(text, head) {
  const lines = text.split("\n"), found = [];
  lines.forEach((line, at) => {
    if (line !== head) return;
    for (let i = at + 2; lines[i]?.startsWith("|"); ++i) found.push(lines[i].split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  });
  return found;
}

test("README.md has at most 90 lines", () => {
  assert.ok(readme.trimEnd().split("\n").length <= 90);
});

test("README.md has the exit codes of the help", () => {
  const head = "| code | meaning |";
  const codes = rows(readme, head);
  assert.ok(codes.length > 5);
  assert.deepEqual(codes, rows(mprof(["help", "--markdown"]).out, head));
});

test("README.md names every verb once", () => {
  const shown = rows(readme, "| task | verbs |").flatMap(([, verbs]) => [...verbs.matchAll(/`([a-z]+)`/g)].map((match) => match[1]));
  const verbs = [...mprof(["--help"]).out.matchAll(/^ +mprof ([a-z]+)/gm)].map((match) => match[1]).filter((name) => name !== "help");
  assert.deepEqual(shown.sort(), [...new Set(verbs)].sort());
});

test("README.md shows the newest run of all variants as it is", () => {
  const name = relative(source, sample);
  const again = `write the report of ${name}, then run node scripts/maintenance/readme_pictures.mjs`;
  assert.ok(existsSync(join(sample, "brief.md")), again);
  assert.ok(readme.includes(`${name}/brief.md`), `README.md links the report of ${name}`);
  assert.equal(shown_brief(readme), top_of_brief(), again);
  assert.equal(readFileSync(made_from, "utf8").trim(), digest(join(sample, "milestone.html")), again);
  for (const [, file] of readme.matchAll(/(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)) {
    if (file) assert.ok(existsSync(join(source, file)), file);
  }
  for (const scheme of ["light", "dark"])
    assert.equal(readFileSync(join(pictures, `report-${scheme}.png`)).subarray(1, 4).toString(), "PNG");
});

test("a newer run of all variants becomes the sample; runs of some variants and sweeps do not", (t) => {
  const results = mkdtempSync(join(tmpdir(), "mprof-results-"));
  t.after(() => rmSync(results, { recursive: true }));
  const add = (name, change) => {
    const run = JSON.parse(readFileSync(join(sample, "run.json"), "utf8"));
    change(run);
    mkdirSync(join(results, name));
    writeFileSync(join(results, name, "run.json"), JSON.stringify(run));
  };
  add("older", (run) => (run.started = "2020-01-01T00:00:00Z"));
  add("newer", (run) => (run.started = "2090-01-01T00:00:00Z"));
  add("some", (run) => Object.assign(run, { started: "2091-01-01T00:00:00Z", command_line: ["mprof", "run", "--variant", "conv/*"] }));
  add("sweep", (run) => Object.assign(run, { started: "2092-01-01T00:00:00Z", plan: { ...run.plan, settings: { tile_width: ["*"] } } }));
  assert.equal(newest_of_all_variants(results), join(results, "newer"));
});
