// SPDX-License-Identifier: MIT
// Points, Gradescope's file, and a folder of hand-ins.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { skip, validate, variant } from "./judging.mjs";
import { mprof, program, source, temporary } from "./support.mjs";

const against = ["--against", "elementwise/cpu_naive"];
const small = ["--size", "128", "--budget", "3", "--sampling-time", "0.05", "--timeout", "40"];
const read_json = (...parts) => JSON.parse(readFileSync(join(...parts), "utf8"));

test("the rubric of the examples gives points, which Gradescope's file has too", { skip }, (t) => {
  const folder = temporary(t), rubric = join(source, "examples", "grading", "rubric.toml");
  writeFileSync(join(folder, "mine.cpp"), variant());
  const { code, out, err } = mprof(["judge", "mine.cpp", "--format", "gradescope", "--rubric", rubric, "--out", "out", ...small], { cwd: folder });
  assert.ok(code === 0 || code === 1, err);
  const results = JSON.parse(out);
  assert.equal(results.tests.length, 3);
  assert.equal(results.tests.reduce((sum, one) => sum + one.max_score, 0), 100);
  assert.ok(Math.abs(results.score - results.tests.reduce((sum, one) => sum + one.score, 0)) < 1e-9);
  assert.deepEqual(results.tests[0], { name: "right", score: 60, max_score: 60, status: "passed", output: "its outputs are right" });
  assert.equal(results.visibility, "visible");
  assert.match(results.output, /^mine\.cpp is right/);
  const answer = read_json(folder, "out", "judge.json");
  assert.ok(validate(answer), JSON.stringify(validate.errors));
  assert.deepEqual(answer.score.items.map((item) => item.of), [60, 10, 30]);
  assert.equal(answer.run, "out/B");
  assert.equal(mprof(["report", "out/B", "--format", "md", "--out", "report"], { cwd: folder }).code, 0);
  assert.ok(existsSync(join(folder, "report", "brief.md")));
});

test("without a rubric a file that is wrong has 0 of 100", { skip }, (t) => {
  const folder = temporary(t);
  writeFileSync(join(folder, "mine.cpp"), variant({ forward: "" }));
  const { code, out } = mprof(["judge", "mine.cpp", "--format", "gradescope", ...small], { cwd: folder });
  assert.equal(code, 3);
  const results = JSON.parse(out);
  assert.equal(results.score, 0);
  assert.match(results.tests[0].output, /were never written/);
});

