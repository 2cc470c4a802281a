// SPDX-License-Identifier: MIT
#include "injection/journal_writer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace mprof::injection {
namespace {

/// What the process was started as, with its arguments.
std::string process_name() {
  std::string name;
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return name;
  std::array<char, 1024> text{};
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size > 0) name.assign(text.data(), static_cast<std::size_t>(size));
  while (!name.empty() && name.back() == '\0') name.pop_back();
  std::replace(name.begin(), name.end(), '\0', ' ');
  return name;
}

std::optional<std::uint32_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint32_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// As torchrun, Open MPI, MPICH, MVAPICH and Slurm set it, the innermost launcher first.
std::optional<journal::Rank> rank_in_environment() {
  constexpr std::array<std::pair<const char*, const char*>, 5> launchers{
      std::pair{"RANK", "WORLD_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "PMI_SIZE"},
      {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
      {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank_name, size_name] : launchers) {
    const auto rank = number_in_environment(rank_name), size = number_in_environment(size_name);
    if (rank && size && *rank < *size) return journal::Rank{*rank, *size};
  }
  return std::nullopt;
}

}  // namespace

void Chunk::add(journal::Kind kind, std::string_view bytes, std::string_view more) {
  const journal::Entry entry{kind, static_cast<std::uint32_t>(bytes.size() + more.size())};
  bytes_.append(reinterpret_cast<const char*>(&entry), sizeof entry);
  bytes_.append(bytes).append(more);
}

JournalWriter::JournalWriter(const char* folder, std::uint32_t cupti) : process_(::getpid()) {
  std::array<char, 4096> path{};
  // A process may become another program, which has a journal of its own.
  const int length = std::snprintf(path.data(), path.size(), "%s/%010d-%lld%s", folder, process_,
                                   static_cast<long long>(now()), journal::extension);
  if (length < 0 || static_cast<std::size_t>(length) >= path.size()) return;
  file_ = ::open(path.data(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (file_ >= 0) path_ = path.data();
  journal::Head head{.cupti = cupti,
                     .process = static_cast<std::uint32_t>(process_),
                     .parent = static_cast<std::uint32_t>(::getppid())};
  std::copy(std::begin(journal::magic), std::end(journal::magic), std::begin(head.magic));
  if (file_ >= 0 && ::write(file_, &head, sizeof head) != sizeof head) file_ = -1;
  Chunk chunk;
  chunk.add(journal::Kind::name, process_name());
  if (const auto rank = rank_in_environment())
    chunk.add(journal::Kind::rank, {reinterpret_cast<const char*>(&*rank), sizeof *rank});
  write(chunk);
}

void JournalWriter::write(const Chunk& chunk) {
  if (file_ < 0 || is_of_another_process()) return;
  const std::lock_guard lock(mutex_);
  for (std::string_view left = chunk.bytes(); !left.empty();) {
    const ssize_t written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {  // the disk is full: what follows half an entry could not be read
      ::close(file_);
      file_ = -1;
      return;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

void JournalWriter::note(std::string_view sentence) {
  Chunk chunk;
  chunk.add(journal::Kind::note, sentence);
  write(chunk);
}

std::uint64_t JournalWriter::text(const char* characters, Chunk& chunk) {
  if (characters == nullptr) return 0;
  const std::lock_guard lock(mutex_);
  const auto [entry, is_new] = texts_.try_emplace(characters, texts_.size() + 1);
  if (is_new) chunk.add_value(journal::Kind::text, entry->second, entry->first);
  return entry->second;
}

bool JournalWriter::is_of_another_process() const {
  return ::getpid() != process_;
}

std::int64_t now() {
  constexpr std::int64_t second = 1'000'000'000;
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * second + time.tv_nsec;
}

}  // namespace mprof::injection
