// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"

namespace mprof::trace::tables {

/// Names by their ids in StringIds: millions of rows share a few of them.
class StoredStrings final : public FromFile {
 public:
  StoredStrings(const sqlite::Database& database, Names& names) : names_(names) {
    if (database.has_table(string_ids.name)) {
      texts_ = database.prepare(fmt::format("SELECT value FROM main.{} WHERE id = ?", string_ids.name));
    }
  }

  NameIndex name(std::int64_t string) override {
    const auto [entry, is_new] = names_by_id_.try_emplace(string, 0);
    if (is_new) {
      const bool found = texts_ && texts_->bind(string).step();
      entry->second = names_.index(found ? texts_->only_text() : fmt::format("string {}", string));
    }
    return entry->second;
  }
  const std::string& text(std::int64_t string) override { return names_[name(string)]; }
  CallName call(std::int64_t string) override {
    const auto [entry, is_new] = calls_by_id_.try_emplace(string);
    if (is_new) {
      const NameIndex whole = name(string);
      entry->second = {whole, names_.index(std::string(call_name(names_[whole])))};
    }
    return entry->second;
  }

 private:
  Names& names_;
  std::optional<sqlite::Statement> texts_;
  std::unordered_map<std::int64_t, NameIndex> names_by_id_;
  std::unordered_map<std::int64_t, CallName> calls_by_id_;
};

}  // namespace mprof::trace::tables
