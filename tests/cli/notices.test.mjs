// SPDX-License-Identifier: MIT
// Whoever's code or data mprof passes on is named in THIRD_PARTY_NOTICES, and in the HTML reports that hold their scripts.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { notices, parts } from "../../scripts/maintenance/notices.mjs";
import { mprof, program, source, temporary } from "./support.mjs";

const read = (...path) => readFileSync(join(source, ...path), "utf8");
const named = (kind) => new Set(parts.flatMap((part) => part[kind] ?? []));

/** What is not in `names`, of a list. */
const unnamed = (list, names) => list.filter((name) => !names.has(name));

/** "fmt" of libfmt.so.9. What stays the system's (scripts/bundle) is left out. */
function library_names(soname_list) {
  const of_the_target = /^(linux-vdso|ld-linux|libc|libm|libmvec|libdl|libpthread|librt|libresolv|libstdc\+\+|libgcc_s|libasan|libubsan)[.-]/;
  return soname_list.filter((name) => !of_the_target.test(name)).map((name) => name.match(/^lib(.+?)\.so/)[1]);
}

test("each library that the program links has an entry", () => {
  const { stdout } = spawnSync("ldd", [program], { encoding: "utf8" });
  const loaded = [...stdout.matchAll(/^\s*(\S+)/gm)].map(([, name]) => name.split("/").at(-1));
  assert.ok(loaded.includes("libc.so.6"), stdout);
  assert.deepEqual(unnamed(library_names(loaded), named("libraries")), []);
});

test("each Debian package that the program is built with has an entry", () => {
  // What builds, and leaves nothing of itself behind.
  const tools = new Set(["ca-certificates", "cmake", "g++", "git", "ninja-build"]);
  const list = read("scripts", "lib", "packages.sh").match(/build_packages=\(([^)]*)\)/)[1].trim().split(/\s+/);
  assert.deepEqual(unnamed(list.filter((name) => !tools.has(name)), named("debian")), []);
});

test("each npm package that goes into a page has an entry, and none that does not", () => {
  const { packages } = JSON.parse(read("package-lock.json"));
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== "" && !dev);
  const names = shipped.map(([path]) => path.replace(/^.*node_modules\//, ""));
  assert.deepEqual(names.sort(), [...named("npm")].sort());
});

const missing = parts.flatMap(({ debian }) => debian?.slice(0, 1) ?? []).find((name) => !existsSync(`/usr/share/doc/${name}/copyright`));

test("the texts are those of the packages", { skip: missing && `Debian's ${missing} is not installed` }, () => {
  for (const [file, text] of Object.entries(notices())) {
    assert.equal(read(...file.split("/")), text, `${file} is not what scripts/maintenance/notices.mjs writes`);
  }
});

test("an HTML report has the licences of the scripts in it", (t) => {
  const out = join(temporary(t), "compared.html"), golden = join(source, "tests", "golden");
  const { code, err } = mprof(["compare", join(golden, "run_a"), join(golden, "run_b"), "--format", "html", "--out", out]);
  assert.ok([0, 1, 4].includes(code), err);
  const page = readFileSync(out, "utf8");
  for (const owner of ["The Apache Software Foundation", "Baidu Inc", "Mike Bostock", "Microsoft Corp", "Lea Verou"]) {
    assert.ok(page.includes(owner), `${owner} is not named`);
  }
  for (const condition of ["TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION", "Permission is hereby granted, free of charge"]) {
    assert.ok(page.includes(condition), `"${condition}" is not there`);
  }
});

// --- The test itself ---

test("a library that nobody names is found", () => {
  const loaded = library_names(["linux-vdso.so.1", "libfmt.so.9", "libc.so.6", "libnew-2.0.so.1", "libmd.so.0", "libm.so.6"]);
  assert.deepEqual(loaded, ["fmt", "new-2.0", "md"]);
  assert.deepEqual(unnamed(loaded, named("libraries")), ["new-2.0"]);
});
