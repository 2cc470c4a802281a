#include "model/trace/reader.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"
#include "system/error.hpp"

namespace mprof::trace {
namespace {

using sqlite::Database;
using sqlite::Statement;

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
        tables::system_calls.name, tables::graphs.name, tables::cases.name}) {
    if (database.has_table(table)) return;
  }
  refuse(file, "this database has none of a trace's tables");
}

/// Names by their ids in StringIds: millions of rows share a few of them.
class StoredStrings {
 public:
  struct CallName {
    NameIndex whole = 0;
    NameIndex printed = 0;
  };

  StoredStrings(const Database& database, Names& names) : names_(names) {
    if (database.has_table(tables::string_ids.name)) {
      texts_ = database.prepare("SELECT value FROM StringIds WHERE id = ?");
    }
  }

  NameIndex name(std::int64_t id) {
    const auto [entry, is_new] = names_by_id_.try_emplace(id, 0);
    if (is_new) {
      const bool found = texts_ && texts_->bind(id).step();
      entry->second = names_.index(found ? texts_->text(0) : fmt::format("string {}", id));
    }
    return entry->second;
  }
  CallName call(std::int64_t id) {
    const auto [entry, is_new] = calls_by_id_.try_emplace(id);
    if (is_new) {
      const NameIndex whole = name(id);
      entry->second = {whole, names_.index(std::string(call_name(names_[whole])))};
    }
    return entry->second;
  }

 private:
  Names& names_;
  std::optional<Statement> texts_;
  std::unordered_map<std::int64_t, NameIndex> names_by_id_;
  std::unordered_map<std::int64_t, CallName> calls_by_id_;
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
  [[nodiscard]] std::uint32_t number(int column) const { return static_cast<std::uint32_t>(integer(column)); }
  [[nodiscard]] std::uint64_t count(int column) const { return static_cast<std::uint64_t>(integer(column)); }
  [[nodiscard]] std::optional<Size> size(int column) const {
    if (null(column)) return std::nullopt;
    return Size{static_cast<std::int32_t>(integer(column)), static_cast<std::int32_t>(integer(column + 1)),
                static_cast<std::int32_t>(integer(column + 2))};
  }
  /// The columns of deviceId, contextId, streamId.
  [[nodiscard]] Queue queue(int column) const {
    return {number(column), number(column + 1), number(column + 2)};
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
  std::set<std::int64_t> processes{};
  Interval window{};
  std::int64_t first_correlation = 0;
  std::int64_t last_correlation = 0;
};

/// Finds the case that a row belongs to. Rows of a case lie together, and cases in order, so that the last
/// answer holds, or the next one.
class Extents {
 public:
  void add(Extent extent) { extents_.push_back(std::move(extent)); }
  void add_process(CaseIndex in_case, std::int64_t process) {
    for (Extent& extent : extents_) {
      if (extent.in_case == in_case) extent.processes.insert(process);
    }
  }
  [[nodiscard]] bool empty() const { return extents_.empty(); }

  CaseIndex by_correlation(std::int64_t id) {
    return find([&](const Extent& e) { return e.first_correlation <= id && id <= e.last_correlation; });
  }
  CaseIndex by_time(std::int64_t process, std::int64_t start) {
    return find([&](const Extent& e) {
      return e.processes.contains(process) && e.window.start <= start && start <= e.window.end;
    });
  }
  [[nodiscard]] CaseIndex by_process(std::int64_t process) const {
    const auto found = std::ranges::find_if(
        extents_, [&](const Extent& extent) { return extent.processes.contains(process); });
    return found == extents_.end() ? no_case : found->in_case;
  }

 private:
  template <class Holds>
  CaseIndex find(const Holds& holds) {
    for (const std::size_t likely : {last_, last_ + 1}) {
      if (likely >= extents_.size() || !holds(extents_[likely])) continue;
      last_ = likely;
      return extents_[likely].in_case;
    }
    const auto found = std::ranges::find_if(extents_, holds);
    if (found == extents_.end()) return no_case;
    last_ = static_cast<std::size_t>(found - extents_.begin());
    return found->in_case;
  }

  std::vector<Extent> extents_;
  std::size_t last_ = 0;
};

/// The places of all that has a correlation id, as the file attributes it.
class Places {
 public:
  Places(const Database& database, Trace& trace) {
    Rows rows(database, tables::attribution.name, {"correlationId", "op", "part"}, {});
    Place last;
    PlaceIndex index = nowhere;
    while (rows.next()) {
      const Place place{rows.text(1), rows.text(2)};
      if (place != last) index = trace.index_of(place);
      last = place;
      places_.emplace_back(rows.integer(0), index);
    }
    std::ranges::sort(places_);
  }

