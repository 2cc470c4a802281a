// SPDX-License-Identifier: MIT
// A run's times for services that track them, by the rules that each service documents for its format.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { mprof, source, temporary } from "./support.mjs";

const a = join(source, "tests", "golden", "run_a"), b = join(source, "tests", "golden", "run_b");

/** What a format leaves in a folder. */
function exported(t, runs, format, options = []) {
  const out = join(temporary(t), "out");
  const { code, err } = mprof(["export", ...runs, "--format", format, "--out", out, ...options]);
  return { code, err, out };
}

/** A copy of a run whose record was changed. */
function changed(t, from, change) {
  const directory = join(temporary(t), "changed");
  cpSync(from, directory, { recursive: true });
  const file = join(directory, "run.json"), run = JSON.parse(readFileSync(file, "utf8"));
  change(run);
  writeFileSync(file, JSON.stringify(run));
  return directory;
}
const timing_of = (run, id) => run.cases.find((c) => c.id === id).passes.find((p) => p.pass === "timing");

/** The rows of a CSV file by their columns. No field of these files has an end of line. */
function read_table(file) {
  const fields = (line) => [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^",]*),/g)]
    .map(([, field]) => (field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field));
  const [head, ...rows] = readFileSync(file, "utf8").trimEnd().split("\n").map(fields);
  assert.equal(new Set(head).size, head.length, "columns with names of their own");
  return { head, rows: rows.map((row) => (assert.equal(row.length, head.length), Object.fromEntries(head.map((h, i) => [h, row[i]])))) };
}

/** [name, value, low, high] of each time of the ok cases, in seconds, as the tables of the same run have them. */
function times_of(t, directory) {
  const { out } = exported(t, [directory], "csv");
  const of = (row, metric) => [`${row.case}/${row.op ? `${row.op}/` : ""}${metric}`, ...["", "_low", "_high"].map((end) => Number(row[metric + end]))];
  const ops = read_table(join(out, "ops.csv")).rows.filter((row) => row.status === "ok");
  const cases = read_table(join(out, "cases.csv")).rows.filter((row) => row.status === "ok");
  return [...ops.flatMap((row) => ["op_time", "group_time"].filter((metric) => row[metric] !== "").map((metric) => of(row, metric))),
    ...cases.map((row) => of(row, "total_time"))].sort();
}

const in_ns = (seconds) => Math.round(seconds * 1e12) / 1e3;
const close = (ns, seconds) => assert.ok(Math.abs(ns - in_ns(seconds)) <= 0.002, `${ns} ns is not ${seconds} s`);

const number = { type: "number", minimum: 0 };
const schemas = {
  // https://bencher.dev/docs/reference/bencher-metric-format: names of up to 1024 characters, measures of up to 64.
  bmf: {
    type: "object",
    minProperties: 1,
    propertyNames: { minLength: 1, maxLength: 1024 },
    additionalProperties: {
      type: "object",
      minProperties: 1,
      propertyNames: { pattern: "^[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 64 },
      additionalProperties: {
        type: "object",
        properties: { value: number, lower_value: number, upper_value: number },
        required: ["value"],
        additionalProperties: false,
      },
    },
  },
  // README of github-action-benchmark, customSmallerIsBetter: an empty array is an error there. It converts units that
  // it knows, and ranges of a sign and a number.
  "benchmark-action": {
    type: "array",
    minItems: 1,
    items: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1 },
        unit: { enum: ["s", "ms", "us", "ns"] },
        value: number,
        range: { type: "string", pattern: "^± \\d+\\.\\d+$" },
        extra: { type: "string" },
      },
      required: ["name", "unit", "value"],
      additionalProperties: false,
    },
  },
};
function holds(format, document) {
  const validate = new Ajv({ allErrors: true, strict: true }).compile(schemas[format]);
  assert.ok(validate(document), JSON.stringify(validate.errors, null, 1));
}

test("bmf has the value and the interval of each time, in the unit of Bencher's latency", (t) => {
  const { code, out, err } = exported(t, [a], "bmf");
  assert.deepEqual([code, err], [0, ""]);
  const document = JSON.parse(readFileSync(join(out, "bmf.json"), "utf8")), expected = times_of(t, a);
  holds("bmf", document);
  assert.deepEqual(Object.keys(document).sort(), expected.map(([name]) => name));
  assert.ok(expected.some(([name]) => name === "conv/cpu_naive@100/layer1/op_time"));
  for (const [name, value, low, high] of expected) {
    const { latency } = document[name];
    assert.deepEqual(Object.keys(document[name]), ["latency"], name);
    close(latency.value, value), close(latency.lower_value, low), close(latency.upper_value, high);
    assert.ok(latency.lower_value <= latency.value && latency.value <= latency.upper_value, name);
  }
});

