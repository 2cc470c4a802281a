// SPDX-License-Identifier: MIT
// mprof submit and mprof status, with a real Slurm of two nodes on this machine, and on a machine without one.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Cluster, why_not } from "./slurm.mjs";
import { mprof, read_run, start, temporary, validate_run } from "./support.mjs";

let cluster = null, skip = why_not();
if (!skip) {
  before(async () => {
    try {
      cluster = await Cluster.start();
    } catch (error) {
      skip = `Slurm does not start here: ${error.message}`;
    }
  });
  after(() => cluster?.stop());
}

const selection = ["--variant", "elementwise/cpu_*", "--size", "16,24,32", "--passes", "timing", "--quick"];
/** Cases that a test can be in the middle of: some seconds each. */
const longer = ["--variant", "elementwise/cpu_naive", "--size", "16,24,32,40", "--passes", "timing", "--rounds", "40", "--sampling-time", "40"];
const submit = (out, ...more) => mprof(["submit", "slurm", "--out", out, ...more], { env: cluster.env });
const status = (out) => JSON.parse(mprof(["status", out, "--json"], { env: cluster.env }).out);
const statuses = (run) => run.cases.map((c) => c.passes[0]?.status);
const log = (out, name) => readFileSync(join(out, "shards", "log", `${name}.txt`), "utf8");
const job_name = (out) => JSON.parse(readFileSync(join(out, "shards", "submission.json"), "utf8")).job;
const jobs = (out) => cluster.jobs().filter((job) => job.name.startsWith(job_name(out)));
const element = (out, task) => jobs(out).find((job) => job.task === String(task));
const shard_path = (out, i) => join(out, "shards", String(i));
const finished = (path) => existsSync(join(path, "cases")) ? read_run(path).cases.filter((c) => c.passes[0]?.status === "ok").map((c) => c.id) : [];

const slurm_test = (name, body) => test(name, { skip }, async (t) => {
  if (skip) return t.skip(skip);
  await body(t, join(temporary(t), "run"));
});

const until_done = (out) => cluster.until(() => jobs(out).length === 0, "the jobs' end");

function expect_complete(out, cases) {
  validate_run(out);
  const run = read_run(out);
  assert.equal(run.state, "complete", existsSync(join(out, "shards", "log", "merge.txt")) ? log(out, "merge") : "");
  assert.deepEqual(statuses(run), Array(cases).fill("ok"));
  return run;
}

slurm_test("a whole run by an array; submitted twice, nothing runs twice", async (t, out) => {
  const at_once = () => new Promise((resolve) => {
    start(["submit", "slurm", "--out", out, ...selection, "--shards", "3", "--partition", "main"], { env: cluster.env }).on("exit", resolve);
  });
  const codes = (await Promise.all([at_once(), at_once(), at_once()])).sort();
  assert.equal(codes[0], 0);
  assert.ok(codes.every((code) => code === 0 || code === 2), `${codes}: done, or another one is at it`);
  const again = submit(out, ...selection);
  assert.equal(again.code, 0, again.err);
  assert.match(again.out, /Submitted already: \d of its jobs wait or run/);
  assert.equal(new Set(jobs(out).map((job) => job.job)).size, 2, "an array and a merge");
  assert.equal(status(out).shards.length, 3);
  await until_done(out);
  const run = expect_complete(out, 6);
  assert.deepEqual(run.parts.map((part) => part.shard), [1, 2, 3].map((index) => ({ index, count: 3 })));
  for (const i of [1, 2, 3]) assert.equal((log(out, i).match(/^Result: /gm) ?? []).length, 1, "each shard ran once");
  const { done, left, merged, shards } = status(out);
  assert.deepEqual({ done, left, merged }, { done: 6, left: 0, merged: true });
  assert.ok(shards.every((shard) => shard.state === "complete"));
  assert.match(mprof(["status", out]).out, /Complete\. Next: mprof report/);
  const times = statSync(join(out, "run.json")).mtimeMs;
  assert.match(submit(out).out, /Complete already/);
  assert.equal(jobs(out).length, 0);
  assert.equal(statSync(join(out, "run.json")).mtimeMs, times);
  assert.equal(mprof(["report", out]).code, 0);
  assert.match(submit(out, "--shards", "2").err, /divided into 3 already/);
  assert.match(submit(out, ...selection, "--hot").err, /plan has false for hot/);
});

