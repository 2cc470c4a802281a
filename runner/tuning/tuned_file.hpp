// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.hpp"

/// tuned.json: which values of its parameters are the best of each variant that `mprof tune` has searched,
/// and on what machine that was. docs/guides/tune.md explains it.
namespace mprof {

inline constexpr int tuned_schema_version = 1;
inline constexpr const char* tuned_file_name = "tuned.json";

/// What a tuned point holds for, and no other: where one of these is another one, it is stale.
struct TunedFor {
  std::map<std::string, std::string> machine{};  ///< its model, driver, toolkit and the like, by name
  std::string source{};                          ///< checksum of the variant's source
  bool operator==(const TunedFor&) const = default;
};

/// The answer of one search.
struct TunedEntry {
  std::string variant{};
  Problem problem{};
  std::string metric{};  ///< the objective
  std::string op{};      ///< of it; empty: all of them, or the whole
  Parameters fixed{};    ///< parameters with only one value in the search
  /// Values of parameters with several in the search; empty: it had all that the variant declares, or an
  /// earlier mprof did not say.
  std::map<std::string, std::vector<std::string>> searched{};
  TunedFor holds_for{};
  Parameters parameters{};          ///< the best: a value of each parameter
  double value = 0;                 ///< of the objective, SI base unit
  std::vector<double> interval{};   ///< its 95 % interval, low and high; empty: none is known
  std::string disturbed{};          ///< what disturbed the measurement; empty: nothing
  std::vector<Parameters> level{};  ///< points that it is not significantly better than
  std::string strategy{};
  std::uint64_t measured = 0;  ///< points that the search has measured
  std::uint64_t points = 0;    ///< that there were
  Tool tool{};
  std::string finished{};  ///< UTC, ISO 8601
  std::string result{};    ///< the directory with the search
  bool operator==(const TunedEntry&) const = default;
};

struct TunedFile {
  int schema_version = tuned_schema_version;
  std::vector<TunedEntry> entries{};
  bool operator==(const TunedFile&) const = default;
};

/// What holds on the machine of this record for a variant of it. Facts that it lacks are left out.
[[nodiscard]] TunedFor tuned_for(const Run& run, const VariantInfo& variant);

/// How what held differs from what holds: "gpu driver was 570.1 and is 580.2"; none where it is the same.
[[nodiscard]] std::vector<std::string> differences(const TunedFor& was, const TunedFor& is);

/// Throws Error(usage) that names the file, the field and the value: unreadable, no JSON, a missing field, a
/// wrong type, a newer schema version.
[[nodiscard]] TunedFile read_tuned(const std::filesystem::path& path);

/// Adds the entry to what is in the file, and writes it durably: at any moment the file is the old one or the
/// new one. It replaces and returns an entry of the same search (variant, problem, objective, fixed values,
/// and what it holds for). A missing file is made. Throws as read_tuned(), and Error(environment).
std::optional<TunedEntry> add_tuned(const std::filesystem::path& path, const TunedEntry& entry);

/// What a run with tuned values takes of the file. For each of the plan's variants and problems it is an
/// entry that holds on the machine of this record, with the fixed values of the plan. Of several such entries
/// it is the one of op times, or else the one that was finished last. `name` is what messages call the file.
///
/// Throws Error(incomparable) where entries of a variant and problem are all stale, with what differs. Throws
/// Error(usage) where there is nothing for any of the variants, or where a setting of the plan says
/// otherwise.
[[nodiscard]] Tuning tuning_of(const TunedFile& file, const std::string& name, const Run& run);

}  // namespace mprof
