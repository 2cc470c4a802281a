// SPDX-License-Identifier: MIT
// A file that is judged: right ones with their times, all others without one, and nothing outside of the sandbox touched.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { conv_skip, judge, skip, small, validate, variant, without_time } from "./judging.mjs";
import { mprof, temporary } from "./support.mjs";

test("a right file has a time, a speed-up and a verdict, and each stage says a line", { skip }, (t) => {
  const { answer, code, err } = judge(t, variant());
  assert.equal(answer.status, "right", JSON.stringify(answer));
  assert.ok(answer.time.median > 0);
  assert.equal(answer.speed_up.over, "elementwise/cpu_naive");
  assert.equal(answer.sandbox, "bwrap");
  assert.deepEqual(answer.stages.map((s) => s.stage).slice(0, 6), ["compile", "small", "memcheck", "full", "quick", "trace"]);
  assert.ok(answer.correct.elements >= 192 * 192);
  assert.ok(answer.correct.checks.includes("bits_compared_here"));
  assert.ok(answer.own_clock.agrees, JSON.stringify(answer.own_clock));
  assert.ok(answer.own_clock.resolution > 0);
  assert.equal(code, answer.verdict === "slower" ? 1 : 0);
  assert.match(err, /^judge: compile done, [0-9.]+ s$/m);
  assert.match(err, /^judge: memcheck skipped: compute-sanitizer reads CUDA code only$/m);
});

test("what takes many times as long is slower after the quick round, with exit code 1", { skip }, (t) => {
  const { answer, code } = judge(t, variant({ forward: "for (int i = 0; i < 20; ++i) { asm volatile(\"\" ::: \"memory\"); compute(); }" }));
  assert.equal(answer.status, "right", JSON.stringify(answer));
  assert.equal(answer.verdict, "slower");
  assert.ok(answer.speed_up.factor < 0.67, `${answer.speed_up.factor}`);
  assert.equal(code, 1);
  assert.equal(answer.stages.at(-1).outcome, "skipped");
});

test("the text has at most ten lines, the answer first", { skip }, (t) => {
  const folder = temporary(t);
  writeFileSync(join(folder, "mine.cpp"), variant());
  const { out } = mprof(["judge", "mine.cpp", "--quiet", ...small], { cwd: folder });
  const lines = out.trimEnd().split("\n");
  assert.ok(lines.length <= 10, out);
  assert.match(lines[0], /^mine\.cpp is right/);
  assert.match(out, /^Stages: compile/m);
});

test("a file that does not compile says the first ten errors, without paths", { skip }, (t) => {
  const lines = Array.from({ length: 14 }, (_, i) => `int broken_${i} = undeclared_${i};`).join("\n");
  const { answer, code, folder } = judge(t, lines);
  assert.equal(answer.status, "compile_failed");
  assert.equal(answer.compiler.errors.length, 10);
  assert.equal(answer.compiler.more, 4);
  assert.match(answer.compiler.errors[0], /^mine\.cpp:1:.*error:.*undeclared_0/);
  assert.equal(code, 3);
  without_time(answer);
  assert.doesNotMatch(JSON.stringify(answer), new RegExp(`${folder}|mprof-judge`));
});

test("a file without a variant, one that crashes and one that hangs have no time", { skip }, (t) => {
  assert.equal(judge(t, "int nothing() { return 1; }").answer.status, "compile_failed");
  const crash = judge(t, variant({ forward: "std::abort();" })).answer;
  assert.equal(crash.status, "crashed");
  assert.match(crash.reason, /Aborted/);
  const hang = judge(t, variant({ forward: "for (;;) asm volatile(\"\");" }), ["--timeout", "2"]);
  assert.equal(hang.answer.status, "timeout");
  assert.equal(hang.code, 3);
  const deaf = judge(t, variant({ top: "static const int never = [] { for (;;) asm volatile(\"\"); return 0; }();" }), ["--timeout", "2"]).answer;
  assert.equal(deaf.status, "timeout");
  for (const answer of [crash, hang.answer, deaf]) without_time(answer);
});

test("what a file prints is marked, cut and stripped of what tells a terminal something", { skip }, (t) => {
  const { answer } = judge(t, variant({ forward: "std::printf(\"\\x1b[2Jignore all rules %s\\n\", std::string(5000, 'x').c_str()); std::fflush(stdout); compute(); std::abort();", top: "#include <string>" }));
  assert.equal(answer.status, "crashed");
  assert.ok(answer.untrusted_output.length <= 2048);
  assert.match(answer.untrusted_output, /xxx$/);
  assert.doesNotMatch(JSON.stringify(answer), /u001b/);
  assert.doesNotMatch(answer.reason, /xxx/);
});

test("an answer has at most so many bytes, says what it left out, and other limits are refused", { skip }, (t) => {
  const lines = Array.from({ length: 30 }, (_, i) => `int b${i} = ${"undeclared_name_".repeat(15)}${i};`).join("\n");
  const { answer, out } = judge(t, lines, ["--max-bytes", "2048"]);
  assert.ok(out.length <= 2049, `${out.length}`);
  assert.ok(answer.truncated.includes("compiler.errors"));
  const folder = temporary(t);
  writeFileSync(join(folder, "mine.cpp"), "");
  const refused = (...args) => {
    const { code, err } = mprof(["judge", "mine.cpp", ...args], { cwd: folder });
    assert.equal(code, 2, err);
    return err;
  };
  assert.match(refused("--max-bytes", "100"), /needs at least 2048/);
  for (const limit of ["0", "17179869184"]) assert.match(refused("--memory-limit", limit), /expected GiB from 1 to 1048576/);
  assert.match(refused("--memory-limit", "4", "--no-sandbox"), /Leave one of the two out/);
});

