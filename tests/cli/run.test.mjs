// SPDX-License-Identifier: MIT
// A run from end to end, and what is left of it when it ends otherwise.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, read_run, small, source, start, temporary, until, validate_run, with_peaks } from "./support.mjs";

const skip = existsSync("/usr/share/datasets/fashion-mnist") ? false : "Debian's dataset-fashion-mnist is not installed";
const finished = (run) => run.cases.flatMap((c) => c.passes).filter((p) => p.status === "ok" || p.status === "skipped");
/** The total times of each case that has some, by round. */
const times_by_case = (run) => new Map(run.cases.flatMap((c) => {
  const row = timing(c)?.measurements?.find((m) => m.metric === "total_time");
  if (!row) return [];
  const samples = [...row.samples];
  return [[c.id, (row.rounds ?? [samples.length]).map((count) => samples.splice(0, count))]];
}));
const timing = (c) => c.passes.find((p) => p.pass === "timing");

test("a run has the versions of the libraries that its variants call, and of no others", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const { code, err } = mprof(["run", "--variant", "conv/cpu_onednn", "--batch", "1", "--quick", "--passes", "timing", "--out", out]);
  assert.equal(code, 0, err);
  assert.deepEqual(Object.keys(read_run(out).environment.libraries), ["oneDNN"]);
});

test("a run is verified, sampled, valid by its schema, and makes a report and a comparison", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const result = mprof([...small, "--out", out], { env: with_peaks });
  assert.equal(result.code, 0, result.err);
  const run = read_run(out);
  validate_run(out);
  assert.equal(run.state, "complete");
  assert.equal(run.cases.length, 4);
  for (const c of run.cases) {
    const { status, reason, verification, measurements, sampling } = timing(c);
    assert.equal(status, "ok", reason);
    assert.equal(verification.length, 2);
    for (const v of verification) {
      assert.ok(v.passed && v.relative_l2 <= v.tolerance && v.non_finite === 0 && v.never_written === 0);
      assert.ok(v.elements === c.problem.batch * (v.op === "layer1" ? 4 * 80 * 80 : 16 * 34 * 34));
    }
    for (const op of ["layer1", "layer2"]) {
      const samples = measurements.find((m) => m.metric === "op_time" && m.op === op).samples;
      assert.equal(samples.length, sampling.samples);
      assert.ok(samples.every((s) => s > 0));
    }
    const trace = c.passes.find((p) => p.pass === "trace");
    assert.equal(trace.status, "skipped");
    assert.match(trace.reason, /no collector for this pass/);
  }
  assert.ok(run.ceilings.some((ceiling) => ceiling.value > 0));
  assert.ok(run.ceilings.every((ceiling) => ceiling.value > 0 || ceiling.absent.length > 5), "a peak, or why there is none");
  assert.ok(run.environment.cpu.model.length > 0 && run.environment.build);
  assert.equal(run.environment.libraries, undefined, "no variant of it calls a library");

  // Piped: plain lines on standard error, the summary on standard output, no control characters in either.
  assert.doesNotMatch(result.err + result.out, /[\r\x1b]/);
  assert.match(result.err, /^\[\d+\/16\] conv\/cpu_\w+@[13] timing: ok, \d+ samples/m);
  assert.match(result.out, /conv\/cpu_naive/);
  assert.match(result.out, new RegExp(`Result: ${out}`));

  const report = mprof(["report", out]);
  assert.equal(report.code, 0, report.err);
  assert.match(readFileSync(join(out, "milestone.md"), "utf8"), /\| *Batch Size *\|.*Op 1/);
  assert.match(readFileSync(join(out, "milestone.html"), "utf8"), /<\/html>/);

  const same = mprof(["compare", out, out, "--format", "json"]);
  assert.equal(same.code, 0, same.err);
  JSON.parse(same.out);

  // The same directory again: refused, resumed for nothing, replaced.
  const before = readFileSync(join(out, "run.json"));
  assert.equal(mprof([...small, "--out", out]).code, 2);
  assert.deepEqual(readFileSync(join(out, "run.json")), before);
  const resumed = mprof(["run", "--resume", "--out", out]);
  assert.equal(resumed.code, 0, resumed.err);
  assert.deepEqual(read_run(out).cases, run.cases);
  assert.equal(mprof([...small, "--out", out, "--overwrite", "--quiet"]).code, 0);
  const again = read_run(out);
  assert.notDeepEqual(again.cases, run.cases);

  // Without the peaks of the machine.
  validate_run(out);
  assert.deepEqual(again.ceilings ?? [], []);
  assert.deepEqual(again.environment.survey["peak rates"], { absent: "MPROF_NO_PEAKS is set" });
  assert.deepEqual(again.environment.cpu.model, run.environment.cpu.model);
  assert.equal(mprof(["report", out]).code, 0);
  assert.match(readFileSync(join(out, "evidence.md"), "utf8"), /MPROF_NO_PEAKS is set/);
});

