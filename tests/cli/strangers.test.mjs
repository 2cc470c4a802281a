// SPDX-License-Identifier: MIT
// Result directories of strangers: reading one changes nothing in it, touches nothing outside, and comes to an end.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync, existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, renameSync, rmSync, statSync,
  symlinkSync, utimesSync, writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, program, small, source, start, temporary, until } from "./support.mjs";

const record = join(source, "results", "suite"), other = record, different = join(source, "results", "course");
const weights = join(source, "data", "lenet.safetensors");

/** A copy that a test may do anything to. */
function copied(t) {
  const folder = temporary(t), path = join(folder, "rec");
  cpSync(record, path, { recursive: true });
  return { folder, path, out: join(folder, "out") };
}

/** Each file and folder below a path, with all that there is to know of it. */
function state_of(path) {
  const state = {};
  for (const name of ["", ...readdirSync(path, { recursive: true })].sort()) {
    const file = join(path, name), status = lstatSync(file);
    const content = status.isFile() ? createHash("sha256").update(readFileSync(file)).digest("hex")
      : status.isSymbolicLink() ? readlinkSync(file) : "";
    state[name] = `${status.mode.toString(8)} ${status.mtimeMs} ${status.size} ${content}`;
  }
  return state;
}

/** Every verb that reads a record; what it makes is elsewhere. */
const reading = ({ path, out }) => ({
  report: ["report", path, "--out", out],
  stats: ["stats", path],
  "stats FILE": ["stats", join(path, "trace.sqlite"), "--format", "csv"],
  export: ["export", path, "--out", out],
  "export as nsys": ["export", path, "--format", "nsys", "--case", "*@*", "--out", out],
  compare: ["compare", path, other, "--allow-different-machines", "--format", "html", "--out", join(out, "..", "c.html")],
  "compare as B": ["compare", other, path, "--allow-different-machines"],
  history: ["history", path, other],
  fleet: ["fleet", path, other],
  ranks: ["ranks", path],
  status: ["status", path],
  merge: ["merge", path, different, "--out", out],
  import: ["import", "--nsys", join(path, "trace.sqlite"), "--out", out],
});

/** Runs them all; each within a minute, with one of the documented exit codes, and without a trace of it in the record. */
function read_by_all(given, codes, holds = () => {}) {
  const before = state_of(given.path);
  for (const [verb, args] of Object.entries(reading(given))) {
    const result = mprof(args, { timeout: 120_000 });
    assert.ok(codes.includes(result.code), `${verb}: ${result.code} ${result.err}`);
    assert.deepEqual(state_of(given.path), before, verb);
    rmSync(given.out, { recursive: true, force: true });
    holds(verb, result);
  }
}

test("reading a record changes nothing in it", (t) => {
  const given = copied(t);
  for (const name of readdirSync(given.path)) utimesSync(join(given.path, name), 1e9, 1e9);
  const done = [];
  read_by_all(given, [0, 1, 2, 4], (verb, { code }) => code === 0 && done.push(verb));
  for (const verb of ["report", "stats", "stats FILE", "export", "status"]) assert.ok(done.includes(verb), verb);
});

/** As SQLite has it for a change of several files: it deletes the file that is named when the journal is done with. */
function super_journal(database, victim) {
  const bytes = readFileSync(database), size = bytes.readUInt16BE(16), name = Buffer.from(victim);
  const number = (value) => { const four = Buffer.alloc(4); four.writeUInt32BE(value); return four; };
  const magic = Buffer.from("d9d505f920a163d7", "hex");
  const head = Buffer.concat([magic, ...[0, 0, bytes.length / size, 512, size].map(number)]);
  const sum = name.reduce((total, byte) => total + byte, 0);
  return Buffer.concat([head, Buffer.alloc(512 - head.length), number(0x40000000 / size + 1), name, number(name.length), number(sum), magic]);
}

