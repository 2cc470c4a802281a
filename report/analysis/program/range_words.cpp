// SPDX-License-Identifier: MIT
#include "report/analysis/program/range_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <vector>

namespace mprof {
namespace {

/// In lower case.
std::vector<std::string> lower_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

/// One of some words, or a longer one with `part` in it.
bool has_word(std::string_view text, std::span<const std::string_view> whole, std::string_view part) {
  return std::ranges::any_of(lower_words(text), [&](const std::string& word) {
    return std::ranges::find(whole, word) != whole.end() || word.find(part) != word.npos;
  });
}

}  // namespace

bool is_garbage_collection(std::string_view range) {
  constexpr std::array<std::string_view, 1> whole{"gc"};
  return has_word(range, whole, "garbage");
}

bool is_loader(std::string_view range) {
  constexpr std::array<std::string_view, 7> whole{"load",  "loader",   "loading", "data",
                                                  "fetch", "prefetch", "dataset"};
  // "data parallel", "load balancing loss", "load checkpoint"
  constexpr std::array<std::string_view, 5> other{"parallel", "balance", "balancing", "balanced",
                                                  "checkpoint"};
  return has_word(range, whole, "dataloader") && !has_word(range, other, "imbalance");
}

}  // namespace mprof
