#pragma once

#include <cstdint>

/// The file that mprof's library in a process of somebody else's program writes: entries that are appended,
/// so that whatever ends the process leaves what was written until then. Of this machine and this build
/// alone; nothing is kept in it once its run has a trace.
namespace mprof::journal {

inline constexpr char magic[8] = {'m', 'p', 'r', 'o', 'f', 'j', 'n', '1'};
inline constexpr const char* extension = ".journal";

/// What the library is told by its environment.
inline constexpr const char* folder_variable = "MPROF_JOURNALS";  ///< where its files are to be
inline constexpr const char* cupti_variable = "MPROF_CUPTI";      ///< libcupti, where none is loaded

struct Head {
  char magic[8] = {};
  std::uint32_t cupti = 0;    ///< CUPTI_API_VERSION of the build, whose records follow
  std::uint32_t process = 0;  ///< the operating system's id
  std::uint32_t parent = 0;
  std::uint32_t reserved = 0;
};

enum class Kind : std::uint32_t {
  name = 1,  ///< the process's: text
  text,      ///< a std::uint64_t from 1 on, by which records name it, and the text
  record,    ///< an activity record of CUPTI; each pointer in it is the number of a text, or 0
  call,      ///< a Call, and its name
  dropped,   ///< a std::uint64_t: so many more records found no buffer
  note,      ///< text: why something is missing, a sentence
  until,     ///< a std::int64_t, ns since 1970: everything that ended before is in the file
  range,     ///< a Range that has ended
  end,       ///< nothing: the process ended by exit() or a return from main()
};

/// Stands before each entry's bytes.
struct Entry {
  Kind kind = Kind::note;
  std::uint32_t size = 0;  ///< B, of what follows
};

struct Call {
  std::uint32_t is_driver = 0;  ///< otherwise the runtime's
  std::uint32_t id = 0;         ///< CUPTI's
};

/// An NVTX range, of a process in which no CUPTI records it.
struct Range {
  std::int64_t start = 0;  ///< ns since 1970
  std::int64_t end = 0;    ///< likewise
  std::uint32_t thread = 0;
  std::uint32_t is_of_thread = 0;  ///< pushed and popped there; otherwise started and ended anywhere
  std::uint64_t text = 0;          ///< a text's number
  std::uint64_t domain = 0;        ///< likewise; 0: the default one
};

}  // namespace mprof::journal
