// SPDX-License-Identifier: MIT
#include "tests/support/trace_reader.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/tables.hpp"

namespace mprof::test {
namespace {

using namespace trace;
using sqlite::Database;
using sqlite::Statement;

/// Reads one trace.
class Reader {
 public:
  Reader(const Database& database, const std::string& case_id) : database_(database) {
    Statement row = database_.prepare(
        "SELECT id, globalPid, start, end, firstCorrelationId, lastCorrelationId, droppedRecords, "
        "zeroTimeRecords, reversedRecords, overlappingRecords, earlyRecords, unattributedRecords, "
        "attributionDisagreements, utcEpochNs "
        "FROM MPROF_CASE, TARGET_INFO_SESSION_START_TIME WHERE caseId = ?");
    if (!row.bind(case_id).step()) return;
    found_ = true;
    session_start_ = row.integer(13);
    case_ = row.integer(0);
    process_ = row.integer(1);
    first_correlation_ = row.integer(4);
    last_correlation_ = row.integer(5);
    trace_.cases.push_back({case_id,
                            process_,
                            {row.integer(2) + session_start_, row.integer(3) + session_start_},
                            {count(row, 6), count(row, 7), count(row, 8), count(row, 9), count(row, 10),
                             count(row, 11), count(row, 12)}});
  }

  [[nodiscard]] bool found() const { return found_; }

  Trace read_all() {
    read_places();
    read_gpus();
    read_kernels();
    read_copies();
    read_sets();
    read_calls();
    read_synchronizations();
    read_overheads();
    read_ranges();
    return std::move(trace_);
  }

 private:
  static std::uint64_t count(const Statement& row, int column) {
    return static_cast<std::uint64_t>(row.integer(column));
  }
  static std::uint32_t number(const Statement& row, int column) {
    return static_cast<std::uint32_t>(row.integer(column));
  }
  [[nodiscard]] Interval interval(const Statement& row, int column) const {
    return {row.integer(column) + session_start_, row.integer(column + 1) + session_start_};
  }
  [[nodiscard]] std::int64_t correlation(const Statement& row, int column) const {
    return row.integer(column) - first_correlation_;
  }
  [[nodiscard]] PlaceIndex place(std::int64_t id) const {
    const auto found = place_of_.find(id);
    return found == place_of_.end() ? nowhere : found->second;
  }

  /// Calls visit(row) for each row of this case in a table, which may be missing.
  template <class Visit>
  void each(std::string_view table, std::string_view columns, const Visit& visit) const {
    if (!database_.has_table(table)) return;
    Statement rows = database_.prepare(
        fmt::format("SELECT start, end, correlationId, {} FROM {} WHERE correlationId BETWEEN ? AND ? "
                    "ORDER BY rowid",
                    columns, table));
    rows.bind(first_correlation_, last_correlation_);
    while (rows.step()) visit(rows);
  }

  void read_places() {
    Statement rows =
        database_.prepare("SELECT correlationId, op, part FROM MPROF_ATTRIBUTION WHERE caseId = ?");
    rows.bind(case_);
    while (rows.step()) place_of_[correlation(rows, 0)] = trace_.index_of({rows.text(1), rows.text(2)});
  }

  void read_gpus() {
    if (!database_.has_table(tables::gpus.name)) return;
    Statement rows = database_.prepare(
        "SELECT id, name, busLocation, uuid, totalMemory, l2CacheSize, memoryBandwidth, clockRate, smCount, "
        "computeMajor, computeMinor, threadsPerWarp, asyncEngines FROM TARGET_INFO_GPU ORDER BY id");
    while (rows.step()) {
      trace_.gpus.push_back({number(rows, 0),
                             rows.text(1),
                             rows.text(2),
                             rows.text(3),
                             count(rows, 4),
                             count(rows, 5),
                             count(rows, 6),
                             count(rows, 7),
                             number(rows, 8),
                             number(rows, 9),
                             number(rows, 10),
                             number(rows, 11),
                             number(rows, 12),
                             {}});
    }
  }

