// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { habit, headers, limit, pages, read_english, read_file, sources } from "../../scripts/maintenance/english.mjs";

const over = ({ sentences }) => sentences.filter(({ words }) => words > limit);
const faults_of = (page) => {
  const english = read_file(page);
  return [
    ...over(english).map(({ line, words, text }) => `${page}:${line}: ${words} words: ${text.slice(0, 60)} …`),
    ...english.faults.map(({ line, found, better }) => `${page}:${line}: "${found}": ${better}`),
  ];
};

test(`no sentence has more than ${limit} words, and none a private word`, () => {
  const faults = [...pages(), ...sources(), ...headers()].flatMap(faults_of);
  assert.equal(faults.length, 0, `\n${faults.join("\n")}`);
});

// --- The test itself ---

const words = (text, options) => read_english(text, options).sentences.map(({ line, words }) => [line, words]);

test("sentences end at full stops, items, cells, headings and blank lines, and code counts as one word", () => {
  const page = [
    "# Two words", //                                                 1
    "", //
    "One two three. Four `five.md and. More` six", //                 3
    "seven! (Eight nine.) *Ten.*", //                                 4
    "", //
    "- One two:", //                                                  6
    "  three four. Five", //                                          7
    "- six", //                                                       8
    "", //
    "| a b | c. D |", //                                              10
    "|---|---|", //
    "| `x | y` | [two words](https://example.org/a.b) |", //          12
    "", //
    "```sh", //
    "this is. Code", //
    "```", //
    "", //
    "    this is code, too", //
    "", //
    "<!-- no words", //
    "at all -->", //
    "End", //                                                         22
  ].join("\n");
  assert.deepEqual(words(page), [
    [1, 2], [3, 3], [3, 4], [4, 2], [4, 1], [6, 4], [7, 1], [8, 1], [10, 2], [10, 1], [10, 1], [12, 1], [12, 2], [22, 1],
  ]);
});

test("abbreviations, initials, numbers and names of files end no sentence", () => {
  assert.deepEqual(words("As in e.g. Fig. 3 by A. N. Pettitt, run.json has 1.5 ms of 3.24.14, i.e. Much."), [[1, 17]]);
  assert.deepEqual(words("It compares A with B. Then it ends."), [[1, 5], [1, 3]]);
  assert.deepEqual(words("± 1 % – and – 2 ms"), [[1, 4]]);
});

test("comments of a header are sentences of their own, and code is none", () => {
  const header = [
    "#pragma once",
    "// NOLINTNEXTLINE(x): not counted at all",
    "/// One two",
    "/// three. Four.",
    "struct A {",
    '  int b = 0;  ///< five six; "x"',
    "  /* seven",
    "   * eight */",
    "  int c = 0;  ///< nine ten,",
    "              ///< eleven",
    "  /// twelve",
    "};",
    "enum class E {",
    "  d  // thirteen fourteen",
    "};",
    "}  // namespace not::counted",
  ].join("\n");
  assert.deepEqual(words(header, { comments: true }), [[3, 3], [4, 1], [6, 3], [7, 2], [9, 3], [11, 1], [14, 2]]);
});

test("headers of all rooms are read, and what a GPU's and a C compiler include", () => {
  const rooms = new Set(headers().map((file) => file.split("/")[0]));
  assert.ok(["cli", "cuda", "kernels", "model", "plugin", "report", "runner", "tests"].every((room) => rooms.has(room)));
  assert.ok([".hpp", ".cuh", ".h"].every((end) => headers().some((file) => file.endsWith(end))));
});

test("sources of all rooms that print are read, those for a GPU too", () => {
  const rooms = new Set(sources().map((file) => file.split("/")[0]));
  const printing = ["cli", "collectors", "cuda", "device", "injection", "inputs", "kernels", "model", "plugin", "report", "runner", "serve", "system"];
  assert.deepEqual([...rooms].sort(), printing.filter((room) => rooms.has(room)));
  assert.ok(["cuda", "report", "serve"].every((room) => rooms.has(room)));
  assert.ok([".cpp", ".cu"].every((end) => sources().some((file) => file.endsWith(end))));
});

test("what a source prints is read, neighbouring literals as one, and nothing else of it", () => {
  const source = [
    '#include "one two three"',
    "// it is in vain",
    'throw Error("One two "',
    '            "three.\\nFour five six");',
    'sql("SELECT a FROM b"), name("one"), say("it is \\"in vain\\" here");',
  ].join("\n");
  assert.deepEqual(words(source, { texts: true }), [[3, 3], [3, 3], [5, 5]]);
  assert.deepEqual(read_english(source, { texts: true }).faults.map(({ line, found }) => [line, found]), [[5, "in vain"]]);
});

test("a private word is found wherever it breaks, with a better one, and not within code or another word", () => {
  const { faults } = read_english("It is held\nagainst B. None can be told `apart: in vain`.\n\nA reckoning is canewd, in\nvain; disturbed.");
  assert.deepEqual(faults.map(({ line, found }) => [line, found]), [
    [1, "held against"], [2, "can be told"], [4, "reckoning"], [4, "in vain"],
  ]);
  assert.ok(faults.every(({ better }) => better.length > 0));
});

test("the habit is shorter than the limit", () => {
  assert.ok(habit < limit);
  const long = (count) => `${Array(count).fill("word").join(" ")}.`;
  assert.equal(over(read_english(`${long(limit)} ${"Word"} ${long(limit)}`)).length, 1);
});
