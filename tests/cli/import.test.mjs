// SPDX-License-Identifier: MIT
// Runs that are made of files of other tools, as a user makes and reads them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, source, temporary, validate_run } from "./support.mjs";

const head = '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",' +
  '"Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"';
const row = (id, kernel, label, unit, value) =>
  `"${id}","7","prog","box","${kernel}","1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","S","${label}","${unit}","${value}",`;
const rows = [0, 1].flatMap((id) => [
  row(id, id ? "tile(int)" : "scale(int)", "Duration", "us", id ? "1.234,5" : "10,5"),
  row(id, id ? "tile(int)" : "scale(int)", "Compute (SM) Throughput", "%", id ? "80,25" : "20,5"),
  row(id, id ? "tile(int)" : "scale(int)", "Registers Per Thread", "register/thread", "32"),
]);
const counters = (lines) => ["==PROF== Connected", head, ...lines, "bye"].join("\n") + "\n";

function imported(directory, lines) {
  const file = join(directory, "counters.csv"), out = join(directory, "run");
  writeFileSync(file, counters(lines));
  const { code, err } = mprof(["import", "--ncu", file, "--out", out, "--overwrite"]);
  assert.equal(code, 0, err);
  return out;
}

test("an imported run is a run: its record is valid, and report, compare and export take it", (t) => {
  const directory = temporary(t);
  mkdirSync(join(directory, "run"));
  const out = imported(directory, rows);
  validate_run(out);
  const run = read_run(out);
  assert.deepEqual(run.cases.map((c) => c.id), ["program/counters"]);
  assert.equal(run.variants[0].subject, "import");
  for (const command of [["report", out], ["export", out], ["compare", out, out]]) {
    const { code, err } = mprof(command);
    assert.equal(code, 0, `${command}: ${err}`);
  }
  const report = readFileSync(join(out, "milestone.md"), "utf8");
  assert.match(report, /no time without a profiler is known/);
  assert.doesNotMatch(report, /best variant|A baseline itself|Is its output right/);
  assert.doesNotMatch(report, /mprof sanitize DIR/);
  assert.match(report, /^# counters on /m);
  assert.match(report, /\*\*Its time:\*\* Nothing was timed without a profiler, and no trace says when its kernels ran\./);
  assert.match(report, /Its kernels, the longest first,[^]*\| tile +\| program +\|[^]*80\.2 +\|[^]*\| scale +\|/);
  assert.doesNotMatch(report, /not recorded|t-test|poisoned|--set NAME|Does it combine/);
  const evidence = readFileSync(join(out, "evidence.md"), "utf8");
  assert.match(evidence, /tile +\| +99\.2\s%/);
  assert.match(evidence, /Nsight Compute counted the kernels/);
});

test("of two imports the kernel that became fast is shown, and what is alike only with --all", (t) => {
  const directory = temporary(t), layers = 40, ops = 10;
  const run = (name, ...layer) => {
    const file = join(directory, `${name}.sqlite`), out = join(directory, name);
    const made = spawnSync("python3", [join(source, "tests", "support", "fabricated_export.py"), file, "20000", ...layer]);
    if (made.status !== 0) return null;
    const { code, err } = mprof(["import", "--nsys", file, "--out", out]);
    assert.equal(code, 0, err);
    return out;
  };
  const before = run("before");
  if (before === null) return t.skip("needs Python 3 with sqlite3");
  // It is the longest kernel of most ops before, and the shortest one after.
  const after = run("after", "37");
  const text = mprof(["compare", before, after]).out;
  const launches = (of) => of.split("\n").filter((line) => line.includes("a launch of "));
  const faster = launches(text).filter((line) => /a launch of layer37 in step \d.* -50\.0 %.* 2\.00× +faster$/.test(line));
  assert.equal(faster.length, ops, text);
  assert.equal(launches(text).length, ops, text);
  const alike = (layers - 1) * ops;
  assert.match(text, new RegExp(`${alike} times of traces changed by less than 1 %, and are left out: --all shows them\\.`));
  const all = mprof(["compare", before, after, "--all"]).out;
  assert.equal(launches(all).length, layers * ops);
  assert.doesNotMatch(all, /left out: --all/);
});

test("two programs with one process id keep their own ranges", (t) => {
  const folder = temporary(t);
  for (const [name, microseconds] of [["slow", "40"], ["fast", "20"]]) {
    const made = spawnSync("python3", [join(source, "tests/support/fabricated_training.py"), join(folder, name), "20", "4", microseconds]);
    assert.equal(made.status, 0, `${made.stderr}`);
  }
  const out = join(folder, "both"), files = ["slow", "fast"].map((name) => `${name}=${join(folder, name)}`);
  assert.equal(mprof(["import", "--nsys", ...files, "--out", out]).code, 0);
  assert.equal(mprof(["report", out]).code, 0);
  const brief = readFileSync(join(out, "brief.md"), "utf8");
  assert.match(brief, /\| slow +\| +[\d.]+ \| +(19|20) \|/);
  assert.match(brief, /\| fast +\| +[\d.]+ \| +(19|20) \|/);
});

test("two imports are compared by what both have", (t) => {
  const directory = temporary(t);
  const run = (name, duration, registers) => {
    const file = join(directory, `${name}.csv`), out = join(directory, name);
    writeFileSync(file, counters([row(0, "scale(int)", "Duration", "us", duration),
                                  row(0, "scale(int)", "Registers Per Thread", "register/thread", registers)]));
    const { code, err } = mprof(["import", "--ncu", file, "--out", out]);
    assert.equal(code, 0, err);
    return out;
  };
  const before = run("before", "21.06", "32"), after = run("after", "35.00", "64"), same = run("same", "21.07", "32");
  const compared = (...args) => {
    const { code, out, err } = mprof(["compare", ...args, "--json"]);
    assert.ok(code === 0 || code === 1, err);
    return { code, ...JSON.parse(out) };
  };
  const slower = compared(before, after);
  assert.equal(slower.code, 1);
  const [time] = slower.cases[0].times;
  assert.deepEqual([time.metric, time.op, time.kernel, time.verdict], ["gpu__time_duration.sum", "program", "scale", "slower"]);
  assert.ok(Math.abs(time.ratio - 35 / 21.06) < 1e-9);
  assert.deepEqual(slower.cases[0].figures.filter((f) => f.metric === "launch__registers_per_thread").map((f) => [f.a, f.b]), [[32, 64]]);
  assert.equal(slower.cases[0].id_b, "program/after", "programs that are called after their files are one");
  assert.equal(compared(after, before).code, 0);
  const unchanged = compared(before, same);
  assert.equal(unchanged.code, 0);
  assert.notEqual(unchanged.cases[0].times[0].verdict, "slower");
  const text = mprof(["compare", before, after]).out;
  assert.match(text, /a launch of scale in program \(Nsight Compute\)/);
  assert.match(text, /assumed to vary by 5/);
});

test("the order of rows makes no difference to the report", (t) => {
  const directory = temporary(t);
  const text = (lines) => {
    const out = imported(directory, lines);
    assert.equal(mprof(["report", out, "--format", "md"]).code, 0);
    // When it was imported, and what the file's bytes are.
    return readFileSync(join(out, "evidence.md"), "utf8").replace(/sha256:\w+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "");
  };
  mkdirSync(join(directory, "run"));
  assert.equal(text([...rows].reverse()), text(rows));
});

test("stats and export say what is missing", (t) => {
  const directory = temporary(t);
  mkdirSync(join(directory, "run"));
  const out = imported(directory, rows);
  const { code, err } = mprof(["stats", out]);
  assert.equal(code, 2);
  assert.match(err, /no trace was imported/);
});

test("what cannot be imported is refused with exit code 2, and nothing is written", (t) => {
  const directory = temporary(t), out = join(directory, "out");
  const refused = (args, why) => {
    const { code, err } = mprof(["import", ...args]);
    assert.equal(code, 2, err);
    assert.match(err, why);
    assert.ok(!existsSync(out));
  };
  const broken = join(directory, "broken.csv");
  writeFileSync(broken, counters(rows.slice(0, 1)).slice(0, -30));
  refused(["--out", out], /needs a file/);
  refused(["--ncu", broken], /needs --out/);
  refused(["--ncu", broken, "--out", out], /broken\.csv: it has no whole row: the file was cut off/);
  refused(["--nsys", broken, "--out", out], /broken\.csv: this is what `ncu --csv` printed/);
  refused(["--nsys", join(source, "tests", "golden", "trace", "recorded.sqlite"), "--out", out], /trace of a run of mprof/);
});
