// SPDX-License-Identifier: MIT
#include "injection/python_frames.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "injection/own_memory.hpp"

namespace mprof::injection {
namespace {

constexpr std::uint32_t minor_version = 0xFFFF0000;  // of a hexadecimal version
constexpr std::uint32_t to_be_checked = 64;          // stacks
constexpr std::size_t longest_text = 1024;           // characters
constexpr std::uintptr_t tag_bits = 7;               // of a reference to an object

/// Each word of what a process publishes about itself, from 3.13 on (_Py_DebugOffsets).
struct Published {
  std::size_t current_frame, chunk, previous, code, instruction, owner, file, function, first_line,
      instructions, type, text_state, text_length, text_size;
};
constexpr std::size_t published_version = 1, published_free_threaded = 2;
constexpr Published published_3_13{.current_frame = 23,
                                   .chunk = 26,
                                   .previous = 29,
                                   .code = 30,
                                   .instruction = 31,
                                   .owner = 33,
                                   .file = 35,
                                   .function = 37,
                                   .first_line = 39,
                                   .instructions = 43,
                                   .type = 45,
                                   .text_state = 68,
                                   .text_length = 69,
                                   .text_size = 70};
constexpr Published published_3_14{.current_frame = 26,
                                   .chunk = 29,
                                   .previous = 32,
                                   .code = 33,
                                   .instruction = 34,
                                   .owner = 36,
                                   .file = 40,
                                   .function = 42,
                                   .first_line = 44,
                                   .instructions = 48,
                                   .type = 51,
                                   .text_state = 78,
                                   .text_length = 79,
                                   .text_size = 80};
constexpr std::size_t published_words = 81;
constexpr std::uint64_t published_cookie = 0x7970677562656478;  // "xdebugpy"
constexpr std::size_t largest_offset = 4096;                    // B, of a field that makes sense

constexpr PythonLayout layout_3_9{.current_frame = 24,
                                  .previous = 24,
                                  .code = 32,
                                  .instruction = 104,
                                  .index_unit = 1,
                                  .file = 104,
                                  .function = 112,
                                  .first_line = 40,
                                  .ascii = 48,
                                  .wide = 72};
constexpr PythonLayout layout_3_10 = [] {
  PythonLayout layout = layout_3_9;
  layout.instruction = 96;
  layout.index_unit = 2;
  return layout;
}();
constexpr PythonLayout layout_3_11{.current_frame = 8,
                                   .c_frame = 56,
                                   .chunk = 296,
                                   .previous = 48,
                                   .code = 32,
                                   .instruction = 56,
                                   .instructions = 184,
                                   .file = 112,
                                   .function = 128,
                                   .first_line = 72,
                                   .ascii = 48,
                                   .wide = 72};
constexpr PythonLayout layout_3_12{.current_frame = 0,
                                   .c_frame = 56,
                                   .chunk = 232,
                                   .previous = 8,
                                   .code = 0,
                                   .instruction = 56,
                                   .owner = 70,
                                   .first_foreign = 3,
                                   .instructions = 192,
                                   .file = 112,
                                   .function = 128,
                                   .first_line = 68,
                                   .ascii = 40,
                                   .wide = 56};

std::optional<PythonLayout> published_layout(std::uint32_t version, std::span<const std::uint64_t> words) {
  if (words.size() < published_words || words[0] != published_cookie || words[published_version] != version ||
      words[published_free_threaded] != 0)
    return std::nullopt;
  const Published& at = (version & minor_version) == 0x030D0000 ? published_3_13 : published_3_14;
  constexpr std::size_t of_text = 16;  // B, of what follows the state of a text that is not ASCII
  const PythonLayout layout{.current_frame = words[at.current_frame],
                            .chunk = words[at.chunk],
                            .previous = words[at.previous],
                            .code = words[at.code],
                            .instruction = words[at.instruction],
                            .owner = words[at.owner],
                            .first_foreign = 3,
                            .instructions = words[at.instructions],
                            .file = words[at.file],
                            .function = words[at.function],
                            .first_line = words[at.first_line],
                            .type = words[at.type],
                            .text_length = words[at.text_length],
                            .text_state = words[at.text_state],
                            .ascii = words[at.text_size],
                            .wide = words[at.text_size] + of_text};
  const auto fits = [](std::size_t offset) { return offset < largest_offset; };
  const bool makes_sense = fits(layout.current_frame) && fits(layout.chunk) && fits(layout.previous) &&
                           fits(layout.code) && fits(layout.instruction) && fits(layout.owner) &&
                           fits(layout.instructions) && fits(layout.file) && fits(layout.function) &&
                           fits(layout.first_line) && fits(layout.type) && fits(layout.text_length) &&
                           fits(layout.text_state) && fits(layout.ascii);
  return makes_sense ? std::optional(layout) : std::nullopt;
}

/// A frame's memory, as far as it is looked at.
using RawFrame = std::array<char, 128>;

/// B.
std::size_t frame_size(const PythonLayout& layout) {
  const std::size_t owner = layout.owner == PythonLayout::none ? 0 : layout.owner + 1;
  const std::size_t last =
      std::max({layout.previous, layout.code, layout.instruction}) + sizeof(std::uint64_t);
  return std::min(std::max(owner, last), RawFrame().size());
}

template <class Value>
Value field(const RawFrame& frame, std::size_t at) {
  Value value{};
  if (at + sizeof value <= frame.size()) std::memcpy(&value, frame.data() + at, sizeof value);
  return value;
}

/// Memory that the calling thread may read without a check.
class ThreadMemory {
 public:
  /// `trusts`: whether any memory may be.
  explicit ThreadMemory(bool trusts) : stack_(trusts ? used_stack() : StackRange{}), trusts_(trusts) {}

