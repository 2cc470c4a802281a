// SPDX-License-Identifier: MIT
// Programs of a user's, run as they are.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, read_run, start, temporary, validate_run } from "./support.mjs";

/** Runs `sh -c SCRIPT` as the program; { code, out, err, run, timing } */
function run_script(t, script, options = [], spawned = {}) {
  const out = join(temporary(t), "run");
  const result = mprof(["run", "--out", out, "--passes", "timing", ...options, "--", "sh", "-c", script], spawned);
  if (!existsSync(out)) return result;
  validate_run(out);
  const run = read_run(out);
  return { ...result, directory: out, run, timing: run.cases[0].passes[0] };
}

/** Ended, whether or not somebody has asked how. */
const is_gone = (pid) => !existsSync(`/proc/${pid}`) || /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

const row = (timing, metric) => timing.measurements.find((m) => m.metric === metric);

test("a program is timed in rounds, from outside, and the end of its output is kept", (t) => {
  const { code, err, run, timing } = run_script(t, "echo to stdout; echo to stderr >&2", ["--rounds", "3"]);
  assert.equal(code, 0, err);
  assert.equal(run.cases[0].id, "program/sh");
  assert.equal(run.variants[0].subject, "program");
  assert.deepEqual(run.variants[0].command, ["sh", "-c", "echo to stdout; echo to stderr >&2"]);
  assert.equal(timing.rounds.length, 3);
  assert.deepEqual(timing.outcome, { exit_code: 0, output: "to stdout\nto stderr" });
  for (const metric of ["total_time", "user_time", "system_time"]) assert.equal(row(timing, metric).samples.length, 3);
});

test("a short program is run ten times at least, and no further round begins after three seconds", (t) => {
  const short = run_script(t, "true");
  assert.ok(short.timing.rounds.length >= 10 && short.timing.rounds.length <= 100, `${short.timing.rounds.length} rounds`);
  assert.equal(short.run.plan.rounds, short.timing.rounds.length);
  assert.match(short.out, /Program +Median.*Mean.*Deviation.*Min.*Max.*Runs/);
  const samples = row(short.timing, "total_time").samples;
  assert.match(short.out, new RegExp(`\\b${samples.length} +ok`));
  const long = run_script(t, "sleep 0.8");
  assert.equal(long.timing.rounds.length, 5);
});

test("a first execution that takes several times as long as the others is told", (t) => {
  const cache = join(temporary(t), "warm");
  const { out, directory, timing } = run_script(t, `if [ ! -e ${cache} ]; then sleep 4; : > ${cache}; fi; sleep 0.2`, ["--rounds", "5"]);
  const samples = row(timing, "total_time").samples;
  if (samples[0] < 3 * Math.max(...samples.slice(1))) return; // the machine was busy for seconds
  assert.match(out, /The first execution of program\/sh took \d+(\.\d+)? s, the others \d+(\.\d+)? m?s \(median\)\./);
  assert.equal(mprof(["report", directory, "--format", "md"]).code, 0);
  assert.match(readFileSync(join(directory, "brief.md"), "utf8") + readFileSync(join(directory, "milestone.md"), "utf8"), /The first execution of program\/sh took/);
});

test("a program that is timed beside others is marked with what they did", (t) => {
  const busy = Array.from({ length: 2 + Math.ceil(availableParallelism() / 5) }, () => spawn("sh", ["-c", "while :; do :; done"]));
  t.after(() => busy.forEach((one) => one.kill("SIGKILL")));
  const { out, timing } = run_script(t, "sleep 0.6", ["--rounds", "2"]);
  assert.match(timing.sampling.host_disturbance, /^other processes used the CPUs: /);
  assert.match(out, /\[a\] disturbed: other processes used the CPUs/);
});

test("of a long output the end is kept, in whole lines", (t) => {
  const { timing } = run_script(t, "seq 100000", ["--rounds", "1"]);
  assert.ok(timing.outcome.output.length <= 8192);
  assert.match(timing.outcome.output, /^9\d{4}\n(.|\n)*\n100000$/);
});

test("memory and CPU time are those of the program and its children", (t) => {
  const child = "python3 -c 'import hashlib; b = b\"x\" * 300_000_000; hashlib.sha256(b)'";
  const { timing } = run_script(t, `${child} & wait`, ["--rounds", "1"]);
  assert.ok(row(timing, "peak_memory").samples[0] > 300e6);
  assert.ok(row(timing, "user_time").samples[0] > 0);
  const small = run_script(t, "true", ["--rounds", "1"]);
  assert.match(row(small.timing, "peak_memory").absent, /not above the peak of mprof itself/);
});

