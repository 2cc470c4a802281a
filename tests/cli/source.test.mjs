// SPDX-License-Identifier: MIT
// Variants of the user's own: compiled, verified and measured like those of mprof, and refused with a reason.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, read_run, source, start, temporary, until, validate_run } from "./support.mjs";

const skip = existsSync("/usr/share/datasets/fashion-mnist") ? false : "Debian's dataset-fashion-mnist is not installed";
const course = join(source, "tests/source/course"), stub_cuda = join(source, "tests/source/stub_cuda");
const quick = ["--size", "64", "--quick", "--passes", "timing", "--seed", "1"];
const status = (run, variant) => run.cases.find((c) => c.variant === variant).passes[0];

/** A variant of the CPU that is right, with these lines at the beginning of forward(), and behind everything. */
const variant = (first = "", last = "", baseline = "elementwise/cpu_naive") => `#include <cmath>
#include <cstdlib>
#include <mprof/elementwise.hpp>
struct Mine : mprof::plugin::elementwise::HostMap {
  void forward() override {
    ${first}
    for (std::size_t row = 0; row < matrix().size; ++row)
      for (std::size_t column = 0; column < matrix().size; ++column) {
        float v = input(row)[column];
        for (unsigned i = 0; i < matrix().iterations; ++i) {
          const float f = column % 4 == 0 ? std::log(v) : column % 4 == 1 ? std::cos(v) : column % 4 == 2 ? std::sin(v) : std::tan(v);
          v += std::sqrt(f + 1.0F);
        }
        output(row)[column] = v;
      }
  }
};
MPROF_VARIANT(.family = "elementwise", .title = "Mine", .idea = "It is mine.", .device = "cpu", .baseline = "${baseline}",
              .parameters = {{"width", "of nothing", "1", {"1", "2"}}},
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Mine>(); })
${last}`;

/** A folder with a cache of its own, and mprof run in it. */
function workshop(t, files = {}) {
  const folder = temporary(t), env = { MPROF_CACHE: join(folder, "cache"), CXX: "" };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, env, run: (...args) => mprof(args, { cwd: folder, env }) };
}

test("a source is compiled once, runs beside its baseline, and is kept like those of mprof", (t) => {
  const { folder, run } = workshop(t, { "with blanks/my idea.cpp": variant(), "with blanks/my idea.md": "# Mine\n\n## How it works\n\nSlowly.\n" });
  const first = run("run", "--source", "with blanks/my idea.cpp", ...quick, "--out", "a");
  assert.equal(first.code, 0, first.err);
  assert.match(first.err, /^building with blanks\/my idea\.cpp$/m);
  const record = read_run(join(folder, "a"));
  validate_run(join(folder, "a"));
  assert.deepEqual(record.cases.map((c) => c.variant), ["elementwise/cpu_naive", "elementwise/my_idea"]);
  assert.equal(status(record, "elementwise/my_idea").status, "ok");
  assert.ok(status(record, "elementwise/my_idea").verification[0].passed);
  const [kept] = record.plan.sources;
  assert.equal(kept.path, join(folder, "with blanks/my idea.cpp"));
  assert.equal(kept.variant, "elementwise/my_idea");
  assert.equal(readFileSync(join(folder, "a/kernels/elementwise/my_idea.cpp"), "utf8"), variant());
  assert.equal(run("report", "a").code, 0);
  const report = readFileSync(join(folder, "a/milestone.md"), "utf8");
  assert.match(report, /Slowly\./);
  assert.match(report, /elementwise\/my_idea/);

  const second = run("run", "--source", "with blanks/my idea.cpp", ...quick, "--set", "width=*", "--out", "b");
  assert.equal(second.code, 0, second.err);
  assert.doesNotMatch(second.err, /building/);
  assert.equal(read_run(join(folder, "b")).cases.length, 3);
  const compared = run("compare", "a", "b", "--format", "json");
  assert.ok([0, 1].includes(compared.code), compared.err);
});

test("--resume goes on with a source that is as it was, and with no other", (t) => {
  const { folder, run } = workshop(t, { "mine.cpp": variant() });
  const command = ["run", "--source", "mine.cpp", ...quick, "--out", "a"];
  assert.equal(run(...command).code, 0);
  rmSync(join(folder, "cache"), { recursive: true });
  const more = run(...command, "--resume", "--rounds", "2");
  assert.equal(more.code, 0, more.err);
  assert.match(more.err, /building/);
  assert.equal(status(read_run(join(folder, "a")), "elementwise/mine").rounds.length, 2);
  writeFileSync(join(folder, "other.cpp"), variant());
  const other = run("run", "--source", "other.cpp", "--resume", "--out", "a");
  assert.equal(other.code, 2);
  assert.match(other.err, /a run of other sources: .*mine\.cpp/);
  appendFileSync(join(folder, "mine.cpp"), "// changed\n");
  const changed = run("run", "--resume", "--out", "a");
  assert.equal(changed.code, 4);
  assert.match(changed.err, /mine\.cpp.*has changed since the run began/);
});

