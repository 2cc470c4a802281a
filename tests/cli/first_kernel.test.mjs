// SPDX-License-Identifier: MIT
// docs/guides/first-kernel.md, as a reader follows it: its files are written, its changes made, its commands run one after another,
// and what it shows is what they print. Times, and the verdicts that depend on them, are the machine's own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { program, source, temporary } from "./support.mjs";

const page = readFileSync(join(source, "docs/guides/first-kernel.md"), "utf8");

/** The blocks of code in their order: { language, text, file }, where `file` is the last one that the words before it name. */
function blocks() {
  const found = [];
  let file;
  for (const part of page.split(/^(```\w*\n[^]*?^```)$/m)) {
    const block = part.match(/^```(\w*)\n([^]*?)^```$/m);
    if (block) found.push({ language: block[1], text: block[2], file });
    else file = [...part.matchAll(/`([\w/]+\.(?:cpp|cu))`/g)].at(-1)?.[1];
  }
  return found;
}

/** A change as the page shows it: the lines with a blank or a minus are replaced by those with a blank or a plus. */
function changed(text, diff) {
  const lines = diff.trimEnd().split("\n"), side = (marks) => lines.filter((line) => marks.includes(line[0])).map((line) => line.slice(1)).join("\n");
  const parts = text.split(side(" -"));
  assert.equal(parts.length, 2, `the page changes what is there once:\n${side(" -")}`);
  return parts.join(side(" +"));
}

/**
 * A line without what differs from machine to machine: numbers with their units, marks of footnotes, intervals, verdicts, paths, and whether
 * a busy machine made a case suspect.
 */
function comparable(line, folder) {
  return line
    .replaceAll(`${folder}/`, "")
    .replace(/±>?[\d.,]+[ \u00a0]?%|\([\d.,]+–[\d.,]+×\)/g, "")
    .replace(/\[[a-z]\]/g, "")
    .replace(/\b(?:faster|slower|same|inconclusive|undecided)\*?/g, "?")
    .replace(/\bsuspect$/, "ok")
    .replace(/(?<![\w@])[±+−-]?\d[\d.,]*(?:–[\d.,]+)?(?:[ \u00a0]?(?:%|×|ns|µs|ms|s)(?!\w))?/g, "#")
    .replace(/[-–|]+/g, "-")
    .replace(/[\s\u00a0]+/g, " ")
    .trim();
}

const commands_of = (text) => text.trim().split("\n").map((line) => {
  const [, command, code] = line.match(/^(.*?)(?:\s+# exit code (\d+))?$/);
  return { command, code: Number(code ?? 0) };
});

test("docs/guides/first-kernel.md goes from an empty file to a report", (t) => {
  const folder = temporary(t), bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(program, join(bin, "mprof"));
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, MPROF_CACHE: join(folder, "cache"), CXX: "" };
  let printed = "", ran = 0, shown = 0;
  for (const { language, text, file } of blocks()) {
    if (language === "cpp") {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    } else if (language === "diff") {
      writeFileSync(join(folder, file), changed(readFileSync(join(folder, file), "utf8"), text));
    } else if (language === "sh") {
      printed = "";
      for (const { command, code } of commands_of(text)) {
        const result = spawnSync("sh", ["-c", command], { cwd: folder, env, encoding: "utf8", timeout: 500_000 });
        const codes = command.startsWith("mprof compare") ? [code, 1] : [code]; // 1 where a busy machine makes threads slower
        assert.ok(codes.includes(result.status), `${command}: ${result.status}\n${result.stdout}${result.stderr}`);
        printed += result.stdout + result.stderr;
        ++ran;
      }
    } else if (language === "text") {
      const lines = printed.split("\n").map((line) => comparable(line, folder));
      for (const line of text.trimEnd().split("\n").filter((line) => line !== "…")) {
        const wanted = comparable(line, folder);
        assert.ok(lines.some((is) => is.startsWith(wanted)), `the page shows:\n${line}\nand this was printed:\n${printed}`);
        ++shown;
      }
    }
  }
  assert.ok(ran >= 10 && shown >= 10, "the page has commands, and shows what they print");
  for (const [, path] of page.matchAll(/`(faster\/[\w.-]+)`/g)) assert.ok(existsSync(join(folder, path)), path);
});
