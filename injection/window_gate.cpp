// SPDX-License-Identifier: MIT
#include "injection/window_gate.hpp"

#include <cmath>
#include <cstdlib>

#include <unistd.h>

#include "model/trace/op_name.hpp"
#include "system/glob.hpp"

namespace mprof::injection {
namespace {

using trace::Window;

constexpr double ns_of_second = 1e9;                    // ns
constexpr std::int64_t longest_queue = 10'000'000'000;  // ns that work may wait on a GPU

std::optional<trace::GivenWindow> window_in_environment() {
  const char* const text = std::getenv(trace::window_variable);
  return text != nullptr ? trace::given_window(text) : std::nullopt;
}

}  // namespace

WindowGate::WindowGate(JournalWriter& journal) : journal_(journal), given_(window_in_environment()) {
  if (!given_ || given_->window.kind != Window::Kind::seconds) return;
  open(given_->since + std::llround(given_->window.from * ns_of_second));
  if (!std::isinf(given_->window.to)) close(given_->since + std::llround(given_->window.to * ns_of_second));
}

bool WindowGate::needs_ranges() const {
  return given_ &&
         (given_->window.kind == Window::Kind::steps || given_->window.kind == Window::Kind::ranges);
}

bool WindowGate::needs_profiler_calls() const {
  return given_ && given_->window.kind == Window::Kind::profiler_api;
}

void WindowGate::range_begins(std::uint64_t id, std::string_view text) {
  if (!needs_ranges()) return;
  const Window& window = given_->window;
  const std::string name(text);
  const bool is_of_steps = window.kind == Window::Kind::steps;
  if (is_of_steps ? trace::without_numbers(name) != window.range : !matches(window.range, name)) return;
  const std::int64_t time = now();
  const auto thread = static_cast<std::uint32_t>(::gettid());
  const std::lock_guard lock(mutex_);
  ++seen_;
  if (seen_ == window.first) open(time, thread);
  // A step lasts until the next one begins.
  if (is_of_steps && window.last != Window::open && seen_ == window.last + 1) close(time, thread);
  if (!is_of_steps && seen_ == window.last) last_ = id;
}

void WindowGate::range_ends(std::uint64_t id) {
  if (!needs_ranges()) return;
  const std::lock_guard lock(mutex_);
  if (last_ == 0 || id != last_) return;
  last_ = 0;
  close(now());
}

void WindowGate::profiler_starts() {
  if (needs_profiler_calls() && opened_ == never) open(now());
}

void WindowGate::profiler_stops() {
  if (needs_profiler_calls() && opened_ != never && closed_ == never) close(now());
}

bool WindowGate::is_open() const {
  if (!given_) return true;
  const std::int64_t time = now();
  return time >= opened_ && time < closed_;
}

bool WindowGate::keeps(std::int64_t start, std::int64_t end, bool is_of_gpu) const {
  if (!given_) return true;
  const std::int64_t opened = opened_, closed = closed_;
  if (opened == never || end < opened) return false;
  const std::int64_t wait = is_of_gpu && closed < never - longest_queue ? longest_queue : 0;
  return start <= closed + wait;
}

void WindowGate::open(std::int64_t time, std::uint32_t thread) {
  opened_ = time;
  write({.time = time, .opens = 1, .thread = thread});
}

void WindowGate::close(std::int64_t time, std::uint32_t thread) {
  closed_ = time;
  write({.time = time, .opens = 0, .thread = thread});
}

void WindowGate::write(const journal::WindowEdge& edge) {
  Chunk chunk;
  chunk.add_value(journal::Kind::window, edge);
  journal_.write(chunk);
}

}  // namespace mprof::injection
