#!/usr/bin/env node
// SPDX-License-Identifier: MIT
// Gives mprof's reading verbs what a stranger could have written: records, databases, tables, suites, tuned files, weights and
// images that were changed at random. Each input has a number, its seed, which alone decides what it is. An input fails where
// mprof ends by a signal, with an exit code that the verb does not have, with "out of memory" or with a message that is none;
// where it takes more time or memory than the limits; where a terminal would obey what it prints; and where it changes
// anything outside of the folder that it was told to write to.
//
//   MPROF=build/dev/mprof node tests/fuzz/verbs.mjs [--seeds N] [--from SEED] [--seconds S] [--jobs N]
//   MPROF=build/dev/mprof node tests/fuzz/verbs.mjs --replay SEED     # one input; it is kept, and the command printed
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const program = process.env.MPROF;
if (!program) throw new Error("set MPROF to the mprof program under test");

const { values: options } = parseArgs({ options: {
  seeds: { type: "string", default: "150" }, from: { type: "string", default: "1" }, seconds: { type: "string" },
  jobs: { type: "string", default: "2" }, replay: { type: "string" },
} });

/** What an input may take: CPU time, s; time in all, s, of which a busy machine takes its part; memory, KiB. */
const limits = { cpu: 30, wall: 180, memory: 2 << 20, file: 1 << 20 };

/** Numbers from a seed (mulberry32), and choices by them. */
class Random {
  constructor(seed) { this.state = seed >>> 0; }
  next() {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }
  below(n) { return Math.floor(this.next() * n); }
  of(list) { return list[this.below(list.length)]; }
}

// Values that readers stumble over.
const deep = (n) => "[".repeat(n) + "]".repeat(n);
const texts = [
  "", "\u0000", "\x1b]0;title\x07", "\u009b31m", "../../../victim", "/etc/passwd", "-wrapper", "=cmd|' /C calc'!A0", "</script><script>alert(1)</script>",
  "| a | b |\n|---|---|", "[x](javascript:alert(1))", "%s%n%n", "'; DROP TABLE x; --", "a".repeat(70_000), "\ud800", "ﷺ".repeat(500), "NaN", "1e999", "2026-99-99T99:99:99Z",
  "conv/cpu_naive", "op_time", "ok", "timing", "cpu", "cuda", "sha256:" + "0".repeat(64), "\n".repeat(1000), "*", "[", "(".repeat(5000),
];
const numbers = [0, -1, 1, 1e308, -1e308, 1e-320, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63, -(2 ** 63), 1.5, 1e18, 4294967295];
const values = (random) => random.of([
  () => null, () => true, () => ({}), () => [], () => random.of(texts), () => random.of(texts), () => random.of(numbers), () => random.of(numbers),
  () => Array.from({ length: 2000 }, (_, i) => i), () => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, i])),
])();

// --- What is done to a file. Each is given the file and the folder that holds everything.

/** The places in a JSON document: what holds each, and its key. */
function places(document, found = []) {
  if (document === null || typeof document !== "object") return found;
  for (const key of Object.keys(document)) {
    found.push([document, key]);
    places(document[key], found);
  }
  return found;
}

/** Whether an earlier change made a document that this program itself could not walk. */
const is_deep = (text) => text.includes("[".repeat(200));

function change_json(file, random) {
  const before = fs.readFileSync(file, "utf8");
  let document;
  if (is_deep(before)) return change_bytes(file, random);
  try { document = JSON.parse(before); } catch { return change_bytes(file, random); }
  let mark;
  for (let n = 1 + random.below(3); n > 0; --n) {
    const all = places(document);
    if (all.length === 0) break;
    const [holder, key] = random.of(all), [other_holder, other_key] = random.of(all);
    random.of([
      () => { holder[key] = values(random); },
      () => { holder[key] = values(random); },
      () => { Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]; },
      () => { holder[key] = structuredClone(other_holder[other_key]); },
      () => { if (!Array.isArray(holder)) holder[random.of(texts).slice(0, 100)] = values(random); },
      () => { if (Array.isArray(holder)) for (let i = 0; i < 300; ++i) holder.push(structuredClone(holder[key])); },
      () => { if (typeof holder[key] === "number") holder[key] *= -1; },
      () => { holder[key] = mark = "@deep@"; },
    ])();
  }
  let text = JSON.stringify(document);
  if (mark) text = text.replace(`"${mark}"`, deep(random.of([10, 300, 3000, 60_000, 300_000])));
  fs.writeFileSync(file, text);
}