slurm_test("a node that dies costs the case in flight; another node goes on", async (t, out) => {
  assert.equal(submit(out, ...longer, "--shards", "2").code, 0);
  const running = () => jobs(out).find((job) => job.state === "RUNNING" && job.node === "n1" && job.task !== "N/A");
  await cluster.until(() => running() && finished(shard_path(out, running().task)).length >= 1, "a finished case on n1");
  const { task } = running(), path = shard_path(out, task);
  cluster.kill_node("n1");
  const kept = read_run(path).cases.filter((c) => c.passes[0]?.status === "ok");
  await cluster.until(() => element(out, task)?.state !== "RUNNING" || element(out, task)?.node === "n2", "Slurm's notice of it");
  assert.ok(["running", "waiting"].includes(status(out).shards[task - 1].state));
  await until_done(out);
  const run = expect_complete(out, 4);
  assert.ok(kept.length >= 1);
  for (const c of kept) {
    const samples = (found) => found.passes[0].measurements.find((m) => m.metric === "total_time").samples;
    assert.deepEqual(samples(run.cases.find((other) => other.id === c.id)).slice(0, samples(c).length), samples(c), "what was finished stays");
  }
  cluster.start_node("n1");
  await cluster.until(() => cluster.nodes().filter((line) => /idle/.test(line)).length === 2, "n1 again");
});

slurm_test("a requeue, and a time limit that is near, go on where they were", async (t, out) => {
  assert.equal(submit(out, ...longer, "--shards", "2", "--time", "10").code, 0);
  const reached = (i) => finished(shard_path(out, i)).length >= 1 && element(out, i)?.state === "RUNNING";
  await cluster.until(() => reached(1) && reached(2), "a finished case in each shard");
  const ids = { 1: finished(shard_path(out, 1)), 2: finished(shard_path(out, 2)) };
  const { job } = element(out, 1);
  cluster.run("scontrol", "requeue", `${job}_1`);
  cluster.run("scancel", "--batch", "--signal=USR1", `${job}_2`);  // what Slurm sends before the limit
  await cluster.until(() => [1, 2].every((i) => element(out, i)?.state === "PENDING" || existsSync(join(out, "run.json"))), "both in the queue again");
  assert.ok(!existsSync(join(out, "run.json")), "not merged before they are through");
  for (const i of [1, 2]) for (const id of ids[i]) assert.ok(finished(shard_path(out, i)).includes(id), "what was finished stays");
  await until_done(out);
  expect_complete(out, 4);
});

slurm_test("a cancelled job: the merge names it, and submitting again runs only that", async (t, out) => {
  const submitted = submit(out, ...longer, "--shards", "2");
  assert.equal(submitted.code, 0, submitted.err);
  assert.match(submitted.out, /Submitted 2 of 2 shards as job \d+\.\nJob \d+ merges them then.*mprof status/s);
  await cluster.until(() => finished(shard_path(out, 2)).length >= 1, "a finished case in shard 2");
  const { seconds_left } = status(out);
  assert.ok(seconds_left > 0);
  cluster.run("scancel", `${element(out, 2).job}_2`);
  await until_done(out);
  assert.ok(!existsSync(join(out, "run.json")));
  assert.match(log(out, "merge"), /shards\/2 \(shard 2\/2\) is not complete: \d of its 2 cases are left/);
  const { shards, merged } = status(out);
  assert.deepEqual([shards[0].state, shards[1].state, merged], ["complete", "stopped", false]);
  assert.match(mprof(["status", out], { env: cluster.env }).out, /2\/2 +stopped .*Go on with what stopped: mprof submit slurm --out/s);
  const before = readFileSync(join(shard_path(out, 1), "run.json"), "utf8");
  assert.match(submit(out).out, /Submitted 1 of 2 shards/);
  await until_done(out);
  expect_complete(out, 4);
  assert.equal(readFileSync(join(shard_path(out, 1), "run.json"), "utf8"), before, "shard 1 did not run again");
});

slurm_test("a full disk: said in the log, nothing half-written, and it goes on when there is room", async (t) => {
  const mount = join(temporary(t), "disk"), out = join(mount, "run");
  mkdirSync(mount);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", mount], { encoding: "utf8" });
  if (mounted.status !== 0) return t.skip(`mount: ${mounted.stderr}`);
  try {
    const ballast = join(mount, "ballast");
    assert.equal(submit(out, ...longer.slice(0, 6), "--quick", "--shards", "1", "--sbatch=--hold").code, 0);
    const free = Number(spawnSync("df", ["--output=avail", "--block-size=1", mount], { encoding: "utf8" }).stdout.split("\n")[1]);
    writeFileSync(ballast, Buffer.alloc(free - 12 * 1024));
    for (const { job } of jobs(out)) cluster.run("scontrol", "release", job);
    await until_done(out);
    validate_run(shard_path(out, 1));
    assert.notEqual(read_run(shard_path(out, 1)).state, "complete");
    assert.ok(!existsSync(join(out, "run.json")) || read_run(out).state !== "complete");
    spawnSync("rm", [ballast]);
    assert.equal(status(out).shards[0].state, "stopped");
    assert.match(submit(out, "--partition", "main").out, /Submitted 1 of 1 shards/);  // and not on hold again
    await until_done(out);
    expect_complete(out, 4);
  } finally {
    spawnSync("umount", [mount]);
  }
});

