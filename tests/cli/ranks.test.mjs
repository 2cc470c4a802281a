// SPDX-License-Identifier: MIT
// mprof ranks, on fabricated traces of PyTorch's profiler.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fabricate_ranks } from "../support/fabricated_ranks.mjs";
import { write_many } from "../support/many_summaries.mjs";
import { mprof, temporary } from "./support.mjs";

const measured_py = new URL("../support/measured.py", import.meta.url).pathname;
const late = (rank) => ({ slower: rank === 2 ? 1.2 : 1, offset: 5e6 * rank, drift: 1e-5 * rank });
const json_of = (...args) => {
  const { code, out, err } = mprof(["ranks", ...args, "--json"]);
  assert.equal(code, 0, err);
  return JSON.parse(out);
};

test("the rank that others wait for is named, with how much it costs and why", (t) => {
  const folder = fabricate_ranks(join(temporary(t), "traces"), { nature: late });
  const { code, out, err } = mprof(["ranks", folder]);
  assert.equal(code, 0, err);
  const text = out.replace(/\s+/g, " ");
  assert.match(text, /^4 ranks, 20 steps: a step takes 17\.\d+ ms in the median\./);
  assert.match(text, /Rank 2 is late: it came last in (\d+) of the \1 collectives/);
  assert.match(text, /Its kernels take 1\.20× as long as on the other ranks, all of them alike/);
  assert.match(text, /% of a step \(\d\.\d+ ms\) is exposed: nothing hides it\./);
  assert.match(text, /ms\) of a step on average\./);
  assert.doesNotMatch(text, /bandwidth/); // of one size nobody knows what bounds it
  assert.match(text, /95 of 100 ends lie within/);
  const answer = json_of(folder);
  assert.equal(answer.schema, "mprof.ranks/1");
  assert.deepEqual(answer.late.map((one) => [one.rank, one.cause.kind]), [["2", "all_kernels"]]);
  assert.ok(answer.late[0].cost > 2.1e-3 && answer.late[0].cost < 2.7e-3, answer.late[0].cost);
  assert.ok(Math.abs(answer.clocks.largest_drift - 3e-5) < 1e-6, answer.clocks.largest_drift);
  assert.equal(answer.ranks.length, 4);
  assert.equal(answer.ranks[0].first_step, 0);
  assert.equal(answer.collectives.length, 1);
  assert.ok(answer.collectives[0].bus_bandwidth > 7e10 && answer.collectives[0].bus_bandwidth < 8e10);
  assert.deepEqual([answer.collectives[0].latency_bound, answer.collectives[0].bandwidth_bound], [false, false]);
  assert.ok(answer.critical_path.computing > 0.95);
});

test("summaries say what the traces say, and are small", (t) => {
  const root = temporary(t), folder = fabricate_ranks(join(root, "traces"), { nature: late, steps: 50 });
  for (let rank = 0; rank < 4; ++rank) {
    const { code, out, err } = mprof(["ranks", join(folder, `rank${rank}.json`), "--summaries", join(root, "shared")]);
    assert.equal(code, 0, err);
    assert.equal(out, "");
  }
  assert.deepEqual(readdirSync(join(root, "shared")), [0, 1, 2, 3].map((rank) => `rank-000${rank}.json`));
  const bytes = statSync(join(root, "shared", "rank-0002.json")).size;
  assert.ok(bytes / 50 < 4000, `${bytes / 50} bytes a step`);
  const of_traces = json_of(folder), of_summaries = json_of(join(root, "shared"));
  assert.deepEqual(of_summaries, of_traces);
});

test("a rank that its host holds up is named with the line, in traces and in summaries", (t) => {
  const root = temporary(t), nature = (rank) => ({ stall: rank === 1 ? 2500 : 50 });
  const folder = fabricate_ranks(join(root, "traces"), { nature });
  const [late] = json_of(folder).late;
  assert.deepEqual([late.rank, late.cause.kind, late.cause.place, late.cause.place_is_line], ["1", "idle", "train.py(42): load", true]);
  assert.match(late.cause.text, /while its host runs code of its own, in train\.py\(42\): load$/);
  assert.equal(mprof(["ranks", folder, "--summaries", join(root, "shared")]).code, 0);
  assert.deepEqual(json_of(join(root, "shared")), json_of(folder));
});

test("the page has the map, the slowest step with its arrows, and the tables", (t) => {
  const root = temporary(t), folder = fabricate_ranks(join(root, "traces"), { nature: late });
  const { code, err } = mprof(["ranks", folder, "--html", join(root, "ranks.html")]);
  assert.equal(code, 0, err);
  const html = readFileSync(join(root, "ranks.html"), "utf8");
  assert.match(html, /"kind":"rank_map"/);
  assert.match(html, /<svg class="ranks-step"/);
  assert.ok(html.match(/<path class="arrow"/g).length >= 4);
  assert.match(html, /<rect class="waiting"/);
  for (const section of ["section-map", "section-slowest", "section-ranks", "section-rates"])
    assert.match(html, new RegExp(`id="${section}"`));
});

