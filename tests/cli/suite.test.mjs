// SPDX-License-Identifier: MIT
// Suites: several programs of a user's, run side by side as a file describes them.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, start, temporary, until, validate_run } from "./support.mjs";

/** Prints the course's lines: python3 course.py BATCH FACTOR [ACCURACY]. */
const course_program = `
import sys
batch, factor = int(sys.argv[1]), float(sys.argv[2])
print("Test batch size:", batch)
for layer in (1, 2):
    print("Conv-GPU==")
    print("Layer Time: %.3f ms" % (batch * factor * layer * 0.02))
    print("Op Time: %.4f ms" % (batch * factor * layer * 0.01))
print()
print("Test Accuracy: " + (sys.argv[3] if len(sys.argv) > 3 else "0.8714"))
`;

const course = `
name = "m3"
title = "Milestone 3"
preset = "course"
[axes.batch]
values = [100, 1000]
quick = [100]
title = "Batch Size"
plural = "batches"
[verify]
number = "accuracy"
value = 0.8714
tolerance = 0.001
[[programs]]
name = "baseline"
title = "Basic kernel"
command = ["python3", "course.py", "{batch}", "1"]
[[programs]]
name = "streams"
baseline = "baseline"
idea = "Copies go on while kernels run."
command = ["python3", "course.py", "{batch}", "0.5"]
[[programs.expect]]
metric = "op_time"
direction = "decreases"
factor = 1.5
because = "there is half as much to do"
`;

