// Prints what CTest's JUnit files say: a line a suite, each skipped or failed test with its reason, and as the last line
// "N passed, N failed, N skipped". Exits with 1 when a test failed or none ran.
//   node test_summary.mjs NAME=FILE ... [--skipped "NAME: REASON"]...
import { readFileSync } from "node:fs";

const entities = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
const unescape = (text) => text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => entities[name]);

/** The tests of one JUnit file: { name, status: "run" | "fail" | "disabled" | "notrun", output }. */
function read_tests(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/<testcase name="([^"]*)"[^>]*status="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g)].map(
    ([, name, status, body]) => ({
      name: unescape(name),
      status,
      output: unescape(body.match(/<system-out>([\s\S]*?)<\/system-out>/)?.[1] ?? ""),
    }),
  );
}

/** The sentence with which a test skipped itself: after GoogleTest's "file:line: Skipped", or a line "skipped: ...". */
function skip_reason({ status, output }) {
  if (status === "disabled") return "disabled in its source: run by hand";
  return output.match(/: Skipped\n(.*)/)?.[1] ?? output.match(/skipped: (.*)/i)?.[1] ?? "no reason given";
}

let passed = 0, failed = 0;
const skipped = [], failures = [];
const args = process.argv.slice(2);
for (let i = 0; i < args.length; ++i) {
  if (args[i] === "--skipped") {
    skipped.push(args[++i]);
    continue;
  }
  const [suite, file] = args[i].split("=");
  const tests = read_tests(file);
  const of_status = (status) => tests.filter((test) => test.status === status);
  const ran = of_status("run"), wrong = of_status("fail"), not_run = [...of_status("notrun"), ...of_status("disabled")];
  console.log(`${suite}: ${ran.length} passed, ${wrong.length} failed, ${not_run.length} skipped`);
  passed += ran.length;
  failed += wrong.length;
  failures.push(...wrong.map((test) => `${suite} ${test.name}`));
  skipped.push(...not_run.map((test) => `${suite} ${test.name}: ${skip_reason(test)}`));
}
for (const line of skipped) console.log(`skipped  ${line}`);
for (const line of failures) console.log(`FAILED   ${line}`);
console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