  [[nodiscard]] NameIndex text(std::int64_t id) {
    Statement found = database_.prepare("SELECT value FROM StringIds WHERE id = ?");
    return found.bind(id).step() ? trace_.names.index(found.text(0)) : 0;
  }
  static Queue queue(const Statement& row, int column) {
    return {number(row, column), number(row, column + 1), number(row, column + 2)};
  }
  static std::int32_t signed_number(const Statement& row, int column) {
    return static_cast<std::int32_t>(row.integer(column));
  }
  static Size size(const Statement& row, int column) {
    return {signed_number(row, column), signed_number(row, column + 1), signed_number(row, column + 2)};
  }

  void read_kernels() {
    each(tables::kernels.name,
         "deviceId, contextId, streamId, graphNodeId, mangledName, demangledName, shortName, gridX, gridY, "
         "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, "
         "localMemoryPerThread, localMemoryTotal, sharedMemoryExecuted, sharedMemoryLimitConfig, "
         "cacheConfig, launchType, gridId, globalPid",
         [&](const Statement& row) {
           trace_.kernels.push_back({.time = interval(row, 0),
                                     .correlation = correlation(row, 2),
                                     .process = row.integer(26),
                                     .name = text(row.integer(8)),
                                     .short_name = text(row.integer(9)),
                                     .mangled = text(row.integer(7)),
                                     .place = place(correlation(row, 2)),
                                     .queue = queue(row, 3),
                                     .graph_node = count(row, 6),
                                     .grid = size(row, 10),
                                     .block = size(row, 13),
                                     .registers_per_thread = number(row, 16),
                                     .static_shared_memory = number(row, 17),
                                     .dynamic_shared_memory = number(row, 18),
                                     .local_memory_per_thread = number(row, 19),
                                     .local_memory_total = count(row, 20),
                                     .shared_memory_executed = number(row, 21),
                                     .shared_memory_limit = number(row, 22),
                                     .cache_config = number(row, 23),
                                     .launch_type = number(row, 24),
                                     .grid_id = row.integer(25)});
         });
  }

  void read_copies() {
    each(
        tables::copies.name,
        "deviceId, contextId, streamId, graphNodeId, bytes, copyKind, srcKind, dstKind, copyCount, globalPid",
        [&](const Statement& row) {
          trace_.transfers.push_back({.time = interval(row, 0),
                                      .correlation = correlation(row, 2),
                                      .process = row.integer(12),
                                      .bytes = count(row, 7),
                                      .place = place(correlation(row, 2)),
                                      .queue = queue(row, 3),
                                      .kind = static_cast<TransferKind>(row.integer(8)),
                                      .source = static_cast<MemoryKind>(row.integer(9)),
                                      .destination = static_cast<MemoryKind>(row.integer(10)),
                                      .graph_node = count(row, 6),
                                      .count = count(row, 11)});
        });
  }

  void read_sets() {
    each(tables::sets.name, "deviceId, contextId, streamId, graphNodeId, value, bytes, memKind, globalPid",
         [&](const Statement& row) {
           trace_.transfers.push_back({.time = interval(row, 0),
                                       .correlation = correlation(row, 2),
                                       .process = row.integer(10),
                                       .bytes = count(row, 8),
                                       .place = place(correlation(row, 2)),
                                       .queue = queue(row, 3),
                                       .kind = TransferKind::set,
                                       .source = static_cast<MemoryKind>(row.integer(9)),
                                       .graph_node = count(row, 6),
                                       .value = number(row, 7)});
         });
  }

  void read_calls() {
    each(tables::calls.name, "eventClass, nameId, globalTid, returnValue", [&](const Statement& row) {
      const NameIndex name = text(row.integer(4));
      trace_.calls.push_back({.time = interval(row, 0),
                              .correlation = correlation(row, 2),
                              .thread = row.integer(5),
                              .name = trace_.names.index(std::string(call_name(trace_.names[name]))),
                              .versioned_name = name,
                              .place = place(correlation(row, 2)),
                              .api = static_cast<Api>(row.integer(3)),
                              .result = number(row, 6)});
    });
  }