/** A folder with these files in it, mprof.toml among them. */
function folder_of(t, files) {
  const folder = temporary(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** Runs the suite in a folder; { code, out, err, directory, run, timing(id) }. */
function run_suite(folder, options = []) {
  const usual = { "--passes": "timing", "--rounds": "2", "--out": "run" };
  const left = Object.entries(usual).filter(([option]) => !options.includes(option)).flat();
  const directory = join(folder, options.includes("--out") ? options[options.indexOf("--out") + 1] : "run");
  const result = mprof(["run", "--suite", "mprof.toml", "--all", ...left, ...options], { cwd: folder });
  if (!existsSync(directory)) return result;
  validate_run(directory);
  const run = read_run(directory);
  return { ...result, directory, run, timing: (id) => run.cases.find((c) => c.id === id).passes[0] };
}

/** A suite of one program that is this shell script, with these lines before it and in it. */
const script_suite = (script, before = "", within = "") =>
  `name = "mine"\n${before}\n[[programs]]\nname = "script"\ncommand = ["sh", "-c", '''${script}''']\n${within}\n`;

const row = (timing, metric, op = undefined) => timing.measurements.find((m) => m.metric === metric && (op === undefined || m.op === op));

test("programs of a suite are variants, its axes problems, and what they print times and qualities", (t) => {
  const { code, out, err, run, timing } = run_suite(folder_of(t, { "course.py": course_program, "mprof.toml": course }));
  assert.equal(code, 0, err);
  assert.deepEqual(run.cases.map((c) => c.id), ["m3/baseline@100", "m3/baseline@1000", "m3/streams@100", "m3/streams@1000"]);
  const first = timing("m3/baseline@1000");
  assert.equal(first.rounds.length, 2);
  assert.deepEqual(row(first, "op_time", "layer2").samples, [0.02, 0.02]);
  assert.deepEqual(row(first, "group_time", "layer1").samples, [0.02, 0.02]);
  assert.deepEqual(row(first, "accuracy").samples, [0.8714, 0.8714]);
  assert.equal(row(first, "op_time", "layer1").source, "printed");
  assert.equal(row(first, "total_time").source, "measured");
  assert.match(first.outcome.verified_by, /^by the accuracy that it prints/);
  assert.match(out, /^m3\/streams@1000 +5\.000 .*10\.00 .*0\.8714 .*[\d.]+× .*(faster|slower|same|inconclusive)$/m);
});

test("a report, a comparison, statistics and an export are made of it as of any run", (t) => {
  const folder = folder_of(t, { "course.py": course_program, "mprof.toml": course });
  const { directory } = run_suite(folder);
  assert.equal(mprof(["report", directory]).code, 0);
  const report = readFileSync(join(directory, "milestone.md"), "utf8").replaceAll("\u00a0", " ").replaceAll("\u202f", " ");
  assert.match(report, /layer2: m3\/streams (is fastest|has the shortest median) at every batch, and at batch 1000 it takes 10\.00 ms, 2\.00× as fast/);
  assert.match(report, /Expected, \*\*(met|not told)\*\*: Op time/);
  assert.match(report, /All 4 verifications that the suite asks for passed\./);
  assert.match(report, /Op Time, Layer Time and Accuracy of m3 are what its programs print of themselves/);
  assert.match(report, /Op 1 is layer1 \(timed by the program itself\)/);
  assert.doesNotMatch(report, /No output/);
  const table = mprof(["export", directory, "--format", "csv", "--out", join(folder, "csv")]);
  assert.equal(table.code, 0, table.err);
  const written = readdirSync(join(folder, "csv")).map((name) => readFileSync(join(folder, "csv", name), "utf8")).join("\n");
  assert.match(written, /printed/);
  assert.notEqual(mprof(["stats", directory]).code, 70);
  const again = run_suite(folder, ["--out", "other"]);
  assert.equal(again.code, 0, again.err);
  const compared = mprof(["compare", directory, join(folder, "other")]);
  assert.ok(compared.code <= 1, compared.err);
  assert.match(compared.out, /m3\/streams@1000/);
});

test("programs, values of axes and quick problems are chosen as those of variants", (t) => {
  const folder = folder_of(t, { "course.py": course_program, "mprof.toml": course });
  const ids = (...options) => {
    const { code, err, run } = run_suite(folder, ["--overwrite", ...options]);
    assert.equal(code, 0, err);
    return run.cases.map((c) => c.id);
  };
  mkdirSync(join(folder, "run"));
  assert.deepEqual(ids("--quick"), ["m3/baseline@100", "m3/streams@100"]);
  assert.deepEqual(ids("--problem", "batch=7"), ["m3/baseline@7", "m3/streams@7"]);
  assert.deepEqual(ids("--batch", "7"), ["m3/baseline@7", "m3/streams@7"]);
  const only = mprof(["run", "--suite", "mprof.toml", "--variant", "str*", "--quick", "--passes", "timing", "--out", "only"], { cwd: folder });
  assert.equal(only.code, 0, only.err);
  assert.deepEqual(read_run(join(folder, "only")).cases.map((c) => c.id), ["m3/streams@100"]);
});

test("each program of a suite has the plan's rounds, however short it is: five, and one with --quick", (t) => {
  const rounds = (options) => {
    const folder = folder_of(t, { "mprof.toml": script_suite("true") });
    const { code, err } = mprof(["run", "--suite", "mprof.toml", "--all", "--passes", "timing", "--out", "run", ...options], { cwd: folder });
    assert.equal(code, 0, err);
    return read_run(join(folder, "run")).cases[0].passes[0].rounds?.length ?? 1;
  };
  assert.equal(rounds(["--quick"]), 1);
  assert.equal(rounds([]), 5);
});

test("rounds are interleaved: no program is run twice in a row where there are others", (t) => {
  const suite = script_suite("echo a >> order", "", '[[programs]]\nname = "other"\ncommand = ["sh", "-c", "echo b >> order"]');
  const folder = folder_of(t, { "mprof.toml": suite });
  assert.equal(run_suite(folder, ["--rounds", "4"]).code, 0);
  const order = readFileSync(join(folder, "order"), "utf8").split("\n").slice(0, 8);
  for (let round = 0; round < 4; ++round) assert.deepEqual(order.slice(2 * round, 2 * round + 2).sort(), ["a", "b"]);
});

test("a program begins in its folder with its variables, and is built before", (t) => {
  const folder = folder_of(t, {
    "mprof.toml": `name = "mine"\nbuild = ["sh", "-c", "echo built >> log; mkdir -p below/5; printf '#!/bin/sh\\\\necho $N, $0; pwd' > below/5/made; chmod +x below/5/made"]
[axes.n]\nvalues = [5]\nplural = "ns"
[[programs]]\nname = "made"\nfolder = "below/{n}"\ncommand = ["./made"]\nenvironment = { N = "n is {n}" }
[[programs]]\nname = "again"\nfolder = "below/{n}"\ncommand = ["./made"]\n`,
  });
  const { code, err, timing } = run_suite(folder, ["--rounds", "1"]);
  assert.equal(code, 0, err);
  assert.match(timing("mine/made@5").outcome.output, /^n is 5, .*\/below\/5\/made\n.*\/below\/5$/);
  assert.equal(readFileSync(join(folder, "log"), "utf8"), "built\n");
});

test("a program that fails, or takes too long, is told from the others", (t) => {
  const suite = script_suite("echo no such thing >&2; exit 7", "timeout = 100",
    '[[programs]]\nname = "slow"\ntimeout = 0.3\ncommand = ["sleep", "100"]\n[[programs]]\nname = "right"\ncommand = ["true"]');
  const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": suite }));
  assert.equal(code, 3);
  assert.match(err, /The last lines of mine\/script in the timing pass:\nno such thing/);
  assert.deepEqual([timing("mine/script").status, timing("mine/script").reason], ["failed", "exit code 7"]);
  assert.equal(timing("mine/slow").status, "timeout");
  assert.match(timing("mine/slow").reason, /longer than 0\.3 s/);
  assert.equal(timing("mine/right").rounds.length, 2);
});

test("a number that is not printed, or too often, is absent with the reason", (t) => {
  const numbers = 'ops = ["a", "b"]\n[numbers]\nop_time = "op {ms}"\ngroup_time = "all {ms}"\nerror = "error {}"';
  const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": script_suite("echo op 1; echo op 2; echo op 3; echo all 5", numbers) }));
  assert.equal(code, 0, err);
  const timed = timing("mine/script");
  assert.match(row(timed, "op_time", "a").absent, /printed 3 lines with "op \{ms\}", and the suite names 2 ops/);
  assert.deepEqual(row(timed, "group_time", "a").samples, [0.005, 0.005]);
  assert.match(row(timed, "group_time", "b").absent, /printed 1 lines/);
  assert.match(row(timed, "error").absent, /no line with "error \{\}"/);
});

test("what cannot be a time is absent with what was printed, and gives its op no other op's", (t) => {
  const numbers = 'ops = ["a", "b"]\n[numbers]\nop_time = "op: {ms} ms"';
  const times = (script) => {
    const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script, numbers) }), ["--rounds", "1", "--passes", "timing"]);
    assert.equal(code, 0, err);
    return ["a", "b"].map((op) => row(timing("mine/script"), "op_time", op));
  };
  for (const [printed, reason] of [
    ["nan ms", "the program printed nan ms, which is no number"],
    ["-inf ms", "the program printed -inf ms, which is no number"],
    ["0 ms", "the program printed 0 ms: a time is more than 0"],
    ["-5 ms", "the program printed -5 ms: a time is more than 0"],
    ["1e-06 ms", "the program printed 1e-06 ms: no clock can time so little"],
    ["nan s", "the program printed nan s, which is no number"],
    ["1,234 ms", "the program printed 1,234 ms, whose separators can be read in two ways"],
    ["1,23,4 ms", 'the program printed "1,23,4 ms" where "op: {ms} ms" has its number'],
    ["0x1.34ap+10 ms", 'the program printed "0x1.34ap+10 ms" where "op: {ms} ms" has its number'],
    ["1.2 kB", 'the program printed "1.2 kB" where "op: {ms} ms" has its number'],
  ]) {
    const [a, b] = times(`echo "op: ${printed}"; echo "op: 2 ms"`);
    assert.equal(a.absent, reason);
    assert.deepEqual(b.samples, [0.002], printed);
  }
  const [a, b] = times("printf '\\033[32mop:\\033[0m \\033[1m3\\033[0m ms\\n'; echo op: 2 ms");
  assert.deepEqual([a.samples, b.samples], [[0.003], [0.002]], "colours are no part of a line");
});

