// SPDX-License-Identifier: MIT
// The first example of pages of docs/, as a reader types it. Where a page begins with a run, a quick one of the CPU stands for it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, source, temporary } from "./support.mjs";

const read = (page) => readFileSync(join(source, "docs", page), "utf8");
const quick = ["--size", "64", "--quick", "--passes", "timing", "--seed", "1", "--quiet"];
const has_jq = spawnSync("jq", ["--version"]).status === 0;

/** The commands of the first section that has any, without their comments: indented, or in a block of code behind a prompt. */
function first_example(page) {
  const text = read(page).replace(/^```\w*\n([^]*?)^```$/gm, (_, block) => block.replace(/^(?!\$ ).*/gm, ""));
  const commands_of = (section) => section.split("\n").map((line) => line.match(/^(?: {4}|\$ )(\w.*?)(?:\s+#.*)?$/)?.[1]).filter(Boolean);
  return text.split(/^##+ /m).map(commands_of).find((commands) => commands.length > 0);
}

/** A folder with three runs, two of them in results/ too, and the parts of a clone that pages name. */
function folder_of_a_reader(t) {
  const folder = temporary(t), bin = join(folder, "bin");
  const made = mprof(["run", "--variant", "elementwise/cpu_*", ...quick, "--out", "first"], { cwd: folder });
  assert.equal(made.code, 0, made.err);
  for (const copy of ["before", "after", "results/before", "results/night"])
    cpSync(join(folder, "first"), join(folder, copy), { recursive: true });
  mkdirSync(bin);
  symlinkSync(program, join(bin, "mprof"));
  for (const part of ["templates", "tests"]) symlinkSync(join(source, part), join(folder, part));
  return { folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } };
}

test("the first example of a page works", (t) => {
  const { folder, env } = folder_of_a_reader(t);
  const pages = {
    "formats/compare-json.md": 0,
    "formats/export.md": 0,
    "formats/fleet-json.md": 4, // fewer than five GPUs
    "formats/history-json.md": 0,
    "formats/status-json.md": 0,
    "formats/view.md": 0,
    "how-it-works/advice.md": 0,
    "how-it-works/disturbances.md": 0,
    "how-it-works/explanations.md": 0,
    "how-it-works/statistics.md": 0,
  };
  for (const [page, code] of Object.entries(pages)) {
    for (const command of first_example(page)) {
      if (command.startsWith("mprof run") || (command.includes("| jq") && !has_jq)) continue;
      const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", command], { cwd: folder, env, encoding: "utf8" });
      assert.equal(status, code, `${page}: ${command}: ${stderr}`);
      assert.ok(stdout !== "" || /^(?:mkdir|cp)/.test(command), `${page}: ${command} prints nothing`);
    }
  }
});

test("docs/how-it-works/honesty.md begins with a variant that keeps its output, and it is wrong", (t) => {
  const folder = temporary(t), page = read("how-it-works/honesty.md");
  const [command] = first_example("how-it-works/honesty.md");
  writeFileSync(join(folder, "kept.cpp"), page.match(/^```cpp\n(.*?)^```$/ms)[1]);
  const { code, out, err } = mprof(command.split(" ").slice(1), { cwd: folder, env: { MPROF_CACHE: join(folder, "cache"), CXX: "" } });
  assert.equal(code, 3, err);
  assert.match(out, /^elementwise\/cpu_naive\S* .* ok$/m);
  assert.match(out, /^elementwise\/kept\S* .* wrong\[\w\]$/m);
  assert.match(out, /right when it was verified.* in timed execution \d/);
});