function change_bytes(file, random) {
  let bytes = fs.readFileSync(file);
  for (let n = 1 + random.below(8); n > 0; --n) {
    const at = random.below(bytes.length + 1), length = Math.min(bytes.length - at, 1 + random.below(200));
    bytes = random.of([
      () => { const b = Buffer.from(bytes); if (at < b.length) b[at] ^= 1 << random.below(8); return b; },
      () => { const b = Buffer.from(bytes); if (at < b.length) b[at] = random.of([0, 0x7f, 0x80, 0xff, 10, 34, 92]); return b; },
      () => bytes.subarray(0, at),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]),
      () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at)]),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from(random.of([random.of(texts), String(random.of(numbers)), "[[[[{{{{\"\"\"\"", "\\u0000", "#", "\r", "\ufeff"])), bytes.subarray(at)]),
      () => { const b = Buffer.from(bytes); for (let i = 0; i < 8 && at + i < b.length; ++i) b[at + i] = random.of([0, 0xff]); return b; },
      () => bytes,
    ])();
  }
  fs.writeFileSync(file, bytes);
}

const quoted = (name) => `"${name.replaceAll('"', '""')}"`;
const sqlite = (file, statements) => spawnSync("sqlite3", [file], { input: statements, encoding: "utf8", timeout: 60_000 }).stdout ?? "";

function change_database(file, random) {
  const tables = sqlite(file, "SELECT name FROM sqlite_master WHERE type = 'table';").split("\n").filter(Boolean);
  if (tables.length === 0) return change_bytes(file, random);
  const statements = [];
  for (let n = 1 + random.below(3); n > 0; --n) {
    const name = random.of(tables), table = quoted(name);
    const columns = sqlite(file, `SELECT name FROM pragma_table_info('${name.replaceAll("'", "''")}');`).split("\n").filter(Boolean);
    const column = quoted(columns.length > 0 ? random.of(columns) : "x");
    const value = random.of(["NULL", "-1", "9223372036854775807", "-9223372036854775808", "1e308", "'x'", "x'00ff'", "zeroblob(100000)", "''",
      "char(27) || ']0;x' || char(7)", "'=cmd()'", `'${"a".repeat(5000)}'`, "rowid", "0", "random()"]);
    const endless = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT";
    const as_view = (query) => `ALTER TABLE ${table} RENAME TO ${quoted(name + "_was")};\nCREATE VIEW ${table} AS ${query};`;
    statements.push(random.of([
      () => `DROP TABLE ${table};`,
      () => `DELETE FROM ${table};`,
      () => `UPDATE ${table} SET ${column} = ${value};`,
      () => `UPDATE ${table} SET ${column} = ${value} WHERE rowid % 3 = 0;`,
      () => `INSERT INTO ${table} SELECT * FROM ${table};`,
      () => `ALTER TABLE ${table} DROP COLUMN ${column};`,
      () => `ALTER TABLE ${table} RENAME COLUMN ${column} TO "other";`,
      () => as_view(`${endless} ${columns.map((c) => `x AS ${quoted(c)}`).join(", ") || "x"} FROM r`),
      () => as_view(`SELECT a.* FROM ${quoted(name + "_was")} a, ${quoted(name + "_was")} b, ${quoted(name + "_was")} c`),
      () => `CREATE TRIGGER t AFTER INSERT ON ${table} BEGIN DELETE FROM ${table}; END;`,
      () => "PRAGMA user_version = 2147483647;",
      () => "PRAGMA application_id = 1;",
      () => "PRAGMA journal_mode = WAL;",
      () => "PRAGMA encoding = 'UTF-16le';",
      () => `PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'BLOB') WHERE name = '${name}';`,
      () => `PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = ${random.below(20)} WHERE name = '${name}';`,
      () => `PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE x(' || char(10) WHERE name = '${name}';`,
    ])());
  }
  sqlite(file, statements.join("\n"));
}

