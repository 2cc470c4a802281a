// SPDX-License-Identifier: MIT
// Two variants side by side, as a user runs them.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, temporary } from "./support.mjs";

const quickly = ["--size", "256", "--iterations", "1", "--sampling-time", "0.05", "--budget", "15"];

test("what is far apart is told by three blocks, and leaves three records that compare", (t) => {
  const out = join(temporary(t), "ab");
  const { code, out: text, err } = mprof(["ab", "elementwise/cpu_naive", "elementwise/cpu_threads", ...quickly, "--out", out, "--format", "json"]);
  assert.ok(code === 0 || code === 1, err);
  const session = JSON.parse(text);
  assert.ok(session.blocks >= 3);
  assert.deepEqual(session.times.map((time) => time.metric), ["op_time", "total_time"]);
  for (const { test, control, verdict, reason } of session.times) {
    for (const tested of [test, control].filter(Boolean)) assert.ok(tested.interval[0] <= tested.ratio && tested.ratio <= tested.interval[1]);
    if (!test || !control) assert.match(`${verdict}: ${reason}`, /^inconclusive: the times vary by so much/); // a busy machine
  }
  assert.match(err, /block 3, \d+ s: \d of 2 times decided/);
  for (const side of ["A", "B", "A-again"]) {
    const run = JSON.parse(readFileSync(join(out, side, "run.json"), "utf8"));
    assert.equal(run.plan.rounds, 2 * session.blocks);
    assert.equal(run.state, "complete");
  }
  assert.equal(mprof(["compare", join(out, "A"), join(out, "A-again"), "--threshold", "99"]).code, 0);
});

test("two commands are put side by side as programs, and the answer names both", (t) => {
  const out = join(temporary(t), "ab"), [a, b] = ["sleep 0.05", "sh -c 'sleep 0.2'"];
  const { code, out: text, err } = mprof(["ab", "--budget", "20", "--quiet", "--out", out, "--", a, b]);
  const told = /^A \(sleep 0\.05\) is (\d+(?:\.\d+)?)× as fast as B \(sh -c 'sleep 0\.2'\) in total\.$/m.exec(text);
  assert.equal(code, told ? 1 : 0, err + text);
  if (told) assert.ok(Number(told[1]) > 1, text);
  else assert.match(text, /Undecided/); // a busy machine
  const runs = ["A", "B", "A-again"].map((side) => JSON.parse(readFileSync(join(out, side, "run.json"), "utf8")));
  assert.deepEqual(runs.map((run) => run.variants[0].command), [["sleep", "0.05"], ["sh", "-c", "sleep 0.2"], ["sleep", "0.05"]]);
  for (const run of runs) assert.ok(run.plan.rounds >= 6 && run.state === "complete");
});

test("the first execution of each program does not count", (t) => {
  const folder = temporary(t), out = join(folder, "ab");
  const counted = (name) => [join(folder, name), `sh -c 'echo >> ${join(folder, name)}'`];
  const [[ran_a, a], [ran_b, b]] = ["a", "b"].map(counted);
  const { err } = mprof(["ab", "--budget", "1", "--quiet", "--out", out, "--", a, b]);
  const rounds = (...sides) => sides.map((side) => JSON.parse(readFileSync(join(out, side, "run.json"), "utf8")).plan.rounds);
  const executions = (file) => readFileSync(file, "utf8").length;
  const [of_a, of_b, again] = rounds("A", "B", "A-again");
  assert.ok(of_a >= 6, err);
  assert.deepEqual([executions(ran_a), executions(ran_b)], [of_a + again + 1, of_b + 1]);
});

test("what cannot be put side by side is refused before a directory is made", (t) => {
  const out = join(temporary(t), "ab");
  const refused = (words, code, message) => {
    const result = mprof(["ab", ...words, "--out", out]);
    assert.equal(result.code, code, result.err);
    assert.match(result.err, message);
    assert.ok(!existsSync(out));
  };
  refused(["conv/cpu_threds", "conv/cpu_naive"], 2, /neither a variant nor another build.*cpu_threads/s);
  refused(["/etc/passwd", "conv/cpu_naive"], 2, /passwd is a file that cannot be executed.*chmod \+x/s);
  refused(["/etc", "conv/cpu_naive"], 2, /is a folder: .* the path of its program\./s);
  refused(["elementwise/cpu_naive", "conv/cpu_naive"], 4, /different families/);
  refused(["elementwise/cpu_naive[x=1]", "elementwise/cpu_naive"], 2, /x/);
  refused(["elementwise/cpu_naive", "elementwise/cpu_threads", "--size", "256,512"], 2, /one value|whole number/);
  refused(["/bin/true", "elementwise/cpu_naive"], 2, /--variant ID/);
  const programs = (words, message) => {
    const result = mprof(["ab", "--out", out, ...words]);
    assert.equal(result.code, 2, result.err);
    assert.match(result.err, message);
    assert.ok(!existsSync(out));
  };
  programs(["--", "true"], /two commands after --, each in quotes.*Found 1/s);
  programs(["--", "true", "true | cat"], /'true \| cat': this needs a shell/);
  programs(["--", "true", "no-such-program-at-all"], /no-such-program-at-all/);
  programs(["--size", "64", "--", "true", "false"], /--size is for variants/);
  programs(["elementwise/cpu_naive", "--", "true", "false"], /not one of each/);
});
