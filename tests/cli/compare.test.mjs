// SPDX-License-Identifier: MIT
// Two runs, or two variants of one, held against each other by the program, as a user or a CI job does.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";
import { parse_xml } from "./xml.mjs";

const golden = (name) => join(source, "tests", "golden", name);
const a = golden("run_a"), b = golden("run_b");

function compared(args, code = 0) {
  const result = mprof(["compare", ...args, "--format", "json"]);
  assert.equal(result.code, code, result.err + result.out);
  return JSON.parse(result.out);
}

/** A copy of a recorded run, changed: `change` takes the text of run.json and gives another one. */
function changed(t, from, change) {
  const directory = join(temporary(t), "run");
  cpSync(from, directory, { recursive: true });
  const file = join(directory, "run.json");
  writeFileSync(file, change(readFileSync(file, "utf8")));
  return directory;
}

const verdicts = (comparison) => comparison.cases.flatMap((c) => c.times.map((time) => time.verdict));

test("a run against itself is no regression", () => {
  const same = compared([a, a]);
  assert.ok(same.cases.length > 0);
  assert.ok(verdicts(same).every((verdict) => verdict === "same" || verdict === "inconclusive"));
});

test("what did not change is left out, and shown with --all as the sentence says", () => {
  const command = ["compare", a, a, "--threshold", "60"];
  const short = mprof(command).out, all = mprof([...command, "--all"]).out;
  assert.match(short, /cases without a change are left out: --all shows them/);
  assert.ok(!short.includes("conv/cpu_naive@100"), short);
  assert.match(all, /conv\/cpu_naive@100\n +layer1 .* same, ≤ \d+.%\n/);
  assert.ok(!all.includes("left out"), all);
});

test("a renamed variant is found again with --map", (t) => {
  const b2 = changed(t, a, (text) => text.replaceAll("conv/cpu_threads", "conv/cpu_lanes"));
  assert.ok(compared([a, b2]).only_in_a.every((id) => id.startsWith("conv/cpu_threads@")));
  const mapped = compared(["--map", "conv/cpu_threads=conv/cpu_lanes", a, b2]);
  assert.deepEqual(mapped.only_in_a, []);
  assert.ok(mapped.cases.some((c) => c.id_b.startsWith("conv/cpu_lanes@")));
});

test("two variants inside one run", () => {
  const inside = compared([a, "--of", "conv/cpu_naive", "--with", "conv/cpu_threads"]);
  assert.ok(inside.cases.length > 0);
  for (const c of inside.cases) {
    assert.match(c.id, /^conv\/cpu_naive@/);
    assert.equal(c.id_b, c.id.replace("cpu_naive", "cpu_threads"));
    assert.ok(c.times.at(-1).ratio < 1);
  }
});

