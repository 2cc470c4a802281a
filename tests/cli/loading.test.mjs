// SPDX-License-Identifier: MIT
// Which libraries the dynamic linker loads: never one from the current directory, which may hold a stranger's files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { mprof, program, temporary } from "./support.mjs";

const build = dirname(program);

/** The output of a command that must succeed. */
function output_of(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, ...options });
  assert.ok(!error, `${command}: ${error}`);
  assert.equal(status, 0, `${command} ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

/** Whether a file is a program or a shared library: ELF, with the type ET_EXEC (2) or ET_DYN (3). */
function is_loaded_by_the_linker(file) {
  const head = Buffer.alloc(18), descriptor = openSync(file, "r");
  const size = readSync(descriptor, head, 0, head.length, 0);
  closeSync(descriptor);
  return size === head.length && head.subarray(0, 4).equals(Buffer.from("\x7fELF")) && [2, 3].includes(head.readUInt16LE(16));
}

/** All of them, but those of the root folders that tests/cli/packages.test.mjs keeps. */
function elf_files_below(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "clean-roots" ? [] : elf_files_below(path);
    return entry.isFile() && is_loaded_by_the_linker(path) ? [path] : [];
  });
}

const dynamic_entries = (file) => output_of("readelf", ["--dynamic", "--wide", file], { env: { ...process.env, LC_ALL: "C" } });

/** The elements of DT_RPATH and DT_RUNPATH that the current directory or another one of the caller's has a say in. */
function open_elements(file) {
  const paths = [...dynamic_entries(file).matchAll(/\((?:RPATH|RUNPATH)\).*\[(.*)\]$/gm)].map(([, path]) => path);
  const is_closed = (element) => /^(\/|\$ORIGIN(\/|$)|\$\{ORIGIN\}(\/|$))/.test(element);
  return paths.flatMap((path) => path.split(":")).filter((element) => !is_closed(element));
}

/** Lines "FILE: the element" for each open element of each file. */
const all_open_elements = (files) => files.flatMap((file) => open_elements(file).map((element) => `${file}: "${element}"`));

const needed_by = (file) => [...dynamic_entries(file).matchAll(/\(NEEDED\).*\[(.*)\]$/gm)].map(([, name]) => name);

test("no file that is built looks for libraries in the current directory", () => {
  const files = elf_files_below(build);
  assert.ok(files.includes(program), `${program} is not among the files that were read`);
  assert.deepEqual(all_open_elements(files), []);
});

test("no file that is installed looks for libraries in the current directory", (t) => {
  const prefix = join(temporary(t), "installed");
  output_of("cmake", ["--install", build, "--prefix", prefix]);
  const files = elf_files_below(prefix);
  assert.ok(files.includes(join(prefix, "bin", "mprof")), files.join("\n"));
  assert.deepEqual(all_open_elements(files), []);
});

test("no library that is made of a user's source looks for others in the current directory", (t) => {
  const folder = temporary(t), cache = join(folder, "cache"), file = join(folder, "mine.cpp");
  assert.equal(mprof(["new", "variant", file, "--family", "elementwise"], { env: { MPROF_CACHE: cache } }).code, 0);
  const { code, err } = mprof(["list", "--source", file], { env: { MPROF_CACHE: cache } });
  assert.equal(code, 0, err);
  const libraries = elf_files_below(cache);
  assert.notEqual(libraries.length, 0);
  assert.deepEqual(all_open_elements(libraries), []);
});

// --- The attack: a directory with a stranger's libraries, which is entered to look at it ---

/** Makes a library that leaves the file `ran` in the current directory when it is loaded, and has these functions. */
function plant(folder, name, functions = [], version = "") {
  const code = join(folder, "planted.c"), map = join(folder, "planted.map");
  writeFileSync(code, `#include <stdio.h>
    ${functions.map((symbol) => `void ${symbol}(void) {}`).join("\n")}
    __attribute__((constructor)) static void run(void) { FILE *file = fopen("ran", "w"); if (file) fclose(file); }\n`);
  writeFileSync(map, `${version} { global: *; };`);
  const options = ["-shared", "-fPIC", `-Wl,--version-script=${map}`, `-Wl,-soname,${name}`, "-o", join(folder, name), code];
  output_of("cc", options);
}

test("a library in the current directory is not loaded instead of the system's", (t) => {
  const folder = join(temporary(t), "record");
  mkdirSync(folder);
  // All that the program takes from the library: with less of it the loader gives up before any of it runs.
  const wanted = [...output_of("nm", ["--dynamic", "--undefined-only", program]).matchAll(/ U (\w+)@(LIBMD\S*)/g)];
  assert.notEqual(wanted.length, 0);
  plant(folder, "libmd.so.0", wanted.map(([, name]) => name), wanted[0][2]);
  for (const args of [["--version"], ["list"], ["doctor"]]) {
    const { err } = mprof(args, { cwd: folder });
    assert.ok(!existsSync(join(folder, "ran")), `\`mprof ${args}\` ran code from the current directory: ${err}`);
  }
});

test("a library that is opened by its name is not the current directory's", (t) => {
  const folder = join(temporary(t), "record"), out = join(temporary(t), "run");
  mkdirSync(folder);
  for (const name of ["libcuda.so.1", "libnvidia-ml.so.1", "libcupti.so.12", "libcupti.so.13", "libnvperf_host.so"]) plant(folder, name);
  for (const args of [["list"], ["doctor"], ["run", "--passes", "trace", "--out", out, "--", "true"]]) {
    const { err } = mprof(args, { cwd: folder });
    assert.ok(!existsSync(join(folder, "ran")), `\`mprof ${args}\` ran code from the current directory: ${err}`);
  }
});

test("what is no library at all does not disturb from the current directory, whatever its name", (t) => {
  const folder = join(temporary(t), "record");
  mkdirSync(folder);
  const names = needed_by(program);
  assert.ok(names.includes("libc.so.6"), names.join());
  for (const name of names) writeFileSync(join(folder, basename(name)), "not a library\n");
  const { code, err } = mprof(["--version"], { cwd: folder });
  assert.equal(code, 0, err);
});

// --- The test itself ---

test("an empty or a relative element is found", (t) => {
  const folder = temporary(t), code = join(folder, "empty.c");
  writeFileSync(code, "");
  const open = (path, tags) => {
    const library = join(folder, "library.so");
    output_of("cc", ["-shared", `-Wl,-rpath,${path}`, `-Wl,--${tags}-new-dtags`, "-o", library, code]);
    return open_elements(library);
  };
  for (const tags of ["enable", "disable"]) {
    assert.deepEqual(open("/usr/lib:$ORIGIN/../lib:$ORIGIN", tags), []);
    assert.deepEqual(open(":::", tags), ["", "", "", ""]);
    assert.deepEqual(open("/usr/lib:", tags), [""]);
    assert.deepEqual(open("lib:$ORIGINAL/lib:.", tags), ["lib", "$ORIGINAL/lib", "."]);
  }
});