/** Something else in a file's place, or beside it. */
function change_file(file, random, root) {
  const instead = (make) => () => { fs.rmSync(file, { recursive: true, force: true }); make(); };
  const fifo = (path) => spawnSync("mkfifo", [path]);
  random.of([
    instead(() => fifo(file)),
    instead(() => fs.mkdirSync(file)),
    instead(() => fs.symlinkSync(basename(file), file)),
    instead(() => fs.symlinkSync(join(root, "victim"), file)),
    instead(() => fs.symlinkSync("nowhere", file)),
    instead(() => fs.symlinkSync("/dev/zero", file)),
    instead(() => fs.symlinkSync("/dev/full", file)),
    instead(() => fs.symlinkSync("/proc/self/environ", file)),
    instead(() => {}),
    instead(() => fs.writeFileSync(file, "")),
    () => fs.truncateSync(file, 40 * 2 ** 30),
    () => fs.chmodSync(file, 0),
    () => fs.writeFileSync(file + "-journal", super_journal(join(root, "victim"))),
    () => fs.writeFileSync(file + "-wal", Buffer.alloc(4096, 7)),
    () => fs.symlinkSync(join(root, "victim"), file + ".tmp"),
    () => fifo(file + ".tmp"),
    () => fs.linkSync(join(root, "victim"), file + ".lnk"),
  ])();
}

/** A rollback journal that names another one, which SQLite deletes when it rolls back. */
function super_journal(victim) {
  const name = Buffer.from(victim), header = Buffer.alloc(512), end = Buffer.alloc(16);
  Buffer.from("d9d505f920a163d7", "hex").copy(header);
  header.writeUInt32BE(512, 20);
  header.writeUInt32BE(4096, 24);
  end.writeUInt32BE(name.length, 0);
  end.writeUInt32BE([...name].reduce((sum, byte) => (sum + byte) >>> 0, 0), 4);
  Buffer.from("d9d505f920a163d7", "hex").copy(end, 8);
  const page = Buffer.alloc(4);
  return Buffer.concat([header, page, name, end]);
}

// --- What is read, and by which verbs. `codes`: the exit codes that a verb can have there.

const copy = (from, to) => fs.cpSync(from, to, { recursive: true });
const reading = [0, 1, 2, 4];
const record_commands = [
  ["report", "rec", "--out", "out"], ["report", "rec", "--out", "out", "--format", "md"], ["report", "rec", "--dump-view"], ["stats", "rec"], ["stats", "rec", "--format", "csv"], ["stats", "rec", "--format", "json"],
  ["export", "rec", "--out", "out"], ["compare", "rec", "whole", "--allow-different-machines"], ["compare", "whole", "rec", "--format", "json"], ["history", "rec", "whole"], ["history", "rec", "--format", "json"],
  ["status", "rec"], ["status", "rec", "--json"], ["merge", "rec", "--out", "out", "--incomplete"], ["merge", "rec", "whole", "--out", "out", "--pool"], ["fleet", "rec"], ["fleet", "--history", "rec", "--json"],
].map((words) => ({ words, codes: reading }));
/** Questions of a client of `mprof mcp`, as the server asks the processes that read. */
const question = (tool, args) => ({ words: ["answer"], codes: [0], input: JSON.stringify({ tool, arguments: { run: "rec", ...args }, facts: { bytes: 8192, allowed: [], budget_left: 0, running: "" } }) });
for (const table of ["cases", "ops", "kernels", "transfers", "counters", "lines", "findings"]) record_commands.push(question("rows", { table }));
for (const tool of ["summary", "summary", "explain", "lines"]) record_commands.push(question(tool, { case: "conv/cpu_naive@100" }));
record_commands.push(question("compare", { before: "rec", after: "whole" }), question("machine", { kind: "run" }));
const record_of = (folder) => ({
  make: (root) => { copy(folder, join(root, "rec")); copy(folder, join(root, "whole")); add_beside(join(root, "rec")); },
  read: "rec", commands: record_commands,
});

