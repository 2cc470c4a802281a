// SPDX-License-Identifier: MIT
// docs/guides/training.md shows the first screen of a recorded training. It must be what the report says of it.
// MPROF_UPDATE_GOLDEN=1 writes it anew.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

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
