import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source } from "./support.mjs";

const verbs = ["run", "check", "report", "compare", "stats", "list", "doctor"];
const exit_codes = [0, 1, 2, 3, 4, 5, 70, 130];

test("--help names every verb and every exit code", () => {
  const { code, out } = mprof(["--help"]);
  assert.equal(code, 0);
  for (const verb of verbs) assert.match(out, new RegExp(`mprof ${verb}`));
  for (const exit of exit_codes) assert.match(out, new RegExp(`^ +${exit}  \\w`, "m"));
});

test("without a verb: the help, and exit code 2", () => {
  const { code, out } = mprof([]);
  assert.equal(code, 2);
  assert.match(out, /Usage:/);
});

for (const verb of verbs) {
  test(`${verb} --help shows its options with their defaults in 80 columns`, () => {
    const { code, out } = mprof([verb, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: mprof ${verb}`));
    for (const line of out.split("\n")) assert.ok(line.length <= 110, line);
    assert.equal(mprof(["help", verb]).out, out);
  });
}

test("run --help shows the defaults that it uses", () => {
  const { out } = mprof(["run", "--help"]);
  assert.match(out, /timing,trace,counters/);
  assert.match(out, /=600/);
});

test("docs/cli.md is what the option table says", () => {
  assert.equal(readFileSync(join(source, "docs", "cli.md"), "utf8"), mprof(["help", "--markdown"]).out,
    "run `mprof help --markdown > docs/cli.md`");
});

test("README has the exit codes of --help", () => {
  const readme = readFileSync(join(source, "README.md"), "utf8");
  for (const exit of exit_codes) assert.match(readme, new RegExp(`^\\| ${exit} \\| \\w`, "m"));
});

test("--version prints version and revision", () => {
  assert.match(mprof(["--version"]).out, /^mprof \d+\.\d+\.\d+ \(\w+(-dirty)?\)\n$/);
});

test("list shows every variant, and --json the same", () => {
  const text = mprof(["list"]);
  const json = JSON.parse(mprof(["list", "--json"]).out);
  assert.equal(text.code, 0);
  assert.ok(json.length >= 4);
  for (const variant of json) {
    assert.match(text.out, new RegExp(`^${variant.id}$`, "m"));
    assert.ok(variant.title.length > 5);
    assert.equal(typeof variant.available, "boolean");
    if (!variant.available) assert.ok(variant.reason.length > 5);
  }
  for (const variant of ["naive", "threads", "im2col_gemm", "onednn"]) {
    assert.ok(json.some((row) => row.id === `conv/cpu_${variant}`), variant);
  }
});

test("doctor says what it found and ends with a verdict", () => {
  const { code, out } = mprof(["doctor"]);
  assert.ok(code === 0 || code === 5);
  assert.match(out, /inputs of conv/);
  assert.match(out, code === 0 ? /mprof can run here\.\n$/ : /missing\.\n$/);
});

test("doctor exits with 5 when the images are missing, and names them", () => {
  const { code, out } = mprof(["doctor", "--data", "/nowhere"]);
  assert.equal(code, 5);
  assert.match(out, /missing +inputs of conv: .*\/nowhere/);
});
