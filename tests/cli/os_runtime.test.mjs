// SPDX-License-Identifier: MIT
// Calls of the operating system, of programs as they are run: what each function's calls are is tested in
// tests/collectors/os_runtime_test.cpp, without a GPU.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, temporary } from "./support.mjs";

const ranges_program = process.env.RANGES_PROGRAM;
const why_not = !ranges_program ? "mprof was built without CUDA" : !existsSync("/dev/nvidiactl") ? "there is no GPU" : false;

test("nothing stands before the system's functions in the timing pass, and what the environment has stays", (t) => {
  const out = join(temporary(t), "run");
  const script = "echo ${LD_PRELOAD-none} ${ASAN_OPTIONS-none}";
  const { code, err } = mprof(["run", "--rounds", "1", "--passes", "timing", "--out", out, "--", "sh", "-c", script], {
    env: { LD_PRELOAD: undefined, ASAN_OPTIONS: "halt_on_error=1" },
  });
  assert.equal(code, 0, err);
  assert.equal(read_run(out).cases[0].passes[0].outcome.output, "none halt_on_error=1");
});

test("osrt_sum has the waits of a program and of its child", { skip: why_not }, (t) => {
  const out = join(temporary(t), "run");
  assert.equal(mprof(["run", "--passes", "trace", "--out", out, "--", ranges_program, "child"]).code, 0);
  const { code, out: table, err } = mprof(["stats", "--report", "osrt_sum", "--format", "csv", out]);
  assert.equal(code, 0, err);
  // Each of the two sleeps six times 4 ms, 1 ms and 10 ms, and more; sleep is never shorter.
  const row = table.split("\n").map((line) => line.split(",")).find((cells) => cells.at(-1) === "clock_nanosleep" || cells.at(-1) === "nanosleep");
  assert.ok(row, table);
  assert.ok(Number(row[2]) >= 36, table);
  assert.ok(Number(row[1]) >= 2 * 6 * 15e6, table);
});
