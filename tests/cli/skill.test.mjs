// SPDX-License-Identifier: MIT
// skills/mprof/SKILL.md, followed to the letter: each command of its blocks, one after another, in an empty folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { test } from "node:test";
import { mprof, program, source, temporary } from "./support.mjs";

const skill = readFileSync(join(source, "skills", "mprof", "SKILL.md"), "utf8");
/** Its commands, in order. */
const commands = [...skill.matchAll(/^```sh\n([^]*?)^```/gm)].flatMap((block) => block[1].trim().split("\n"));

test("it is short, and says when it is of use", () => {
  assert.ok(skill.trimEnd().split("\n").length <= 200);
  const [, head] = skill.match(/^---\n([^]*?)\n---\n/);
  assert.match(head, /^name: mprof$/m);
  assert.match(head, /^description: .{40,1024}$/m);
});

test("its commands work, one after another, and answer what it says", { timeout: 600_000 }, (t) => {
  const folder = temporary(t);
  const env = { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH}`, MPROF_DATA: "", MPROF_WEIGHTS: "" };
  assert.ok(commands.length >= 7, commands.join("\n"));
  const documents = commands.map((command) => {
    const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { cwd: folder, env, encoding: "utf8" });
    const may_differ = command.startsWith("mprof compare") ? [0, 1] : command.startsWith("mprof doctor") ? [0, 5] : [0];
    assert.ok(may_differ.includes(status), `${command}: ${status}\n${stderr}`);
    return { command, ...JSON.parse(stdout) };
  });
  const of = (beginning) => documents.find(({ command }) => command.startsWith(beginning));
  assert.equal(typeof of("mprof doctor").can_run, "boolean");
  assert.ok(of("mprof list").variants.every((one) => one.id && "available" in one));
  assert.ok(of("mprof run --variant").cases.every(({ status }) => status === "ok"));
  assert.ok(of("mprof report").brief[0].lines.length > 0);
  const times = of("mprof compare").cases.flatMap((one) => one.times);
  assert.ok(times.length > 0 && times.every(({ verdict }) => verdict));
  const { families } = JSON.parse(readFileSync(join(folder, "tables", "analysis.json"), "utf8"));
  assert.equal(families[0].family ?? families[0].id, "elementwise");
});

test("it names verbs, options and tools that are there", () => {
  const inline = [...skill.matchAll(/`(mprof [^`]+)`/g)].map((match) => match[1]);
  for (const command of [...commands, ...inline]) {
    const [, verb, ...words] = command.split(" ");
    if (verb === "judge" && mprof(["help", "judge"]).code !== 0) continue;
    const { code, out } = mprof(["help", verb]);
    assert.equal(code, 0, command);
    const own = words.includes("--") ? words.slice(0, words.indexOf("--")) : words;
    for (const option of own.filter((word) => word.startsWith("--"))) assert.ok(out.includes(option), `${command}: ${option}`);
  }
});
