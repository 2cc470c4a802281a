#include "model/trace/profile.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/trace_tables.hpp"
#include "system/error.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

/// Which trace.sqlite has not: calls of the C library.
constexpr std::string_view system_call_table = "OSRT_API";

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  throw Error(
      ExitCode::usage,
      fmt::format("{}: {}. Give a result directory with a trace.sqlite, or a database that `nsys export "
                  "--type sqlite` made.",
                  file.string(), why));
}

/// SQLite itself takes an empty file for an empty database, and says of any other file that it is damaged.
void require_database(const std::filesystem::path& file) {
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse(file, "this is a directory");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) refuse(file, "there is no such file, or it may not be read");
  std::string head(magic.size(), ' ');
  stream.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head != magic) refuse(file, "this is no SQLite database");
}

void require_trace(const Database& database, const std::filesystem::path& file) {
  for (const std::string_view table :
       {tables::kernels.name, tables::calls.name, tables::copies.name, tables::sets.name, tables::ranges.name,
        system_call_table, tables::cases.name}) {
    if (database.has_table(table)) return;
  }
  refuse(file, "this database has none of a trace's tables");
}

/// nsys prints cudaLaunchKernel for cudaLaunchKernel_v7000, and leaves versions of five digits where they
/// are.
std::string_view without_version(std::string_view name) {
  constexpr std::size_t length = 6;  // _v7000
  if (name.size() <= length) return name;
  const std::string_view tail = name.substr(name.size() - length);
  const bool digits =
      std::all_of(tail.begin() + 2, tail.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return tail.starts_with("_v") && digits ? name.substr(0, name.size() - length) : name;
}

/// The names of a profile, each once.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}

  NameIndex index(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, is_new] = known_.try_emplace(text, static_cast<NameIndex>(names_.size()));
    if (is_new) names_.push_back(text);
    return entry->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, NameIndex> known_;
};

/// Names by their ids in StringIds: millions of rows share a few of them.
class Strings {
 public:
  Strings(const Database& database, Names& names) : names_(names) {
    if (database.has_table(tables::string_ids.name)) {
      texts_ = database.prepare("SELECT value FROM StringIds WHERE id = ?");
    }
  }

  NameIndex name(std::int64_t id) {
    return known(names_by_id_, id, [](const std::string& text) { return text; });
  }
  NameIndex call(std::int64_t id) {
    return known(calls_by_id_, id,
                 [](const std::string& text) { return std::string(without_version(text)); });
  }

 private:
  template <class Text>
  NameIndex known(std::unordered_map<std::int64_t, NameIndex>& by_id, std::int64_t id, const Text& text) {
    const auto [entry, is_new] = by_id.try_emplace(id, 0);
    if (is_new) {
      const bool found = texts_ && texts_->bind(id).step();
      entry->second = names_.index(text(found ? texts_->text(0) : fmt::format("string {}", id)));
    }
    return entry->second;
  }

  Names& names_;
  std::optional<Statement> texts_;
  std::unordered_map<std::int64_t, NameIndex> names_by_id_;
  std::unordered_map<std::int64_t, NameIndex> calls_by_id_;
};

/// The rows of a table, with NULL for the columns that it lacks.
class Rows {
 public:
  /// `optional` columns follow the `required` ones, without which there are no rows.
  Rows(const Database& database, std::string_view table, std::initializer_list<std::string_view> required,
       std::initializer_list<std::string_view> optional) {
    const std::set<std::string, std::less<>> there = columns_of(database, table);
    std::string columns;
    for (const std::string_view column : required) {
      if (!there.contains(column)) return;
      columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column);
    }
    for (const std::string_view column : optional) {
      columns += there.contains(column) ? fmt::format(", \"{}\"", column) : ", NULL";
    }
    statement_ = database.prepare(fmt::format("SELECT {} FROM {} ORDER BY rowid", columns, table));
  }

  bool next() { return statement_ && statement_->step(); }
  [[nodiscard]] bool null(int column) const { return statement_->null(column); }
  [[nodiscard]] std::int64_t integer(int column) const { return statement_->integer(column); }
  [[nodiscard]] std::string text(int column) const { return statement_->text(column); }
  [[nodiscard]] Interval interval() const { return {integer(0), integer(1)}; }
  template <class Integer>
  [[nodiscard]] std::optional<Integer> if_known(int column) const {
    if (null(column)) return std::nullopt;
    return static_cast<Integer>(integer(column));
  }
  [[nodiscard]] std::optional<std::array<std::int32_t, 3>> size(int column) const {
    if (null(column)) return std::nullopt;
    return std::array{static_cast<std::int32_t>(integer(column)),
                      static_cast<std::int32_t>(integer(column + 1)),
                      static_cast<std::int32_t>(integer(column + 2))};
  }
  /// The columns of deviceId, contextId, streamId.
  [[nodiscard]] Queue queue(int column) const {
    return {integer(column), integer(column + 1), integer(column + 2)};
  }

 private:
  static std::set<std::string, std::less<>> columns_of(const Database& database, std::string_view table) {
    std::set<std::string, std::less<>> names;
    Statement rows = database.prepare("SELECT name FROM pragma_table_info(?)");
    rows.bind(table);
    while (rows.step()) names.insert(rows.text(0));
    return names;
  }

  std::optional<Statement> statement_;
};