  /// The memory that frames of the thread lie in, by its first chunk, with what comes before that.
  void know_chunks(std::uintptr_t first) {
    if (!trusts_ || chunks().first == first) return;
    Chunks& known = chunks();
    known = {.first = first};
    for (std::uintptr_t at = first; at != 0 && known.number < known.ranges.size();) {
      struct {
        std::uintptr_t previous;
        std::size_t size;
      } head{};
      constexpr std::size_t least = 1U << 12U, most = 1U << 30U;
      char last = 0;
      if (!read_memory(at, &head, sizeof head) || head.size < least || head.size > most ||
          !read_memory(at + head.size - 1, &last, 1))
        return;
      known.ranges[known.number++] = {at, at + head.size};
      at = head.previous;
    }
  }

  [[nodiscard]] bool get_bytes(std::uintptr_t at, void* to, std::size_t size) const {
    if (!is_known(at, size)) return read_memory(at, to, size);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in memory that is known
    std::memcpy(to, reinterpret_cast<const void*>(at), size);
    return true;
  }
  template <class Value>
  [[nodiscard]] bool get(std::uintptr_t at, Value& value) const {
    return get_bytes(at, &value, sizeof value);
  }

  /// What identifies a code object. Of one that was read before by the thread it needs no check: the frame
  /// that has it keeps it.
  [[nodiscard]] bool get_identity(const PythonLayout& layout, PythonFrame& frame) {
    std::uintptr_t& known = place_of_code(frame.code);
    if (!trusts_ || frame.code == 0 || known != frame.code) {
      if (!read_memory(frame.code + layout.function, &frame.function, sizeof frame.function) ||
          !read_memory(frame.code + layout.first_line, &frame.first_line, sizeof frame.first_line))
        return false;
      known = frame.code;
      return true;
    }
    // NOLINTBEGIN(performance-no-int-to-ptr)
    std::memcpy(&frame.function, reinterpret_cast<const void*>(frame.code + layout.function),
                sizeof frame.function);
    std::memcpy(&frame.first_line, reinterpret_cast<const void*>(frame.code + layout.first_line),
                sizeof frame.first_line);
    // NOLINTEND(performance-no-int-to-ptr)
    return true;
  }

 private:
  /// Where the thread notes a code object: it has few, and each stands in one of four places.
  static std::uintptr_t& place_of_code(std::uintptr_t code) {
    constexpr std::size_t groups = 512, of_a_group = 4;
    thread_local std::array<std::array<std::uintptr_t, of_a_group>, groups> codes{};
    thread_local std::size_t next = 0;
    constexpr std::uint64_t spread = 0x9E3779B97F4A7C15U;
    constexpr unsigned high_bits = 55;  // 512 groups
    auto& group = codes[(code * spread) >> high_bits];
    for (std::uintptr_t& one : group) {
      if (one == code) return one;
    }
    return group[next++ % of_a_group];
  }

  struct Chunks {
    std::uintptr_t first = 0;
    std::array<StackRange, 4> ranges{};
    std::size_t number = 0;
  };
  static Chunks& chunks() {
    thread_local Chunks known;
    return known;
  }

  [[nodiscard]] bool is_known(std::uintptr_t at, std::size_t size) const {
    if (!trusts_) return false;
    if (stack_.holds(at, size)) return true;
    const Chunks& known = chunks();
    for (std::size_t i = 0; i < known.number; ++i) {
      if (known.ranges[i].holds(at, size)) return true;
    }
    return false;
  }