test("what a source does wrong costs its case, and is said", (t) => {
  const { folder, run } = workshop(t, {
    "crashes.cpp": variant("*reinterpret_cast<volatile int*>(8) = 1;"),
    "exits.cpp": variant("std::exit(-1);"),
    "throws.cpp": variant('throw std::runtime_error("no room for this");'),
    "is_wrong.cpp": variant("output(0)[0] = 1; return;"),
    "never_ends.cpp": variant("for (volatile bool go = true; go;) {}"),
  });
  const result = run("run", "--source", "*.cpp", ...quick, "--timeout", "10", "--out", "a");
  assert.equal(result.code, 3, result.err);
  const record = read_run(join(folder, "a"));
  const expected = {
    cpu_naive: ["ok", /^$/], crashes: ["crashed", /signal 11/], exits: ["crashed", /exit code 255/],
    throws: ["failed", /no room for this/], is_wrong: ["wrong", /never written/], never_ends: ["timeout", /longer than 10 s/],
  };
  for (const [name, [word, reason]] of Object.entries(expected)) {
    const pass = status(record, `elementwise/${name}`);
    assert.equal(pass.status, word, name);
    assert.match(pass.reason ?? "", reason, name);
    if (word !== "ok") assert.equal(result.out.match(new RegExp(reason, "g"))?.length, 1, `${name}: the reason is said once\n${result.out}`);
  }
});

/** A variant that does one of these things in forward(), and fails where it finds a process that another one has spoiled. */
const acting = (actions) => variant(Object.entries(actions).map(([name, code]) => `if (act_ == "${name}") { ${code} }`).join("\n    "))
  .replace("struct Mine : mprof::plugin::elementwise::HostMap {", `
#include <cfenv>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
struct Mine : mprof::plugin::elementwise::HostMap {
  explicit Mine(std::string act) : act_(std::move(act)) {
    const bool is_clean = access("mine.cpp", R_OK) == 0 && fcntl(0, F_GETFD) >= 0 && std::getenv("SPOILED") == nullptr &&
        std::fegetround() == FE_TONEAREST && sysconf(_SC_OPEN_MAX) > 100 && std::signal(SIGUSR2, SIG_DFL) == SIG_DFL;
    if (!is_clean) throw std::runtime_error("somebody has spoiled this process");
  }
  std::string act_;`)
  .replace('{"width", "of nothing", "1", {"1", "2"}}', `{"act", "what it does", "nothing", {${["nothing", ...Object.keys(actions)].map((name) => `"${name}"`).join(", ")}}}`)
  .replace("[](const mprof::plugin::Parameters&) { return std::make_unique<Mine>(); }", '[](const mprof::plugin::Parameters& p) { return std::make_unique<Mine>(p.at("act")); }');

const act_of = (c) => c.parameters?.act ?? "nothing";
const acts_of = (folder) => Object.fromEntries(read_run(folder).cases.filter((c) => c.variant === "elementwise/mine").map((c) => [act_of(c), c.passes[0]]));

test("a point that spoils its process spoils no other point", (t) => {
  const { folder, run } = workshop(t, { "mine.cpp": acting({
    directory: 'if (chdir("/") != 0) throw 1;', input: "const_cast<float*>(input(0))[0] = 0;", descriptor: "close(0);",
    environment: 'setenv("SPOILED", "1", 1);', rounding: "std::fesetround(FE_UPWARD);", handler: "std::signal(SIGUSR2, SIG_IGN);",
    limit: "const rlimit few{64, 64}; setrlimit(RLIMIT_NOFILE, &few);",
  }) });
  for (const seed of ["1", "2", "3"]) {
    const out = `run-${seed}`;
    const result = run("run", "--source", "mine.cpp", "--set", "act=*", "--size", "64", "--rounds", "1", "--quick", "--passes", "timing", "--seed", seed, "--out", out);
    assert.equal(result.code, 3, result.err);
    for (const [act, pass] of Object.entries(acts_of(join(folder, out)))) {
      const word = act === "input" ? "wrong" : act === "rounding" ? pass.status : "ok";
      assert.equal(pass.status, word, `${act} with seed ${seed}: ${pass.reason}`);
      assert.doesNotMatch(pass.reason ?? "", /spoiled/, `${act} with seed ${seed}`);
    }
  }
});

test("processes that a point leaves are ended, and told as what they were", (t) => {
  const { folder, run } = workshop(t);
  const daemon = `if (fork() == 0) { setsid(); if (fork() == 0) { if (FILE* f = std::fopen("${folder}/pid", "a")) { std::fprintf(f, "%d\\n", getpid()); std::fclose(f); } sleep(600); } _exit(0); } usleep(100000);`;
  writeFileSync(join(folder, "mine.cpp"), acting({ forks: "(void)!fork();", daemon: `static bool once = true; if (once) { once = false; ${daemon} }`, exits: "_exit(0);" }));
  for (const seed of ["1", "2"]) {
    const out = `run-${seed}`;
    const result = run("run", "--source", "mine.cpp", "--set", "act=*", "--size", "64", "--quick", "--passes", "timing", "--timeout", "60", "--seed", seed, "--out", out);
    assert.equal(result.code, 3, result.err);
    const acts = acts_of(join(folder, out));
    assert.equal(acts.nothing.status, "ok", acts.nothing.reason);
    assert.deepEqual([acts.forks.status, acts.daemon.status, acts.exits.status], ["suspect", "suspect", "crashed"],
      JSON.stringify([acts.forks.reason, acts.daemon.reason, acts.exits.reason]));
    assert.match(acts.forks.reason, /its code forked/);
    assert.match(acts.daemon.reason, /left a process running, which mprof ended/);
    assert.match(acts.exits.reason, /ended without a result: exit code 0/);
  }
  const daemons = readFileSync(join(folder, "pid"), "utf8").trim().split("\n");
  assert.equal(daemons.length, 2);
  for (const pid of daemons) assert.ok(!existsSync(`/proc/${pid}`), "the daemon is gone");
});

