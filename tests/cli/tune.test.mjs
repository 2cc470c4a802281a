// SPDX-License-Identifier: MIT
// A search over the parameters of a variant, as a user runs it, on a landscape that is planted.
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, start, temporary, until, validate_run } from "./support.mjs";

/**
 * A variant that computes rightly and then spins: 1 ms, and 16 ms for each step that its parameters are away from a=3, b=2.
 * a=1, b=1 crashes, a=4, b=4 is wrong, and a=2, b=4 cannot be.
 */
const valley = `#include <chrono>
#include <cmath>
#include <csignal>
#include <mprof/elementwise.hpp>
struct Valley : mprof::plugin::elementwise::HostMap {
  Valley(int first, int second) : a(first), b(second) {}
  void forward() override {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1 + 16 * (std::abs(a - 3) + std::abs(b - 2)));
    if (a == 1 && b == 1) std::raise(SIGSEGV);
    for (std::size_t row = 0; row < matrix().size; ++row)
      for (std::size_t column = 0; column < matrix().size; ++column) {
        float v = input(row)[column];
        for (unsigned i = 0; i < matrix().iterations; ++i) {
          const float f = column % 4 == 0 ? std::log(v) : column % 4 == 1 ? std::cos(v) : column % 4 == 2 ? std::sin(v) : std::tan(v);
          v += std::sqrt(f + 1.0F);
        }
        output(row)[column] = a == 4 && b == 4 ? v + 1 : v;
      }
    while (std::chrono::steady_clock::now() < end) {}
  }
  int a, b;
};
MPROF_VARIANT(.family = "elementwise", .title = "A valley", .idea = "It spins.", .device = "cpu", .baseline = "elementwise/cpu_naive",
              .parameters = {{"a", "first", "1", {"1", "2", "3", "4"}}, {"b", "second", "4", {"1", "2", "3", "4"}}},
              .impossible = [](const mprof::plugin::Parameters& p) {
                return std::string(p.at("a") == "2" && p.at("b") == "4" ? "a=2 leaves no room for b=4" : "");
              },
              .make = [](const mprof::plugin::Parameters& p) {
                return std::make_unique<Valley>(std::stoi(p.at("a")), std::stoi(p.at("b")));
              })
`;

/** The text without its line breaks. */
const flat = (text) => text.replace(/\s+/g, " ");

const quickly = ["--size", "8", "--iterations", "1", "--quick", "--seed", "1"];

function workshop(t) {
  const folder = temporary(t), env = { MPROF_CACHE: join(folder, "cache"), CXX: "" };
  writeFileSync(join(folder, "valley.cpp"), valley);
  const options = { cwd: folder, env };
  return {
    folder,
    run: (...args) => mprof(args, options),
    begin: (...args) => start(args, options),
    entries: (file = "tuned.json") => JSON.parse(readFileSync(join(folder, file), "utf8")).entries,
    status: (c) => c.passes[0].status,
  };
}

test("grid, halving and random find the planted best, and what is wrong, crashes or cannot be never wins", (t) => {
  const { folder, run, entries, status } = workshop(t);
  const grid = run("tune", "valley.cpp", ...quickly, "--out", "grid");
  assert.equal(grid.code, 0, grid.err);
  assert.match(flat(grid.out), /^elementwise\/valley at .*13 of 16 points gave it with a right output, by grid\./);
  assert.match(grid.out, /^a=3,b=2 .* best$/m);
  assert.match(grid.out, /^1 point: a=2 leaves no room for b=4; a=2,b=4$/m);
  assert.match(grid.out, /^1 point: crashed: .*a=1,b=1$/ms);
  assert.match(grid.out, /^1 point: wrong: .*a=4,b=4$/ms);
  assert.match(grid.out, /the default/);

  validate_run(join(folder, "grid"));
  const searched = read_run(join(folder, "grid"));
  assert.equal(searched.cases.length, 16);
  const of = (a, b) => searched.cases.find(({ parameters }) => parameters.a === a && parameters.b === b);
  assert.deepEqual([of("2", "4"), of("1", "1"), of("4", "4")].map(status), ["skipped", "crashed", "wrong"]);
  validate_run(join(folder, "grid/finals"));
  const finals = read_run(join(folder, "grid/finals"));
  assert.ok(finals.cases.length >= 3 && finals.cases.length < 13);
  for (const c of finals.cases) assert.equal(c.passes[0].rounds.length >= 3, true, "in fresh processes");

  const [entry] = entries();
  assert.equal(entry.variant, "elementwise/valley");
  assert.deepEqual(entry.problem, { size: 8, iterations: 1 });
  assert.deepEqual(entry.parameters, { a: "3", b: "2" });
  assert.deepEqual([entry.metric, entry.strategy, entry.measured, entry.points], ["op_time", "grid", 13, 16]);
  assert.ok(entry.interval[0] < entry.value && entry.value < entry.interval[1]);
  assert.match(entry.holds_for.source, /^sha256:[0-9a-f]{64}$/);
  assert.ok(entry.holds_for.machine["cpu model"].length > 0);

  for (const strategy of [["halving"], ["random", "--points", "16"]]) {
    const found = run("tune", "valley.cpp", ...quickly, "--strategy", ...strategy, "--out", strategy[0]);
    assert.equal(found.code, 0, found.err);
    assert.equal(entries().length, 1, "the same search again, in its place");
    assert.deepEqual(entries()[0].parameters, { a: "3", b: "2" }, strategy[0]);
    assert.equal(entries()[0].strategy, strategy[0]);
  }
  const few = run("tune", "valley.cpp", ...quickly, "--strategy", "random", "--points", "3", "--out", "few");
  assert.equal(few.code, 0, few.err);
  const has_default = (directory) => read_run(join(folder, directory)).cases.some(({ id }) => !id.includes("["));
  assert.ok(!has_default("few") && has_default("few/finals"), "the default is measured beside the best, drawn or not");
  assert.match(few.out, /the default/);

  const rounds = read_run(join(folder, "halving")).cases.map((c) => c.passes[0].rounds?.length ?? 1);
  assert.ok(Math.max(...rounds) > 1 && Math.min(...rounds) === 1, "the better half once more");

  const report = run("report", "grid");
  assert.equal(report.code, 0, report.err);
  assert.match(readFileSync(join(folder, "grid/milestone.md"), "utf8"), /a=3,b=2 is best/);
});

