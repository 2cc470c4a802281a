// SPDX-License-Identifier: MIT
// The first screens of programs, as brief.md has them: of recorded ones and of imports. MPROF_UPDATE_GOLDEN=1 writes the
// golden files anew.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

/** Words of variants, which a page about programs has no use for. */
const of_variants = /\bvariants?\b|\bbaselines?\b|compute-sanitizer|Does it combine|Was it successful|Is its output right/i;
const has_no_words_of_variants = (text, file) =>
  assert.doesNotMatch(text.replace(/\]\(#[^)]*\)|<a id="[^"]*">/g, ""), of_variants, file);

function report(t, run) {
  const out = join(temporary(t), "report");
  const { code, err } = mprof(["report", run, "--out", out]);
  assert.equal(code, 0, err);
  return (file) => readFileSync(join(out, file), "utf8");
}

/** A run of exports that a script of tests/support makes: { NAME: [script, ...arguments] }. */
function imported(t, programs) {
  const folder = temporary(t);
  for (const [name, [script, ...words]] of Object.entries(programs)) {
    const made = spawnSync("python3", [join(source, "tests/support", script), join(folder, `${name}.sqlite`), ...words], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
  }
  const files = Object.keys(programs).map((name) => `${name}=${join(folder, `${name}.sqlite`)}`);
  const { code, err } = mprof(["import", "--nsys", ...files, "--out", join(folder, "run")]);
  assert.equal(code, 0, err);
  return join(folder, "run");
}

function is_golden(name, brief) {
  const file = join(source, "tests/golden/first_screens", `${name}.md`);
  const answer = brief.match(/^## The answer\n\n([^]*?)\n+## What to know/m)?.[1];
  assert.ok(answer, brief);
  if (process.env.MPROF_UPDATE_GOLDEN) writeFileSync(file, `${answer}\n`);
  else assert.equal(`${answer}\n`, readFileSync(file, "utf8"));
}

test("of a solver", (t) => {
  const read = report(t, join(source, "results/solver"));
  is_golden("solver", read("brief.md"));
  has_no_words_of_variants(read("brief.md"), "brief.md");
});

test("of a training that was imported: nothing speaks of variants", (t) => {
  const read = report(t, imported(t, { training: ["fabricated_training.py", "20", "4"] }));
  is_golden("imported_training", read("brief.md"));
  for (const file of ["brief.md", "milestone.md"]) has_no_words_of_variants(read(file), file);
});

test("of several imports: each program, and the others against the first", (t) => {
  const read = report(t, imported(t, {
    before: ["fabricated_training.py", "20", "4", "40"], after: ["fabricated_training.py", "20", "4", "20"],
  }));
  is_golden("several_imports", read("brief.md"));
  for (const file of ["brief.md", "milestone.md"]) has_no_words_of_variants(read(file), file);
  const page = read("milestone.html").replace(/<script[^]*?<\/script>/g, "");
  const headings = [...page.matchAll(/<h[23][^>]*>([^<]*)<\/h[23]>/g)].map((match) => match[1]);
  for (const heading of ["before", "after", "The programs"]) assert.ok(headings.includes(heading), `${heading} in ${headings}`);
  for (const heading of ["Variants", "Verification", "Compute Sanitizer", "Advice", "Summary"])
    assert.ok(!headings.some((one) => one.startsWith(heading)), heading);
});

test("a program of a suite says where its own time goes", (t) => {
  const milestone = report(t, join(source, "results/suite"))("milestone.md");
  const sections = milestone.split(/^### /m).filter((text) => /Where its time goes at batch 10000/.test(text));
  assert.equal(sections.length, 3);
  for (const section of sections) assert.match(section, /\*\*What bounds it:\*\* /);
});

test("the kernels of a program have what holds each back, and unfold to how they are launched", (t) => {
  const read = report(t, join(source, "results/program"));
  assert.match(read("milestone.md"), /\| Kernel +\| Tensor \(%\) \| Of its roof \| Registers \| Occupancy limited by +\| Waves \| Warps wait for +\| To do first +\|/);
  const page = read("milestone.html"), list = page.slice(page.indexOf("Each of these kernels"));
  const first = list.slice(0, list.indexOf("</details>"));
  for (const part of [/Bottleneck: latency/, /Roofline: a launch executes/, /Stalls: warps wait the longest for/, /how it is launched/, /\d+ × \d+ × \d+/])
    assert.match(first, part);
});
