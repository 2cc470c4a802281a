// SPDX-License-Identifier: MIT
// The packages that scripts/package makes, each installed where nothing of mprof's build is: the .deb in a fresh Debian, the
// images on one, the wheel by somebody who is not root. All then measure and report.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { program, source, temporary } from "./support.mjs";

const build = dirname(program);
const works = (...command) => spawnSync(command[0], command.slice(1), { stdio: "ignore" }).status === 0;

function output_of(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26, ...options });
  assert.ok(!error, `${command}: ${error}`);
  assert.equal(status, 0, `${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  return stdout;
}

/** The package of this kind, made of the build under test. */
function make_package(kind, folder) {
  output_of(join(source, "scripts", "package"), [kind, build], { env: { ...process.env, MPROF_DIST: folder } });
  const [name, ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  return join(folder, name);
}

/** What a user does first, in `folder`: the words of a shell. */
const first_report = (folder) =>
  `cd ${folder} && mprof --version && mprof run --variant 'elementwise/cpu_*' --size 64 --quick --out run && mprof report run`;

// --- The .deb ---

// The mirror that this machine's own packages come from.
const debian = works("which", "apt-get") ? (output_of("apt-get", ["indextargets", "--format", "$(REPO_URI)"]).split("\n").find((uri) => /\/debian\/?$/.test(uri)) ?? "").replace(/\/$/, "") : "";
const is_there = (address) => fetch(address, { method: "HEAD" }).then(({ ok }) => ok, () => false);
const no_root = process.getuid() !== 0 && "needs root, to make a root folder of its own";
const no_deb = no_root || (!works("which", "debootstrap", "cpack", "dpkg-shlibdeps") && "needs debootstrap, cpack and dpkg-dev") ||
  (!(await is_there(`${debian}/dists/bookworm/Release`)) && `${debian} cannot be reached`);

/** A copy of a fresh Debian 12, which the build folder keeps. */
function fresh_debian(folder) {
  const kept = join(build, "clean-roots", "bookworm"), root = join(folder, "root");
  if (!existsSync(kept)) {
    output_of("debootstrap", ["--variant=minbase", "bookworm", `${kept}.new`, debian]);
    renameSync(`${kept}.new`, kept);
  }
  output_of("cp", ["--archive", kept, root]);
  copyFileSync("/etc/resolv.conf", join(root, "etc", "resolv.conf"));
  return root;
}

const in_root = (root, command) =>
  output_of("unshare", ["--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
    `mount -t proc proc '${root}/proc' && exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot '${root}' sh -ec "$1"`,
    "sh", command]);

const packed = mkdtempSync(join(tmpdir(), "mprof-packed-"));
after(() => rmSync(packed, { recursive: true, force: true }));

/** The .deb of the build under test, alone in its folder. */
function the_deb() {
  const folder = join(packed, "deb");
  return existsSync(folder) ? join(folder, readdirSync(folder).find((name) => name.endsWith(".deb"))) : make_package("deb", folder);
}

test("the .deb installs on a fresh Debian 12 with what it depends on, and mprof measures there", { skip: no_deb }, (t) => {
  const root = fresh_debian(temporary(t));
  copyFileSync(the_deb(), join(root, "mprof.deb"));
  in_root(root, "apt-get update -q=2 && apt-get install -q=2 --yes --no-install-recommends /mprof.deb");
  in_root(root, `mkdir /srv/work && ${first_report("/srv/work")}`);
  assert.ok(statSync(join(root, "srv", "work", "run", "milestone.html")).size > 0);
  const documents = readdirSync(join(root, "usr", "share", "doc", "mprof"));
  for (const name of ["copyright", "changelog.gz", "README.md"]) assert.ok(documents.includes(name), documents.join(", "));
  in_root(root, "apt-get purge -q=2 --yes mprof && ! command -v mprof && test ! -e /usr/lib/mprof");
});

// --- The images ---

const no_image = no_deb || (!works("which", "buildah") && "needs buildah");

/** buildah with all that it stores below `folder`, in containers that share this machine's network and limits. */
function images_in(folder) {
  const settings = join(folder, "storage.conf");
  writeFileSync(settings, `[storage]\ndriver = "vfs"\nrunroot = "${folder}/run"\ngraphroot = "${folder}/graph"\n`);
  const env = { ...process.env, CONTAINERS_STORAGE_CONF: settings, BUILDAH_ISOLATION: "chroot" };
  return (program, ...args) => output_of(program, args, { env, timeout: 900_000, killSignal: "SIGTERM" }).trim();
}

test("the images are built of the .deb, and mprof measures in them", { skip: no_image }, (t) => {
  const folder = temporary(t), call = images_in(folder), dist = dirname(the_deb());
  // In place of debian:12-slim, whose registry a test should not depend on.
  const base = call("buildah", "from", "scratch");
  call("buildah", "add", base, fresh_debian(folder), "/");
  call("buildah", "commit", "--rm", base, "docker.io/library/debian:12-slim");

  /** The image of this kind, as a container: runs words of a shell there, and its own entry point with arguments. */
  const container_of = (kind) => {
    call("env", `MPROF_DIST=${dist}`, join(source, "scripts", "package"), "image", ...kind);
    const image = `localhost/mprof:${kind[0] ?? "host"}`, container = call("buildah", "from", "--pull-never", image);
    const { config } = JSON.parse(call("buildah", "inspect", "--type", "image", image)).OCIv1;
    const run = (...command) => call("buildah", "run", container, "--", ...command);
    return { image, config, shell: (words) => run("sh", "-ec", words), enter: (...args) => run(...config.Entrypoint, ...args) };
  };

  const host = container_of([]);
  assert.deepEqual([host.config.Entrypoint, host.config.Cmd, host.config.WorkingDir], [["mprof"], ["--help"], "/work"]);
  assert.match(host.enter(...host.config.Cmd), /^mprof measures every variant/);
  assert.match(host.enter("doctor"), /CPU/);
  host.shell(`${first_report(".")} && test -s run/milestone.html && test ! -e /var/lib/apt/lists/lock`);
  host.enter("run", "--variant", "conv/cpu_naive", "--batch", "16", "--quick", "--out", "images");  // Fashion-MNIST is there

  if (!existsSync(join(build, "injection", "libmprof_trace.so"))) return t.diagnostic("no image for GPUs: this build has no CUDA");
  const cuda = container_of(["cuda"]);
  const libraries = cuda.shell("ldconfig -p");
  for (const name of [/libcupti\.so\.\d+ /, /libnvperf_host\.so /]) assert.match(libraries, name);
  assert.ok(cuda.config.Env.includes("NVIDIA_DRIVER_CAPABILITIES=compute,utility"));
  assert.match(cuda.enter("doctor"), /CUPTI/);
});

test("an image for GPUs is not made without NVIDIA's licence of what it passes on", { skip: !works("which", "dpkg-deb") && "needs dpkg-deb" }, (t) => {
  const folder = temporary(t), root = join(folder, "cuda"), at = (...names) => join(folder, ...names);
  for (const place of [at("cuda", "bin"), at("cuda", "extras", "CUPTI", "lib64"), at("deb", "DEBIAN"), at("deb", "lib"), at("dist")])
    mkdirSync(place, { recursive: true });
  writeFileSync(at("cuda", "bin", "nvcc"), `#!/bin/sh\necho '#$ TOP=${root}' >&2\n`, { mode: 0o755 });
  writeFileSync(at("cuda", "extras", "CUPTI", "lib64", "libcupti.so.12"), "");
  writeFileSync(at("deb", "lib", "libmprof_trace.so"), "");
  writeFileSync(at("deb", "DEBIAN", "control"), "Package: mprof\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: none\n");
  output_of("dpkg-deb", ["--build", at("deb"), at("dist", "mprof_1_all.deb")]);
  const env = { ...process.env, MPROF_DIST: at("dist"), CUDA_HOME: root, PATH: `${at("cuda", "bin")}:${process.env.PATH}` };
  const { status, stderr } = spawnSync(join(source, "scripts", "package"), ["image", "cuda"], { encoding: "utf8", env });
  assert.equal(status, 5, stderr);
  assert.match(stderr, /NVIDIA's licence of CUPTI is not below/);
});