test("a program that fails is not run again; its last lines are shown and kept, and reports have the last", (t) => {
  const { code, err, directory, timing } = run_script(t, "echo before; echo 'no such layer' >&2; exit 7", ["--rounds", "3"]);
  assert.equal(code, 3);
  assert.match(err, /The last lines of sh in the timing pass:\nbefore\nno such layer/);
  assert.equal(timing.status, "failed");
  assert.equal(timing.reason, "exit code 7");
  assert.equal(timing.outcome.exit_code, 7);
  assert.equal(timing.rounds, undefined);
  assert.equal(mprof(["report", directory, "--format", "md"]).code, 0);
  assert.match(readFileSync(join(directory, "brief.md"), "utf8"), /program\/sh failed in this run: exit code 7\. Its last line: “no such layer”\./);
});

test("a program that is replaced between two rounds is not measured as one", (t) => {
  const folder = temporary(t), program = join(folder, "program"), out = join(folder, "run");
  // Each time that it runs it is rebuilt, as by somebody in another terminal.
  writeFileSync(program, `#!/bin/sh\ncp ${program} ${program}.new && echo '# rebuilt' >> ${program}.new && mv ${program}.new ${program}\n`, { mode: 0o755 });
  const { code, err } = mprof(["run", "--out", out, "--rounds", "3", "--", program]);
  assert.equal(code, 3, err);
  assert.match(err, /program in the timing pass: round 2 and those after it were not made: .*program was replaced/);
  validate_run(out);
  const [timing, ...others] = read_run(out).cases[0].passes;
  assert.equal(timing.status, "suspect");
  assert.equal(row(timing, "total_time").samples.length, 1, "of one program");
  for (const pass of others) assert.equal(pass.status, "skipped");
});

test("a daemon of a program's ends with it", (t) => {
  const pid = join(temporary(t), "pid");
  const { code, err } = run_script(t, `setsid sh -c 'echo $$ > ${pid}; exec sleep 600' > /dev/null 2>&1 & until [ -s ${pid} ]; do sleep 0.05; done`, ["--rounds", "1"]);
  assert.equal(code, 0, err);
  assert.ok(is_gone(readFileSync(pid, "utf8").trim()));
});

test("a signal is told from an exit code", (t) => {
  const { code, timing } = run_script(t, "echo begun; kill -SEGV $$");
  assert.equal(code, 3);
  assert.equal(timing.status, "crashed");
  assert.match(timing.reason, /signal 11/);
  assert.deepEqual(timing.outcome, { signal: 11, output: "begun" });
});

test("at the time limit the program is ended with what it started", (t) => {
  const directory = temporary(t), file = join(directory, "child");
  const { code, timing } = run_script(t, `echo begun; sleep 100 & echo $! > ${file}; wait`, ["--timeout", "1"]);
  assert.equal(code, 3);
  assert.equal(timing.status, "timeout");
  assert.match(timing.reason, /longer than 1 s \(--timeout\)/);
  assert.equal(timing.outcome.output, "begun");
  assert.ok(is_gone(readFileSync(file, "utf8").trim()));
});

test("what a program leaves running does not keep mprof waiting", (t) => {
  const { code, err, timing } = run_script(t, "sleep 1000 & echo done", ["--rounds", "1"]);
  assert.equal(code, 0, err);
  assert.ok(timing.seconds < 500);
  assert.equal(timing.outcome.output, "done");
});

test("it has the environment that mprof was given, and in each round its standard input from the beginning", (t) => {
  const directory = temporary(t), input = join(directory, "input"), out = join(directory, "run");
  writeFileSync(input, "from the file\n");
  const script = 'read line; echo "$line, ${OURS-none}, ${GLIBC_TUNABLES-none}"';
  const file = openSync(input, "r");
  const { code, err } = mprof(["run", "--rounds", "2", "--passes", "timing", "--out", out, "--", "sh", "-c", script], {
    env: { OURS: "set", GLIBC_TUNABLES: undefined }, stdio: [file, "pipe", "pipe"],
  });
  closeSync(file);
  assert.equal(code, 0, err);
  assert.equal(read_run(out).cases[0].passes[0].outcome.output, "from the file, set, none");
});

