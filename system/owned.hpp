// SPDX-License-Identifier: MIT
#pragma once

/// Temporary files and folders whose owner may be killed. Each is locked (flock) as long as its process
/// lives, and the next process of the same user removes what nobody holds any more.
namespace mprof::owned {

/// Locks what was just made and is open as `fd`. False when another process removes it already: make another
/// one. True also where the file system has no such locks: then nobody removes it either.
[[nodiscard]] bool take(int fd);

/// Whether what is open as `fd` is this user's, and nobody holds it: its owner is dead, and it may be
/// removed as long as `fd` is open.
[[nodiscard]] bool is_abandoned(int fd);

}  // namespace mprof::owned
