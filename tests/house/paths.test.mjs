// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { machine_paths, source } from "./house.mjs";
import { with_tree } from "./trees.mjs";

const excepted = [
  /^results\//, // records say where they were made, and are never edited
  /^tests\/golden\//, // so do the runs there
  /^tests\/kernels\/registry_test\.cpp$/, // made-up folders of users, of which an id is the last part
];

test("no file names the paths of one machine", () => {
  const wrong = machine_paths(source, excepted);
  assert.equal(wrong.length, 0, wrong.join("\n"));
});

// --- The test itself ---

test("a path of one machine is found, and what only looks like one is not", () => {
  // Put together, so that this file holds none.
  const home = ["", "home", "jo"].join("/"), root = ["", "root"].join("/");
  const harmless = [["build", "tmp", "x"], ["$HOME", "work", "x"], ["https:", "", "example.org", "home", "page"]];
  const files = {
    "README.md": `fine: ${harmless.map((parts) => parts.join("/")).join(", ")}, /tmp, /proc/self\n\nsee ${home}/mprof/x\n`,
    "results/run.json": `{"images": "${root}/data"}`,
    "data.bin": `\0${home}`,
  };
  assert.deepEqual(with_tree(files, (root) => machine_paths(root, excepted)), [`README.md:3: ${home}`]);
});
