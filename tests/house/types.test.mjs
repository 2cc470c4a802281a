// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { source, types_of_one_name } from "./house.mjs";
import { with_tree } from "./trees.mjs";

test("no two types have one name", () => {
  const twice = types_of_one_name(source);
  assert.equal(twice.length, 0, `${twice.length} names of several types, of which a linker keeps one's members:\n${twice.join("\n")}`);
});

// --- The test itself, on trees with known faults ---

const found_in = (files) => with_tree(files, types_of_one_name);

test("a type that is in two files of one namespace is found, with its places", () => {
  const files = {
    "a/x.hpp": "namespace mprof {\n\nstruct Pair {\n  int a = 0;\n};\n\n}  // namespace mprof\n",
    "b/y.cpp": "namespace mprof {\n\nclass Pair final : public Base {\n};\n\n}  // namespace mprof\n",
  };
  assert.deepEqual(found_in(files), ["mprof::Pair: a/x.hpp:3, b/y.cpp:3"]);
});

test("other namespaces, declarations and members are fine", () => {
  const files = {
    "a/x.hpp": "namespace mprof {\nstruct Pair;\nstruct Pair {\n  struct Part {\n  };\n};\n}  // namespace mprof\n",
    "b/y.hpp": "namespace mprof::b {\nstruct Pair {\n};\n}  // namespace mprof::b\n",
    "b/y.cpp": "namespace mprof {\nnamespace {\nstruct Pair {\n};\n}  // namespace\nstruct Other {\n  struct Part {\n  };\n};\n}  // namespace mprof\n",
    "c/z.cpp": "namespace mprof {\nnamespace {\nstruct Pair {\n};\n}  // namespace\n\nstruct Pair::Part {\n};\n}  // namespace mprof\n",
    "tests/x.cpp": "namespace mprof {\nstruct Pair {\n};\n}  // namespace mprof\n",
  };
  assert.deepEqual(found_in(files), []);
});
