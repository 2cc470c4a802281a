// Where a command's output goes: files that are none, and a standard output that takes nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
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
