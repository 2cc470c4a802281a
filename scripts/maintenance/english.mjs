// SPDX-License-Identifier: MIT
// Counts what makes mprof's English hard to read: sentences of more than 25 and more than 35 words, and private words, which only
// mprof's authors use. CONTRIBUTING.md, "English", has the rules; tests/house/english.test.mjs holds the limit.
//
//   node scripts/maintenance/english.mjs                        # README and the like, docs/, the stories of variants
//   node scripts/maintenance/english.mjs docs/guides/ab.md      # these pages; headers (.hpp, .cuh, .h) by their comments, and
//                                                               # sources (.cpp, .cu) by their texts
//   build/dev/mprof help --markdown | node scripts/maintenance/english.mjs -
//   node scripts/maintenance/english.mjs --summary cli/*.hpp    # a line a file
//
// Exits with 1 where a sentence has more than 35 words or a private word is found.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const source = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A sentence has so many words by habit, and at most. */
export const habit = 25, limit = 35;

/** [what only mprof's authors say, what to say]. A blank stands for any blanks. */
const private_words = [
  [/told apart|tell(?:s|ing)? (?:\S+ ){0,3}?apart|(?:can(?:not)?|could(?: not)?) be told|what can be told/, "significantly different, distinguishable"],
  [/(?<!(?:is|are|was|were) )not(?: to be)? told\b(?! (?:to|how|which)\b)/, "undecided"],
  [/(?:is|are|was|were) told\b(?! (?:to|how|which|about)\b)/, "(say what is printed, or decided)"],
  [/tells? (?:more|nothing|so)\b/, "explains, has details; shows nothing"],
  [/level with|what is level/, "tied with"],
  [/hangs? on/, "depends on"],
  [/(?:held|holds?) to (?:a|the|what|it|them|its)\b/, "must meet"],
  [/held against|holds? (?:\S+ ){1,4}?against/, "is compared with; compares … with"],
  [/gainsa(?:y|ys|id)/, "contradicts"],
  [/reckon(?:s|ed|ing|ings)?/, "calculates, estimate"],
  [/at the (?:most|best|least)\b/, "at most, at best, at least"],
  [/none the less/, "still"],
  [/in vain/, "without success"],
  [/anew/, "again"],
  [/likewise/, "(repeat what happens)"],
  [/(?:lets?|letting) (?:\S+ )?(?:go|by)\b/, "releases; skips"],
  [/shall (?:\S+ )?be\b|(?:is|are) to be\b/, "(say it in the present, or with \"must\")"],
  [/(?:is|are) none\b/, "(name it: \"does not count\", \"is not a change\")"],
  [/the (?:former|latter)\b/, "(repeat the noun)"],
  [/that of|those that|those of/, "(repeat the noun)"],
  [/by the (?:GPU|host|device)(?:'s)? clock|of (?:a|the) (?:GPU|host|device)'s clock/, "device times, host times"],
  [/whole inferences?|the ops together/, "total time; sum of the ops"],
  [/takes? part in|do(?:es)? the rest/, "(name what it does)"],
  [/where the next run will be/, "prediction interval for the next run"],
  [/honest(?:ly)?|cheat(?:s|ed|ing)?/, "valid; an invalid result"],
  [/behind (?:--|it stands|the (?:command|options?|arguments?))/, "after"],
  [/beside (?:another|other|it runs|(?:a|four|two|three|many) (?:busy|other)|(?:a|the) (?:process|program|run|worker|GPU)\b)/, "together with; while … runs"],
].map(([pattern, better]) => [new RegExp(`(?<![\\w-])(?:${pattern.source.replaceAll(" ", "\\s+")})(?![\\w-])`, "giu"), better]);

// A full stop behind one of these ends no sentence.
const abbreviation = /(?:^|[\s(])(?:e\.g|i\.e|cf|vs|approx|incl|Fig|No|Nr|pp?|Dr|Mr|Ms)\.$/;
// The letter of a name: the first word, or behind a comma, "and", "by" or another one. ("B" of "A and B" ends one.)
const initial = /(?:^|\(|, |\band |\bby |\b[A-Z]\. )[A-Z]\.$/;

/** Markdown of a line without its marks: what is read aloud. Code is one word without a full stop; a link is its text. */
function plain(line) {
  return line
    .replace(/<!--.*?-->/g, "")
    .replace(/(`+)(.+?)\1/g, (_, __, code) => (/^\W+$/.test(code) ? "" : "‹code›"))
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<\/?[a-z][^>]*>/gi, "")
    .replace(/\bhttps?:\/\/[^\s)]+/g, "‹link›")
    .replace(/[*_]{1,2}(?=\S)(.+?)(?<=\S)[*_]{1,2}(?!\w)/g, "$1")
    .replace(/\\([\\`*_{}[\]()#+.!|-])/g, "$1");
}

/**
 * The pieces of a page that stand for themselves, as lists of [line number, text]: paragraphs, items of lists, headings, cells of
 * tables. Code is left out.
 */
function pieces_of_markdown(text) {
  const pieces = [];
  let piece = [], fence = "", in_comment = false, in_list = false, was_blank = true;
  const end = () => {
    if (piece.length > 0) pieces.push(piece);
    piece = [];
  };
  text.split("\n").forEach((line, index) => {
    const number = index + 1, trimmed = line.trim();
    const mark = trimmed.match(/^(`{3,}|~{3,})/)?.[1];
    const blank = trimmed === "", after_blank = was_blank;
    was_blank = blank;
    if (fence !== "") {
      if (mark?.startsWith(fence)) fence = "";
      return;
    }
    if (in_comment || (trimmed.startsWith("<!--") && !trimmed.includes("-->"))) {
      in_comment = !trimmed.includes("-->");
      return end();
    }
    if (mark) {
      fence = mark;
      if (line.startsWith(mark)) in_list = false;
      return end();
    }
    if (blank) return end();
    const item = line.match(/^\s*(?:[-*+]|\d+[.)])\s+(.*)/)?.[1];
    if (item !== undefined || !/^\s/.test(line)) in_list = item !== undefined;
    if (/^( {4}|\t)/.test(line) && after_blank && !in_list) {
      was_blank = true; // the next line of it is code too
      return end();
    }
    if (trimmed.startsWith("|")) {
      end();
      if (/^[|\s:-]+$/.test(trimmed)) return;
      for (const cell of trimmed.replace(/`[^`]*`/g, (code) => code.replaceAll("|", "¦")).split(/(?<!\\)\|/)) {
        if (cell.trim() !== "") pieces.push([[number, plain(cell.trim())]]);
      }
      return;
    }
    const heading = trimmed.match(/^#{1,6}\s+(.*)/)?.[1];
    if (heading !== undefined) {
      end();
      return pieces.push([[number, plain(heading)]]);
    }
    if (item !== undefined) end();
    piece.push([number, plain((item ?? trimmed).replace(/^>\s?/, ""))]);
  });
  end();
  return pieces;
}

/**
 * The same of the comments of a header: neighbouring lines of // and ///, each trailing comment with the lines that go on with it
 * in its column, and blocks. "// namespace a::b" is no sentence.
 */
function pieces_of_comments(text) {
  const pieces = [];
  let lines = [];
  const end = () => {
    if (lines.length === 0) return;
    const first = lines[0][0];
    const shown = lines.map(([, comment]) => comment.replace(/^ {1,3}(?=\S)/, "")).join("\n");
    for (const piece of pieces_of_markdown(shown)) pieces.push(piece.map(([line, part]) => [line + first - 1, part]));
    lines = [];
  };
  let in_block = false, column = -1; // of the trailing comment that may go on
  text.split("\n").forEach((line, index) => {
    const whole = line.match(/^\s*\/\/[/!]?<?(.*)/)?.[1];
    const [, mark, trailing] = line.match(/(?:[;,{}]|[\w)] ) *(\/\/[/!]?<?)(.*)/) ?? [];
    const block = in_block ? line : line.match(/^\s*\/\*+(.*)/)?.[1];
    if (block !== undefined) {
      if (!in_block) end();
      in_block = !/\*\//.test(block);
      lines.push([index + 1, block.replace(/\*\/.*/, "").replace(/^\s*\*/, "")]);
    } else if (whole !== undefined && !/^[\s-]*(?:NOLINT|clang-format|SPDX|---)/.test(whole)) {
      if (column >= 0 && line.search(/\S/) !== column) {
        end();
        column = -1;
      }
      lines.push([index + 1, whole]);
      return;
    } else {
      end();
      if (trailing !== undefined && !/NOLINT|^ namespace /.test(trailing)) {
        lines.push([index + 1, trailing]);
        column = line.length - trailing.length - mark.length;
        return;
      }
    }
    column = -1;
  });
  end();
  return pieces;
}

/** The same of what a source prints: its literals of three words or more, neighbours as one. */
function pieces_of_texts(text) {
  const pieces = [];
  const code = text.replace(/^[ \t]*(?:\/\/|#include).*$/gm, "");
  for (const match of code.matchAll(/(?:"(?:[^"\\\n]|\\.)*"\s*)+/g)) {
    const line = code.slice(0, match.index).split("\n").length;
    const literal = [...match[0].matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, part]) => part).join("");
    if (/^(?:SELECT|INSERT|CREATE|UPDATE|DELETE|WITH) /.test(literal)) continue; // SQL
    for (const part of literal.split("\\n")) {
      if (part.trim().split(/\s+/).length >= 3) pieces.push([[line, plain(part.replaceAll('\\"', '"').trim())]]);
    }
  }
  return pieces;
}

const words_in = (sentence) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** The sentences of a piece, as { line, words, text }. */
function sentences_of(piece) {
  const starts = [];
  let text = "";
  for (const [line, part] of piece) {
    if (text !== "") text += " ";
    starts.push([text.length, line]);
    text += part;
  }
  const line_at = (offset) => starts.findLast(([start]) => start <= offset)[1];
  const found = [];
  let from = 0;
  const add = (to) => {
    const raw = text.slice(from, to), sentence = raw.trim();
    const words = words_in(sentence);
    if (words > 0) found.push({ line: line_at(from + raw.length - raw.trimStart().length), words, text: sentence });
    from = to;
  };
  for (const match of text.matchAll(/[.!?…]+["'”’)\]*]*(?=\s+["'“‘(\[*±‹]*(?:[\p{Lu}\p{N}‹]|mprof\b))/gu)) {
    const to = match.index + match[0].length;
    const before = text.slice(from, to);
    if (match[0] === "." && (abbreviation.test(before) || (initial.test(before) && !/\b[A-Z] and [A-Z]\.$/.test(before)))) continue;
    add(to);
  }
  add(text.length);
  return found;
}

const is_header = (file) => [".hpp", ".cuh", ".h"].includes(extname(file));
const is_source = (file) => [".cpp", ".cu"].includes(extname(file));

/** What stands in a text: { sentences: [{ line, words, text }], faults: [{ line, found, better }] }. */
export function read_english(text, { comments = false, texts = false } = {}) {
  const sentences = [], faults = [];
  for (const piece of texts ? pieces_of_texts(text) : comments ? pieces_of_comments(text) : pieces_of_markdown(text)) {
    for (const sentence of sentences_of(piece)) {
      sentences.push(sentence);
      for (const [pattern, better] of private_words) {
        for (const [found] of sentence.text.matchAll(pattern)) faults.push({ line: sentence.line, found, better });
      }
    }
  }
  return { sentences, faults };
}

/** The pages that people read, relative to the root of the repository: at its top, in docs/, and the stories of reports. */
export function pages(root = source) {
  const below = (folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => `${folder}/${name}`);
  const top = readdirSync(root).filter((name) => /^[A-Z_]+\.md$/.test(name));
  return [...top, ...["docs", "kernels", "data", "examples"].flatMap(below).filter((name) => name.endsWith(".md"))].sort();
}

/** The sources whose messages people read, on the console and in reports, relative to the root of the repository. */
export function sources(root = source) {
  const rooms = ["cli", "collectors", "cuda", "device", "injection", "inputs", "kernels", "model", "plugin", "report", "runner", "serve", "system"];
  const below = (room) => readdirSync(join(root, room), { recursive: true }).map((name) => `${room}/${name}`);
  return rooms.flatMap(below).filter((name) => is_source(name)).sort();
}

/** The headers, whose comments engineers read, relative to the root of the repository. */
export function headers(root = source) {
  const not_ours = new Set(["build", "dist", "node_modules", "results"]);
  const rooms = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && !not_ours.has(entry.name));
  const below = ({ name: room }) => readdirSync(join(root, room), { recursive: true }).map((name) => `${room}/${name}`);
  return rooms.flatMap(below).filter((name) => is_header(name)).sort();
}

/** Of a file of this repository, or of any other by its whole path. */
export function read_file(file, root = source) {
  return read_english(readFileSync(resolve(root, file), "utf8"), { comments: is_header(file), texts: is_source(file) });
}

function main() {
  const { values, positionals } = parseArgs({ options: { summary: { type: "boolean" } }, allowPositionals: true });
  const files = positionals.length > 0 ? positionals : pages().map((page) => relative(process.cwd(), join(source, page)));
  const total = [0, 0, 0, 0];
  const line_of = (name, numbers) => `${name}: ${numbers[0]} sentences, ${numbers[1]} over ${habit} words, ${numbers[2]} over ${limit}, ${numbers[3]} private words`;
  for (const file of files) {
    const { sentences, faults } = file === "-" ? read_english(readFileSync(0, "utf8")) : read_file(file, process.cwd());
    const long = sentences.filter(({ words }) => words > habit);
    const numbers = [sentences.length, long.length, long.filter(({ words }) => words > limit).length, faults.length];
    if (!values.summary) {
      const beginning = (text) => text.split(" ").slice(0, 9).join(" ");
      const findings = [
        ...long.map(({ line, words, text }) => [line, `${words} words: ${beginning(text)} …`]),
        ...faults.map(({ line, found, better }) => [line, `"${found}": ${better}`]),
      ];
      for (const [line, what] of findings.sort(([a], [b]) => a - b)) console.log(`${file}:${line}: ${what}`);
    }
    console.log(line_of(file, numbers));
    numbers.forEach((number, index) => (total[index] += number));
  }
  if (files.length > 1) console.log(line_of(`${files.length} files`, total));
  process.exitCode = total[2] + total[3] > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