test("a source whose initializer never returns is ended by the time limit", (t) => {
  const { run } = workshop(t, { "stuck.cpp": variant("", "static const int stuck = [] { for (volatile bool go = true; go;) {} return 1; }();\n") });
  for (const command of [["run", "--source", "stuck.cpp", ...quick], ["ab", "stuck.cpp", "elementwise/cpu_naive", "--size", "64"], ["tune", "stuck.cpp", "--size", "64"]]) {
    const { code, err } = run(...command, "--timeout", "1", "--out", "a");
    assert.equal(code, 3, err);
    assert.match(err, /stuck\.cpp: asked what it declares, it gave no answer: it took longer than 1 s/);
  }
});

test("a record starts no program and compiles nothing before it is checked", (t) => {
  const { folder, run } = workshop(t, { "mine.cpp": variant(), "wrapper.sh": "" });
  assert.equal(run("run", "--source", "mine.cpp", ...quick, "--out", "a").code, 0);
  writeFileSync(join(folder, "wrapper.sh"), `#!/bin/sh\ntouch ${folder}/ran\nexec "$@"\n`, { mode: 0o755 });
  const file = join(folder, "a/run.json"), recorded = JSON.parse(readFileSync(file, "utf8"));
  const with_source = (change) => writeFileSync(file, JSON.stringify({ ...recorded, state: "interrupted", plan: { ...recorded.plan, sources: [{ ...recorded.plan.sources[0], ...change }] } }));
  for (const command of [["sanitize", "a"], ["run", "--resume", "--out", "a"]]) {
    with_source({ flags: ["-wrapper", join(folder, "wrapper.sh")] });
    const flagged = run(...command);
    assert.equal(flagged.code, 2, flagged.err);
    assert.match(flagged.err, /mine\.cpp with -wrapper.*takes only common flags from a record/);
    with_source({ flags: ["-DOTHER"], checksum: `sha256:${"0".repeat(64)}` });
    const changed = run(...command);
    assert.equal(changed.code, 4, changed.err);
    assert.doesNotMatch(changed.err, /building/, "the checksum is compared before anything is compiled");
  }
  assert.ok(!existsSync(join(folder, "ran")), "the wrapper did not run");
});

test("what cannot be built or loaded is refused before anything is written", (t) => {
  const { folder, run } = workshop(t, {
    "syntax.cpp": variant("float = ;"),
    "no_variant.cpp": "int value() { return 1; }\n",
    "old.cpp": '#include <mprof/plugin.h>\nextern "C" __attribute__((visibility("default"))) uint32_t mprof_abi_version() { return 7; }\n',
    "dies.cpp": variant("", "static const int dead = (std::abort(), 1);\n"),
    "prints.cpp": variant("", '#include <cstdio>\nstatic const int said = std::printf("{\\"kind\\":\\"described\\"}\\n");\n'),
    "foreign.cpp": variant().replace('.family = "elementwise"', '.family = "elementwisse"'),
    "typo.cpp": variant("", "", "elementwise/cpu_naif"),
    "cpu_threads.cpp": variant(),
    "a/same.cpp": variant(), "b/a/same.cpp": variant(), "note.txt": "",
  });
  const refused = {
    "syntax.cpp": [2, /could not compile .*syntax\.cpp:\n.*syntax\.cpp:.*\n?.*error: /s],
    "no_variant.cpp": [2, /no_variant\.cpp: it holds no variant/],
    "old.cpp": [2, /old\.cpp: it is of version 7 .*this mprof has version 1/],
    "dies.cpp": [3, /dies\.cpp: asked what it declares, it gave no answer: .*signal 6/],
    "foreign.cpp": [2, /foreign\.cpp.*"elementwisse".*Did you mean elementwise\?/],
    "typo.cpp": [2, /typo\.cpp: its baseline elementwise\/cpu_naif is no variant.*Did you mean elementwise\/cpu_naive/],
    "cpu_threads.cpp": [2, /cpu_threads\.cpp: it would be called elementwise\/cpu_threads/],
    "*/same.cpp b/a/same.cpp": [2, /would both be called a; rename one/],
    "note.txt": [2, /note\.txt is no source/],
    "a": [2, /--source a: this folder has no family\.cpp/],
    "nothing*.cpp": [2, /there is no such file/],
  };
  for (const [sources, [code, message]] of Object.entries(refused)) {
    const result = run("run", "--source", ...sources.split(" "), ...quick, "--out", "out");
    assert.equal(result.code, code, `${sources}: ${result.err}`);
    assert.match(result.err, message);
    assert.ok(!existsSync(join(folder, "out")), sources);
  }
  // What a source prints while it is loaded is no answer, and does no harm.
  assert.equal(run("run", "--source", "prints.cpp", ...quick, "--out", "out").code, 0);
  const lonely = run("run", "--all", "--against", "x", ...quick, "--out", "out2");
  assert.equal(lonely.code, 2);
  assert.match(lonely.err, /--against needs --source/);
});