test("--quiet prints where the result is and nothing else", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const result = mprof([...small, "--passes", "timing", "--quiet", "--out", out]);
  assert.equal(result.code, 0);
  assert.equal(result.err, "");
  assert.equal(result.out.split("\n").length, 2);
});

test("the default directory is results/<UTC time>-<device>", { skip }, (t) => {
  const cwd = temporary(t);
  assert.equal(mprof([...small, "--batch", "1", "--passes", "timing"].filter((a) => a !== "1,3" ), { cwd }).code, 2);
  assert.equal(mprof(["run", "--variant", "conv/cpu_threads", "--batch", "1", "--quick", "--passes", "timing"], { cwd }).code, 0);
  assert.match(readdirSync(join(cwd, "results"))[0], /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-[a-z0-9-]+$/);
});

test("the same seed gives the same order, and it is recorded", { skip }, (t) => {
  const directory = temporary(t);
  const order = (seed, name) => {
    const { err } = mprof(["run", "--variant", "conv/cpu_*", "--batch", "1,2", "--quick", "--passes", "timing", "--seed", seed,
      "--out", join(directory, name)]);
    assert.equal(read_run(join(directory, name)).plan.seed, Number(seed));
    return [...err.matchAll(/\] (\S+) timing/g)].map((match) => match[1]);
  };
  const first = order("5", "a");
  assert.equal(first.length, 8);
  assert.deepEqual(order("5", "b"), first);
});

test("on a terminal there is a bar that keeps to one line", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const command = `stty cols 80; ${program} ${small.join(" ")} --out ${out}`;
  const { stdout, status } = spawnSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8", env: { ...process.env, TERM: "xterm" } });
  assert.equal(status, 0, stdout);
  const drawn = stdout.split("\r").filter((line) => line.includes("█") || line.includes("░"));
  assert.ok(drawn.length > 4);
  for (const line of drawn) {
    const text = line.replace(/\x1b\[[0-9;]*\w/g, "");
    assert.ok([...text].length < 80, text);
    assert.doesNotMatch(text, /\n./);
  }
  assert.ok(drawn.some((line) => /conv\/cpu_naive@3 timing/.test(line)));
});

test("SIGINT, SIGTERM and SIGHUP end a run cleanly, and --resume does the rest", { skip }, async (t) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    const out = join(temporary(t), "run");
    const args = ["run", "--variant", "conv/cpu_naive", "--batch", "1,100", "--passes", "timing", "--seed", "2",
                  "--rounds", "2", "--sampling-time", "2", "--out", out];
    const child = start(args);
    const exit = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
    await until(() => existsSync(join(out, "run.json")) && finished(read_run(out)).length >= 1);
    child.kill(signal);
    assert.equal(await exit, 130);
    const interrupted = read_run(out);
    validate_run(out);
    assert.equal(interrupted.state, "interrupted");
    const kept = times_by_case(interrupted);
    assert.ok(kept.size >= 1);
    assert.equal(mprof(["run", "--resume", "--out", out]).code, 0);
    const complete = read_run(out);
    validate_run(out);
    assert.equal(complete.state, "complete");
    assert.equal(complete.plan.fixed_rounds, true, "whoever said how many rounds gets no more of a resume");
    for (const [id, rounds] of times_by_case(complete)) {
      assert.equal(rounds.length, 2, id);
      if (kept.has(id)) assert.deepEqual(rounds.slice(0, kept.get(id).length), kept.get(id), "what was measured stays");
    }
  }
});