  [[nodiscard]] PlaceIndex of(std::int64_t correlation) const {
    const auto found =
        std::ranges::lower_bound(places_, correlation, {}, &std::pair<std::int64_t, PlaceIndex>::first);
    return found == places_.end() || found->first != correlation ? nowhere : found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, PlaceIndex>> places_;
};

class Reader {
 public:
  Reader(const Database& database, const Query& query)
      : database_(database), query_(query), strings_(database, trace_.names), places_(database, trace_) {
    read_start();
    read_origin();
    read_cases();
    read_processes();
    read_gpus();
    trace_.transfer_labels = labels(nsys::copy_kinds);
    trace_.memory_labels = labels(nsys::memory_kinds);
  }

  Trace read() {
    const Parts& parts = query_.parts;
    if (parts.kernels) read_kernels();
    if (parts.kernels) read_graphs();
    if (parts.transfers) read_copies();
    if (parts.transfers) read_sets();
    if (parts.calls) read_calls();
    if (parts.system_calls) read_system_calls();
    if (parts.ranges) read_own_ranges();
    if (parts.ranges) read_ranges();
    if (parts.synchronizations) read_synchronizations();
    if (parts.overheads) read_overheads();
    if (parts.allocations) read_allocations();
    bring_cases_together(trace_.kernels);
    bring_cases_together(trace_.graphs);
    bring_cases_together(trace_.transfers);
    bring_cases_together(trace_.calls);
    bring_cases_together(trace_.system_calls);
    bring_cases_together(trace_.ranges);
    bring_cases_together(trace_.pauses);
    bring_cases_together(trace_.synchronizations);
    bring_cases_together(trace_.overheads);
    bring_cases_together(trace_.allocations);
    return std::move(trace_);
  }

 private:
  /// The case and the place of a row that is wanted.
  struct Home {
    CaseIndex in_case = no_case;
    PlaceIndex place = nowhere;
  };

  template <class Row>
  static void bring_cases_together(std::vector<Row>& rows) {
    if (!std::ranges::is_sorted(rows, {}, &Row::in_case)) std::ranges::stable_sort(rows, {}, &Row::in_case);
  }

  [[nodiscard]] bool all_cases() const { return query_.cases.empty(); }
  [[nodiscard]] bool is_wanted(const Home& home) const {
    if (home.in_case == no_case && !all_cases()) return false;
    return query_.with_pauses || trace_.places[home.place].part != part::pause;
  }

  /// By a row's correlation id; nullopt when it is not wanted.
  std::optional<Home> wanted(std::int64_t correlation) {
    const Home home{extents_.by_correlation(correlation), places_.of(correlation)};
    return is_wanted(home) ? std::optional(home) : std::nullopt;
  }

  void read_start() {
    Rows rows(database_, tables::session_start.name, {"utcEpochNs"}, {});
    if (rows.next()) trace_.epoch = rows.integer(0);
  }

  /// What the file says of itself, and of the machine.
  void read_origin() {
    std::map<std::string, std::string> facts;
    Rows rows(database_, tables::metadata.name, {"name", "value"}, {});
    while (rows.next()) facts[rows.text(0)] = rows.text(1);
    trace_.schema_version = facts["EXPORT_SCHEMA_VERSION"];
    trace_.product = facts["EXPORT_PRODUCT_VERSION"];
    const std::string& name = facts["EXPORT_PRODUCT_NAME"];
    if (!name.empty() && !trace_.product.starts_with(name))
      trace_.product = fmt::format("{} {}", name, trace_.product);
    Rows system(database_, tables::system.name, {"name", "value"}, {});
    while (system.next()) trace_.system[system.text(0)] = system.text(1);
  }

  void read_processes() {
    Rows in_cases(database_, tables::case_processes.name, {"caseId", "globalPid"}, {});
    while (in_cases.next()) {
      const auto found = cases_by_id_.find(in_cases.integer(0));
      if (found != cases_by_id_.end()) extents_.add_process(found->second, in_cases.integer(1));
    }
    Rows rows(database_, tables::processes.name, {"globalPid", "name"}, {});
    while (rows.next())
      trace_.processes.push_back({rows.integer(0), rows.text(1), extents_.by_process(rows.integer(0))});
    Rows threads(database_, tables::threads.name, {"globalTid", "nameId"}, {});
    while (threads.next())
      trace_.threads.push_back({threads.integer(0), trace_.names[strings_.name(threads.integer(1))]});
  }

