// SPDX-License-Identifier: MIT
// Every link in Markdown leads somewhere, every page of docs/ that a file names is there, and the index knows each page.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { test } from "node:test";
import { files_below, lines_of, source } from "./house.mjs";
import { with_tree } from "./trees.mjs";

const not_ours = /^(results|tests\/golden|tests\/fuzz)\//; // recorded runs and their reports stay as they were made

/** The anchors that GitHub gives to a page's headings. */
function anchors(root, file) {
  const found = new Set();
  let in_code = false;
  for (const line of lines_of(root, file)) {
    if (/^ *```/.test(line)) in_code = !in_code;
    const heading = !in_code && line.match(/^#+ (.*)/)?.[1];
    if (!heading) continue;
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "");
    const anchor = words.trim().replaceAll(" ", "-");
    for (let n = 0; ; n++) {
      const name = n === 0 ? anchor : `${anchor}-${n}`;
      if (found.has(name)) continue;
      found.add(name);
      break;
    }
  }
  return found;
}

/** Lines "file:line: target" for each link of a Markdown file that leads nowhere. Code is not looked at. */
function broken_links(root, file) {
  const broken = [];
  let in_code = false;
  lines_of(root, file).forEach((line, index) => {
    if (/^ *```/.test(line)) in_code = !in_code;
    if (in_code || line.startsWith("    ")) return;
    for (const [, target] of line.replace(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const [path, anchor] = target.split("#");
      const page = path === "" ? file : posix.join(posix.dirname(file), path);
      const there = existsSync(join(root, page)) && (!anchor || anchors(root, page).has(anchor));
      if (!there) broken.push(`${file}:${index + 1}: ${target}`);
    }
  });
  return broken;
}

/** Lines "file:line: page" for each mention of a page below docs/ that is not there. */
function missing_pages(root, files) {
  return files.flatMap((file) =>
    lines_of(root, file).flatMap((line, index) =>
      [...line.matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)]
        .filter(([page]) => !existsSync(join(root, page)))
        .map(([page]) => `${file}:${index + 1}: ${page}`)));
}

const ours = files_below(source).filter((file) => !not_ours.test(file) && file !== "tests/house/links.test.mjs");

test("every link in Markdown leads to a page, and to a heading of it", () => {
  const pages = ours.filter((file) => file.endsWith(".md"));
  assert.deepEqual(pages.flatMap((file) => broken_links(source, file)), []);
});

test("every page of docs/ that a file names is there", () => {
  assert.deepEqual(missing_pages(source, ours), []);
});

test("docs/README.md leads to every page of docs/", () => {
  const index = readFileSync(join(source, "docs/README.md"), "utf8");
  const pages = files_below(source, ["docs"]).filter((file) => file.endsWith(".md") && file !== "docs/README.md");
  assert.deepEqual(pages.filter((page) => !index.includes(`](${page.slice("docs/".length)})`)), []);
});

// --- The test itself ---

test("a broken link, a broken anchor and a missing page are found, and what is code is not read", () => {
  const files = {
    "docs/a.md": "# A page: `x y`, twice\n[there](b.md#two-words) [gone](c.md) [no heading](b.md#three)\n"
      + "[here](#a-page-x-y-twice) [web](https://example.org/x.md) `[code](d.md)`\n```\n[code](e.md)\n```\n",
    "docs/b.md": "## Two words\n```\n# three\n```\n",
    "cli/x.cpp": '"docs/b.md and docs/f.md; other/docs/g.md"\n',
  };
  with_tree(files, (root) => {
    assert.deepEqual(broken_links(root, "docs/a.md"), ["docs/a.md:2: c.md", "docs/a.md:2: b.md#three"]);
    assert.deepEqual(missing_pages(root, ["cli/x.cpp"]), ["cli/x.cpp:1: docs/f.md"]);
  });
});