test("without a compiler, or a cache that can be written", (t) => {
  const { folder, env } = workshop(t, { "mine.cpp": variant(), "mine.cu": "", "file": "" });
  const run = (extra, ...sources) => mprof(["run", "--source", ...sources, ...quick, "--overwrite", "--out", "a"], { cwd: folder, env: { ...env, ...extra } });
  mkdirSync(join(folder, "bin"));
  const bare = { PATH: join(folder, "bin"), CUDA_HOME: "", CUDA_PATH: "" };
  const no_compiler = run(bare, "mine.cpp");
  assert.equal(no_compiler.code, 5);
  assert.match(no_compiler.err, /needs a C\+\+ compiler/);
  const no_nvcc = run(bare, "mine.cu");
  assert.equal(no_nvcc.code, 5);
  assert.match(no_nvcc.err, /needs nvcc, .*CUDA_HOME/);
  const { out } = mprof(["doctor"], { cwd: folder, env: { ...env, ...bare } });
  assert.match(out, /^limited  nvcc: .*\n +-> Only `mprof run --source`/m);
  assert.match(out, /^limited  C\+\+ compiler: /m);
  assert.ok(!existsSync(join(folder, "a")));

  const no_cache = mprof(["run", "--source", "mine.cpp", ...quick, "--out", "a"], { cwd: folder, env: { ...env, MPROF_CACHE: join(folder, "file") } });
  assert.equal(no_cache.code, 0, no_cache.err);
  assert.match(no_cache.err, /not kept for the next time: .*file/);
});

test("temporary folders of runs that were killed are removed by the next run, and no others", async (t) => {
  const { folder, env, run } = workshop(t, { "mine.cpp": variant(), "tmp/mprof-of-somebody": "", "tmp/mprof-build-123456/older": "" });
  const tmp = join(folder, "tmp"), compiler = join(folder, "slow"), pids = join(folder, "pids");
  env.TMPDIR = tmp;
  writeFileSync(compiler, `#!/bin/sh\n[ "$1" = --version ] && exec echo slow 1\necho $$ >> ${pids}\nexec sleep 600\n`, { mode: 0o755 });
  const compilers = () => (existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : []);
  const before = readdirSync(tmp), ours = () => readdirSync(tmp).filter((name) => !before.includes(name));
  const begin = async (number) => {
    const begun = start(["run", "--source", "mine.cpp", ...quick, "--out", `slow-${number}`], { cwd: folder, env: { ...env, CXX: compiler } });
    t.after(() => begun.kill("SIGKILL"));
    await until(() => compilers().length === number);
    const pid = compilers().at(-1);
    t.after(() => { try { process.kill(pid, "SIGKILL"); } catch { /* it has ended */ } });
    return begun;
  };
  const killed = await begin(1), left = ours();
  assert.equal(left.length, 1);
  killed.kill("SIGKILL");
  await new Promise((resolve) => killed.on("exit", resolve));
  assert.deepEqual(ours(), left, "nobody could remove it");
  await begin(2);
  assert.equal(ours().length, 1, "that of the killed run is gone");
  assert.notDeepEqual(ours(), left);
  const held = ours();
  assert.equal(run("run", "--variant", "elementwise/cpu_naive", ...quick, "--out", "b").code, 0);
  assert.deepEqual(ours(), held, "that of a living run stays");
  for (const name of before) assert.ok(existsSync(join(tmp, name)));
});

test("a baseline is declared, or given; several sources make one run", (t) => {
  const { folder, run } = workshop(t, { "op_0/map.cpp": variant(), "op_1/map.cpp": variant(), "op_2/map.cpp": variant() });
  const result = run("run", "--source", "op_*/map.cpp", "--against", "op_0", ...quick, "--out", "a");
  assert.equal(result.code, 0, result.err);
  const { variants } = read_run(join(folder, "a"));
  assert.deepEqual(variants.map((v) => [v.id, v.baseline]), [
    ["elementwise/op_0", undefined], ["elementwise/op_1", "elementwise/op_0"], ["elementwise/op_2", "elementwise/op_0"],
  ]);
  const unknown = run("run", "--source", "op_1/map.cpp", "--against", "op_7", ...quick, "--out", "b");
  assert.equal(unknown.code, 2);
  assert.match(unknown.err, /baseline elementwise\/op_7 is no variant/);
});

test("a clock that a source brings along is nobody's but its own", (t) => {
  const clock = '#include <ctime>\nextern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t, timespec* now) noexcept {\n' +
    "  *now = {1, 0};\n  return 0;\n}\n";
  const { folder, run } = workshop(t, { "stops_time.cpp": variant("", clock) });
  const result = run("run", "--source", "stops_time.cpp", ...quick, "--out", "a");
  assert.equal(result.code, 0, result.err);
  const times = status(read_run(join(folder, "a")), "elementwise/stops_time").measurements.find((m) => m.metric === "op_time");
  assert.ok(times.samples.every((s) => s > 0));
});

