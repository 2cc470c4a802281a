// SPDX-License-Identifier: MIT
// Writes what the licences of other projects ask for, since their code or data goes to people who get mprof from us:
// THIRD_PARTY_NOTICES (programs, packages, bundles) and templates/licences.txt (inside each HTML report).
//
//   node scripts/maintenance/notices.mjs            # writes both
//   node scripts/maintenance/notices.mjs --check    # says what differs, and exits with 1
//
// The texts are those of the Debian packages and npm packages that this machine has: run `scripts/test` once before.
// tests/cli/notices.test.mjs fails on a library or an npm package that `parts` does not name.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const source = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/**
 * What is redistributed. `debian`: packages, of which the first has the text; `libraries`: their shared libraries, where they have
 * some; `npm`: packages that go into pages, with the files that have the text; `stanza`, or `lines` and `more`: what matters of a
 * long Debian text; `common`: licences that a Debian text only refers to; `note`: words of ours before the text.
 */
export const parts = [
  { name: "Apache ECharts", license: "Apache-2.0", npm: ["echarts"], files: ["NOTICE", "LICENSE", "licenses/LICENSE-d3"] },
  { name: "ZRender (in ECharts)", license: "BSD-3-Clause", npm: ["zrender"], files: ["LICENSE"] },
  { name: "tslib (in ECharts)", license: "0BSD", npm: ["tslib"], files: ["LICENSE.txt"] },
  { name: "Prism", license: "MIT", npm: ["prismjs"], files: ["LICENSE"] },
  { name: "Boost", license: "BSL-1.0", debian: ["libboost1.74-dev", "libboost-dev", "libboost-program-options-dev"], libraries: ["boost_program_options"], stanza: "BSL-1.0" },
  { name: "cmark-gfm", license: "BSD-2-Clause and others", debian: ["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"], libraries: ["cmark-gfm", "cmark-gfm-extensions"] },
  { name: "Duktape", license: "MIT", debian: ["duktape-dev"], libraries: ["duktape"] },
  { name: "{fmt}", license: "MIT", debian: ["libfmt-dev"], libraries: ["fmt"] },
  { name: "JSON for Modern C++", license: "MIT", debian: ["nlohmann-json3-dev"] },
  { name: "libmd", license: "BSD and ISC", debian: ["libmd-dev"], libraries: ["md"] },
  { name: "Mustache by Kevin Wojniak", license: "BSL-1.0", debian: ["libkainjow-mustache-dev"] },
  { name: "oneDNN", license: "Apache-2.0", debian: ["libdnnl-dev"], libraries: ["dnnl"], common: ["Apache-2.0"] },
  { name: "OpenBLAS", license: "BSD-3-Clause", debian: ["libopenblas-pthread-dev"], libraries: ["openblas"] },
  { name: "OpenCL ICD loader (for oneDNN)", license: "BSD-2-Clause", debian: ["ocl-icd-libopencl1"], libraries: ["OpenCL"] },
  { name: "simdjson", license: "Apache-2.0, parts BSD-3-Clause, MIT and BSL-1.0", debian: ["libsimdjson-dev"], libraries: ["simdjson"], common: ["Apache-2.0"] },
  { name: "SQLite", license: "public domain", debian: ["libsqlite3-dev"], libraries: ["sqlite3"] },
  { name: "toml++", license: "MIT", debian: ["libtomlplusplus-dev"] },
  { name: "zlib", license: "Zlib", debian: ["zlib1g-dev"], libraries: ["z"] },
  {
    name: "Runtime libraries of GCC", license: "GPL-3.0-or-later with the GCC Runtime Library Exception; libquadmath: LGPL-2.1-or-later",
    debian: ["libgomp1"], libraries: ["gomp", "gfortran", "quadmath"], lines: [/^GCC is Copyright/, /^libstdc\+\+-v3|^ - libvtv/],
    more: [/^GCC RUNTIME LIBRARY EXCEPTION/, /^\* |^libquadmath/], common: ["GPL-3", "LGPL-2.1"],
    note: "Shared libraries only, unchanged. Their sources are Debian's source package gcc-12 (https://snapshot.debian.org).",
  },
  { name: "Fashion-MNIST test images", license: "MIT", debian: ["dataset-fashion-mnist"], note: "In bundles." },
  {
    name: "NVIDIA CUDA runtime", license: "NVIDIA Software License Agreement, CUDA supplement",
    note: "Builds with CUDA contain the static CUDA runtime (libcudart_static.a), which Attachment A of the CUDA Toolkit's licence lets\n" +
      "applications redistribute: https://docs.nvidia.com/cuda/eula/. CUPTI, NVML and the driver are not redistributed; mprof loads what\n" +
      "the machine has. The image cuda takes CUPTI, with its licence, from the toolkit of whoever builds it.\n" +
      "This software contains source code provided by NVIDIA Corporation.",
  },
];