/// A case's share of the file.
struct Extent {
  CaseIndex in_case = no_case;
  std::int64_t process = 0;
  Interval window{};
  std::int64_t first_correlation = 0;
  std::int64_t last_correlation = 0;
};

/// Finds the case that a row belongs to. Rows of a case lie together, so the last answer mostly holds.
class Extents {
 public:
  void add(const Extent& extent) { extents_.push_back(extent); }
  [[nodiscard]] bool empty() const { return extents_.empty(); }

  CaseIndex by_correlation(std::int64_t id) {
    return find([&](const Extent& e) { return e.first_correlation <= id && id <= e.last_correlation; });
  }
  CaseIndex by_time(std::int64_t process, std::int64_t start) {
    return find([&](const Extent& e) {
      return e.process == process && e.window.start <= start && start <= e.window.end;
    });
  }

 private:
  template <class Holds>
  CaseIndex find(const Holds& holds) {
    if (last_ < extents_.size() && holds(extents_[last_])) return extents_[last_].in_case;
    const auto found = std::ranges::find_if(extents_, holds);
    if (found == extents_.end()) return no_case;
    last_ = static_cast<std::size_t>(found - extents_.begin());
    return found->in_case;
  }

  std::vector<Extent> extents_;
  std::size_t last_ = 0;
};

class Reader {
 public:
  Reader(const Database& database, const ProfileQuery& query)
      : database_(database), query_(query), names_(profile_.names), strings_(database, names_) {
    read_cases();
    read_gpus();
    if (!query_.with_pauses) read_pauses();
  }

  Profile read() {
    const ProfileParts& parts = query_.parts;
    if (parts.kernels) read_kernels();
    if (parts.transfers) read_copies();
    if (parts.transfers) read_sets();
    if (parts.calls) read_calls();
    if (parts.system_calls) read_system_calls();
    if (parts.ranges) read_ranges();
    if (parts.attributions) read_attributions();
    bring_cases_together(profile_.kernels);
    bring_cases_together(profile_.transfers);
    bring_cases_together(profile_.calls);
    bring_cases_together(profile_.system_calls);
    bring_cases_together(profile_.ranges);
    return std::move(profile_);
  }

 private:
  template <class Row>
  static void bring_cases_together(std::vector<Row>& rows) {
    if (!std::ranges::is_sorted(rows, {}, &Row::in_case)) std::ranges::stable_sort(rows, {}, &Row::in_case);
  }

  [[nodiscard]] bool all_cases() const { return query_.cases.empty(); }

  /// The case of a row that is wanted, by its correlation id; nullopt when it is not.
  std::optional<CaseIndex> wanted(std::int64_t correlation) {
    if (!pauses_.empty() && pauses_.contains(correlation)) return std::nullopt;
    return wanted_case(extents_.by_correlation(correlation));
  }
  [[nodiscard]] std::optional<CaseIndex> wanted_case(CaseIndex found) const {
    if (found == no_case && !all_cases()) return std::nullopt;
    return found;
  }

  void read_cases() {
    if (!database_.has_table(tables::cases.name)) return;
    Rows rows(database_, tables::cases.name,
              {"start", "end", "caseId", "globalPid", "firstCorrelationId", "lastCorrelationId"},
              {"droppedRecords", "zeroTimeRecords", "reversedRecords", "unattributedRecords",
               "attributionDisagreements"});
    const auto count = [&](int column) { return static_cast<std::uint64_t>(rows.integer(column)); };
    while (rows.next()) {
      const std::string id = rows.text(2);
      if (!all_cases() && std::ranges::find(query_.cases, id) == query_.cases.end()) continue;
      extents_.add({static_cast<CaseIndex>(profile_.cases.size()), rows.integer(3), rows.interval(),
                    rows.integer(4), rows.integer(5)});
      profile_.cases.push_back({id, {count(6), count(7), count(8), count(9), count(10)}});
    }
  }

  void read_pauses() {
    Rows rows(database_, tables::attribution.name, {"correlationId", "part"}, {});
    while (rows.next()) {
      if (rows.text(1) == part::pause) pauses_.insert(rows.integer(0));
    }
  }