test("a class is judged one by one, and copies are named", { skip }, (t) => {
  const folder = temporary(t), hand_ins = join(folder, "hand-ins");
  mkdirSync(join(hand_ins, "bob"), { recursive: true });
  const text = variant();
  writeFileSync(join(hand_ins, "ann.cpp"), text);
  writeFileSync(join(hand_ins, "bob", "solution.cpp"), text.replaceAll("mapped", "helper").replaceAll("compute_row", "one").replace("It is mine", "Mine it is"));
  writeFileSync(join(hand_ins, "carl.cpp"), "int nothing = undeclared;");
  writeFileSync(join(hand_ins, "dora.cpp"), variant({ top: "static const int never = [] { for (;;) asm volatile(\"\"); return 0; }();" }));
  writeFileSync(join(folder, "notes.txt"), "no source");
  const run = mprof(["judge", "hand-ins", ...against, "--out", "class", "--limit", "450", ...small], { cwd: folder });
  assert.equal(run.code, 0, run.err);
  assert.match(run.err, /^judge: carl: compile_failed, [0-9.]+ s$/m);
  const all = read_json(folder, "class", "class.json");
  assert.deepEqual(all.hand_ins.map((one) => one.name), ["ann", "bob", "carl", "dora"]);
  const status = Object.fromEntries(all.hand_ins.map((one) => [one.name, one.judgement?.status ?? one.failure]));
  assert.equal(status.ann, "right");
  assert.equal(status.bob, "right");
  assert.equal(status.carl, "compile_failed");
  assert.match(status.dora, /^timeout$|took longer than 450 s/);
  assert.equal(all.right, 2);
  assert.deepEqual(all.alike.map(({ first, second }) => [first, second]).find((pair) => pair.join() === "ann,bob"), ["ann", "bob"]);
  for (const one of all.hand_ins.filter((each) => each.judgement)) assert.ok(validate(one.judgement), JSON.stringify(validate.errors));
  const page = readFileSync(join(folder, "class", "class.html"), "utf8");
  assert.match(page, /2 of 4 hand-ins right/);
  assert.doesNotMatch(page, /(?:src|href)="https?:/);
  assert.equal(read_json(folder, "class", "ann", "results.json").score, 100);
  const reports = Object.fromEntries(all.hand_ins.map((one) => [one.name, one.report]));
  assert.deepEqual([reports.ann, reports.carl], [join("ann", "B", "milestone.html"), null]);
  assert.match(readFileSync(join(folder, "class", reports.ann), "utf8"), /elementwise\/ann|ann/);
});

test("a hand-in that cannot be judged costs no other its answer", { skip }, (t) => {
  const folder = temporary(t), hand_ins = join(folder, "hand-ins");
  mkdirSync(hand_ins);
  const broken = "int nothing = undeclared;";
  writeFileSync(join(hand_ins, "ann.cpp"), broken);
  writeFileSync(join(hand_ins, "big.cpp"), `${broken}\n//${" ".repeat(4 << 20)}`);
  writeFileSync(join(hand_ins, "cuda.cu"), broken);
  for (const name of ["class.json.cpp", "class.html.cpp", "...cpp"]) writeFileSync(join(hand_ins, name), broken);
  const { code, err } = mprof(["judge", "hand-ins", ...against, "--out", "class", "--limit", "300", ...small],
    { cwd: folder, env: { PATH: "/usr/bin:/bin", CUDA_HOME: "", CUDA_PATH: "" } });
  assert.equal(code, 0, err);
  const of = Object.fromEntries(read_json(folder, "class", "class.json").hand_ins.map((one) => [one.name, one]));
  assert.deepEqual(Object.keys(of), ["..", "ann", "big", "class.html", "class.json", "cuda"]);
  assert.equal(of.ann.judgement.status, "compile_failed");
  assert.match(of.big.failure, /big\.cpp/);
  assert.match(of.cuda.failure ?? of.cuda.judgement.status, /needs nvcc|compile_failed/);
  for (const name of ["..", "class.json", "class.html"]) assert.match(of[name].failure, /cannot be called .* rename it/);
  assert.deepEqual(readdirSync(folder).sort(), ["class", "hand-ins"], "nothing is written outside of --out");
});

test("a second judgement takes over nothing of the first one", { skip }, (t) => {
  const folder = temporary(t), record = join(folder, "class", "ann", "B");
  mkdirSync(join(folder, "hand-ins"));
  writeFileSync(join(folder, "hand-ins", "ann.cpp"), "int nothing = undeclared;");
  mkdirSync(record, { recursive: true });
  for (const name of ["run.json", "milestone.html"]) writeFileSync(join(record, name), "old");
  writeFileSync(join(folder, "class", "ann", "results.json"), "old");
  writeFileSync(join(folder, "class", "ann", "notes.txt"), "the teacher's own");
  const { code, err } = mprof(["judge", "hand-ins", ...against, "--out", "class", ...small], { cwd: folder });
  assert.equal(code, 0, err);
  const [ann] = read_json(folder, "class", "class.json").hand_ins;
  assert.equal(ann.judgement.status, "compile_failed");
  assert.equal(ann.report, null);
  assert.ok(!existsSync(record));
  assert.equal(read_json(folder, "class", "ann", "results.json").score, 0);
  assert.ok(existsSync(join(folder, "class", "ann", "notes.txt")));
});

test("a hand-in that is a link is not judged", (t) => {
  const folder = temporary(t), secret = join(folder, "secret.cpp"), elsewhere = join(folder, "elsewhere");
  mkdirSync(join(folder, "hand-ins", "bob"), { recursive: true });
  mkdirSync(elsewhere);
  for (const file of [secret, join(elsewhere, "secret.cpp")]) writeFileSync(file, "int secret = planted_secret;");
  symlinkSync(secret, join(folder, "hand-ins", "ann.cpp"));
  symlinkSync(secret, join(folder, "hand-ins", "bob", "mine.cpp"));
  symlinkSync(elsewhere, join(folder, "hand-ins", "carl"));
  const { code, out, err } = mprof(["judge", "hand-ins", ...against, "--out", "class", "--json", "--no-sandbox"], { cwd: folder });
  assert.equal(code, 0, err);
  const { hand_ins } = JSON.parse(out);
  assert.deepEqual(hand_ins.map((one) => one.name), ["ann", "bob", "carl"]);
  for (const one of hand_ins) assert.match(one.failure, /is a symbolic link: hand in the file itself/);
  assert.doesNotMatch(out + err, /planted_secret/);
});

test("a folder without just one source is refused alone, and --out is no hand-in", (t) => {
  const folder = temporary(t), hand_ins = join(folder, "hand-ins");
  for (const name of ["two", "none", "class", ".hidden"]) mkdirSync(join(hand_ins, name), { recursive: true });
  for (const name of ["two/a.cpp", "two/b.cpp", ".hidden/a.cpp", "ann.cpp"]) writeFileSync(join(hand_ins, name), "int nothing = undeclared;");
  const { code, out, err } = mprof(["judge", "hand-ins", ...against, "--out", join("hand-ins", "class"), "--json", "--no-sandbox"], { cwd: folder });
  assert.equal(code, 0, err);
  const { hand_ins: all } = JSON.parse(out);
  assert.deepEqual(all.map((one) => one.name), ["ann", "none", "two"]);
  assert.equal(all[0].judgement.status, "compile_failed");
  assert.match(all[1].failure, /none has 0 sources/);
  assert.match(all[2].failure, /two has 2 sources/);
  const itself = mprof(["judge", "hand-ins", ...against, "--out", "hand-ins", "--no-sandbox"], { cwd: folder });
  assert.equal(itself.code, 2);
  assert.match(itself.err, /the folder of the hand-ins itself/);
});

test("names of hand-ins forge no line and no command, and a huge one is not compared", (t) => {
  const folder = temporary(t), hand_ins = join(folder, "hand-ins");
  mkdirSync(hand_ins);
  const names = ["line\njudge: ann: right, 1.0 s", "quote'\"$(touch pwned)`touch pwned`", "esc\u001b[2J\u009b31m"];
  for (const name of names) writeFileSync(join(hand_ins, `${name}.cpp`), "int nothing = undeclared;");
  writeFileSync(join(hand_ins, "large.cpp"), `int nothing = undeclared;${";".repeat(3 << 20)}`);
  const { code, out, err } = mprof(["judge", "hand-ins", ...against, "--out", "class", "--no-sandbox"], { cwd: folder });
  assert.equal(code, 0, err);
  assert.doesNotMatch(err, /^judge: ann: right/m);
  assert.equal(err.trimEnd().split("\n").length, 4, err);
  assert.doesNotMatch(out + err, /[\u001b\u009b]/);
  assert.match(out, /^Not compared .*: large\.$/m);
  const { hand_ins: all, not_compared } = read_json(folder, "class", "class.json");
  for (const one of all) assert.equal(one.judgement.status, "compile_failed", one.name);
  assert.deepEqual(not_compared, ["large"]);
  assert.match(readFileSync(join(folder, "class", "class.html"), "utf8"), /Not compared .*: large\./);
  assert.deepEqual(readdirSync(folder).sort(), ["class", "hand-ins"]);
});

test("many hand-ins need few descriptors, and one name that two families have is refused", (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "hand-ins"));
  for (let i = 0; i < 60; ++i) writeFileSync(join(folder, "hand-ins", `s${i}.cpp`), "x".repeat((4 << 20) + 1));
  const words = ["judge", "hand-ins", "--out", "class", "--no-sandbox", "--json"];
  const few = spawnSync("/bin/sh", ["-c", 'ulimit -n 48 && exec "$@"', "sh", program, ...words, ...against], { cwd: folder, encoding: "utf8" });
  assert.equal(few.status, 0, few.stderr);
  const { hand_ins } = JSON.parse(few.stdout);
  assert.equal(hand_ins.length, 60);
  for (const one of hand_ins) assert.match(one.failure, /too large|larger|more than/, one.failure);
  const { code, err } = mprof([...words, "--against", "cpu_naive"], { cwd: folder });
  assert.equal(code, 2);
  assert.match(err, /conv\/cpu_naive and elementwise\/cpu_naive have this name.*Give the whole id/);
});