test("lines are read wherever an output is cut, however long it is, and the last number holds", (t) => {
  const script = "seq 1 200000; printf 'loss '; sleep 0.1; echo 3; head -c 1000000 /dev/zero | tr '\\\\0' x; echo; printf 'loss 2\\rloss 1.5'";
  const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script.replaceAll("\\\\", "\\"), '[numbers]\nloss = "loss {}"') }), ["--rounds", "1"]);
  assert.equal(code, 0, err);
  assert.deepEqual(row(timing("mine/script"), "loss").samples, [1.5]);
});

test("ops without names are told by what stands before their numbers; lines that are alike are samples of one", (t) => {
  const ops = (script, more = "") => {
    const { timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script, `${more}\n[numbers]\nop_time = "op {ms}"`) }), ["--rounds", "2", "--passes", "timing"]);
    return timing("mine/script").measurements.filter((m) => m.metric === "op_time").map((m) => [m.op, m.absent ?? m.samples]);
  };
  assert.deepEqual(ops("echo op 1"), [["program", [0.001, 0.001]]]);
  assert.deepEqual(ops("echo op 1; echo op 1"), [["program", [0.001, 0.001, 0.001, 0.001]]]);
  assert.deepEqual(ops("echo op 1; echo op 2"), [["program", [0.001, 0.002, 0.001, 0.002]]]);
  assert.deepEqual(ops("echo a op 1; echo b op 2; echo a op 3"), [["op1", [0.001, 0.003, 0.001, 0.003]], ["op2", [0.002, 0.002]]]);
  assert.deepEqual(ops("echo a op 1; echo b op 2", 'ops = ["only"]'), [["only", [0.001, 0.002, 0.001, 0.002]]]);
  assert.deepEqual(ops("echo op 1; echo op nan"), [["program", "the program printed nan ms, which is no number"]]);
  assert.equal(ops("seq 1 1000 | sed \"s/.*/iteration &: op 2/\"").length, 1000);
  assert.deepEqual(ops("seq 1 1001 | sed \"s/.*/iteration &: op 2/\""), [
    ["program", 'the text before "op {ms}" differs in more than 1000 ways: name the suite\'s ops'],
  ]);
});