  void read_gpus() {
    Rows rows(database_, tables::gpus.name, {"id", "name"}, {"cuDevice"});
    while (rows.next())
      profile_.gpus.try_emplace(rows.null(2) ? rows.integer(0) : rows.integer(2), rows.text(1));
  }

  void read_kernels() {
    Rows rows(database_, tables::kernels.name, {"start", "end"},
              {"correlationId", "globalPid", "demangledName", "shortName", "mangledName", "gridX", "gridY",
               "gridZ", "blockX", "blockY", "blockZ", "registersPerThread", "staticSharedMemory",
               "dynamicSharedMemory", "deviceId", "contextId", "streamId"});
    while (rows.next()) {
      const std::int64_t correlation = rows.integer(2);
      const auto in_case = wanted(correlation);
      if (!in_case) continue;
      const int name = !rows.null(4) ? 4 : !rows.null(5) ? 5 : 6;
      profile_.kernels.push_back({.time = rows.interval(),
                                  .correlation = correlation,
                                  .process = rows.integer(3),
                                  .name = strings_.name(rows.integer(name)),
                                  .in_case = *in_case,
                                  .grid = rows.size(7),
                                  .block = rows.size(10),
                                  .registers_per_thread = rows.if_known<std::uint32_t>(13),
                                  .static_shared_memory = rows.if_known<std::uint32_t>(14),
                                  .dynamic_shared_memory = rows.if_known<std::uint32_t>(15),
                                  .queue = rows.queue(16)});
    }
  }

  /// Names of an enumeration's numbers as the file has them, since a newer nsys may know more; else as we
  /// know them.
  std::map<std::int64_t, NameIndex> labels(const nsys::Enumeration& known, std::string_view pattern = "{}") {
    std::map<std::int64_t, NameIndex> all;
    const auto name = [&](std::string_view label) {
      return names_.index(fmt::format(fmt::runtime(pattern), label));
    };
    Rows rows(database_, known.table, {"id", "label"}, {});
    while (rows.next()) all[rows.integer(0)] = name(rows.text(1));
    for (const nsys::EnumRow& row : known.rows) all.try_emplace(row.id, name(row.label));
    return all;
  }

  /// What kind of memory; 0 when it is not known.
  static NameIndex label(const std::map<std::int64_t, NameIndex>& labels, const Rows& rows, int column) {
    const auto found = labels.find(rows.integer(column));
    return rows.null(column) || found == labels.end() ? NameIndex{0} : found->second;
  }

  void read_copies() {
    const auto operations = labels(nsys::copy_kinds, "[CUDA memcpy {}]");
    const auto memory = labels(nsys::memory_kinds);
    const NameIndex unknown = names_.index("[CUDA memcpy Unknown]");
    Rows rows(
        database_, tables::copies.name, {"start", "end"},
        {"correlationId", "bytes", "copyKind", "srcKind", "dstKind", "deviceId", "contextId", "streamId"});
    while (rows.next()) {
      const auto in_case = wanted(rows.integer(2));
      if (!in_case) continue;
      const NameIndex operation = label(operations, rows, 4);
      profile_.transfers.push_back({.time = rows.interval(),
                                    .correlation = rows.integer(2),
                                    .bytes = static_cast<std::uint64_t>(rows.integer(3)),
                                    .operation = operation == 0 ? unknown : operation,
                                    .source = label(memory, rows, 5),
                                    .destination = label(memory, rows, 6),
                                    .in_case = *in_case,
                                    .queue = rows.queue(7)});
    }
  }

  void read_sets() {
    const auto memory = labels(nsys::memory_kinds);
    const NameIndex memset = names_.index("[CUDA memset]");
    Rows rows(database_, tables::sets.name, {"start", "end"},
              {"correlationId", "bytes", "memKind", "deviceId", "contextId", "streamId"});
    while (rows.next()) {
      const auto in_case = wanted(rows.integer(2));
      if (!in_case) continue;
      profile_.transfers.push_back({.time = rows.interval(),
                                    .correlation = rows.integer(2),
                                    .bytes = static_cast<std::uint64_t>(rows.integer(3)),
                                    .operation = memset,
                                    .source = label(memory, rows, 4),
                                    .in_case = *in_case,
                                    .queue = rows.queue(5)});
    }
  }

  void read_calls() {
    Rows rows(database_, tables::calls.name, {"start", "end", "nameId"},
              {"correlationId", "globalTid", "eventClass", "returnValue"});
    while (rows.next()) {
      const auto in_case = wanted(rows.integer(3));
      if (!in_case) continue;
      profile_.calls.push_back({.time = rows.interval(),
                                .correlation = rows.integer(3),
                                .thread = rows.integer(4),
                                .name = strings_.call(rows.integer(2)),
                                .in_case = *in_case,
                                .api = rows.integer(5) == 1 ? Api::driver : Api::runtime,
                                .result = rows.if_known<std::uint32_t>(6)});
    }
  }

