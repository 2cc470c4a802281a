// SPDX-License-Identifier: MIT
// Each row of a table in Markdown has as many cells as its head: a bar within a cell would begin another one, and what
// stands behind the last column is not shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { files_below, lines_of, source } from "./house.mjs";
import { with_tree } from "./trees.mjs";

const not_ours = /^(results|tests\/golden|tests\/fuzz)\//; // recorded runs and their reports stay as they were made

/** The cells of a row. A bar ends one within code too, unless a backslash stands before it. */
const cells = (line) => line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "").split(/(?<!\\)\|/).length;

/** Lines "file:line: …" for each row that has more or fewer cells than the head of its table. */
function uneven_rows(root, file) {
  const lines = lines_of(root, file), uneven = [];
  let in_code = false, columns = 0;
  lines.forEach((line, index) => {
    if (/^ *```/.test(line)) in_code = !in_code;
    if (in_code || !line.startsWith("|")) {
      columns = 0;
    } else if (columns === 0) {
      columns = /^\|[ :|-]+\|$/.test(lines[index + 1] ?? "") ? cells(line) : 0;
    } else if (cells(line) !== columns) {
      uneven.push(`${file}:${index + 1}: ${cells(line)} cells in a table of ${columns} columns`);
    }
  });
  return uneven;
}

const markdown = (root) => files_below(root).filter((file) => file.endsWith(".md") && !not_ours.test(file));

test("every row of a table has as many cells as its head", () => {
  const files = markdown(source);
  assert.ok(files.length > 20, "the pages were found");
  assert.deepEqual(files.flatMap((file) => uneven_rows(source, file)), []);
});

test("a bar within a cell is found, also in code, and an escaped one is none", () => {
  const page = ["| a | b |", "|---|---|", "| 1 | 2 |", "| |x| | 2 |", "| `x | y` | 2 |", "| `x \\| y` | 2 |", "| 1 |", "", "| no table |"];
  with_tree({ "page.md": page.join("\n") }, (root) => {
    assert.deepEqual(uneven_rows(root, "page.md").map((fault) => fault.split(" ")[0]), ["page.md:4:", "page.md:5:", "page.md:7:"]);
  });
});