test("of a program that prints without end only so many times are kept, and the last quality", (t) => {
  const numbers = '[numbers]\nop_time = "op {ms}"\nloss = "loss {}"';
  const of = (lines, loss) => {
    const script = `yes "op 1" | head -n ${lines}; seq ${loss} | sed "s/^/loss /"`;
    const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script, numbers) }), ["--rounds", "1"]);
    assert.equal(code, 0, err);
    assert.deepEqual(row(timing("mine/script"), "loss").samples, [loss]);
    return row(timing("mine/script"), "op_time");
  };
  assert.equal(of(100_000, 3).samples.length, 100_000);
  assert.equal(of(100_001, 200_000).absent, 'the program printed more than 100000 lines with "op {ms}"');
});

test("of a line that is written over the last number counts, and what a terminal hides does not", (t) => {
  const numbers = 'ops = ["a", "b"]\n[numbers]\nop_time = "op: {ms} ms"';
  const script = String.raw`printf '10 %%\rop: 9 ms\r100 %%\rop: 3 ms\r\n\033]0;title\007\033(B\033[mop:\033[1m 1,234.5\033[0m ms\r\n'`;
  const { code, err, timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script, numbers) }), ["--rounds", "1", "--passes", "timing"]);
  assert.equal(code, 0, err);
  assert.deepEqual(["a", "b"].map((op) => row(timing("mine/script"), "op_time", op).samples), [[0.003], [1.2345]]);
});