test("a pipe on standard input is kept for each execution, up to a limit, and a silent one is told", (t) => {
  const run = (input, script, more = []) => {
    const out = join(temporary(t), "run");
    const result = mprof(["run", "--rounds", "3", "--passes", "timing", "--out", out, ...more, "--", "sh", "-c", script], { input });
    return { ...result, timing: existsSync(out) ? read_run(out).cases[0].passes[0] : undefined };
  };
  const kept = run("1\n2\n3\n", 'n=0; while read x; do n=$((n + x)); done; echo $n; [ $n = 6 ]');
  assert.equal(kept.code, 0, kept.err);
  assert.equal(kept.timing.rounds.length, 3);
  assert.equal(kept.timing.outcome.output, "6");
  const large = run(Buffer.alloc(3 << 20, 120), "wc -c");
  assert.equal(large.timing.outcome.output.trim(), String(3 << 20), "more than a pipe holds");
  const directory = temporary(t), out = join(directory, "run");
  const shell = (line) => spawnSync("sh", ["-c", line], { encoding: "utf8", env: { ...process.env, MPROF: program, OUT: out } });
  const many = shell('head -c 300000000 /dev/zero | "$MPROF" run --rounds 1 --passes timing --out "$OUT" -- true');
  assert.equal(many.status, 2, many.stderr);
  assert.match(many.stderr, /it gives more than 256 MiB\. Write it to a file/);
  assert.ok(!existsSync(out));
  const silent = shell('sleep 30 | (exec "$MPROF" run --rounds 1 --passes timing --out "$OUT" -- cat; echo $? >&2) & wait $!');
  assert.match(silent.stderr, /a pipe that gives nothing: programs find it empty/);
});

/** `mprof run` with these words ends with exit code 2 and such an error, and writes nothing. */
function refused(t, words, why) {
  const out = join(temporary(t), "none");
  const { code, err } = mprof(["run", "--out", out, ...words]);
  assert.equal(code, 2, err);
  assert.match(err, why);
  assert.ok(!existsSync(out));
}

test("what is no program is refused with exit code 2, and nothing is written", (t) => {
  const directory = temporary(t), text = join(directory, "text");
  writeFileSync(text, "not a program");
  refused(t, ["--", "./nowhere"], /nowhere: there is no such file/);
  refused(t, ["--", "no-such-program"], /no folder of PATH/);
  refused(t, ["--", directory], /a folder/);
  refused(t, ["--", text], /chmod \+x/);
  refused(t, ["--"], /a program is missing after --/);
  refused(t, ["--all", "--", "true"], /--all is for variants/);
  refused(t, ["--name", "a/b", "--", "true"], /no name of a program/);
  refused(t, ["--name", "x", "--all"], /--name is for a program/);
});

test("which kernels are counted is in the record; what says so wrongly is refused by name", (t) => {
  const out = join(temporary(t), "run");
  const chosen = ["--kernels", "scale|tile<\\d+>", "--launch-skip", "3", "--max-kernels", "7"];
  const { code, err } = mprof(["run", "--passes", "timing,counters", "--rounds", "1", "--out", out, ...chosen, "--", "true"]);
  assert.equal(code, 0, err);
  validate_run(out);
  const { plan, cases } = read_run(out);
  assert.deepEqual([plan.kernels, plan.launch_skip, plan.max_kernels], ["scale|tile<\\d+>", 3, 7]);
  assert.deepEqual(cases[0].passes.map((pass) => pass.pass), ["timing", "counters"]);
  refused(t, ["--kernels", "gemm(", "--", "true"], /--kernels 'gemm\(' is no regular expression.*backslash/);
  refused(t, ["--kernels", "*", "--", "true"], /--kernels '\*' is no regular expression/);
  refused(t, ["--kernels", "", "--", "true"], /--kernels/);
  for (const option of ["--launch-skip", "--max-kernels"]) {
    for (const wrong of ["-1", "0", "1.5", "many", "99999999999999999999"])
      refused(t, [`${option}=${wrong}`, "--", "true"], new RegExp(`${option} ${wrong}: give a whole number from 1 on`));
  }
  for (const [option, value] of [["--kernels", "gemm"], ["--launch-skip", "1"], ["--max-kernels", "1"]]) {
    refused(t, [option, value, "--all"], new RegExp(`${option} is for a program, which stands after --`));
    refused(t, [option, value, "--passes", "timing", "--", "true"], new RegExp(`${option} is for the counters pass`));
  }
});

