// SPDX-License-Identifier: MIT
// --json of each verb: one document on standard output, which meets the schema of its name in docs/formats/schemas.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import Ajv from "ajv/dist/2020.js";
import { fabricate_ranks } from "../support/fabricated_ranks.mjs";
import { mprof, source, temporary } from "./support.mjs";

const folder = join(source, "docs", "formats", "schemas");
const golden = (name) => join(source, "tests", "golden", name);
const result = (name) => join(source, "results", name);
const small = ["--size", "64", "--iterations", "1"];
const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
const schemas = new Map(readdirSync(folder).map((file) => {
  const schema = JSON.parse(readFileSync(join(folder, file), "utf8"));
  return [file.replace(".schema.json", ""), { schema, validate: ajv.compile(schema) }];
}));

/** The document of a command, held against its schema. */
function answer(name, words, codes = [0], options = {}) {
  const { code, out, err } = mprof(words, options);
  assert.ok(codes.includes(code), `mprof ${words.join(" ")}: ${code}\n${err}`);
  const document = JSON.parse(out);
  const { validate } = schemas.get(name);
  assert.ok(validate(document), `mprof ${words.join(" ")}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
  assert.equal(Object.keys(document)[0], "schema");
  seen.add(name);
  return { document, err };
}
const seen = new Set();

/** A run as if each of six GPUs had made it. */
function fleet_of(root) {
  return [1, 2, 3, 4, 5, 6].map((gpu) => {
    const run = join(root, `gpu${gpu}`), file = join(run, "run.json");
    cpSync(result("course"), run, { recursive: true });
    const record = JSON.parse(readFileSync(file, "utf8"));
    record.environment.gpu.UUID = `GPU-0000000${gpu}`;
    writeFileSync(file, JSON.stringify(record));
    return run;
  });
}

test("what reads a record or the machine", (t) => {
  const root = temporary(t);
  answer("version", ["--version", "--json"]);
  answer("version", ["version", "--json"]);
  answer("doctor", ["doctor", "--json"], [0, 5]);
  assert.ok(answer("list", ["list", "--json"]).document.variants.length > 10);
  const { document: metrics } = answer("metrics", ["list", "--metrics", "--json"]);
  assert.ok(metrics.presets.every((preset) => preset.metrics.length > 0));
  for (const run of ["all", "course", "solver", "sweep"]) {
    const { document } = answer("report", ["report", result(run), "--json"]);
    assert.ok(document.brief.every(({ lines }) => lines.length > 0));
  }
  const { document: stats } = answer("stats", ["stats", result("program"), "--json"]);
  assert.ok(stats.tables.cuda_gpu_kern_sum.length > 0);
  for (const [a, b] of [[golden("run_a"), golden("run_b")], [result("solver"), result("solver")]]) {
    const { document } = answer("compare", ["compare", a, b, "--json"], [0, 1]);
    assert.ok(document.cases.length > 0);
  }
  answer("history", ["history", golden("run_a"), golden("run_b"), "--json"]);
  const { document: fleet } = answer("fleet", ["fleet", ...fleet_of(root), "--json"], [0, 1]);
  assert.equal(fleet.models[0].machines.length, 6);
  const { document: ranks } = answer("ranks", ["ranks", fabricate_ranks(join(root, "ranks"), {}), "--json"]);
  assert.equal(ranks.ranks.length, 4);
  answer("status", ["status", result("solver"), "--json"]);
  const { document } = answer("export", ["export", result("sweep"), "--json", "--out", join(root, "tables")]);
  assert.ok(document.written.length > 3 && document.left_out.length > 0 && document.no_trace);
});

test("what measures: the text goes to standard error", (t) => {
  const cwd = temporary(t);
  const quickly = [...small, "--quick", "--passes", "timing", "--json"];
  const { document, err } = answer("run", ["run", "--variant", "elementwise/cpu_threads", ...quickly, "--out", "run"], [0], { cwd });
  assert.equal(document.run, "run");
  assert.equal(document.cases[0].status, "ok");
  assert.match(err, /Result: run\. Next/);
  const program = answer("run", ["run", "--passes", "timing", "--rounds", "2", "--json", "--out", "program", "--", "sleep", "0.01"], [0], { cwd });
  assert.ok(program.document.cases[0].total_time.median >= 0.01);
  answer("ab", ["ab", "elementwise/cpu_naive", "elementwise/cpu_threads", ...small, "--budget", "1", "--sampling-time", "0.05", "--json", "--out", "ab"], [0, 1], { cwd });
  const tuned = answer("tune", ["tune", "elementwise/cpu_threads", ...small, "--quick", "--budget", "5", "--sampling-time", "0.05", "--json", "--out", "tune"], [0, 3], { cwd });
  assert.ok("kept" in tuned.document);
  for (const shard of ["1/2", "2/2"]) {
    const { code, err: why } = mprof(["run", "--variant", "elementwise/cpu_naive", "elementwise/cpu_threads", "--size", "32,64", "--iterations", "1", "--quick",
      "--passes", "timing", "--seed", "1", "--shard", shard, "--out", `shard${shard[0]}`], { cwd });
    assert.equal(code, 0, why);
  }
  assert.equal(answer("run", ["merge", "shard1", "shard2", "--out", "merged", "--json"], [0], { cwd }).document.run, "merged");
  answer("sanitize", ["sanitize", "run", "--json"], [5], { cwd });  // nothing of it is for a GPU
});

test("an imported file", (t) => {
  const cwd = temporary(t), one = ["export", result("solver"), "--format", "nsys", "--out", "nsys", "--json"];
  const { document } = answer("export", one, [0], { cwd });
  answer("run", ["import", "--nsys", document.written[0], "--out", "imported", "--json"], [0], { cwd });
});

test("what judges: a file, and a folder of hand-ins", (t) => {
  const cwd = temporary(t), against = ["--against", "elementwise/cpu_naive", "--no-sandbox", "--json"];
  mkdirSync(join(cwd, "hand-ins"));
  for (const file of ["mine.cpp", "hand-ins/ann.cpp"]) writeFileSync(join(cwd, file), "this is no C++");
  const { document } = answer("judge", ["judge", "mine.cpp", ...against], [3], { cwd });
  assert.equal(document.status, "compile_failed");
  const { document: all } = answer("judge.class", ["judge", "hand-ins", ...against, "--out", "class"], [0], { cwd });
  assert.ok(schemas.get("judge").validate(all.hand_ins[0].judgement));
});

test("a verb that cannot answer prints no document", (t) => {
  const cwd = temporary(t);
  const unlike = ["compare", result("program"), result("solver"), "--json"];
  const wrong = [["report", "/none"], ["compare", "/none", "/none"], ["stats", "/none"], ["list", "none/*"], ["run", "--variant", "none/none"],
    ["judge", "none.cpp"], ["judge", "none.cpp", "--max-bytes", "1"], ["export", "/none"], ["fleet", "/none"], ["status", "/none"]];
  for (const [words, expected] of [[unlike, 4], ...wrong.map((one) => [[...one, "--json"], 2])]) {
    const { code, out, err } = mprof(words, { cwd });
    assert.equal(code, expected, words.join(" "));
    assert.equal(out, "", words.join(" "));
    assert.match(err, /^mprof: /m);
  }
});

test("each schema was met, and is of the name of its file", () => {
  assert.deepEqual([...seen].sort(), [...schemas.keys()].sort());
  for (const [name, { schema }] of schemas) {
    assert.equal(schema.$id, `mprof.${name}/1`);
    assert.equal(schema.properties.schema.const, schema.$id);
  }
  const page = readFileSync(join(source, "docs", "formats", "verbs-json.md"), "utf8");
  for (const name of schemas.keys()) assert.ok(page.includes(`(schemas/${name}.schema.json)`), name);
});

test("each verb that prints tables or answers has --json", () => {
  const without = ["submit", "watch", "new", "mcp", "help"];  // these begin something, and answer nothing
  const verbs = [...mprof(["help"]).out.matchAll(/^  mprof ([a-z]+)/gm)].map((match) => match[1]);
  for (const verb of verbs) assert.equal(/--json/.test(mprof(["help", verb]).out), !without.includes(verb), verb);
});