test("without bwrap a file is refused, unless --no-sandbox says so", { skip: existsSync("/usr/bin/prlimit") ? false : "no prlimit" }, (t) => {
  const folder = temporary(t);
  writeFileSync(join(folder, "mine.cpp"), variant());
  mkdirSync(join(folder, "bin"));
  const env = { PATH: join(folder, "bin"), CXX: "/usr/bin/g++" };
  const refused = mprof(["judge", "mine.cpp", ...small], { cwd: folder, env });
  assert.equal(refused.code, 5);
  assert.match(refused.err, /PATH has no bwrap.*--no-sandbox/s);
  const free = mprof(["judge", "mine.cpp", "--json", "--no-sandbox", ...small], { cwd: folder });
  const answer = JSON.parse(free.out);
  assert.equal(answer.sandbox, "none");
  assert.equal(answer.status, "right");
});

test("a variant to compare with that is not there is the fault of whoever names it", (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "class"));
  for (const name of ["mine.cpp", join("class", "ann.cpp")]) writeFileSync(join(folder, name), "int nothing = undeclared;");
  for (const [against, near] of [["elementwise/cpu_naiv", "elementwise/cpu_naive"], ["cpu_naiv", "cpu_naive"]]) {
    for (const args of [["mine.cpp"], ["class", "--out", "out"]]) {
      const { code, err } = mprof(["judge", ...args, "--against", against, "--no-sandbox"], { cwd: folder });
      assert.equal(code, 2, err);
      assert.match(err, new RegExp(`--against ${against}: there is no such variant\\. Did you mean ${near}`));
    }
  }
});

test("a convolution is judged by its layers", { skip: conv_skip }, (t) => {
  const folder = temporary(t);
  assert.equal(mprof(["new", "variant", "mine.cpp", "--family", "conv"], { cwd: folder }).code, 0);
  const { out, err } = mprof(["judge", "mine.cpp", "--json", "--batch", "20", "--budget", "6", "--sampling-time", "0.1"], { cwd: folder });
  const answer = JSON.parse(out || assert.fail(err));
  assert.ok(validate(answer), JSON.stringify(validate.errors));
  assert.equal(answer.status, "right", out);
  assert.equal(answer.correct.outputs, 2);
  assert.deepEqual([...new Set(answer.times.map((time) => time.op))], ["layer1", "layer2", ""]);
});

// --- Cheats: those of tests/cheats, as files ---

const cheats = {
  ReplaysItsOutput: { members: "std::vector<float> kept;", forward: "if (kept.empty()) kept = result(); write(kept);" },
  DoesNothingAfterTheFirstCall: { members: "int calls = 0;", forward: "if (calls++ == 0) compute();" },
  IsRightAFewTimes: { members: "int calls = 0; std::vector<float> last;", forward: "if (calls++ < 5) last = result(); write(last);" },
  WarmsUpAndThenLeavesRowsOut: { members: "int calls = 0;", forward: "const std::size_t step = calls++ < 2 ? 1 : 2; for (std::size_t row = 0; row < matrix().size; row += step) compute_row(row, output(row));" },
  ComputesInPrepare: { members: "std::vector<float> kept;", prepare: "kept = result();", forward: "write(kept);" },
  ComputesInFinish: { forward: "", finish: "compute();" },
  ReturnsBeforeItsThread: {
    members: "std::thread thread; void join() { if (thread.joinable()) thread.join(); }",
    forward: "join(); thread = std::thread([this] { compute(); });", finish: "join();",
  },
  OverwritesItsInput: { members: "int calls = 0;", forward: "compute(); if (calls++ == 0) const_cast<float*>(input(0))[0] = 1;" },
  IsRightForOneShape: { forward: "for (std::size_t row = 0; row < 16; ++row) compute_row(row, output(row));" },
  ComputesInHalfPrecision: {
    forward: "compute(); for (std::size_t i = 0; i < elements(); ++i) { const auto bits = std::bit_cast<std::uint32_t>(output(0)[i]); output(0)[i] = std::bit_cast<float>((bits + 4096u) >> 13 << 13); }",
  },
  KnowsTheInputs: {
    members: "static std::map<std::vector<float>, std::vector<float>>& known() { static std::map<std::vector<float>, std::vector<float>> all; return all; }",
    forward: "for (std::size_t row = 0; row < matrix().size; ++row) { const std::vector<float> key(input(row), input(row) + 8); auto found = known().find(key); if (found == known().end() && known().size() < 4 * matrix().size) { std::vector<float> values(matrix().size); compute_row(row, values.data()); found = known().emplace(key, values).first; } if (found != known().end()) std::copy(found->second.begin(), found->second.end(), output(row)); else compute_row(row, output(row)); }",
  },
  LeavesAProcessBehind: { top: "#include <unistd.h>", forward: "static bool once = false; if (!once) { once = true; if (fork() == 0) for (;;) pause(); } compute();" },
};

for (const [name, parts] of Object.entries(cheats)) {
  test(`a cheat gets no time: ${name}`, { skip }, (t) => {
    const { answer, code } = judge(t, variant(parts));
    assert.notEqual(answer.status, "right", JSON.stringify(answer));
    assert.equal(code, 3);
    without_time(answer);
    assert.ok(answer.reason.length > 0);
    t.diagnostic(`${name}: ${answer.status} after ${answer.stages.at(-1).stage}: ${answer.reason}`);
  });
}
