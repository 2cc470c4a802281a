// SPDX-License-Identifier: MIT
#include "system/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mprof {
namespace {

constexpr std::size_t most_suggestions = 3;

/// Insertions, deletions, substitutions and swaps of neighbours that turn a into b (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) table[i][0] = i;
  std::iota(table[0].begin(), table[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      table[i][j] = std::min({substituted, table[i - 1][j] + 1, table[i][j - 1] + 1});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) table[i][j] = std::min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.size()][b.size()];
}

/// A name without its family is as good as the whole one: "cpu_naiv" is near "family/cpu_naive".
std::size_t distance_to_name(std::string_view text, std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t whole = edit_distance(text, name);
  return slash == std::string_view::npos ? whole
                                         : std::min(whole, edit_distance(text, name.substr(slash + 1)));
}

}  // namespace

std::vector<std::string> nearest(std::string_view text, const std::vector<std::string>& known) {
  constexpr std::size_t short_word = 4;  // two other letters make any other word of it
  const std::size_t near = text.size() < short_word ? 1 : std::max<std::size_t>(2, text.size() / 3);
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : known) {
    const std::size_t distance = distance_to_name(text, name);
    if (distance <= near) ranked.emplace_back(distance, name);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(ranked.size(), most_suggestions); ++i)
    names.push_back(ranked[i].second);
  return names;
}

std::string did_you_mean(std::string_view text, const std::vector<std::string>& known) {
  const std::vector<std::string> names = nearest(text, known);
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list += i + 1 == names.size() ? " or " : ", ";
    list += names[i];
  }
  return list.empty() ? "" : " Did you mean " + list + "?";
}

}  // namespace mprof
