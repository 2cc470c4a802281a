// SPDX-License-Identifier: MIT
#include "injection/call_stacks.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace mprof::injection {
namespace {

constexpr std::size_t most_frames = 256;             // of Python
constexpr std::size_t most_stacks = 100'000;         // of a process
constexpr std::size_t written_together = 1U << 15U;  // B

/// FNV-1a over 64-bit words, with the bits of each spread over it.
class Hash {
 public:
  void add(std::uint64_t word) {
    constexpr std::uint64_t prime = 1'099'511'628'211U, spread = 0x9E3779B97F4A7C15U;
    constexpr unsigned half = 32;
    value_ = (value_ ^ (word * spread)) * prime;
    value_ ^= value_ >> half;
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14'695'981'039'346'656'037U;
};

std::string_view name_of_file(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);  // all of it where there is no slash
}

}  // namespace

std::uint32_t CallStacks::take(std::uint32_t correlation) {
  // Of a thread: no other call of CUDA comes in between.
  thread_local std::array<PythonFrame, most_frames> frames;
  const std::span python(frames.data(), python_.read(frames));
  const NativeStack* const native = native_.take(python.empty() ? nullptr : &python_);
  if (python.empty() && native == nullptr) return 0;
  const std::lock_guard lock(mutex_);
  const std::uint32_t number = number_of(python, native);
  if (number == 0) return 0;
  const journal::StackOfLaunch launch{correlation, number};
  launches_.append(reinterpret_cast<const char*>(&launch), sizeof launch);
  if (launches_.size() >= written_together) write_launches();
  return number;
}

void CallStacks::write_launches() {
  Chunk chunk;
  chunk.add(journal::Kind::launched, std::exchange(launches_, {}));
  journal_.write(chunk);
}

void CallStacks::write() {
  const std::lock_guard writing(writing_);
  std::vector<NewStack> stacks;
  {
    const std::lock_guard lock(mutex_);
    stacks.swap(new_stacks_);
    if (!launches_.empty()) write_launches();
  }
  for (const NewStack& stack : stacks) write(stack);
  if (has_noted_obstacle_) return;
  if (const std::string obstacle = python_.obstacle(); !obstacle.empty()) {
    journal_.note(obstacle);
    has_noted_obstacle_ = true;
  }
}

std::uint32_t CallStacks::number_of(std::span<const PythonFrame> python, const NativeStack* native) {
  Hash hash;
  for (const PythonFrame& frame : python) {
    hash.add(frame.code);
    hash.add(static_cast<std::uint64_t>(frame.offset));
    hash.add(frame.function);
    hash.add(frame.first_line);
  }
  hash.add(native != nullptr ? native->number : 0);
  const auto known = numbers_.find(hash.value());
  if (known != numbers_.end()) return known->second;
  if (numbers_.size() >= most_stacks) return 0;
  const auto number = static_cast<std::uint32_t>(numbers_.size() + 1);
  numbers_.emplace(hash.value(), number);
  NewStack& stack = new_stacks_.emplace_back(NewStack{.number = number, .native = native});
  for (const PythonFrame& frame : python) {
    if (auto place = python_.place_of(frame)) stack.python.push_back(std::move(*place));
  }
  return number;
}

void CallStacks::write(const NewStack& stack) {
  Chunk chunk;
  std::string frames;
  const auto add = [&](const journal::StackFrame& frame) {
    frames.append(reinterpret_cast<const char*>(&frame), sizeof frame);
  };
  bool is_below_launches = true;
  for (const std::uintptr_t address :
       stack.native != nullptr ? stack.native->returns : std::vector<std::uintptr_t>{}) {
    const Module module = module_of(address);
    is_below_launches = is_below_launches && module.is_below_launches;
    if (is_below_launches) continue;
    const auto text = [&](const std::string& characters) {
      return characters.empty() ? 0 : journal_.text(characters.c_str(), chunk);
    };
    add({.function = text(module.symbol), .file = text(module.path), .address = address - module.base});
  }
  for (const PythonFrames::Place& place : stack.python)
    add({.function = journal_.text(place.function.c_str(), chunk),
         .file = journal_.text(place.file.c_str(), chunk),
         .line = place.line});
  chunk.add_value(journal::Kind::stack, stack.number, frames);
  journal_.write(chunk);
}

CallStacks::Module CallStacks::module_of(std::uintptr_t address) {
  Dl_info found{};
  link_map* map = nullptr;
  // The call before the address, which may be the last instruction of its function.
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on a stack
  if (::dladdr1(reinterpret_cast<void*>(address - 1), &found, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
      found.dli_fname == nullptr || map == nullptr)
    return {};
  Module module{found.dli_fname, map->l_addr, found.dli_sname != nullptr ? found.dli_sname : ""};
  // The program itself is named as it was called: its path is known for sure here alone.
  if (map->l_name == nullptr || *map->l_name == '\0') {
    std::array<char, 4096> path{};
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
    if (length > 0) module.path.assign(path.data(), static_cast<std::size_t>(length));
  }
  constexpr std::array<std::string_view, 4> below{"libmprof_", "libcupti.so", "libcuda.so", "libcudart.so"};
  const std::string_view name = name_of_file(module.path);
  module.is_below_launches =
      std::any_of(below.begin(), below.end(), [&](std::string_view part) { return name.starts_with(part); });
  return module;
}

}  // namespace mprof::injection
