// SPDX-License-Identifier: MIT
// The session of an agent with `mprof mcp`, as a script: it looks, hands in a wrong file, reads why, repairs it, compares,
// and asks for the hottest lines.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "./mcp_client.mjs";
import { mprof, temporary } from "./support.mjs";

const has_verb = mprof(["help", "judge"]).code === 0;
const has_sandbox = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "/bin/true"]).status === 0;
const skip = !has_verb ? "this mprof has no judge" : !has_sandbox ? "bwrap cannot make a sandbox here" : false;

/** A variant for the CPU. `first`: what it does before each row. */
const variant = (first) => `
#include <mprof/elementwise.hpp>
#include <cmath>
#include <cstddef>
#include <memory>
struct Mine : mprof::plugin::elementwise::HostMap {
  static float mapped(std::size_t column, float v, unsigned iterations) {
    for (unsigned i = 0; i < iterations; ++i) {
      const float f = column % 4 == 0 ? std::log(v) : column % 4 == 1 ? std::cos(v) : column % 4 == 2 ? std::sin(v) : std::tan(v);
      v += std::sqrt(f + 1.0F);
    }
    return v;
  }
  void forward() override {
    for (std::size_t row = 0; row < matrix().size; ++row) {
      ${first}
      for (std::size_t column = 0; column < matrix().size; ++column)
        output(0)[row * matrix().size + column] = mapped(column, input(row)[column], matrix().iterations);
    }
  }
};
MPROF_VARIANT(.family = "elementwise", .title = "Mine", .idea = "It is mine.", .device = "cpu", .baseline = "elementwise/cpu_naive",
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Mine>(); })`;

test("list, judge a wrong file, read why, judge a right one, compare, ask for lines", { skip, timeout: 600_000 }, async (t) => {
  const root = temporary(t);
  const client = await connect(t, ["--root", root, "--allow", "measure", "--allow", "compile"]);
  const { rows } = await client.ask("machine", { kind: "variant" });
  assert.ok(rows.some((row) => row.name === "elementwise/cpu_naive" && row.runs_here));

  const judge = async (args) => {
    const begun = await client.ask("judge", { problem: "size=192,iterations=4", budget_s: 8, passes: ["timing"], ...args });
    return ["queued", "running"].includes(begun.state) ? client.job_end(begun.job) : begun;
  };
  writeFileSync(join(root, "mine.cpp"), variant("if (row == 7) continue;"));
  const wrong = await judge({ source: "mine.cpp" });
  assert.equal(wrong.result.schema, "mprof.judge/1", JSON.stringify(wrong));
  assert.equal(wrong.result.status, "wrong");
  assert.equal(wrong.exit_code, 3);
  assert.match(wrong.answer, /^The source is judged, after \d+ s: wrong\.$/);
  assert.ok(wrong.result.reason, "it says why");
  assert.equal(wrong.result.time, null);

  writeFileSync(join(root, "mine.cpp"), variant(""));
  const right = await judge({ source: "mine.cpp" });
  assert.equal(right.result.status, "right", JSON.stringify(right));
  assert.ok(right.result.time.median > 0 && right.result.verdict);
  assert.ok(right.run.endsWith("/B"), right.run);
  assert.deepEqual(right.next[0], { tool: "summary", arguments: { run: right.run } });
  assert.match((await client.ask("summary", right.next[0].arguments)).answer, /1 of 1 case/);

  const before = right.run.replace(/B$/, "A");
  const compared = await client.ask("compare", { before, after: right.run, of: "elementwise/cpu_naive", with: "elementwise/mine" });
  assert.ok(compared.rows.some((row) => row.kind === "time" && row.verdict), JSON.stringify(compared));

  const { rows: [own] } = await client.ask("rows", { run: right.run, table: "cases" });
  const lines = await client.ask("lines", { run: right.run, case: own.key });
  assert.equal(lines.rows.length, 0);
  assert.match(lines.absent[0].why, /source pass/, "a variant for the CPU has none, and the answer says so");

  const again = await judge({ code: variant(""), language: "cpp" });
  assert.equal(again.result.status, "right", "the source itself is as good as a file");
});