  void read_synchronizations() {
    each(tables::synchronizations.name, "syncType, contextId, streamId, eventId, globalPid",
         [&](const Statement& row) {
           trace_.synchronizations.push_back({.time = interval(row, 0),
                                              .correlation = correlation(row, 2),
                                              .process = row.integer(7),
                                              .place = place(correlation(row, 2)),
                                              .kind = static_cast<SynchronizationKind>(row.integer(3)),
                                              .context = number(row, 4),
                                              .stream = number(row, 5),
                                              .event = number(row, 6)});
         });
  }

  void read_overheads() {
    each(tables::overheads.name, "overheadType, globalTid", [&](const Statement& row) {
      trace_.overheads.push_back({.time = interval(row, 0),
                                  .correlation = correlation(row, 2),
                                  .thread = row.integer(4),
                                  .kind = number(row, 3)});
    });
    if (!database_.has_table(tables::profiler_overheads.name)) return;
    Statement rows = database_.prepare(
        "SELECT o.start, o.end, overheadType, globalTid FROM PROFILER_OVERHEAD o JOIN MPROF_CASE c ON c.id = "
        "? "
        "WHERE o.start BETWEEN c.start AND c.end AND globalTid & ~16777215 = c.globalPid ORDER BY o.rowid");
    for (rows.bind(case_); rows.step();)
      trace_.overheads.push_back(
          {.time = interval(rows, 0), .thread = rows.integer(3), .kind = number(rows, 2)});
  }

  void add_range(const Statement& row, const std::string& domain, RangeStyle style) {
    trace_.ranges.push_back({.time = interval(row, 0),
                             .thread = row.integer(3),
                             .end_thread = row.integer(4),
                             .name = trace_.names.index(domain + ":" + row.text(2)),
                             .domain = trace_.names.index(domain),
                             .style = style});
  }

  /// mprof's own ranges from its own table, which knows their places; the others from NVTX's.
  void read_ranges() {
    Statement own = database_.prepare(
        "SELECT start, end, name, globalTid, globalTid, externalId, op, part FROM MPROF_RANGE WHERE caseId = "
        "? ORDER BY rowid");
    own.bind(case_);
    while (own.step()) {
      add_range(own, own_domain, RangeStyle::push_pop);
      trace_.ranges.back().id = count(own, 5);
      trace_.ranges.back().place = trace_.index_of({own.text(6), own.text(7)});
    }
    if (!database_.has_table(tables::ranges.name)) return;
    Statement others = database_.prepare(
        "SELECT n.start, coalesce(n.end, n.start), n.text, n.globalTid, coalesce(n.endGlobalTid, "
        "n.globalTid), coalesce(d.text, ''), n.eventType FROM NVTX_EVENTS n LEFT JOIN NVTX_EVENTS d ON "
        "d.eventType = ?1 AND d.domainId = n.domainId WHERE n.eventType != ?1 AND coalesce(d.text, '') != ?2 "
        "AND n.globalTid & ?3 = ?4 AND n.start BETWEEN ?5 AND ?6 ORDER BY n.rowid");
    const Interval& window = trace_.cases[0].window;
    others.bind(nsys::domain_created, own_domain, ~nsys::thread_mask, process_, window.start - session_start_,
                window.end - session_start_);
    while (others.step()) {
      const std::int64_t type = others.integer(6);
      add_range(others, others.text(5),
                type == nsys::mark             ? RangeStyle::mark
                : type == nsys::push_pop_range ? RangeStyle::push_pop
                                               : RangeStyle::start_end);
    }
  }

  const Database& database_;
  bool found_ = false;
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 0;
  std::int64_t process_ = 0;
  std::int64_t first_correlation_ = 0;
  std::int64_t last_correlation_ = 0;
  std::unordered_map<std::int64_t, PlaceIndex> place_of_;
  Trace trace_;
};

}  // namespace

std::optional<Trace> read_by_sql(const std::filesystem::path& file, const std::string& case_id) {
  const Database database(file, sqlite::Mode::read);
  if (!database.has_table(tables::cases.name)) return std::nullopt;
  Reader reader(database, case_id);
  if (!reader.found()) return std::nullopt;
  return reader.read_all();
}

}  // namespace mprof::test