test("the precision that is declared is that of each point, and of the answer", (t) => {
  const { folder, run } = workshop(t);
  for (const words of [["valley.cpp"], ["elementwise/valley", "--source", "valley.cpp"]]) {
    const { code, out, err } = run("tune", ...words, ...quickly, "--set", "a=2,3", "--set", "b=2", "--precision", "fp16", "--out", "fp16", "--overwrite");
    assert.equal(code, 0, err);
    assert.match(flat(out), /mprof run .*--precision fp16 --source valley\.cpp/);
    assert.deepEqual([...new Set(read_run(join(folder, "fp16")).cases.map((c) => c.parameters.precision))], ["fp16"]);
    const tuned = run("run", "--precision", "fp16", "--source", "valley.cpp", "--tuned=tuned.json", "--set", "b=2", "--size", "8", "--iterations", "1", "--quick", "--passes", "timing", "--out", "tuned", "--overwrite");
    assert.equal(tuned.code, 0, tuned.err);
  }
  assert.match(run("tune", "elementwise/cpu_threads", "--precision", "fp16").err, /--precision needs --source/);
  assert.match(run("tune", "valley.cpp", "--precision", "half").err, /there is no such precision/);
});

test("--set narrows, --objective chooses, and run --tuned uses what holds", (t) => {
  const { folder, run, entries } = workshop(t);
  const narrow = run("tune", "valley.cpp", ...quickly, "--set", "a=1,2", "--set", "b=3", "--objective", "total_time", "--out", "narrow");
  assert.equal(narrow.code, 0, narrow.err);
  assert.match(flat(narrow.out), /by total time .*2 of 2 points/);
  assert.deepEqual(entries()[0].parameters, { a: "2", b: "3" });
  assert.deepEqual(entries()[0].fixed, { b: "3" });
  const printed = flat(narrow.out).match(/Use it: mprof (run --tuned=tuned\.json --source valley\.cpp --set b=3 --size 8 --iterations 1)/);
  assert.ok(printed, narrow.out);
  const obeyed = run(...printed[1].split(" "), "--passes", "timing", "--quick", "--out", "obeyed");
  assert.equal(obeyed.code, 0, obeyed.err);
  assert.deepEqual(read_run(join(folder, "obeyed")).cases.map(({ id }) => id).slice(-1), ["elementwise/valley[a=2,b=3]@size=8,iterations=1"]);
  assert.equal(run("tune", "valley.cpp", ...quickly, "--set", "a=3,4", "--set", "b=2,3", "--out", "wide").code, 0);
  assert.deepEqual(entries().map((entry) => entry.parameters), [{ a: "2", b: "3" }, { a: "3", b: "2" }]);

  const measure = ["run", "--source", "valley.cpp", "--size", "8,16", "--iterations", "1", "--quick", "--passes", "timing", "--seed", "1"];
  const used = run(...measure, "--tuned", "--out", "used");
  assert.equal(used.code, 0, used.err);
  validate_run(join(folder, "used"));
  const record = read_run(join(folder, "used"));
  assert.deepEqual(record.cases.map(({ id }) => id).slice(-2), ["elementwise/valley[a=3,b=2]@size=8,iterations=1", "elementwise/valley@size=16,iterations=1"]);
  assert.equal(record.plan.tuned.file, "tuned.json");
  assert.equal(record.plan.tuned.points.length, 1);
  assert.equal(run("report", "used").code, 0);
  assert.match(readFileSync(join(folder, "used/evidence.md"), "utf8"), /Tuned: by tuned\.json: elementwise\/valley/);
  const resumed = run(...measure, "--tuned", "--resume", "--out", "used");
  assert.equal(resumed.code, 0, resumed.err);

  const other = JSON.parse(readFileSync(join(folder, "tuned.json"), "utf8"));
  writeFileSync(join(folder, "fixed.json"), JSON.stringify({ ...other, entries: other.entries.slice(0, 1) }));
  const refused = (words, code, message) => {
    const { code: found, err } = run(...measure, ...words, "--out", "refused");
    assert.equal(found, code, err);
    assert.match(err, message);
    assert.ok(!existsSync(join(folder, "refused")));
  };
  refused(["--tuned", "--set", "a=1"], 2, /--set a=1 and tuned\.json both say what a of elementwise\/valley is/);
  refused(["--tuned=none.json"], 2, /none\.json/);
  refused(["--tuned=fixed.json"], 2, /It holds elementwise\/valley at size=8,iterations=1 with --set b=3: ask for that\./);
  writeFileSync(join(folder, "broken.json"), '{"schema_version": 1, "entries": [');
  refused(["--tuned=broken.json"], 2, /broken\.json: .*line 1/);
  const file = JSON.parse(readFileSync(join(folder, "tuned.json"), "utf8"));
  for (const entry of file.entries) entry.holds_for.machine["cpu model"] = "another CPU";
  writeFileSync(join(folder, "stale.json"), JSON.stringify(file));
  refused(["--tuned=stale.json"], 4, /stale\.json: what it holds of elementwise\/valley at size=8,iterations=1 is stale: cpu model was another CPU and is /);
  writeFileSync(join(folder, "valley.cpp"), `${valley}// changed\n`);
  refused(["--tuned"], 4, /the source of the variant has changed/);
});

