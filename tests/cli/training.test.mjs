// SPDX-License-Identifier: MIT
// docs/guides/training.md shows the first screen of a recorded training. It must be what the report says of it.
// MPROF_UPDATE_GOLDEN=1 writes it anew.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, source, temporary } from "./support.mjs";

const file = join(source, "docs/guides/training.md");
const begin = "<!-- what `mprof report results/program` says -->\n", end = "<!-- end -->\n";

test("docs/guides/training.md shows what the report says", (t) => {
  const out = join(temporary(t), "report");
  const { code, err } = mprof(["report", join(source, "results/program"), "--out", out]);
  assert.equal(code, 0, err);
  const brief = readFileSync(join(out, "brief.md"), "utf8");
  const answer = brief.match(/^## The answer\n\n([^]*?)\n+## What to know/m)?.[1];
  assert.ok(answer, brief);
  const page = readFileSync(file, "utf8"), from = page.indexOf(begin) + begin.length, to = page.indexOf(end);
  assert.ok(from > begin.length && to > from - 1, "the page has a place for it");
  const shown = `\n${answer.trim()}\n\n`;
  if (process.env.MPROF_UPDATE_GOLDEN) writeFileSync(file, page.slice(0, from) + shown + page.slice(to));
  else assert.equal(page.slice(from, to), shown);
});

/** The page of a training of so many steps with 1,000 launches each: its bytes, and the seconds of CPUs that it took. */
function page_of(folder, steps) {
  const name = (what) => join(folder, `${what}-${steps}`);
  const made = spawnSync("python3", [join(source, "tests/support/fabricated_training.py"), name("export"), `${steps}`, "50", "300"]);
  assert.equal(made.status, 0, `${made.stderr}`);
  const { code, err } = mprof(["import", "--nsys", `training=${name("export")}`, "--out", name("run")]);
  assert.equal(code, 0, err);
  const reported = spawnSync("python3", [join(source, "tests/support/measured.py"), program, "report", name("run"), "--format",
    "html", "--out", name("report")], { encoding: "utf8" });
  const cost = JSON.parse(reported.stdout);
  assert.equal(cost.code, 0, cost.err);
  return { bytes: statSync(join(name("report"), "milestone.html")).size, seconds: cost.cpu, out: name("report") };
}

test("the page of 30 s of training with 100,000 launches is small, and its launches cost no more than their number", (t) => {
  const folder = temporary(t), small = page_of(folder, 10), large = page_of(folder, 100);
  const page = readFileSync(join(large.out, "milestone.html"), "utf8");
  assert.ok(/median of (100|9\d) steps/.test(page), "its steps");
  assert.ok(/150\sMiB of GPU memory at its peak, in step 1/.test(page), "its memory");
  assert.ok(large.bytes <= 4e6, `${large.bytes} bytes`);
  assert.ok(large.bytes < 1.5 * small.bytes, `${small.bytes} bytes of a tenth of it, ${large.bytes} bytes of all`);
  assert.ok(large.seconds < 10 * small.seconds, `${small.seconds} s of a tenth of it, ${large.seconds} s of all`);
});
