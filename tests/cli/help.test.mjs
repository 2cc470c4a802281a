import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source } from "./support.mjs";

const verbs = ["run", "submit", "status", "merge", "sanitize", "report", "compare", "ab", "tune", "history", "fleet", "stats", "export", "import", "list", "new", "watch", "doctor"];
const fits = (text) => text.split("\n").forEach((line) => assert.ok([...line].length <= 80, line));
const exit_codes = [0, 1, 2, 3, 4, 5, 70, 130];

test("--help names every verb and every exit code", () => {
  const { code, out } = mprof(["--help"]);
  assert.equal(code, 0);
  const named = [...out.matchAll(/^  mprof ([a-z]+)/gm)].map((match) => match[1]);
  assert.deepEqual(named, verbs, "all of them, and this test knows each");
  fits(out);
  for (const exit of exit_codes) assert.match(out, new RegExp(`^ +${exit}  \\w`, "m"));
});

test("without a verb: the help on standard error, and exit code 2", () => {
  const { code, out, err } = mprof([]);
  assert.equal(code, 2);
  assert.match(err, /Usage:/);
  assert.equal(out, "", "nothing where results go");
});

test("check is called sanitize now", () => {
  const { code, err } = mprof(["check", "some/run"]);
  assert.equal(code, 2);
  assert.match(err, /mprof check is called mprof sanitize/);
});

for (const verb of verbs) {
  test(`${verb} --help shows its options with their defaults in 80 columns`, () => {
    const { code, out } = mprof([verb, "--help"]);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`^Usage: mprof ${verb}`));
    fits(out);
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

test("--version prints version and revision", () => {
  assert.match(mprof(["--version"]).out, /^mprof \d+\.\d+\.\d+ \(\w+(-dirty)?\)\n$/);
});

test("list shows every family and variant, and --json the same", () => {
  const text = mprof(["list"]);
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