/** What a record may have beside its own files. */
function add_beside(record) {
  fs.mkdirSync(join(record, "notes"), { recursive: true });
  fs.writeFileSync(join(record, "notes", "introduction.md"), "# A note\n\n![a picture](p.png) and *text* with a [link](https://example.org).\n");
  fs.writeFileSync(join(record, "notes", "p.png"), Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex"));
  const results = [{ variant: "conv/cpu_naive", tool: "memcheck", status: "clean", errors: 0, warnings: 0, problem: [], started: "2026-11-23T00:00:00Z", mprof: { version: "1", revision: "x" } }];
  if (!fs.existsSync(join(record, "sanitizer.json"))) fs.writeFileSync(join(record, "sanitizer.json"), JSON.stringify({ schema_version: 2, results }));
}

const results = (name) => join(source, "results", name), seeds = (name) => join(source, "tests", "fuzz", "seeds", name);
const one_file = (name, from, commands) => ({ make: (root) => copy(from, join(root, "in", name)), read: "in", commands });
const nsys = [["import", "--nsys", "in/x.sqlite", "--out", "out"], ["stats", "in/x.sqlite"], ["stats", "in/x.sqlite", "--format", "csv"]].map((words) => ({ words, codes: reading }));
const small = ["--size", "16", "--quick", "--passes", "timing", "--rounds", "1", "--seed", "1", "--sampling-time", "0.01", "--out", "out"];
const machine = [...reading, 3, 5];

const subjects = {
  gpus: record_of(results("gpus")),
  course: record_of(results("course")),
  sweep: record_of(results("sweep")),
  nsys: one_file("x.sqlite", seeds("nsys/small.sqlite"), nsys),
  ncu: one_file("x.csv", seeds("ncu_csv/details.csv"), [{ words: ["import", "--ncu", "in/x.csv", "--out", "out"], codes: reading }]),
  ncu_raw: one_file("x.csv", seeds("ncu_csv/raw.csv"), [{ words: ["import", "--ncu", "in/x.csv", "--out", "out"], codes: reading }]),
  suite: one_file("x.toml", seeds("suite/first.toml"), [{ words: ["run", "--suite", "in/x.toml", "--quick", "--passes", "timing", "--timeout", "5", "--out", "out"], codes: machine }]),
  tuned: { make: (root) => { fs.mkdirSync(join(root, "in")); fs.writeFileSync(join(root, "in", "tuned.json"), tuned_file); }, read: "in",
    commands: [{ words: ["run", "--tuned=in/tuned.json", "--variant", "elementwise/cpu_naive", ...small], codes: machine }] },
  weights: one_file("w.safetensors", join(source, "data", "lenet.safetensors"), [{ words: ["doctor", "--weights", "in/w.safetensors"], codes: machine }]),
  idx: { make: (root) => { fs.mkdirSync(join(root, "in")); for (const kind of ["images-idx3", "labels-idx1"]) copy(seeds(`idx/${kind.split("-")[0]}`), join(root, "in", `t10k-${kind}-ubyte`)); }, read: "in",
    commands: [{ words: ["doctor", "--data", "in"], codes: machine }] },
};
const tuned_file = JSON.stringify({ schema_version: 1, entries: [{ variant: "elementwise/cpu_naive", device: "cpu", parameters: {}, problem: [{ axis: "size", value: 16 }] }] });

function files_below(folder) {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files_below(path) : entry.isFile() ? [path] : [];
  }).sort();
}

const change_of = (file) => (file.endsWith(".json") ? [change_json, change_json, change_json, change_bytes, change_file]
  : file.endsWith(".sqlite") ? [change_database, change_database, change_bytes, change_file] : [change_bytes, change_bytes, change_bytes, change_file]);

