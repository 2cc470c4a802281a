// SPDX-License-Identifier: MIT
// Tables of a trace, as a user of nsys stats expects them.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, source, temporary } from "./support.mjs";

const recorded = join(source, "tests", "golden", "trace", "recorded.sqlite");
const without_trace = join(source, "tests", "golden", "run_a");

function stats(...args) {
  const { code, out, err } = mprof(["stats", recorded, ...args]);
  assert.equal(code, 0, err);
  assert.equal(err, "");
  return out;
}

test("CSV has nsys's columns, with the unit in the header", () => {
  const time = "Time (%),Total Time (ns)";
  const spread = "Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns)";
  const heads = {
    cuda_api_sum: `${time},Num Calls,${spread},Name`,
    cuda_gpu_kern_sum: `${time},Instances,${spread},Name`,
    cuda_gpu_kern_gb_sum: `${time},Instances,${spread},GridXYZ,BlockXYZ,Name`,
    cuda_gpu_mem_time_sum: `${time},Count,${spread},Operation`,
    cuda_gpu_mem_size_sum: "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation",
    nvtx_pushpop_sum: `${time},Instances,${spread},Range`,
    nvtx_kern_sum: `NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),${spread},Kernel Name`,
    osrt_sum: `${time},Num Calls,${spread},Name`,
    cuda_gpu_trace: "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB)," +
      "Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name",
    cuda_graph_capture_sum: `Captured In,Launched In,Instances,Total Time (ns),${spread},Kernel Name`,
    others_sum: "Kind,Op,Name,GPU,Count,Total Time (ns),Total,Avg,Min,Max,Unit",
  };
  for (const [report, head] of Object.entries(heads)) {
    assert.equal(stats("--report", report, "--format", "csv").split("\n")[0], head, report);
  }
});

test("older names give the same tables", () => {
  const older = { cudaapisum: "cuda_api_sum", gpukernsum: "cuda_gpu_kern_sum", gpumemtimesum: "cuda_gpu_mem_time_sum",
                  gpumemsizesum: "cuda_gpu_mem_size_sum", gputrace: "cuda_gpu_trace" };
  for (const [old, name] of Object.entries(older)) assert.equal(stats("--report", old), stats("--report", name));
});

test("JSON has the same rows as CSV, and tables follow each other in the order asked for", () => {
  const reports = "cuda_gpu_mem_time_sum,cuda_api_sum";
  const json = JSON.parse(stats("--report", reports, "--format", "json")).tables;
  assert.deepEqual(Object.keys(json), reports.split(","));
  const tables = stats("--report", reports, "--format", "csv").split("\n\n");
  assert.equal(tables.length, 2);
  assert.equal(json.cuda_api_sum.length, tables[1].trim().split("\n").length - 1);
  const total = json.cuda_api_sum.reduce((sum, row) => sum + row["Time (%)"], 0);
  assert.ok(Math.abs(total - 100) < 1, `the shares add up to ${total} %`);
});

test("usual and all stand for several tables", () => {
  const names = (reports) => Object.keys(JSON.parse(stats("--report", reports, "--format", "json")).tables);
  assert.deepEqual(names("usual"), names("all").slice(0, 6));
  assert.equal(stats("--report", "usual"), stats());
  assert.equal(names("all").length, 20);
});

test("--case restricts to cases, by a glob or by an id", () => {
  const instances = (...args) => JSON.parse(stats("--report", "gpukernsum", "--format", "json", ...args))
    .tables.cuda_gpu_kern_sum.reduce((sum, row) => sum + row.Instances, 0);
  const streams = instances("--case", "conv/streams@100"), all = instances();
  assert.ok(streams > 0 && streams < all);
  assert.equal(instances("--case", "conv/str*"), streams);
  assert.equal(instances("--case", "*"), all);
});

test("--out writes a file, and a result directory is as good as its trace", (t) => {
  const directory = temporary(t);
  copyFileSync(recorded, join(directory, "trace.sqlite"));
  const file = join(directory, "stats.csv");
  const { code, out } = mprof(["stats", directory, "--format", "csv", "--out", file]);
  assert.equal(code, 0);
  assert.equal(out, `${file}\n`);
  assert.equal(readFileSync(file, "utf8"), stats("--format", "csv"));
});