test("hand-ins see nothing of each other, and headers of their own are compared too", { skip }, (t) => {
  const folder = temporary(t), hand_ins = join(folder, "hand-ins");
  for (const name of ["carl", "dora"]) mkdirSync(join(hand_ins, name), { recursive: true });
  writeFileSync(join(hand_ins, "ann.cpp"), '#include "ann.hpp"');
  writeFileSync(join(hand_ins, "ann.hpp"), "");
  writeFileSync(join(hand_ins, "bob.cpp"), '#include "ann.hpp"\n#include "ann.cpp"');
  writeFileSync(join(hand_ins, "family.cpp"), "int nothing = undeclared;");
  for (const name of ["carl", "dora"]) {
    writeFileSync(join(hand_ins, name, `${name}.cpp`), `#include "work.hpp"\nint ${name} = undeclared_${name};`);
    writeFileSync(join(hand_ins, name, "work.hpp"), variant().replaceAll("mapped", name));
  }
  const { code, err } = mprof(["judge", "hand-ins", ...against, "--out", "class", ...small], { cwd: folder });
  assert.equal(code, 0, err);
  const { hand_ins: all, alike } = read_json(folder, "class", "class.json");
  for (const one of all) assert.equal(one.judgement.status, "compile_failed", one.name);
  for (const one of all.slice(0, 2)) assert.match(one.judgement.compiler.errors[0], /ann\.hpp: No such file/);
  assert.match(all[2].judgement.compiler.errors.join(), /undeclared_carl/, "its own header is there");
  assert.deepEqual(alike.map(({ first, second }) => [first, second]), [["carl", "dora"]]);
});

test("a folder without a hand-in, two of one name, and one without --out or --against are refused", (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "two", "ann"), { recursive: true });
  writeFileSync(join(folder, "two", "ann.cpp"), "");
  writeFileSync(join(folder, "two", "ann", "x.cpp"), "");
  const refused = (...args) => {
    const { code, err } = mprof(["judge", ...args, "--no-sandbox"], { cwd: folder });
    assert.equal(code, 2, err);
    return err;
  };
  assert.match(refused("empty", ...against, "--out", "out"), /empty has no hand-in/);
  assert.match(refused("two", ...against, "--out", "out"), /two hand-ins are called ann/);
  assert.match(refused("two", ...against), /needs --out DIR/);
  assert.match(refused("two", "--out", "out"), /needs --against ID/);
});
