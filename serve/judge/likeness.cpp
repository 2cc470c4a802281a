// SPDX-License-Identifier: MIT
#include "serve/judge/likeness.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include "system/text_hash.hpp"

namespace mprof {
namespace {

/// Tokens of a passage, and passages of which one is kept: together each passage of 19 tokens has one.
constexpr std::size_t passage = 12, window = 8;
/// Fewer fingerprints say nothing.
constexpr std::size_t fewest = 8;
/// From so many sources on, what most of them have is common.
constexpr std::size_t many_sources = 8;

constexpr std::array<std::string_view, 38> keywords{
    "alignas",   "auto",     "bool",     "break",    "case",   "char",   "class",     "const",
    "constexpr", "continue", "default",  "delete",   "do",     "double", "else",      "enum",
    "float",     "for",      "if",       "inline",   "int",    "long",   "namespace", "new",
    "operator",  "private",  "return",   "short",    "signed", "sizeof", "static",    "struct",
    "switch",    "template", "typename", "unsigned", "void",   "while"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Behind what a quote at `at` begins.
std::size_t end_of_text(std::string_view source, std::size_t at) {
  const char quote = source[at];
  for (std::size_t i = at + 1; i < source.size(); ++i) {
    if (source[i] == '\\')
      ++i;
    else if (source[i] == quote || source[i] == '\n')
      return i + 1;
  }
  return source.size();
}

/// Behind a comment or an #include at `at`; `at` where there is none.
std::size_t end_of_what_is_left_out(std::string_view source, std::size_t at) {
  const std::string_view rest = source.substr(at);
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = rest.find(end, from);
    return found == std::string_view::npos ? source.size() : at + found + end.size();
  };
  if (rest.starts_with("//") || rest.starts_with("#include")) return behind("\n", 0);
  if (rest.starts_with("/*")) return behind("*/", 2);
  return at;
}

using Fingerprints = std::set<std::uint64_t>;

std::uint64_t hash_of(std::span<const std::string> tokens) {
  std::uint64_t hash = text_hash("");
  for (const std::string& token : tokens) hash = text_hash(token + " ", hash);
  return hash;
}

std::vector<std::uint64_t> passages_of(std::string_view source) {
  const std::vector<std::string> tokens = structure_of(source);
  std::vector<std::uint64_t> hashes;
  for (std::size_t i = 0; i + passage <= tokens.size(); ++i)
    hashes.push_back(hash_of(std::span(tokens).subspan(i, passage)));
  return hashes;
}

/// Of each window the least.
Fingerprints winnowed(const std::vector<std::uint64_t>& passages) {
  Fingerprints kept;
  for (std::size_t i = 0; i + window <= passages.size(); ++i) {
    const auto begin = passages.begin() + static_cast<std::ptrdiff_t>(i);
    kept.insert(*std::min_element(begin, begin + window));
  }
  return kept;
}

void forget_common(std::vector<Fingerprints>& all) {
  if (all.size() < many_sources) return;
  std::map<std::uint64_t, std::size_t> count;
  for (const Fingerprints& one : all) {
    for (const std::uint64_t hash : one) ++count[hash];
  }
  for (Fingerprints& one : all)
    std::erase_if(one, [&](std::uint64_t hash) { return count[hash] > all.size() / 2; });
}

}  // namespace

std::vector<std::string> structure_of(std::string_view source) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (const std::size_t behind = end_of_what_is_left_out(source, at); behind != at) {
      at = behind;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\') {
      ++at;
    } else if (c == '"' || (c == '\'' && !(at > 0 && is_word(source[at - 1])))) {
      tokens.emplace_back("\"\"");
      at = end_of_text(source, at);
    } else if (is_word(c)) {
      std::size_t end = at;
      const bool is_number = std::isdigit(static_cast<unsigned char>(c)) != 0;
      while (end < source.size() &&
             (is_word(source[end]) || (is_number && (source[end] == '.' || source[end] == '\''))))
        ++end;
      const std::string_view word = source.substr(at, end - at);
      const bool is_keyword = std::ranges::find(keywords, word) != keywords.end();
      tokens.emplace_back(is_number ? std::string_view("0") : is_keyword ? word : std::string_view("name"));
      at = end;
    } else {
      tokens.emplace_back(1, c);
      ++at;
    }
  }
  return tokens;
}

std::vector<AlikePair> alike_pairs(std::span<const std::string> sources, std::string_view starter,
                                   double least) {
  const std::vector<std::uint64_t> known = passages_of(starter);
  const Fingerprints of_starter(known.begin(), known.end());
  std::vector<Fingerprints> all;
  for (const std::string& source : sources) {
    all.push_back(winnowed(passages_of(source)));
    std::erase_if(all.back(), [&](std::uint64_t hash) { return of_starter.contains(hash); });
  }
  forget_common(all);
  std::vector<AlikePair> pairs;
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      const std::size_t smaller = std::min(all[a].size(), all[b].size());
      if (smaller < fewest) continue;
      std::vector<std::uint64_t> both;
      std::ranges::set_intersection(all[a], all[b], std::back_inserter(both));
      const double share = static_cast<double>(both.size()) / static_cast<double>(smaller);
      if (share >= least) pairs.push_back({a, b, share});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), &AlikePair::share);
  return pairs;
}

}  // namespace mprof
