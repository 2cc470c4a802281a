// SPDX-License-Identifier: MIT
// A program that waits in the ways that the operating system has, and tells when each call began and ended by
// its own clock: os_calls MODE FOLDER. Each process writes FOLDER/PID.spans, a line a call: thread, name,
// start, end (ns since 1970), and ends as MODE says.
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Span {
  int thread = 0;
  const char* name = "";
  std::int64_t start = 0;
  std::int64_t end = 0;
};

std::string folder;
std::mutex mutex;
std::vector<Span>& spans() {
  static auto* const all = new std::vector<Span>;
  return *all;
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

/// Makes a call that surely lasts, and keeps when.
template <class Make>
auto seen(const char* name, const Make& make) {
  const std::int64_t start = now();
  const auto result = make();
  const std::int64_t end = now();
  const std::lock_guard lock(mutex);
  spans().push_back({::gettid(), name, start, end});
  return result;
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s: errno %d\n", what, errno);
  std::abort();
}

void wait_in_poll(int milliseconds) {
  require(seen("poll", [&] { return ::poll(nullptr, 0, milliseconds); }) == 0, "poll");
}

/// Before main() and after it.
const struct Around {
  Around() { wait_in_poll(2); }
} around;

void write_spans() {
  const std::string path = folder + "/" + std::to_string(::getpid()) + ".spans";
  std::FILE* const file = std::fopen(path.c_str(), "we");
  require(file != nullptr, "spans");
  for (const Span& span : spans())
    std::fprintf(file, "%d %s %lld %lld\n", span.thread, span.name, static_cast<long long>(span.start),
                 static_cast<long long>(span.end));
  std::fclose(file);
}

timespec from_now(long milliseconds) {
  const std::int64_t time = now() + milliseconds * 1'000'000;
  return {time / 1'000'000'000, time % 1'000'000'000};
}

void wait_for_conditions() {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  ::pthread_mutex_lock(&lock);
  for (int i = 0; i < 2; ++i) {
    const timespec until = from_now(5);
    int result = 0;
    while (result == 0) {
      result =
          seen("pthread_cond_timedwait", [&] { return ::pthread_cond_timedwait(&condition, &lock, &until); });
    }
    require(result == ETIMEDOUT, "pthread_cond_timedwait");
  }
  bool is_said = false;
  std::thread other([&] {
    wait_in_poll(5);
    ::pthread_mutex_lock(&lock);
    is_said = true;
    ::pthread_cond_signal(&condition);
    ::pthread_mutex_unlock(&lock);
  });
  while (!is_said) seen("pthread_cond_wait", [&] { return ::pthread_cond_wait(&condition, &lock); });
  ::pthread_mutex_unlock(&lock);
  other.join();
}

/// Whether a thread of this process sleeps; one that a busy machine keeps from running does not. By system
/// calls themselves: those of libc would be noted, and are none that this program tells.
bool sleeps(int thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  const auto file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC));
  require(file >= 0, "a thread's state");
  std::array<char, 256> text{};
  const long size = ::syscall(SYS_read, file, text.data(), text.size());
  ::syscall(SYS_close, file);
  require(size > 0, "a thread's state");
  const std::string_view state(text.data(), static_cast<std::size_t>(size));
  return state.substr(state.rfind(')')).starts_with(") S");
}

void wait_for_a_lock() {
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> is_held = false;
  std::thread other([&, waiting = ::gettid()] {
    ::pthread_mutex_lock(&lock);
    is_held = true;
    while (!sleeps(waiting)) std::this_thread::yield();
    wait_in_poll(10);
    ::pthread_mutex_unlock(&lock);
  });
  while (!is_held) std::this_thread::yield();
  require(seen("pthread_mutex_lock", [&] { return ::pthread_mutex_lock(&lock); }) == 0, "lock");
  ::pthread_mutex_unlock(&lock);
  other.join();
  sem_t semaphore;
  ::sem_init(&semaphore, 0, 0);
  const timespec until = from_now(5);
  require(
      seen("sem_timedwait", [&] { return ::sem_timedwait(&semaphore, &until); }) == -1 && errno == ETIMEDOUT,
      "sem_timedwait");
}

