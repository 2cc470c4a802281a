// SPDX-License-Identifier: MIT
// mprof fleet, on records of one run that were made those of many machines.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, statSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Fleet, with_fixed_times } from "../support/fabricated_fleet.mjs";
import { mprof, temporary, validate_run } from "./support.mjs";

/** A run of one case for each size, whose times are fabricated. */
function template(t, sizes) {
  const path = join(temporary(t), "run");
  const made = mprof(["run", "--variant", "elementwise/cpu_naive", "--size", sizes, "--passes", "timing", "--rounds", "3",
    "--sampling-time", "0.01", "--quiet", "--out", path]);
  assert.equal(made.code, 0, made.err);
  return with_fixed_times(path);
}

/** A folder of `count` copies of a run; change(case, i) may change what copy i says of a case. */
function fleet(t, count, change) {
  const folder = join(temporary(t), "fleet"), original = template(t, "16,24");
  mkdirSync(folder);
  for (let i = 0; i < count; ++i) {
    const copy = join(folder, `node${i}`), cases = join(copy, "cases");
    cpSync(original, copy, { recursive: true });
    for (const name of readdirSync(cases)) {
      const file = JSON.parse(readFileSync(join(cases, name), "utf8"));
      change(file.passes[0], i);
      writeFileSync(join(cases, name), JSON.stringify(file));
    }
  }
  return folder;
}

const scale = (pass, factor) => pass.measurements.filter((row) => row.metric === "op_time").forEach((row) => {
  row.samples = row.samples.map((seconds) => seconds * factor);
});

test("a slow machine and one with other bits are found and named, exit code 1", (t) => {
  const folder = fleet(t, 8, (pass, i) => {
    scale(pass, i === 3 ? 2 : 1 + i / 1000);
    if (i === 5) pass.verification[0].checksum = "0123456789abcdef";
  });
  const { code, out, err } = mprof(["fleet", folder]);
  assert.equal(code, 1, err);
  assert.match(out, /: 8 machines, 2 times, natural spread 0\.\d\s%/);
  assert.match(out, /50\.\d\s% +\S+ +SLOW +\S+node3\n +cause: not known, the records have no clocks/);
  assert.match(out, /WRONG BITS +\S+node5\n.*other bits than the fleet's/);
  assert.match(out, /6 more are ok/);
  const json = JSON.parse(mprof(["fleet", folder, "--json"]).out);
  assert.equal(json.bad, true);
  const machines = json.models[0].machines;
  assert.deepEqual(machines.filter((machine) => machine.slow).map((machine) => machine.run), [join(folder, "node3")]);
  assert.deepEqual(machines.filter((machine) => machine.other_outputs.length > 0).map((machine) => machine.run), [join(folder, "node5")]);
  assert.equal(machines.find((machine) => machine.slow).slow_times.length, 2);
  assert.equal(mprof(["fleet", folder, "--all"]).out.match(/ ok +\S+node\d/g).length, 6);
});

/** Writes what is new of the run in a folder's copies: when it started, and its GPU. */
function identify(folder, started) {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name, "run.json"), run = JSON.parse(readFileSync(file, "utf8")), before = run.started;
    run.started = started;
    run.environment.gpu = { name: "Fake GPU", UUID: `GPU-${name}` };
    writeFileSync(file, JSON.stringify(run));
    const cases = join(folder, name, "cases");
    for (const one of readdirSync(cases)) {
      const text = readFileSync(join(cases, one), "utf8");
      writeFileSync(join(cases, one), text.replaceAll(before, started));
    }
  }
  return folder;
}

test("a GPU that is slower than it was is found by its own history, whether or not there is a fleet", (t) => {
  const original = fleet(t, 6, () => {}), earlier = join(temporary(t), "earlier"), now = join(temporary(t), "now");
  cpSync(original, earlier, { recursive: true });
  cpSync(original, now, { recursive: true });
  const cases = join(now, "node4", "cases");
  for (const name of readdirSync(cases)) {
    const file = JSON.parse(readFileSync(join(cases, name), "utf8"));
    scale(file.passes[0], 4);
    writeFileSync(join(cases, name), JSON.stringify(file));
  }
  identify(earlier, "2026-01-01T00:00:00Z");
  identify(now, "2026-01-02T00:00:00Z");
  const { code, out, err } = mprof(["fleet", now, "--history", earlier]);
  assert.equal(code, 1, err);
  assert.match(out, /node4 \(GPU-node4\), 2 runs: SLOWER THAN IT WAS in 2 of 4 times, at 25\.\d.%/);
  assert.match(out, /5 with earlier runs are as they were/);
  const alone = mprof(["fleet", join(now, "node4"), join(earlier, "node4"), "--json"]);
  assert.equal(alone.code, 1, alone.err);
  const [history] = JSON.parse(alone.out).histories;
  assert.deepEqual([history.gpu, history.runs, history.declined], ["GPU-node4", 2, true]);
  assert.equal(history.declined_times[0].since, "2026-01-02T00:00:00Z");
  assert.equal(mprof(["fleet", join(now, "node1"), "--history", earlier]).code, 0);
});

const gpu_name = (gpu) => `GPU-${String(gpu).padStart(8, "0")}`;

