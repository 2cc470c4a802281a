// SPDX-License-Identifier: MIT
// Looks at the sources as text: who includes whom, and which words stand where.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, extname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const not_ours = new Set([".git", "build", "node_modules"]);

/** The paths, relative to `root`, of all files below the folders, or of all files of `root`. */
export function files_below(root, folders = [""]) {
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (not_ours.has(entry.name)) continue;
      if (entry.isDirectory()) walk(path);
      if (entry.isFile()) found.push(path);
    }
  };
  const top = readdirSync(root);
  for (const folder of folders) if (folder === "" || top.includes(folder)) walk(folder);
  return found.sort();
}

/** The lines of a text file, or none of one with NUL bytes. */
export function lines_of(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  return text.includes("\0") ? [] : text.split("\n");
}

// --- Includes ---

const cpp = new Set([".cpp", ".hpp", ".cu", ".cuh", ".h"]);

/** The room of a file, by the longest name that covers it; undefined where there is none. */
function room_of(file, sees) {
  for (let folder = posix.dirname(file); folder !== "."; folder = posix.dirname(folder)) {
    if (folder in sees) return folder;
    if (posix.join(posix.dirname(folder), "*") in sees) return folder;
  }
  return undefined;
}

/** All rooms that a room may include. */
function visible_from(room, sees) {
  const declared = (name) => sees[name] ?? sees[posix.join(posix.dirname(name), "*")];
  const visible = new Set([room]), open = [room];
  while (open.length > 0) {
    for (const below of declared(open.pop())) {
      if (!visible.has(below)) open.push(below);
      visible.add(below);
    }
  }
  return visible;
}

/** Lines "file:line: why" for each include that runs upward, and each file or include outside all rooms. */
export function upward_includes(root, { sees, free, generated }) {
  const wrong = [];
  const top = (path) => path.split("/")[0];
  const rooms = new Set(Object.keys(sees).map(top));
  for (const file of files_below(root)) {
    if (!cpp.has(extname(file)) || !(rooms.has(top(file)) || free.includes(top(file)))) continue;
    const room = room_of(file, sees), visible = room && visible_from(room, sees);
    if (!room && free.includes(top(file))) continue;
    if (!room) wrong.push(`${file}:1: is in no room`);
    lines_of(root, file).forEach((line, index) => {
      const included = line.match(/^\s*#\s*include\s+"([^"]+)"/)?.[1];
      if (!included || generated.includes(top(included))) return;
      const where = `${file}:${index + 1}`, other = room_of(included, sees);
      if (!included.includes("/") || included.startsWith(".")) {
        wrong.push(`${where}: "${included}" is not a path from the root of the repository`);
      } else if (visible && !other) {
        wrong.push(`${where}: ${room} includes "${included}", which is in no room`);
      } else if (visible && !visible.has(other)) {
        wrong.push(`${where}: ${room} includes "${included}", and does not see ${other}`);
      }
    });
  }
  return wrong;
}

// --- Words ---

/** The words of a line: camelCase, snake_case and kebab-case come apart. In lower case. */
export function words_of(line) {
  return [...line.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)].map(([word]) => word.toLowerCase());
}

const axis = /\.name = "(\w+)",\s*\.plural = "(\w+)"/g;
const noun = /\.(?:item|items|whole|group|groups) = "(\w+)"/g;

/** [file, family] for each file of code of a family: in a folder of its own below kernels/. */
function family_files(root) {
  return files_below(root, ["kernels"])
    .map((file) => [file, ...file.split("/").slice(1)])
    .filter(([file, family, below]) => below && family !== "common" && cpp.has(extname(file)));
}

export const families = (root) => new Set(family_files(root).map(([, family]) => family));

/** The words that match in the families' sources, as word → family. */
function declared(root, pattern) {
  const words = new Map();
  for (const [file, family] of family_files(root)) {
    for (const [, ...found] of readFileSync(join(root, file), "utf8").matchAll(pattern)) {
      for (const word of found.flatMap(words_of)) words.set(word, family);
    }
  }
  return words;
}

export const declared_axes = (root) => declared(root, axis);

/** The words that are the families' own: each one's folder, the axes and nouns that it declares, as word → family. */
export function declared_words(root) {
  const names = [...families(root)].flatMap((family) => words_of(family).map((word) => [word, family]));
  return new Map([...names, ...declared_axes(root), ...declared(root, noun)]);
}

/** The words to look for, as word → whose it is: what families declare, and `known`, less the `ordinary` ones. */
export function family_words(root, { known, ordinary }) {
  const words = new Map([...declared_words(root), ...Object.entries(known)]);
  for (const word of Object.keys(ordinary)) words.delete(word);
  return words;
}

/**
 * Where one of the words stands below the folders: { wrong: ["file:line: word: whose"], unused: [exception] }. An exception
 * is { files, words, lines?, why }: `files` and `lines` are patterns, `words` a list or "all".
 */
