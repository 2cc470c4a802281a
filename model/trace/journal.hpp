// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "model/trace/launch_record.hpp"

/// The file that mprof's library in a process of somebody else's program writes: entries that are appended,
/// so that whatever ends the process leaves what was written until then. Of this machine and this build
/// alone; nothing is kept in it once its run has a trace.
namespace mprof::journal {

inline constexpr char magic[8] = {'m', 'p', 'r', 'o', 'f', 'j', 'n', '1'};
inline constexpr const char* extension = ".journal";

/// What the environment tells the library.
inline constexpr const char* folder_variable = "MPROF_JOURNALS";  ///< where its files must be
inline constexpr const char* cupti_variable = "MPROF_CUPTI";      ///< libcupti, where none is loaded
/// How often program counters are sampled: every 2^n cycles of a multiprocessor.
inline constexpr const char* sampling_variable = "MPROF_SAMPLING_PERIOD";

/// "0": no call stacks are taken.
inline constexpr const char* stacks_variable = "MPROF_STACKS";

/// What machine code that was sampled is kept as, beside the journals: "ab12.cubin", by its checksum.
inline constexpr const char* code_extension = ".cubin";

struct Head {
  char magic[8] = {};
  std::uint32_t cupti = 0;    ///< CUPTI_API_VERSION of the build, whose records follow
  std::uint32_t process = 0;  ///< the operating system's id
  std::uint32_t parent = 0;
  std::uint32_t reserved = 0;
};

enum class Kind : std::uint32_t {
  name = 1,    ///< the process's: text
  text,        ///< a std::uint64_t from 1 on, by which records name it, and the text
  record,      ///< an activity record of CUPTI; each pointer in it is the number of a text, or 0
  call,        ///< a Call, and its name
  dropped,     ///< a std::uint64_t: so many more records found no buffer
  note,        ///< text: why something is missing, a sentence
  until,       ///< a std::int64_t, ns since 1970: everything that ended before is in the file
  range,       ///< a Range that has ended
  end,         ///< nothing: the process ended by exit() or a return from main()
  kernel,      ///< a Kernel, a distinct one of the counters pass
  counts,      ///< a std::uint64_t from 0 on, by which Counted names it, and CUPTI's counter data
  counted,     ///< a Counted
  launches,    ///< a Launches; the last one of a kernel counts
  uncounted,   ///< an Uncounted, and the reason
  stopped,     ///< a std::uint64_t, the number of the kernel that stopped the program when it was counted
  begin,       ///< a Beginning
  failed,      ///< a launch_log::Launch that CUDA refused
  rank,        ///< a Rank; processes of no distributed program have none
  graph_node,  ///< a GraphNode
  window,      ///< a WindowEdge
  schema,      ///< a PayloadSchema, and its PayloadFields
  payload,     ///< a Payload, and its bytes
  stall,       ///< a std::uint32_t by which StallCount names it, and CUPTI's name of its metric
  sampled,     ///< a SampledPlace, and its StallCounts; further ones of a place add up
  stack,       ///< a std::uint64_t from 1 on, by which others name it, and its StackFrames, innermost first
  launched,    ///< StackOfLaunches, one after another
};

/// Which rank of a distributed program a process is, as its launcher's environment says.
struct Rank {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;
};

/// What the payloads of a kind consist of.
struct PayloadSchema {
  std::uint64_t domain = 0;  ///< as NVTX hands it around in this process, as in Payload
  std::uint64_t id = 0;      ///< of no other schema of the domain
  std::uint64_t size = 0;    ///< B; 0: it does not say
};

struct PayloadField {
  std::uint64_t type = 0;  ///< NVTX's, as the next
  std::uint64_t flags = 0;
  std::uint64_t offset = 0;  ///< B
  std::uint64_t name = 0;    ///< a text's number; 0: it has none
};

/// What a program attached to an NVTX range.
struct Payload {
  std::int64_t time = 0;  ///< ns since 1970, when the range began
  std::uint64_t domain = 0;
  std::uint64_t schema = 0;  ///< an id
  std::uint64_t number = 0;  ///< which range that its thread has pushed in named domains it is, from 1
  std::uint32_t thread = 0;
  std::uint32_t is_end = 0;  ///< given when the range ended: `time` is then, and `number` 0
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

/// How CUDA came up in a process.
struct Beginning {
  std::int64_t cuda = 0;     ///< ns since 1970, when it first asked something of CUDA; 0: it has not
  std::int64_t context = 0;  ///< ns since 1970, when its first context was there; 0: not yet
};

/// A node that a CUDA graph was given: by capturing a stream, by a call that adds it, or by copying another
/// one.
struct GraphNode {
  std::int64_t time = 0;       ///< ns since 1970
  std::uint64_t id = 0;        ///< CUPTI's, as the records of kernels have it
  std::uint64_t original = 0;  ///< of which it is a copy; 0: of none
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;  ///< of the launch that was captured; 0: of none
};

/// A frame of a call stack.
struct StackFrame {
  std::uint64_t function = 0;  ///< a text's number, here and below: Python's name, or a symbol; 0: not known
  std::uint64_t file = 0;      ///< the source of Python, or the program or library that has the machine code
  std::uint64_t address = 0;   ///< in that file, of the instruction after the call; 0: of Python
  std::uint32_t line = 0;      ///< of Python; 0: not known
  std::uint32_t reserved = 0;
};

/// From where a kernel or a graph was launched.
struct StackOfLaunch {
  std::uint32_t correlation = 0;  ///< of the call
  std::uint32_t stack = 0;        ///< its number
};

/// When a window of a trace opened or closed; one that closes never lasts until the process ends.
struct WindowEdge {
  std::int64_t time = 0;  ///< ns since 1970
  std::uint32_t opens = 0;
  std::uint32_t thread = 0;  ///< whose last range before that moment begins there; 0: no range does
};

/// An NVTX range, of a process in which no CUPTI records it.
struct Range {
  std::int64_t start = 0;  ///< ns since 1970
  std::int64_t end = 0;    ///< ns since 1970
  std::uint32_t thread = 0;
  std::uint32_t is_of_thread = 0;  ///< pushed and popped there; otherwise started and ended anywhere
  std::uint64_t text = 0;          ///< a text's number
  std::uint64_t domain = 0;        ///< a text's number; 0: the default one
};

/// A kernel as it is launched in an op. Numbers of kernels are this journal's.
struct Kernel {
  std::uint64_t number = 0;
  std::uint64_t symbol = 0;  ///< a text's number
  std::uint64_t op = 0;      ///< a text's number; 0: outside of all NVTX ranges
  std::uint32_t grid[3] = {};
  std::uint32_t block[3] = {};
  std::uint32_t dynamic_shared_memory = 0;      ///< B
  std::int32_t registers = -1;                  ///< per thread; -1, here and below: the driver does not say
  std::int32_t static_shared_memory = -1;       ///< B
  std::int32_t max_dynamic_shared_memory = -1;  ///< B
  std::int32_t max_threads_per_block = -1;
  std::int32_t shared_memory_carveout = -1;  ///< %; -1: the driver's choice
};

/// Where the counts of a kernel are.
struct Counted {
  std::uint64_t kernel = 0;
  std::uint64_t counts = 0;  ///< the number of the counter data, which stand before
  std::uint64_t range = 0;   ///< of these
  std::uint64_t passes = 0;  ///< how many of a CounterRequest's passes it was launched in
};

struct Launches {
  std::uint64_t kernel = 0;
  std::uint64_t launches = 0;   ///< without launches that go by before counting begins
  std::uint64_t in_graphs = 0;  ///< times that it was recorded for a CUDA graph, whose launches are not seen
};

struct Uncounted {
  std::uint64_t kernel = 0;
  std::uint64_t is_chosen = 1;  ///< 0: nobody asked for it
};

/// An instruction at which warps stood when program counters were sampled.
struct SampledPlace {
  std::uint64_t code = 0;      ///< the checksum of its module's machine code
  std::uint64_t function = 0;  ///< a text's number: the symbol
  std::uint64_t offset = 0;    ///< B, in the function
};

struct StallCount {
  std::uint32_t stall = 0;
  std::uint32_t samples = 0;
};

}  // namespace mprof::journal
