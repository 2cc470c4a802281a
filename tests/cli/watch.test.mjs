// SPDX-License-Identifier: MIT
// A source that is measured each time it is saved, as somebody at work on it saves it.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { test } from "node:test";
import { mprof, read_run, start, temporary, validate_run } from "./support.mjs";

const quickly = ["--size", "64", "--iterations", "1", "--rounds", "2", "--sampling-time", "0.1"];

/** A folder with a first variant of the CPU in it, and mprof that watches it. */
function watched(t, { named = "mine.cpp", more = {} } = {}) {
  const folder = temporary(t), options = { cwd: folder, env: { MPROF_CACHE: join(folder, "cache"), CXX: "" } };
  assert.equal(mprof(["new", "variant", "mine.cpp", "--family", "elementwise"], options).code, 0);
  for (const [name, text] of Object.entries(more)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const watch = start(["watch", named, ...quickly, "--out", "runs"], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => watch.kill("SIGKILL"));
  let said = "", errors = "";
  watch.stdout.on("data", (text) => (said += text));
  watch.stderr.on("data", (text) => (errors += text));
  return {
    folder, watch,
    source: () => readFileSync(join(folder, "mine.cpp"), "utf8"),
    /** What it says until it waits again, having begun with this many waits. */
    async answer(waits) {
      const all = () => said.split(/^Waiting for .*$/m);
      while (all().length < waits + 1) {
        assert.equal(watch.exitCode, null, said + errors);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      return all()[waits - 1];
    },
    text: () => said,
  };
}

test("each version is built, verified, measured and held against the one before that was right", async (t) => {
  const { folder, watch, source, answer, text } = watched(t);
  const first = await answer(1), right = source();
  assert.match(first, /^Version 1 of mine\.cpp, at size 64, iterations 1$/m);
  assert.match(first, /^Time +A: elementwise\/cpu_naive \(.s\) +B: this \(.s\) +Speed-up +Verdict$/m);
  assert.match(first, /^map +[\d.]+ +[\d.]+ +[\d.]+×/m);

  writeFileSync(join(folder, "mine.cpp"), right.replace("void forward() override {", "void forward() override {\n    no such thing;"));
  const broken = await answer(2);
  assert.match(broken, /could not compile .*mine\.cpp:\n(.*\n)*.*error: /);
  assert.match(broken, /This version is left out\./);
  assert.ok(!existsSync(join(folder, "runs/2")));

  writeFileSync(join(folder, "mine.cpp"), right.replace("void forward() override {", "void forward() override {\n    if (matrix().size > 0) return;"));
  assert.match(await answer(3), /Version 2 of mine\.cpp: elementwise\/mine is wrong: map: 4096 of 4096 elements were never written.*It is left out\./);

  // As editors do it: another file takes the name.
  writeFileSync(join(folder, "mine.cpp.new"), right + "// the same, and yet another version\n");
  renameSync(join(folder, "mine.cpp.new"), join(folder, "mine.cpp"));
  const third = await answer(4);
  assert.match(third, /^Version 3 of mine\.cpp/m);
  assert.match(third, /Since 1 +Verdict$/m, "version 2 was wrong");
  assert.match(third, /[+−-]?[\d.]+ %/);

  writeFileSync(join(folder, "mine.cpp"), right + "// the same, and yet another version\n");
  assert.match(await answer(5), /Nothing that is measured has changed\./);
  assert.ok(!existsSync(join(folder, "runs/4")));

  watch.kill("SIGINT");
  assert.deepEqual(await once(watch, "exit"), [0, null]);
  assert.match(text(), /Measured 3 versions of mine\.cpp; each is a run in runs\.\n$/);
  for (const [number, status] of [[1, "ok"], [2, "wrong"], [3, "ok"]]) {
    const directory = join(folder, "runs", String(number));
    validate_run(directory);
    const run = read_run(directory);
    assert.equal(run.state, "complete");
    assert.equal(run.cases.find((c) => c.variant === "elementwise/mine").passes[0].status, status);
  }
  const compared = mprof(["compare", join(folder, "runs/1"), join(folder, "runs/3")]);
  assert.ok([0, 1].includes(compared.code), compared.err);
});

test("a header beside the source is part of it", async (t) => {
  const { folder, watch, source, answer } = watched(t);
  await answer(1);
  writeFileSync(join(folder, "part.hpp"), "// nothing yet\n");
  assert.match(await answer(2), /Nothing that is measured has changed\./);
  writeFileSync(join(folder, "mine.cpp"), `#include "part.hpp"\n${source()}`);
  assert.match(await answer(3), /^Version 2 of mine\.cpp/m);
  writeFileSync(join(folder, "part.hpp"), "// something\n");
  assert.match(await answer(4), /^Version 3 of mine\.cpp/m);
  watch.kill("SIGTERM");
  assert.deepEqual(await once(watch, "exit"), [0, null]);
});

test("each file of a variant of several is watched", async (t) => {
  const { folder, watch, source, answer } = watched(t, { named: "mine.cpp+parts/tools.cpp", more: { "parts/tools.cpp": "int tools() { return 1; }\n" } });
  assert.match(await answer(1), /^Version 1 of mine\.cpp\+parts\/tools\.cpp/m);
  writeFileSync(join(folder, "parts/tools.cpp"), "int tools() { return no_such_thing; }\n");
  assert.match(await answer(2), /no_such_thing/);
  writeFileSync(join(folder, "parts/tools.cpp"), "int tools() { return 2; }\n");
  assert.match(await answer(3), /^Version 2 of/m);
  writeFileSync(join(folder, "mine.cpp"), `${source()}// another version\n`);
  assert.match(await answer(4), /^Version 3 of/m);
  watch.kill("SIGINT");
  assert.deepEqual(await once(watch, "exit"), [0, null]);
});

test("what is no source, or no one problem, is refused at once", (t) => {
  const folder = temporary(t), refused = (words, message) => {
    const result = mprof(["watch", ...words], { cwd: folder });
    assert.equal(result.code, 2, result.err);
    assert.match(result.err, message);
  };
  refused(["nothing.cpp"], /nothing\.cpp.*there is no such file/s);
  writeFileSync(join(folder, "note.txt"), "");
  refused(["note.txt"], /is no source/);
  mkdirSync(join(folder, "runs/1"), { recursive: true });
  writeFileSync(join(folder, "a.cpp"), "");
  refused(["a.cpp", "--out", "runs"], /runs.*holds versions already/);
  refused(["a.cpp", "--size", "64,128"], /--size: one problem is measured: give one value/);
  refused([], /FILE/);
  refused(["nothing.cpp", "--rounds", "0"], /--rounds 0: give a whole number/);
});

test("a suite is measured anew when it, or a program of it, is saved; a wrong program is told", async (t) => {
  const folder = temporary(t);
  const program = (seconds, word = "right") => `sleep ${seconds}\necho ${word}, took ${1000 * seconds} ms\n`;
  const suite = `name = "mine"\n[numbers]\nop_time = "took {ms} ms"\n[verify]\ncommand = ["grep", "-q", "right", "says"]\n` +
    `[[programs]]\nname = "a"\ncommand = ["sh", "a.sh"]\n[[programs]]\nname = "b"\nbaseline = "a"\ncommand = ["sh", "b.sh"]\n`;
  writeFileSync(join(folder, "a.sh"), program(0.04));
  writeFileSync(join(folder, "b.sh"), program(0.02));
  writeFileSync(join(folder, "says"), "right");
  writeFileSync(join(folder, "mprof.toml"), suite);
  const watch = start(["watch", "mprof.toml", "--rounds", "2", "--out", "runs"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => watch.kill("SIGKILL"));
  let said = "", errors = "";
  watch.stdout.on("data", (text) => (said += text));
  watch.stderr.on("data", (text) => (errors += text));
  const answer = async (waits) => {
    const all = () => said.split(/^Waiting for .*$/m);
    while (all().length < waits + 1) {
      assert.equal(watch.exitCode, null, said + errors);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return all()[waits - 1];
  };
  const first = await answer(1);
  assert.match(first, /^Version 1 of mine\/b/m);
  assert.match(first, /2\.0\d*×/);
  writeFileSync(join(folder, "mprof.toml"), suite.replace("[verify]", "[verfy]"));
  assert.match(await answer(2), /mprof\.toml:4: verfy: there is no such key here\. Did you mean verify\?.*\nThis version is left out\./);
  writeFileSync(join(folder, "says"), "wrong");
  writeFileSync(join(folder, "mprof.toml"), suite + "# again\n");
  assert.match(await answer(3), /mine\/a is wrong: its output is wrong by `grep -q right says`: exit code 1/);
  writeFileSync(join(folder, "says"), "right");
  writeFileSync(join(folder, "b.sh"), program(0.01));
  writeFileSync(join(folder, "mprof.toml"), suite + "# again, and right\n");
  assert.match(await answer(4), /^Version 3 of mine\/b[^]*Since 1/m);
  const ended = once(watch, "exit");
  watch.kill("SIGINT");
  assert.deepEqual(await ended, [0, null]);
  assert.match(said, /Measured 3 versions of mprof\.toml; each is a run in runs\./);
  validate_run(join(folder, "runs/3"));
});