test("ab takes sources as sides", (t) => {
  const { folder, run } = workshop(t, { "mine.cpp": variant() });
  const session = run("ab", "mine.cpp", "elementwise/cpu_naive", "--size", "64", "--budget", "1", "--sampling-time", "0.05", "--out", "s");
  assert.ok([0, 1].includes(session.code), session.err);
  assert.equal(read_run(join(folder, "s/A")).plan.sources[0].variant, "elementwise/mine");
  assert.equal(readFileSync(join(folder, "s/A/kernels/elementwise/mine.cpp"), "utf8"), variant());
});

test("a library that was built elsewhere is loaded as it is", (t) => {
  const { folder, run, env } = workshop(t, { "mine.cpp": variant() });
  assert.equal(run("run", "--source", "mine.cpp", ...quick, "--out", "a").code, 0);
  const built = read_run(join(folder, "a")).plan.sources[0].library;
  symlinkSync(built, join(folder, "given.so"));
  const result = run("run", "--source", "given.so", ...quick, "--out", "b");
  assert.equal(result.code, 0, result.err);
  assert.doesNotMatch(result.err, /building/);
  assert.equal(status(read_run(join(folder, "b")), "elementwise/given").status, "ok");
  assert.equal(run("report", "b").code, 0);
});

test("course files for the CPU run unchanged, at their editions' odd sizes too", { skip }, (t) => {
  const { folder, run } = workshop(t);
  const result = run("run", "--source", join(course, "cpu*/*.cc"), "--batch", "3", "--quick", "--passes", "timing", "--out", "a");
  assert.equal(result.code, 0, result.err);
  const record = read_run(join(folder, "a"));
  assert.deepEqual(record.cases.map((c) => c.variant), ["conv/cpu_naive", "conv/cpu", "conv/cpu_stride"]);
  assert.equal(status(record, "conv/cpu").verification.length, 2);
  const strided = status(record, "conv/cpu_stride").verification;
  assert.equal(strided.length, 6);
  assert.ok(strided.every((v) => v.passed));
  assert.match(strided[5].op, /4x3x239x239, 3 maps, mask 3, stride 4/);
  assert.equal(run("report", "a").code, 0);
  const report = readFileSync(join(folder, "a/milestone.md"), "utf8");
  for (const name of ["cpu", "cpu_stride"]) assert.match(report, new RegExp(`conv/${name}\\b`), "told apart by their folders");

  // What ignores the stride is right for the network, and wrong all the same.
  const text = readFileSync(join(course, "cpu_stride/cpu-new-forward.cc"), "utf8").replaceAll("* S + ", "+ ");
  mkdirSync(join(folder, "ignores"));
  writeFileSync(join(folder, "ignores/cpu-new-forward.cc"), text);
  writeFileSync(join(folder, "ignores/cpu-new-forward.h"), readFileSync(join(course, "cpu_stride/cpu-new-forward.h")));
  const wrong = run("run", "--source", "ignores/cpu-new-forward.cc", "--batch", "3", "--quick", "--passes", "timing", "--out", "b");
  assert.equal(wrong.code, 3);
  assert.match(status(read_run(join(folder, "b")), "conv/cpu-new-forward").reason, /stride 2/);
});

/** A course file for the CPU whose loop over the images begins so, with these lines before, and this sum. */
const course_cpu = (images, before = "", term = "a * b") => `#include "cpu-new-forward.h"
#include <bit>
#include <cstdint>
${before}
void conv_forward_cpu(float* y, const float* x, const float* k, const int B, const int M, const int C, const int H, const int W, const int K) {
  const int rows = H - K + 1, columns = W - K + 1;
  ${images} for (int m = 0; m < M; ++m) for (int h = 0; h < rows; ++h) for (int w = 0; w < columns; ++w) {
    float sum = 0;
    for (int c = 0; c < C; ++c) for (int p = 0; p < K; ++p) for (int q = 0; q < K; ++q) {
      const float a = x[((b * C + c) * H + h + p) * W + w + q], b_ = k[((m * C + c) * K + p) * K + q];
      sum += ${term.replace(/\bb\b/, "b_")};
    }
    y[((b * M + m) * rows + h) * columns + w] = sum;
  }
}
`;
const all_images = "for (int b = 0; b < B; ++b)";
const course_header = readFileSync(join(course, "cpu/cpu-new-forward.h"), "utf8");
const course_options = (batch) => ["--batch", String(batch), "--quick", "--passes", "timing", "--seed", "1"];

test("images that a course file leaves out are told as those that they are", { skip }, (t) => {
  for (const [images, right] of [
    ["for (int b = 0; b < (B < 3 ? B : 3); ++b)", "only the first 3 of 5 images are right"],
    ["for (int pair = 0; pair + 1 < B; pair += 2) for (int b = pair; b < pair + 2; ++b)", "all images but the last are right"],
    ["for (int b = 0; b < B; b += 2)", "2 of 5 images are wrong"],
    ["for (int b = 2; b < B; ++b)", "only the last 3 of 5 images are right"],
  ]) {
    const { folder, run } = workshop(t, { "mine.cc": course_cpu(images), "cpu-new-forward.h": course_header });
    const { code } = run("run", "--source", "mine.cc", ...course_options(5), "--out", "a");
    assert.equal(code, 3);
    const { reason, status: verdict } = status(read_run(join(folder, "a")), "conv/mine");
    assert.equal(verdict, "wrong");
    assert.match(reason, /^layer1: \d+ of \d+ elements were never written/);
    assert.ok(reason.includes(`; ${right}`), reason);
  }
});

