// SPDX-License-Identifier: MIT
// A client of `mprof mcp`, as agents have one: lines of JSON-RPC on a pipe.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import Ajv from "ajv/dist/2020.js";
import { start } from "./support.mjs";

const versions = { handshake: "2025-11-25", stateless: "2026-07-28" };
const ajv = new Ajv({ allErrors: true, strict: false });

export class Client {
  #process;
  #lines;
  #last = 0;
  #waiting = new Map();
  #next = [];
  #unclaimed = [];
  #schemas = new Map();

  /** A started server; `era` says how requests are made. options.env adds to the environment, and options.before
   *  stands before the command. */
  constructor(test, args, { era = "stateless", version, env, before } = {}) {
    this.era = era;
    this.version = version ?? versions[era];
    this.notifications = [];
    this.#process = start(["mcp", ...args], { stdio: ["pipe", "pipe", "pipe"], env, before });
    this.errors = "";
    this.#process.stderr.on("data", (text) => { this.errors += text; });
    this.#process.stdin.on("error", () => {});
    this.ended = new Promise((resolve) => this.#process.on("close", (code, signal) => resolve({ code, signal })));
    this.exited = new Promise((resolve) => this.#process.on("exit", (code, signal) => resolve({ code, signal })));
    this.#lines = createInterface({ input: this.#process.stdout }).on("line", (line) => this.#receive(line));
    test.after(() => { if (this.#process.exitCode === null) this.#process.kill("SIGKILL"); });
  }

  get pid() { return this.#process.pid; }

  /** How many threads the server has, and how many processes they have started. */
  inside() {
    const threads = readdirSync(`/proc/${this.pid}/task`);
    const children = threads.flatMap((id) => readFileSync(`/proc/${this.pid}/task/${id}/children`, "utf8").split(" ").filter(Boolean));
    return { threads: threads.length, children: children.length };
  }

  #receive(line) {
    const message = JSON.parse(line);  // what is no JSON fails the test
    assert.equal(message.jsonrpc, "2.0");
    message.bytes = Buffer.byteLength(line);
    const waiter = this.#waiting.get(message.id);
    if (waiter) {
      this.#waiting.delete(message.id);
      waiter(message);
    } else if (message.method) {
      this.notifications.push(message);
    } else if (this.#next.length > 0) {
      this.#next.shift()(message);
    } else {
      this.#unclaimed.push(message);
    }
  }

  /** A line as it is. */
  write(line) { this.#process.stdin.write(`${line}\n`); }

  /** The next answer that no request() waits for. */
  next() {
    return this.#unclaimed.length > 0 ? Promise.resolve(this.#unclaimed.shift())
      : new Promise((resolve) => this.#next.push(resolve));
  }

  send(message) { this.write(JSON.stringify({ jsonrpc: "2.0", ...message })); }

  /** Its answer: { result } or { error }. */
  request(method, params = {}, id = ++this.#last) {
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    const meta = this.era === "stateless" ? { _meta: {
      "io.modelcontextprotocol/protocolVersion": this.version,
      "io.modelcontextprotocol/clientCapabilities": {}, ...params._meta } } : {};
    this.send({ id, method, params: { ...params, ...meta } });
    return answer;
  }

  async begin() {
    if (this.era === "handshake") {
      const { result } = await this.request("initialize", {
        protocolVersion: this.version, capabilities: {}, clientInfo: { name: "test", version: "1" } });
      assert.equal(result.protocolVersion, this.version);
      this.send({ method: "notifications/initialized" });
    }
    const { result } = await this.request("tools/list");
    for (const tool of result.tools) {
      if (tool.outputSchema) this.#schemas.set(tool.name, ajv.compile(tool.outputSchema));
    }
    return result.tools;
  }

  /** The answer of a tool, held against the schema of its output: { document, failed, seconds, bytes }. */
  async call(name, args = {}, meta = undefined) {
    const begun = Date.now();
    const { result, error, bytes } = await this.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
    assert.ok(result, `${name} ${JSON.stringify(args)}: ${JSON.stringify(error)}`);
    const document = JSON.parse(result.content[0].text);
    if (!result.isError && this.#schemas.has(name)) {
      assert.deepEqual(result.structuredContent, document);
      const validate = this.#schemas.get(name);
      assert.ok(validate(document), `${name} ${JSON.stringify(args)}: ${JSON.stringify(validate.errors)}\n${result.content[0].text}`);
    }
    return { document, failed: result.isError, seconds: (Date.now() - begun) / 1000,
             size: Buffer.byteLength(result.content[0].text), bytes };
  }

  /** The same of a call that must be answered, slowly enough for a server that counts calls. */
  async ask(name, args = {}) {
    await new Promise((resolve) => setTimeout(resolve, 110));
    const { document, failed, size } = await this.call(name, args);
    assert.ok(!failed, `${name} ${JSON.stringify(args)}: ${JSON.stringify(document)}`);
    assert.ok(size <= (args.max_bytes ?? 8192), `${name} ${JSON.stringify(args)} has ${size} bytes`);
    return document;
  }

  /** The code of a call that must not be answered. */
  async refusal(name, args = {}) {
    await new Promise((resolve) => setTimeout(resolve, 110));
    const { document, failed } = await this.call(name, args);
    assert.ok(failed, `${name} ${JSON.stringify(args)} was answered: ${JSON.stringify(document)}`);
    for (const member of ["code", "text", "how"]) assert.ok(document[member], `${JSON.stringify(document)} has no ${member}`);
    return document;
  }

  /** Waits for the end of a job. */
  async job_end(id) {
    for (;;) {
      const document = await this.ask("job", { id, wait_s: 18 });
      if (!["queued", "running"].includes(document.state)) return document;
    }
  }

  /** Reads no more of what the server writes. */
  pause() {
    this.#lines.pause();
    this.#lines.removeAllListeners("line");  // the last one may be torn
  }
  /** No more input, as a client that goes away. Its end. */
  close() {
    this.#process.stdin.end();
    return this.ended;
  }
  kill(signal) { this.#process.kill(signal); }
}

/** A client that has begun. */
export async function connect(test, args, options) {
  const client = new Client(test, args, options);
  await client.begin();
  return client;
}

/** Plays a transcript: lines that begin with > are sent, lines with < must come, at least with what they have. */
export async function play(client, file) {
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (line.startsWith("> ")) client.write(line.slice(2));
    if (line.startsWith("< ")) includes(await client.next(), JSON.parse(line.slice(2)), line);
  }
}

/** Whether all that `expected` has is in `actual` too. */
export function includes(actual, expected, where) {
  if (expected === null || typeof expected !== "object") return assert.equal(actual, expected, where);
  assert.ok(actual !== null && typeof actual === "object", where);
  for (const [name, value] of Object.entries(expected)) includes(actual[name], value, `${where} ${name}`);
}
