// SPDX-License-Identifier: MIT
// Trees of sources that tests of the tests fabricate.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Calls `visit(root)` with a folder that holds these files, { path: text }, and removes it. */
export function with_tree(files, visit) {
  const root = mkdtempSync(join(tmpdir(), "mprof-house-"));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return visit(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}