test("a course file that fixes the number of images is told where it left its arrays", { skip }, (t) => {
  for (const [images, words] of [
    ["for (int b = 0; b < 1000000; ++b)", /conv_forward_cpu\(\) (wrote behind the end of its output|read behind the end of its images), where image \d+ would be, and the batch has 2: does the source fix the number of images\?/],
    ["static int* nowhere; *nowhere = 1; for (int b = 0; b < B; ++b)", /signal 11/],
  ]) {
    const { folder, run } = workshop(t, { "mine.cc": course_cpu(images), "cpu-new-forward.h": course_header });
    assert.equal(run("run", "--source", "mine.cc", ...course_options(2), "--out", "a").code, 3);
    const { reason, status: verdict } = status(read_run(join(folder, "a")), "conv/mine");
    assert.equal(verdict, "crashed");
    assert.match(reason, words);
  }
});

test("what is right to a lower precision is right in it, and compared as such", { skip }, (t) => {
  const rounding = `static float r(float v) { auto b = std::bit_cast<std::uint32_t>(v); b = (b + 0xFFF + (b >> 13 & 1)) & ~0x1FFFu; return std::bit_cast<float>(b); }`;
  const { folder, run } = workshop(t, {
    "half.cc": course_cpu(all_images, rounding, "r(a) * r(b_)"),
    "single.cc": course_cpu(all_images),
    "off.cc": course_cpu(all_images, rounding, "(c + p + q == 0 ? 0 : r(a) * r(b_))"),
    "cpu-new-forward.h": course_header,
  });
  const { code, err, out } = run("run", "--source", "*.cc", ...course_options(4), "--out", "a");
  assert.equal(code, 3, err);
  validate_run(join(folder, "a"));
  const record = read_run(join(folder, "a")), of = (name) => status(record, `conv/${name}`);
  assert.deepEqual(of("single").verification.map((v) => v.tolerance), [1e-5, 1e-5]);
  assert.deepEqual(of("half").verification.map((v) => [v.passed, v.tolerance]), [[true, 2e-3], [true, 2e-3]]);
  assert.ok(of("half").verification.every((v) => v.relative_l2 > 1e-5 && v.relative_l2 < 1e-3));
  assert.deepEqual(of("half").verification.map((v) => [v.precision, v.declared_precision]), [["fp16/tf32", undefined], ["fp16/tf32", undefined]]);
  assert.match(out, /--precision fp16 or tf32 declares which/);
  assert.equal(of("off").status, "wrong");
  assert.match(of("off").reason, /above the tolerance of 1e-05/);
  assert.match(out, /right in FP16 or TF32: relative L2 error .*e-4 \(layer1\), tolerance 2\.0e-3/);
  assert.equal(run("report", "a").code, 0);
  const brief = readFileSync(join(folder, "a/brief.md"), "utf8");
  assert.match(brief, /FP16\/TF32/);
  assert.match(readFileSync(join(folder, "a/milestone.md"), "utf8"), /tolerance 2\.0e-3: right in FP16 or TF32/);

  const declared = (precision, out_folder) => {
    const result = run("run", "--source", "half.cc", "--precision", precision, ...course_options(2), "--out", out_folder);
    return { ...result, run: existsSync(join(folder, out_folder)) ? read_run(join(folder, out_folder)) : undefined };
  };
  const half = declared("fp16", "b");
  assert.equal(half.code, 0, half.err);
  assert.deepEqual(half.run.cases.map((c) => c.id), ["conv/cpu_naive@2", "conv/half@2"]);
  assert.equal(half.run.cases[1].parameters.precision, "fp16");
  assert.ok(status(half.run, "conv/half").verification.every((v) => v.tolerance === 2e-3));
  assert.ok(status(half.run, "conv/half").verification.every((v) => v.declared_precision === "fp16" && v.precision === "fp16/tf32"));
  assert.match(half.out, /right in FP16: relative/);
  assert.equal(run("run", "--resume", "--out", "b", "--rounds", "2").code, 0);
  const single = declared("fp32", "c");
  assert.equal(single.code, 3);
  assert.equal(status(single.run, "conv/half").status, "wrong");
  assert.match(status(single.run, "conv/half").reason, /--precision tf32 or bf16 or fp16 declares that/);
  assert.match(declared("half", "d").err, /--precision half: there is no such precision\. Use one of fp32, tf32, bf16, fp16/);
  assert.match(run("run", "--precision", "fp16", "--all").err, /--precision needs --source/);
});