test("a search without the default is told against it, and what an answer replaces is said", (t) => {
  const { folder, run, entries } = workshop(t);
  const set = (a, b) => ["--set", `a=${a}`, "--set", `b=${b}`];
  const first = run("tune", "valley.cpp", ...quickly, ...set("1,3", "2,4"), "--out", "first");
  assert.equal(first.code, 0, first.err);
  assert.doesNotMatch(first.out, /It replaces|not searched/);
  const [earlier] = entries();
  assert.deepEqual(earlier.searched, { a: ["1", "3"], b: ["2", "4"] });

  const narrow = run("tune", "valley.cpp", ...quickly, ...set("2,3", "1,3"), "--out", "narrow");
  assert.equal(narrow.code, 0, narrow.err);
  assert.match(narrow.out, /Over the default/);
  assert.match(narrow.out, /^a=1,b=4 .* the default +not searched$/m);
  assert.match(flat(narrow.out), / It replaces a=3,b=2 of \S+Z, found among 4 points \(--set a=1,3 --set b=2,4\)\./);
  assert.ok(flat(narrow.out).includes(`of ${earlier.finished},`));
  assert.match(flat(narrow.out), /4 of 4 points/);
  assert.equal(entries().length, 1);
  assert.deepEqual([entries()[0].parameters.a, entries()[0].searched], ["3", { a: ["2", "3"], b: ["1", "3"] }]);
  const finals = read_run(join(folder, "narrow/finals"));
  validate_run(join(folder, "narrow/finals"));
  assert.ok(finals.cases.some(({ id }) => !id.includes("[")));
  assert.deepEqual(finals.plan.settings, { a: ["2", "3", "1"], b: ["1", "3", "4"] });
  assert.equal(read_run(join(folder, "narrow")).cases.length, 4, "the default is no point of the search");
  assert.equal(run("report", "narrow/finals").code, 0);

  // With one value of b the default is that of a. It is the best of all here, and no answer.
  writeFileSync(join(folder, "valley.cpp"), valley.replace('"first", "1"', '"first", "3"'));
  const fixed = run("tune", "valley.cpp", ...quickly, ...set("1,2", "2"), "--out", "fixed", "--tuned", "fixed.json");
  assert.equal(fixed.code, 0, fixed.err);
  assert.match(fixed.out, /^a=3,b=2 .* the default +not searched$/m);
  assert.deepEqual(entries("fixed.json")[0].parameters, { a: "2", b: "2" });
  assert.deepEqual([entries("fixed.json")[0].fixed, entries("fixed.json")[0].searched], [{ b: "2" }, { a: ["1", "2"] }]);
});

