// SPDX-License-Identifier: MIT
// Prints what CTest's JUnit files say: a line a preset, each skipped or failed test with its reason, and as the last line
// "N passed, N failed, N skipped". Of a test that is a GoogleTest suite the cases are counted, from the file that it left
// in tests/results beside CTest's. Exits with 1 when a test failed or none ran.
//   node test_summary.mjs NAME=FILE ... [--skipped "NAME: REASON"]...
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const entities = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&", "#x0A": "\n", "#xA": "\n" };
const unescape = (text) => text.replace(/&(lt|gt|quot|apos|amp|#x0?A);/g, (_, name) => entities[name]);
const attribute = (tag, name) => unescape(tag.match(new RegExp(`\\b${name}="([^"]*)"`))?.[1] ?? "");

/** The test cases of a JUnit file: { tag: what its element's head holds, body }. */
function elements(text) {
  return [...text.matchAll(/<testcase\b([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g)].map(([, tag, body]) => ({ tag, body: body ?? "" }));
}

/** The sentence with which a test skipped itself: GoogleTest's after "file:line", or a line "skipped: ...". */
function skip_reason(text) {
  return text.match(/: Skipped\n(.*)/)?.[1] ?? text.match(/skipped: (.*)/i)?.[1] ?? "no reason given";
}

/** The cases of a GoogleTest suite: [{ name, status: "passed" | "failed" | "skipped", reason }]. */
function cases(prefix, file) {
  return elements(readFileSync(file, "utf8")).map(({ tag, body }) => {
    const name = `${prefix}.${attribute(tag, "name")}`;
    if (attribute(tag, "status") === "notrun") return { name, status: "skipped", reason: "disabled in its source: run by hand" };
    if (/<failure\b/.test(body)) return { name, status: "failed" };
    if (attribute(tag, "result") !== "skipped") return { name, status: "passed" };
    const reason = attribute(body.match(/<skipped\b[^>]*>/)?.[0] ?? "", "message").split("\n").slice(1).join(" ").trim();
    return { name, status: "skipped", reason: reason || "no reason given" };
  });
}

/** What one test of CTest counts for: itself, or the cases of its suite. A suite that failed beside its cases, as one that
 *  crashed does, is a failure of its own. */
function outcomes(results, { tag, body }) {
  const name = attribute(tag, "name"), status = attribute(tag, "status");
  const file = join(results, `${name.replaceAll("/", "_")}.xml`);
  const all = existsSync(file) ? cases(name, file) : [];
  const lost = status === "fail" && !all.some((one) => one.status === "failed");
  if (lost) all.push({ name: existsSync(file) ? `${name}, outside of its cases` : name, status: "failed" });
  if (all.length > 0) return all;
  const output = unescape(body.match(/<system-out>([\s\S]*?)<\/system-out>/)?.[1] ?? "");
  return [status === "run" ? { name, status: "passed" } : { name, status: "skipped", reason: skip_reason(output) }];
}

let passed = 0;
const skipped = [], failures = [];
const args = process.argv.slice(2);
for (let i = 0; i < args.length; ++i) {
  if (args[i] === "--skipped") {
    skipped.push(args[++i]);
    continue;
  }
  const [preset, file] = args[i].split("=");
  const results = join(dirname(file), "tests", "results");
  const all = elements(readFileSync(file, "utf8")).flatMap((element) => outcomes(results, element));
  const of_status = (status) => all.filter((one) => one.status === status);
  const good = of_status("passed"), wrong = of_status("failed"), not_run = of_status("skipped");
  console.log(`${preset}: ${good.length} passed, ${wrong.length} failed, ${not_run.length} skipped`);
  passed += good.length;
  failures.push(...wrong.map((one) => `${preset} ${one.name}`));
  skipped.push(...not_run.map((one) => `${preset} ${one.name}: ${one.reason}`));
}
for (const line of skipped) console.log(`skipped  ${line}`);
for (const line of failures) console.log(`FAILED   ${line}`);
console.log(`${passed} passed, ${failures.length} failed, ${skipped.length} skipped`);
process.exitCode = failures.length > 0 || passed === 0 ? 1 : 0;
