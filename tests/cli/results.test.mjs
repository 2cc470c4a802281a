// The runs that are committed below results/: records, of which reports can be made at any time. The reports made here stay
// in the folder REPORTS, to be read.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source } from "./support.mjs";

const reports = process.env.REPORTS;
if (!reports) throw new Error("set REPORTS to the folder that the reports are written to");

const results = join(source, "results");
const sample = "h200-all-2026-11-21"; // whose report is committed, for README.md to show
const rendered = ["brief.md", "charts", "evidence.md", "milestone.html", "milestone.md", "milestone.pdf"];
const records = readdirSync(results).filter((name) => name.startsWith("h200-") && existsSync(join(results, name, "run.json")));

test("there are records", () => assert.ok(records.includes(sample), records.join(", ")));

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
    assert.ok(statSync(join(out, "brief.md")).size <= 15 * 1024, "brief.md is short");
    const variants = readFileSync(join(out, "milestone.md"), "utf8").match(/^#### Which, and why$/gm).length;
    assert.ok(statSync(join(out, "milestone.md")).size <= 120e3 * Math.max(1, variants / 20), "milestone.md is short");
  });

  if (name === sample) continue;
  test(`of ${name} the record alone is kept`, () => {
    assert.deepEqual(readdirSync(join(results, name)).filter((file) => rendered.includes(file)), []);
  });
}