test("memory grows by less than 2.5 kilobytes a rank and step, and the page stays small", (t) => {
  const root = temporary(t), small = join(root, "small");
  const folder = fabricate_ranks(join(root, "traces"), { ranks: 2, steps: 40, pieces: 20, nature: (rank) => ({ slower: rank === 1 ? 1.2 : 1 }) });
  assert.equal(mprof(["ranks", folder, "--summaries", small]).code, 0);
  const ranks = 80, times = [4, 12], steps = json_of(folder).steps;
  const measured = times.map((time) => {
    const many = write_many(join(root, `many${time}`), small, { ranks, times: time, late: 3 }), page = join(root, `many${time}.html`);
    const { stdout } = spawnSync("python3", [measured_py, process.env.MPROF, "ranks", many, "--html", page], { encoding: "utf8" });
    const { code, memory, err } = JSON.parse(stdout);
    assert.equal(code, 0, err);
    return { memory, page: statSync(page).size };
  });
  const more = ranks * steps * (times[1] - times[0]);
  assert.ok((measured[1].memory - measured[0].memory) / more < 2500, JSON.stringify(measured));
  assert.ok(measured[1].page < 1e7, JSON.stringify(measured));
  assert.deepEqual(json_of(join(root, "many12")).late.map((one) => one.rank), ["3"]);
});

test("a lost trace and ranks without collectives are said", (t) => {
  const folder = fabricate_ranks(join(temporary(t), "traces"), {});
  rmSync(join(folder, "rank1.json"));
  assert.match(json_of(folder).doubts.join(" "), /The program had 4 ranks, and 3 of them are here\./);
  const silent = json_of(fabricate_ranks(join(temporary(t), "silent"), { reduces: false }));
  assert.match(silent.answer.join(" "), /No collective was found in two traces: who waits for whom is not known\./);
  assert.deepEqual(silent.late, []);
});

test("traces of two hosts under the same path have two clocks", (t) => {
  const root = temporary(t), file = join(root, "trace.json"), shared = join(root, "shared");
  const folder = fabricate_ranks(join(root, "traces"), { ranks: 2, nature: (rank) => ({ offset: 1.7e15 + 5e6 * rank }) });
  for (const rank of [0, 1]) {
    cpSync(join(folder, `rank${rank}.json`), file);
    const { code, err } = mprof(["ranks", file, "--summaries", shared]);
    assert.equal(code, 0, err);
  }
  assert.equal(json_of(shared).clocks.clocks, 2);
});

test("summaries of unknown ranks have names of their own, and none replaces another trace's", (t) => {
  const root = temporary(t), shared = join(root, "shared");
  const folder = fabricate_ranks(join(root, "traces"), { ranks: 3 });
  const summarize = (rank, name) => {
    const trace = JSON.parse(readFileSync(join(folder, `rank${rank}.json`), "utf8"));
    delete trace.distributedInfo;
    mkdirSync(join(root, name, ".."), { recursive: true });
    writeFileSync(join(root, name), JSON.stringify(trace));
    return mprof(["ranks", join(root, name), "--summaries", shared]);
  };
  for (const [rank, name] of [[0, "a/first.json"], [1, "a/second.json"], [1, "a/second.json"]]) {
    const { code, err } = summarize(rank, name);
    assert.equal(code, 0, err);
  }
  assert.deepEqual(readdirSync(shared), ["rank-first.json", "rank-second.json"]);
  const before = readFileSync(join(shared, "rank-second.json"), "utf8");
  const { code, err } = summarize(2, "b/second.json");
  assert.equal(code, 2, err);
  assert.match(err.replace(/\s+/g, " "), /rank-second\.json: the summary of another trace is there, of \S+a\/second\.json\./);
  assert.equal(readFileSync(join(shared, "rank-second.json"), "utf8"), before);
  // A trace that has the name of a summary is not replaced either.
  cpSync(join(folder, "rank0.json"), join(root, "rank-0000.json"));
  assert.match(mprof(["ranks", join(root, "rank-0000.json"), "--summaries", root]).err, /a file that is no summary is there/);
});

test("what is no rank is refused with what to give", (t) => {
  const root = temporary(t), folder = fabricate_ranks(join(root, "traces"), {});
  const refused = (args, code, words) => {
    const result = mprof(["ranks", ...args]);
    assert.equal(result.code, code, result.err + result.out);
    assert.match(result.err, words);
  };
  refused([join(root, "none")], 2, /none: there is no such file or folder/);
  mkdirSync(join(root, "empty"));
  refused([join(root, "empty")], 2, /nothing in it is of a rank/);
  refused([join(folder, "rank0.json")], 4, /is the only rank/);
  cpSync(join(folder, "rank0.json"), join(folder, "again.json"));
  refused([folder], 2, /again\.json and \S+rank0\.json are both of rank 0|rank0\.json and \S+again\.json are both of rank 0/);
  rmSync(join(folder, "again.json"));
  // A summary that was changed by hand.
  assert.equal(mprof(["ranks", folder, "--summaries", join(root, "shared")]).code, 0);
  const file = join(root, "shared", "rank-0001.json"), text = readFileSync(file, "utf8");
  for (const [change, words] of [
    [(one) => one.steps.end.pop(), /rank-0001\.json: the columns of "steps" differ in length/],
    [(one) => { one.steps.end[3] = 0; }, /rank-0001\.json: steps do not follow each other/],
    [(one) => { one.collectives.group[0] = 9; }, /rank-0001\.json: a collective is of no group/],
    [(one) => { one.stretches.what[0] = 7; }, /rank-0001\.json: an activity is not known/],
    [(one) => { one.steps.computing[0] = 1e15; }, /rank-0001\.json: a step is shorter than its parts/],
    [(one) => { one.schema = "mprof.rank/2 mprof.rank/1"; }, /rank-0001\.json: its schema is "mprof\.rank\/2/]]) {
    const summary = JSON.parse(text);
    change(summary);
    writeFileSync(file, JSON.stringify(summary));
    refused([join(root, "shared")], 2, words);
  }
});
