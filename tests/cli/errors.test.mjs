// SPDX-License-Identifier: MIT
// Each bad input: one clear message, the documented exit code, and nothing made or lost.
import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mprof, small, source, temporary } from "./support.mjs";

const images = "/usr/share/datasets/fashion-mnist";
const no_images = existsSync(images) ? false : "Debian's dataset-fashion-mnist is not installed";

function refused(t, args, message, { code = 2, ...options } = {}) {
  const cwd = temporary(t);
  const result = mprof(args, { cwd, ...options });
  assert.equal(result.code, code, result.err);
  assert.match(result.err, message);
  assert.match(result.err, /^mprof: [^\n]+\n$/, "one message on one line");
  assert.equal(result.out, "");
  assert.deepEqual(readdirSync(cwd), [], "nothing may be left behind");
}

const bad_usage = {
  "an unknown verb": [["runn"], /no verb 'runn'. Did you mean run or tune\?/],
  "no selection": [["run"], /say what to run/],
  "an unknown variant": [["run", "--variant", "conv/cpu_naiv"], /'conv\/cpu_naiv'. Did you mean conv\/cpu_naive\?/],
  "batch 0": [["run", "--all", "--batch", "0"], /batch 0: .* takes 1 to 10000/],
  "batch -1": [["run", "--all", "--batch", "-1"], /batch -1: '-1' is not a whole number/],
  "batch abc": [["run", "--all", "--batch", "100,abc"], /batch 100,abc: 'abc' is not a whole number/],
  "batch 1e3": [["run", "--all", "--batch", "1e3"], /'1e3' is not a whole number/],
  "batch 10001": [["run", "--all", "--batch", "10001"], /batch 10001: .* takes 1 to 10000/],
  "batch 2^31": [["run", "--all", "--batch", "2147483648"], /takes 1 to 10000/],
  "batch 2^64": [["run", "--all", "--batch", "18446744073709551616"], /is not a whole number/],
  "an empty value": [["run", "--all", "--batch", "100,"], /'' is not a whole number/],
  "an empty list": [["run", "--all", "--batch", ""], /--batch: the list is empty/],
  "an empty list of passes": [["run", "--all", "--passes", ""], /--passes: the list is empty/],
  "an axis that no family has": [["run", "--all", "--problem", "bacth=1"], /bacth: no selected family has an axis of this name\. Did you mean batch\?/],
  "an axis of a family that is not selected": [["run", "--variant", "elementwise/*", "--batch", "1"], /batch: no selected family/],
  "a problem without a value": [["run", "--all", "--problem", "batch"], /give AXIS=VALUE/],
  "an input that no family has": [["run", "--all", "--input", "wieghts=x"], /no family has an input of this name\. Did you mean weights\?/],
  "a shared host without devices": [["run", "--all", "--share-host"], /--share-host says how --devices measures: give both/],
  "devices of a shard": [["run", "--all", "--shard", "1/2", "--devices", "0", "--out", "x"], /--devices and --shard exclude each other/],
  "an empty list of devices": [["run", "--all", "--devices", ""], /--devices: the list is empty/],
  "a device without --all": [["run", "--variant", "conv/*", "--device", "cpu"], /--device says which .* give both/],
  "an unknown device": [["run", "--all", "--device", "cpu,tpu"], /--device tpu: this mprof has no variant for it/],
  "an unknown option": [["run", "--all", "--bacth", "100"], /no option --bacth. Did you mean --batch\?/],
  "an abbreviated option": [["run", "--all", "--quic"], /no option --quic. Did you mean --quick or --quiet\?/],
  "an option without its value": [["run", "--all", "--seed"], /--seed/],
  "a stray word": [["doctor", "stray"], /mprof doctor: unexpected argument 'stray'\./],
  "a program without --": [["run", "./a.out"], /unexpected argument '\.\/a\.out'\. To run a program: mprof run -- \.\/a\.out\./],
  "a source without --source": [["run", "mine.cpp"], /To run a source: mprof run --source mine\.cpp/],
  "a suite without --suite": [["run", "mprof.toml"], /To run a suite: mprof run --suite mprof\.toml --all/],
  "a variant without --variant": [["run", "conv/cpu_naive"], /To run a variant: mprof run --variant conv\/cpu_naive/],
  "a trace without --nsys": [["import", "x.sqlite"], /To import it: mprof import --nsys x\.sqlite --out DIR\. See/],
  "counters without --ncu": [["import", "x.csv"], /To import it: mprof import --ncu x\.csv --out DIR/],
  "two programs of the user's": [["ab", "/bin/true", "/bin/false"], /\/bin\/true is a program\..* To compare two programs of your own: mprof ab -- '\/bin\/true' /],
  "a list of no variant": [["list", "conv/cpu_naiv"], /no variant is called 'conv\/cpu_naiv'\. Did you mean conv\/cpu_naive\?/],
  "a glob of metrics": [["list", "--metrics", "foo"], /list --metrics lists no variants: leave 'foo' out/],
  "a variant of no family": [["new", "variant", "mine.cpp"], /--family is missing: .* There are conv, elementwise\./],
  "no run to report": [["report"], /there is no run below results\//],
  "two formats at once": [["history", "a", "--json", "--format", "md"], /--json and --format md exclude each other/],
  "an unknown shell": [["help", "--completion", "fsh"], /bash, zsh and fish\. Did you mean fish or zsh\?/],
  "an unknown parameter": [["run", "--all", "--set", "thread=2"], /--set thread: .*Did you mean threads\?/],
  "an unknown value": [["run", "--all", "--set", "threads=3x"], /takes .* for threads, not '3x'/],
  "a setting without a value": [["run", "--all", "--set", "threads"], /give NAME=VALUE/],
  "an unknown pass": [["run", "--all", "--passes", "timing,count"], /no pass 'count'/],
  "an unknown metric": [["run", "--all", "--metrics", "dram__byte.sum,gibberish"], /no metric 'dram__byte.sum', 'gibberish'. Did you mean .*dram__bytes.sum/],
  "an unknown preset": [["run", "--all", "--metrics", "sol,stals"], /no metric 'stals'. Did you mean .*stalls/],
  "a counter without what is made of it": [["run", "--all", "--metrics", "dram__bytes"], /no metric 'dram__bytes'.*like .sum or .avg/],
  "an empty list of metrics": [["run", "--all", "--metrics", ""], /--metrics: the list is empty/],
  "metrics without their pass": [["run", "--all", "--passes", "timing", "--metrics", "sol"], /--passes leaves that pass out/],
  "a timeout of 0": [["run", "--all", "--timeout", "0"], /positive number of seconds/],
  "a sampling time below 0": [["run", "--all", "--sampling-time", "-1"], /--sampling-time -1: give a positive number of seconds/],
  "a timeout of nan": [["run", "--all", "--timeout", "nan"], /positive number of seconds/],
  "a bad seed": [["run", "--all", "--seed", "-3"], /--seed -3/],
  "resume without out": [["run", "--resume"], /--resume needs --out/],
  "resume and overwrite": [["run", "--resume", "--overwrite", "--out", "x"], /exclude each other/],
  "resume of nothing": [["run", "--resume", "--out", "none"], /nothing to go on with/],
  "report without DIR, and without a run": [["report"], /there is no run below results\/: give the directory of a run/],
  "report of nothing": [["report", "none"], /no such directory/],
  "an unknown report format": [["report", ".", "--format", "docx"], /no format 'docx'/],
  "compare with one run": [["compare", "a"], /B is missing/],
  "compare with three": [["compare", "a", "b", "c"], /given more/],
  "an unknown comparison format": [["compare", "a", "b", "--format", "htm"], /Did you mean html\?/],
  "a bad threshold": [["compare", "a", "b", "--threshold", "lots"], /give a percentage/],
  "a history of nothing": [["history"], /DIR\.\.\. is missing/],
  "a history of one run": [["history", join(source, "tests", "golden", "run_a")], /two runs or more/],
  "a history of an empty directory": [["history", join(source, "tests", "golden", "run_a"), "."], /\. holds no run.json/],
  "an unknown format of a history": [["history", "a", "b", "--format", "htm"], /Did you mean html\?/],
  "report of an empty directory": [["report", "."], /holds no run.json/],
  "compare of empty directories": [["compare", ".", "."], /holds no run.json/],
};
for (const [name, [args, message]] of Object.entries(bad_usage)) {
  test(`${name} is refused`, (t) => refused(t, args, message));
}

// Inputs.

function damaged_images(t, damage) {
  const directory = temporary(t);
  for (const file of ["t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"]) {
    copyFileSync(join(images, file), join(directory, file));
  }
  const file = join(directory, "t10k-images-idx3-ubyte.gz");
  const bytes = readFileSync(file);
  writeFileSync(file, damage(bytes));
  return directory;
}

const image_damage = {
  "truncated images": [(bytes) => bytes.subarray(0, bytes.length / 2), /t10k-images/],
  "images with a wrong checksum": [(bytes) => { bytes[bytes.length - 6] ^= 0xff; return bytes; }, /t10k-images.*(CRC|check)/i],
  "images that are no gzip": [() => Buffer.from("P5 28 28 255 and so on"), /t10k-images.*gzip/i],
  "empty images": [() => Buffer.alloc(0), /t10k-images/],
};
for (const [name, [damage, message]] of Object.entries(image_damage)) {
  test(`${name} are refused`, { skip: no_images }, (t) => {
    refused(t, [...small, "--data", damaged_images(t, damage)], message);
  });
}

test("missing images are refused with what to do", (t) => {
  refused(t, [...small, "--data", "/nowhere"], /\/nowhere.*dataset-fashion-mnist/);
  refused(t, small, /\/nowhere/, { env: { MPROF_DATA: "/nowhere" } });
});

const weights_damage = {
  "truncated weights": [(bytes) => bytes.subarray(0, 3000), /lenet/],
  "weights with a corrupt header": [(bytes) => { bytes[8] = 0x58; return bytes; }, /lenet.*header/i],
  "weights with a huge header length": [(bytes) => { bytes[6] = 0x7f; return bytes; }, /lenet.*header/i],
  "empty weights": [() => Buffer.alloc(0), /lenet/],
};
for (const [name, [damage, message]] of Object.entries(weights_damage)) {
  test(`${name} are refused`, { skip: no_images }, (t) => {
    const file = join(temporary(t), "lenet.safetensors");
    writeFileSync(file, damage(readFileSync(join(source, "data", "lenet.safetensors"))));
    refused(t, [...small, "--weights", file], message);
  });
}

test("missing weights are refused", { skip: no_images }, (t) => {
  refused(t, [...small, "--weights", "/nowhere/w"], /\/nowhere\/w/);
});

// A report in PDF needs Chromium.

test("a report in PDF without Chromium says what to install, and the other formats are written", (t) => {
  const run = join(source, "tests", "golden", "run_a");
  const ways = [[{ CHROMIUM: "/nowhere/chromium" }, /CHROMIUM=\/nowhere\/chromium names no program/],
                [{ CHROMIUM: "", PATH: "" }, /none of chromium, .* is on the PATH\. Install one \(Debian: apt-get install chromium\)/]];
  for (const [env, message] of ways) {
    const out = temporary(t);
    const { code, out: printed, err } = mprof(["report", run, "--format", "pdf,html", "--out", out], { env });
    assert.equal(code, 5, err);
    assert.match(err, message);
    assert.match(err, /^mprof: [^\n]+\n$/, "one message on one line");
    assert.equal(printed, `${join(out, "milestone.html")}\n`);
    assert.deepEqual(readdirSync(out), ["milestone.html"]);
  }
});

const has_chromium = (process.env.CHROMIUM ? [process.env.CHROMIUM] : (process.env.PATH ?? "").split(":").flatMap(
  (folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))).some(existsSync);

test("a report in PDF is a whole one", { skip: !has_chromium && "Chromium was not found" }, (t) => {
  const out = temporary(t), temporaries = temporary(t);
  const { code, out: printed, err } = mprof(["report", join(source, "tests", "golden", "run_a"), "--format", "pdf", "--out", out],
                                            { env: { TMPDIR: temporaries }, timeout: 300_000 });
  assert.equal(code, 0, err);
  assert.equal(printed, `${join(out, "milestone.pdf")}\n`);
  assert.deepEqual(readdirSync(out), ["milestone.pdf"]);
  const pdf = readFileSync(join(out, "milestone.pdf"), "latin1");
  assert.match(pdf, /^%PDF-/);
  assert.match(pdf.slice(-1024), /%%EOF/);
  assert.ok(pdf.match(/\/Type \/Page\b/g).length > 3, "several pages");
  assert.deepEqual(readdirSync(temporaries).filter((name) => name.startsWith("mprof")), [], "nothing is left behind");
});

// Result directories and run records.

const record_damage = {
  "a truncated run.json": [(text) => text.slice(0, text.length / 2), /run\.json: not valid JSON at line \d+, column \d+/],
  "a run.json of a newer schema": [(text) => text.replace(/"schema_version": \d+/, '"schema_version": 99'), /schema version 99.*newer mprof/],
  "a run.json with a wrong type": [(text) => text.replace(/"seed": \d+/, '"seed": "one"'), /plan\.seed: expected a whole number.*"one"/],
  "a run.json with NaN": [(text) => text.replace(/"timeout": [\d.]+/, '"timeout": NaN'), /run\.json: not valid JSON at line/],
  "an empty run.json": [() => "", /run\.json: not valid JSON/],
};
const golden = join(source, "tests", "golden", "run_a", "run.json");
for (const [name, [damage, message]] of Object.entries(record_damage)) {
  test(`${name} is refused by report and compare`, (t) => {
    const directory = temporary(t);
    writeFileSync(join(directory, "run.json"), damage(readFileSync(golden, "utf8")));
    refused(t, ["report", directory], message);
    refused(t, ["compare", directory, join(source, "tests", "golden", "run_a")], message);
    assert.deepEqual(readdirSync(directory), ["run.json"]);
  });
}

test("a file in place of a result directory is refused", (t) => {
  refused(t, ["report", golden], /is a file; give the result directory/);
  refused(t, [...small, "--out", golden], /this is a file/);
});

// Each command and what it can do about a run that is where its own shall be.
const one = ["--variant", "elementwise/cpu_naive", "--size", "16"];
const resumes = "go on with it by --resume, ", replaces = "replace it by --overwrite, ";
const on_a_run = {
  run: [["run", ...one], resumes + replaces],
  "run of a program": [["run", "--", "true"], replaces],
  "run of a suite": [["run", "--suite", "mprof.toml", "--all"], resumes + replaces],
  ab: [["ab", "elementwise/cpu_naive", "elementwise/cpu_threads", "--size", "16"], replaces],
  tune: [["tune", "elementwise/cpu_threads", "--size", "16"], replaces],
  merge: [["merge", join(source, "tests", "golden", "run_a"), "--incomplete"], replaces],
  import: [["import", "--ncu", join(source, "tests", "fuzz", "seeds", "ncu_csv", "details.csv")], replaces],
};
for (const [name, [args, ways]] of Object.entries(on_a_run)) {
  test(`${name} on a run that is there names the options that it has, and no others`, (t) => {
    const cwd = temporary(t), runs = ["run", "run/A"].map((path) => join(cwd, path, "run.json"));
    assert.equal(mprof(["new", "suite", "mprof.toml"], { cwd }).code, 0);
    mkdirSync(join(cwd, "run", "A"), { recursive: true });
    for (const file of runs) copyFileSync(golden, file);
    const [verb, ...rest] = args, { code, err } = mprof([verb, "--out", "run", ...rest], { cwd });
    assert.equal(code, 2, err);
    assert.ok(err.endsWith(`: it holds a run already; ${ways}or choose another directory\n`), err);
    for (const file of runs) assert.equal(readFileSync(file, "utf8"), readFileSync(golden, "utf8"), "it is kept");
  });
}

test("a directory that others' files are in is refused, and kept", { skip: no_images }, (t) => {
  const directory = temporary(t);
  writeFileSync(join(directory, "thesis.txt"), "mine");
  refused(t, [...small, "--overwrite", "--out", directory], /files in it that are no run/);
  assert.equal(readFileSync(join(directory, "thesis.txt"), "utf8"), "mine");
});

test("without permission: a message, not a crash", { skip: process.getuid() !== 0 && "needs root to become nobody" }, (t) => {
  const directory = temporary(t);
  const out = join(directory, "locked");
  mkdirSync(out, { mode: 0o700 });
  writeFileSync(join(out, "run.json"), readFileSync(golden));
  // The parent is open, so that the locked directory itself is what is refused.
  const nobody = { uid: 65534, gid: 65534, cwd: "/" };
  const parent = mprof(["report", out], nobody);
  assert.equal(parent.code, 2, parent.err);
  assert.match(parent.err, /Permission denied/);
});

test("devices where there is no GPU: exit code 5", (t) => {
  const args = ["run", "--all", "--devices", "all"];
  refused(t, args, /--devices: there is no GPU to choose: /, { code: 5, env: { ...process.env, CUDA_VISIBLE_DEVICES: "" } });
});
