// SPDX-License-Identifier: MIT
// The jobs of `mprof mcp`: what may begin one, how a client waits, joins and cancels, and that nothing is left of one.
import assert from "node:assert/strict";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "./mcp_client.mjs";
import { source, temporary, until } from "./support.mjs";

const quick = { program: ["./quick"], passes: ["timing"], rounds: 1 };
const slow = { program: ["./slow"], passes: ["timing"], rounds: 1 };

function script(root, name, text) {
  writeFileSync(join(root, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(root, name), 0o755);
}

/** A root with programs: one ends at once, one writes its id and stays, one says which variables it has. */
function programs(t) {
  const root = temporary(t);
  script(root, "quick", "echo done");
  script(root, "slow", `echo $$ >> '${root}/ids'\nexec sleep 600`);
  script(root, "deaf", `trap '' TERM INT\necho $$ >> '${root}/ids'\n(trap '' TERM; while :; do sleep 1; done) &\nwhile :; do sleep 1; done`);
  script(root, "variables", `env > '${root}/variables.txt'`);
  script(root, "where", `pwd > '${root}/where.txt'; printf '%s\\n' "$@" >> '${root}/where.txt'`);
  return root;
}
const measuring = (t, root, more = [], options = {}) => connect(t, ["--root", root, "--allow", "measure", ...more], options);

const started = (root) => (existsSync(join(root, "ids")) ? readFileSync(join(root, "ids"), "utf8").trim().split("\n").map(Number) : []);
/** Whether a process of that id still runs in this root. */
function runs(id, root) {
  try {
    return readlinkSync(`/proc/${id}/cwd`).startsWith(root) && !readFileSync(`/proc/${id}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
const gone = (root) => until(() => !started(root).some((id) => runs(id, root)));

test("nothing is measured or compiled unless the server was told so", async (t) => {
  const root = programs(t);
  const reader = await connect(t, ["--root", root]);
  for (const [tool, args] of [["profile", quick], ["judge", { source: "quick" }], ["judge", { code: "x" }]])
    assert.equal((await reader.refusal(tool, args)).code, "not_allowed");
  const { absent } = await reader.ask("machine");
  assert.match(absent[0].how, /--allow measure/);
  const measurer = await measuring(t, root);
  assert.equal((await measurer.refusal("judge", { source: "quick" })).code, "not_allowed");
  assert.ok(!existsSync(join(root, "results")));
});

test("a program is measured, and its run can be read", { timeout: 300_000 }, async (t) => {
  const client = await measuring(t, programs(t));
  const first = await client.ask("profile", quick);
  const done = ["queued", "running"].includes(first.state) ? await client.job_end(first.job) : first;
  assert.equal(done.state, "done", JSON.stringify(done));
  assert.equal(done.exit_code, 0);
  const [next] = done.next;
  assert.equal(next.tool, "summary");
  const summary = await client.ask("summary", next.arguments);
  assert.match(summary.answer, /1 of 1 case is ok/);
  assert.equal((await client.ask("machine", { kind: "run" })).rows[0].name, done.run);
  assert.equal((await client.ask("job", { id: done.job })).state, "done", "and again");
});

test("a program gets its words and folder as they are, and no secrets", { timeout: 300_000 }, async (t) => {
  const root = programs(t), words = ["--out=elsewhere", "$(touch pwned)", "a b", "*", ";", "--"];
  mkdirSync(join(root, "below"));
  script(join(root, "below"), "where", `pwd > '${root}/where.txt'; printf '%s\\n' "$@" >> '${root}/where.txt'`);
  script(root, "look", `echo began > '${root}/looked.txt'\ncat "/proc/$1/environ" >> '${root}/looked.txt' 2>&1\ncat /proc/self/environ > '${root}/own.txt'`);
  // Whoever may look at every process may look at this one.
  const before = process.getuid() === 0 ? ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] : [];
  const client = await measuring(t, root, [], { env: { SECRET_TOKEN: "hush" }, before });
  const one = await client.ask("profile", { program: ["./where", ...words], cwd: "below", passes: ["timing"], rounds: 1 });
  const done = await client.job_end(one.job);
  assert.equal(done.state, "done", JSON.stringify(done));
  assert.deepEqual(readFileSync(join(root, "where.txt"), "utf8").trim().split("\n"), [join(root, "below"), ...words]);
  assert.ok(!existsSync(join(root, "pwned")) && !existsSync(join(root, "below", "pwned")));
  const two = await client.ask("profile", { program: ["./variables"], passes: ["timing"], rounds: 1 });
  await client.job_end(two.job);
  const variables = readFileSync(join(root, "variables.txt"), "utf8");
  assert.match(variables, /^PATH=/m);
  assert.ok(!variables.includes("hush"), variables);
  const three = await client.ask("profile", { program: ["./look", `${client.pid}`], passes: ["timing"], rounds: 1 });
  assert.equal((await client.job_end(three.job)).state, "done");
  const looked = readFileSync(join(root, "looked.txt"), "utf8");
  assert.match(looked, /^began\n.*Permission denied/, "the server's own variables are closed");
  assert.match(readFileSync(join(root, "own.txt"), "utf8"), /PATH=/, "a program's own are not");
});

test("programs and folders outside of the root are refused", async (t) => {
  const client = await measuring(t, programs(t));
  for (const args of [{ program: ["/bin/ls"] }, { program: ["../x"] }, { program: ["./quick"], cwd: ".." }, { program: ["./quick"], cwd: "/" }])
    assert.equal((await client.refusal("profile", args)).code, "outside_root", JSON.stringify(args));
  assert.equal((await client.refusal("profile", { program: ["no-such-program-here"] })).code, "not_found");
  assert.equal((await client.refusal("profile", { program: ["./nothing"] })).code, "not_found");
});

test("results that lead out of the root begin no job, and no run of one is named there", { timeout: 300_000 }, async (t) => {
  const folder = temporary(t), root = programs(t);
  symlinkSync(folder, join(root, "results"));
  const client = await measuring(t, root, ["--allow", "compile"]);
  for (const [tool, args] of [["profile", quick], ["judge", { source: "quick" }]])
    assert.equal((await client.refusal(tool, args)).code, "outside_root", tool);
  assert.deepEqual(readdirSync(folder), []);
  rmSync(join(root, "results"));
  // A program that puts a link in the place of its own result.
  script(root, "moves", `mkdir -p '${folder}/results'\nmv '${root}/results/'* '${folder}/results/'\nln -s '${folder}/results/'* '${root}/results/'`);
  const begun = await client.ask("profile", { program: ["./moves"], passes: ["timing"], rounds: 1 });
  const done = ["queued", "running"].includes(begun.state) ? await client.job_end(begun.job) : begun;
  assert.equal(readdirSync(join(folder, "results")).length, 1, JSON.stringify(done));
  assert.ok(!("run" in done) && done.next.length === 0, JSON.stringify(done));
});

test("a problem of judge sets axes of families, and no other option", async (t) => {
  const root = programs(t), client = await measuring(t, root, ["--allow", "compile"]);
  for (const [problem, why] of [["seed-from=1", /no family has an axis 'seed-from'/], ["memory-limit=9", /no family has an axis/],
                                ["size=64,timeout=9", /no family has an axis 'timeout'/], ["size=64,", /no family has an axis ''/],
                                ["siz=64", /axis 'siz'.*Did you mean size/], ["size=-1", /no whole number/], ["size", /no whole number/]]) {
    const { code, text, how } = await client.refusal("judge", { source: "quick", problem });
    assert.equal(code, "bad_argument", problem);
    assert.match(text, why);
    assert.match(how, /batch.*iterations.*size/);
  }
  assert.ok(!existsSync(join(root, "results")), "no job has begun");
});

test("a job that measures nothing has failed, its log says why, and its words are data", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root);
  writeFileSync(join(root, "text"), "no program\n");
  const begun = await client.ask("profile", { program: ["./text"] });
  const ended = ["queued", "running"].includes(begun.state) ? await client.job_end(begun.job) : begun;
  const { state, exit_code, error, log, absent, untrusted } = ended;
  for (const member of ["log", "error", "result", "absent"]) assert.ok(untrusted.includes(member), member);
  for (const [member, value] of Object.entries(ended))
    assert.ok(untrusted.includes(member) || !JSON.stringify(value).includes("./text"), `${member} quotes the program`);
  assert.deepEqual([state, exit_code, error.code], ["failed", 2, "failed"]);
  assert.match(log.join("\n"), /text/);
  assert.equal(absent[0].what, "a run");
});

test("a retry joins the job that it began; a cancelled one leaves nothing", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root);
  const calls = [client.call("profile", slow), client.call("profile", slow)];
  await until(() => started(root).length === 1);
  const { rows } = await client.ask("machine", { kind: "server" });
  const job = rows[0].running;
  const waiting = await client.ask("job", { id: job });
  assert.equal(waiting.state, "running");
  const ended = await client.ask("job", { id: job, cancel: true });
  assert.equal(ended.state, "cancelled", JSON.stringify(ended));
  for (const { document } of await Promise.all(calls)) assert.equal(document.job, job);
  await gone(root);
  assert.equal(started(root).length, 1, "one process for both calls");
});

test("a call waits at most 20 seconds, and says how it goes on", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root);
  const { document, seconds } = await client.call("profile", slow, { progressToken: "p" });
  assert.ok(["running", "queued"].includes(document.state));
  assert.deepEqual(document.next[0], { tool: "job", arguments: { id: document.job, wait_s: 18 } });
  assert.ok(seconds >= 10, `${seconds} s: it did wait`);
  const told = client.notifications.map(({ method, params }) => [method, params.progressToken, params.progress]);
  assert.ok(told.length > 0 && told.every(([method, token]) => method === "notifications/progress" && token === "p"), JSON.stringify(told));
  assert.ok(told.every(([, , progress], i) => i === 0 || progress > told[i - 1][2]), "progress grows");
  await client.ask("job", { id: document.job, cancel: true });
  await gone(root);
});

test("a cancelled wait leaves its job, and a key finds it again", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root), named = { ...slow, key: "mine" };
  client.request("tools/call", { name: "profile", arguments: named }, "waits");
  await until(() => started(root).length === 1);
  client.send({ method: "notifications/cancelled", params: { requestId: "waits" } });
  const { rows } = await client.ask("machine", { kind: "server" });
  assert.match(rows[0].running, /^job-/);
  const again = client.call("profile", { ...quick, key: "mine" });  // the key decides
  await client.ask("job", { id: rows[0].running, cancel: true });
  assert.equal((await again).document.job, rows[0].running);
  await gone(root);
});

test("the queue has an end", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root);
  client.call("profile", slow);
  await until(() => started(root).length === 1);
  const is_queued = async (id) => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 110));
      const { document, failed } = await client.call("job", { id });
      if (!failed) return assert.equal(document.state, "queued");
      assert.equal(document.code, "no_such_job");
    }
  };
  for (let i = 0; i < 4; ++i) {
    client.request("tools/call", { name: "profile", arguments: { ...quick, key: `${i}` } }, `q${i}`);
    await is_queued(`job-${i + 2}`);
    client.send({ method: "notifications/cancelled", params: { requestId: `q${i}` } });
  }
  assert.equal((await client.ask("job", { id: "job-5" })).position, 4);
  assert.equal((await client.refusal("profile", { ...quick, key: "one too many" })).code, "queue_full");
  await client.ask("job", { id: "job-3", cancel: true });
  assert.equal((await client.ask("job", { id: "job-5" })).position, 3);
  assert.deepEqual(await client.close(), { code: 0, signal: null });
  await gone(root);
});

test("a job that takes too long is ended, and one without budget does not begin", { timeout: 300_000 }, async (t) => {
  const root = programs(t), client = await measuring(t, root, ["--budget", "3"]);
  const { job } = await client.ask("profile", { program: ["./deaf"], passes: ["timing"], rounds: 1 });
  const done = await client.job_end(job);
  assert.equal(done.state, "failed");
  assert.match(done.error.text, /took longer than 3 s/);
  await gone(root);
  assert.equal((await client.refusal("profile", quick)).code, "budget_spent");
});

for (const [how, end] of [["goes away", (client) => client.close()], ["sends SIGTERM", (client) => { client.kill("SIGTERM"); return client.ended; }]]) {
  test(`the jobs of a client that ${how} end with all that they started`, { timeout: 300_000 }, async (t) => {
    const root = programs(t), client = await measuring(t, root);
    client.call("profile", { ...slow, program: ["./deaf"] }).catch(() => {});
    await until(() => started(root).length === 1);
    await end(client);
    await gone(root);
    assert.ok(readdirSync(root).includes("ids"));
  });
}

/** Fills what lies between the server and a client that does not read. */
const fillings = {
  "by answers of the thread that reads": async (client) => {
    for (let i = 0; i < 200; ++i) client.request("tools/list");
  },
  "by answers of calls": async (client) => {
    const own = client.inside();
    for (let i = 0; i < 14; ++i) {
      client.request("tools/call", { name: "summary", arguments: { run: "run", max_bytes: 16384 } });
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    let stuck = 0;  // looks in a row at which calls have been read and are not written
    await until(() => {
      const { threads, children } = client.inside();
      stuck = threads > own.threads && children === own.children ? stuck + 1 : 0;
      return stuck > 25;
    });
  },
};
for (const [how, fill] of Object.entries(fillings)) {
  test(`the jobs of a client that goes away without reading end too: filled ${how}`, { timeout: 600_000 }, async (t) => {
    const root = programs(t);
    cpSync(join(source, "results", "all"), join(root, "run"), { recursive: true });
    const client = await measuring(t, root);
    client.request("tools/call", { name: "profile", arguments: slow });
    await until(() => started(root).length === 1);
    client.pause();
    await fill(client);
    client.close();
    assert.deepEqual(await client.exited, { code: 0, signal: null });
    await gone(root);
  });
}

test("a source that is not judged says why, and one that is says how it ended", { timeout: 300_000 }, async (t) => {
  const client = await measuring(t, programs(t), ["--allow", "compile", "--no-sandbox"]);
  const ended = async (args) => {
    const { job } = await client.ask("judge", { code: "this is no C++", language: "cpp", ...args });
    return client.job_end(job);
  };
  const refused = await ended({ against: "elementwise/cpu_naiv" });
  assert.equal(refused.state, "failed");
  assert.match(refused.error.text, /^--against elementwise\/cpu_naiv: there is no such variant/);
  assert.match((await ended({ against: "elementwise/cpu_naive" })).answer, /^The source is judged, after \d+ s: compile_failed\.$/);
});