void read_from_a_pipe() {
  std::array<int, 2> ends{};
  require(::pipe(ends.data()) == 0, "pipe");
  std::thread other([&] {
    wait_in_poll(5);
    require(::write(ends[1], "four", 4) == 4, "write");
  });
  char byte = 0;
  require(seen("read", [&] { return ::read(ends[0], &byte, 1); }) == 1 && byte == 'f', "read");
  other.join();
  int left = 0;
  require(::ioctl(ends[0], FIONREAD, &left) == 0 && left == 3, "ioctl");
  const int copy = ::fcntl(ends[0], F_DUPFD, 100);
  require(copy >= 100, "fcntl");
  ::close(copy);
  ::close(ends[0]);
  ::close(ends[1]);
}

void open_files() {
  const std::string path = folder + "/" + std::to_string(::getpid()) + ".mode";
  ::umask(0);
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0641);
  struct stat about {};
  require(file >= 0 && ::fstat(file, &about) == 0 && (about.st_mode & 0777) == 0641, "open's mode");
  ::close(file);
  errno = 0;
  require(::open((folder + "/missing").c_str(), O_RDONLY | O_CLOEXEC) == -1 && errno == ENOENT,
          "open's errno");
  errno = EDOM;
  wait_in_poll(1);
  require(errno == EDOM, "errno of a call that does well");
  void* const memory = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED && ::munmap(memory, 4096) == 0, "mmap");
}

/// In read(), a cancellation point. Not with GCC's address sanitizer, which takes its end for a fault.
void cancel_a_thread() {
#ifndef __SANITIZE_ADDRESS__
  std::array<int, 2> ends{};
  require(::pipe(ends.data()) == 0, "pipe");
  pthread_t thread{};
  ::pthread_create(
      &thread, nullptr,
      [](void* file) -> void* {
        char byte = 0;
        return ::read(*static_cast<int*>(file), &byte, 1) < 0 ? nullptr : file;
      },
      ends.data());
  wait_in_poll(2);
  ::pthread_cancel(thread);
  void* result = nullptr;
  require(::pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED, "a cancelled thread");
#endif
}

/// More than a chunk of the file holds, from several threads.
void sleep_often() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      const timespec time{0, 1000};
      for (int j = 0; j < 1500; ++j) seen("nanosleep", [&] { return ::nanosleep(&time, nullptr); });
    });
  }
  for (std::thread& thread : threads) thread.join();
}

/// Most of these are shorter than what is noted. Spans of the others, by this program's clock.
void read_often() {
  const int file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (int i = 0; i < 100'000; ++i) {
    char byte = 1;
    const std::int64_t start = now();
    require(::read(file, &byte, 1) == 1 && byte == 0, "read");
    const std::int64_t end = now();
    if (end - start >= 1000) spans().push_back({::gettid(), "short:read", start, end});
  }
  ::close(file);
}

void have_a_child() {
  const pid_t child = seen("fork", [] {
    const pid_t id = ::fork();
    if (id == 0) spans().clear();
    return id;
  });
  if (child == 0) {
    spans().clear();
    wait_in_poll(3);
    wait_in_poll(3);
    std::thread([] { wait_in_poll(3); }).join();
    write_spans();
    ::_exit(0);
  }
  int how = 0;
  require(seen("waitpid", [&] { return ::waitpid(child, &how, 0); }) == child && how == 0, "the child");
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string_view mode = arguments[1];
  folder = arguments[2];
  if (mode == "closes") {
    for (int file = 3; file < 64; ++file) ::close(file);
  } else {
    wait_in_poll(3);
    wait_for_conditions();
    wait_for_a_lock();
    read_from_a_pipe();
    open_files();
    cancel_a_thread();
    read_often();
    have_a_child();
  }
  sleep_often();
  if (mode == "exits")
    std::atexit([] {
      wait_in_poll(2);
      write_spans();
    });
  else
    write_spans();
  if (mode == "killed") ::kill(::getpid(), SIGKILL);
  if (mode == "_exits") ::_exit(0);
  return 0;
}
