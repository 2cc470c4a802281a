// Runs the mprof program as a user would, and looks at what it prints and leaves.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv/dist/2020.js";

export const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
export const program = process.env.MPROF;
if (!program) throw new Error("set MPROF to the mprof program under test");

const environment = { ...process.env, MPROF_DATA: "", MPROF_WEIGHTS: "" };

/** { code, out, err } of one command; options are spawn's, and env adds to the environment. */
export function mprof(args, options = {}) {
  const result = spawnSync(program, args, {
    encoding: "utf8", timeout: 120_000, ...options, env: { ...environment, ...options.env },
  });
  if (result.error) throw result.error;
  return { code: result.status, out: result.stdout, err: result.stderr };
}

/** The same, started and not waited for. */
export function start(args, options = {}) {
  return spawn(program, args, { stdio: "ignore", ...options, env: { ...environment, ...options.env } });
}

/** A directory for one test, removed after it. */
export function temporary(test) {
  const path = mkdtempSync(join(tmpdir(), "mprof-cli-"));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

export const read_run = (directory) => JSON.parse(readFileSync(join(directory, "run.json"), "utf8"));

const schema = JSON.parse(readFileSync(join(source, "model", "run.schema.json"), "utf8"));
const matches_schema = new Ajv({ allErrors: true, strict: true, strictRequired: false }).compile(schema);

/** Throws with every violation of the JSON Schema. */
export function validate_run(run) {
  if (!matches_schema(run)) {
    throw new Error(matches_schema.errors.map((e) => `${e.instancePath} ${e.message}`).join("\n"));
  }
}

/** A quick run of small batches; tests share the arguments so that they stay fast. */
export const small = ["run", "--variant", "conv/cpu_threads", "conv/cpu_naive", "--batch", "1,3", "--quick", "--seed", "1"];

/** Resolves when check() is true; rejects after a minute. */
export async function until(check) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    if (check()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("waited a minute in vain");
}