const split_course = {
  "op/cpu-new-forward.cc": `#include "cpu-new-forward.h"
float multiply_add(float sum, float a, float b);
void conv_forward_cpu(float* y, const float* x, const float* k, const int B, const int M, const int C, const int H, const int W, const int K) {
  const int rows = H - K + 1, columns = W - K + 1;
  for (int b = 0; b < B; ++b) for (int m = 0; m < M; ++m) for (int h = 0; h < rows; ++h) for (int w = 0; w < columns; ++w) {
    float sum = 0;
    for (int c = 0; c < C; ++c) for (int p = 0; p < K; ++p) for (int q = 0; q < K; ++q)
      sum = multiply_add(sum, x[((b * C + c) * H + h + p) * W + w + q], k[((m * C + c) * K + p) * K + q]);
    y[((b * M + m) * rows + h) * columns + w] = sum;
  }
}
`,
  "op/cpu-new-forward.h": readFileSync(join(course, "cpu/cpu-new-forward.h"), "utf8"),
  "op/tools.cpp": "float multiply_add(float sum, float a, float b) {\r\n  return sum + a * b;\r\n}\r\n",
};

test("several sources make one variant: those that are named, and those that have what it lacks", { skip }, (t) => {
  const { folder, run } = workshop(t, split_course);
  const options = ["--batch", "2", "--quick", "--passes", "timing", "--seed", "1"];
  for (const [source, out] of [["op/cpu-new-forward.cc", "alone"], ["op/cpu-new-forward.cc+tools.cpp", "named"], ["op/*.c*", "glob"]]) {
    const { code, err } = run("run", "--source", source, ...options, "--out", out);
    assert.equal(code, 0, err);
    const record = read_run(join(folder, out));
    validate_run(join(folder, out));
    assert.deepEqual(record.cases.map((c) => c.variant), ["conv/cpu_naive", "conv/cpu-new-forward"], out);
    assert.equal(record.plan.sources.length, 1);
    assert.equal(record.plan.sources[0].path, `${join(folder, "op/cpu-new-forward.cc")}+${join(folder, "op/tools.cpp")}`);
    assert.equal(readFileSync(join(folder, out, "kernels/conv/cpu-new-forward+tools.cpp"), "utf8"), split_course["op/tools.cpp"]);
  }
  assert.doesNotMatch(run("run", "--source", "op/cpu-new-forward.cc+tools.cpp", ...options, "--out", "kept").err, /building/);
  const more = run("run", "--source", "op/cpu-new-forward.cc", ...options, "--out", "alone", "--resume", "--rounds", "2");
  assert.equal(more.code, 0, more.err);
  const resumed = (...sources) => run("run", "--source", ...sources, "--out", "glob", "--resume", "--rounds", "2").code;
  assert.equal(resumed("op/cpu-new-forward.cc", "op/tools.cpp"), 0, "as it was begun");
  assert.equal(resumed("op/cpu-new-forward.cc+tools.cpp"), 0);
  mkdirSync(join(folder, "other"));
  writeFileSync(join(folder, "other/tools.cpp"), split_course["op/tools.cpp"]);
  for (const other of ["op/cpu-new-forward.cc+other/tools.cpp", "op/tools.cpp"]) assert.equal(resumed(other), 2, other);
  appendFileSync(join(folder, "op/tools.cpp"), "// another\n");
  assert.equal(run("run", "--resume", "--out", "alone", "--rounds", "3").code, 4, "any of its files counts");
});

test("a file that no variant takes along is a variant of another name", { skip }, (t) => {
  const { run } = workshop(t, { "a/mine.cpp": variant(), "b/mine.cpp": '#include "body.hpp"\n', "b/body.hpp": variant() });
  const { code, out, err } = run("list", "--source", "a/mine.cpp", "b/mine.cpp", "--json");
  assert.equal(code, 0, err);
  const ids = JSON.parse(out).variants.map((v) => v.id);
  for (const id of ["elementwise/mine", "elementwise/b"]) assert.ok(ids.includes(id), ids.join(" "));
});

test("what a source lacks is told with what to add", { skip }, (t) => {
  const { run } = workshop(t, { ...split_course, "op/tools.cpp": "", "b/cpu-new-forward.h": split_course["op/cpu-new-forward.h"] });
  const refused = (...options) => {
    const { code, err } = run("list", "--source", ...options);
    assert.equal(code, 2, err);
    return err;
  };
  assert.match(refused("op/cpu-new-forward.cc"), /undefined symbol.*\nNo source beside it defines multiply_add\(float, float, float\)\. Name the file that does, as in --source 'op\/cpu-new-forward\.cc\+FILE'/s);
  assert.match(refused("op/cpu-new-forward.cc+none.cpp"), /--source none\.cpp: there is no such file/);
  const of_doubles = "double multiply_add(double sum, double a, double b) { return sum + a * b; }\n";
  for (const [name, where] of [["tools.cpp", "op/tools.cpp"], ["cpu-new-forward.cc", "op/cpu-new-forward.cc"]]) {
    const { run: again } = workshop(t, { ...split_course, "op/tools.cpp": "", [where]: (where.endsWith(".cc") ? split_course[where] : "") + of_doubles });
    const { code, err } = again("list", "--source", "op/cpu-new-forward.cc");
    assert.equal(code, 2, err);
    assert.ok(err.includes(`${name} defines multiply_add, but not as multiply_add(float, float, float): its arguments or its namespace differ.`), err);
    assert.ok(!err.includes("cc+"), `nobody named two files: ${err}`);
  }
  const calls = (text) => split_course["op/cpu-new-forward.cc"].replace("float multiply_add(float sum, float a, float b);", `${text}\nstatic float multiply_add(float s, float a, float b) { return s + a * b + call(); }`);
  for (const [name, option] of [["cublasNone", "-lcublas"], ["cublasLtNone", "-lcublasLt"], ["cudnnNone", "-lcudnn"], ["omp_none", "-fopenmp"], ["cuNone", "-lcuda"]]) {
    const { run: again } = workshop(t, { "a/cpu-new-forward.cc": calls(`extern "C" int ${name}();\nstatic int call() { return ${name}(); }`), "a/cpu-new-forward.h": split_course["op/cpu-new-forward.h"] });
    const { code, err } = again("list", "--source", "a/cpu-new-forward.cc");
    assert.equal(code, 2, err);
    assert.ok(err.includes(`${name} is a library's: add --compiler-flags '${option}'.`), err);
  }
});

