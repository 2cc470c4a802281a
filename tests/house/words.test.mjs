// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { test } from "node:test";
import { declared_axes, declared_words, families, family_words, find_words, source, words_of } from "./house.mjs";
import { with_tree } from "./trees.mjs";

// The rooms that know no family: what one of them says of a run, it has from the family's declaration or from the record.
const folders = ["model", "system", "runner", "cli", "device", "collectors", "report", "templates"];

// Words that are a family's without being declared as its axis or noun.
const known = {
  lenet: "conv's network",
  mnist: "conv's images",
  weights: "conv's input (the weight of a rule or of a font is in the singular)",
  accuracy: "conv's quality",
  convolution: "conv's op",
  convolutions: "conv's op",
  convolutional: "conv's op",
};

// Words that families declare and anybody may use: ordinary English, or the house's own.
const ordinary = {
  size: "of anything",
  sizes: "of anything",
  iterations: "of any loop",
  element: "of a list, of a page",
  elements: "of a list, of a page",
  transformation: "of anything",
};

// Where a family's word is right all the same.
const exceptions = [
  {
    files: /^model\/migrate\//,
    words: "all",
    why: "schema 1 was conv's record: these are the old format's words",
  },
  {
    files: /^model\/(family|problem)\.hpp$/,
    words: "all",
    why: "what a family declares is explained by examples",
  },
  {
    files: /^report\/text\/(rich_text|markdown)\.[ch]pp$/,
    words: ["image", "images"],
    why: "an image of Markdown and HTML",
  },
  {
    files: /^collectors\/cuda\//,
    words: ["image"],
    lines: /counter|config/i,
    why: "CUPTI's counter data image and configuration image",
  },
  {
    files: /^report\/analysis\/reasons\/literature\.hpp$/,
    words: ["convolutional"],
    lines: /Lavin/,
    why: "the title of a paper",
  },
  {
    files: /^report\/export\/export_stacks\.cpp$/,
    words: ["weights"],
    lines: /"weights"/,
    why: "a member of speedscope's format",
  },
  {
    files: /^report\/(analysis\/program\/kernel_kinds|wording\/program)\.[ch]pp$/,
    words: ["batch", "conv", "convolution", "convolutions", "elementwise", "layer"],
    why: "what kernels of other people's programs do",
  },
];

test("no room but kernels/ knows a family", () => {
  const { wrong, unused } = find_words(source, family_words(source, { known, ordinary }), { folders, exceptions });
  const files = new Set(wrong.map((line) => line.split(":")[0]));
  assert.equal(wrong.length, 0, `${wrong.length} words of a family in ${files.size} files:\n${wrong.join("\n")}`);
  assert.deepEqual(unused, [], "exceptions that except nothing: remove them");
});

test("each family's axes are found", () => {
  const found = new Set(declared_axes(source).values());
  for (const family of families(source)) {
    assert.ok(found.has(family), `kernels/${family}/ declares no axis as '.name = "…", .plural = "…"'`);
  }
});

// --- The test itself ---

const conv = {
  "kernels/conv/lenet/family.cpp": `
    AxisInfo axis() { return {.name = "batch", .plural = "batches", .title = "Batch Size"}; }
    FamilyInfo info() { return {.id = "conv", .nouns = {.item = "image",\n .items = "images", .group = "layer"}}; }`,
  "kernels/common/op.cpp": '.item = "thing"',
  "kernels/map/map.cpp": '.name = "size",\n .plural = "sizes"',
};

test("a family's words are its folder, its axes and its nouns, less the ordinary ones", () => {
  with_tree(conv, (root) => {
    const words = [...declared_words(root)].filter(([, family]) => family === "conv").map(([word]) => word);
    assert.deepEqual(words.sort(), ["batch", "batches", "conv", "image", "images", "layer"]);
    const all = family_words(root, { known: { mnist: "data" }, ordinary: { size: "", sizes: "", map: "" } });
    assert.deepEqual([...all.keys()].sort(), [...words, "mnist"].sort());
  });
});

test("identifiers fall into their words", () => {
  assert.deepEqual(words_of("batchSize max_batch_ BatchInfo HTMLImage per-layer"), [
    "batch", "size", "max", "batch", "batch", "info", "html", "image", "per", "layer",
  ]);
  assert.deepEqual(words_of("imagery conversion 2batches x86"), ["imagery", "conversion", "batches", "x"]);
});

test("a word is found in identifiers, strings, comments and file names, with its place", () => {
  const planted = {
    ...conv,
    "runner/plan.cpp": "int a;\nint max_batch = 1;  // of all images, each image\n",
    "report/views/view.cpp": 'auto title = "Layer 1";\nstruct ImageTable {};\n',
    "templates/layer.mustache": "nothing\n",
    "cuda/device.cpp": "int batch;\n",
  };
  with_tree(planted, (root) => {
    const words = family_words(root, { known: {}, ordinary: { size: "", sizes: "", map: "" } });
    const { wrong } = find_words(root, words, { folders, exceptions: [] });
    assert.deepEqual(wrong, [
      "report/views/view.cpp:1: layer: conv",
      "report/views/view.cpp:2: image: conv",
      "runner/plan.cpp:2: batch: conv",
      "runner/plan.cpp:2: images: conv",
      "runner/plan.cpp:2: image: conv",
      "templates/layer.mustache:0: layer: conv",
    ]);
  });
});

test("an exception holds for its files, words and lines only, and is missed when nothing needs it", () => {
  const words = new Map([["image", "conv"], ["batch", "conv"]]);
  const files = { "model/a.cpp": "counter image\nplain image\nbatch\n", "model/b.cpp": "counter image\n" };
  const used = { files: /^model\/a/, words: ["image"], lines: /counter/ };
  const idle = { files: /^report\//, words: "all" };
  with_tree(files, (root) => {
    const { wrong, unused } = find_words(root, words, { folders: ["model"], exceptions: [used, idle] });
    assert.deepEqual(wrong, ["model/a.cpp:2: image: conv", "model/a.cpp:3: batch: conv", "model/b.cpp:1: image: conv"]);
    assert.deepEqual(unused, [idle]);
  });
});