test("what lies beside a trace is not applied, and deletes nothing", (t) => {
  const given = copied(t), trace = join(given.path, "trace.sqlite"), victim = join(given.folder, "victim.txt");
  writeFileSync(victim, "mine");
  const planted = { "-journal": super_journal(trace, victim), "-wal": Buffer.alloc(5000, "x"), "-shm": Buffer.alloc(100, "x") };
  for (const [ending, bytes] of Object.entries(planted)) {
    writeFileSync(trace + ending, bytes);
    read_by_all(given, [0, 1, 2, 4], (verb, { code, err }) => {
      assert.equal(readFileSync(victim, "utf8"), "mine", verb);
      if (ending === "-shm" || !["stats", "stats FILE", "report", "export"].includes(verb)) return;
      assert.equal(code, 2, `${verb}: ${err}`);
      assert.match(err, new RegExp(`trace\\.sqlite${ending} lies beside it, with a change that was not finished`));
    });
    rmSync(trace + ending);
  }
});

test("a pipe in place of a file is refused by name, and not waited for", (t) => {
  const given = copied(t);
  const first = join("cases", readdirSync(join(given.path, "cases"))[0]);
  for (const name of ["run.json", first, "trace.sqlite", "sanitizer.json", "notes/introduction.md"]) {
    const file = join(given.path, name), aside = join(given.folder, "aside");
    const was_there = existsSync(file);
    if (was_there) renameSync(file, aside);
    mkdirSync(join(file, ".."), { recursive: true });
    assert.equal(spawnSync("mkfifo", [file]).status, 0);
    read_by_all(given, [0, 1, 2, 4], (verb, { code, err }) => {
      if (verb !== "report") return;
      assert.equal(code, 2, `${name}: ${err}`);
      assert.ok(err.includes(`${file}: it is a named pipe, not a file`), err);
    });
    rmSync(file);
    if (was_there) renameSync(aside, file);
  }
});

const endless = {
  "a suite": ["run", "--suite", "/dev/zero"],
  "weights": [...small, "--weights", "/dev/zero"],
  "counters": ["import", "--ncu", "/dev/zero", "--out", "out"],
  "a trace": ["stats", "/dev/zero"],
  "tuned parameters": ["run", "--variant", "conv/cpu_threads", "--tuned=/dev/zero"],
};
for (const [what, args] of Object.entries(endless)) {
  test(`${what} from a device without an end: refused before it is read`, (t) => {
    const { code, err } = mprof(args, { cwd: temporary(t), timeout: 120_000 });
    assert.equal(code, 2, err);
    assert.match(err, /\/dev\/zero: it is a device, not a file/);
  });
}