test("benchmark-action has an entry for each time, with a range that the action can read", (t) => {
  const { code, out, err } = exported(t, [a], "benchmark-action");
  assert.deepEqual([code, err], [0, ""]);
  const document = JSON.parse(readFileSync(join(out, "benchmark-action.json"), "utf8")), expected = times_of(t, a);
  holds("benchmark-action", document);
  const entries = new Map(document.map((entry) => [entry.name, entry]));
  assert.equal(entries.size, document.length, "the action finds an entry of the last run by its name");
  assert.deepEqual([...entries.keys()].sort(), expected.map(([name]) => name));
  for (const [name, value, low, high] of expected) {
    const { range, extra, value: ns } = entries.get(name);
    close(ns, value), close(Number(range.slice(2)), Math.max(high - value, value - low));
    assert.match(extra, /^\d+ samples?( in \d+ rounds)?\n95 % interval: [\d.]+ to [\d.]+ ns/);
  }
});

// --- Apache Otava

/** YAML of mappings and lists in blocks, which is all that otava.yaml has; texts are plain or quoted. */
function read_yaml(text) {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s*#/.test(line))
    .map((line) => [line.length - line.trimStart().length, line.trim()]);
  const scalar = (word) => (word.startsWith('"') ? JSON.parse(word) : word.startsWith("'") ? word.slice(1, -1)
    : /^-?\d+$/.test(word) ? Number(word) : word.startsWith("[") ? word.slice(1, -1).split(", ") : word);
  const block = (indent) => {
    const is_list = lines[0][1].startsWith("- "), value = is_list ? [] : {};
    while (lines.length > 0 && lines[0][0] === indent) {
      const [, line] = lines.shift();
      if (is_list) {
        value.push(scalar(line.slice(2)));
        continue;
      }
      const [, key, rest] = /^("(?:[^"\\]|\\.)*"|[\w]+):(?: (.*))?$/.exec(line);
      assert.ok(!(scalar(key) in value), `${key} twice`);
      value[scalar(key)] = rest === undefined ? block(lines[0][0]) : scalar(rest);
    }
    return value;
  };
  const document = block(0);
  assert.equal(lines.length, 0, "all of it was read");
  return document;
}

const only = (known, object) => assert.deepEqual(Object.keys(object).filter((key) => !known.includes(key)), []);

/** What Otava reads by this configuration, as its documentation has it: tests by name, with their metrics as columns. */
function read_otava(folder) {
  const document = read_yaml(readFileSync(join(folder, "otava.yaml"), "utf8"));
  only(["tests", "test_groups"], document);
  for (const names of Object.values(document.test_groups)) for (const name of names) assert.ok(name in document.tests, name);
  const metrics_of_all = [];
  const tests = Object.entries(document.tests).map(([name, { type, file, time_column, attributes, metrics, csv_options, ...others }]) => {
    assert.deepEqual([others, type, csv_options], [{}, "csv", { delimiter: ",", quote_char: '"' }]);
    const { head, rows } = read_table(join(folder, file));
    for (const column of [time_column, ...attributes]) assert.ok(head.includes(column), column);
    const moments = rows.map((row) => Date.parse(row[time_column]));
    assert.ok(moments.every((moment, i) => Number.isFinite(moment) && (i === 0 || moments[i - 1] <= moment)), "in order");
    assert.notEqual(Object.keys(metrics).length, 0);
    const values = Object.entries(metrics).map(([metric, { column, direction, ...unknown }]) => {
      assert.deepEqual([unknown, direction], [{}, -1], "a longer time is worse");
      assert.ok(head.includes(column), column);
      metrics_of_all.push(metric);
      return [metric, rows.map((row) => (assert.notEqual(row[column].trim(), ""), Number(row[column])))];
    });
    for (const [metric, numbers] of values) assert.ok(numbers.every((n) => Number.isFinite(n) && n > 0), metric);
    return [name, { rows, metrics: Object.fromEntries(values) }];
  });
  assert.equal(new Set(metrics_of_all).size, metrics_of_all.length, "otava validate refuses a metric of two tests");
  return { tests: Object.fromEntries(tests), groups: document.test_groups, text: readFileSync(join(folder, "otava.yaml"), "utf8") };
}

test("otava has a test for each case, with a row for each run in the order of their starts", (t) => {
  const { code, out, err } = exported(t, [b, a], "otava");
  assert.deepEqual([code, err], [0, ""]);
  const { tests, groups } = read_otava(out);
  const values = [times_of(t, a), times_of(t, b)];
  const metrics = Object.values(tests).flatMap(({ metrics: columns }) => Object.entries(columns)).sort();
  assert.deepEqual(metrics, values[0].map(([name, value], i) => (assert.equal(values[1][i][0], name), [name, [value, values[1][i][1]]])));
  for (const { rows } of Object.values(tests)) assert.deepEqual(rows.map((row) => row.run), ["run_a", "run_b"]);
  assert.deepEqual(groups, { mprof: Object.keys(tests) });
});

