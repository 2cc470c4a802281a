// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

/** Each verb, as `mprof help` has them: by what one wants to do. */
const sections = {
  Start: ["run", "sanitize", "report", "list", "new", "doctor", "mcp"],
  Compare: ["compare", "ab", "judge", "tune", "history", "watch"],
  Data: ["stats", "export", "import"],
  Cluster: ["submit", "status", "merge", "fleet", "ranks"],
};
const verbs = Object.values(sections).flat();
const fits = (text) => text.split("\n").forEach((line) => assert.ok([...line].length <= 80, line));
const exit_codes = [0, 1, 2, 3, 4, 5, 70, 130];

test("--help names every verb under what it is for, and every exit code", () => {
  const { code, out } = mprof(["--help"]);
  assert.equal(code, 0);
  for (const [title, named] of Object.entries(sections)) {
    const section = out.match(new RegExp(`^${title}:\\n((?:  .*\\n)+)`, "m"))[1];
    assert.deepEqual([...section.matchAll(/^  mprof ([a-z]+)/gm)].map((match) => match[1]), named, title);
  }
  fits(out);
  for (const exit of exit_codes) assert.match(out, new RegExp(`^ +${exit}  \\w`, "m"));
});

test("without a verb: the help on standard error, and exit code 2", () => {
  const { code, out, err } = mprof([]);
  assert.equal(code, 2);
  assert.match(err, /^Start:\n  mprof run /m);
  assert.equal(out, "", "nothing where results go");
  for (const words of [["help", "--help"], ["help", "-h"], ["help", "help"]]) assert.equal(mprof(words).out, mprof(["help"]).out);
});

