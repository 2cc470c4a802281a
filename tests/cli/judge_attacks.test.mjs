// SPDX-License-Identifier: MIT
// Files that attack: nothing outside of the sandbox is read, written, reached or ended, and no time is given that mprof's own
// clock does not allow.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { judge, skip, variant, without_time } from "./judging.mjs";
import { program, temporary } from "./support.mjs";

/** What runs away runs in a process namespace of its own as well, should the sandbox fail. */
const pids = ["--pid", "--fork", "--mount-proc", "--kill-child"];
const contained = [pids, ["--user", "--map-root-user", ...pids]].find((words) => spawnSync("unshare", [...words, "true"]).status === 0);

function run_contained(args, options) {
  const result = spawnSync("unshare", [...contained, program, ...args], {
    encoding: "utf8", timeout: 300_000, ...options, env: { ...process.env, ...options.env },
  });
  if (result.error) throw result.error;
  return { code: result.status, out: result.stdout, err: result.stderr };
}

const runaway_skip = skip || (contained ? false : "unshare cannot make a process namespace here");

test("a file writes nowhere, and reads no secret", { skip }, (t) => {
  const folder = temporary(t), home = join(folder, "home"), out = join(folder, "out");
  mkdirSync(home);
  mkdirSync(out);
  writeFileSync(join(home, "secret"), "planted-secret-1");
  writeFileSync(join(folder, "solution.txt"), "planted-secret-2");
  const places = [join(home, "written"), join(folder, "written"), join(out, "written"), "/usr/written", "/etc/written", "/opt/written", "/written"];
  const secrets = [join(home, "secret"), join(folder, "solution.txt"), "/etc/passwd", "/etc/shadow", "/proc/1/environ"];
  const top = `#include <fstream>
    #include <iterator>
    #include <string>
    static const int tried = [] {
      for (const char* place : {${places.map((place) => JSON.stringify(place)).join(", ")}}) std::ofstream(place) << "x";
      for (const char* secret : {${secrets.map((secret) => JSON.stringify(secret)).join(", ")}}) {
        std::ifstream file(secret); std::string text((std::istreambuf_iterator<char>(file)), {});
        std::replace(text.begin(), text.end(), '\\0', '\\n');
        const std::size_t at = text.find("planted-secret");
        std::fprintf(stderr, "%s has %zu: %s\\n", secret, text.size(), at == std::string::npos ? text.substr(0, 100).c_str() : text.substr(at, 16).c_str());
      }
      if (const char* token = std::getenv("PLANTED_TOKEN")) std::fprintf(stderr, "token %s\\n", token);
      return 0;
    }();`;
  const { answer, out: printed } = judge(t, variant({ top, forward: "compute();" }), [], { folder, env: { HOME: home, PLANTED_TOKEN: "planted-secret-3" } });
  assert.equal(answer.status, "right", printed);
  assert.match(answer.untrusted_output, /solution\.txt has 0:/, "it did try");
  assert.doesNotMatch(printed, /planted-secret|root:x:/);
  for (const place of places) assert.ok(!existsSync(place), place);
  assert.deepEqual(readdirSync(folder).sort(), ["home", "mine.cpp", "out", "solution.txt"]);
});

test("a compiler shows a file nothing that the sandbox hides", { skip }, (t) => {
  const folder = temporary(t), secret = join(folder, "secret.txt");
  writeFileSync(secret, "planted-secret-4");
  for (const text of [`#include "${secret}"\n`, `asm(".incbin \\"${secret}\\"");\n`]) {
    const { answer, out } = judge(t, text, [], { folder });
    assert.equal(answer.status, "compile_failed");
    assert.doesNotMatch(out, /planted-secret/);
  }
});

test("a file reaches no network", { skip }, async (t) => {
  let connections = 0;
  const server = createServer(() => ++connections);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const top = `#include <arpa/inet.h>
    #include <sys/socket.h>
    #include <unistd.h>
    static const int tried = [] {
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in to{}; to.sin_family = AF_INET; to.sin_port = htons(${server.address().port}); to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      std::fprintf(stderr, "connect gave %d\\n", ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)));
      return 0;
    }();`;
  const { answer } = judge(t, variant({ top }));
  assert.match(answer.untrusted_output, /connect gave -1/);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(connections, 0);
});

