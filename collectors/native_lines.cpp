// SPDX-License-Identifier: MIT
#include "collectors/native_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

#include "model/kernel_name.hpp"
#include "system/process.hpp"
#include "system/programs.hpp"

namespace mprof {
namespace {

using trace::StackFrame;

constexpr double most_time = 20;  // s, for the lines of all modules together

/// A function at an address, and its line as the compiler noted it.
struct Place {
  std::string function{};  ///< empty: not known, as the next
  std::string file{};
  std::uint32_t line = 0;
};

/// Of each address the functions there, the innermost of those that were inlined first.
using Places = std::map<std::uint64_t, std::vector<Place>>;

template <class Value>
bool read_at(std::ifstream& file, std::uint64_t at, Value& value) {
  file.seekg(static_cast<std::streamoff>(at));
  return bool(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

/// What a program or library tells of its machine code.
struct Debugging {
  bool has_lines = false;    ///< of source
  bool has_symbols = false;  ///< of all its functions, not of those alone that it shows to others
};

Debugging debugging_of(const std::string& module) {
  Debugging found;
  std::ifstream file(module, std::ios::binary);
  Elf64_Ehdr head{};
  Elf64_Shdr names{};
  constexpr std::string_view magic(ELFMAG, SELFMAG);
  if (!read_at(file, 0, head) ||
      std::string_view(reinterpret_cast<const char*>(head.e_ident), SELFMAG) != magic ||
      head.e_shentsize != sizeof(Elf64_Shdr) ||
      !read_at(file, head.e_shoff + std::uint64_t{head.e_shstrndx} * sizeof names, names))
    return found;
  for (std::uint64_t i = 0; i < head.e_shnum; ++i) {
    Elf64_Shdr section{};
    char text[16]{};
    if (!read_at(file, head.e_shoff + i * sizeof section, section)) return found;
    if (section.sh_type == SHT_SYMTAB) found.has_symbols = true;
    file.clear();
    if (!read_at(file, names.sh_offset + section.sh_name, text)) file.clear();  // the last name may be short
    const std::string_view name(text, ::strnlen(text, sizeof text));
    if (name == ".debug_line" || name == ".gnu_debuglink" || name == ".zdebug_line") found.has_lines = true;
  }
  return found;
}

/// Whether addr2line is asked. Where a module has neither lines nor all symbols, it would name the nearest
/// function that the module shows, which is another one.
bool is_asked(const std::string& module, const Debugging& debugging, bool lacks_names) {
  constexpr std::uintmax_t largest = std::uintmax_t{256} << 20U;  // B, of what is read for names alone
  if (debugging.has_lines) return true;
  std::error_code error;
  return lacks_names && debugging.has_symbols && std::filesystem::file_size(module, error) <= largest &&
         !error;
}

/// "/src/train.cpp:31 (discriminator 4)"; nothing of it where addr2line has question marks.
void set_line(Place& place, std::string_view text) {
  text = text.substr(0, text.find(" (discriminator"));
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || text.starts_with("??")) return;
  const std::string_view number = text.substr(colon + 1);
  if (std::from_chars(number.data(), number.data() + number.size(), place.line).ec != std::errc()) return;
  place.file = text.substr(0, colon);
}

/// Of the addresses of one module. `deadline`: by the clock.
Places places_in(const std::string& tool, const std::string& module, const std::set<std::uint64_t>& addresses,
                 const Clock& clock, double deadline) {
  std::string questions;
  // The call, not the instruction behind it.
  for (const std::uint64_t address : addresses) questions += fmt::format("{:#x}\n", address - 1);
  Process process({tool, "-a", "-f", "-i", "-C", "-e", module}, questions);
  Places places;
  std::vector<Place>* of_address = nullptr;
  bool is_function = true;
  while (true) {
    const Process::Event event = process.next(clock, deadline, -1);
    if (event.kind == Process::Event::Kind::ended) return places;
    if (event.kind != Process::Event::Kind::line) return {};
    const std::string& line = event.line;
    std::uint64_t address = 0;
    if (line.starts_with("0x")) {
      const auto [end, error] = std::from_chars(line.data() + 2, line.data() + line.size(), address, 16);
      if (error != std::errc()) return {};
      of_address = &places[address + 1];
      is_function = true;
    } else if (of_address != nullptr && is_function) {
      of_address->push_back({.function = line == "??" ? "" : line});
      is_function = false;
    } else if (of_address != nullptr) {
      set_line(of_address->back(), line);
      is_function = true;
    }
  }
}

/// What each frame of machine code becomes.
using Resolved = std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Place>>;

Resolved resolve(const trace::Trace& trace, const Clock& clock) {
  Resolved resolved;
  const auto tool = find_program("addr2line", search_path(environment_variable("PATH")));
  if (!tool) return resolved;
  std::map<std::uint32_t, std::set<std::uint64_t>> by_module;
  std::set<std::uint32_t> nameless;  // modules with a function that the process had no symbol for
  for (trace::StackIndex i = 0; i < trace.stacks.size(); ++i) {
    for (const StackFrame& frame : trace.stacks[i]) {
      if (frame.is_python() || frame.address == 0) continue;
      by_module[frame.module].insert(frame.address);
      if (frame.function == 0) nameless.insert(frame.module);
    }
  }
  const double deadline = clock.now() + most_time;
  for (const auto& [module, addresses] : by_module) {
    const std::string& path = trace.names[module];
    const Debugging debugging = debugging_of(path);
    if (!is_asked(path, debugging, nameless.contains(module))) continue;
    if (clock.now() >= deadline) break;
    for (auto& [address, places] : places_in(tool->string(), path, addresses, clock, deadline)) {
      // A file with the debug information may be named and not be there.
      if (!debugging.has_symbols) std::erase_if(places, [](const Place& place) { return place.line == 0; });
      resolved[{module, address}] = std::move(places);
    }
  }
  return resolved;
}

std::vector<StackFrame> with_lines(trace::Trace& trace, std::span<const StackFrame> stack,
                                   const Resolved& resolved) {
  std::vector<StackFrame> frames;
  for (const StackFrame& frame : stack) {
    const auto found = resolved.find({frame.module, frame.address});
    std::vector<Place> places = found == resolved.end() ? std::vector<Place>{} : found->second;
    if (frame.is_python() || places.empty()) places = {Place{}};
    for (const Place& place : places) {
      StackFrame& own = frames.emplace_back(frame);
      if (!frame.is_python() && frame.function != 0)
        own.function = trace.names.index(kernel_name(trace.names[frame.function]).whole);
      if (!place.function.empty()) own.function = trace.names.index(place.function);
      if (!place.file.empty()) own.file = trace.names.index(place.file);
      if (place.line != 0) own.line = place.line;
    }
  }
  return frames;
}

}  // namespace

void find_native_lines(trace::Trace& trace, const Clock& clock) {
  if (trace.stacks.size() <= 1) return;
  const Resolved resolved = resolve(trace, clock);
  trace::Stacks stacks;
  std::vector<trace::StackIndex> renumbered;
  for (trace::StackIndex i = 0; i < trace.stacks.size(); ++i)
    renumbered.push_back(stacks.index(with_lines(trace, trace.stacks[i], resolved)));
  trace.stacks = std::move(stacks);
  for (trace::Call& call : trace.calls) call.stack = renumbered[call.stack];
  for (trace::GraphNode& node : trace.graph_nodes) node.stack = renumbered[node.stack];
}

}  // namespace mprof