test("kill -9 at any moment leaves a record that --resume completes", { skip }, async (t) => {
  for (const delay of [5, 60, 250, 700, 1500]) {
    const out = join(temporary(t), "run");
    const child = start([...small, "--passes", "timing", "--out", out]);
    const exit = new Promise((resolve) => child.on("exit", resolve));
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill("SIGKILL");
    await exit;
    if (!existsSync(join(out, "run.json"))) {
      assert.equal(mprof([...small, "--passes", "timing", "--out", out]).code, 0, "nothing was begun: it can be begun again");
    } else {
      validate_run(out);
      const resumed = mprof(["run", "--resume", "--out", out]);
      assert.equal(resumed.code, 0, resumed.err);
    }
    const run = read_run(out);
    validate_run(out);
    assert.equal(run.state, "complete");
    assert.equal(finished(run).length, 4);
  }
});

test("a resume welcomes what agrees with the plan, and names what does not", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const began = [...small.slice(0, -1), "random", "--passes", "timing", "--set", "threads=1,2", "--out", out];
  assert.equal(mprof(began).code, 0);
  for (const options of [began, ["run", "--out", out, "--problem", "batch=3,1"]]) {
    const { code, err } = mprof([...options, "--resume", "--quiet"]);
    assert.equal(code, 0, err);
  }
  const others = [[["--batch", "7"], /plan has 1,3 for batch, not 7\./], [["--problem", "batch=1"], /plan has 1,3 for batch, not 1\./],
                  [["--variant", "conv/cpu_naive"], /for variants, not conv\/cpu_naive\./], [["--hot"], /has false for hot, not true\./],
                  [["--set", "threads=4"], /has threads=1,2 for set, not threads=4\./], [["--seed", "2"], /has \d+ for seed, not 2\./],
                  [["--passes", "timing,trace"], /has timing for passes/], [["--timeout", "5"], /has 600 for timeout, not 5\./],
                  [["--data", "/nowhere"], /for data, not \/nowhere\./], [["--problem", "bacth=1"], /has none for bacth, not 1\./]];
  for (const [options, message] of others) {
    const { code, err } = mprof(["run", "--resume", "--out", out, ...options]);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
});

test("a resume refuses inputs that have changed since", { skip }, (t) => {
  const directory = temporary(t), out = join(directory, "run"), weights = join(directory, "weights");
  copyFileSync(join(source, "data", "lenet.safetensors"), weights);
  assert.equal(mprof([...small, "--passes", "timing", "--weights", weights, "--out", out]).code, 0);
  const index = JSON.parse(readFileSync(join(out, "run.json"), "utf8"));
  assert.ok(index.inputs.some((file) => file.name === "weights" && file.path === weights && /^sha256:/.test(file.checksum)));
  rmSync(join(out, "cases"), { recursive: true });  // as if nothing had been reached
  const bytes = readFileSync(weights);
  bytes[bytes.length - 1] ^= 1;
  writeFileSync(weights, bytes);
  const { code, err } = mprof(["run", "--resume", "--out", out]);
  assert.equal(code, 4, err);
  assert.match(err, /weights has changed since the run began/);
});

test("two families run side by side, each on its own problems", { skip }, (t) => {
  const out = join(temporary(t), "run");
  const result = mprof(["run", "--all", "--device", "cpu", "--quick", "--batch", "1", "--size", "32", "--passes", "timing", "--out", out]);
  assert.equal(result.code, 0, result.err);
  validate_run(out);
  const run = read_run(out);
  assert.ok(run.families.length > 1);
  for (const family of run.families) {
    const ids = run.variants.filter((v) => v.family === family.id && v.device === "cpu").map((v) => v.id);
    const cases = run.cases.filter((c) => ids.includes(c.variant));
    assert.ok(cases.length >= ids.length, family.id);
    for (const c of cases) {
      assert.deepEqual(Object.keys(c.problem), family.axes.map((axis) => axis.name));
      assert.equal(timing(c).status, "ok", timing(c).reason);
    }
  }
});

test("a resume refuses a record of another build", { skip }, (t) => {
  const out = join(temporary(t), "run");
  assert.equal(mprof([...small, "--passes", "timing", "--out", out]).code, 0);
  const file = join(out, "run.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/"revision": "[^"]+"/, '"revision": "0123456789ab"'));
  const result = mprof(["run", "--resume", "--out", out]);
  assert.equal(result.code, 4);
  assert.match(result.err, /was made by mprof .* \(0123456789ab\)/);
});

