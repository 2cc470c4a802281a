// SPDX-License-Identifier: MIT
// What mprof needs to start: few threads, little memory.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { program, source } from "./support.mjs";

const small_verbs = [["--version"], ["--help"], ["list"], ["status", join(source, "tests/golden/run_a")]];
const limited = (limits, words, options = {}) =>
  spawnSync("bash", ["-c", `${limits}; exec "$@"`, "bash", program, ...words], { encoding: "utf8", timeout: 120_000, ...options });

test("verbs that measure nothing run in 100 MB of addresses", () => {
  const { status, stdout, signal } = limited("ulimit -v 100000", ["--version"]);
  assert.equal(status, 0, `${signal}`);
  assert.match(stdout, /^mprof /);
});

test("they start no thread, with no process to spare", { skip: process.getuid() === 0 ? false : "only root can become another user" }, (t) => {
  const nobody = { uid: 65534, gid: 65534 };
  if (limited("true", ["--version"], nobody).status !== 0) return t.skip("another user cannot read this build");
  for (const words of small_verbs) {
    const { status, stderr, signal } = limited("ulimit -u 1", words, nobody);
    assert.equal(status, 0, `${words}: ${signal} ${stderr}`);
  }
});

test("they load no library that computes", { skip: existsSync("/usr/bin/ldd") ? false : "there is no ldd" }, () => {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  assert.doesNotMatch(stdout, /libopenblas|libmprof_openblas/);
});