/** The paragraphs of a machine-readable Debian copyright file, less those about packaging, documentation and tests. */
function stanzas_of(text) {
  const ours = (stanza) => !/^Files:\s*(debian|doc|docs|test|tests|bench|benchmark|utest|ctest|tools|support)\//.test(stanza);
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.trim()).filter(Boolean);
  const kept = paragraphs.filter((paragraph) => /^(Files|License):/.test(paragraph) && ours(paragraph));
  const used = kept.filter((paragraph) => paragraph.startsWith("Files:"))
    .flatMap((paragraph) => [...paragraph.matchAll(/^License:\s*(.+)$/gm)].flatMap(([, names]) => names.split(/\s+(?:and|or|with)\s+|,\s*/)));
  const is_used = (paragraph) => !paragraph.startsWith("License:") || used.includes(paragraph.match(/^License:\s*(.+)$/m)[1].trim());
  return kept.filter(is_used);
}

/** Debian's way to write an empty line taken back, and no blank or carriage return at the end of a line. */
const plain = (text) => text.replace(/^ \.$/gm, "").replace(/[ \t\r]+$/gm, "").trim();

/** The lines from the first that matches to the one before the next that matches the end. */
function between(text, [begin, end]) {
  const lines = text.split("\n"), first = lines.findIndex((line) => begin.test(line));
  if (first < 0) throw new Error(`no line matches ${begin}`);
  const length = lines.slice(first + 1).findIndex((line) => end.test(line));
  return lines.slice(first, length < 0 ? undefined : first + 1 + length).join("\n");
}

function debian_text(part) {
  const file = `/usr/share/doc/${part.debian[0]}/copyright`;
  if (!existsSync(file)) throw new Error(`${file} is missing: install ${part.debian[0]}`);
  const text = readFileSync(file, "utf8");
  if (part.lines) return [part.lines, part.more].map((range) => plain(between(text, range))).join("\n\n");
  if (!text.startsWith("Format:")) return plain(text);
  if (part.stanza) {
    const paragraphs = text.split(/\n\s*\n/).filter((paragraph) => paragraph.startsWith(`License: ${part.stanza}\n`));
    if (paragraphs.length === 0) throw new Error(`${file} has no text of ${part.stanza}`);
    return `Copyright: the authors of Boost, whom each of its files names.\n\n${plain(paragraphs[0])}`;
  }
  return plain(stanzas_of(text).join("\n\n"));
}

function npm_text({ npm, files }) {
  const folder = join(source, "node_modules", npm[0]);
  const there = files.map((file) => join(folder, file)).filter(existsSync);
  if (there.length === 0) throw new Error(`${folder} has none of ${files.join(", ")}: run npm ci`);
  return there.map((file) => plain(readFileSync(file, "utf8"))).join("\n\n");
}

const text_of = (part) => [part.note, part.npm && npm_text(part), part.debian && debian_text(part)].filter(Boolean).join("\n\n");

const line = "=".repeat(100), thin = "-".repeat(100);
const chapter = (part) => `${line}\n${part.name}\n${part.license}\n${thin}\n\n${text_of(part)}\n`;

function common_licenses() {
  const names = [...new Set(parts.flatMap(({ common }) => common ?? []))];
  return names.map((name) => `${line}\nThe full text of ${name}\n${thin}\n\n${plain(readFileSync(`/usr/share/common-licenses/${name}`, "utf8"))}\n`);
}

const in_pages = parts.filter(({ npm }) => npm);

/** The files and what they hold. */
export function notices() {
  const list = parts.map(({ name, license }) => `- ${name}: ${license}`).join("\n");
  const head = "mprof is under the MIT license (LICENSE). It comes with software and data of others, which are under licenses of their own.\n" +
    `HTML reports hold the first ${in_pages.length} of them. Made by scripts/maintenance/notices.mjs.\n\n${list}\n\n`;
  const pages = in_pages.map(chapter).join("\n");
  if (pages.includes("*/")) throw new Error("a licence of a page's scripts would end the comment that it stands in");
  return {
    THIRD_PARTY_NOTICES: head + [...parts.map(chapter), ...common_licenses()].join("\n"),
    "templates/licences.txt": pages,
  };
}

if (resolve(process.argv[1] ?? "") === fileURLToPath(import.meta.url)) {
  const differing = Object.entries(notices()).filter(([file, text]) => {
    const path = join(source, file);
    return !existsSync(path) || readFileSync(path, "utf8") !== text;
  });
  const check = process.argv.includes("--check");
  for (const [file, text] of differing) {
    if (!check) writeFileSync(join(source, file), text);
    console.log(`${file}: ${check ? "differs: run scripts/maintenance/notices.mjs" : "written"}`);
  }
  process.exitCode = check && differing.length > 0 ? 1 : 0;
}
