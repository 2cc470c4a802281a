// SPDX-License-Identifier: MIT
// Shards of a run, by hand and by the examples of docs/guides/clusters.md, and the run that they are merged into.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { mprof, program, read_run, source, start, temporary, until, validate_run } from "./support.mjs";

const docs = readFileSync(join(source, "docs", "guides", "clusters.md"), "utf8");
const selection = ["--variant", "elementwise/cpu_*", "--size", "16,24,32", "--quick", "--passes", "timing"];
const shard = (out, i, n, ...more) => mprof(["run", ...selection, "--shard", `${i}/${n}`, "--out", out, "--quiet", ...more]);
const cases_of = (out) => read_run(out).cases.map((c) => c.id);

/** The directories of n shards, run. */
function shards(directory, n) {
  return Array.from({ length: n }, (_, i) => {
    const out = join(directory, "run", "shards", String(i + 1)), result = shard(out, i + 1, n);
    assert.equal(result.code, 0, result.err);
    return out;
  });
}

function refuses(args, message, code = 4) {
  const result = mprof(["merge", ...args]);
  assert.equal(result.code, code, result.err);
  assert.match(result.err, message);
  assert.match(result.err, /^mprof: [^\n]+\n$/, "one message on one line");
}

/** Complete, valid, with every case of the selection in the plan's order. */
function expect_whole(out) {
  validate_run(out);
  const run = read_run(out);
  assert.equal(run.state, "complete");
  assert.deepEqual(run.cases.map((c) => c.id), ["naive", "threads"].flatMap((name) =>
    [16, 24, 32].map((size) => `elementwise/cpu_${name}@size=${size},iterations=5`)));
  for (const c of run.cases) assert.equal(c.passes[0].status, "ok", c.id);
  assert.deepEqual(run.parts.flatMap((part) => part.cases).sort(), run.cases.map((c) => c.id).sort());
  assert.equal(run.shard, undefined);
  return run;
}

