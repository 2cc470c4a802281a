// What the README repeats of the program is what the program says.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { digest, head_of_brief, made_from, pictures, sample, shown_brief } from "../../scripts/maintenance/readme_pictures.mjs";
import { mprof, source } from "./support.mjs";

const readme = readFileSync(join(source, "README.md"), "utf8");

/** The rows of every table with this head, as lists of cells. */
function rows(text, head) {
  const lines = text.split("\n"), found = [];
  lines.forEach((line, at) => {
    if (line !== head) return;
    for (let i = at + 2; lines[i]?.startsWith("|"); ++i) found.push(lines[i].split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  });
  return found;
}

test("its tables have every variant with its title, and no other", () => {
  const { variants } = JSON.parse(mprof(["list", "--json"]).out);
  const told = new Map(rows(readme, "| variant | device | what it does |").map(([id, device, title]) => [id.replaceAll("`", ""), { device, title }]));
  for (const { id, title, device } of variants) {
    assert.deepEqual(told.get(id), { device: device === "cpu" ? "CPU" : "GPU", title }, id);
  }
  for (const [id, { device }] of told) {
    // A build without CUDA has no variant for a GPU, but its file is there.
    assert.ok(existsSync(join(source, "kernels", `${id}.${device === "CPU" ? "cpp" : "cu"}`)), id);
  }
  assert.ok(told.size >= variants.length);
});

test("its exit codes are those of the help", () => {
  const head = "| code | meaning |";
  const codes = rows(readme, head);
  assert.ok(codes.length > 5);
  assert.deepEqual(codes, rows(mprof(["help", "--markdown"]).out, head));
});

test("it names every verb", () => {
  const overview = readme.split("```")[1];
  const shown = [...overview.matchAll(/^mprof ([a-z]+)/gm)].map((match) => match[1]);
  const verbs = [...mprof(["--help"]).out.matchAll(/^  mprof ([a-z]+)/gm)].map((match) => match[1]);
  assert.deepEqual(shown.sort(), verbs.sort());
});

test("it shows the sample report as it is", () => {
  const again = "run node scripts/maintenance/readme_pictures.mjs";
  assert.equal(shown_brief(readme), head_of_brief(), again);
  assert.equal(readFileSync(made_from, "utf8").trim(), digest(join(sample, "milestone.html")), again);
  for (const [, file] of readme.matchAll(/(?:src|srcset)="([^"]+)"|!\[[^\]]*\]\(([^)]+)\)/g)) {
    if (file) assert.ok(existsSync(join(source, file)), file);
  }
  for (const scheme of ["light", "dark"])
    assert.equal(readFileSync(join(pictures, `report-${scheme}.png`)).subarray(1, 4).toString(), "PNG");
});
