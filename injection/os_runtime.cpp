// SPDX-License-Identifier: MIT
// The library that the dynamic linker loads into each process in the trace pass (LD_PRELOAD), before all
// others: it stands before the functions of libc and POSIX threads that wait or enter the kernel, and notes
// those calls that last as long as system_calls::threshold. It never allocates memory by malloc, prints or
// throws, and calls nothing that it stands before.
#include <bit>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "injection/abrupt_end.hpp"
#include "model/trace/journal.hpp"
#include "model/trace/system_call_record.hpp"

namespace mprof::injection {
namespace {

using system_calls::Head;
using system_calls::Record;

/// A function of libc's that this library stands before. All of them are in a section of the library, in
/// which a function's place is its number in the file.
struct Function {
  const char* name;     ///< as it is written
  const char* symbol;   ///< as the linker knows it
  const char* version;  ///< of the symbol where an older one means something else; nullptr: the only one
  void* found;          ///< by the first call, and by whichever others come at once, which find the same

  void* next() {
    void* const known = __atomic_load_n(&found, __ATOMIC_RELAXED);
    return known != nullptr ? known : find();
  }

 private:
  void* find() {
    const int error = errno;
    void* here = version != nullptr ? ::dlvsym(RTLD_NEXT, symbol, version) : nullptr;
    if (here == nullptr) here = ::dlsym(RTLD_NEXT, symbol);
    __atomic_store_n(&found, here, __ATOMIC_RELAXED);
    errno = error;
    return here;
  }
};

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names for its bounds
extern "C" [[gnu::visibility("hidden")]] Function __start_mprof_functions[];
extern "C" [[gnu::visibility("hidden")]] Function __stop_mprof_functions[];
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

constexpr std::size_t longest_path = 4096;

/// What this process has noted so far. Plain memory that is zero at first: the linker's, so that it is there
/// before anything is constructed and after everything is destroyed.
struct State {
  bool is_on;
  pid_t process;  ///< of which the file is; 0: none yet
  Head* head;
  std::uint64_t next;                         ///< the number of the next record
  Record* chunks[system_calls::most_chunks];  ///< those of the file that are mapped
  bool is_growing;                            ///< a thread makes the file longer
  char folder[longest_path];
  char path[longest_path + 64];
};
State state;

/// Set while this thread notes a call: a signal's handler may make others then.
[[gnu::tls_model("initial-exec")]] thread_local bool is_noting = false;
[[gnu::tls_model("initial-exec")]] thread_local std::uint32_t thread_id = 0;
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t thread_calls = 0;

std::int64_t now() {
  constexpr std::int64_t second = 1'000'000'000;
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);  // CUPTI's
  return time.tv_sec * second + time.tv_nsec;
}

/// As the kernel has it: fork's child is told of nothing else at once.
pid_t this_process() {
  return static_cast<pid_t>(::syscall(SYS_getpid));
}

// --- Whose call it is ---

#if __GLIBC_PREREQ(2, 35)
using FindObject = int(void*, dl_find_object*);
FindObject* find_object = nullptr;

void look_for_tools() {
  find_object = reinterpret_cast<FindObject*>(::dlsym(RTLD_DEFAULT, "_dl_find_object"));
}

bool starts_with(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

/// Of CUPTI's, or of mprof's libraries: no call of the program's.
bool is_of_a_tool(void* caller) {
  dl_find_object object{};
  if (find_object == nullptr || find_object(caller, &object) != 0) return false;
  const char* const path = object.dlfo_link_map->l_name;
  const char* const slash = std::strrchr(path, '/');
  const char* const file = slash != nullptr ? slash + 1 : path;
  return starts_with(file, "libcupti.") || starts_with(file, "libnvperf_") || starts_with(file, "libmprof_");
}
#else
void look_for_tools() {}
bool is_of_a_tool(void* /*caller*/) {
  return false;
}
#endif

// --- The file ---
// Opened anew each time that it grows: a program may close all descriptors, and be given this one's number
// for another file.

bool write_all(int file, const void* bytes, std::size_t size, std::size_t offset) {
  for (const char* at = static_cast<const char*>(bytes); size > 0;) {
    const long written = ::syscall(SYS_pwrite64, file, at, size, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    offset += static_cast<std::size_t>(written);
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void* map(int file, std::size_t size, std::size_t offset) {
  const long address = ::syscall(SYS_mmap, nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel has no pointers
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

/// What the process was started as, with its arguments, to `to`; returns how long it is.
std::size_t read_process_name(char* to, std::size_t most) {
  const long file = ::syscall(SYS_openat, AT_FDCWD, "/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return 0;
  long size = ::syscall(SYS_read, file, to, most);
  ::syscall(SYS_close, file);
  while (size > 0 && to[size - 1] == '\0') --size;
  for (long i = 0; i < size; ++i) {
    if (to[i] == '\0') to[i] = ' ';
  }
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

/// The file of this process, without records.
void make_file() {
  static char bytes[system_calls::head_size];
  std::memset(bytes, 0, sizeof bytes);
  constexpr std::size_t longest_name = 1024;
  Head head{};
  std::memcpy(head.magic, system_calls::magic, sizeof head.magic);
  head.process = static_cast<std::uint32_t>(state.process);
  char* at = bytes + sizeof head;
  at += read_process_name(at, longest_name) + 1;
  for (const Function* f = __start_mprof_functions; f != __stop_mprof_functions; ++f) {
    const std::size_t length = std::strlen(f->name) + 1;
    if (at + length > bytes + sizeof bytes) return;
    std::memcpy(at, f->name, length);
    at += length;
  }
  head.names_size = static_cast<std::uint32_t>(static_cast<std::size_t>(at - bytes) - sizeof head);
  std::memcpy(bytes, &head, sizeof head);
  // A process may become another program, which has a file of its own.
  const int length = std::snprintf(state.path, sizeof state.path, "%s/%010d-%lld%s", state.folder,
                                   state.process, static_cast<long long>(now()), system_calls::extension);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof state.path) return;
  const long file = ::syscall(SYS_openat, AT_FDCWD, state.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write_all(static_cast<int>(file), bytes, sizeof bytes, 0))
    state.head = static_cast<Head*>(map(static_cast<int>(file), sizeof bytes, 0));
  ::syscall(SYS_close, file);
}

/// Room for more records; nullptr when there is none. What is mapped is written first: a disk that is full
/// then says so here, where the mapping would end the program.
Record* make_chunk(std::size_t number) {
  if (state.head == nullptr) return nullptr;
  const long file = ::syscall(SYS_openat, AT_FDCWD, state.path, O_RDWR | O_CLOEXEC, 0);
  if (file < 0) return nullptr;
  static const char zeros[system_calls::chunk_size] = {};
  const std::size_t offset = system_calls::head_size + number * system_calls::chunk_size;
  void* mapped = nullptr;
  if (write_all(static_cast<int>(file), zeros, sizeof zeros, offset))
    mapped = map(static_cast<int>(file), system_calls::chunk_size, offset);
  ::syscall(SYS_close, file);
  return static_cast<Record*>(mapped);
}

Record* chunk(std::size_t number) {
  if (Record* const known = __atomic_load_n(&state.chunks[number], __ATOMIC_ACQUIRE)) return known;
  while (__atomic_exchange_n(&state.is_growing, true, __ATOMIC_ACQUIRE)) ::syscall(SYS_sched_yield);
  if (state.process == 0) {  // a fork's child
    state.process = this_process();
    make_file();
  }
  if (state.chunks[number] == nullptr)
    __atomic_store_n(&state.chunks[number], make_chunk(number), __ATOMIC_RELEASE);
  __atomic_store_n(&state.is_growing, false, __ATOMIC_RELEASE);
  return state.chunks[number];
}

/// The next record; nullptr where there is no room.
Record* next_record() {
  const std::uint64_t number = __atomic_fetch_add(&state.next, 1, __ATOMIC_RELAXED);
  const std::uint64_t in_chunk = number / system_calls::chunk_records;
  Record* const records = in_chunk < system_calls::most_chunks ? chunk(in_chunk) : nullptr;
  if (records != nullptr) return &records[number % system_calls::chunk_records];
  if (state.head != nullptr) __atomic_fetch_add(&state.head->dropped, 1, __ATOMIC_RELAXED);
  return nullptr;
}

void write(std::int64_t start, std::int64_t end, std::uint32_t name) {
  Record* const record = next_record();
  if (record == nullptr) return;
  record->start = start;
  record->thread = thread_id;
  record->name = name;
  __atomic_store_n(&record->end, end, __ATOMIC_RELEASE);
}

/// What the thread is called now.
void write_thread_name() {
  char text[system_calls::thread_name_size] = {};
  if (::syscall(SYS_prctl, PR_GET_NAME, text, 0, 0, 0) != 0) return;
  text[sizeof text - 1] = 1;
  std::int64_t halves[2];
  static_assert(sizeof halves == sizeof text);
  std::memcpy(halves, text, sizeof text);
  write(halves[0], halves[1], system_calls::thread_name);
}

void note(const Function& function, std::int64_t start, std::int64_t end, void* caller) {
  // A child of vfork or clone shares this memory, or thinks that it is its parent.
  if (state.process != 0 && state.process != this_process()) return;
  if (is_of_a_tool(caller)) return;
  if (thread_id == 0) thread_id = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  // A thread may be named at any time: asked now and then, ever more rarely.
  if (std::has_single_bit(++thread_calls)) write_thread_name();
  write(start, end, static_cast<std::uint32_t>(&function - __start_mprof_functions));
}

/// The call has returned to this library.
void returned(const Function& function, std::int64_t start, void* caller) {
  const std::int64_t end = now();
  if (end - start < system_calls::threshold || is_noting) return;
  const int error = errno;
  is_noting = true;
  note(function, start, end, caller);
  is_noting = false;
  errno = error;
}

/// Makes the call in the program's stead. Nothing here is destroyed when a thread is cancelled within it.
template <class Result, class... Arguments>
[[gnu::always_inline]] inline Result make(Function& function, void* caller, Arguments... arguments) {
  auto* const next = reinterpret_cast<Result (*)(Arguments...)>(function.next());
  if (!state.is_on) return next(arguments...);
  const std::int64_t start = now();
  const Result result = next(arguments...);
  returned(function, start, caller);
  return result;
}

void begin_child() {
  state.process = 0;
  state.head = nullptr;
  state.next = 0;
  std::memset(state.chunks, 0, sizeof state.chunks);
  state.is_growing = false;
  is_noting = false;
  thread_id = 0;
  thread_calls = 0;
}

[[gnu::constructor]] void begin() {
  const char* const folder = std::getenv(journal::folder_variable);
  if (folder == nullptr || std::strlen(folder) >= sizeof state.folder) return;
  std::strcpy(state.folder, folder);
  look_for_tools();
  state.process = this_process();
  make_file();
  ::pthread_atfork(nullptr, nullptr, begin_child);
  state.is_on = state.head != nullptr;
}

/// What BeforeAbruptEnd was told last.
void (*before_abrupt_end)();

void end_abruptly() {
  void (*const work)() = __atomic_load_n(&before_abrupt_end, __ATOMIC_ACQUIRE);
  if (work != nullptr) work();
}

}  // namespace

/// The functions themselves. In C++ they have names of their own, for the linker those of libc's; so that
/// they need not be declared as its headers do.
namespace calls {

#define MPROF_UNPACK(...) __VA_ARGS__
#define MPROF_FUNCTION(id, symbol, name, version)                                                        \
  [[gnu::section("mprof_functions"), gnu::used]] constinit Function id##_function{name, symbol, version, \
                                                                                  nullptr};
/// Defines a function that a program calls by `symbol`, and that is noted as `name`.
#define MPROF_CALL_AS(id, symbol, name, version, result, parameters, arguments)              \
  MPROF_FUNCTION(id, symbol, name, version)                                                  \
  result id parameters __asm__(symbol);                                                      \
  [[gnu::visibility("default")]] result id parameters {                                      \
    return make<result>(id##_function, __builtin_return_address(0), MPROF_UNPACK arguments); \
  }
#define MPROF_CALL(result, id, parameters, arguments) \
  MPROF_CALL_AS(id, #id, #id, nullptr, result, parameters, arguments)
/// As programs call it that were compiled with _FORTIFY_SOURCE.
#define MPROF_CHECKED(result, id, symbol, parameters, arguments) \
  MPROF_CALL_AS(id##_checked, symbol, #id, nullptr, result, parameters, arguments)

using Size = std::size_t;
using Signed = ssize_t;

// --- Waiting for files ---

MPROF_CALL(int, poll, (pollfd * files, nfds_t count, int limit), (files, count, limit))
MPROF_CHECKED(int, poll, "__poll_chk", (pollfd * files, nfds_t count, int limit, Size room),
              (files, count, limit, room))
MPROF_CALL(int, ppoll, (pollfd * files, nfds_t count, const timespec* limit, const sigset_t* mask),
           (files, count, limit, mask))
MPROF_CHECKED(int, ppoll, "__ppoll_chk",
              (pollfd * files, nfds_t count, const timespec* limit, const sigset_t* mask, Size room),
              (files, count, limit, mask, room))
MPROF_CALL(int, select, (int count, fd_set* in, fd_set* out, fd_set* other, timeval* limit),
           (count, in, out, other, limit))
MPROF_CALL(int, pselect,
           (int count, fd_set* in, fd_set* out, fd_set* other, const timespec* limit, const sigset_t* mask),
           (count, in, out, other, limit, mask))
MPROF_CALL(int, epoll_wait, (int file, epoll_event* events, int most, int limit), (file, events, most, limit))
MPROF_CALL(int, epoll_pwait, (int file, epoll_event* events, int most, int limit, const sigset_t* mask),
           (file, events, most, limit, mask))
MPROF_CALL(int, epoll_ctl, (int file, int what, int other, epoll_event* event), (file, what, other, event))

// --- Files ---

MPROF_CALL(Signed, read, (int file, void* to, Size size), (file, to, size))
MPROF_CHECKED(Signed, read, "__read_chk", (int file, void* to, Size size, Size room), (file, to, size, room))
MPROF_CALL(Signed, pread, (int file, void* to, Size size, off_t at), (file, to, size, at))
MPROF_CHECKED(Signed, pread, "__pread_chk", (int file, void* to, Size size, off_t at, Size room),
              (file, to, size, at, room))
MPROF_CALL(Signed, pread64, (int file, void* to, Size size, off64_t at), (file, to, size, at))
MPROF_CHECKED(Signed, pread64, "__pread64_chk", (int file, void* to, Size size, off64_t at, Size room),
              (file, to, size, at, room))
MPROF_CALL(Signed, readv, (int file, const iovec* parts, int count), (file, parts, count))
MPROF_CALL(Signed, preadv, (int file, const iovec* parts, int count, off_t at), (file, parts, count, at))
MPROF_CALL(Signed, preadv64, (int file, const iovec* parts, int count, off64_t at), (file, parts, count, at))
MPROF_CALL(Signed, write, (int file, const void* from, Size size), (file, from, size))
MPROF_CALL(Signed, pwrite, (int file, const void* from, Size size, off_t at), (file, from, size, at))
MPROF_CALL(Signed, pwrite64, (int file, const void* from, Size size, off64_t at), (file, from, size, at))
MPROF_CALL(Signed, writev, (int file, const iovec* parts, int count), (file, parts, count))
MPROF_CALL(Signed, pwritev, (int file, const iovec* parts, int count, off_t at), (file, parts, count, at))
MPROF_CALL(Signed, pwritev64, (int file, const iovec* parts, int count, off64_t at), (file, parts, count, at))
MPROF_CALL(Signed, sendfile, (int to, int from, off_t* at, Size size), (to, from, at, size))
MPROF_CALL(Signed, sendfile64, (int to, int from, off64_t* at, Size size), (to, from, at, size))
MPROF_CALL(int, creat, (const char* path, mode_t mode), (path, mode))
MPROF_CALL(int, creat64, (const char* path, mode_t mode), (path, mode))
MPROF_CHECKED(int, open, "__open_2", (const char* path, int flags), (path, flags))
MPROF_CHECKED(int, open64, "__open64_2", (const char* path, int flags), (path, flags))
MPROF_CHECKED(int, openat, "__openat_2", (int folder, const char* path, int flags), (folder, path, flags))
MPROF_CHECKED(int, openat64, "__openat64_2", (int folder, const char* path, int flags), (folder, path, flags))
MPROF_CALL(int, close, (int file), (file))
MPROF_CALL(int, fsync, (int file), (file))
MPROF_CALL(int, fdatasync, (int file), (file))
MPROF_CALL(int, msync, (void* address, Size size, int flags), (address, size, flags))
MPROF_CALL(int, flock, (int file, int what), (file, what))
MPROF_CALL(int, lockf, (int file, int what, off_t size), (file, what, size))
MPROF_CALL(int, lockf64, (int file, int what, off64_t size), (file, what, size))
MPROF_CALL(int, pipe, (int* ends), (ends))
MPROF_CALL(int, pipe2, (int* ends, int flags), (ends, flags))

MPROF_CALL(FILE*, fopen, (const char* path, const char* mode), (path, mode))
MPROF_CALL(FILE*, fopen64, (const char* path, const char* mode), (path, mode))
MPROF_CALL(int, fclose, (FILE * file), (file))
MPROF_CALL(int, fflush, (FILE * file), (file))
MPROF_CALL(Size, fread, (void* to, Size size, Size count, FILE* file), (to, size, count, file))
MPROF_CHECKED(Size, fread, "__fread_chk", (void* to, Size room, Size size, Size count, FILE* file),
              (to, room, size, count, file))
MPROF_CALL(Size, fwrite, (const void* from, Size size, Size count, FILE* file), (from, size, count, file))
MPROF_CALL(char*, fgets, (char* to, int size, FILE* file), (to, size, file))
MPROF_CHECKED(char*, fgets, "__fgets_chk", (char* to, Size room, int size, FILE* file),
              (to, room, size, file))
MPROF_CALL(int, fputs, (const char* text, FILE* file), (text, file))
MPROF_CALL(Signed, getline, (char** line, Size* size, FILE* file), (line, size, file))
MPROF_CALL(Signed, getdelim, (char** line, Size* size, int end, FILE* file), (line, size, end, file))
MPROF_CALL(FILE*, popen, (const char* command, const char* mode), (command, mode))
MPROF_CALL(int, pclose, (FILE * file), (file))

// --- Memory ---

MPROF_CALL(void*, mmap, (void* address, Size size, int protection, int flags, int file, off_t at),
           (address, size, protection, flags, file, at))
MPROF_CALL(void*, mmap64, (void* address, Size size, int protection, int flags, int file, off64_t at),
           (address, size, protection, flags, file, at))
MPROF_CALL(int, munmap, (void* address, Size size), (address, size))
MPROF_CALL(int, mlock, (const void* address, Size size), (address, size))
MPROF_CALL(int, munlock, (const void* address, Size size), (address, size))

// --- Sockets ---

MPROF_CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
MPROF_CALL(int, socketpair, (int domain, int type, int protocol, int* ends), (domain, type, protocol, ends))
MPROF_CALL(int, bind, (int file, const sockaddr* address, socklen_t size), (file, address, size))
MPROF_CALL(int, listen, (int file, int most), (file, most))
MPROF_CALL(int, accept, (int file, sockaddr* address, socklen_t* size), (file, address, size))
MPROF_CALL(int, accept4, (int file, sockaddr* address, socklen_t* size, int flags),
           (file, address, size, flags))
MPROF_CALL(int, connect, (int file, const sockaddr* address, socklen_t size), (file, address, size))
MPROF_CALL(int, shutdown, (int file, int how), (file, how))
MPROF_CALL(Signed, send, (int file, const void* from, Size size, int flags), (file, from, size, flags))
MPROF_CALL(Signed, sendto,
           (int file, const void* from, Size size, int flags, const sockaddr* address, socklen_t length),
           (file, from, size, flags, address, length))
MPROF_CALL(Signed, sendmsg, (int file, const msghdr* message, int flags), (file, message, flags))
MPROF_CALL(Signed, recv, (int file, void* to, Size size, int flags), (file, to, size, flags))
MPROF_CHECKED(Signed, recv, "__recv_chk", (int file, void* to, Size size, Size room, int flags),
              (file, to, size, room, flags))
MPROF_CALL(Signed, recvfrom, (int file, void* to, Size size, int flags, sockaddr* address, socklen_t* length),
           (file, to, size, flags, address, length))
MPROF_CHECKED(Signed, recvfrom, "__recvfrom_chk",
              (int file, void* to, Size size, Size room, int flags, sockaddr* address, socklen_t* length),
              (file, to, size, room, flags, address, length))
MPROF_CALL(Signed, recvmsg, (int file, msghdr* message, int flags), (file, message, flags))

// --- Time, signals and processes ---

MPROF_CALL(unsigned, sleep, (unsigned seconds), (seconds))
MPROF_CALL(int, usleep, (useconds_t time), (time))
MPROF_CALL(int, nanosleep, (const timespec* time, timespec* left), (time, left))
MPROF_CALL(int, clock_nanosleep, (clockid_t clock, int flags, const timespec* time, timespec* left),
           (clock, flags, time, left))
MPROF_CALL(int, sigwait, (const sigset_t* set, int* number), (set, number))
MPROF_CALL(int, sigwaitinfo, (const sigset_t* set, siginfo_t* about), (set, about))
MPROF_CALL(int, sigtimedwait, (const sigset_t* set, siginfo_t* about, const timespec* limit),
           (set, about, limit))
MPROF_CALL(int, sigsuspend, (const sigset_t* mask), (mask))
MPROF_CALL(pid_t, wait, (int* how), (how))
MPROF_CALL(pid_t, waitpid, (pid_t process, int* how, int flags), (process, how, flags))
MPROF_CALL(pid_t, wait3, (int* how, int flags, rusage* usage), (how, flags, usage))
MPROF_CALL(pid_t, wait4, (pid_t process, int* how, int flags, rusage* usage), (process, how, flags, usage))
MPROF_CALL(int, waitid, (idtype_t kind, id_t which, siginfo_t* about, int flags), (kind, which, about, flags))
MPROF_CALL(int, system, (const char* command), (command))

// --- POSIX threads ---

/// The versions of condition variables since 2002 where there are older ones, which have another layout.
#define MPROF_CONDITION(id, parameters, arguments) \
  MPROF_CALL_AS(id, #id, #id, "GLIBC_2.3.2", int, parameters, arguments)

using Routine = void*(void*);
MPROF_CALL(int, pthread_create,
           (pthread_t * thread, const pthread_attr_t* attributes, Routine* routine, void* argument),
           (thread, attributes, routine, argument))
MPROF_CALL(int, pthread_join, (pthread_t thread, void** result), (thread, result))
MPROF_CONDITION(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t* mutex), (condition, mutex))
MPROF_CONDITION(pthread_cond_timedwait,
                (pthread_cond_t * condition, pthread_mutex_t* mutex, const timespec* until),
                (condition, mutex, until))
MPROF_CALL(int, pthread_cond_clockwait,
           (pthread_cond_t * condition, pthread_mutex_t* mutex, clockid_t clock, const timespec* until),
           (condition, mutex, clock, until))
MPROF_CONDITION(pthread_cond_signal, (pthread_cond_t * condition), (condition))
MPROF_CONDITION(pthread_cond_broadcast, (pthread_cond_t * condition), (condition))
MPROF_CALL(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))
MPROF_CALL(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const timespec* until), (mutex, until))
MPROF_CALL(int, sem_wait, (sem_t * semaphore), (semaphore))
MPROF_CALL(int, sem_timedwait, (sem_t * semaphore, const timespec* until), (semaphore, until))
MPROF_CALL(int, sem_clockwait, (sem_t * semaphore, clockid_t clock, const timespec* until),
           (semaphore, clock, until))
MPROF_CALL(int, sem_post, (sem_t * semaphore), (semaphore))

// --- Those that are special ---

/// A lock that is free costs no look at the clock: it is not waited for. It is tried as it is taken, behind
/// whatever else stands before libc, which then sees both.
#define MPROF_LOCK(id, tried, type)                                                    \
  MPROF_FUNCTION(id, #id, #id, nullptr)                                                \
  constinit Function tried##_function{#tried, #tried, nullptr, nullptr};               \
  int id(type lock) __asm__(#id);                                                      \
  [[gnu::visibility("default")]] int id(type lock) {                                   \
    const int result = reinterpret_cast<int (*)(type)>(tried##_function.next())(lock); \
    if (result != EBUSY) return result;                                                \
    return make<int>(id##_function, __builtin_return_address(0), lock);                \
  }
MPROF_LOCK(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t*)
MPROF_LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t*)
MPROF_LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t*)

/// Functions with one more argument now and then, which is handed on as it is, whatever it means.
#define MPROF_ONE_MORE(id, type, parameters, last, arguments)             \
  MPROF_FUNCTION(id, #id, #id, nullptr)                                   \
  int id parameters __asm__(#id);                                         \
  [[gnu::visibility("default")]] int id parameters {                      \
    std::va_list more;                                                    \
    va_start(more, last);                                                 \
    const auto further = va_arg(more, type);                              \
    va_end(more);                                                         \
    using Variadic = int(MPROF_UNPACK parameters);                        \
    void* const caller = __builtin_return_address(0);                     \
    auto* const next = reinterpret_cast<Variadic*>(id##_function.next()); \
    if (!state.is_on) return next(MPROF_UNPACK arguments, further);       \
    const std::int64_t start = now();                                     \
    const int result = next(MPROF_UNPACK arguments, further);             \
    returned(id##_function, start, caller);                               \
    return result;                                                        \
  }
MPROF_ONE_MORE(open, mode_t, (const char* path, int flags, ...), flags, (path, flags))
MPROF_ONE_MORE(open64, mode_t, (const char* path, int flags, ...), flags, (path, flags))
MPROF_ONE_MORE(openat, mode_t, (int folder, const char* path, int flags, ...), flags, (folder, path, flags))
MPROF_ONE_MORE(openat64, mode_t, (int folder, const char* path, int flags, ...), flags, (folder, path, flags))
MPROF_ONE_MORE(ioctl, void*, (int file, unsigned long what, ...), what, (file, what))
MPROF_ONE_MORE(fcntl, void*, (int file, int what, ...), what, (file, what))
MPROF_ONE_MORE(fcntl64, void*, (int file, int what, ...), what, (file, what))

/// Returns twice; the child's time is not the parent's.
MPROF_FUNCTION(fork, "fork", "fork", nullptr)
pid_t fork() __asm__("fork");
[[gnu::visibility("default")]] pid_t fork() {
  auto* const next = reinterpret_cast<pid_t (*)()>(fork_function.next());
  const std::int64_t start = now();
  const pid_t child = next();
  if (child != 0 && state.is_on) returned(fork_function, start, __builtin_return_address(0));
  return child;
}

MPROF_FUNCTION(pause, "pause", "pause", nullptr)
int pause() __asm__("pause");
[[gnu::visibility("default")]] int pause() {
  return make<int>(pause_function, __builtin_return_address(0));
}

// --- The end without exit handlers ---

/// Nothing is noted of them: they do not return.
#define MPROF_ABRUPT_END(id, symbol, parameters, arguments)                  \
  constinit Function id##_function{symbol, symbol, nullptr, nullptr};        \
  [[noreturn]] void id parameters __asm__(symbol);                           \
  [[gnu::visibility("default")]] void id parameters {                        \
    end_abruptly();                                                          \
    using Ending = void(MPROF_UNPACK parameters);                            \
    reinterpret_cast<Ending*>(id##_function.next())(MPROF_UNPACK arguments); \
    ::syscall(SYS_exit_group, 127);                                          \
    __builtin_unreachable();                                                 \
  }
MPROF_ABRUPT_END(end_at_once, "_exit", (int status), (status))
MPROF_ABRUPT_END(end_at_once_by_c, "_Exit", (int status), (status))
MPROF_ABRUPT_END(abort_at_once, "abort", (), ())

}  // namespace calls

// NOLINTNEXTLINE(readability-identifier-naming): BeforeAbruptEnd, by its symbol
extern "C" [[gnu::visibility("default")]] void mprof_before_abrupt_end(void (*work)()) {
  __atomic_store_n(&before_abrupt_end, work, __ATOMIC_RELEASE);
}

}  // namespace mprof::injection