test("a budget ends a search with the best so far, and says what was not tried", (t) => {
  const { folder, run, entries, status } = workshop(t);
  // Points are slow enough that the budget ends among them, on any machine.
  writeFileSync(join(folder, "valley.cpp"), valley.replace("milliseconds(1 + 16 *", "milliseconds(300 + 2 *"));
  const { code, out, err } = run("tune", "valley.cpp", ...quickly, "--budget", "4", "--rounds", "1", "--out", "some");
  assert.equal(code, 0, err);
  assert.match(flat(out), /The budget of 4 s ended the search\./);
  assert.match(flat(out), /points: not tried: the budget of 4 s was spent; a=/);
  const statuses = read_run(join(folder, "some")).cases.map(status);
  const tried = statuses.filter((word) => word === "ok").length;
  assert.ok(tried >= 1 && tried < 13, `${tried} tried`);
  assert.equal(entries()[0].measured, tried);
  const nothing = run("tune", "valley.cpp", ...quickly, "--budget", "0.001", "--out", "none", "--tuned", "other.json");
  assert.equal(nothing.code, 3, "there is no output, and the usage was right");
  assert.match(flat(nothing.out), /No point was measured by then: other\.json is as it was\. Give a longer --budget\./);
  assert.ok(!existsSync(join(folder, "other.json")));
});

test("Ctrl-C leaves what was measured, and keeps no answer", async (t) => {
  const { folder, run, begin } = workshop(t);
  assert.equal(run("list", "--source", "valley.cpp").code, 0, "it is built");
  writeFileSync(join(folder, "valley.cpp"), valley.replace("milliseconds(1 + 16 *", "milliseconds(200 + 2 *"));
  const search = begin("tune", "valley.cpp", ...quickly, "--search-rounds", "20", "--out", "part");
  const ended = new Promise((resolve) => search.on("exit", resolve));
  const measured = () => existsSync(join(folder, "part/cases")) && read_run(join(folder, "part")).cases.some((c) => c.passes[0]?.status === "ok");
  await until(measured);
  search.kill("SIGINT");
  assert.equal(await ended, 130);
  validate_run(join(folder, "part"));
  assert.ok(measured());
  assert.equal(read_run(join(folder, "part")).state, "interrupted");
  assert.ok(!existsSync(join(folder, "tuned.json")));
  assert.equal(run("report", "part").code, 0);
});

test("what cannot be searched is refused before a directory is made", (t) => {
  const { folder, run } = workshop(t);
  const refused = (words, code, message) => {
    const { code: found, err } = run("tune", ...words, "--out", "refused");
    assert.equal(found, code, err);
    assert.match(err, message);
    assert.ok(!existsSync(join(folder, "refused")));
  };
  refused([], 2, /VARIANT is missing/);
  refused(["elementwise/cpu_thread"], 2, /Did you mean elementwise\/cpu_threads/);
  refused(["elementwise/cpu_naive"], 2, /has no parameters: there is nothing to tune/);
  const variant = "elementwise/cpu_threads";
  refused([variant, "--strategy", "grud"], 2, /Did you mean grid\?/);
  refused([variant, "--set", "threads=3"], 2, /takes all, 1, 2, .* for threads, not '3'/);
  refused([variant, "--objective", "op_tim"], 2, /Did you mean op_time\?/);
  refused([variant, "--objective", "op_time:mop"], 2, /Did you mean map\?/);
  refused([variant, "--objective", "peak_memory"], 2, /says nothing of a point/);
  const objective = (text, message, ...words) => refused([variant, ...words, "--objective", text], 2, message);
  objective("flop_rate", /it is of one op: flop_rate:map\.$/m);
  objective("user_time:map", /of the whole, and of no op: leave :map out/);
  objective("gpu_time", /cpu_threads runs on the CPU, and the trace has only what a GPU/, "--passes", "timing,trace");
  objective("hot_op_time", /no times from warm caches/);
  objective("dram__bytes.sum", /cpu_threads runs on the CPU, and hardware counters by such a name are of GPU kernels/);
  objective("cycles", /give --passes timing,counters\.$/m);
  refused([variant, "--objective", "total_time:map"], 2, /of the whole, and of no op: leave :map out/);
  refused([variant, "--tuned", "/proc/tuned.json"], 5, /cannot write \/proc\/tuned\.json/);
  refused([variant, "--points", "5"], 2, /--strategy random/);
  refused([variant, "--budget", "-1"], 2, /positive number of seconds/);
  refused([variant, "--size", "8,16"], 2, /one problem is measured/);
  writeFileSync(join(folder, "tuned.json"), "{");
  refused([variant], 2, /tuned\.json: .*line 1/);
  rmSync(join(folder, "tuned.json"));
});