test("a command verifies what was printed and written; a wrong output has exit code 3 and no times that count", (t) => {
  const verify = `[verify]\ncommand = ["sh", "-c", 'grep -q right "$MPROF_OUTPUT" && test -e made || { echo "it is not right"; exit 4; }']`;
  const script = (word) => script_suite(`echo ${word}; touch made`, verify);
  const right = run_suite(folder_of(t, { "mprof.toml": script("right") }));
  assert.equal(right.code, 0, right.err);
  assert.match(right.timing("mine/script").outcome.verified_by, /^by `sh -c grep/);
  const wrong = run_suite(folder_of(t, { "mprof.toml": script("left") }));
  assert.equal(wrong.code, 3);
  assert.equal(wrong.timing("mine/script").status, "wrong");
  assert.match(wrong.timing("mine/script").reason, /exit code 4; "it is not right"/);
  assert.match(wrong.err, /script in the timing pass: its output is wrong by/);
  assert.equal(mprof(["report", wrong.directory]).code, 0);
  assert.match(readFileSync(join(wrong.directory, "milestone.md"), "utf8"), /The output of mine\/script is wrong.*exit code 4/);
});

test("an output is held against a file: byte for byte, or with numbers within a tolerance", (t) => {
  const verdict = (script, verify, expected) => {
    const files = { "mprof.toml": script_suite(script, `[verify]\n${verify}`), "expected.txt": expected };
    const { timing } = run_suite(folder_of(t, files), ["--rounds", "1"]);
    return [timing("mine/script").status, timing("mine/script").reason ?? ""];
  };
  const exactly = 'expected = "expected.txt"', about = `${exactly}\ntolerance = 0.01`;
  assert.equal(verdict("echo a; echo b", exactly, "a\nb\n")[0], "ok");
  assert.match(verdict("echo a; echo c", exactly, "a\nb\n")[1], /line 2 is "c" and must be "b"/);
  assert.match(verdict("echo a", exactly, "a\nb\n")[1], /line 1|line 2/);
  assert.equal(verdict("echo x 1.001, 2", about, "x 1.0 2.01\n")[0], "ok");
  assert.match(verdict("echo x 1.1", about, "x 1.0")[1], /word 2 is "1.1" and must be "1.0", within 0.01/);
  assert.match(verdict("echo x", about, "x 1")[1], /ends before word 2/);
  assert.match(verdict("echo x nan", about, "x 1")[1], /word 2 is "nan"/);
  assert.match(verdict("echo x 1 2", about, "x 1")[1], /word 3, "2", is one too many/);
  assert.equal(verdict("echo 7 > out.txt", `${exactly}\noutput = "out.txt"`, "7\n")[0], "ok");
  assert.match(verdict("true", `${exactly}\noutput = "out.txt"`, "7\n")[1], /could not be verified: .*out\.txt/);
});

test("a printed number is verified, and that there is one", (t) => {
  const verdict = (script) => {
    const before = '[numbers]\nsum = "Sum: {count}"\n[verify]\nnumber = "sum"\nvalue = 10\ntolerance = 0.5';
    const { timing } = run_suite(folder_of(t, { "mprof.toml": script_suite(script, before) }), ["--rounds", "1"]);
    return [timing("mine/script").status, timing("mine/script").reason ?? ""];
  };
  assert.equal(verdict("echo Sum: 10.4")[0], "ok");
  assert.match(verdict("echo Sum: 11")[1], /sum is 11 and must be 10, within 0\.5/);
  assert.match(verdict("echo no sum")[1], /it printed no sum/);
});

test("without a verification the report says so", (t) => {
  const { directory } = run_suite(folder_of(t, { "mprof.toml": script_suite("true") }));
  assert.equal(mprof(["report", directory]).code, 0);
  assert.match(readFileSync(join(directory, "milestone.md"), "utf8"), /No output of a program was verified/);
});

test("what is wrong in a suite is told by file, line and key, with exit code 2, and nothing is written", (t) => {
  const refused = (suite, why, options = []) => {
    const folder = folder_of(t, { "mprof.toml": suite });
    const { code, err } = run_suite(folder, options);
    assert.equal(code, 2, err);
    assert.match(err, why);
    assert.ok(!existsSync(join(folder, "run")));
  };
  refused("name = ", /mprof\.toml:1: this is no TOML/);
  refused(script_suite("true", 'titel = "x"'), /mprof\.toml:2: titel: there is no such key here\. Did you mean title\?/);
  refused(script_suite("true", "", "comand = 1"), /mprof\.toml:6: programs\[1\]\.comand: /);
  refused('name = "mine"\n[[programs]]\nname = "a"\ncommand = ["./nowhere"]\n', /mprof\.toml:4: command of the program 'a': .*nowhere: there is no such file/);
  refused(script_suite("true", "", 'folder = "nowhere"'), /nowhere: there is no such folder/);
  refused(script_suite("true", 'build = ["sh", "-c", "echo no rule; exit 9"]'), /build of the program 'script'.*exit code 9.*\nno rule/);
  refused(script_suite("true").replace("mine", "conv"), /mprof has a family 'conv' of its own/);
  refused(script_suite("true"), /no selected family has an axis/, ["--problem", "n=3"]);
  refused(script_suite("true"), /--set is not for the programs of a suite/, ["--set", "a=b"]);
  const folder = folder_of(t, { "mprof.toml": script_suite("true") });
  const chosen = (...options) => mprof(["run", "--suite", "mprof.toml", "--out", "run", ...options], { cwd: folder });
  assert.match(chosen().err, /say what to run of mprof\.toml: --all, or --variant script/);
  assert.match(chosen("--variant", "scrip").err, /Did you mean mine\/script\?/);
  assert.match(mprof(["run", "--suite", "nowhere.toml", "--all"]).err, /nowhere\.toml/);
  assert.ok(!existsSync(join(folder, "run")));
});

test("an interrupted run goes on where it ended, and not with other programs", async (t) => {
  const folder = folder_of(t, {
    "mprof.toml": '[axes.n]\nvalues = [1, 2]\n[[programs]]\nname = "waits"\ncommand = ["sh", "waits.sh", "{n}"]\n'.replace(/^/, 'name = "mine"\n'),
    "waits.sh": "echo $1 >> begun; test -e go || { test $(wc -l < begun) -lt 2 || exec sleep 1000; }\n",
  });
  const args = ["run", "--suite", "mprof.toml", "--all", "--passes", "timing", "--rounds", "2", "--out", "run"];
  const child = start(args, { cwd: folder });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const begun = () => (existsSync(join(folder, "begun")) ? readFileSync(join(folder, "begun"), "utf8").trim().split("\n").length : 0);
  await until(() => begun() === 2);
  child.kill("SIGINT");
  assert.equal(await ended, 130);
  writeFileSync(join(folder, "go"), "");
  const bare = mprof(["run", "--resume", "--out", "run"], { cwd: folder });
  assert.equal(bare.code, 2);
  assert.match(bare.err, /is the run of a suite: mprof run --suite .*mprof\.toml --resume --out/);
  const resumed = mprof([...args, "--resume"], { cwd: folder });
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(begun(), 2 + 3);
  const run = read_run(join(folder, "run"));
  assert.equal(run.state, "complete");
  for (const c of run.cases) assert.equal(c.passes[0].rounds.length, 2);
  writeFileSync(join(folder, "waits.sh"), "true\n");
  const changed = mprof([...args, "--resume"], { cwd: folder });
  assert.equal(changed.code, 4);
  assert.match(changed.err, /mine\/waits, or what it is run of, has changed since the run began/);
});

test("mprof new suite writes a first one that runs as it is", (t) => {
  const folder = temporary(t);
  const written = mprof(["new", "suite", "mprof.toml"], { cwd: folder });
  assert.equal(written.code, 0, written.err);
  const [, command] = written.out.match(/Next: mprof (.*)/);
  assert.equal(command, "run --suite mprof.toml --all --quick");
  const { code, err, timing } = run_suite(folder, ["--quick"]);
  assert.equal(code, 0, err);
  assert.equal(row(timing("sums/pipe@100000"), "sum").samples[0], (100000 * 100001) / 2);
  assert.equal(timing("sums/loop@100000").status, "ok");
  assert.equal(mprof(["new", "suite", "mprof.toml"], { cwd: folder }).code, 2);
  assert.equal(mprof(["new", "suite", "mine.txt"], { cwd: folder }).code, 2);
});
