// SPDX-License-Identifier: MIT
#include "runner/program/family.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "model/trace/program.hpp"
#include "system/error.hpp"

namespace mprof {
namespace {

namespace fs = std::filesystem;

bool is_program_name(std::string_view text) {
  return !text.empty() && text.front() != '.' && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
  });
}

}  // namespace

FamilyInfo program_family(const std::string& title) {
  FamilyInfo family{.id = program_family_id, .title = title};
  family.nouns = {.whole = "program", .op_time_title = "Op Time", .total_time_title = "Total Time"};
  family.problems.emplace_back();
  return family;
}

std::vector<OpInfo> planned_program_ops() {
  std::vector<OpInfo> ops;
  add_program_ops(ops, {trace::whole_program});
  return ops;
}

void add_program_ops(std::vector<OpInfo>& all, const std::vector<std::string>& ops, bool is_printed) {
  for (const std::string& op : ops) {
    if (std::ranges::find(all, op, &OpInfo::name) != all.end()) continue;
    std::string title = is_printed ? "timed by the program itself" : "NVTX range " + op;
    if (op == trace::whole_program) title = "the whole program";
    if (op == trace::outside_of_ranges) title = "outside of all NVTX ranges";
    if (op == trace::other_ranges) title = "all other NVTX ranges";
    all.push_back({.name = op, .title = title});
  }
}

std::string program_name(std::string text) {
  for (char& c : text) {
    if (!is_program_name(std::string("a") + c)) c = '-';
  }
  return is_program_name(text) ? text : "program" + text;
}

void require_program_name(const std::string& name) {
  if (is_program_name(name)) return;
  throw Error(
      ExitCode::usage,
      fmt::format("'{}' is no name of a program: letters, digits, '.', '_', '-' and '+' make one.", name));
}

std::string name_of_command(const std::vector<std::string>& command) {
  const std::string program = fs::path(command.front()).filename().string();
  const bool interprets = std::ranges::any_of(
      std::initializer_list<std::string_view>{"python", "bash", "sh", "perl", "node", "torchrun", "mpirun"},
      [&](std::string_view name) { return program.starts_with(name); });
  if (!interprets) return program_name(program);
  for (const std::string& word : command) {
    const bool is_script =
        &word != &command.front() && !word.starts_with('-') && fs::path(word).has_extension();
    std::error_code error;
    if (is_script && fs::is_regular_file(word, error)) return program_name(fs::path(word).stem().string());
  }
  return program_name(program);
}

}  // namespace mprof