test("course files for the GPU of all editions become variants of one report", { skip }, (t) => {
  const { folder, env } = workshop(t);
  const files = join(course, "20*/*.cu");
  const compile = (cuda) => {
    const out = `run-${readdirSync(folder).length}`;
    const result = mprof(["run", "--source", files, "--batch", "3", "--quick", "--passes", "timing", "--out", out],
      { cwd: folder, env: { ...env, ...cuda } });
    const record = read_run(join(folder, out));
    const none_can_run = record.cases.every(({ passes }) => passes[0].status === "skipped");
    assert.ok((none_can_run ? [5] : [0, 3]).includes(result.code), result.err);
    return record.variants.filter((v) => v.source_file?.match(/\/(20|m3)/));
  };
  const names = ["conv/2020", "conv/2021", "conv/2022", "conv/m3-forward"];
  const stubbed = compile({ CUDA_HOME: stub_cuda });
  assert.deepEqual(stubbed.map((v) => v.id).sort(), names);
  assert.ok(stubbed.every((v) => v.device === "cuda" && v.baseline === "conv/baseline"));
  const real = spawnSync("nvcc", ["--version"], { encoding: "utf8" });
  if (real.status === 0) assert.deepEqual(compile({ CUDA_HOME: "" }).map((v) => v.id).sort(), names);
  else t.diagnostic("nvcc is not here: compiled by its stub alone");
});

test("docs/guides/adding.md goes from an empty file to a report", (t) => {
  const { folder, env } = workshop(t);
  const text = readFileSync(join(source, "docs/guides/adding.md"), "utf8");
  const commands = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block]) => block.trim().split("\n"));
  assert.ok(commands.length >= 13);
  for (const command of commands) {
    const [name, ...words] = command.split(" ");
    assert.equal(name, "mprof");
    const result = mprof(words, { cwd: folder, env });
    const may_be_slower = ["ab", "compare"].includes(words[0]);
    assert.ok(result.code === 0 || (may_be_slower && result.code === 1), `${command}: ${result.err}`);
  }
  assert.match(readFileSync(join(folder, "second/brief.md"), "utf8"), /^\| my_map\s+\|\s+[\d.,]+\s+\|\s+[\d.,]+×\s*\|/m);
  assert.match(readFileSync(join(folder, "second/evidence.md"), "utf8"), /void forward\(\) override/);
  assert.match(readFileSync(join(folder, "own/brief.md"), "utf8"), /my_product\//);
});

test("mprof new writes a variant of each family that is right, and nothing over a file", { skip }, (t) => {
  const { folder, run } = workshop(t);
  const has_nvcc = spawnSync("nvcc", ["--version"]).status === 0;
  for (const family of ["conv", "elementwise"]) {
    for (const ending of has_nvcc ? ["cpp", "cu"] : ["cpp"]) {
      const file = `first_${family}_${ending}.${ending}`;
      const made = run("new", "variant", file, "--family", family);
      assert.equal(made.code, 0, made.err);
      assert.match(made.out, new RegExp(`Next: mprof run --source ${file} --quick`));
      assert.doesNotMatch(readFileSync(join(folder, file), "utf8"), /@/);
    }
  }
  const result = run("run", "--source", "first_*", "--batch", "2", "--size", "64", "--quick", "--passes", "timing", "--out", "a");
  assert.equal(result.code, 0, result.err);
  assert.equal(status(read_run(join(folder, "a")), "conv/first_conv_cpp").status, "ok");
  assert.equal(status(read_run(join(folder, "a")), "elementwise/first_elementwise_cpp").status, "ok");

  const before = readFileSync(join(folder, "first_conv_cpp.cpp"));
  const refused = {
    "variant first_conv_cpp.cpp --family conv": /is there already/,
    "variant x.py --family conv": /end the name with \.cu .* with \.cpp/,
    "variant x.cpp --family con": /no family of this name\. Did you mean conv\?/,
    "variant x.cpp": /--family is missing/,
    "kernel x.cpp --family conv": /it writes a variant, a family or a suite/,
  };
  for (const [words, message] of Object.entries(refused)) {
    const { code, err } = run("new", ...words.split(" "));
    assert.equal(code, 2, words);
    assert.match(err, message);
  }
  assert.deepEqual(readFileSync(join(folder, "first_conv_cpp.cpp")), before);
  assert.ok(!existsSync(join(folder, "x.cpp")));
});
