// mprof fleet, on records of one run that were made those of many machines.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, statSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, temporary } from "./support.mjs";

/** A folder of `count` copies of a run; change(case, i) may change what copy i says of a case. */
function fleet(t, count, change) {
  const folder = join(temporary(t), "fleet"), original = join(temporary(t), "run");
  const made = mprof(["run", "--variant", "elementwise/cpu_naive", "--size", "16,24", "--passes", "timing", "--rounds", "3",
    "--sampling-time", "0.3", "--quiet", "--out", original]);
  assert.equal(made.code, 0, made.err);
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