const refusals = {
  "an unknown report": [["--report", "cuda_gpu_kern_sun"], /no report 'cuda_gpu_kern_sun'. Did you mean cuda_gpu_kern_sum/],
  "an older name misspelt": [["--report", "gpukernsm"], /Did you mean gpukernsum/],
  "no report": [["--report", ""], /--report: the list is empty/],
  "an unknown format": [["--format", "cvs"], /no such format. Did you mean csv\?/],
  "an unknown case": [["--case", "conv/stream@100"], /no such case. Did you mean conv\/streams@100\?/],
};
for (const [name, [args, message]] of Object.entries(refusals)) {
  test(`${name} is refused`, () => {
    const { code, out, err } = mprof(["stats", recorded, ...args]);
    assert.equal(code, 2, err);
    assert.match(err, message);
    assert.match(err, /^mprof: [^\n]+\n$/, "one message on one line");
    assert.equal(out, "");
  });
}

test("what is no trace is refused, with the reason of the run where there is one", (t) => {
  const directory = temporary(t);
  const text = join(directory, "trace.txt"), damaged = join(directory, "damaged.sqlite");
  writeFileSync(text, "not a database");
  const bytes = readFileSync(recorded);
  bytes.fill(0x5a, 100, 12000);
  writeFileSync(damaged, bytes);
  mkdirSync(join(directory, "empty"));
  const expected = [[without_trace, /holds no trace.sqlite: .*no collector for the trace pass/],
                    [text, /no SQLite database/], [damaged, /damaged\.sqlite: .*malformed/],
                    [join(directory, "empty"), /holds no run.json/], [join(directory, "none"), /No such file/]];
  for (const [given, message] of expected) {
    const { code, err } = mprof(["stats", given]);
    assert.equal(code, 2, err);
    assert.match(err, message);
  }
  assert.deepEqual(readdirSync(directory).sort(), ["damaged.sqlite", "empty", "trace.txt"]);
});

test("a trace that a link takes from elsewhere is refused", (t) => {
  const run = join(temporary(t), "run"), elsewhere = join(temporary(t), "elsewhere.sqlite");
  mkdirSync(run);
  copyFileSync(recorded, elsewhere);
  symlinkSync(elsewhere, join(run, "trace.sqlite"));
  const { code, err } = mprof(["stats", run]);
  assert.equal(code, 2);
  assert.match(err, /trace\.sqlite leads out of .*by a symbolic link/);
});

test("an export's records that cannot be are in no table, and are told", (t) => {
  const directory = temporary(t), file = join(directory, "long.sqlite");
  const made = spawnSync("python3", ["-c", `
import sqlite3, sys
sys.path.insert(0, sys.argv[2])
from fabricated_export import fabricate
fabricate(sys.argv[1], 2000)
database = sqlite3.connect(sys.argv[1])
database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 1000 * (end - start) WHERE shortName = 57 AND correlationId < 1000")
database.commit()`, file, join(source, "tests", "support")], { encoding: "utf8" });
  if (made.status !== 0) return t.skip(`needs Python 3 with sqlite3: ${made.stderr}`);
  const { out, err, code } = mprof(["stats", file, "--report", "cuda_gpu_kern_sum", "--format", "csv"]);
  assert.equal(code, 0, err);
  assert.match(err, /mprof: 25 records have a time that cannot be, and are in no table/);
  const share = Number(out.split("\n").find((line) => line.includes("layer7<")).split(",")[0]);
  assert.ok(share < 3, `${share} % of the time`);
});

test("calls that are summed while they are read are those of a trace that is held", () => {
  const alone = stats("--report", "cuda_api_sum", "--format", "csv");
  const beside = stats("--report", "cuda_api_sum,cuda_api_trace", "--format", "csv");
  assert.ok(alone.split("\n").length > 3, alone);
  assert.ok(beside.startsWith(alone.trimEnd()), `${alone}\n${beside}`);
  for (const one of ["*@100", "*cpu*"]) {
    const { code, err } = mprof(["stats", recorded, "--report", "cuda_api_sum", "--case", one]);
    const held = mprof(["stats", recorded, "--report", "cuda_api_sum,cuda_api_trace", "--case", one]);
    assert.deepEqual([code, err], [held.code, held.err], one);
  }
});