  StackRange stack_;
  bool trusts_;
};

template <class Function>
bool find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

/// As "3.12.3 (main, ...", in hexadecimal: 0x030C03F0 without what stands for the kind of release.
std::uint32_t version_number(const char* text) {
  std::array<std::uint32_t, 3> parts{};
  std::size_t part = 0;
  for (; *text != '\0' && part < parts.size(); ++text) {
    if (*text >= '0' && *text <= '9') {
      parts[part] = parts[part] * 10 + static_cast<std::uint32_t>(*text - '0');
    } else if (*text == '.') {
      ++part;
    } else {
      break;
    }
  }
  return (parts[0] & 255U) << 24U | (parts[1] & 255U) << 16U | (parts[2] & 255U) << 8U;
}

void add_utf8(std::string& text, std::uint32_t character) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (character < 0x80U) {
    add(character);
  } else if (character < 0x800U) {
    add(0xC0U | character >> 6U);
    add(0x80U | (character & 0x3FU));
  } else if (character < 0x10000U) {
    add(0xE0U | character >> 12U);
    add(0x80U | (character >> 6U & 0x3FU));
    add(0x80U | (character & 0x3FU));
  } else {
    add(0xF0U | (character >> 18U & 7U));
    add(0x80U | (character >> 12U & 0x3FU));
    add(0x80U | (character >> 6U & 0x3FU));
    add(0x80U | (character & 0x3FU));
  }
}

}  // namespace

std::optional<PythonLayout> python_layout(std::uint32_t version, std::span<const std::uint64_t> published) {
  switch (version & minor_version) {
    case 0x03090000:
      return layout_3_9;
    case 0x030A0000:
      return layout_3_10;
    case 0x030B0000:
      return layout_3_11;
    case 0x030C0000:
      return layout_3_12;
    case 0x030D0000:
    case 0x030E0000:
      return published_layout(version, published);
    default:
      return std::nullopt;
  }
}

PythonFrames::PythonFrames() {
  const char* (*version)() = nullptr;
  void* type = nullptr;
  if (!find(this_thread_, "PyGILState_GetThisThreadState") || !find(is_initialized_, "Py_IsInitialized") ||
      !find(line_of_, "PyCode_Addr2Line") || !find(version, "Py_GetVersion") || !find(type, "PyCode_Type"))
    return;
  code_type_ = reinterpret_cast<std::uintptr_t>(type);
  version_ = version_number(version());
  std::array<std::uint64_t, published_words> words{};
  const void* const runtime = ::dlsym(RTLD_DEFAULT, "_PyRuntime");
  if (runtime == nullptr ||
      !read_memory(reinterpret_cast<std::uintptr_t>(runtime), words.data(), sizeof words))
    words = {};
  const bool publishes = words[0] == published_cookie;
  if (publishes && words[published_free_threaded] != 0) {
    state_ = State::without_lock;
    return;
  }
  const auto layout =
      python_layout(publishes ? static_cast<std::uint32_t>(words[published_version]) : version_, words);
  state_ = layout ? State::reading : State::unknown_version;
  if (layout) layout_ = *layout;
  find_code();
}

PythonFrames::PythonFrames(const PythonLayout& layout, std::uintptr_t code_type)
    : layout_(layout), state_(State::reading), code_type_(code_type) {}

/// The interpreter's segment of machine code.
void PythonFrames::find_code() {
  struct Search {
    std::uintptr_t function;
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
  } search{reinterpret_cast<std::uintptr_t>(is_initialized_)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t /*size*/, void* user) {
        auto& wanted = *static_cast<Search*>(user);
        for (std::size_t i = 0; i < module->dlpi_phnum; ++i) {
          const auto& segment = module->dlpi_phdr[i];
          const std::uintptr_t begin = module->dlpi_addr + segment.p_vaddr;
          if (segment.p_type != PT_LOAD || wanted.function < begin ||
              wanted.function >= begin + segment.p_memsz)
            continue;
          wanted.begin = begin;
          wanted.end = begin + segment.p_memsz;
          return 1;
        }
        return 0;
      },
      &search);
  code_begin_ = search.begin;
  code_end_ = search.end;
}

std::size_t PythonFrames::read(std::span<PythonFrame> frames) {
  if (state_.load(std::memory_order_relaxed) != State::reading || is_initialized_() == 0) return 0;
  return read(reinterpret_cast<std::uintptr_t>(this_thread_()), frames);
}

