// SPDX-License-Identifier: MIT
// Two builds of mprof measured in turns, as a user runs them.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, read_run, start, temporary, validate_run } from "./support.mjs";

const measured = ["run", "--variant", "elementwise/cpu_*", "--size", "256", "--passes", "timing", "--quiet"];
const quickly = [...measured, "--rounds", "5", "--sampling-time", "1"], for_long = [...measured, "--rounds", "40", "--sampling-time", "60"];

/** A build of mprof that behaves as these lines of a shell say, before it becomes mprof. */
function build(t, lines) {
  const file = join(temporary(t), "mprof");
  writeFileSync(file, `#!/bin/sh\n${lines}\nexec ${program} "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}

const sizes = (measurement) => measurement.rounds ?? [measurement.samples.length];

test("each sample of a round has one of the other build beside it, and both records compare", (t) => {
  const out = join(temporary(t), "out");
  const { code, out: text, err } = mprof([...quickly, "--out", out, "--baseline-build", build(t, "")]);
  assert.ok(code === 0 || code === 1, err);  // one comparison in twenty calls something by chance
  validate_run(out);
  validate_run(join(out, "baseline"));
  const candidate = read_run(out), baseline = read_run(join(out, "baseline"));
  assert.equal(candidate.in_turns, true);
  assert.deepEqual([baseline.in_turns, baseline.started, baseline.plan.seed], [true, candidate.started, candidate.plan.seed]);
  for (const [i, c] of candidate.cases.entries()) {
    const [of_b, of_a] = [c, baseline.cases[i]].map((one) => one.passes[0].measurements.find((m) => m.metric === "op_time"));
    assert.equal(sizes(of_b).length, 5);
    sizes(of_b).forEach((count, round) => assert.ok(Math.abs(count - sizes(of_a)[round]) <= 1, `${c.id}: ${sizes(of_a)} and ${sizes(of_b)}`));
  }
  assert.match(text, /Both sides were measured in turns, one sample each/);
  const compared = JSON.parse(mprof(["compare", join(out, "baseline"), out, "--format", "json"]).out);
  assert.ok(compared.notes.some((note) => note.startsWith("Both sides were measured in turns")));
});

test("a build that does not work is found before anything is measured", (t) => {
  const out = join(temporary(t), "out");
  const { code, err } = mprof([...quickly, "--out", out, "--baseline-build", build(t, "echo no such library >&2; exit 9")]);
  assert.equal(code, 5, err);
  assert.match(err, /mprof: .*no such library/s);
  for (const c of read_run(out).cases) assert.deepEqual(c.passes, []);
});

test("a build whose cases all fail, or that cannot take turns, is named, with exit code 5", (t) => {
  const worker = (survey, rest) => build(t, `if [ "$1" = worker ]; then read -r job; case "$job" in *'"survey"'*) printf '%s\\n' "$job" | ${program} worker | ${survey};; *) ${rest};; esac; exit; fi`);
  const failing = mprof([...quickly, "--out", join(temporary(t), "out"), "--baseline-build", worker("cat", "echo broken >&2; exit 9")]);
  assert.equal(failing.code, 5, failing.err);
  assert.match(failing.err, /none of its cases worked; elementwise\/.*: .*broken/s);
  const old = mprof([...quickly, "--out", join(temporary(t), "out"), "--baseline-build", worker(`sed 's/"takes_turns":true/"takes_turns":false/'`, "exit 9")]);
  assert.equal(old.code, 5, old.err);
  assert.match(old.err, /from before builds took turns.*--baseline DIR/s);
});

test("--overwrite replaces both records, and files of others below baseline are left alone", (t) => {
  const out = join(temporary(t), "out");
  const once = ["run", "--variant", "elementwise/cpu_threads", "--size", "64", "--quick", "--passes", "timing", "--quiet", "--out", out];
  mkdirSync(join(out, "baseline"), { recursive: true });
  writeFileSync(join(out, "baseline", "mine.txt"), "mine");
  const refused = mprof([...once, "--overwrite", "--baseline-build", program]);
  assert.equal(refused.code, 2, refused.err);
  assert.equal(readFileSync(join(out, "baseline", "mine.txt"), "utf8"), "mine");
  rmSync(out, { recursive: true });
  for (const again of [[], ["--overwrite"]]) {
    const { code, err } = mprof([...once, ...again, "--baseline-build", program]);
    assert.ok(code === 0 || code === 1, err);
    assert.equal(read_run(out).started, read_run(join(out, "baseline")).started);
  }
});

test("Ctrl-C ends both sides", async (t) => {
  const out = join(temporary(t), "out");
  const child = start([...for_long, "--out", out, "--baseline-build", program]);
  const ended = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  const began = Date.now();
  const has_begun = () => existsSync(join(out, "baseline", "cases")) && existsSync(join(out, "cases"));
  while (!has_begun() && Date.now() - began < 100_000) await new Promise((resolve) => setTimeout(resolve, 100));
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  for (const side of [out, join(out, "baseline")]) assert.equal(read_run(side).state, "interrupted");
  const again = mprof([...for_long, "--out", out, "--resume"]);
  assert.equal(again.code, 2);
  assert.match(again.err, /measured in turns with another build/);
});

test("what cannot be measured in turns is refused before a directory is made", (t) => {
  const out = join(temporary(t), "out");
  const refused = (words, message) => {
    const { code, err } = mprof([...quickly, "--out", out, ...words]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.ok(!existsSync(out));
  };
  refused(["--baseline-build", "/etc/passwd"], /passwd: it cannot be executed/);
  refused(["--baseline-build", "/nowhere/mprof"], /cannot be executed/);
  refused(["--baseline-build", program, "--shard", "1/2"], /--baseline-build and --shard exclude each other/);
  refused(["--baseline-build", program, "--baseline", "/tmp"], /./);
  const of_program = mprof(["run", "--out", out, "--baseline-build", program, "--", "true"]);
  assert.equal(of_program.code, 2);
  assert.match(of_program.err, /--baseline-build is for variants/);
});