  void read_cases() {
    const std::unordered_set<std::string> chosen(query_.cases.begin(), query_.cases.end());
    Rows rows(database_, tables::cases.name,
              {"start", "end", "caseId", "globalPid", "firstCorrelationId", "lastCorrelationId", "id"},
              {"droppedRecords", "zeroTimeRecords", "reversedRecords", "unattributedRecords",
               "attributionDisagreements"});
    while (rows.next()) {
      const std::string id = rows.text(2);
      if (!all_cases() && !chosen.contains(id)) continue;
      const auto index = static_cast<CaseIndex>(trace_.cases.size());
      extents_.add({index, {rows.integer(3)}, rows.interval(), rows.integer(4), rows.integer(5)});
      cases_by_id_[rows.integer(6)] = index;
      trace_.cases.push_back({id,
                              rows.integer(3),
                              rows.interval(),
                              {rows.count(7), rows.count(8), rows.count(9), rows.count(10), rows.count(11)}});
    }
  }

  void read_gpus() {
    Rows rows(
        database_, tables::gpus.name, {"id", "name"},
        {"cuDevice", "busLocation", "uuid", "totalMemory", "l2CacheSize", "memoryBandwidth", "clockRate",
         "smCount", "computeMajor", "computeMinor", "threadsPerWarp", "asyncEngines", "chipName"});
    while (rows.next()) {
      trace_.gpus.push_back({.id = rows.number(rows.null(2) ? 0 : 2),
                             .name = rows.text(1),
                             .bus_location = rows.text(3),
                             .uuid = rows.text(4),
                             .memory = rows.if_known<std::uint64_t>(5),
                             .l2_cache = rows.if_known<std::uint64_t>(6),
                             .memory_bandwidth = rows.if_known<std::uint64_t>(7),
                             .clock_rate = rows.if_known<std::uint64_t>(8),
                             .multiprocessors = rows.if_known<std::uint32_t>(9),
                             .compute_major = rows.if_known<std::uint32_t>(10),
                             .compute_minor = rows.if_known<std::uint32_t>(11),
                             .threads_per_warp = rows.if_known<std::uint32_t>(12),
                             .copy_engines = rows.if_known<std::uint32_t>(13),
                             .chip = rows.text(14)});
    }
  }

  void read_kernels() {
    Rows rows(database_, tables::kernels.name, {"start", "end"},
              {"correlationId",
               "globalPid",
               "demangledName",
               "shortName",
               "mangledName",
               "deviceId",
               "contextId",
               "streamId",
               "graphNodeId",
               "gridX",
               "gridY",
               "gridZ",
               "blockX",
               "blockY",
               "blockZ",
               "registersPerThread",
               "staticSharedMemory",
               "dynamicSharedMemory",
               "localMemoryPerThread",
               "localMemoryTotal",
               "sharedMemoryExecuted",
               "sharedMemoryLimitConfig",
               "cacheConfig",
               "launchType",
               "gridId",
               "graphId",
               "clusterX",
               "clusterY",
               "clusterZ",
               "clusterSchedulingPolicy",
               "maxPotentialClusterSize",
               "maxActiveClusters"});
    const auto name = [&](int column) {
      return rows.null(column) ? NameIndex{0} : strings_.name(rows.integer(column));
    };
    while (rows.next()) {
      const auto home = wanted(rows.integer(2));
      if (!home) continue;
      const int best_name = !rows.null(4) ? 4 : !rows.null(5) ? 5 : 6;
      trace_.kernels.push_back({.time = rows.interval(),
                                .correlation = rows.integer(2),
                                .process = rows.integer(3),
                                .name = name(best_name),
                                .short_name = name(5),
                                .mangled = name(6),
                                .in_case = home->in_case,
                                .place = home->place,
                                .queue = rows.queue(7),
                                .graph_node = rows.count(10),
                                .graph = rows.count(27),
                                .grid = rows.size(11),
                                .block = rows.size(14),
                                .registers_per_thread = rows.if_known<std::uint32_t>(17),
                                .static_shared_memory = rows.if_known<std::uint32_t>(18),
                                .dynamic_shared_memory = rows.if_known<std::uint32_t>(19),
                                .local_memory_per_thread = rows.if_known<std::uint32_t>(20),
                                .local_memory_total = rows.if_known<std::uint64_t>(21),
                                .shared_memory_executed = rows.if_known<std::uint32_t>(22),
                                .shared_memory_limit = rows.if_known<std::uint32_t>(23),
                                .cache_config = rows.if_known<std::uint32_t>(24),
                                .launch_type = rows.if_known<std::uint32_t>(25),
                                .grid_id = rows.if_known<std::int64_t>(26),
                                .cluster = rows.size(28),
                                .cluster_scheduling_policy = rows.if_known<std::uint32_t>(31),
                                .max_potential_cluster_size = rows.if_known<std::uint32_t>(32),
                                .max_active_clusters = rows.if_known<std::uint32_t>(33)});
    }
  }