test("a full disk: a message, exit code 5, and the last whole record", { skip: skip || process.getuid() !== 0 && "needs root to mount a tmpfs" }, (t) => {
  const mount = join(temporary(t), "disk");
  mkdirSync(mount);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=32k", "tmpfs", mount]);
  if (mounted.status !== 0) return t.skip(`mount: ${mounted.stderr}`);
  try {
    writeFileSync(join(mount, "ballast"), Buffer.alloc(12 * 1024));
    const result = mprof([...small, "--out", join(mount, "run")]);
    assert.equal(result.code, 5, result.err);
    assert.match(result.err, /No space left on device/);
    assert.match(result.err, /unchanged/);
    if (existsSync(join(mount, "run", "run.json"))) validate_run(join(mount, "run"));
    if (existsSync(join(mount, "run"))) assert.doesNotMatch(readdirSync(join(mount, "run")).join(" "), /\.mprof-/);
  } finally {
    spawnSync("umount", [mount]);
  }
});

test("a time limit costs the case, not the run", { skip }, (t) => {
  const directory = temporary(t);
  const args = ["run", "--variant", "conv/cpu_naive", "--quick", "--passes", "timing"];
  // A limit for this machine: several times what one image takes, which is far from what 10000 of them take.
  assert.equal(mprof([...args, "--batch", "1", "--out", join(directory, "small")]).code, 0);
  const limit = Math.ceil(4 * timing(read_run(join(directory, "small")).cases[0]).seconds);
  const out = join(directory, "run");
  const result = mprof([...args, "--batch", "1,10000", "--timeout", `${limit}`, "--out", out]);
  assert.equal(result.code, 3, result.err);
  const run = read_run(out);
  validate_run(out);
  assert.equal(timing(run.cases[0]).status, "ok");
  assert.equal(timing(run.cases[1]).status, "timeout");
  assert.match(result.err, new RegExp(`cpu_naive@10000 timing: timeout: took longer than ${limit} s`));
});

const has_gpu = existsSync("/proc/driver/nvidia/version");

test("a run of which no case can be measured here ends with exit code 5, and names no next step", { skip: has_gpu ? "a GPU is here" : false }, (t) => {
  const out = join(temporary(t), "run"), result = mprof(["run", "--variant", "conv/baseline", "--batch", "1", "--quick", "--out", out]);
  assert.equal(result.code, 5, result.err);
  assert.match(result.out, /Nothing was measured: no case can run here\. Result: /);
  assert.doesNotMatch(result.out, /Next/);
});

test("before long work a line says how many cases, how long at most, and what --quick takes; skipped passes are one line", (t) => {
  const out = join(temporary(t), "run"), one = ["run", "--variant", "elementwise/cpu_naive", "--size", "32", "--iterations", "1"];
  const long = mprof([...one, "--rounds", "2", "--sampling-time", "25", "--out", out]);
  assert.equal(long.code, 0, long.err);
  assert.match(long.err, /^1 case in 2 rounds: up to 25 s of sampling\. With --quick: 1 case, up to \d+ s\.$/m);
  assert.equal(long.err.split("\n").filter((line) => /skipped/i.test(line)).length, 1, long.err);
  assert.match(long.err, /^Skipped passes: .*\bsource, trace \(the cpu device has no collector for this pass\)/m, "each reason once");
  assert.match(long.out, /^Took [\d.]+ m?s, [\d.]+ m?s of it measuring and verifying\.$/m);
  const brief = mprof([...one, "--quick", "--out", `${out}-quick`]);
  assert.doesNotMatch(brief.err, /up to/);
});

test("the table of a run says how much faster each variant is than its baseline", (t) => {
  const out = join(temporary(t), "run");
  const { code, out: text, err } = mprof(["run", "--variant", "elementwise/cpu_*", "--size", "256", "--iterations", "1", "--quick", "--passes", "timing", "--out", out]);
  assert.equal(code, 0, err);
  assert.match(text, /Total Time.*  Speed-up( \(total\))?$/m);
  assert.match(text, /^elementwise\/cpu_thre\S* .*[\d.]+× .*(faster|slower|same|inconclusive)$/m);
});
