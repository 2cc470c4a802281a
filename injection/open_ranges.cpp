// SPDX-License-Identifier: MIT
#include "injection/open_ranges.hpp"

#include <iterator>
#include <utility>

#include "model/trace/op_name.hpp"
#include "system/glob.hpp"

namespace mprof::injection {

OpenRanges::OpenRanges(std::vector<std::string> ops, std::string glob)
    : ops_(std::make_move_iterator(ops.begin()), std::make_move_iterator(ops.end())),
      glob_(std::move(glob)) {}

std::optional<std::string> OpenRanges::op_of_range(bool in_default_domain, const std::string& text) const {
  const std::string name = text.empty() ? "unnamed range" : text;
  const bool is_meant = glob_.empty() || matches(glob_, name);
  if (ops_.empty()) return is_meant && in_default_domain ? std::optional(name) : std::nullopt;
  if (!is_meant) return std::nullopt;
  if (ops_.contains(name)) return name;
  std::string general = trace::without_numbers(name);
  if (ops_.contains(general)) return general;
  if (in_default_domain && ops_.contains(trace::other_ranges)) return trace::other_ranges;
  return std::nullopt;
}

void OpenRanges::begins(std::uint64_t thread, std::uint64_t id, bool in_default_domain,
                        const std::string& text) {
  std::optional<std::string> op = op_of_range(in_default_domain, text);
  if (!op) return;
  const std::lock_guard lock(mutex_);
  by_thread_[thread].push_back({id, std::move(*op)});
}

void OpenRanges::ends(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  for (auto& [thread, open] : by_thread_)
    std::erase_if(open, [&](const Open& range) { return range.id == id; });
}

std::string OpenRanges::op_of(std::uint64_t thread) const {
  const std::lock_guard lock(mutex_);
  const auto own = by_thread_.find(thread);
  if (own != by_thread_.end()) return own->second.empty() ? "" : own->second.front().op;
  const Open* last = nullptr;
  for (const auto& [other, open] : by_thread_) {
    if (!open.empty() && (last == nullptr || open.front().id > last->id)) last = &open.front();
  }
  return last != nullptr ? last->op : "";
}

}  // namespace mprof::injection
