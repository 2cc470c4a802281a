// SPDX-License-Identifier: MIT
// Files that tests have judged.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv/dist/2020.js";
import { mprof, source, temporary } from "./support.mjs";

const schema = JSON.parse(readFileSync(join(source, "docs", "formats", "schemas", "judge.schema.json"), "utf8"));
export const validate = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false }).compile(schema);

const has_sandbox = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "/bin/true"]).status === 0;
export const skip = has_sandbox ? false : "bwrap cannot make a sandbox here";
export const conv_skip = skip || (existsSync("/usr/share/datasets/fashion-mnist") ? false : "Debian's dataset-fashion-mnist is not installed");

/** A variant of the CPU with a body of its own for these. */
export const variant = ({ top = "", members = "", prepare = "", forward = "compute();", finish = "" } = {}) => `
#include <mprof/elementwise.hpp>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <thread>
#include <vector>
${top}
struct Mine : mprof::plugin::elementwise::HostMap {
  using Base = mprof::plugin::elementwise::HostMap;
  static float mapped(std::size_t column, float v, unsigned iterations) {
    for (unsigned i = 0; i < iterations; ++i) {
      const float f = column % 4 == 0 ? std::log(v) : column % 4 == 1 ? std::cos(v) : column % 4 == 2 ? std::sin(v) : std::tan(v);
      v += std::sqrt(f + 1.0F);
    }
    return v;
  }
  void compute_row(std::size_t row, float* to) {
    for (std::size_t column = 0; column < matrix().size; ++column) to[column] = mapped(column, input(row)[column], matrix().iterations);
  }
  void compute_to(float* to) { for (std::size_t row = 0; row < matrix().size; ++row) compute_row(row, to + row * matrix().size); }
  void compute() { compute_to(output(0)); }
  std::size_t elements() const { return matrix().size * matrix().size; }
  std::vector<float> result() { std::vector<float> values(elements()); compute_to(values.data()); return values; }
  void write(const std::vector<float>& values) { std::copy(values.begin(), values.end(), output(0)); }
  ${members}
  void prepare(const mprof::plugin::Task& task) override { Base::prepare(task); ${prepare} }
  void forward() override { ${forward} }
  void finish() override { ${finish} }
};
MPROF_VARIANT(.family = "elementwise", .title = "Mine", .idea = "It is mine.", .device = "cpu", .baseline = "elementwise/cpu_naive",
              .make = [](const mprof::plugin::Parameters&) { return std::make_unique<Mine>(); })`;

export const small = ["--size", "192", "--iterations", "8", "--budget", "6", "--sampling-time", "0.1", "--timeout", "40"];

/** The answer about such a file, which meets its schema, with the exit code and standard error. */
export function judge(t, text, args = [], { folder = temporary(t), name = "mine.cpp", env = {}, run = mprof } = {}) {
  writeFileSync(join(folder, name), text);
  const usual = small.filter((word, i) => !args.includes(word.startsWith("--") ? word : small[i - 1]));
  const { code, out, err } = run(["judge", name, "--json", ...usual, ...args], { cwd: folder, env });
  assert.notEqual(out, "", err);
  const answer = JSON.parse(out);
  assert.ok(validate(answer), `${JSON.stringify(validate.errors)}\n${out}`);
  assert.ok(out.length <= 8193, `${out.length} bytes`);
  return { answer, code, err, out, folder };
}

export const without_time = (answer) => {
  assert.equal(answer.time, null);
  assert.equal(answer.speed_up, null);
  assert.deepEqual(answer.times, []);
};
