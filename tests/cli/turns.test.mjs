// SPDX-License-Identifier: MIT
// Two builds of mprof measured in turns, as a user runs them.
import assert from "node:assert/strict";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
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
  refused(["--baseline-build", "/etc/passwd"], /passwd: this is no program/);
  refused(["--baseline-build", "/nowhere/mprof"], /no program/);
  refused(["--baseline-build", program, "--shard", "1/2"], /--baseline-build and --shard exclude each other/);
  refused(["--baseline-build", program, "--baseline", "/tmp"], /./);
  const of_program = mprof(["run", "--out", out, "--baseline-build", program, "--", "true"]);
  assert.equal(of_program.code, 2);
  assert.match(of_program.err, /--baseline-build is for variants/);
});