/** The input of a seed below `root`, and the command that reads it. */
function make(seed, root) {
  const random = new Random(seed);
  const name = random.of(Object.keys(subjects)), subject = subjects[name];
  fs.writeFileSync(join(root, "victim"), "nobody may write here\n");
  fs.mkdirSync(join(root, "tmp"));
  subject.make(root);
  const changes = [];
  for (let n = 1 + random.below(2); n > 0; --n) {
    const files = files_below(join(root, subject.read)).filter((file) => fs.statSync(file).size < 2 ** 30);
    if (files.length === 0) break;
    const file = random.of(files), change = random.of(change_of(file));
    changes.push(`${change.name} ${relative(root, file)}`);
    try { change(file, random, root); } catch (error) { changes.push(`not done: ${error.code ?? error.message}`); }
  }
  const command = random.of(subject.commands);
  if (command.words.includes("out") && random.below(4) === 0) plant_links(join(root, "out"), random, root);
  return { ...command, name, changes };
}

/** Links where mprof will write. */
function plant_links(out, random, root) {
  fs.mkdirSync(out, { recursive: true });
  fs.mkdirSync(join(root, "elsewhere"));
  for (const name of ["brief.md", "brief.md.tmp", "milestone.html.tmp", "run.json.tmp", "cases.csv", "cases.csv.tmp", "evidence.md.tmp"])
    if (random.below(2) === 0) fs.symlinkSync(join(root, "victim"), join(out, name));
  for (const name of ["charts", "kernels", "notes", "cases"]) if (random.below(3) === 0) fs.symlinkSync(join(root, "elsewhere"), join(out, name));
}

/** All that lies below a folder but in `out` and `tmp`, as one text. */
function state_of(root, folder = root) {
  return fs.readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name), status = fs.lstatSync(path);
    if (folder === root && ["out", "tmp"].includes(name)) return [];
    const line = `${relative(root, path)} ${status.mode.toString(8)} ${status.size}`;
    if (status.isDirectory()) return [line, ...state_of(root, path)];
    if (status.isSymbolicLink()) return [`${line} ${fs.readlinkSync(path)}`];
    if (!status.isFile() || status.size > 2 ** 30) return [line];
    return [`${line} ${createHash("sha256").update(fs.readFileSync(path)).digest("hex")}`];
  });
}

