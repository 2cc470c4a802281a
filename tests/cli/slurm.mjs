// SPDX-License-Identifier: MIT
// A Slurm of two nodes on this machine, for one test file: its daemons run in the foreground of this process's children, all of
// its files lie in one folder, and nothing of it is left when it ends.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";

const environment_path = `${process.env.PATH}:/usr/sbin:/sbin`;
const daemons = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel"];
const find = (name) => environment_path.split(":").map((folder) => join(folder, name)).find((path) => existsSync(path));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Why no Slurm can be started here; false where it can. */
export function why_not() {
  if (process.getuid() !== 0) return "a Slurm for the tests needs root";
  const missing = daemons.filter((name) => !find(name));
  return missing.length > 0 ? `no Slurm is installed here: ${missing.join(", ")} not found (scripts/lib/packages.sh has the packages)` : false;
}

const configuration = (d, port) => `ClusterName=test
SlurmctldHost=${hostname().split(".")[0]}
SlurmctldPort=${port}
AuthType=auth/munge
AuthInfo=socket=${d}/munge.socket,cred_expire=5
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=${d}/state
SlurmdSpoolDir=${d}/spool/%n
SlurmctldPidFile=${d}/slurmctld.pid
SlurmdPidFile=${d}/slurmd-%n.pid
SlurmctldLogFile=${d}/log/slurmctld
SlurmdLogFile=${d}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,sched_min_interval=0
ReturnToService=2
MpiDefault=none
SlurmdTimeout=4
KillWait=3
NodeName=n1 NodeHostname=${hostname().split(".")[0]} Port=${port + 1} CPUs=1
NodeName=n2 NodeHostname=${hostname().split(".")[0]} Port=${port + 2} CPUs=1
PartitionName=main Nodes=n1,n2 Default=YES State=UP
`;

/** The processes whose environment has these settings, each NAME=VALUE. */
function processes_with(...settings) {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid).filter((pid) => {
    try {
      const entries = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
      return settings.every((setting) => entries.includes(setting));
    } catch {
      return false; // it has ended, or is somebody else's
    }
  }).map(Number);
}

function kill_all(pids) {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it has ended
    }
  }
}

export class Cluster {
  /** Throws, with what the daemons said, when it does not come up within half a minute. */
  static async start() {
    const cluster = new Cluster();
    try {
      await cluster.#come_up();
    } catch (error) {
      const logs = cluster.#logs();
      await cluster.stop();
      throw new Error(`${error.message}\n${logs}`);
    }
    return cluster;
  }

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), "mprof-slurm-"));
    chmodSync(this.folder, 0o755);
    this.daemons = new Map();
    this.conf = join(this.folder, "slurm.conf");
    this.env = { PATH: environment_path, SLURM_CONF: this.conf };
  }

  async #come_up() {
    const d = this.folder;
    for (const name of ["state", "spool", "log"]) mkdirSync(join(d, name));
    writeFileSync(join(d, "munge.key"), randomBytes(1024), { mode: 0o400 });
    writeFileSync(this.conf, configuration(d, 20_000 + (process.pid % 4_000) * 3)); // below the ports that Linux gives out by itself
    this.#spawn("munged", ["--foreground", "--force", `--socket=${d}/munge.socket`, `--key-file=${d}/munge.key`, `--pid-file=${d}/munged.pid`,
      `--log-file=${d}/log/munged`, `--seed-file=${d}/munged.seed`]);
    await this.until(() => existsSync(join(d, "munge.socket")), "munged");
    this.#spawn("slurmctld", ["-D"]);
    for (const node of ["n1", "n2"]) this.start_node(node);
    await this.until(() => this.nodes().filter((line) => /idle/.test(line)).length === 2, "two idle nodes");
  }

  #spawn(name, args, key = name) {
    const child = spawn(find(name), args, { stdio: "ignore", env: { ...process.env, ...this.env } });
    this.daemons.set(key, child);
  }

  #logs() {
    const folder = join(this.folder, "log");
    return readdirSync(folder).map((name) => `${name}: ${readFileSync(join(folder, name), "utf8").slice(-600)}`).join("\n");
  }

  start_node(node) {
    mkdirSync(join(this.folder, "spool", node), { recursive: true });
    this.#spawn("slurmd", ["-D", "-N", node], node);
  }

  /** As when its machine loses power: the daemon and all that runs there at once. */
  kill_node(node) {
    this.daemons.get(node).kill("SIGKILL");
    kill_all(this.#of_node(node));
  }

  /** slurmd starts a slurmstepd for each job, with its node's name in the command line or the environment. */
  #of_node(node) {
    const jobs = processes_with(`SLURM_CONF=${this.conf}`, `SLURMD_NODENAME=${node}`);
    const steps = jobs.flatMap((pid) => {
      try {
        const parent = Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1].split(" ")[1]);
        return readFileSync(`/proc/${parent}/comm`, "utf8").startsWith("slurmstepd") ? [parent] : [];
      } catch {
        return []; // one of the two has ended meanwhile
      }
    });
    return [...new Set([...steps, ...jobs])];
  }

  /** What a command of Slurm prints. */
  run(command, ...args) {
    const result = spawnSync(find(command), args, { encoding: "utf8", env: { ...process.env, ...this.env } });
    if (result.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr}`);
    return result.stdout;
  }

  nodes() {
    const result = spawnSync(find("sinfo"), ["--noheader", "--Node", "--format=%N %t"], { encoding: "utf8", env: { ...process.env, ...this.env } });
    return result.status === 0 ? result.stdout.trim().split("\n") : [];
  }

  /** The jobs that are not done, as { name, task, state, node, job }. */
  jobs() {
    return this.run("squeue", "--noheader", "--array", "--format=%j|%K|%T|%N|%F").trim().split("\n").filter(Boolean).map((line) => {
      const [name, task, state, node, job] = line.split("|");
      return { name, task, state, node, job };
    });
  }

  async until(holds, what, seconds = 300) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; await sleep(100)) {
      if (holds()) return;
    }
    throw new Error(`waited ${seconds} s in vain for ${what}\n${this.#logs()}`);
  }

  /** Ends every process of it, by its id, and removes its files. */
  async stop() {
    const ours = () => processes_with(`SLURM_CONF=${this.conf}`);
    for (const child of this.daemons.values()) child.kill("SIGKILL");
    for (let i = 0; i < 50 && ours().length > 0; ++i, await sleep(100)) kill_all(ours());
    const left = ours();
    rmSync(this.folder, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`processes of the Slurm for the tests are left: ${left.join(", ")}`);
  }
}