  void read_graphs() {
    Rows rows(database_, tables::graphs.name, {"start", "end"},
              {"correlationId", "globalPid", "deviceId", "contextId", "streamId", "graphId", "graphExecId"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(2));
      if (!home) continue;
      trace_.graphs.push_back({.time = rows.interval(),
                               .correlation = rows.integer(2),
                               .process = rows.integer(3),
                               .graph = rows.count(7),
                               .graph_exec = rows.count(8),
                               .in_case = home->in_case,
                               .place = home->place,
                               .queue = rows.queue(4)});
    }
  }

  /// The numbers of an enumeration as the file names them: a newer nsys may know more.
  [[nodiscard]] std::unordered_map<std::uint8_t, std::string> labels(const nsys::Enumeration& known) const {
    std::unordered_map<std::uint8_t, std::string> all;
    Rows rows(database_, known.table, {"id", "label"}, {});
    while (rows.next()) {
      if (std::in_range<std::uint8_t>(rows.integer(0)))
        all[static_cast<std::uint8_t>(rows.integer(0))] = rows.text(1);
    }
    return all;
  }

  static std::optional<MemoryKind> memory(const Rows& rows, int column) {
    if (rows.null(column) || !std::in_range<std::uint8_t>(rows.integer(column))) return std::nullopt;
    return static_cast<MemoryKind>(rows.integer(column));
  }
  /// A number that stands for a memset here is none of a copy's.
  static TransferKind copy_kind(std::int64_t number) {
    constexpr auto set = static_cast<std::int64_t>(TransferKind::set);
    return number < 0 || number >= set ? TransferKind::unknown : static_cast<TransferKind>(number);
  }

  void read_copies() {
    Rows rows(database_, tables::copies.name, {"start", "end"},
              {"correlationId", "globalPid", "bytes", "deviceId", "contextId", "streamId", "copyKind",
               "srcKind", "dstKind", "graphNodeId", "copyCount"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(2));
      if (!home) continue;
      trace_.transfers.push_back({.time = rows.interval(),
                                  .correlation = rows.integer(2),
                                  .process = rows.integer(3),
                                  .bytes = rows.count(4),
                                  .in_case = home->in_case,
                                  .place = home->place,
                                  .queue = rows.queue(5),
                                  .kind = copy_kind(rows.integer(8)),
                                  .source = memory(rows, 9),
                                  .destination = memory(rows, 10),
                                  .graph_node = rows.count(11),
                                  .count = rows.if_known<std::uint64_t>(12)});
    }
  }

  void read_sets() {
    Rows rows(database_, tables::sets.name, {"start", "end"},
              {"correlationId", "globalPid", "bytes", "deviceId", "contextId", "streamId", "memKind",
               "graphNodeId", "value"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(2));
      if (!home) continue;
      trace_.transfers.push_back({.time = rows.interval(),
                                  .correlation = rows.integer(2),
                                  .process = rows.integer(3),
                                  .bytes = rows.count(4),
                                  .in_case = home->in_case,
                                  .place = home->place,
                                  .queue = rows.queue(5),
                                  .kind = TransferKind::set,
                                  .source = memory(rows, 8),
                                  .graph_node = rows.count(9),
                                  .value = rows.if_known<std::uint32_t>(10)});
    }
  }

  void read_calls() {
    Rows rows(database_, tables::calls.name, {"start", "end", "nameId"},
              {"correlationId", "globalTid", "eventClass", "returnValue"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(3));
      if (!home) continue;
      const StoredStrings::CallName name = strings_.call(rows.integer(2));
      trace_.calls.push_back({.time = rows.interval(),
                              .correlation = rows.integer(3),
                              .thread = rows.integer(4),
                              .name = name.printed,
                              .versioned_name = name.whole,
                              .in_case = home->in_case,
                              .place = home->place,
                              .api = rows.integer(5) == 1 ? Api::driver : Api::runtime,
                              .result = rows.if_known<std::uint32_t>(6)});
    }
  }