std::size_t PythonFrames::read(std::uintptr_t thread, std::span<PythonFrame> frames) {
  if (thread == 0 || state_.load(std::memory_order_relaxed) != State::reading) return 0;
  const bool trusts = checked_.load(std::memory_order_relaxed) >= to_be_checked;
  ThreadMemory memory(trusts);
  // A thread's own state is there as long as the thread is: what its first stacks showed needs no check
  // later.
  const auto of_thread = [&](std::size_t field, std::uintptr_t& value) {
    if (!trusts) return read_memory(thread + field, &value, sizeof value);
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    std::memcpy(&value, reinterpret_cast<const void*>(thread + field), sizeof value);
    return true;
  };
  std::uintptr_t at = 0, c_frame = 0, chunk = 0;
  bool is_read = layout_.c_frame == PythonLayout::none
                     ? of_thread(layout_.current_frame, at)
                     : of_thread(layout_.c_frame, c_frame) && memory.get(c_frame + layout_.current_frame, at);
  if (is_read && trusts && layout_.chunk != PythonLayout::none && of_thread(layout_.chunk, chunk))
    memory.know_chunks(chunk);
  std::size_t number = 0;
  while (is_read && at != 0 && number < frames.size()) {
    RawFrame raw{};
    is_read = memory.get_bytes(at, raw.data(), frame_size(layout_));
    if (!is_read) break;
    const bool has_code = layout_.owner == PythonLayout::none ||
                          field<unsigned char>(raw, layout_.owner) < layout_.first_foreign;
    if (has_code) {
      PythonFrame frame{.code = field<std::uintptr_t>(raw, layout_.code) & ~tag_bits};
      frame.offset = layout_.index_unit != 0
                         ? std::int64_t{field<std::int32_t>(raw, layout_.instruction)} *
                               static_cast<std::int64_t>(layout_.index_unit)
                         : static_cast<std::int64_t>(field<std::uintptr_t>(raw, layout_.instruction) -
                                                     (frame.code + layout_.instructions));
      is_read = memory.get_identity(layout_, frame) && (trusts || is_code(frame.code));
      if (is_read) frames[number++] = frame;
    }
    at = field<std::uintptr_t>(raw, layout_.previous);
  }
  if (!is_read) {
    state_ = State::unlike;
    return 0;
  }
  if (!trusts && number > 0) checked_.fetch_add(1, std::memory_order_relaxed);
  return number;
}

bool PythonFrames::is_code(std::uintptr_t address) const {
  std::uintptr_t type = 0;
  return read_memory(address + layout_.type, &type, sizeof type) && type == code_type_;
}

std::optional<std::string> PythonFrames::text_at(std::uintptr_t address) const {
  std::size_t length = 0;
  std::uint32_t state = 0;
  if (!read_memory(address + layout_.text_length, &length, sizeof length) ||
      !read_memory(address + layout_.text_state, &state, sizeof state))
    return std::nullopt;
  constexpr unsigned kind_bit = 2, compact_bit = 5, ascii_bit = 6;
  const std::size_t kind = state >> kind_bit & 7U;
  const bool is_compact = (state >> compact_bit & 1U) != 0, is_ascii = (state >> ascii_bit & 1U) != 0;
  if (!is_compact || (kind != 1 && kind != 2 && kind != 4)) return std::nullopt;
  length = std::min(length, longest_text);
  std::string bytes(length * kind, '\0');
  if (!read_memory(address + (is_ascii ? layout_.ascii : layout_.wide), bytes.data(), bytes.size()))
    return length == 0 ? std::optional<std::string>("") : std::nullopt;
  if (is_ascii) return bytes;
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    std::uint32_t character = 0;  // little-endian, as all machines with CUDA are
    std::memcpy(&character, bytes.data() + i * kind, kind);
    add_utf8(text, character);
  }
  return text;
}

std::optional<PythonFrames::Place> PythonFrames::place_of(const PythonFrame& frame) const {
  std::uintptr_t file = 0;
  if (!is_code(frame.code) || !read_memory(frame.code + layout_.file, &file, sizeof file))
    return std::nullopt;
  auto function = text_at(frame.function), path = text_at(file);
  if (!function || !path) return std::nullopt;
  Place place{std::move(*function), std::move(*path), 0};
  constexpr std::int64_t longest_code = std::int64_t{1} << 28U;  // B
  if (line_of_ != nullptr && frame.offset >= -2 && frame.offset < longest_code) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a code object, as was checked
    const int line = line_of_(reinterpret_cast<void*>(frame.code), static_cast<int>(frame.offset));
    place.line = static_cast<std::uint32_t>(std::max(line, 0));
  }
  return place;
}

std::string PythonFrames::obstacle() const {
  const std::string version = std::to_string(version_ >> 24U) + "." + std::to_string(version_ >> 16U & 255U);
  switch (state_.load()) {
    case State::unknown_version:
      return "Launches have no lines of Python: mprof knows the frames of Python 3.9 to 3.14, and this is " +
             version + ".";
    case State::without_lock:
      return "Launches have no lines of Python: this is a build of Python " + version +
             " without the global interpreter lock, whose frames mprof does not know.";
    case State::unlike:
      return "Launches have no lines of Python: the frames of this build of Python " + version +
             " are not what that version has.";
    case State::absent:
    case State::reading:
      return {};
  }
  return {};
}

}  // namespace mprof::injection