test("a window is in the record; a wrong one is refused with what is right", (t) => {
  const out = join(temporary(t), "run");
  const { code, err } = mprof(["run", "--rounds", "1", "--out", out, "--window", "range:forward[3..5]", "--", "true"]);
  assert.equal(code, 0, err);
  validate_run(out);
  assert.equal(read_run(out).plan.window, "range:forward[3..5]");
  for (const wrong of ["", "10..20", "steps:1..2", "profiler"])
    refused(t, ["--window", wrong, "--", "true"], /--window .*: give step:10\.\.20, range:NAME, .*profiler-api or seconds/);
  refused(t, ["--window", "step:5..3", "--", "true"], /--window step:5\.\.3: .*the smaller one first/);
  refused(t, ["--window", "range:x[0]", "--", "true"], /whole numbers from 1 on/);
  refused(t, ["--window", "seconds:3..1", "--", "true"], /seconds:1\.5\.\.3/);
  refused(t, ["--window", "step:1..2", "--passes", "trace", "--", "true"], /the timing pass finds the steps/);
  refused(t, ["--window", "profiler-api", "--passes", "timing", "--", "true"], /which --passes leaves out/);
  refused(t, ["--window", "profiler-api", "--all"], /--window is for a program, which stands after --/);
});

test("a run without call stacks says so in its record", (t) => {
  const out = join(temporary(t), "run");
  assert.equal(mprof(["run", "--rounds", "1", "--out", out, "--no-stacks", "--", "true"]).code, 0);
  validate_run(out);
  assert.equal(read_run(out).plan.without_stacks, true);
  assert.equal(mprof(["run", "--rounds", "1", "--overwrite", "--out", out, "--", "true"]).code, 0);
  assert.equal(read_run(out).plan.without_stacks, undefined);
  refused(t, ["--no-stacks", "--all"], /--no-stacks is for a program, which stands after --/);
});

test("an interval of samples is in the record; a wrong one is refused with what is right", (t) => {
  const out = join(temporary(t), "run");
  for (const [option, seconds] of [["--sample", 1e-4], ["--sample=50us", 5e-5], ["--sample=1ms", 1e-3]]) {
    const { code, err } = mprof(["run", "--rounds", "1", "--overwrite", "--out", out, option, "--", "true"]);
    assert.equal(code, 0, err);
    validate_run(out);
    assert.ok(Math.abs(read_run(out).plan.sample_interval / seconds - 1) < 1e-9);
  }
  assert.equal(mprof(["run", "--rounds", "1", "--overwrite", "--out", out, "--", "true"]).code, 0);
  assert.equal(read_run(out).plan.sample_interval, undefined);
  for (const wrong of ["10us", "49.9us", "0.01ms"])
    refused(t, [`--sample=${wrong}`, "--", "true"], /--sample=.*: the shortest interval is 50us/);
  for (const wrong of ["", "100", "fast", "-1ms", "0us", "2000ms", "nanms", "1s"])
    refused(t, [`--sample=${wrong}`, "--", "true"], /--sample/);
  refused(t, ["--sample", "--passes", "timing", "--", "true"], /--sample goes with the trace pass, which --passes leaves out/);
  refused(t, ["--sample", "--all"], /--sample is for a program, which stands after --/);
});

