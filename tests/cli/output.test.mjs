// SPDX-License-Identifier: MIT
// Where a command's output goes: files that are none, and a standard output that takes nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, lstatSync, openSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, source, temporary } from "./support.mjs";

const run = join(source, "tests", "golden", "run_a");
const compare = ["compare", run, run, "--format", "json"];

/** The exit code of a script that runs the program as "$mprof". */
function sh(script, ...args) {
  const { status, stderr } = spawnSync("bash", ["-c", script, "bash", ...args], {
    encoding: "utf8", timeout: 60_000, env: { ...process.env, mprof: program },
  });
  return { code: status, err: stderr };
}

test("a report names its machine, also where the user gives its title", (t) => {
  const folder = temporary(t);
  for (const title of [[], ["--title", "Mine"]]) {
    assert.equal(mprof(["report", run, ...title, "--format", "md", "--out", folder]).code, 0);
    const head = readFileSync(join(folder, "brief.md"), "utf8").split("\n## ")[0];
    assert.equal(head.split("AMD EPYC").length, 2, head);
  }
});

test("a file that is a link stays one, and what it leads to is written", (t) => {
  const directory = temporary(t), link = join(directory, "link"), file = join(directory, "file");
  symlinkSync("file", link);
  for (const args of [[...compare, "--out", link], [...compare, "--junit", link]]) {
    writeFileSync(file, "old");
    const { code, err } = mprof(args);
    assert.equal(code, 0, err);
    assert.equal(readlinkSync(link), "file");
    assert.match(readFileSync(file, "utf8"), /^[{<]/);
  }
});

test("a named pipe is written into, and stays", (t) => {
  const directory = temporary(t), pipe = join(directory, "pipe"), read = join(directory, "read");
  const { code, err } = sh(`
    pipe=$1 read=$2; shift 2
    mkfifo "$pipe"; timeout 20 cat "$pipe" > "$read" & cat=$!
    "$mprof" "$@" --out "$pipe" > /dev/null && wait $cat`, pipe, read, ...compare);
  assert.equal(code, 0, err);
  assert.ok(lstatSync(pipe).isFIFO());
  JSON.parse(readFileSync(read, "utf8"));
});

test("standard output by its name is written behind what was printed", () => {
  const { code, out, err } = mprof([...compare, "--out", "/dev/fd/1"]);
  assert.equal(code, 0, err);
  assert.match(out, /^\{[^]*\}\n\/dev\/fd\/1\n$/);
});

/** The program with a standard output of which each write fails as on a full disk, and maybe standard error likewise. */
function on_full_disk(args, { err = "pipe" } = {}) {
  const full = openSync("/dev/full", "w");
  try {
    return mprof(args, { stdio: ["ignore", full, err === "full" ? full : err] });
  } finally {
    closeSync(full);
  }
}

const no_space = /^mprof: cannot write to standard output: No space left on device\. [^\n]+; free some space, or send it elsewhere\.\n$/;

function expect_lost(args, code = 5) {
  const result = on_full_disk(args);
  assert.equal(result.code, code, `${args[0]}: ${result.err}`);
  assert.match(result.err, no_space);
}

test("a full disk behind standard output: a message, exit code 5", (t) => {
  const directory = temporary(t), trace = join(source, "tests", "golden", "trace", "recorded.sqlite");
  const of_help = [["--help"], ["help", "--markdown"], ["help", "run"], ["list", "--help"], ["--version"]];
  const of_lists = [["list"], ["list", "--json"], ["list", "--metrics"], ["list", "--metrics", "--json"]];
  const of_runs = [["stats", trace], ["stats", trace, "--format", "json", "--report", "all"], ["compare", run, run, "--all"], compare,
    ["status", run], ["status", run, "--json"], ["export", run, "--format", "json", "--out", join(directory, "export")],
    ["report", run, "--out", directory]];
  for (const args of [...of_help, ...of_lists, ...of_runs]) expect_lost(args);
  assert.match(on_full_disk(["doctor"]).err, no_space);
});

test("a full disk behind standard output costs a run nothing else", (t) => {
  const directory = temporary(t), out = join(directory, "run"), merged = join(directory, "merged");
  expect_lost(["run", "--variant", "elementwise/cpu_naive", "--size", "16", "--quick", "--passes", "timing", "--shard", "1/1",
    "--out", out, "--quiet"]);
  assert.match(mprof(["status", out]).out, /Complete/);
  expect_lost(["merge", out, "--out", merged]);
  assert.match(mprof(["status", merged]).out, /Complete/);
  expect_lost(["history", out, merged]);
  const fleet = Array.from({ length: 5 }, (_, i) => join(directory, `machine${i}`));
  for (const machine of fleet) cpSync(out, machine, { recursive: true });
  expect_lost(["fleet", ...fleet, "--all"]);
  expect_lost(["fleet", ...fleet, "--json"]);
});

test("a full disk behind standard error costs a run its progress, and nothing else", (t) => {
  const out = join(temporary(t), "run"), full = openSync("/dev/full", "w");
  try {
    const { code } = mprof(["run", "--variant", "elementwise/cpu_naive", "--size", "16", "--quick", "--passes", "timing", "--out", out],
      { stdio: ["ignore", "pipe", full] });
    assert.equal(code, 0);
  } finally {
    closeSync(full);
  }
  assert.match(mprof(["status", out]).out, /Complete/);
});

test("a command that has an exit code of its own keeps it on a full disk", () => {
  const slower = ["compare", run, join(source, "tests", "golden", "run_b"), "--all"];
  assert.equal(mprof(slower).code, 1);
  expect_lost(slower, 1);
  const { code, err } = on_full_disk(["doctor", "stray"]);
  assert.equal(code, 2);
  assert.match(err, /^mprof: mprof doctor: unexpected argument[^\n]+\n$/, "nothing was to be printed");
  assert.equal(on_full_disk(["list"], { err: "full" }).code, 5, "the message is lost as well");
});

test("a pipe that nobody reads any more ends a command without a word", () => {
  const closed = 'exec 3> >(exec true); wait $!; "$mprof" list --json >&3';
  assert.deepEqual(sh(closed), { code: 141, err: "" }, "SIGPIPE");
  assert.deepEqual(sh(`trap "" PIPE; ${closed}`), { code: 0, err: "" }, "EPIPE, where the signal is ignored");
  assert.deepEqual(sh(`trap "" PIPE; ${closed.replace(" --json", "")}`), { code: 0, err: "" });
});
