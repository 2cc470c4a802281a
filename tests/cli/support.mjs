// SPDX-License-Identifier: MIT
// Runs the mprof program as a user would, and looks at what it prints and leaves.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv/dist/2020.js";

export const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const program = process.env.MPROF;
if (!program) throw new Error("set MPROF to the mprof program under test");

/** The peaks of the machine take all cores for about two seconds a run. Few tests ask for them, with this in env. */
process.env.MPROF_NO_PEAKS = "1";
export const with_peaks = { MPROF_NO_PEAKS: "" };

const environment = { ...process.env, MPROF_DATA: "", MPROF_WEIGHTS: "" };

/** { code, out, err } of one command; options are spawn's, and env adds to the environment. */
export function mprof(args, options = {}) {
  const result = spawnSync(program, args, {
    encoding: "utf8", timeout: 500_000, ...options, env: { ...environment, ...options.env },
  });
  if (result.error) throw result.error;
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** The same, started and not waited for. options.before are words that stand before the command. */
export function start(args, { before = [], ...options } = {}) {
  const [command, ...words] = [...before, program, ...args];
  return spawn(command, words, { stdio: "ignore", ...options, env: { ...environment, ...options.env } });
}

/** A directory for one test, removed after it. */
export function temporary(test) {
  const path = mkdtempSync(join(tmpdir(), "mprof-cli-"));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const read_json = (...parts) => JSON.parse(readFileSync(join(...parts), "utf8"));

/** The files of its cases, by id: none of a case that was not reached. */
function read_cases(directory) {
  const folder = join(directory, "cases");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
  return new Map(files.map((name) => read_json(folder, name)).map((file) => [file.id, file]));
}

/** A run: run.json, and each of its cases with the passes that its own file has, if there is one. */
export function read_run(directory) {
  const run = read_json(directory, "run.json"), cases = read_cases(directory);
  return { ...run, cases: run.cases.map((c) => ({ ...c, passes: cases.get(c.id)?.passes ?? [] })) };
}

const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
const validator = (name) => ajv.compile(read_json(source, "model", `${name}.schema.json`));
const validate_index = validator("run"), validate_case = validator("case");

/** Throws with every violation of the JSON Schemas of run.json and its cases' files. */
export function validate_run(directory) {
  const hold = (validate, document) => {
    if (!validate(document)) throw new Error(validate.errors.map((e) => `${e.instancePath} ${e.message}`).join("\n"));
  };
  hold(validate_index, read_json(directory, "run.json"));
  for (const file of read_cases(directory).values()) hold(validate_case, file);
}

/** A quick run of small batches; tests share the arguments so that they stay fast. */
export const small = ["run", "--variant", "conv/cpu_threads", "conv/cpu_naive", "--batch", "1,3", "--quick", "--seed", "1"];

/** Resolves when holds() is true; rejects after five minutes. */
export async function until(holds) {
  for (const end = Date.now() + 300_000; Date.now() < end; ) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("waited five minutes in vain");
}