test("a file that kills its parent, or everything that it can, ends itself alone", { skip: runaway_skip }, (t) => {
  const top = "#include <signal.h>\n#include <unistd.h>";
  // Its parent is the first process of its namespace, which the kernel lets nobody in there end.
  const parent = judge(t, variant({ top, forward: "::kill(::getppid(), SIGKILL); compute();" }), [], { run: run_contained });
  assert.ok([0, 1].includes(parent.code), JSON.stringify(parent.answer));
  const all = judge(t, variant({ top, forward: "::kill(-1, SIGKILL); ::raise(SIGKILL);" }), [], { run: run_contained });
  assert.equal(all.answer.status, "crashed", JSON.stringify(all.answer));
  assert.match(all.answer.reason, /signal 9/);
  assert.equal(all.code, 3);
  without_time(all.answer);
});

test("a file that forks without end is ended, and the answer says so", { skip: runaway_skip }, (t) => {
  const { answer } = judge(t, variant({ top: "#include <unistd.h>", forward: "for (;;) ::fork();" }), [], { run: run_contained });
  assert.equal(answer.status, "crashed");
  assert.match(answer.reason, /^it had more than \d+ processes and threads, and was ended$/);
  without_time(answer);
});

test("a file that fills the memory is ended, and the answer says so", { skip: runaway_skip }, (t) => {
  const fill = (flags) => `for (;;) { void* p = ::mmap(nullptr, 1 << 24, PROT_READ | PROT_WRITE, ${flags} | MAP_ANONYMOUS, -1, 0); if (p == MAP_FAILED) std::abort(); std::fill_n(static_cast<char*>(p), 1 << 24, 1); }`;
  for (const flags of ["MAP_PRIVATE", "MAP_SHARED"]) {
    const { answer } = judge(t, variant({ top: "#include <sys/mman.h>", forward: fill(flags) }), ["--memory-limit", "1"], { run: run_contained });
    assert.equal(answer.status, "crashed", JSON.stringify(answer));
    assert.match(answer.reason, /it took more than 1 GiB of memory, and was ended|Aborted/);
    without_time(answer);
  }
});

test("a file that fills the memory through many processes, or files without a name, is ended too", { skip: runaway_skip }, (t) => {
  const top = `#include <cstring>
    #include <thread>
    #include <sys/mman.h>
    #include <sys/syscall.h>
    #include <sys/wait.h>
    #include <unistd.h>`;
  const attacks = {
    // None of them has more than a third of the limit.
    shared: `for (int i = 0; i < 6; ++i) if (::fork() == 0) { const std::size_t size = 300 << 20; void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); std::memset(p, 1, size); for (;;) ::pause(); }
      for (;;) ::pause();`,
    files: `static char block[1 << 20]; std::memset(block, 1, sizeof block);
      for (int i = 0; i < 8; ++i) { const int fd = ::memfd_create("kept", 0); for (int n = 0; n < 256; ++n) if (::write(fd, block, sizeof block) < 0) std::abort(); }
      for (;;) ::pause();`,
    // The kernel shows no memory of a process whose first thread has ended.
    leaderless: `for (int i = 0; i < 6; ++i) if (::fork() == 0) { std::thread([] { const std::size_t size = 300 << 20; void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); std::memset(p, 1, size); for (;;) ::pause(); }).detach(); ::syscall(SYS_exit, 0); }
      for (;;) ::pause();`,
  };
  for (const forward of Object.values(attacks)) {
    const { answer } = judge(t, variant({ top, forward }), ["--memory-limit", "1", "--timeout", "120"], { run: run_contained });
    assert.equal(answer.reason, "it took more than 1 GiB of memory, and was ended", JSON.stringify(answer));
    without_time(answer);
  }
});

test("memory that processes of a file share counts once", { skip: runaway_skip }, (t) => {
  const top = `#include <sys/wait.h>
    #include <unistd.h>`;
  const forward = `static bool once = false;
    if (!once) {
      once = true;
      const std::vector<char> big(500 << 20, 1);
      pid_t copies[4];
      for (pid_t& copy : copies) if ((copy = ::fork()) == 0) { ::usleep(500000); ::_exit(0); }
      for (const pid_t copy : copies) ::waitpid(copy, nullptr, 0);
    }
    compute();`;
  const { answer } = judge(t, variant({ top, forward }), ["--memory-limit", "1", "--timeout", "120"], { run: run_contained });
  assert.doesNotMatch(answer.reason ?? "", /memory/);
});

test("a file stands still with all that it has started while the baseline is timed", { skip }, (t) => {
  const top = `#include <csignal>
    static volatile std::sig_atomic_t resumed = 0;
    static const auto before = std::signal(SIGCONT, [](int) { resumed = resumed + 1; });`;
  const { answer } = judge(t, variant({ top, forward: 'compute(); std::fprintf(stderr, "resumed %d\\n", int(resumed));' }), ["--timeout", "120"]);
  const counts = [...answer.untrusted_output.matchAll(/resumed (\d+)/g)].map((found) => Number(found[1]));
  assert.ok(answer.own_clock, JSON.stringify(answer));
  // Once for each turn of the baseline, but for one before it was loaded.
  assert.ok(Math.max(...counts) >= answer.own_clock.executions - 1, answer.untrusted_output);
});

