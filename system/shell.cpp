// SPDX-License-Identifier: MIT
#include "system/shell.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <wordexp.h>

#include "system/error.hpp"

namespace mprof {

std::string shell_quoted(std::string_view word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=,:@%+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> shell_words(const std::string& command) {
  wordexp_t found{};
  const int error = ::wordexp(command.c_str(), &found, WRDE_NOCMD);
  const std::vector<std::string> words =
      error == 0 ? std::vector<std::string>(found.we_wordv, found.we_wordv + found.we_wordc)
                 : std::vector<std::string>();
  if (error == 0 || error == WRDE_NOSPACE) ::wordfree(&found);
  if (error == 0 && !words.empty()) return words;
  const bool is_for_shell = error == WRDE_BADCHAR || error == WRDE_CMDSUB;
  throw Error(ExitCode::usage,
              fmt::format("'{}': {}.", command,
                          is_for_shell ? "this needs a shell: put it into a script, or write sh -c '...'"
                          : error == 0 ? "there is no command in it"
                                       : "its quotes do not match"));
}

}  // namespace mprof