// --- The wheel ---

const python = "/usr/bin/python3";
const no_wheel = no_root || (!works(python, "-c", "import wheel, venv, ensurepip") && "needs Debian's python3-wheel and python3-venv");

/** As a user without a name, a home or rights, whose folder is `folder`. */
const as_nobody = (folder, command) =>
  output_of("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", "env", "-i", "PATH=/usr/bin:/bin", `HOME=${folder}`, "sh", "-ec", command]);

test("the wheel installs for somebody who is not root, and mprof measures there", { skip: no_wheel }, (t) => {
  const folder = temporary(t), wheel = make_package("wheel", join(folder, "dist"));
  assert.match(wheel, /mprof-[\d.]+-py3-none-manylinux_2_36_x86_64\.whl$/);
  chmodSync(folder, 0o777);
  chmodSync(dirname(wheel), 0o755);
  as_nobody(folder, `${python} -m venv ${folder}/venv && ${folder}/venv/bin/pip install --quiet --no-index ${wheel}`);
  const said = as_nobody(folder, `export PATH=${folder}/venv/bin:$PATH && ${first_report(folder)}`);
  assert.ok(statSync(join(folder, "run", "milestone.html")).size > 0, said);

  // On its own libraries: none of the system's but those of glibc and of the compiler, which it was made for.
  const libraries = join(folder, "venv", "lib", readdirSync(join(folder, "venv", "lib"))[0], "site-packages", "mprof", "program");
  const loaded = output_of("ldd", [join(libraries, "bin", "mprof")]);
  const foreign = [...loaded.matchAll(/(\S+) => (\/\S+)/g)].filter(([, , path]) => !path.startsWith(folder)).map(([, name]) => name);
  assert.deepEqual(foreign.filter((name) => !/^(libc|libm|libmvec|libstdc\+\+|libgcc_s)\.so/.test(name)), []);
});

test("the wheel's mprof finds CUPTI in NVIDIA's wheels, and adds no empty element to the path of libraries", (t) => {
  const folder = temporary(t), site = join(folder, "site"), shown = join(site, "mprof", "program", "bin", "mprof");
  cpSync(join(source, "scripts", "lib", "wheel"), join(site, "mprof"), { recursive: true });
  for (const [place, name] of [["cuda_cupti", "libcupti.so.12"], ["cu13", "libcupti.so.13"], ["cublas", "libcublas.so.12"]]) {
    const lib = join(site, "nvidia", place, "lib");
    output_of("mkdir", ["-p", lib, dirname(shown)]);
    writeFileSync(join(lib, name), "");
  }
  writeFileSync(shown, '#!/bin/sh\necho "$LD_LIBRARY_PATH $*"\n');
  chmodSync(shown, 0o755);
  const path_with = (given) =>
    output_of("python3", ["-m", "mprof", "list", "two words"], { cwd: folder, env: { PATH: process.env.PATH, PYTHONPATH: site, ...given } }).trim();
  const cupti = `${site}/nvidia/cuda_cupti/lib:${site}/nvidia/cu13/lib`;
  assert.equal(path_with({}), `${cupti} list two words`);
  assert.equal(path_with({ LD_LIBRARY_PATH: ":/own::" }), `/own:${cupti} list two words`);
});