  void read_system_calls() {
    Rows rows(database_, system_call_table, {"start", "end", "nameId"}, {"globalTid"});
    while (all_cases() && rows.next()) {
      profile_.system_calls.push_back(
          {.time = rows.interval(), .thread = rows.integer(3), .name = strings_.name(rows.integer(2))});
    }
  }

  /// Domains are numbered within a process; trace.sqlite has each of them once.
  void read_domains() {
    Rows rows(database_, tables::ranges.name, {"start", "eventType"},
              {"domainId", "globalTid", "text", "textId"});
    while (rows.next()) {
      if (rows.integer(1) != nsys::domain_created) continue;
      const std::string text = rows.null(4) ? text_of(rows, 5) : rows.text(4);
      domains_.try_emplace({rows.integer(3) & ~nsys::thread_mask, rows.integer(2)}, text);
      if (!extents_.empty()) domains_.try_emplace({0, rows.integer(2)}, text);
    }
  }

  std::string text_of(const Rows& rows, int column) {
    return rows.null(column) ? std::string() : profile_.names[strings_.name(rows.integer(column))];
  }

  [[nodiscard]] std::string domain(std::int64_t process, std::int64_t id) const {
    auto found = domains_.find({process, id});
    if (found == domains_.end()) found = domains_.find({0, id});
    return found == domains_.end() ? std::string() : found->second;
  }

  void read_ranges() {
    read_domains();
    Rows rows(database_, tables::ranges.name, {"start", "end", "eventType"},
              {"globalTid", "text", "textId", "domainId"});
    while (rows.next()) {
      const std::int64_t type = rows.integer(2);
      if ((type != nsys::push_pop_range && type != nsys::start_end_range) || rows.null(1)) continue;
      const std::int64_t process = rows.integer(3) & ~nsys::thread_mask;
      const auto in_case = wanted_case(extents_.by_time(process, rows.integer(0)));
      if (!in_case) continue;
      const std::string text = rows.null(4) ? text_of(rows, 5) : rows.text(4);
      const std::string in_domain = domain(process, rows.integer(6));
      if (!query_.with_pauses && in_domain == own_domain && text == part::pause) continue;
      profile_.ranges.push_back(
          {.time = rows.interval(),
           .thread = rows.integer(3),
           .name = names_.index(in_domain + ":" + text),
           .in_case = *in_case,
           .style = type == nsys::push_pop_range ? RangeStyle::push_pop : RangeStyle::start_end});
    }
  }

  void read_attributions() {
    Rows rows(database_, tables::attribution.name, {"correlationId", "op", "part"}, {});
    while (rows.next()) {
      if (!wanted(rows.integer(0))) continue;
      profile_.attributions.push_back(
          {rows.integer(0), names_.index(rows.text(1)), names_.index(rows.text(2))});
    }
    std::ranges::sort(profile_.attributions, {}, &Attribution::correlation);
  }

  const Database& database_;
  const ProfileQuery& query_;
  Profile profile_;
  Names names_;
  Strings strings_;
  Extents extents_;
  std::unordered_set<std::int64_t> pauses_;  ///< correlation ids
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;
};

}  // namespace

ProfileParts& ProfileParts::operator|=(const ProfileParts& other) {
  kernels |= other.kernels;
  transfers |= other.transfers;
  calls |= other.calls;
  system_calls |= other.system_calls;
  ranges |= other.ranges;
  attributions |= other.attributions;
  return *this;
}

std::optional<CaseIndex> Profile::find_case(const std::string& id) const {
  const auto found = std::ranges::find(cases, id, &ProfiledCase::id);
  if (found == cases.end()) return std::nullopt;
  return static_cast<CaseIndex>(found - cases.begin());
}

const Attribution* Profile::find_attribution(std::int64_t correlation) const {
  const auto found = std::ranges::lower_bound(attributions, correlation, {}, &Attribution::correlation);
  return found == attributions.end() || found->correlation != correlation ? nullptr : &*found;
}

Profile read_profile(const std::filesystem::path& file, const ProfileQuery& query) {
  require_database(file);
  const Database database(file, sqlite::Mode::read);
  require_trace(database, file);
  Profile profile = Reader(database, query).read();
  for (const std::string& id : query.cases) {
    if (!profile.find_case(id)) refuse(file, fmt::format("there is no case {} in it", id));
  }
  return profile;
}

std::vector<std::string> profiled_cases(const std::filesystem::path& file) {
  std::vector<std::string> ids;
  for (const ProfiledCase& one : read_profile(file, {.parts = {}, .with_pauses = true}).cases)
    ids.push_back(one.id);
  return ids;
}

}  // namespace mprof::trace
