// SPDX-License-Identifier: MIT
// Families of the user's own: a folder of sources goes through all that a built-in family goes through.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, source, start, temporary, validate_run } from "./support.mjs";

const seconds = ["--quick", "--passes", "timing", "--seed", "1"], quick = [...seconds, "--compiler-flags=-O0"];
const stub_cuda = join(source, "tests/source/stub_cuda");

/** A family of rows that are doubled, and shifted by a shared offset; with other fields and functions where these are given. */
const family = ({ name = "doubling", fields = "", op = "", reference = "", fill = "", last = "" } = {}) => `
#include <mprof/family.hpp>
using namespace mprof::plugin;
std::vector<OpDefinition> ops(const Sizes& problem) {
  return {{.name = "double", .inputs = {{.name = "rows", .elements = 16}, {.name = "offset", .elements = 1, .is_shared = true}},
           .blocks = problem.size("rows"), .item_elements = 16, .tolerance = 1e-6, .flops = 32.0 * static_cast<double>(problem.size("rows"))${op}}};
}
void reference(const Task& task, const Asked& asked, std::span<double> row) {
  ${reference}
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = 2.0 * task.input(0)[asked.block * 16 + i] + task.input(1)[0];
}
MPROF_FAMILY(.name = "${name}", .title = "Rows, doubled", .item = "row",
             .axes = {{.name = "rows", .meaning = "rows of the table", .default_value = 1000, .max = 100000}},
             .problems = {{1000}, {4000}}, .quick_problems = {{500}}, .ops = ops, ${fill} .reference = reference${fields})
${last}`;

/** A variant of it, with these lines at the beginning of forward(). */
const variant = (first = "", baseline = "doubling/plain", of = "doubling") => `
#include <cstdlib>
#include <mprof/variant.hpp>
struct Doubling : mprof::plugin::HostOp {
  void forward() override {
    const std::size_t elements = task().size("rows") * 16;
    ${first}
    for (std::size_t i = 0; i < elements; ++i) task().output()[i] = 2.0F * task().input(0)[i] + task().input(1)[0];
  }
  std::vector<float> kept;
};
MPROF_VARIANT(.family = "${of}", .title = "Doubling", .idea = "It doubles.", .device = "cpu", .baseline = "${baseline}",
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Doubling>(); })`;

const plain = variant("", ""), usual = { "mine/family.cpp": family(), "mine/plain.cpp": plain };

function workshop(t, files = {}) {
  const folder = temporary(t), env = { MPROF_CACHE: join(folder, "cache"), CXX: "" };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, env, run: (...args) => mprof(args, { cwd: folder, env }) };
}

const timing = (run, id) => run.cases.find((c) => c.id === id).passes[0];