test("shards are merged whatever their order, and what is wrong with them is named", (t) => {
  const directory = temporary(t), out = join(directory, "run"), [one, two, three] = shards(directory, 3);
  validate_run(one);
  assert.deepEqual(read_run(two).shard, { index: 2, count: 3 });
  assert.equal(new Set([one, two, three].flatMap(cases_of)).size, 6, "each case in one of them");

  // One missing, one twice under two names, one of another division, plan or input.
  const left_out = cases_of(two).map((id) => id.replaceAll("/", "\\/")).join(", ");
  refuses([three, one, "--out", out], new RegExp(`2 of the plan's 6 cases are in none of these runs: ${left_out}\\..*shard 2/3`));
  refuses([one, two, three, join(one, "..", "1"), "--out", out], /given twice/, 2);
  const copy = join(directory, "copy");
  cpSync(two, copy, { recursive: true });
  refuses([one, two, three, copy, "--out", out], /one and the same run/, 2);
  const half = join(directory, "half");
  assert.equal(shard(half, 1, 2).code, 0);
  refuses([one, two, half, "--out", out], /one of 3 shards, and .*half is one of 2 shards/);
  const other = join(directory, "other");
  assert.equal(shard(other, 3, 3, "--sampling-time", "0.5").code, 0);
  refuses([one, two, other, "--out", out], /of different plans: stopping: .*0.5/);

  const elsewhere = join(directory, "elsewhere"), record = join(elsewhere, "run.json");
  cpSync(three, elsewhere, { recursive: true });
  const change = (from, to) => writeFileSync(record, readFileSync(join(three, "run.json"), "utf8").replace(from, to));
  change(/"logical_cpus": [\d.]+/, '"logical_cpus": 4096.0');
  refuses([one, two, elsewhere, "--out", out], /elsewhere cannot be merged: .*4,?096/);
  change(/"revision": "\w+/, '"revision": "beef');
  refuses([one, two, elsewhere, "--out", out], /elsewhere \(shard 3\/3\) by .*beef.*one build/);

  // The same case twice: refused, or pooled.
  const again = join(directory, "again");
  assert.equal(shard(again, 2, 3, "--seed", "77").code, 0);
  refuses([one, two, again, three, "--out", out], /is in .*shards\/2.* and in .*again.*--pool/);
  assert.ok(!existsSync(join(out, "run.json")), "nothing was merged so far");
  assert.equal(mprof(["merge", again, one, three, two, "--pool", "--out", join(directory, "pooled")]).code, 0);
  for (const c of read_run(join(directory, "pooled")).cases)
    assert.equal(c.passes[0].rounds?.length ?? 1, cases_of(two).includes(c.id) ? 2 : 1, c.id);

  // A file that was damaged.
  const file = join(copy, "cases", readdirSync(join(copy, "cases"))[0]), text = readFileSync(file, "utf8");
  for (const damaged of [text.slice(0, 300), text.replace("\"samples\": [", "\"samples\": [\"x\", "), ""]) {
    writeFileSync(file, damaged);
    refuses([one, copy, three, "--out", out], /cases\//, 2);
  }
  rmSync(file);
  refuses([one, copy, three, "--out", out], /copy \(shard 2\/3\) is not complete: 1 of its 2 cases are left/);

  const merged = mprof(["merge", three, one, two, "--out", out]);
  assert.equal(merged.code, 0, merged.err);
  assert.match(merged.out, /Merged 3 runs, 6 cases, all complete/);
  const run = expect_whole(out);
  for (const path of [one, two, three])
    for (const c of read_run(path).cases) assert.deepEqual(run.cases.find((other) => other.id === c.id), c);
  assert.ok(existsSync(join(out, "kernels", "elementwise", "cpu_naive.cpp")));
  assert.equal(mprof(["report", out]).code, 0);
  assert.equal(mprof(["compare", out, out]).code, 0);
  refuses([one, two, three, "--out", out], /holds a run already/, 2);
  refuses([one, two, three, "--out", one, "--overwrite"], /one of the runs to merge/, 2);
  assert.equal(mprof(["merge", two, three, one, "--out", out, "--overwrite", "--quiet"]).code, 0);
  expect_whole(out);
});

test("more shards than cases: some are empty, and do no harm", (t) => {
  const directory = temporary(t), out = join(directory, "run"), all = shards(directory, 8);
  assert.deepEqual(all.map((path) => cases_of(path).length), [1, 1, 1, 1, 1, 1, 0, 0]);
  assert.equal(mprof(["merge", ...all.reverse(), "--out", out]).code, 0);
  expect_whole(out);
});

test("a shard begins, goes on and ends with one command line", async (t) => {
  const directory = temporary(t), out = join(directory, "run"), one = join(out, "shards", "1"), two = join(out, "shards", "2");
  assert.equal(shard(one, 1, 2, "--resume").code, 0, "begun");
  const before = read_run(one).cases;
  const again = shard(one, 1, 2, "--resume");
  assert.equal(again.code, 0, again.err);
  assert.deepEqual(read_run(one).cases, before, "what is done stays");
  assert.match(shard(one, 2, 2, "--resume").err, /plan has 1\/2 for shard, not 2\/2/);

  const child = start(["run", ...selection, "--shard", "2/2", "--out", two, "--quiet"]);
  const exit = new Promise((resolve) => child.on("exit", resolve));
  await until(() => existsSync(join(two, "cases")) && readdirSync(join(two, "cases")).some((name) => name.endsWith(".json")));
  child.kill("SIGKILL");
  await exit;
  if (read_run(two).state !== "complete") refuses([one, two, "--out", out], /shards\/2 \(shard 2\/2\) is not complete.*run --resume/);
  const kept = read_run(two).cases.filter((c) => c.passes[0]?.status === "ok");
  assert.equal(shard(two, 2, 2, "--resume").code, 0);
  for (const c of kept) assert.deepEqual(read_run(two).cases.find((other) => other.id === c.id), c, "what was finished stays");
  assert.equal(mprof(["merge", one, two, "--out", out]).code, 0);
  expect_whole(out);
});

test("what is there can be merged, and run on from there", (t) => {
  const directory = temporary(t), out = join(directory, "run"), one = join(directory, "one");
  assert.equal(shard(one, 1, 2).code, 0);
  const merged = mprof(["merge", one, "--incomplete", "--out", out]);
  assert.equal(merged.code, 0, merged.err);
  assert.match(merged.out, /some of them still to run.*mprof run --resume/);
  assert.equal(read_run(out).state, "interrupted");
  const resumed = mprof(["run", "--resume", "--out", out, "--quiet"]);
  assert.equal(resumed.code, 0, resumed.err);
  const run = read_run(out);
  assert.equal(run.state, "complete");
  for (const c of run.cases) assert.equal(c.passes[0].status, "ok");
  for (const c of read_run(one).cases) assert.deepEqual(run.cases.find((other) => other.id === c.id), c);
});

test("status tells of shards that have not begun", (t) => {
  const out = join(temporary(t), "run"), path = (i) => join(out, "shards", String(i));
  const status = () => ({ text: mprof(["status", out]).out, json: JSON.parse(mprof(["status", out, "--json"]).out) });
  const states = (json) => json.shards.map(({ state, cases, left }) => [state, cases, left]);
  assert.equal(shard(path(1), 1, 3).code, 0);
  let { text, json } = status();
  assert.match(text, /^1\/3 +complete +2 +0 +0$/m);
  assert.match(text, /^2\/3 +not begun +0 +0 +2$/m);
  assert.match(text, /^all +2 +0 +4$/m);
  assert.match(text, new RegExp(`^2 of 3 shards have not begun: begin each, .*: mprof run --shard I/3 --out ${out}/shards/I$`, "m"));
  assert.doesNotMatch(text, /Complete|Go on/);
  assert.deepEqual(states(json), [["complete", 2, 0], ["not begun", 2, 2], ["not begun", 2, 2]]);
  assert.deepEqual([json.done, json.failed, json.left, json.shards[1].path], [2, 0, 4, ""]);

  // A shard in which a variant failed, and one that stopped.
  assert.equal(shard(path(3), 3, 3).code, 0);
  const cases = join(path(3), "cases"), file = join(cases, readdirSync(cases)[0]), record = JSON.parse(readFileSync(file, "utf8"));
  Object.assign(record.passes[0], { status: "crashed", reason: "signal 11" });
  writeFileSync(file, JSON.stringify(record));
  cpSync(path(3), path(2), { recursive: true });
  const index = join(path(2), "run.json"), run = JSON.parse(readFileSync(index, "utf8"));
  writeFileSync(index, JSON.stringify({ ...run, state: "running", shard: { index: 1, count: 3 } }));
  rmSync(path(1), { recursive: true });
  rmSync(join(path(2), "cases"), { recursive: true });
  ({ text, json } = status());
  assert.match(text, /^3\/3 +complete +1 +1 +0$/m);
  assert.match(text, /^Go on with what stopped: /m);
  assert.match(text, /^1 of 3 shards has not begun: /m);
  assert.deepEqual([json.done, json.failed, json.left], [1, 1, 6]);
});

test("status of shards that an earlier run's times divided counts what is left of all", (t) => {
  const directory = temporary(t), out = join(directory, "run"), earlier = join(directory, "earlier");
  assert.equal(mprof(["run", ...selection, "--out", earlier, "--quiet"]).code, 0);
  const folder = join(earlier, "cases"), slow = readdirSync(folder)[0];
  writeFileSync(join(folder, slow), readFileSync(join(folder, slow), "utf8").replace(/"seconds": [\d.e+-]+/, '"seconds": 1000.0'));
  assert.equal(shard(join(out, "shards", "1"), 1, 3, "--balance-by", earlier).code, 0);
  const text = mprof(["status", out]).out, json = JSON.parse(mprof(["status", out, "--json"]).out);
  assert.match(text, /^3\/3 +not begun +0 +0 +\?$/m);
  assert.match(text, /^all +1 +0 +5$/m);
  assert.deepEqual(json.shards.map((shard) => shard.left), [0, null, null]);
  assert.deepEqual([json.done, json.left], [1, 5]);
});

test("status of a merged run is complete, whatever became of its shards", (t) => {
  const out = join(temporary(t), "run"), all = shards(dirname(out), 3);
  assert.equal(mprof(["merge", ...all, "--out", out]).code, 0);
  rmSync(all[1], { recursive: true });
  assert.match(mprof(["status", out]).out, /^Complete\. Next: mprof report/m);
  assert.equal(JSON.parse(mprof(["status", out, "--json"]).out).left, 0);
});

test("status says that it does not know what jobs do where Slurm does not answer", (t) => {
  const directory = temporary(t), out = join(directory, "run"), bin = join(directory, "bin");
  const answer = (name, script) => writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  mkdirSync(bin);
  answer("sbatch", "echo 17");
  answer("squeue", ":");
  const env = { PATH: `${bin}:${process.env.PATH}` };
  const submitted = mprof(["submit", "slurm", ...selection, "--shards", "2", "--out", out], { env });
  assert.equal(submitted.code, 0, submitted.err);
  const status = (...args) => mprof(["status", out, ...args], { env }).out;
  const states = () => JSON.parse(status("--json")).shards.map((shard) => shard.state);
  assert.deepEqual(states(), ["stopped", "stopped"]);
  assert.match(status(), /^Go on with what stopped: mprof submit slurm/m);

  answer("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
  assert.deepEqual(states(), ["unknown", "unknown"]);
  assert.match(JSON.parse(status("--json")).silence, /Unable to contact slurm controller/);
  assert.match(status(), /^1\/2 +unknown +0 +0 +3$/m);
  assert.match(status(), /^What its jobs do is not known, Slurm does not answer: .*Unable to contact slurm controller$/m);
  assert.doesNotMatch(status(), /Go on/);
  env.PATH = join(directory, "nothing");
  assert.deepEqual(states(), ["unknown", "unknown"], "on a machine without Slurm");
});

test("every field of the JSON of status is documented", (t) => {
  const out = join(temporary(t), "run");
  shards(dirname(out), 1);
  const json = JSON.parse(mprof(["status", out, "--json"]).out);
  const documented = readFileSync(join(source, "docs", "formats", "status-json.md"), "utf8");
  for (const field of [...Object.keys(json), ...Object.keys(json.shards[0])]) assert.ok(documented.includes(`\`${field}`), field);
});

test("status of a run that is spread over GPUs tells the share of each", (t) => {
  const out = join(temporary(t), "run"), shares = ["GPU-a1", "GPU-b2"].map((id) => join(out, "devices", id));
  assert.equal(mprof(["run", ...selection, "--out", out, "--quiet"]).code, 0);
  const edit = (path, change) => {
    const file = join(path, "run.json"), run = JSON.parse(readFileSync(file, "utf8"));
    change(run);
    writeFileSync(file, JSON.stringify(run));
  };
  shares.forEach((path, i) => {
    mkdirSync(path, { recursive: true });
    for (const name of ["run.json", "cases"]) cpSync(join(out, name), join(path, name), { recursive: true });
    edit(path, (run) => Object.assign(run, { shard: { index: i + 1, count: 2 }, cases: run.cases.slice(3 * i, 3 * i + 3) }));
  });
  edit(shares[1], (run) => { run.state = "running"; });
  rmSync(join(shares[1], "cases"), { recursive: true });
  edit(out, (run) => { run.state = "running"; });
  rmSync(join(out, "cases"), { recursive: true });
  const text = mprof(["status", out]).out;
  assert.match(text, /^1\/2 +complete +3 +0 +0 +GPU-a1$/m);
  assert.match(text, /^2\/2 +stopped +0 +0 +3 +GPU-b2$/m);
  assert.match(text, new RegExp(`Go on with it: mprof run --resume --out ${out}$`, "m"));
  assert.deepEqual(JSON.parse(mprof(["status", out, "--json"]).out).shards.map((shard) => shard.path), shares);
});

test("shards follow the times of an earlier run", (t) => {
  const directory = temporary(t), earlier = join(directory, "earlier");
  assert.equal(mprof(["run", ...selection, "--out", earlier, "--quiet"]).code, 0);
  const folder = join(earlier, "cases"), slow = readdirSync(folder)[0];
  writeFileSync(join(folder, slow), readFileSync(join(folder, slow), "utf8").replace(/"seconds": [\d.e+-]+/, '"seconds": 1000.0'));
  const sizes = [1, 2].map((i) => {
    assert.equal(shard(join(directory, String(i)), i, 2, "--balance-by", earlier).code, 0);
    return cases_of(join(directory, String(i))).length;
  });
  assert.deepEqual(sizes, [1, 5]);
});

test("what --shard, --balance-by and merge do not take is refused, and nothing is made", (t) => {
  const cwd = temporary(t);
  for (const text of ["0/2", "3/2", "1", "1/0", "a/b", "1/2/3", "-1/2", "1/1000000"]) {
    const { code, err } = mprof(["run", ...selection, `--shard=${text}`, "--out", "x"], { cwd });
    assert.equal(code, 2);
    assert.match(err, /give I\/N/);
  }
  assert.match(mprof(["run", ...selection, "--balance-by", "x"], { cwd }).err, /give both/);
  assert.match(mprof(["run", ...selection, "--shard", "1/2", "--balance-by", "nowhere"], { cwd }).err, /nowhere: there is no such directory/);
  assert.match(mprof(["merge", "nowhere", "--out", "x"], { cwd }).err, /nowhere/);
  assert.match(mprof(["merge"], { cwd }).err, /DIR... is missing/);
  assert.match(mprof(["merge", "nowhere"], { cwd }).err, /needs --out DIR/);
  assert.deepEqual(readdirSync(cwd), []);
});

/** The block of code below a heading of docs/guides/clusters.md, with this test's cases for all. */
function example(heading, language) {
  const section = docs.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  return section.match(new RegExp("```" + language + "\\n([^]*?)```"))[1].replaceAll("--all", selection.map((word) => `'${word}'`).join(" "));
}

/** Runs a script in a folder where mprof, and `others`, are on the path. */
function sh(t, script, cwd, others = {}) {
  const bin = join(temporary(t), "bin");
  mkdirSync(bin);
  symlinkSync(program, join(bin, "mprof"));
  for (const [name, text] of Object.entries(others)) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const result = spawnSync("sh", ["-euc", script], { cwd, encoding: "utf8", env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
  assert.equal(result.status, 0, result.stderr + result.stdout);
  return result.stdout;
}

const has_parallel = /GNU parallel/.test(spawnSync("parallel", ["--version"], { encoding: "utf8" }).stdout ?? "");

test("the example for GNU parallel", { skip: has_parallel ? false : "GNU parallel is not installed" }, (t) => {
  const cwd = temporary(t);
  sh(t, example("GNU parallel", "sh"), cwd);
  expect_whole(join(cwd, "run"));
});

test("the example for Kubernetes: what each pod of the indexed job runs", (t) => {
  const cwd = temporary(t), job = example("Kubernetes", "yaml").replaceAll("/results", cwd);
  const completions = Number(job.match(/completions: (\d+)/)[1]);
  const command = JSON.parse(job.match(/command: (\[.*\])$/m)[1]);
  assert.deepEqual(command.slice(0, 2), ["sh", "-c"]);
  for (let index = 0; index < completions; ++index) sh(t, `export JOB_COMPLETION_INDEX=${index}\n${command[2]}`, cwd);
  sh(t, docs.match(/`(mprof merge \/results[^`]*)`/)[1].replaceAll("/results", cwd), cwd);
  expect_whole(join(cwd, "run"));
});

// LSF itself is nobody's to install: this does with a command line what its manual says of these options.
const bsub = `#!/bin/sh
while [ $# -gt 1 ]; do
  case $1 in -J) name=$2; shift 2;; -Q|-gpu|-o|-w) shift 2;; -r) shift;; *) echo "bsub: $1?" >&2; exit 255;; esac
done
case $name in
  *\\[1-*\\]) last=\${name##*-}; for i in $(seq "\${last%]}"); do LSB_JOBINDEX=$i sh -c "$1" || exit; done;;
  *) sh -c "$1";;
esac
`;

test("the example for LSF: what each element of the array runs, and the job behind it", (t) => {
  const cwd = temporary(t);
  // Inside LSF's single quotes the selection needs none of its own: nothing in it is special once expanded.
  const script = example("LSF", "sh").replaceAll("'--variant' 'elementwise/cpu_*'", "--variant elementwise/cpu_naive elementwise/cpu_threads")
    .replace(/ '([\w,-]+)'(?= )/g, " $1");
  sh(t, script, cwd, { bsub });
  expect_whole(join(cwd, "run"));
});
