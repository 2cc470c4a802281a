// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { source, upward_includes } from "./house.mjs";
import * as rooms from "./rooms.mjs";
import { with_tree } from "./trees.mjs";

test("no include runs upward", () => {
  const wrong = upward_includes(source, rooms);
  assert.equal(wrong.length, 0, `${wrong.length} includes against the order of tests/house/rooms.mjs:\n${wrong.join("\n")}`);
});

test("CONTRIBUTING.md says what each room is for", () => {
  const text = readFileSync(join(source, "CONTRIBUTING.md"), "utf8");
  const listed = [...text.matchAll(/^([a-z]+)\/ {2,}\S/gm)].map(([, name]) => name);
  for (const room of new Set(Object.keys(rooms.sees).map((name) => name.split("/")[0]))) {
    assert.ok(listed.includes(room), `CONTRIBUTING.md, "Where things are", does not name ${room}/`);
  }
});

// --- The test itself, on trees with known faults ---

const found_in = (files) => with_tree(files, (root) => upward_includes(root, rooms));

test("what a room sees, directly or by others, is fine", () => {
  const files = {
    "system/error.hpp": "#include <string>\n",
    "model/run.hpp": '#include "system/error.hpp"\n',
    "model/trace/trace.hpp": '#include "model/run.hpp"\n',
    "model/run.cpp": '#include "model/trace/trace.hpp"\n#include "model/derive/derive.hpp"\n',
    "kernels/a/x.cu": '#include "kernels/a/machine/y.hpp"\n#include "kernels/common/z.hpp"\n#include "model/run.hpp"\n',
    "kernels/sources.cpp": '#include "embedded/kernel_sources.hpp"\n',
    "tests/model/run_test.cpp": '#include "cli/options.hpp"\n#include "tests/support/run.hpp"\n',
  };
  assert.deepEqual(found_in(files), []);
});

test("an upward include is found, with its place", () => {
  const found = (file, included) => found_in({ [file]: `// first\n#include "${included}"\n` });
  assert.deepEqual(found("system/error.hpp", "model/run.hpp"), [
    'system/error.hpp:2: system includes "model/run.hpp", and does not see model',
  ]);
  for (const [file, included] of [
    ["model/derive/derive.cpp", "report/text/format.hpp"],
    ["inputs/idx.cpp", "device/device.hpp"],
    ["kernels/registry.cpp", "kernels/conv/lenet/lenet.hpp"],
    ["kernels/common/op.cpp", "kernels/conv/lenet/lenet.hpp"],
    ["kernels/elementwise/map/x.cpp", "kernels/conv/lenet/lenet.hpp"],
    ["collectors/times.cpp", "cuda/error.hpp"],
    ["runner/coordinator.cpp", "report/text/format.hpp"],
    ["report/text/csv.cpp", "report/trace/timeline.hpp"],
    ["report/analysis/reasons/rules.cpp", "report/views/cells.hpp"],
    ["report/analysis/reasons/rules.cpp", "report/wording/glossary.hpp"],
    ["report/wording/glossary.cpp", "report/views/cells.hpp"],
    ["report/export/csv.cpp", "report/views/cells.hpp"],
    ["report/views/cells.cpp", "runner/plan.hpp"],
    ["report/page/report.cpp", "cli/options.hpp"],
  ]) {
    assert.equal(found(file, included).length, 1, `${file} includes ${included}`);
  }
});

test("a file or an include outside all rooms is found", () => {
  assert.deepEqual(found_in({ "report/extra.cpp": "" }), ["report/extra.cpp:1: is in no room"]);
  assert.match(found_in({ "cli/main.cpp": '#include "tests/support/run.hpp"\n' })[0], /which is in no room/);
  assert.match(found_in({ "cli/main.cpp": '#include "options.hpp"\n' })[0], /not a path from the root/);
  assert.match(found_in({ "cli/main.cpp": '  # include "../model/run.hpp"\n' })[0], /not a path from the root/);
});