/** A folder of merged runs of hosts with two GPUs each, as `mprof run --devices all` leaves them. */
function hosts(t, fleet, count) {
  const folder = join(temporary(t), "hosts"), shards = temporary(t);
  for (let host = 0; host < count; ++host) {
    const out = join(folder, `host${host}`);
    const merged = mprof(["merge", ...fleet.shards_of_host(join(shards, String(host)), host, 2), "--quiet", "--out", out]);
    assert.equal(merged.code, 0, merged.err);
    validate_run(out);
  }
  return folder;
}

test("of merged runs each GPU is a machine of its own: slow ones and those with other bits are found", (t) => {
  const folder = hosts(t, new Fleet(template(t, "16,24,32,40"), { natural: 0.02, slow: [5], flipped: [10] }), 8);
  const { code, out, err } = mprof(["fleet", folder]);
  assert.equal(code, 1, err);
  assert.match(out, /: 16 machines, 4 times/);
  assert.match(out, /SLOW +\S+host2 \(GPU-00000005\)/);
  assert.match(out, /WRONG BITS +\S+host5 \(GPU-00000010\)/);
  assert.match(out, /14 more are ok/);
  const { models: [{ machines }] } = JSON.parse(mprof(["fleet", folder, "--json"]).out);
  const [slow] = machines.filter((machine) => machine.slow);
  assert.deepEqual([slow.run, slow.part, slow.gpu, slow.slow_times.length], [join(folder, "host2"), gpu_name(5), gpu_name(5), 2]);
  assert.deepEqual(machines.filter((machine) => machine.other_outputs.length > 0).map((machine) => machine.gpu), [gpu_name(10)]);
  const page = join(temporary(t), "fleet.html");
  assert.equal(mprof(["fleet", folder, "--html", page]).code, 1);
  assert.match(readFileSync(page, "utf8"), /<strong>host2 GPU-00000005: SLOW<\/strong>/);
});

test("a GPU of a merged run is held against its own earlier runs, merged or not", (t) => {
  const run = template(t, "16,24,32,40"), earlier = hosts(t, new Fleet(run, { natural: 0.02 }), 2), whole = join(temporary(t), "whole");
  const fleet = new Fleet(run, { natural: 0.02, slow: [3] });
  fleet.run.started = "2099-01-01T00:00:00Z";
  const now = hosts(t, fleet, 2);
  fleet.whole_runs(whole, 4);
  for (const newest of [now, whole]) {
    const { code, out, err } = mprof(["fleet", newest, "--history", earlier, "--json"]);
    assert.equal(code, 1, err);
    const { histories } = JSON.parse(out);
    assert.deepEqual(histories.map((history) => history.runs), [2, 2, 2, 2]);
    assert.deepEqual(histories.filter((history) => history.declined).map((history) => history.gpu), [gpu_name(3)]);
  }
});

test("whole runs that were pooled say no more which GPU was slow, and their report is no longer for more GPUs", (t) => {
  const fleet = new Fleet(template(t, "16,24,32,40")), folder = temporary(t), runs = fleet.whole_runs(join(folder, "runs"), 24);
  const reports = [6, 24].map((gpus) => {
    const out = join(folder, `of ${gpus}`);
    assert.equal(mprof(["merge", ...runs.slice(0, gpus), "--pool", "--quiet", "--out", out]).code, 0);
    const refused = mprof(["fleet", out]);
    assert.equal(refused.code, 2);
    assert.match(refused.err, /--pool.*Give the runs that it was merged from/);
    assert.equal(mprof(["report", out]).code, 0);
    return ["brief.md", "milestone.md", "milestone.html"].map((file) => readFileSync(join(out, file), "utf8"));
  });
  for (const i of [0, 1]) assert.equal(reports[1][i].split("\n").length, reports[0][i].split("\n").length);
  assert.match(reports[1][0], /The rounds of 24 GPUs were pooled/);
  assert.match(reports[1][2], /GPU-00000015/);
  assert.doesNotMatch(reports[1][2], /GPU-00000016/, "as many parts as two hosts have GPUs");
  assert.match(reports[1][2], /8 more/);
});

test("the page has the map and names what is bad", (t) => {
  const folder = fleet(t, 8, (pass, i) => scale(pass, i === 3 ? 2 : 1 + i / 1000)), page = join(temporary(t), "fleet.html");
  assert.equal(mprof(["fleet", folder, "--html", page]).code, 1);
  const html = readFileSync(page, "utf8");
  assert.match(html, /<strong>node3: SLOW<\/strong>/);
  assert.match(html, /"kind":"fleet_map"/);
  assert.ok(statSync(page).size < 4 << 20);
});

test("a healthy fleet: exit code 0; too small a one, or none: said", (t) => {
  const folder = fleet(t, 6, (pass, i) => scale(pass, 1 + i / 50));
  const healthy = mprof(["fleet", folder]);
  assert.equal(healthy.code, 0, healthy.out);
  const directories = readdirSync(folder).map((name) => join(folder, name));
  assert.equal(mprof(["fleet", ...directories]).out, healthy.out, "runs, or the folder of them");
  const few = mprof(["fleet", ...directories.slice(0, 4)]);
  assert.equal(few.code, 4);
  assert.match(few.err, /fewer than five GPUs of one model/);
  for (const path of [join(folder, "nowhere"), join(folder, "node0", "cases")]) {
    const none = mprof(["fleet", path]);
    assert.equal(none.code, 2);
    assert.match(none.err, /there is no run of mprof/);
  }
});