/** Runs mprof below the limits. { code, signal, out, err, peak: KiB, seconds } */
function run({ words, input = "" }, root) {
  const limited = `ulimit -v ${limits.memory} -t ${limits.cpu} -f ${limits.file} -c 0; exec "$@"`;
  const started = Date.now();
  const env = { PATH: process.env.PATH, HOME: join(root, "tmp"), TMPDIR: join(root, "tmp"), XDG_CACHE_HOME: join(root, "tmp"), LC_ALL: "C.UTF-8", MPROF_DATA: "", MPROF_WEIGHTS: "" };
  const child = spawn("bash", ["-c", limited, "bash", program, ...words], { cwd: root, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const result = { out: [], err: [], peak: 0, is_late: false };
  for (const stream of ["out", "err"]) child[`std${stream}`].on("data", (data) => result[stream].push(data));
  const look = setInterval(() => {
    try { result.peak = Math.max(result.peak, Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0)); } catch { /* it has ended */ }
  }, 10);
  const clock = setTimeout(() => { result.is_late = true; process.kill(-child.pid, "SIGKILL"); }, limits.wall * 1000);
  return new Promise((resolve) => child.on("close", (code, signal) => {
    clearInterval(look);
    clearTimeout(clock);
    const [out, err] = [result.out, result.err].map((parts) => Buffer.concat(parts));
    resolve({ ...result, code, signal, out, err, seconds: (Date.now() - started) / 1000 });
  }));
}

/** What a terminal would obey: C0 but tabs and line breaks, DEL, and C1 in UTF-8. */
function control_in(bytes) {
  const text = bytes.toString("utf8");
  const found = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.exec(text.replaceAll("\r\n", "\n"));
  return found ? `U+${found[0].codePointAt(0).toString(16).padStart(4, "0")} near ${JSON.stringify(text.slice(Math.max(0, found.index - 40), found.index + 20))}` : "";
}

/** Why the input failed; empty: it did not. */
function faults(input, result, before, after) {
  const said = result.err.toString("utf8").trim(), all = [];
  if (result.is_late) all.push(`did not end within ${limits.wall} s`);
  else if (result.signal) all.push(`ended by ${result.signal}${result.signal === "SIGXCPU" || result.signal === "SIGKILL" ? ` (${limits.cpu} s of CPU time)` : ""}`);
  else if (!input.codes.includes(result.code)) all.push(`exit code ${result.code}, expected ${input.codes.join(", ")}`);
  if (input.words[0] === "answer" && /"code":"(fault|too_large)"/.test(result.out.toString("utf8"))) all.push(`answered ${result.out.toString("utf8").slice(0, 300)}`);
  if (/out of memory/.test(said)) all.push(`more than ${limits.memory >> 10} MiB of memory`);
  if (result.code !== 0 && !result.signal && said === "" && result.out.length === 0) all.push("no message");
  for (const [name, bytes] of [["standard output", result.out], ["standard error", result.err]]) {
    const control = control_in(bytes);
    if (control) all.push(`${name} holds ${control}`);
  }
  const changed = [...before.filter((line) => !after.includes(line)), ...after.filter((line) => !before.includes(line))];
  if (changed.length > 0) all.push(`changed what it reads, or what is not its own: ${changed.slice(0, 4).join("; ")}`);
  return all;
}

async function one(seed, keeps) {
  const root = fs.mkdtempSync(join(tmpdir(), "mprof-fuzz-"));
  try {
    const input = make(seed, root);
    const before = state_of(root);
    const result = await run(input, root);
    const all = faults(input, result, before, state_of(root));
    if (keeps) {
      console.log(`${input.changes.join("\n")}\ncd ${root} && ${program} ${input.words.join(" ")}\nexit code ${result.code ?? result.signal}\n${result.err}`);
    }
    return { seed, input, result, all };
  } finally {
    if (!keeps) {
      spawnSync("chmod", ["-R", "u+rwX", root]);
      fs.rmSync(root, { recursive: true, force: true });
    }
  }
}

if (options.replay) {
  const { all } = await one(Number(options.replay), true);
  console.log(all.length === 0 ? "nothing is wrong" : all.join("\n"));
  process.exit(all.length === 0 ? 0 : 1);
}

const from = Number(options.from), until = options.seconds ? Date.now() + Number(options.seconds) * 1000 : Infinity;
const last = options.seconds ? Infinity : from + Number(options.seeds);
let next = from, failed = 0, peak = { peak: 0 }, slowest = { seconds: 0 };
const counts = {};
async function worker() {
  while (next < last && Date.now() < until) {
    const { seed, input, result, all } = await one(next++, false);
    counts[input.name] = (counts[input.name] ?? 0) + 1;
    if (result.peak > peak.peak) peak = { peak: result.peak, seed };
    if (result.seconds > slowest.seconds) slowest = { seconds: result.seconds, seed };
    if (all.length === 0) continue;
    ++failed;
    console.log(`seed ${seed} (${input.changes.join(", ")}; mprof ${input.words.join(" ")}): ${all.join("; ")}\n  again: MPROF=${program} node tests/fuzz/verbs.mjs --replay ${seed}`);
  }
}
await Promise.all(Array.from({ length: Number(options.jobs) }, worker));
console.log(`${next - from} inputs from seed ${from}: ${failed} failed. Highest memory ${(peak.peak / 1024).toFixed(0)} MiB (seed ${peak.seed}), longest ${slowest.seconds.toFixed(1)} s (seed ${slowest.seed}).`);
console.log(Object.entries(counts).map(([name, n]) => `${name} ${n}`).join(", "));
process.exit(failed === 0 ? 0 : 1);