for (const verb of verbs) {
  test(`${verb} --help shows its options with their defaults in 80 columns`, () => {
    const { code, out } = mprof([verb, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: mprof ${verb}[^\\n]*\\n\\nExamples:\\n`));
    const examples = out.match(/^Examples:\n((?:  .*\n)+)/m)[1];
    assert.equal([...examples.matchAll(/^  \S/gm)].length, 3, "three examples");
    fits(out);
    assert.equal(mprof(["help", verb]).out, out);
  });
}

test("run --help shows the defaults that it uses", () => {
  const { out } = mprof(["run", "--help"]);
  assert.match(out, /timing,trace,counters/);
  assert.match(out, /Time limit of a case[^]*Default: 600\./);
});

test("docs/cli.md is what the option table says", () => {
  assert.equal(readFileSync(join(source, "docs", "cli.md"), "utf8"), mprof(["help", "--markdown"]).out,
    "run `mprof help --markdown > docs/cli.md`");
});

test("--version prints version and revision", () => {
  for (const spelled of ["--version", "-V", "version"])
    assert.match(mprof([spelled]).out, /^mprof \d+\.\d+\.\d+ \(\w+(-dirty)?\)\n$/);
});

test("list -v shows every family and variant, and --json the same", () => {
  const text = mprof(["list", "-v"]);
  const { families, variants } = JSON.parse(mprof(["list", "--json"]).out);
  assert.equal(text.code, 0);
  assert.ok(families.length >= 2 && variants.length >= 4);
  for (const family of families) {
    assert.match(text.out, new RegExp(`^${family.id}$`, "m"));
    assert.ok(family.axes.length > 0 && family.default_problems.length > 0 && family.quick_problems.length > 0);
    for (const axis of family.axes) assert.ok(text.out.includes(`axis       ${axis.name}: ${axis.meaning}`), axis.name);
    for (const input of family.inputs) assert.ok(text.out.includes(`input      ${input.name}: `), input.name);
    for (const quality of family.qualities ?? []) assert.ok(text.out.includes(`quality    ${quality.label}: `), quality.label);
    assert.ok(variants.some((variant) => variant.family === family.id), family.id);
  }
  for (const variant of variants) {
    assert.match(text.out, new RegExp(`^${variant.id}$`, "m"));
    assert.ok(variant.title.length > 5);
    assert.equal(typeof variant.available, "boolean");
    if (!variant.available) assert.ok(variant.reason.length > 5);
  }
});

test("list has a line for each variant, and takes a pattern", () => {
  const { variants } = JSON.parse(mprof(["list", "--json"]).out);
  const lines = (words) => mprof(["list", ...words]).out.split("\n\n")[0].split("\n");
  assert.deepEqual(lines([]).map((line) => line.split(" ")[0]), variants.map(({ id }) => id));
  const some = lines(["conv/cpu_*"]);
  assert.ok(some.length > 1 && some.every((line) => /^conv\/cpu_\S+ +cpu +(yes|no) +\S/.test(line)));
  assert.deepEqual(JSON.parse(mprof(["list", "conv/cpu_*", "--json"]).out).families.map(({ id }) => id), ["conv"]);
});

test("the short forms of options are the long ones", (t) => {
  const out = join(temporary(t), "report"), run = join(source, "tests", "golden", "run_a");
  const { code, out: printed } = mprof(["report", run, "-o", out, "--format", "md", "-q"]);
  assert.equal(code, 0);
  assert.equal(printed, `${join(out, "milestone.md")}\n`, "the file to open, and no other");
});

test("report without a directory takes the newest run below results/", (t) => {
  const folder = temporary(t), golden = (name) => join(source, "tests", "golden", name);
  for (const [name, seconds] of [["old", 1000], ["new", 2000]]) {
    cpSync(golden("run_a"), join(folder, "results", name), { recursive: true });
    utimesSync(join(folder, "results", name, "run.json"), seconds, seconds);
  }
  const { code, out, err } = mprof(["report", "--format", "md", "--quiet"], { cwd: folder });
  assert.equal(code, 0, err);
  assert.equal(out, "results/new/milestone.md\n");
});

test("--json is --format json", () => {
  const a = join(source, "tests", "golden", "run_a"), b = join(source, "tests", "golden", "run_b");
  for (const words of [["compare", a, b], ["history", a, b], ["stats", a]])
    assert.equal(mprof([...words, "--json"]).out, mprof([...words, "--format", "json"]).out, words[0]);
});

test("text that is piped has no blank and no sign that a keyboard lacks", () => {
  const a = join(source, "tests", "golden", "run_a"), b = join(source, "tests", "golden", "run_b");
  for (const words of [["compare", a, b], ["compare", a, b, "--format", "md"], ["history", a, b]])
    assert.doesNotMatch(mprof(words).out, /[\u00a0\u2007\u2008\u202f\u2212]/, words.join(" "));
});

const has = (program) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

test("bash completes verbs, options, folders and variants", { skip: has("bash") ? false : "no bash" }, (t) => {
  const folder = temporary(t);
  mkdirSync(join(folder, "a-run"));
  writeFileSync(join(folder, "a-file"), "");
  const completed = (...words) => {
    const script = `${mprof(["help", "--completion", "bash"]).out}
COMP_WORDS=(${["mprof", ...words].map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _mprof; printf '%s\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], { encoding: "utf8", cwd: folder });
    assert.equal(stderr, "");
    return stdout.split("\n").filter(Boolean);
  };
  assert.deepEqual(completed("re"), ["report"]);
  assert.deepEqual(completed("run", "--quic"), ["--quick"]);
  assert.ok(completed("list", "--").includes("--verbose") && !completed("list", "--").includes("--quick"));
  assert.deepEqual(completed("run", "--baseline", "a-"), ["a-run"], "folders alone");
  assert.ok(completed("run", "--variant", "conv/cpu_").includes("conv/cpu_naive"));
  assert.ok(completed("tune", "conv/cpu_").includes("conv/cpu_naive"), "of what stands without an option too");
  assert.deepEqual(completed("help", "judg"), ["judge"]);
  assert.deepEqual(completed("new", "va"), ["variant"]);
  assert.deepEqual(completed("compare", "--fail-on", "sl"), ["slower"]);
  assert.deepEqual(completed("report", "-o", "a-"), ["a-run"]);
  assert.deepEqual(completed("compare", ""), [], "files, which bash completes itself");
  assert.deepEqual(completed("run", "--ops", "conv/"), [], "NVTX ranges have names of their own");
});

for (const [shell, check] of [["zsh", ["zsh", "-n"]], ["fish", ["fish", "--no-execute"]]]) {
  test(`the completion of ${shell} is a script of ${shell}`, { skip: has(shell) ? false : `no ${shell}` }, (t) => {
    const file = join(temporary(t), "completion");
    writeFileSync(file, mprof(["help", "--completion", shell]).out);
    const { status, stderr } = spawnSync(check[0], [...check.slice(1), file], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
  });
}

test("the completions of zsh and fish name every verb and every option of run", () => {
  const options = [...mprof(["help", "--man", "run"]).out.matchAll(/^\.B .*?\\-\\-([a-z\\-]+)/gm)].map((match) => match[1].replaceAll("\\", ""));
  assert.ok(options.length > 20);
  const zsh = mprof(["help", "--completion", "zsh"]).out, fish = mprof(["help", "--completion", "fish"]).out;
  for (const verb of verbs) {
    assert.match(zsh, new RegExp(`^    '${verb}:`, "m"));
    assert.match(fish, new RegExp(`-a ${verb} -d '`));
  }
  for (const option of options.filter((name) => name !== "help")) {
    assert.match(zsh, new RegExp(`--${option}[=\\["]`), option);
    assert.match(fish, new RegExp(`from run' -l ${option}\\b`), option);
  }
});

test("each verb has a man page with its examples and options", { skip: has("man") ? false : "no man" }, (t) => {
  const file = join(temporary(t), "page.1");
  for (const verb of ["", ...verbs]) {
    writeFileSync(file, mprof(["help", "--man", ...(verb ? [verb] : [])]).out);
    const { status, stdout, stderr } = spawnSync("man", ["--warnings", "-E", "UTF-8", "-l", file], { encoding: "utf8", env: { ...process.env, MANWIDTH: "80", MANPAGER: "cat" } });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "", verb);
    const text = stdout.replace(/.\x08/g, "");
    for (const head of verb ? ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS"] : ["NAME", "SYNOPSIS", "EXIT STATUS"])
      assert.match(text, new RegExp(`^${head}$`, "m"), `${verb}: ${head}`);
    if (verb === "run") assert.match(text, /--sampling-time S/);
  }
});

test("run has an option for each axis and each input of the families", () => {
  const { families } = JSON.parse(mprof(["list", "--json"]).out);
  const { out } = mprof(["run", "--help"]);
  for (const family of families) {
    for (const axis of family.axes) assert.match(out, new RegExp(`^ +--${axis.name} LIST +\\S`, "m"));
    for (const input of family.inputs) assert.match(out, new RegExp(`^ +--${input.name} [A-Z]+ +\\S`, "m"));
  }
});

test("doctor says what it found and ends with a verdict", () => {
  const { code, out } = mprof(["doctor"]);
  assert.ok(code === 0 || code === 5);
  for (const { id } of JSON.parse(mprof(["list", "--json"]).out).families) assert.ok(out.includes(`inputs of ${id}: `), id);
  assert.match(out, code === 0 ? /mprof can run here\.\n$/ : /missing\.\n$/);
});

test("doctor exits with 5 when the images are missing, and names them", () => {
  const { code, out } = mprof(["doctor", "--data", "/nowhere"]);
  assert.equal(code, 5);
  assert.match(out, /missing +inputs of conv: .*\/nowhere/);
});