test("a folder is a family: run, reported without its sources, compared, merged, resumed", (t) => {
  const { folder, run } = workshop(t, { ...usual, "mine/same.cpp": variant(), "mine/same.md": "# Same\n\n## How it works\n\nAs before.\n", "mine/note.txt": "" });
  const first = run("run", "--source", "mine/", ...quick, "--out", "a");
  assert.equal(first.code, 0, first.err);
  validate_run(join(folder, "a"));
  const record = read_run(join(folder, "a"));
  assert.deepEqual(record.cases.map((c) => c.id), ["doubling/plain@500", "doubling/same@500"]);
  const [declared] = record.families;
  assert.equal(declared.id, "doubling");
  assert.deepEqual(declared.axes.map((a) => [a.name, a.plural, a.title, a.default, a.max]), [["rows", "rows", "Rows", 1000, 100000]]);
  const [{ ops: [op] }] = declared.problems;
  assert.equal(op.title, "double");
  assert.equal(op.flops, 32 * 500);
  assert.equal(op.bytes, 4 * (2 * 500 * 16 + 1), "each input and the output once");
  assert.equal(op.items, 500);
  for (const c of record.cases) {
    assert.ok(c.passes[0].verification[0].passed, c.id);
    assert.ok(c.passes[0].scrutiny.orders > 1, "timed executions get the rows in several orders");
    assert.ok(c.passes[0].scrutiny.unseen > 0);
  }
  assert.deepEqual(record.plan.sources.map((s) => [s.family, s.variant]), [["doubling", undefined], [undefined, "doubling/plain"], [undefined, "doubling/same"]]);
  assert.deepEqual(record.inputs.map((i) => [i.family, i.name, i.path]), [["doubling", "family", join(folder, "mine/family.cpp")]]);

  const resumed = run("run", "--source", "mine/", "--resume", "--rounds", "2", "--out", "a");
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(timing(read_run(join(folder, "a")), "doubling/same@500").rounds.length, 2);

  for (const shard of ["1/2", "2/2"]) assert.equal(run("run", "--source", "mine/", ...quick, "--shard", shard, "--out", `s${shard[0]}`).code, 0);
  assert.equal(run("merge", "s1", "s2", "--out", "merged").code, 0);
  writeFileSync(join(folder, "mine/family.cpp"), family() + "// another version\n");
  const changed = run("run", "--source", "mine/", "--resume", "--out", "a");
  assert.equal(changed.code, 4);
  assert.match(changed.err, /family\.cpp.*has changed since the run began/);
  const later = run("run", "--source", "mine/", ...quick, "--out", "b");
  assert.equal(later.code, 0, later.err);

  rmSync(join(folder, "mine"), { recursive: true });
  rmSync(join(folder, "cache"), { recursive: true });
  for (const of of ["a", "merged"]) {
    assert.equal(run("report", of).code, 0);
    assert.match(readFileSync(join(folder, of, "brief.md"), "utf8"), /doubling\/plain/);
  }
  const report = readFileSync(join(folder, "a/milestone.md"), "utf8");
  assert.match(report, /As before\./);
  assert.match(report, /within tolerance of the reference that the family's own file gives/);
  assert.match(report, /compared with its family's reference after it/);
  assert.ok([0, 1].includes(run("compare", "a", "merged").code));
  const compared = run("compare", "a", "b");
  assert.equal(compared.code, 4, "another family's file is another work");
  assert.match(compared.err, /Contents of input family: family\.cpp/);
});

test("a run is resumed by the source that began it, whatever the baseline beside it took along", (t) => {
  const plain = `${usual["mine/plain.cpp"]}\nint tool();\nint used = tool();\n`;
  const { folder, run } = workshop(t, { ...usual, "mine/plain.cpp": plain, "mine/tool.cpp": "int tool() { return 1; }\n", "mine/same.cpp": variant() });
  assert.equal(run("run", "--source", "mine/same.cpp", ...quick, "--out", "a").code, 0);
  const paths = read_run(join(folder, "a")).plan.sources.map((s) => s.path);
  assert.ok(paths.includes(`${join(folder, "mine/plain.cpp")}+${join(folder, "mine/tool.cpp")}`), paths.join(" "));
  const { code, err } = run("run", "--source", "mine/same.cpp", "--resume", "--rounds", "2", "--out", "a");
  assert.equal(code, 0, err);
});

test("variants, axes, baselines and single files are chosen as of a built-in family", (t) => {
  const { folder, run } = workshop(t, { ...usual, "mine/same.cpp": variant(), "mine/third.cpp": variant("", "doubling/same"), "elsewhere/fourth.cpp": variant() });
  const cases = (...args) => {
    const { code, err } = run("run", ...args, ...quick, "--overwrite", "--out", "a");
    assert.equal(code, 0, err);
    return read_run(join(folder, "a")).cases.map((c) => c.id);
  };
  assert.deepEqual(cases("--source", "mine", "--variant", "*/same"), ["doubling/same@500"]);
  assert.equal(run("run", "--resume", "--source", "mine", "--variant", "*/same", "--out", "a").code, 0);
  assert.deepEqual(cases("--source", "mine", "--variant", "doubling/p*", "--rows", "300,7"), ["doubling/plain@7", "doubling/plain@300"]);
  assert.deepEqual(cases("--source", "mine/third.cpp", "--rows=8"), ["doubling/plain@8", "doubling/same@8", "doubling/third@8"]);
  assert.deepEqual(cases("--source", "mine/third.cpp", "--against", "plain", "--rows", "8"), ["doubling/plain@8", "doubling/third@8"]);
  assert.deepEqual(cases("--source", "mine", "elsewhere/fourth.cpp", "--variant", "*/fourth", "--rows", "8"), ["doubling/plain@8", "doubling/fourth@8"]);
  const resumed = run("run", "--resume", "--source", "mine/third.cpp", "--out", "a");
  assert.equal(resumed.code, 2);

  const listed = JSON.parse(run("list", "--source", "mine", "--json").out);
  assert.deepEqual(listed.families.map((f) => f.id), ["doubling"]);
  assert.deepEqual(listed.variants.map((v) => v.id), ["doubling/plain", "doubling/same", "doubling/third"]);

  const session = run("ab", "mine/same.cpp", "doubling/plain", "--rows", "64", "--budget", "1", "--sampling-time", "0.05", "--out", "s");
  assert.ok([0, 1].includes(session.code), session.err);
  for (const [words, message] of Object.entries({
    "--source mine --rowws 3": /rowws: no selected family has an axis of this name\. Did you mean rows\?/,
    "--source mine --rows 100001": /rows 100001: the family doubling takes 1 to 100000 \(rows of the table\)/,
    "--all --rows 3": /has no option --rows/,
    "--source mine --against other": /baseline doubling\/other is no variant/,
  })) {
    const { code, err } = run("run", ...words.split(" "), ...quick, "--out", "b");
    assert.equal(code, 2, words);
    assert.match(err, message);
  }
  assert.ok(!existsSync(join(folder, "b")));
});

test("what is wrong, pretends or fails is told as of a built-in family", (t) => {
  const { folder, run } = workshop(t, {
    ...usual,
    "mine/is_wrong.cpp": variant("task().output()[3] = 1; return;"),
    "mine/keeps.cpp": variant("if (kept.empty()) kept.assign(elements, 0.0F); else { std::copy(kept.begin(), kept.end(), task().output()); return; }")
      .replace("+ task().input(1)[0];", "+ task().input(1)[0];\n    kept.assign(task().output(), task().output() + elements);"),
    "mine/overwrites.cpp": variant("const_cast<float*>(task().input(1))[0] = 0;"),
    "mine/coarse.cpp": variant("for (std::size_t i = 0; i < elements; ++i) task().output()[i] = 2.001F * task().input(0)[i] + task().input(1)[0]; return;"),
    "mine/throws.cpp": variant('throw std::runtime_error("no room for this");'),
    "mine/exits.cpp": variant("std::exit(-1);"),
  });
  const result = run("run", "--source", "mine", ...quick, "--out", "a");
  assert.equal(result.code, 3, result.err);
  const record = read_run(join(folder, "a"));
  const expected = {
    plain: ["ok", /^$/], is_wrong: ["wrong", /double: 7999 of 8000 elements were never written, the first at \[row 0, element 0\]/],
    keeps: ["wrong", /double: the relative L2 error of row \d+/], overwrites: ["wrong", /./],
    coarse: ["wrong", /relative L2 error of row \d+ is .*, above the tolerance of 1e-06/],
    throws: ["failed", /no room for this/], exits: ["crashed", /exit code 255/],
  };
  for (const [name, [word, reason]] of Object.entries(expected)) {
    const pass = timing(record, `doubling/${name}@500`);
    assert.equal(pass.status, word, `${name}: ${pass.reason}`);
    assert.match(pass.reason ?? "", reason, name);
  }
});

test("a family's own failures cost its cases", (t) => {
  for (const [change, reason] of [
    [{ reference: 'if (asked.block == 3) throw std::runtime_error("what is right is not known");' }, /the family's reference failed: what is right is not known/],
    [{ fill: '.fill = [](const Sizes&, const Drawn&, std::span<float>) { throw std::runtime_error("no values"); },' }, /the family's fill failed: no values/],
    [{ reference: "row[0] = 1; return;" }, /elements have no reference/],
  ]) {
    const { folder, run } = workshop(t, { ...usual, "mine/family.cpp": family(change) });
    assert.equal(run("run", "--source", "mine", ...quick, "--out", "a").code, 3);
    const pass = timing(read_run(join(folder, "a")), "doubling/plain@500");
    assert.match(pass.reason, reason);
  }
});

test("ops may be several, read integers, and be told sizes of their own", (t) => {
  const text = `
#include <mprof/family.hpp>
using namespace mprof::plugin;
MPROF_FAMILY(.name = "gather", .title = "Values by their places", .item = "value", .whole = "gathering",
  .axes = {{.name = "places", .plural = "places", .meaning = "values of the output"}, {.name = "depth", .meaning = "of the table", .default_value = 8}},
  .problems = {{256, 4}},
  .ops = [](const Sizes& p) {
    std::vector<OpDefinition> ops;
    for (const char* name : {"few", "many"})
      ops.push_back({.name = name, .inputs = {{.name = "index", .elements = 4, .type = MPROF_INT32}, {.name = "table", .elements = p.size("depth"), .is_shared = true}},
                     .blocks = p.size("places") / 4, .items_in_block = 4, .tolerance = 1e-7, .sizes = {{"step", ops.size() + 1}}});
    return ops; },
  .fill = [](const Sizes& p, const Drawn& drawn, std::span<float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t draw = (drawn.seed ^ i) * 0x9E3779B97F4A7C15 >> 40;
      values[i] = drawn.input == 0 ? std::bit_cast<float>(static_cast<std::int32_t>(draw % p.size("depth"))) : static_cast<float>(draw) + 1; } },
  .reference = [](const Task& task, const Asked& asked, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(asked.op + 1) * task.input(1)[task.integers(0)[asked.block * 4 + i]]; })`.replace("#include <mprof", "#include <bit>\n#include <mprof");
  const own = `
#include <mprof/variant.hpp>
struct Gather : mprof::plugin::HostOp {
  void forward() override {
    for (std::size_t i = 0; i < task().size("places"); ++i)
      task().output()[i] = static_cast<float>(task().size("step")) * task().input(1)[task().integers(0)[i]];
  }
};
MPROF_VARIANT(.family = "gather", .title = "Gather", .device = "cpu", .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Gather>(); })`;
  const { folder, run } = workshop(t, { "g/family.cpp": text, "g/plain.cpp": own });
  const result = run("run", "--source", "g", ...quick, "--depth", "3", "--places", "64,256", "--out", "a");
  assert.equal(result.code, 0, result.err);
  const record = read_run(join(folder, "a"));
  assert.deepEqual(record.cases.map((c) => c.id), ["gather/plain@places=64,depth=3", "gather/plain@places=256,depth=3"]);
  for (const c of record.cases) assert.deepEqual(c.passes[0].verification.map((v) => [v.op, v.passed]), [["few", true], ["many", true]]);
  assert.equal(run("report", "a").code, 0);
  assert.match(readFileSync(join(folder, "a/milestone.md"), "utf8"), /gathering/);
});

test("an op all of whose inputs are shared is right in blocks too", (t) => {
  const text = `
#include <mprof/family.hpp>
using namespace mprof::plugin;
MPROF_FAMILY(.name = "transpose", .title = "A matrix, transposed", .item = "row", .axes = {{.name = "n", .meaning = "rows and columns"}},
  .problems = {{64}},
  .ops = [](const Sizes& p) {
    const std::uint64_t n = p.size("n");
    return std::vector<OpDefinition>{{.name = "turn", .inputs = {{.name = "A", .elements = n * n, .is_shared = true}}, .blocks = n, .item_elements = n, .tolerance = 1e-7}}; },
  .reference = [](const Task& task, const Asked& asked, std::span<double> row) {
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = task.input(0)[i * row.size() + asked.block]; })`;
  const own = `
#include <mprof/variant.hpp>
struct Transpose : mprof::plugin::HostOp {
  void forward() override {
    const std::size_t n = task().size("n");
    for (std::size_t i = 0; i < n * n; ++i) task().output()[i % n * n + i / n] = task().input(0)[i];
  }
};
MPROF_VARIANT(.family = "transpose", .title = "By rows", .device = "cpu", .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Transpose>(); })`;
  const { run } = workshop(t, { "t/family.cpp": text, "t/plain.cpp": own });
  const result = run("run", "--source", "t", ...quick, "--out", "a");
  assert.equal(result.code, 0, result.out + result.err);
});

test("what cannot be a family is refused by name, and nothing is written", (t) => {
  const { folder, run } = workshop(t, {
    "empty/plain.cpp": plain,
    "alone/family.cpp": family(),
    "twice/family.cpp": family(), "twice/family.cu": family(), "twice/plain.cpp": plain,
    "names/family.cpp": family(), "names/plain.cpp": plain, "names/plain.cu": plain,
    "foreign/family.cpp": family(), "foreign/plain.cpp": variant("", "elementwise/cpu_naive", "elementwise"),
    "taken/family.cpp": family({ name: "elementwise" }), "taken/plain.cpp": plain,
    "old/family.cpp": '#include <mprof/plugin.h>\nextern "C" __attribute__((visibility("default"))) uint32_t mprof_abi_version() { return 7; }\n', "old/plain.cpp": plain,
    "older/family.cpp": family(), "older/plain.cpp": '#include <mprof/plugin.h>\nextern "C" __attribute__((visibility("default"))) uint32_t mprof_abi_version() { return 7; }\n',
    "nothing/family.cpp": "int value() { return 1; }\n", "nothing/plain.cpp": plain,
    "swapped/family.cpp": plain, "swapped/plain.cpp": family(),
    "no_variant/family.cpp": family(), "no_variant/helper.cpp": "int value() { return 1; }\n",
    "is_variant/family.cpp": family(), "is_variant/other.cpp": family(),
    "syntax/family.cpp": family({ last: "float = ;" }), "syntax/plain.cpp": plain,
    "broken/family.cpp": family(), "broken/plain.cpp": plain + "\nfloat = ;",
    "dies/family.cpp": family({ last: "#include <cstdlib>\nstatic const int dead = (std::abort(), 1);" }), "dies/plain.cpp": plain,
    "big/family.cpp": family({ op: ", .bytes = -1" }), "big/plain.cpp": plain,
    "beside/family.cpp": family({ name: "other" }), "beside/plain.cpp": plain,
    "a/mine/family.cpp": family(), "a/mine/plain.cpp": plain, "b/mine/family.cpp": family(), "b/mine/plain.cpp": plain,
  });
  const refused = {
    "empty": [2, /--source empty: this folder has no family\.cpp .*'empty\/\*\.cu'/],
    "alone": [2, /--source alone: there is no variant beside family\.cpp/],
    "twice": [2, /family\.cpp and family\.cu would both declare its family/],
    "names": [2, /plain\.cpp and plain\.cu would both be called plain/],
    "foreign": [2, /foreign\/plain\.cpp: its variant is of the family "elementwise", and its folder is the family "doubling"/],
    "taken": [2, /taken\/family\.cpp: its family is called elementwise, as another one is/],
    "old": [2, /old\/family\.cpp: it is of version 7 .*this mprof has version 1/],
    "older": [2, /older\/plain\.cpp: it is of version 7/],
    "nothing": [2, /nothing\/family\.cpp: it holds no family: it has no function mprof_abi_version\(\)/],
    "swapped": [2, /swapped\/family\.cpp: it holds no family: mprof_family_plugin\(\) is missing/],
    "no_variant": [2, /no_variant\/helper\.cpp: it holds no variant/],
    "is_variant": [2, /is_variant\/other\.cpp: it holds a family and no variant/],
    "syntax": [2, /could not compile .*syntax\/family\.cpp:\n.*syntax\/family\.cpp:.*error: /s],
    "broken": [2, /could not compile .*broken\/plain\.cpp:\n.*broken\/plain\.cpp:.*error: /s],
    "dies": [3, /dies\/family\.cpp: asked what it declares, it gave no answer: .*signal 6/],
    "big": [2, /big\/family\.cpp: at the problem 1000, its op double cannot be: its flops, bytes .* no amount/],
    "beside/plain.cpp": [2, /its variant is of the family "doubling", and the one beside it, family\.cpp, is "other"/],
    "elsewhere": [2, /there is no such file/],
    "a/mine b/mine": [2, /b\/mine\/family\.cpp: its family is called doubling, as another one is/],
  };
  for (const [sources, [code, message]] of Object.entries(refused)) {
    const result = run("run", "--source", ...sources.split(" "), ...quick, "--out", "out");
    assert.equal(result.code, code, `${sources}: ${result.err}`);
    assert.match(result.err, message);
    assert.ok(!existsSync(join(folder, "out")), sources);
  }
  assert.match(run("watch", "a/mine").err, /one variant is watched; name its file/);
});

test("variants for the GPU are compiled, and skipped with a reason where there is none", (t) => {
  const cuda = plain.replace('"cpu"', '"cuda"');
  const { folder, env } = workshop(t, { ...usual, "mine/on_gpu.cu": cuda });
  const result = mprof(["run", "--source", "mine", ...seconds, "--out", "a"], { cwd: folder, env: { ...env, CUDA_HOME: stub_cuda } });
  assert.ok([0, 3].includes(result.code), result.err);
  const run = read_run(join(folder, "a"));
  assert.equal(timing(run, "doubling/plain@500").status, "ok");
  assert.equal(run.variants.find((v) => v.id === "doubling/on_gpu").device, "cuda");
});

test("watch measures a variant of a family anew when the family's file changes too", async (t) => {
  const { folder, env } = workshop(t, { ...usual, "mine/same.cpp": variant() });
  const watch = start(["watch", "mine/same.cpp", "--rows", "64", "--rounds", "2", "--sampling-time", "0.1", "--out", "runs"], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => watch.kill("SIGKILL"));
  let said = "";
  for (const stream of [watch.stdout, watch.stderr]) stream.on("data", (text) => (said += text));
  const waits = async (count) => {
    while (said.split("Waiting for").length <= count) {
      assert.equal(watch.exitCode, null, said);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  await waits(1);
  assert.match(said, /Version 1 of mine\/same\.cpp, at rows 64/);
  writeFileSync(join(folder, "mine/family.cpp"), family({ last: "float = ;" }));
  await waits(2);
  assert.match(said, /could not compile .*family\.cpp[^]*This version is left out/);
  writeFileSync(join(folder, "mine/family.cpp"), family({ last: "// another one\n" }));
  await waits(3);
  assert.match(said, /Version 2 of mine\/same\.cpp/);
});

test("mprof new writes a family that is right, of each device, and nothing over a folder", (t) => {
  const { folder, run } = workshop(t);
  for (const [device, files] of Object.entries({
    cpu: ["family.cpp", "naive.cpp", "reordered.cpp", "reordered.md"], cuda: ["family.cpp", "naive.cu", "tiled.cu", "tiled.md"],
  })) {
    const made = run("new", "family", `of-${device}`, "--device", device);
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, new RegExp(`Next: mprof run --source of-${device} --quick\n`));
    assert.deepEqual(readdirSync(join(folder, `of-${device}`)).sort(), files);
    for (const file of files) assert.doesNotMatch(readFileSync(join(folder, `of-${device}`, file), "utf8"), /@/);
  }
  const result = run("run", "--source", "of-cpu/", "--size", "33", ...quick, "--out", "a");
  assert.equal(result.code, 0, result.err);
  assert.deepEqual(read_run(join(folder, "a")).cases.map((c) => [c.id, c.passes[0].status]), [["of-cpu/naive@33", "ok"], ["of-cpu/reordered@33", "ok"]]);
  const tuned = run("tune", "of-cpu/blocked", "--source", "of-cpu");
  assert.match(tuned.err, /no variant is called 'of-cpu\/blocked'\..* --source has of-cpu\/naive, of-cpu\/reordered\./);
  if (spawnSync("nvcc", ["--version"]).status === 0) {
    const on_gpu = run("run", "--source", "of-cuda", ...seconds, "--out", "b");
    const record = read_run(join(folder, "b"));
    const none_can_run = record.cases.every(({ passes }) => passes[0].status === "skipped");
    assert.equal(on_gpu.code, none_can_run ? 5 : 0, on_gpu.err);
    assert.deepEqual(record.variants.map((v) => v.id), ["of-cuda/naive", "of-cuda/tiled"]);
  } else {
    t.diagnostic("nvcc is not here: its family for the GPU was not compiled");
  }
  const refused = {
    "family of-cpu": /of-cpu is there already/, "family 3d": /a family's name is a letter/, "family elementwise": /mprof has a family of this name/,
    "family x --device tpu": /--device tpu: say cpu or cuda/, "family x --family conv": /--family is for `mprof new variant` alone/,
    "variant x.cpp --family elementwise --device cpu": /--device is for `mprof new family` alone\. The name of a variant.s file says its device/, "kernel x": /it writes a variant, a family or a suite/,
  };
  for (const [words, message] of Object.entries(refused)) {
    const { code, err } = run("new", ...words.split(" "));
    assert.equal(code, 2, words);
    assert.match(err, message);
  }
  assert.ok(!existsSync(join(folder, "x")));
});
