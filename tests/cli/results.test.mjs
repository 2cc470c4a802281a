// SPDX-License-Identifier: MIT
// The recorded runs below results/, of which a report can be made at any time. The reports that this test makes stay in the folder
// REPORTS, where they can be read.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { sample as sample_folder } from "../../scripts/maintenance/readme_pictures.mjs";
import { mprof, read_run, source, temporary } from "./support.mjs";

const reports = process.env.REPORTS;
if (!reports) throw new Error("set REPORTS to the folder that the reports are written to");

const results = join(source, "results");
const sample = basename(sample_folder); // its report is committed: README.md shows it
const rendered = ["brief.md", "charts", "evidence.md", "milestone.html", "milestone.md", "milestone.pdf"];
const tracked = execFileSync("git", ["ls-files", "-z", "results"], { cwd: source, encoding: "utf8" }).split("\0").filter(Boolean);
const records = [...new Set(tracked.map((file) => file.split("/")[1]))].filter((name) => name !== "README.md");

test("results/ is small: at most 400 files and 25 MB", () => {
  assert.ok(tracked.length <= 400, `${tracked.length} files`);
  const bytes = tracked.reduce((sum, file) => sum + statSync(join(source, file)).size, 0);
  assert.ok(bytes <= 25e6, `${bytes} bytes`);
});

test("results/README.md says of each run what its record says", () => {
  const table = readFileSync(join(results, "README.md"), "utf8").split("\n").filter((line) => line.startsWith("| ["));
  const rows = new Map(table.map((line) => line.split("|").map((cell) => cell.trim())).map((cells) => [cells[1].match(/\[([^\]]+)\]/)[1], cells]));
  assert.deepEqual([...rows.keys()].sort(), records.toSorted());
  for (const [name, [, , , gpus, rounds, minutes, revision]] of rows) {
    const run = JSON.parse(readFileSync(join(results, name, "run.json"), "utf8"));
    assert.equal(Number(gpus), run.parts?.length ?? 1, `${name}: GPUs`);
    assert.equal(Number(rounds), run.plan.rounds, `${name}: rounds`);
    assert.ok(Math.abs(Number(minutes) - (Date.parse(run.finished) - Date.parse(run.started)) / 60e3) <= 1, `${name}: minutes`);
    assert.equal(revision, `\`${run.tool.revision}\``, `${name}: revision`);
  }
});

for (const name of records) {
  test(`of ${name} a report can be made`, { timeout: 600_000 }, () => {
    const out = join(reports, name);
    rmSync(out, { recursive: true, force: true });
    const { code, err } = mprof(["report", join(results, name), "--out", out], { timeout: 600_000 });
    assert.equal(code, 0, err);
    for (const file of ["brief.md", "milestone.md", "evidence.md", "milestone.html"])
      assert.ok(statSync(join(out, file)).size > 0, file);
    assert.ok(readdirSync(join(out, "charts")).length > 0);
    // Two pages for a lead; a hand-in of twenty variants, each about a page.
    // The blanks that align their tables are nothing to read.
    const text_of = (file) => readFileSync(join(out, file), "utf8").replace(/ {2,}|-{3,}/g, " ");
    assert.ok(Buffer.byteLength(text_of("brief.md")) <= 15 * 1024, "brief.md is short");
    const milestone = text_of("milestone.md"), variants = milestone.match(/^#### Which(, and why)?$/gm).length;
    assert.ok(Buffer.byteLength(milestone) <= 120e3 * Math.max(1, variants / 20), "milestone.md is short");
  });

  test(`${name} is merged, though columns were added since it was recorded`, (t) => {
    const out = join(temporary(t), "merged");
    const { code, err } = mprof(["merge", join(results, name), "--out", out, "--incomplete"]);
    assert.equal(code, 0, err);
    assert.deepEqual(read_run(out).cases.map((c) => c.id).sort(), read_run(join(results, name)).cases.map((c) => c.id).sort());
  });

  if (name === sample) continue;
  test(`of ${name} the record alone is kept`, () => {
    assert.deepEqual(readdirSync(join(results, name)).filter((file) => rendered.includes(file)), []);
  });
}
