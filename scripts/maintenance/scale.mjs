// SPDX-License-Identifier: MIT
// How long merging, reporting and the fleet's view take, and how much memory, by the number of GPUs: the table of
// docs/guides/clusters.md. Run on fabricated records of 100 cases in 3 rounds: `node scripts/maintenance/scale.mjs build/mprof [GPUS...]`.
// 1,000 GPUs need 2 GB below TMPDIR and, with --shards, 6 GB of memory and half an hour more. Needs GNU time.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Fleet } from "../../tests/support/fabricated_fleet.mjs";

const args = process.argv.slice(2).filter((arg) => arg !== "--shards"), with_shards = process.argv.includes("--shards");
const program = resolve(args[0] ?? "build/mprof"), numbers = args.length > 1 ? args.slice(1).map(Number) : [100, 250, 500, 1000];
const folder = mkdtempSync(join(tmpdir(), "mprof-scale-"));
const slow = [17, 30, 41, 72, 99], flipped = [5, 64], gpus_of_host = 8;
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

/** What mprof prints; throws unless it ends with one of the codes. */
function mprof(parameters, codes = [0], before = []) {
  const [command, ...rest] = [...before, program, ...parameters];
  const { status, stdout, stderr, error } = spawnSync(command, rest, { encoding: "utf8", maxBuffer: 1 << 30 });
  if (error) throw error;
  if (!codes.includes(status)) throw new Error(`mprof ${parameters[0]} ended with ${status}: ${stderr}`);
  return stdout;
}

/** A row of the table: what was done for how many GPUs, wall and CPU seconds, the most memory, and what came of it. */
function measure(what, gpus, parameters, told = () => "") {
  const times = join(folder, "times");
  const out = mprof(parameters, [0, 1], ["/usr/bin/time", "-o", times, "-f", "%e %U %S %M"]);
  const [wall, user, system, kib] = readFileSync(times, "utf8").trim().split("\n").at(-1).split(" ").map(Number);
  console.log(`| ${what} | ${gpus} | ${wall.toFixed(1)} s | ${(user + system).toFixed(1)} s | ${Math.round(kib / 1024)} MiB | ${told(out)} |`);
}

/** What the JSON of a fleet of so many says of what was planted: "5 of 5 slow, 2 of 2 with other bits, 0 false". */
const found = (gpus) => (text) => {
  const machines = JSON.parse(text).models.flatMap((model) => model.machines), number = (machine) => Number(machine.gpu.slice(4));
  const bad = machines.filter((machine) => machine.slow).map(number), other = machines.filter((machine) => machine.other_outputs.length).map(number);
  const there = (planted) => planted.filter((gpu) => gpu < gpus), hits = (planted, named) => there(planted).filter((gpu) => named.includes(gpu)).length;
  const false_ones = bad.length + other.length - hits(slow, bad) - hits(flipped, other);
  return `${hits(slow, bad)} of ${there(slow).length} slow, ${hits(flipped, other)} of ${there(flipped).length} with other bits, ${false_ones} false`;
};

const template = join(folder, "template");
mprof(["run", "--variant", "elementwise/cpu_naive", "--size", Array.from({ length: 100 }, (_, i) => i + 16).join(), "--passes", "timing",
  "--rounds", "3", "--sampling-time", "0.01", "--quiet", "--out", template]);
const fleet = new Fleet(template, { slow, flipped });
console.log("| what | GPUs | wall | CPU | memory | |\n|---|---|---|---|---|---|");
for (const gpus of numbers) {
  const at = (name) => join(folder, name), runs = fleet.whole_runs(at("runs"), gpus);
  measure("`fleet --json --html` of runs of all cases", gpus, ["fleet", at("runs"), "--json", "--html", at("fleet.html")], found(gpus));
  measure("`merge --pool` of them", gpus, ["merge", ...runs, "--pool", "--quiet", "--out", at("pooled")]);
  measure("`report` of that", gpus, ["report", at("pooled")]);
  for (let host = 0; host * gpus_of_host < gpus; ++host) {
    const shards = fleet.shards_of_host(at("host"), host, gpus_of_host);
    mprof(["merge", ...shards, "--quiet", "--out", join(at("hosts"), `host${host}`)]);
    rmSync(at("host"), { recursive: true });
  }
  measure(`\`fleet --json --html\` of merged runs of hosts with ${gpus_of_host}`, Math.ceil(gpus / gpus_of_host) * gpus_of_host,
    ["fleet", at("hosts"), "--json", "--html", at("fleet.html")], found(gpus));
  for (const done of ["runs", "pooled", "hosts"]) rmSync(at(done), { recursive: true });
  if (!with_shards) continue;
  measure("`merge` of shards with 100 cases each", gpus, ["merge", ...fleet.shards(at("shards"), gpus), "--quiet", "--out", at("sweep")]);
  measure("`report --only` one variant of that", gpus, ["report", at("sweep"), "--only", `${fleet.run.variants[0].id}_7`, "--out", at("report")]);
  for (const done of ["shards", "sweep", "report"]) rmSync(at(done), { recursive: true });
}