  void read_system_calls() {
    Rows rows(database_, tables::system_calls.name, {"start", "end", "nameId"},
              {"globalTid", "returnValue", "eventClass"});
    while (rows.next()) {
      // Others, such as calls of MPI, are no calls of the operating system.
      if (!rows.null(5) && rows.integer(5) != nsys::system_call_class) continue;
      const Home home{extents_.by_time(nsys::process_of(rows.integer(3)), rows.integer(0)), nowhere};
      if (!is_wanted(home)) continue;
      const NameIndex name = strings_.name(rows.integer(2));
      trace_.system_calls.push_back({.time = rows.interval(),
                                     .thread = rows.integer(3),
                                     .name = name,
                                     .versioned_name = name,
                                     .in_case = home.in_case,
                                     .result = rows.if_known<std::uint32_t>(4)});
    }
  }

  void read_synchronizations() {
    Rows rows(database_, tables::synchronizations.name, {"start", "end", "correlationId"},
              {"contextId", "streamId", "syncType", "eventId", "globalPid", "eventSyncId"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(2));
      if (!home) continue;
      trace_.synchronizations.push_back({.time = rows.interval(),
                                         .correlation = rows.integer(2),
                                         .process = rows.integer(7),
                                         .in_case = home->in_case,
                                         .place = home->place,
                                         .kind = static_cast<SynchronizationKind>(rows.integer(5)),
                                         .context = rows.number(3),
                                         .stream = rows.number(4),
                                         .event = rows.number(6),
                                         .event_sync = rows.if_known<std::uint32_t>(8)});
    }
  }

  void read_overheads() {
    Rows rows(database_, tables::overheads.name, {"start", "end", "correlationId"},
              {"globalTid", "overheadType"});
    while (rows.next()) {
      const Home home{extents_.by_correlation(rows.integer(2)), nowhere};
      if (!is_wanted(home)) continue;
      trace_.overheads.push_back({.time = rows.interval(),
                                  .correlation = rows.integer(2),
                                  .thread = rows.integer(3),
                                  .in_case = home.in_case,
                                  .kind = rows.number(4)});
    }
    read_profiler_overheads();
  }

  /// An export of Nsight Systems has no cases, and what its own injection did from the process's start.
  void read_profiler_overheads() {
    Rows rows(database_, tables::profiler_overheads.name, {"start", "end"}, {"globalTid", "overheadType"});
    while (rows.next()) {
      const Home home{extents_.by_time(nsys::process_of(rows.integer(2)), rows.integer(0)), nowhere};
      if (!is_wanted(home)) continue;
      trace_.overheads.push_back({.time = rows.interval(),
                                  .thread = rows.integer(2),
                                  .in_case = home.in_case,
                                  .kind = rows.number(3)});
    }
  }

  void read_allocations() {
    Rows rows(database_, tables::allocations.name,
              {"start", "start", "bytes", "memoryOperationType", "virtualAddress", "memKind"},
              {"correlationId", "deviceId", "contextId", "streamId", "globalPid"});
    while (rows.next()) {
      const auto home = wanted(rows.integer(6));
      if (!home) continue;
      trace_.allocations.push_back({.time = rows.interval(),
                                    .correlation = rows.integer(6),
                                    .process = rows.integer(10),
                                    .address = rows.count(4),
                                    .bytes = rows.count(2),
                                    .in_case = home->in_case,
                                    .place = home->place,
                                    .queue = rows.queue(7),
                                    .kind = memory(rows, 5).value_or(MemoryKind::unknown),
                                    .is_release = rows.integer(3) == nsys::memory_release});
    }
  }