test("without a GPU the other passes say why they are not there, and a report is made", (t) => {
  if (existsSync("/dev/nvidiactl")) return t.skip("there is a GPU");
  const out = join(temporary(t), "run");
  mkdirSync(out);
  const { code, err } = mprof(["run", "--rounds", "2", "--passes", "timing,trace,counters,source", "--out", out, "--", "true"]);
  assert.equal(code, 0, err);
  const [timing, ...others] = read_run(out).cases[0].passes;
  assert.equal(timing.status, "ok");
  assert.deepEqual(others.map((pass) => pass.pass), ["trace", "counters", "source"]);
  for (const pass of others) {
    assert.equal(pass.status, "skipped");
    assert.match(pass.reason, /driver|without CUDA/);
  }
  assert.equal(mprof(["report", out]).code, 0);
  const report = readFileSync(join(out, "milestone.md"), "utf8");
  assert.match(report, /no case was traced: /);
  assert.match(report, /mprof knows its exit code alone/);
  assert.match(report, /^# true on /m);
  assert.doesNotMatch(report, /poisoned|--set NAME|Modelled|warp/i);
  assert.doesNotMatch(report, /^#+ .*\n+#{4} /m, "a heading without a word under it");
});

test("of a program that failed the report says so, and calls nothing best", (t) => {
  const { directory } = run_script(t, "exit 7", ["--rounds", "1"]);
  assert.equal(mprof(["report", directory]).code, 0);
  const report = readFileSync(join(directory, "milestone.md"), "utf8");
  assert.match(report, /\*\*Its time:\*\* It did not run to its end as it should, so no time counts: [^.]/);
  assert.doesNotMatch(report, /best variant|Verification/);
  assert.match(report, /exit code 7/);
  assert.match(report, /none ran to its end/);
});

test("a program's run is not resumed", (t) => {
  const { directory } = run_script(t, "true", ["--rounds", "1"]);
  const { code, err } = mprof(["run", "--resume", "--out", directory]);
  assert.equal(code, 2);
  assert.match(err, /is the run of a program, which is made again/);
});

test("two runs of a program are compared as any two", (t) => {
  const directory = temporary(t);
  const runs = ["a", "b"].map((name) => join(directory, name));
  for (const out of runs) assert.equal(mprof(["run", "--rounds", "3", "--passes", "timing", "--out", out, "--", "sleep", "0.05"]).code, 0);
  const { code, out, err } = mprof(["compare", ...runs]);
  assert.ok(code === 0 || code === 1, err);  // how steady this machine is decides
  assert.match(out, /program\/sleep/);
});

test("an interruption ends the program and keeps the record", async (t) => {
  const directory = temporary(t), out = join(directory, "run"), begun = join(directory, "begun");
  const child = start(["run", "--out", out, "--passes", "timing", "--", "sh", "-c", `echo $$ > ${begun}; exec sleep 1000`]);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  while (!existsSync(begun) || !readFileSync(begun, "utf8").trim()) await new Promise((done) => setTimeout(done, 50));
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  assert.equal(read_run(out).state, "interrupted");
  assert.ok(is_gone(readFileSync(begun, "utf8").trim()));
});

const ranges_program = process.env.RANGES_PROGRAM;  // where mprof was built with CUDA, whose toolkit has NVTX
const no_ranges = ranges_program ? false : "mprof was built without CUDA";

/** The group times of one round, in seconds by op. */
function range_times(t, args, options = []) {
  const out = join(temporary(t), "run");
  const { code, err } = mprof(["run", "--passes", "timing", "--rounds", "2", "--out", out, ...options, "--", ranges_program, ...args]);
  assert.equal(code, 0, err);
  validate_run(out);
  const timing = read_run(out).cases[0].passes[0];
  return Object.fromEntries(timing.measurements.filter((m) => m.metric === "group_time").map((m) => [m.op, m.absent ?? m.samples]));
}

test("NVTX ranges are ops: the outermost of the default domain, timed in each round without CUPTI", { skip: no_ranges }, (t) => {
  const times = range_times(t, []);
  assert.deepEqual(Object.keys(times).sort(), ["forward", "r\u00fcckw\u00e4rts", "started"]);
  assert.equal(times.forward.length, 2);
  // Six times at least 5 ms, six times at least 10 ms, once 2 ms: sleep is never shorter.
  assert.ok(times.forward[0] >= 0.030 && times["r\u00fcckw\u00e4rts"][0] >= 0.060 && times.started[0] >= 0.002);
  assert.ok(times.started[0] < times.forward[0]);
});

test("--ops says which ranges are ops", { skip: no_ranges }, (t) => {
  assert.deepEqual(Object.keys(range_times(t, [], ["--ops", "inner"])), ["inner"]);
  assert.deepEqual(Object.keys(range_times(t, [], ["--ops", "of a*"])), ["of a library"]);
  assert.deepEqual(range_times(t, [], ["--ops", "none of them"]), {});
});

test("ranges of a child process count too", { skip: no_ranges }, (t) => {
  assert.ok(range_times(t, ["child"]).forward[0] >= 0.060);
});

test("where a process ends by _exit its ranges' times are absent, with the reason", { skip: no_ranges }, (t) => {
  for (const time of Object.values(range_times(t, ["_exit"]))) assert.match(time, /without running its exit handlers/);
});

test("a report of a program with ranges has their times", { skip: no_ranges }, (t) => {
  const out = join(temporary(t), "run");
  assert.equal(mprof(["run", "--rounds", "2", "--out", out, "--", ranges_program]).code, 0);
  assert.equal(mprof(["report", out]).code, 0);
  assert.match(readFileSync(join(out, "evidence.md"), "utf8"), /NVTX range forward/);
  assert.match(readFileSync(join(out, "brief.md"), "utf8"), /\| forward +\| as an NVTX range +\| +\d/);
});