test("the same runs give the same bytes, in whatever order they are named", (t) => {
  const first = exported(t, [a, b], "otava").out, second = exported(t, [b, a], "otava").out;
  const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
    .map((e) => join(e.parentPath ?? e.path, e.name)).map((file) => [file.slice(folder.length), readFileSync(file, "utf8")]).sort();
  assert.deepEqual(files(first), files(second));
});

// --- What is wrong, or missing, comes as no number

test("a case that is not ok is in no format, and a message counts it", (t) => {
  const id = "conv/cpu_naive@100", wrong = changed(t, a, (run) => (timing_of(run, id).status = "wrong"));
  const names = {
    bmf: (out) => Object.keys(JSON.parse(readFileSync(join(out, "bmf.json"), "utf8"))),
    "benchmark-action": (out) => JSON.parse(readFileSync(join(out, "benchmark-action.json"), "utf8")).map((e) => e.name),
    otava: (out) => Object.values(read_otava(out).tests).flatMap(({ metrics }) => Object.keys(metrics)),
  };
  for (const [format, names_in] of Object.entries(names)) {
    const { code, out, err } = exported(t, [wrong], format);
    assert.equal(code, 0, err);
    assert.match(err, /^mprof: the files for trackers lack these cases, which have no valid times: 1 wrong\.\n$/);
    const found = names_in(out);
    assert.ok(found.length > 0 && !found.some((name) => name.startsWith(`${id}/`)), format);
  }
});

test("in otava a run without a case has no row, and a time that a run lacks is no metric", (t) => {
  const id = "conv/cpu_naive@100", other = "conv/cpu_naive@1000";
  const gap = changed(t, b, (run) => {
    timing_of(run, id).status = "failed";
    const timing = timing_of(run, other);
    timing.measurements = timing.measurements.filter((m) => !(m.metric === "op_time" && m.op === "layer1"));
  });
  const { code, out, err } = exported(t, [a, gap], "otava");
  assert.equal(code, 0, err);
  assert.match(err, /: 1 failed\.\n$/);
  const { tests, text } = read_otava(out);
  assert.deepEqual(tests[id].rows.map((row) => row.run), ["run_a"]);
  assert.deepEqual(tests[other].rows.map((row) => row.run), ["run_a", "changed"]);
  assert.ok(!(`${other}/layer1/op_time` in tests[other].metrics) && `${other}/layer2/op_time` in tests[other].metrics);
  assert.match(text, /# layer1\/op_time: not in every run\n/);
  assert.deepEqual(tests[other].rows.map((row) => row["layer1/op_time"] === ""), [false, true]);
});

test("runs of different machines are no history", (t) => {
  const other = changed(t, b, (run) => (run.environment.cpu.model = "another CPU"));
  const { code, out, err } = exported(t, [a, other], "otava");
  assert.equal(code, 4, err);
  assert.match(err, /^mprof: --format otava: these runs are of different machines: .*another CPU in changed[^\n]*\n$/);
  assert.equal(existsSync(out), false);
});

test("a run in which nothing was timed makes no file, and the message says how its cases ended", (t) => {
  const none = changed(t, a, (run) => run.cases.forEach((c) => (timing_of(run, c.id).status = "crashed")));
  for (const format of ["bmf", "benchmark-action", "otava"]) {
    const { code, out, err } = exported(t, [none], format);
    assert.equal(code, 2, err);
    assert.match(err, /^mprof: no chosen case has a time for a tracker: \d+ crashed\. [^\n]+\n$/);
    assert.equal(existsSync(out), false);
  }
});

const refusals = {
  "several runs in a format of one": [[a, b], "bmf", /takes one directory, and 2 were given/],
  "several runs in two formats": [[a, b], "otava,csv", /takes one directory, and 2 were given/],
  "a run twice": [[a, join(b, "..", "run_a")], "otava", /was given twice/],
};
for (const [name, [runs, format, message]] of Object.entries(refusals)) {
  test(`${name}: refused, and nothing is written`, (t) => {
    const { code, out, err } = exported(t, runs, format);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.match(err, /^mprof: [^\n]+\n$/, "one message on one line");
    assert.equal(existsSync(out), false);
  });
}

test("a history needs a place of its own", () => {
  const { code, err } = mprof(["export", a, b, "--format", "otava"]);
  assert.deepEqual([code, err], [2, "mprof: --format otava of several runs needs --out DIR: where to write.\n"]);
});

test("--case chooses cases of every run of a history", (t) => {
  const { tests } = read_otava(exported(t, [a, b], "otava", ["--case", "*/cpu_naive@100"]).out);
  assert.deepEqual(Object.keys(tests), ["conv/cpu_naive@100"]);
});