  /// mprof's own ranges of its own cases, from the table that knows their places.
  void read_own_ranges() {
    Rows rows(database_, tables::own_ranges.name,
              {"start", "end", "caseId", "name", "globalTid", "externalId", "op", "part"}, {"isExtent"});
    const NameIndex domain = trace_.names.index(own_domain);
    while (rows.next()) {
      const auto found = cases_by_id_.find(rows.integer(2));
      if (found == cases_by_id_.end()) continue;
      const Home home{found->second, trace_.index_of({rows.text(6), rows.text(7)})};
      if (trace_.places[home.place].part == part::pause)
        trace_.pauses.push_back({rows.interval(), home.in_case});
      if (!is_wanted(home)) continue;
      trace_.ranges.push_back({.time = rows.interval(),
                               .thread = rows.integer(4),
                               .end_thread = rows.integer(4),
                               .name = range_name(own_domain, rows.text(3)),
                               .domain = domain,
                               .in_case = home.in_case,
                               .style = rows.integer(8) != 0 ? RangeStyle::extent : RangeStyle::push_pop,
                               .place = home.place,
                               .id = rows.count(5)});
    }
  }

  NameIndex range_name(std::string_view domain, std::string_view text) {
    return trace_.names.index(fmt::format("{}:{}", domain, text));
  }

  /// Domains are numbered within a process; trace.sqlite has each of them once.
  void read_domains() {
    Rows rows(database_, tables::ranges.name, {"start", "eventType"},
              {"domainId", "globalTid", "text", "textId"});
    while (rows.next()) {
      if (rows.integer(1) != nsys::domain_created) continue;
      const std::string text = rows.null(4) ? text_of(rows, 5) : rows.text(4);
      domains_.try_emplace({nsys::process_of(rows.integer(3)), rows.integer(2)}, text);
      if (!extents_.empty()) domains_.try_emplace({0, rows.integer(2)}, text);
    }
  }

  std::string text_of(const Rows& rows, int column) {
    return rows.null(column) ? std::string() : trace_.names[strings_.name(rows.integer(column))];
  }

  [[nodiscard]] std::string domain(std::int64_t process, std::int64_t id) const {
    auto found = domains_.find({process, id});
    if (found == domains_.end()) found = domains_.find({0, id});
    return found == domains_.end() ? std::string() : found->second;
  }

  /// All others. In a file that knows cases, mprof's own are there a second time.
  void read_ranges() {
    read_domains();
    Rows rows(database_, tables::ranges.name, {"start", "end", "eventType"},
              {"globalTid", "text", "textId", "domainId", "endGlobalTid"});
    while (rows.next()) {
      const std::int64_t type = rows.integer(2);
      if ((type != nsys::push_pop_range && type != nsys::start_end_range) || rows.null(1)) continue;
      const std::int64_t process = nsys::process_of(rows.integer(3));
      const Home home{extents_.by_time(process, rows.integer(0)), nowhere};
      const std::string in_domain = domain(process, rows.integer(6));
      const bool again = home.in_case != no_case && in_domain == own_domain;
      if (again || !is_wanted(home)) continue;
      const std::string text = rows.null(4) ? text_of(rows, 5) : rows.text(4);
      trace_.ranges.push_back(
          {.time = rows.interval(),
           .thread = rows.integer(3),
           .end_thread = rows.integer(rows.null(7) ? 3 : 7),
           .name = range_name(in_domain, text),
           .domain = trace_.names.index(in_domain),
           .in_case = home.in_case,
           .style = type == nsys::push_pop_range ? RangeStyle::push_pop : RangeStyle::start_end});
    }
  }

  const Database& database_;
  const Query& query_;
  Trace trace_;
  StoredStrings strings_;
  Places places_;
  Extents extents_;
  std::unordered_map<std::int64_t, CaseIndex> cases_by_id_;  ///< by the file's own numbers
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;
};

}  // namespace

Parts& Parts::operator|=(const Parts& other) {
  kernels |= other.kernels;
  transfers |= other.transfers;
  calls |= other.calls;
  system_calls |= other.system_calls;
  ranges |= other.ranges;
  synchronizations |= other.synchronizations;
  overheads |= other.overheads;
  allocations |= other.allocations;
  return *this;
}

Trace read_trace(const std::filesystem::path& file, const Query& query) {
  require_database(file);
  const Database database(file, sqlite::Mode::read);
  require_trace(database, file);
  Trace trace = Reader(database, query).read();
  const auto known = case_indices(trace);
  for (const std::string& id : query.cases) {
    if (!known.contains(id)) refuse(file, fmt::format("there is no case {} in it", id));
  }
  return trace;
}

std::vector<std::string> traced_cases(const std::filesystem::path& file) {
  std::vector<std::string> ids;
  for (const CaseInfo& one : read_trace(file, {.parts = {}}).cases) ids.push_back(one.id);
  return ids;
}

}  // namespace mprof::trace
