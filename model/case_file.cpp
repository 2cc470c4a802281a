// SPDX-License-Identifier: MIT
#include "model/case_file.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "model/json_archive.hpp"
#include "model/migrate/migrate.hpp"
#include "system/files.hpp"
#include "system/text_hash.hpp"

namespace mprof {
namespace {

/// Of the name without ".json": with it still well below the 255 bytes that file systems allow.
constexpr std::size_t longest_name = 200;

bool is_plain(char c) {
  constexpr std::string_view others = "_-+=,@[]";
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || (c >= '0' && c <= '9') || others.find(c) != std::string_view::npos;
}

std::string encoded(std::string_view id) {
  std::string name;
  for (const char c : id) {
    if (is_plain(c))
      name += c;
    else if (c == '/' && !name.empty())  // a name that begins with a dot is hidden
      name += '.';
    else
      name += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return name.empty() ? "%" : name;
}

}  // namespace

template <class Archive, Fields<StoredCase> S>
void fields(Archive& a, S& s) {
  a.field("schema_version", s.schema_version);
  a.field("run", s.run);
  a.field("id", s.id);
  fields(a, s.key);
  a.field("passes", s.passes);
}

namespace {

StoredCase stored_case(std::string text, const std::string& name, Allowance& allowance) {
  const json::Document document(std::move(text), name, allowance);
  require_version(document.root(), name, "file of a case of mprof", {2, run_schema_version});
  return json::from_json<StoredCase>(document, name, allowance);
}

}  // namespace

std::filesystem::path case_file(std::string_view id) {
  std::string name = encoded(id);
  if (name.size() > longest_name) {
    const std::string mark = fmt::format("~{:016x}", text_hash(id));  // no other name has a ~
    name = name.substr(0, longest_name - mark.size()) + mark;
  }
  return std::filesystem::path(case_folder) / (name + ".json");
}

bool has_results(const Case& c) {
  return std::ranges::any_of(c.passes, [](const PassResult& pass) { return pass.status != Status::pending; });
}

std::string run_stamp(const Run& run) {
  return fmt::format("{} {}", run.started, run.plan.seed);
}

std::string run_stamp(const RunPart& part) {
  return fmt::format("{} {}", part.started, part.seed);
}

std::string case_to_json(const Case& c, std::string_view stamp) {
  return json::print(
      json::to_json(StoredCase{run_schema_version, std::string(stamp), c.id, c.key, c.passes}));
}

StoredCase parse_case(std::string_view text, const std::string& name) {
  Allowance allowance;
  return stored_case(std::string(text), name, allowance);
}

StoredCase read_case(const std::filesystem::path& directory, const std::filesystem::path& file,
                     Allowance& allowance) {
  return stored_case(read_file_within(directory, file, json::largest_document), file.string(), allowance);
}

}  // namespace mprof
