// SPDX-License-Identifier: MIT
// The composite action (action.yml) and the workflows: what their shell steps do, run here as a runner would run them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { program, read_run, source, temporary } from "./support.mjs";

const read_yaml = (...path) => parse(readFileSync(join(source, ...path), "utf8"), { strict: true, uniqueKeys: true });
const action = read_yaml("action.yml");

/** The text with each ${{ NAME }} replaced by what `values` has for it. */
function resolved(text, values) {
  return text.replace(/\$\{\{\s*([\w.-]+)\s*\}\}/g, (_, name) => {
    assert.ok(name in values, `nothing is known of \${{ ${name} }}`);
    return values[name];
  });
}

/** Runs the action's shell steps until one fails: { code, text, summary, outputs, folder }. */
function run_action(test, inputs) {
  const folder = temporary(test), given = { "runner.temp": folder };
  for (const [name, { required, default: value }] of Object.entries(action.inputs)) {
    assert.ok(name in inputs || !required, `the action needs ${name}`);
    given[`inputs.${name}`] = inputs[name] ?? resolved(String(value), given);
  }
  const files = { GITHUB_OUTPUT: join(folder, "outputs"), GITHUB_STEP_SUMMARY: join(folder, "summary.md") };
  const result = { code: 0, text: "", folder: given["inputs.folder"] };
  for (const step of action.runs.steps.filter(({ run }) => run)) {
    assert.equal(step.shell, "bash");
    assert.ok(!step.run.includes("${{"), `"${step.name}" has an input in its script: ${step.run}`);
    const env = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, resolved(value, given)]));
    const { status, stdout, stderr } = spawnSync("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run], {
      cwd: folder, encoding: "utf8", env: { ...process.env, ...files, ...env },
    });
    Object.assign(result, { code: status, text: result.text + stdout + stderr });
    if (status !== 0) break;
  }
  const text_of = (file) => (existsSync(file) ? readFileSync(file, "utf8") : "");
  const lines = text_of(files.GITHUB_OUTPUT).trim().split("\n").filter(Boolean);
  return { ...result, summary: text_of(files.GITHUB_STEP_SUMMARY), outputs: Object.fromEntries(lines.map((line) => line.split("="))) };
}

/** A program of the name `bench` in FOLDER/NAME that works for so many turns of a loop, and notes how it was called. */
function bench(folder, name, turns) {
  const file = join(folder, name, "bench");
  mkdirSync(join(folder, name));
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" >'${folder}/arguments'\ni=0\nwhile [ $i -lt ${turns} ]; do i=$((i + 1)); done\n`);
  chmodSync(file, 0o755);
  return file;
}

const quick = "--rounds 3 --passes timing";

test("the action measures both builds, compares them, and gives JUnit and a summary", (t) => {
  const folder = temporary(t);
  const before = bench(folder, "before", 20_000), after = bench(folder, "after", 20_000);
  const run = run_action(t, {
    before: `-- ${before} 'two words' "$HOME; touch ran"`, after: `-- ${after} 'two words' "$HOME; touch ran"`, options: quick, mprof: program,
    "compare-options": "--fail-on none",
  });
  assert.equal(run.code, 0, run.text);
  assert.equal(readFileSync(join(folder, "arguments"), "utf8"), "two words\n$HOME; touch ran\n");
  for (const side of ["before", "after"]) assert.equal(read_run(run.outputs[side]).cases.length, 1);
  assert.match(readFileSync(run.outputs.junit, "utf8"), /<testcase /);
  for (const side of ["before", "after"]) assert.ok(run.summary.includes(run.outputs[side]), run.summary);
});

test("the action fails when the change is slower", (t) => {
  const folder = temporary(t);
  const before = bench(folder, "before", 1_000), after = bench(folder, "after", 400_000);
  const run = run_action(t, { before: `-- ${before}`, after: `-- ${after}`, options: quick, mprof: program });
  assert.equal(run.code, 1, run.text);
  assert.match(run.summary, /slower/);
  assert.match(readFileSync(run.outputs.junit, "utf8"), /<failure /);
});

test("the action fails where a build does not run, and compares nothing", (t) => {
  const folder = temporary(t);
  const run = run_action(t, { before: `-- ${join(folder, "missing")}`, after: "-- true", options: quick, mprof: program });
  assert.notEqual(run.code, 0);
  assert.equal(run.summary, "");
});

test("each output of the action is one that a step makes", (t) => {
  const made = run_action(t, { before: "-- true", after: "-- true", options: quick, mprof: program, "compare-options": "--fail-on none" }).outputs;
  const promised = Object.values(action.outputs).map(({ value }) => value.match(/^\$\{\{ steps\.measure\.outputs\.(\w+) \}\}$/)?.[1]);
  assert.deepEqual(promised.sort(), Object.keys(made).sort());
});

// --- Workflows and templates ---

test("workflows run scripts that are there, with no more rights than reading", () => {
  const names = readdirSync(join(source, ".github", "workflows"));
  assert.notEqual(names.length, 0);
  for (const name of names) {
    const workflow = read_yaml(".github", "workflows", name);
    assert.deepEqual(workflow.permissions, { contents: "read" }, name);
    for (const { steps } of Object.values(workflow.jobs)) {
      const scripts = steps.map(({ run }) => run?.match(/^(?:\.ci|scripts)\/[\w/]+/)?.[0]).filter(Boolean);
      assert.notEqual(scripts.length, 0, name);
      for (const script of scripts) assert.ok(existsSync(join(source, script)), `${name} runs ${script}, which is not there`);
    }
  }
});

test("the form for bugs asks for what mprof knows of the machine and of the run", () => {
  const fields = read_yaml(".github", "ISSUE_TEMPLATE", "bug.yml").body.map(({ attributes }) => JSON.stringify(attributes));
  for (const wanted of ["mprof doctor", "run.json", "SECURITY.md"]) {
    assert.ok(fields.some((field) => field.includes(wanted)), `bug.yml does not name ${wanted}`);
  }
});
