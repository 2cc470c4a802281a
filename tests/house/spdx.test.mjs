// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { source, without_identifier } from "./house.mjs";
import { with_tree } from "./trees.mjs";

// Sources whose licence is not ours to state.
const excepted = [
  /^results\//, // recorded as they were
  /^tests\/golden\//, // so are these
  /^kernels\/[^/]+\/plugin\/first/, // what `mprof new` writes is its user's
];

test("each source says its licence", () => {
  const wrong = without_identifier(source, excepted);
  assert.equal(wrong.length, 0, `no line "SPDX-License-Identifier: MIT" at the head of:\n${wrong.join("\n")}`);
});

// --- The test itself ---

test("a source without the line is found, wherever its first line stands", () => {
  const identifier = ["SPDX", "License", "Identifier"].join("-") + ": MIT"; // so that this file has it once
  const files = {
    "a/good.cpp": `// ${identifier}\n#include <string>\n`,
    "a/none.cpp": "#include <string>\n",
    "a/late.hpp": `#pragma once\n\n\n// ${identifier}\n`,
    "a/other.cu": "// SPDX-License-Identifier: GPL-3.0-only\n",
    "scripts/good": `#!/usr/bin/env bash\n# ${identifier}\n`,
    "scripts/none": "#!/bin/sh\ntrue\n",
    "CMakeLists.txt": "project(x)\n",
    "README.md": "# No source\n",
    "results/r/kernel.cu": "",
  };
  const found = with_tree(files, (root) => without_identifier(root, excepted));
  assert.deepEqual(found, ["CMakeLists.txt", "a/late.hpp", "a/none.cpp", "a/other.cu", "scripts/none"]);
});