test("several runs of a side are put together, wherever the options stand", (t) => {
  const again = changed(t, b, (text) => text.replaceAll(/"started": "2/g, '"started": "3').replaceAll(/"run": "2/g, '"run": "3'));
  const pooled = compared([a, b, "--", again]);
  const [time] = pooled.cases[0].times, [alone] = compared([a, b], 1).cases[0].times;
  assert.equal(time.a.rounds, alone.a.rounds + alone.b.rounds);
  assert.equal(time.a.samples, alone.a.samples + alone.b.samples);
  assert.equal(time.b.samples, alone.b.samples);
  const both = mprof(["compare", a, b, "--", b]);
  assert.equal(both.code, 2);
  assert.match(both.err, /run_b is on both sides, and would be compared with itself/);
  const twice = mprof(["compare", a, "--threshold", "5", a, "--", b]);
  assert.equal(twice.code, 2);
  assert.match(twice.err, /one and the same run, given twice on one side/);
});

test("what was merged into a run is not compared with that run", (t) => {
  const merged = changed(t, b, (text) => text);
  const { plan, started, finished, command_line, environment, ceilings, cases } = JSON.parse(readFileSync(join(a, "run.json"), "utf8"));
  const part = { command_line, seed: plan.seed, started, finished, environment, ceilings, cases: cases.map(({ id }) => id) };
  const record = JSON.parse(readFileSync(join(merged, "run.json"), "utf8"));
  writeFileSync(join(merged, "run.json"), JSON.stringify({ ...record, parts: [part] }));
  const { code, err } = mprof(["compare", a, merged]);
  assert.equal(code, 2, err);
  assert.match(err, /run_a is on both sides, and would be compared with itself/);
  assert.equal(mprof(["compare", merged, merged]).code, 0, "a run with itself shows that it is the same");
});

test("runs of one side must be of one build", (t) => {
  const other = changed(t, b, (text) => text.replace(/"revision": "[^"]+"/, '"revision": "0000"'));
  const { code, err } = mprof(["compare", a, other, "--", a]);
  assert.equal(code, 4, err);
  assert.match(err, /cannot be put together on one side: mprof revision/);
});

test("unlike conditions stop with 4, and are named", (t) => {
  const other = changed(t, a, (text) => text.replace(/"model": "[^"]+"/, '"model": "Another CPU"'));
  const refused = mprof(["compare", a, other]);
  assert.equal(refused.code, 4);
  assert.match(refused.err, /CPU model: .* in A, Another CPU in B.*--allow-different-machines/);
  const allowed = mprof(["compare", a, other, "--allow-different-machines"]);
  assert.equal(allowed.code, 0);
  const lines = allowed.out.split("\n");
  assert.ok(lines.findIndex((line) => line.startsWith("Different conditions: a verdict on a time that depends")) < 5, "at the top");
  assert.equal(compared([a, other, "--allow-different-machines"]).unlike.length, 1);
});

/** The files of a run as JUnit XML, parsed; and the exit code. */
function junit(t, args) {
  const file = join(temporary(t), "junit.xml");
  const { code } = mprof(["compare", ...args, "--junit", file]);
  return { code, root: parse_xml(readFileSync(file)) };
}

const tests_of = (root) => root.children.flatMap((suite) => suite.children);
const test_named = (root, name) => tests_of(root).find((one) => one.attributes.name === name);
const slow = "conv/cpu_threads@100"; // in b

test("what fails is said by --fail-on", (t) => {
  const code = (...args) => mprof(["compare", ...args]).code;
  assert.equal(code(a, b), 1);
  assert.equal(code(a, b, "--fail-on", "none"), 0);
  assert.equal(code(a, b, "--fail-on", "missing"), 0);
  assert.equal(code(a, a, "--fail-on", "slower,inconclusive"), 1);
  const wrong = changed(t, a, (text) => text.replace('"status": "ok"', '"status": "wrong"'));
  assert.equal(code(a, wrong, "--fail-on", "none"), 1, "a wrong result always fails");
  const fewer = changed(t, a, (text) => {
    const run = JSON.parse(text);
    run.cases = run.cases.filter((c) => c.id !== slow);
    return JSON.stringify(run);
  });
  assert.equal(code(a, fewer), 0);
  assert.equal(code(a, fewer, "--fail-on", "missing"), 1);
  assert.match(mprof(["compare", a, fewer, "--fail-on", "missing"]).out, /Failed \(--fail-on\): 1 case missing in B\./);
  assert.equal(code(fewer, a, "--fail-on", "missing"), 0, "what A never had is not missing");
  assert.equal(test_named(junit(t, [a, fewer]).root, slow).children[0].name, "skipped");
  const failure = (args, name) => tests_of(junit(t, args).root).map((one) => one.children[0]).find((one) => one?.name === "failure" && one.attributes.type === name);
  assert.ok(failure([a, fewer, "--fail-on", "missing"], "missing"));
  assert.ok(failure([a, b], "regression"));
  assert.ok(failure([a, a, "--fail-on", "inconclusive"], "inconclusive"));
  assert.ok(!failure([a, a, "--fail-on", "inconclusive"], "regression"));
});

test("JUnit XML has a suite a variant and a test a case", (t) => {
  const { code, root } = junit(t, [a, b]);
  assert.equal(code, 1);
  assert.equal(root.name, "testsuites");
  const cases = compared([a, b], 1).cases;
  assert.deepEqual(root.children.map((suite) => suite.attributes.name), [...new Set(cases.map((c) => c.variant))].sort());
  assert.equal(tests_of(root).length, cases.length);
  const failed = test_named(root, slow);
  assert.match(failed.children[0].attributes.message, /^layer1 slower by 107/);
  assert.match(failed.children[0].text, /layer2: .* inconclusive/);
  for (const suite of [root, ...root.children]) {
    const below = suite === root ? tests_of(root) : suite.children;
    const count = (kind) => below.filter((one) => one.children[0]?.name === kind).length;
    assert.equal(Number(suite.attributes.tests), below.length);
    assert.equal(Number(suite.attributes.failures), count("failure"));
    assert.equal(Number(suite.attributes.skipped), count("skipped"));
  }
  const skipped = tests_of(root).find((one) => one.children[0]?.name === "skipped");
  assert.match(skipped.children[0].attributes.message, /inconclusive: layer1 \S+.% and layer2 \S+.%: .*rounds? a side would tell; total time \S+.%: /);
});

test("JUnit XML is XML whatever an op is called", (t) => {
  const hostile = (from) => changed(t, from, (text) => text.replaceAll('"layer1"', '"<b a=\'x\'>&amp;\\u0001\\uffff]]>\\"\\n"'));
  const { root } = junit(t, [hostile(a), hostile(b)]);
  assert.match(test_named(root, slow).children[0].text, /<b a='x'>&amp; /);
});

test("the step summary is appended to what is there", (t) => {
  const file = join(temporary(t), "summary.md");
  writeFileSync(file, "# Before\n");
  assert.equal(mprof(["compare", a, b, "--step-summary", file]).code, 1);
  const summary = readFileSync(file, "utf8");
  assert.match(summary, /^# Before\n### .*Regression in 1 of 8 common cases/);
  assert.match(summary, /\| conv\/cpu_threads@100 +\| layer1/);
  assert.doesNotMatch(summary, /\| conv\/cpu_naive/, "what is inconclusive is not among the changes");
  const nowhere = mprof(["compare", a, b, "--step-summary", join(file, "x")]);
  assert.equal(nowhere.code, 5);
  assert.match(nowhere.err, /--step-summary .* cannot be written/);
});

const refusals = {
  "a map without a name": [["--map", "x", a, b], 2, /--map x: give OLD=NEW/],
  "two maps of one variant": [["--map", "x=y", "--map", "x=z", a, b], 2, /another name already/],
  "--of without --with": [["--of", "conv/cpu_naive", a], 2, /belong together/],
  "--map beside --of": [["--of", "x", "--with", "y", "--map", "x=y", a], 2, /give one of them/],
  "an unknown variant": [[a, "--of", "conv/cpu_naiv", "--with", "conv/cpu_threads"], 2,
                         /--of conv\/cpu_naiv: .*Did you mean conv\/cpu_naive\?/],
  "an unknown failure": [["--fail-on", "slow", a, b], 2, /Did you mean slower\?/],
  "none and something": [["--fail-on", "none,slower", a, b], 2, /or none alone/],
  "nothing behind --": [[a, "--"], 2, /B is missing/],
};
for (const [name, [args, code, message]] of Object.entries(refusals)) {
  test(`${name} is refused`, () => {
    const result = mprof(["compare", ...args]);
    assert.equal(result.code, code, result.err);
    assert.match(result.err, message);
    assert.equal(result.out, "");
  });
}

/** A quick run whose accuracy is below 1. */
const tiny = ["run", "--variant", "conv/cpu_threads", "--batch", "20", "--quick", "--passes", "timing", "--quiet"];

test("run --baseline compares, and exits as compare does", (t) => {
  const directory = temporary(t), before = join(directory, "before");
  assert.equal(mprof([...tiny, "--out", before]).code, 0);

  // As if it had been more accurate: times would not do, for a busy machine disturbs them.
  const better = join(directory, "better");
  cpSync(before, better, { recursive: true });
  for (const name of readdirSync(join(better, "cases"))) {
    const file = join(better, "cases", name), stored = JSON.parse(readFileSync(file, "utf8"));
    for (const row of stored.passes.flatMap((pass) => pass.measurements)) {
      if (row.metric !== "accuracy") continue;
      assert.ok(row.samples[0] < 1);
      row.samples = [1];
    }
    writeFileSync(file, JSON.stringify(stored));
  }
  const worse = mprof([...tiny, "--out", join(directory, "worse"), "--baseline", better]);
  assert.equal(worse.code, 1, worse.err);
  assert.match(worse.out, /^Regression in 1 of 1 common case\./m);

  const elsewhere = changed(t, before, (text) => text.replace(/"model": "[^"]+"/, '"model": "Another CPU"'));
  const unlike = mprof([...tiny, "--out", join(directory, "unlike"), "--baseline", elsewhere]);
  assert.equal(unlike.code, 4);
  assert.match(unlike.err, /Another CPU/);
  assert.ok(existsSync(join(directory, "unlike", "run.json")), "what was measured stays");

  const nothing = mprof([...tiny, "--out", join(directory, "never"), "--baseline", join(directory, "nowhere")]);
  assert.equal(nothing.code, 2);
  assert.ok(!existsSync(join(directory, "never")), "found before anything is measured");
});
