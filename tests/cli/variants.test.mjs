// SPDX-License-Identifier: MIT
// What docs/guides/variants.md repeats of the program is what the program says.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source } from "./support.mjs";

test("docs/guides/variants.md has every variant with its device and title, and no other", () => {
  const page = readFileSync(join(source, "docs/guides/variants.md"), "utf8");
  const shown = new Map([...page.matchAll(/^\| `([^`]+)` \| (CPU|GPU) \| (.*) \|$/gm)].map(([, id, device, title]) => [id, { device, title }]));
  const { variants } = JSON.parse(mprof(["list", "--json"]).out);
  assert.ok(shown.size >= variants.length && variants.length > 0);
  for (const { id, title, device } of variants) assert.deepEqual(shown.get(id), { device: device === "cpu" ? "CPU" : "GPU", title }, id);
  for (const [id, { device }] of shown) {
    // A build without CUDA has no variant for a GPU, but its file is there.
    assert.ok(existsSync(join(source, "kernels", `${id}.${device === "CPU" ? "cpp" : "cu"}`)), id);
  }
});