export function find_words(root, words, { folders, exceptions }) {
  const wrong = [], used = new Set();
  for (const file of files_below(root, folders)) {
    const here = exceptions.filter(({ files }) => files.test(file));
    const lines = [file, ...lines_of(root, file)]; // its path is line 0
    lines.forEach((line, index) => {
      for (const word of new Set(words_of(line))) {
        if (!words.has(word)) continue;
        const exception = here.find((e) => (e.words === "all" || e.words.includes(word)) && (!e.lines || e.lines.test(line)));
        if (exception) used.add(exception);
        else wrong.push(`${file}:${index}: ${word}: ${words.get(word)}`);
      }
    });
  }
  return { wrong, unused: exceptions.filter((exception) => !used.has(exception)) };
}

// --- Paths of one machine ---

const machine_path = /(?<![\w.*$}/-])\/(?:home|Users|root|work|workspace|scratch|tmp)\/[\w.-]+/;

/** Lines "file:line: path" for each path that is some machine's own, but in the files that match one of the patterns. */
export function machine_paths(root, excepted) {
  const wrong = [];
  for (const file of files_below(root)) {
    if (excepted.some((pattern) => pattern.test(file))) continue;
    lines_of(root, file).forEach((line, index) => {
      const path = line.match(machine_path)?.[0];
      if (path) wrong.push(`${file}:${index + 1}: ${path}`);
    });
  }
  return wrong;
}

// --- Names of types ---

/** The types that a file defines outside anonymous namespaces, as [full name, line]. Members of types are not looked at. */
function types_of(root, file) {
  const types = [], namespaces = [];
  lines_of(root, file).forEach((line, index) => {
    const opened = line.match(/^namespace\s*([\w:]*)\s*\{/);
    if (opened) namespaces.push(opened[1]);
    if (/^\}\s*\/\/ namespace/.test(line)) namespaces.pop();
    const name = line.match(/^(?:struct|class|enum class|union)\s+(\w+)(?:\s+final)?\s*(?::[^:].*)?\{/)?.[1];
    if (name && namespaces.length > 0 && !namespaces.includes("")) types.push([[...namespaces, name].join("::"), index + 1]);
  });
  return types;
}

/** Lines "name: file:line, file:line" for each name that types of several files of the program have. */
export function types_of_one_name(root) {
  const places = new Map();
  for (const file of files_below(root)) {
    if (!cpp.has(extname(file)) || /^(tests|results)\//.test(file)) continue;
    for (const [name, line] of types_of(root, file)) places.set(name, [...(places.get(name) ?? []), `${file}:${line}`]);
  }
  return [...places].filter(([, where]) => where.length > 1).map(([name, where]) => `${name}: ${where.join(", ")}`);
}

// --- Columns ---

const positional = [
  /\.(?:integer|text|null|number|count|size|queue|if_known<[^>]*>)\(\d+\)/, // a cell of a statement
  /\b(?:a|b|row|cells|labels|columns)\[\d+\]/, // of a row
  /\b(?:row|cells)\.(?:front|back)\(\)/,
  /\b(?:row|cells|columns)\.begin\(\) \+ \d+/,
  /\bresize\(.*\.size\(\) \+ \d+/, // room for that many cells
];

/** Lines "file:line: code" for each column that is found by its number, but in the files that match one of the patterns. */
export function positional_columns(root, folders, excepted) {
  const wrong = [];
  for (const file of files_below(root).filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)))) {
    if (!cpp.has(extname(file)) || excepted.some((pattern) => pattern.test(file))) continue;
    lines_of(root, file).forEach((line, index) => {
      const code = positional.map((pattern) => line.match(pattern)?.[0]).find(Boolean);
      if (code) wrong.push(`${file}:${index + 1}: ${code}`);
    });
  }
  return wrong;
}

// --- Licences ---

const script = new Set([".mjs", ".js", ".py", ".sh", ".cmake", ".cc"]);

/** Whether a file is code: by its name, or by its first line where it has no extension. */
function is_code(root, file) {
  const extension = extname(file);
  if (cpp.has(extension) || script.has(extension) || posix.basename(file) === "CMakeLists.txt") return true;
  return extension === "" && lines_of(root, file)[0]?.startsWith("#!") === true;
}

/** Code that does not say in its first line, or in the one below `#!`, that it is under mprof's licence. */
export function without_identifier(root, excepted) {
  const has_it = (file) => {
    const lines = lines_of(root, file);
    return /^(\/\/|#) SPDX-License-Identifier: MIT$/.test(lines[0].startsWith("#!") ? lines[1] : lines[0]);
  };
  return files_below(root).filter((file) => !excepted.some((pattern) => pattern.test(file)) && is_code(root, file) && !has_it(file));
}