test("JSON of more values than a record has is refused", (t) => {
  const given = copied(t);
  const file = join(given.path, "run.json"), before = readFileSync(file, "utf8");
  writeFileSync(file, before.replace(/^\s*\{/, `{"zzz": [${"0,".repeat(30_000_000)}0],`));
  const { code, err } = mprof(["report", given.path]);
  assert.equal(code, 2, err);
  assert.match(err, /run\.json: reading it takes more memory than 256 MiB and three times the size of its files/);
});

test("JSON of an older version is refused for what its migration takes", (t) => {
  const given = copied(t);
  const file = join(given.path, "run.json"), before = readFileSync(file, "utf8").replace(/"schema_version": \d+/, '"schema_version": 1');
  // Few enough for the document by itself; its tree and the migrated document are more.
  writeFileSync(file, before.replace(/^\s*\{/, `{"zzz": [${"0,".repeat(12_000_000)}0],`));
  const { code, err } = mprof(["report", given.path]);
  assert.equal(code, 2, err);
  assert.match(err, /run\.json: reading it takes more memory than 256 MiB and three times the size of its files/);
});

test("JSON and TOML that nest deeply are refused, wherever they stand", (t) => {
  const given = copied(t);
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  const first = join("cases", readdirSync(join(given.path, "cases"))[0]);
  for (const name of ["run.json", first, "sanitizer.json"]) {
    const file = join(given.path, name), before = existsSync(file) ? readFileSync(file, "utf8") : "{}";
    writeFileSync(file, before.replace(/^\s*\{/, `{"zzz": ${deep}${before === "{}" ? "" : ","}`));
    read_by_all(given, [0, 1, 2, 4], (verb, { code, err }) => {
      if (verb !== "report") return;
      assert.equal(code, 2, err);
      assert.match(err, /nested deeper than 100 levels/);
    });
    if (before === "{}") rmSync(file); else writeFileSync(file, before);
  }
  const file = join(given.folder, "deep");
  writeFileSync(file, `{"zzz": ${deep}}`);
  const tuned = mprof(["run", "--variant", "conv/cpu_threads", `--tuned=${file}`]);
  assert.equal(tuned.code, 2, tuned.err);
  const header = Buffer.from(`{"zzz": ${deep}}`), length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(file, Buffer.concat([length, header]));
  const weighed = mprof([...small, "--weights", file, "--out", given.out]);
  assert.equal(weighed.code, 2, weighed.err);
  for (const text of [`a = ${deep}`, `a${".a".repeat(100_000)} = 1`, `[a${".a".repeat(100_000)}]`, `a = ${"{a=".repeat(100_000)}`]) {
    writeFileSync(file, text);
    const suite = mprof(["run", "--suite", file]);
    assert.equal(suite.code, 2, `${text.slice(0, 20)}: ${suite.err.slice(0, 500)}`);
  }
});

test("a link that was planted where a report or an export is written leads nowhere", (t) => {
  const given = copied(t), elsewhere = join(given.folder, "elsewhere"), victim = join(elsewhere, "victim");
  mkdirSync(elsewhere);
  writeFileSync(victim, "mine");
  const before = state_of(elsewhere);
  const files = ["brief.md", "milestone.md", "milestone.html", "evidence.md", "run.json"];
  for (const file of files) symlinkSync(victim, join(given.path, `${file}.tmp`));
  symlinkSync(victim, join(given.path, "brief.md"));
  assert.equal(mprof(["report", given.path]).code, 0);
  assert.deepEqual(state_of(elsewhere), before);
  assert.ok(lstatSync(join(given.path, "brief.md")).isFile(), "the file itself, in place of the link");
  rmSync(join(given.path, "charts"), { recursive: true, force: true });
  for (const folder of ["charts", "export"]) symlinkSync(elsewhere, join(given.path, folder));
  for (const args of [["report", given.path], ["export", given.path]]) {
    const { code, err } = mprof(args);
    assert.equal(code, 2, err);
    assert.match(err, /(charts|export): it is a symbolic link, which is not followed/);
  }
  assert.deepEqual(state_of(elsewhere), before);
});

test("beside a file that is named, no link at a guessed name is followed", (t) => {
  const folder = temporary(t), victim = join(folder, "victim"), page = join(folder, "c.html");
  writeFileSync(victim, "mine");
  for (const name of ["c.html.tmp", ".c.html.tmp"]) symlinkSync(victim, join(folder, name));
  const { code, err } = mprof(["compare", record, record, "--format", "html", "--out", page]);
  assert.equal(code, 0, err);
  assert.equal(readFileSync(victim, "utf8"), "mine");
  assert.match(readFileSync(page, "utf8"), /<\/html>\s*$/);
});

test("two that write to one place: one waits and says so, and both are whole", async (t) => {
  const given = copied(t);
  mkdirSync(given.out);
  const holder = spawnSync("flock", ["--version"]).error ? null : true;
  if (!holder) return t.skip("flock of util-linux is not installed");
  const { spawn } = await import("node:child_process");
  const locking = spawn("flock", ["--exclusive", given.out, "sleep", "1000"], { stdio: "ignore", detached: true });
  const locked = () => spawnSync("flock", ["--exclusive", "--nonblock", given.out, "true"]).status !== 0;
  await until(locked);
  const child = start(["export", given.path, "--out", given.out], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.on("data", (text) => { said += text; });
  const exit = new Promise((resolve) => child.on("exit", (code) => resolve(code)));
  await until(() => /another mprof is writing to .*: waiting for it/.test(said) || child.exitCode !== null);
  assert.ok(!existsSync(join(given.out, "analysis.json")));
  process.kill(-locking.pid, "SIGKILL");
  assert.equal(await exit, 0, said);
  JSON.parse(readFileSync(join(given.out, "analysis.json"), "utf8"));
});

test("a writer that stands still, and another that is killed: no file is torn", async (t) => {
  const folder = temporary(t), page = join(folder, "c.html");
  const args = ["compare", record, record, "--format", "html", "--out", page];
  const stopped = start(args), exit = new Promise((resolve) => stopped.on("exit", (code) => resolve(code)));
  await until(() => readdirSync(folder).some((name) => /^\.mprof-\w+\.tmp$/.test(name)) || stopped.exitCode !== null);
  stopped.kill("SIGSTOP");
  assert.equal(mprof(args).code, 0);
  const whole = readFileSync(page, "utf8");
  assert.match(whole, /<\/html>\s*$/);
  stopped.kill("SIGCONT");
  assert.equal(await exit, 0);
  assert.equal(readFileSync(page, "utf8"), whole, "the same bytes, from the one that was late");
  assert.deepEqual(readdirSync(folder), ["c.html"]);
});

test("links that lead in circles, and folders that may not be read, are refused as what they are", (t) => {
  for (const [name, args] of [["notes/introduction.md", "report"], ["trace.sqlite", "stats"], ["run.json", "report"], ["cases", "report"]]) {
    const given = copied(t), file = join(given.path, name);
    rmSync(file, { recursive: true, force: true });
    mkdirSync(join(file, ".."), { recursive: true });
    symlinkSync(file.split("/").at(-1), file);
    const { code, err } = mprof([args, given.path, "--out", given.out]);
    assert.equal(code, 2, `${name}: ${err}`);
    assert.match(err, /Too many levels of symbolic links/, name);
    assert.doesNotMatch(err, /leads out/);
  }
});

test("errors have no escapes of whoever named the files", (t) => {
  const folder = temporary(t);
  const { code, err } = mprof(["report", "\u001b[31mred\u009b31m\u0007"], { cwd: folder });
  assert.equal(code, 2);
  assert.match(err, /\?\[31mred\?31m\?/);
});

test("a limit on the size of files is an error of the write", (t) => {
  const given = copied(t);
  const limited = spawnSync("bash", ["-c", 'ulimit -f 8; exec "$0" "$@"', program, "export", given.path, "--out", given.out],
    { encoding: "utf8" });
  assert.equal(limited.status, 5, limited.stderr);
  assert.match(limited.stderr, /File too large\. .*ulimit -f/);
  if (existsSync(given.out)) {
    for (const name of readdirSync(given.out)) assert.doesNotMatch(name, /^\.mprof-/);
  }
});

test("folders that are made are nobody else's to write", (t) => {
  const given = copied(t);
  const made = spawnSync("bash", ["-c", 'umask 000; exec "$0" "$@"', program, "export", given.path, "--out", join(given.out, "a", "b")],
    { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  for (const folder of [given.out, join(given.out, "a"), join(given.out, "a", "b")])
    assert.equal(statSync(folder).mode & 0o022, 0, folder);
});

test("a clock that was set back while the run lasted is said", (t) => {
  const given = copied(t), file = join(given.path, "run.json");
  writeFileSync(file, readFileSync(file, "utf8").replace(/"finished": "\d{4}/, '"finished": "2024'));
  assert.equal(mprof(["report", given.path, "--format", "md", "--out", given.out]).code, 0);
  const text = ["milestone.md", "evidence.md"].map((name) => readFileSync(join(given.out, name), "utf8")).join("");
  assert.match(text, /before it started: the clock of the machine was set back/);
});
