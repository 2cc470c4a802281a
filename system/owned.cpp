// SPDX-License-Identifier: MIT
#include "system/owned.hpp"

#include <cerrno>

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mprof::owned {

bool take(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat found {};
  return ::fstat(fd, &found) == 0 && found.st_nlink > 0;
}

bool is_abandoned(int fd) {
  struct stat found {};
  if (::fstat(fd, &found) != 0 || found.st_uid != ::geteuid()) return false;
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0;
}

}  // namespace mprof::owned