/** Takes the token of its job from the memory of its process, and writes a result with the times that it would like to have: these rows. */
const forger_of = (...names) => `#include <dirent.h>
#include <fstream>
#include <sstream>
#include <string>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>
/** 32 hexadecimal digits by themselves, in the readable and writable memory of this process: the token of its job. */
static std::string found_token() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0, to = 0; char flags[5] = {};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, flags) != 3 || std::strncmp(flags, "rw", 2) != 0 || line.find("[heap]") == std::string::npos) continue;
    const char* end = reinterpret_cast<const char*>(to);
    int digits = 0;
    for (const char* at = reinterpret_cast<const char*>(from); at < end; ++at) {
      const bool is_digit = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f');
      if (!is_digit && digits == 32 && *at == '\\0') return std::string(at - 32, at);
      digits = is_digit ? digits + 1 : 0;
    }
  }
  return "";
}
/** In a process that is timed: writes the end of the case, and leaves. */
static void forge() {
  for (int fd = 3; fd < 20; ++fd) {  // a process that is challenged has a socket for more challenges
    struct stat s {};
    if (::fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode)) return;
  }
  const std::string token = found_token();
  if (token.empty()) return;
  std::string times;
  for (int i = 0; i < 7; ++i) times += (i ? "," : "") + std::to_string(1e-6);
  std::ostringstream message;
  message << "{\\"kind\\":\\"end\\",\\"token\\":\\"" << token << "\\",\\"case\\":\\"elementwise/mine@size=192,iterations=8\\",\\"samples\\":0,\\"result\\":{\\"pass\\":\\"timing\\",\\"status\\":\\"ok\\",\\"seconds\\":0.01,"
          << "\\"verification\\":[{\\"op\\":\\"map\\",\\"passed\\":true,\\"relative_l2\\":1e-8,\\"max_error\\":1e-7,\\"tolerance\\":1e-4,\\"elements\\":36864,\\"non_finite\\":0,\\"never_written\\":0}],"
          << "\\"sampling\\":{\\"warmups\\":1,\\"samples\\":7,\\"ended_by\\":\\"samples\\",\\"relative_half_width\\":0.001},"
          << "\\"measurements\\":[";
  const char* rows[][2] = {${names.map(([metric, op]) => `{"${metric}", "${op}"}`).join(", ")}};
  for (int i = 0; i < ${names.length}; ++i) message << (i ? "," : "") << "{\\"metric\\":\\"" << rows[i][0] << "\\"" << (rows[i][1][0] ? std::string(",\\"op\\":\\"") + rows[i][1] + "\\"" : "") << ",\\"source\\":\\"measured\\",\\"samples\\":[" << times << "]}";
  message << "]}}\\n";
  for (int fd = 3; fd < 20; ++fd) {
    struct stat s {};
    if (::fstat(fd, &s) == 0 && S_ISFIFO(s.st_mode)) { [[maybe_unused]] const auto n = ::write(fd, message.str().data(), message.str().size()); }
  }
  ::usleep(200000);
  ::_exit(0);
}
`;
const op_rows = [["op_time", "map"], ["group_time", "map"]], forger = forger_of(...op_rows, ["total_time", ""]);

test("a file that forges the result of its timing is suspect by mprof's own clock, or ends where it found no token", { skip }, (t) => {
  const slow = "::usleep(150000); compute();"; // so that what it claims to save is far above the resolution of any clock
  const { answer } = judge(t, variant({ top: forger, forward: `${slow} forge();` }), ["--budget", "20"]);
  without_time(answer);
  if (answer.status === "suspect") assert.equal(answer.suspicions[0].check, "own_clock", JSON.stringify(answer));
  else assert.match(answer.reason, /it does not hold the token that this worker was given/);
});

test("a forged result without the time of the whole, or of an op, ends the judgement", { skip }, (t) => {
  for (const rows of [op_rows, [["total_time", ""]]]) {
    const { answer } = judge(t, variant({ top: forger_of(...rows), forward: "compute(); forge();" }));
    without_time(answer);
    if (answer.status === "suspect") assert.match(answer.suspicions[0].seen, /^a round has no time of /, JSON.stringify(answer));
    else assert.match(answer.reason, /it does not hold the token that this worker was given/);
  }
});