test("on a machine without Slurm: exit code 5, nothing made, and --dry-run shows what it would do", (t) => {
  const cwd = temporary(t), env = { PATH: join(cwd, "empty") };
  const args = ["submit", "slurm", ...selection, "--out", "run", "--gres", "gpu:1", "--time", "30", "--sbatch=--account=a b"];
  const refused = mprof(args, { cwd, env });
  assert.equal(refused.code, 5);
  assert.match(refused.err, /^mprof: sbatch and squeue are not on PATH: this machine has no Slurm\. [^\n]+\n$/);
  const dry = mprof([...args, "--shards", "3", "--dry-run"], { cwd, env });
  assert.equal(dry.code, 0, dry.err);
  assert.match(dry.out, /^6 cases in 3 shards:\n1\/3: elementwise/);
  assert.match(dry.out, /sbatch --parsable --job-name=mprof-[0-9a-f]{8} .*--array=1-3 --requeue --signal=B:USR1@60 --gres=gpu:1 --time=30 '--account=a b' .*shard\.sh/);
  assert.match(dry.out, /--dependency=afterany:JOB --time=30 '--account=a b' .*merge\.sh/);
  assert.match(dry.out, /Nothing was submitted, and nothing written/);
  assert.deepEqual(readdirSync(cwd), []);
});

test("what submit and status do not take is refused, and nothing is made", (t) => {
  const cwd = temporary(t);
  const refused = (args, message, code = 2) => {
    const result = mprof(args, { cwd });
    assert.equal(result.code, code, result.err);
    assert.match(result.err, message);
  };
  refused(["submit", ...selection, "--out", "x"], /SCHEDULER is missing/);
  refused(["submit", "pbs", ...selection, "--out", "x"], /submit pbs: slurm is the one/);
  refused(["submit", "slurm", ...selection], /needs --out DIR/);
  refused(["submit", "slurm", "--out", "x", "--dry-run"], /say what to run/);
  refused(["submit", "slurm", ...selection, "--out", "x", "--shards", "0", "--dry-run"], /--shards 0/);
  refused(["submit", "slurm", ...selection, "--out", "x", "--sbatch", "account=a", "--dry-run"], /--sbatch account=a: .*dashes/);
  const own = { "--array=1-3": /sets --array itself: --shards /, "-a1-3": /sets --array itself/, "--signal=B:INT@5": /--time sets/,
    "--dependency=afterok:7": /--dependency itself/, "--output=x": /shards\/log of --out/, "--open-mode=truncate": /--open-mode/,
    "--parsable": /--parsable/, "--requeue": /--requeue/, "--job-name=x": /--job-name/, "--chdir=/": /--chdir/ };
  for (const [option, message] of Object.entries(own))
    refused(["submit", "slurm", ...selection, "--out", "x", `--sbatch=${option}`, "--dry-run"], message);
  refused(["status", "nowhere"], /nowhere: there is no such directory/);
  assert.deepEqual(readdirSync(cwd), []);
});

test("--dry-run refuses the directories that submit refuses", (t) => {
  const cwd = temporary(t), bin = join(cwd, "bin"), run = join(cwd, "run");
  mkdirSync(bin);
  for (const name of ["sbatch", "squeue"]) writeFileSync(join(bin, name), "#!/bin/sh\necho 17\n", { mode: 0o755 });
  assert.equal(mprof(["run", ...selection, "--out", run, "--quiet"]).code, 0);
  writeFileSync(join(cwd, "file"), "");
  mkdirSync(join(cwd, "mine"));
  writeFileSync(join(cwd, "mine", "thesis.txt"), "");
  const before = readdirSync(cwd, { recursive: true });
  const refused = { run: [2, /^mprof: --out [^\n]*run: it holds a run already; choose another directory\n$/], mine: [2, /no run of mprof/],
    file: [2, /this is a file/], "file/run": [5, /cannot make .*file\/run\/shards: Not a directory/],
    "/proc/mprof": [5, /cannot make \/proc\/mprof\/shards: No such file or directory\. Choose another --out\.\n$/] };
  for (const [out, [code, message]] of Object.entries(refused)) {
    for (const more of [["--dry-run"], []]) {
      const result = mprof(["submit", "slurm", ...selection, "--out", out, ...more], { cwd, env: { PATH: `${bin}:${process.env.PATH}` } });
      assert.equal(result.code, code, `${out} ${more}: ${result.err}`);
      assert.match(result.err, message);
      assert.equal(result.out, "");
    }
  }
  assert.equal(mprof(["submit", "slurm", ...selection, "--out", "new/run", "--dry-run"], { cwd }).code, 0);
  assert.deepEqual(readdirSync(cwd, { recursive: true }), before);
});

test("the status of a run that was never submitted", (t) => {
  const out = join(temporary(t), "run");
  assert.equal(mprof(["run", ...selection, "--out", out, "--quiet"]).code, 0);
  const { code, out: text } = mprof(["status", out]);
  assert.equal(code, 0);
  assert.match(text, /1\/1 +complete +6 +0 +0\n/);
  assert.match(text, /Complete\. Next: mprof report/);
});
