// SPDX-License-Identifier: MIT
// Runs over time: in which order they stand, what is said of a change, in each format, and what is refused.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

const recorded = readFileSync(join(source, "tests", "golden", "run_a", "run.json"), "utf8");
const changed = { variant: "conv/cpu_naive", op: "layer1" };

/** The recorded run as if it were of another day and revision, one op of one variant so many times as long. */
function write_run(directory, { started, revision, times = 1, model }) {
  const run = JSON.parse(recorded);
  run.started = started;
  run.tool.revision = revision;
  if (model) run.environment.cpu.model = model;
  for (const { key, passes } of run.cases) {
    if (key.variant !== changed.variant) continue;
    for (const row of passes.flatMap((pass) => pass.measurements ?? [])) {
      if (row.op === changed.op && row.metric === "op_time") row.samples = row.samples.map((seconds) => seconds * times);
    }
  }
  mkdirSync(directory);
  writeFileSync(join(directory, "run.json"), JSON.stringify(run));
  return directory;
}

/** Four runs, named against their order; the third is the first in which the op takes longer. */
function four_runs(t, longer = 2) {
  const folder = temporary(t);
  return [["d", 4, longer], ["c", 1, 1], ["b", 3, longer], ["a", 2, 1]].map(([name, day, times]) =>
    write_run(join(folder, name), { started: `2025-01-0${day}T10:00:00Z`, revision: `${day}234567890ab`, times }));
}

test("text: the change with its runs and revisions, in time's order; nothing of what did not change", (t) => {
  const { code, out, err } = mprof(["history", ...four_runs(t)]);
  assert.equal(code, 0, err);
  assert.match(out, /layer1 +2 → 3 +2234567 → 3234567 +\+100\.0 %.* slower/);
  assert.match(out, /2 changes in 2 of \d+ times\.\n$/, "at both problems");
  assert.ok(!out.includes("cpu_onednn"), out);
  assert.match(out, /times without a change: \d+ the same from first to last, \d+ undecided.*\. --all shows them\./);
  assert.ok(out.indexOf("Changes, the newest first") < out.indexOf("Directory"), "changes come first");
});

test("--all shows what did not change, --variant and --op less of it", (t) => {
  const runs = four_runs(t);
  assert.match(mprof(["history", ...runs, "--all"]).out, /conv\/cpu_onednn@1000/);
  const { code, out } = mprof(["history", "--variant", "*/cpu_onednn", "--variant", "*_threads", "--op", "total", "--all", ...runs]);
  assert.equal(code, 0);
  assert.match(out, /No change (found )?in 4 times\.\n$/);
  assert.ok(!out.includes("layer1") && !out.includes("cpu_naive") && out.includes("conv/cpu_threads@100"), out);
});

test("--threshold decides what is a change", (t) => {
  assert.match(mprof(["history", ...four_runs(t, 1.6)]).out, /2 changes/);
  assert.match(mprof(["history", ...four_runs(t, 1.6), "--threshold", "70"]).out, /No change/);
  assert.equal(mprof(["history", ...four_runs(t), "--threshold", "lots"]).code, 2);
});

test("json has the numbers, as docs/formats/history-json.md says", (t) => {
  const history = JSON.parse(mprof(["history", ...four_runs(t), "--format", "json"]).out);
  assert.deepEqual(history.runs.map((run) => run.name.slice(-1)), ["c", "a", "b", "d"]);
  const naive = history.machines[0].cases.find((one) => one.variant === changed.variant);
  const [change] = naive.series.find((one) => one.op === changed.op).changes;
  assert.deepEqual([change.from, change.to, change.verdict, change.told_by], [2, 3, "slower", "neighbours"]);
  assert.ok(Math.abs(change.ratio - 2) < 1e-9 && change.interval[0] < 2 && change.interval[1] > 2);
  const documented = readFileSync(join(source, "docs", "formats", "history-json.md"), "utf8");
  const fields = [history, history.runs[0], history.machines[0], naive, naive.series[0], naive.series[0].points[0], change];
  for (const field of fields.flatMap(Object.keys)) assert.match(documented, new RegExp("`" + field + "(\\[\\])?`"), field);
});

test("Markdown in a file has its charts beside it; HTML has them inside", (t) => {
  const runs = four_runs(t), folder = temporary(t);
  const { code, out } = mprof(["history", ...runs, "--format", "md", "--out", join(folder, "history.md")]);
  assert.equal(code, 0);
  const written = out.trim().split("\n");
  assert.equal(written.length, 3, "a chart of each case with a change");
  for (const file of written) assert.ok(existsSync(file), file);
  const linked = [...readFileSync(written[0], "utf8").matchAll(/\]\(charts\/([^)]+)\)/g)].map((match) => match[1]);
  assert.deepEqual(linked.sort(), readdirSync(join(folder, "charts")).sort());
  const page = join(folder, "history.html");
  assert.equal(mprof(["history", ...runs, "--format", "html", "--out", page]).out, `${page}\n`);
  assert.match(readFileSync(page, "utf8"), /data-chart="history-conv-cpu-naive-100"/);
});

test("runs of two machines are told apart", (t) => {
  const folder = temporary(t);
  const runs = [1, 2, 3, 4].map((day) => write_run(join(folder, `${day}`), {
    started: `2025-01-0${day}T10:00:00Z`, revision: "1234567890ab", times: day > 2 ? 2 : 1, model: day > 2 ? "Another 9000" : "" }));
  const both = mprof(["history", ...runs]);
  assert.equal(both.code, 0, both.err);
  assert.match(both.out, /No change (found )?in/);
  assert.match(both.out, /Run 1 and run 3 are of different machines: CPU model: .* in run 1, Another 9000 in run 3\./);
  const { code, err } = mprof(["history", runs[0], runs[3]]);
  assert.equal(code, 4);
  assert.match(err, /Another 9000/);
});

test("a file among the folders, as of results/*, is left out and named", (t) => {
  const runs = four_runs(t), file = join(temporary(t), "README.md");
  writeFileSync(file, "");
  const { code, err } = mprof(["history", ...runs, file]);
  assert.equal(code, 0, err);
  assert.match(err, /Left out: .*README\.md is a file/);
});

test("what cannot be told is refused with what is wrong", (t) => {
  const runs = four_runs(t), other = temporary(t);
  for (const [args, message] of [
    [[runs[0], `${runs[0]}/`, runs[1]], /was given twice/],
    [[...runs, other], /holds no run\.json/],
    [[...runs, "--variant", "conv/cpu_naiv"], /Did you mean conv\/cpu_naive/],
    [[...runs, "--op", "layer9"], /layer1, layer2, total/],
  ]) {
    const { code, out, err } = mprof(["history", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.equal(out, "");
  }
});
