// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { positional_columns, source } from "./house.mjs";
import { with_tree } from "./trees.mjs";

// Rooms whose tables are lists of columns: what a column is called, and what stands in it, is written in one place.
const folders = ["model/trace", "report/trace", "report/export"];

test("no table counts its columns", () => {
  const wrong = positional_columns(source, folders, [/^model\/trace\/sqlite\.hpp$/]); // the only column of a query
  assert.deepEqual(wrong, []);
});

test("a column by its number is found in each of its forms, with its place", () => {
  const planted = {
    "model/trace/reader.cpp": "x = rows.integer(2);\ny = row.text(0);\nz = rows.if_known<std::uint32_t>(33);\nconst int n = 3;\n",
    "report/trace/tables.cpp": "row.resize(row.size() + 9);\nstd::tie(a[2], b[0]);\nrow[3] = one;\nsize[0] = 1;\n",
    "report/export/csv.cpp": "rows.back().insert(row.begin() + 1, x);\nname = row.back();\nall.back() = x;\n",
    "report/views/view.cpp": "row.integer(2);\n",
  };
  with_tree(planted, (root) => {
    assert.deepEqual(positional_columns(root, folders, []), [
      "model/trace/reader.cpp:1: .integer(2)",
      "model/trace/reader.cpp:2: .text(0)",
      "model/trace/reader.cpp:3: .if_known<std::uint32_t>(33)",
      "report/export/csv.cpp:1: row.begin() + 1",
      "report/export/csv.cpp:2: row.back()",
      "report/trace/tables.cpp:1: resize(row.size() + 9",
      "report/trace/tables.cpp:2: a[2]",
      "report/trace/tables.cpp:3: row[3]",
    ]);
    assert.deepEqual(positional_columns(root, folders, [/\.cpp$/]), []);
  });
});
