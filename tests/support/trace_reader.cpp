#include "tests/support/trace_reader.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "model/trace/nsys_schema.hpp"
#include "model/trace/sqlite.hpp"
#include "model/trace/trace_tables.hpp"

namespace mprof::test {
namespace {

using namespace trace;
using sqlite::Database;
using sqlite::Statement;

std::uint32_t thread_of(std::int64_t global) {
  return static_cast<std::uint32_t>(global & nsys::thread_mask);
}

/// Reads one trace.
class Reader {
 public:
  Reader(const Database& database, const std::string& case_id) : database_(database) {
    Statement row = database_.prepare(
        "SELECT id, globalPid, start, end, firstCorrelationId, lastCorrelationId, droppedRecords, "
        "zeroTimeRecords, reversedRecords, unattributedRecords, attributionDisagreements, utcEpochNs "
        "FROM MPROF_CASE, TARGET_INFO_SESSION_START_TIME WHERE caseId = ?");
    if (!row.bind(case_id).step()) return;
    found_ = true;
    session_start_ = row.integer(11);
    case_ = row.integer(0);
    process_ = row.integer(1);
    first_correlation_ = row.integer(4);
    last_correlation_ = row.integer(5);
    trace_.case_id = case_id;
    trace_.process = static_cast<std::uint32_t>((process_ >> nsys::process_shift) & nsys::thread_mask);
    trace_.window = {row.integer(2) + session_start_, row.integer(3) + session_start_};
    trace_.counts = {count(row, 6), count(row, 7), count(row, 8), count(row, 9), count(row, 10)};
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
  [[nodiscard]] std::uint32_t correlation(const Statement& row, int column) const {
    return static_cast<std::uint32_t>(row.integer(column) - first_correlation_);
  }
  [[nodiscard]] PlaceIndex place(std::uint32_t id) const {
    const auto found = place_of_.find(id);
    return found == place_of_.end() ? nowhere : found->second;
  }

  /// Calls visit(row) for each row of this case in a table, which may be missing.
  template <class Visit>
  void each(const tables::Table& table, std::string_view columns, const Visit& visit) const {
    if (!database_.has_table(table.name)) return;
    Statement rows = database_.prepare(
        fmt::format("SELECT start, end, correlationId, {} FROM {} WHERE correlationId BETWEEN ? AND ? "
                    "ORDER BY rowid",
                    columns, table.name));
    rows.bind(first_correlation_, last_correlation_);
    while (rows.step()) visit(rows);
  }

  /// The columns 0 to 6: start, end, correlationId, deviceId, contextId, streamId, graphNodeId.
  [[nodiscard]] GpuWork work(const Statement& row) const {
    const std::uint32_t id = correlation(row, 2);
    return {.time = interval(row, 0),
            .device = number(row, 3),
            .context = number(row, 4),
            .stream = number(row, 5),
            .correlation = id,
            .graph_node = count(row, 6),
            .place = place(id)};
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
      trace_.gpus.push_back({number(rows, 0), rows.text(1), rows.text(2), rows.text(3), count(rows, 4),
                             count(rows, 5), count(rows, 6), count(rows, 7), number(rows, 8), number(rows, 9),
                             number(rows, 10), number(rows, 11), number(rows, 12)});
    }
  }

  void read_kernels() {
    Statement texts = database_.prepare("SELECT value FROM StringIds WHERE id = ?");
    const auto text = [&](std::int64_t id) { return texts.bind(id).step() ? texts.text(0) : std::string(); };
    std::map<std::array<std::int64_t, 3>, std::uint32_t> names;
    each(tables::kernels,
         "deviceId, contextId, streamId, graphNodeId, mangledName, demangledName, shortName, gridX, gridY, "
         "gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory, "
         "localMemoryPerThread, localMemoryTotal, sharedMemoryExecuted, sharedMemoryLimitConfig, "
         "cacheConfig, launchType, gridId",
         [&](const Statement& row) {
           const std::array ids{row.integer(7), row.integer(8), row.integer(9)};
           const auto [name, is_new] =
               names.try_emplace(ids, static_cast<std::uint32_t>(trace_.symbols.size()));
           if (is_new) trace_.symbols.push_back({text(ids[0]), text(ids[1]), text(ids[2])});
           const auto signed_number = [&](int column) {
             return static_cast<std::int32_t>(row.integer(column));
           };
           trace_.kernels.push_back({.work = work(row),
                                     .symbol = name->second,
                                     .grid = {signed_number(10), signed_number(11), signed_number(12)},
                                     .block = {signed_number(13), signed_number(14), signed_number(15)},
                                     .registers_per_thread = number(row, 16),
                                     .static_shared_memory = signed_number(17),
                                     .dynamic_shared_memory = signed_number(18),
                                     .local_memory_per_thread = number(row, 19),
                                     .local_memory_total = count(row, 20),
                                     .shared_memory_executed = number(row, 21),
                                     .shared_memory_limit = number(row, 22),
                                     .cache_config = number(row, 23),
                                     .launch_type = number(row, 24) - 1,
                                     .grid_id = row.integer(25)});
         });
  }

  void read_copies() {
    each(tables::copies,
         "deviceId, contextId, streamId, graphNodeId, bytes, copyKind, srcKind, dstKind, copyCount",
         [&](const Statement& row) {
           trace_.copies.push_back({work(row), count(row, 7), static_cast<CopyKind>(row.integer(8)),
                                    static_cast<MemoryKind>(row.integer(9)),
                                    static_cast<MemoryKind>(row.integer(10)), count(row, 11)});
         });
  }

  void read_sets() {
    each(tables::sets, "deviceId, contextId, streamId, graphNodeId, value, bytes, memKind",
         [&](const Statement& row) {
           trace_.sets.push_back(
               {work(row), number(row, 7), count(row, 8), static_cast<MemoryKind>(row.integer(9))});
         });
  }

  void read_calls() {
    each(tables::calls, "eventClass, (SELECT value FROM StringIds WHERE id = nameId), globalTid, returnValue",
         [&](const Statement& row) {
           const std::uint32_t id = correlation(row, 2);
           trace_.calls.push_back({interval(row, 0), static_cast<Api>(row.integer(3)), row.text(4),
                                   thread_of(row.integer(5)), id, number(row, 6), place(id)});
         });
  }

  void read_synchronizations() {
    each(tables::synchronizations, "syncType, contextId, streamId, eventId", [&](const Statement& row) {
      const std::uint32_t id = correlation(row, 2);
      trace_.synchronizations.push_back({interval(row, 0), static_cast<SynchronizationKind>(row.integer(3)),
                                         number(row, 4), number(row, 5), number(row, 6), id, place(id)});
    });
  }

  void read_overheads() {
    each(tables::overheads, "overheadType, globalTid", [&](const Statement& row) {
      trace_.overheads.push_back(
          {interval(row, 0), number(row, 3), thread_of(row.integer(4)), correlation(row, 2)});
    });
  }

  /// mprof's own ranges from its own table, which knows their places; the others from NVTX's.
  void read_ranges() {
    Statement own = database_.prepare(
        "SELECT start, end, name, globalTid, externalId, op, part FROM MPROF_RANGE WHERE caseId = ? "
        "ORDER BY rowid");
    own.bind(case_);
    while (own.step()) {
      const std::uint32_t thread = thread_of(own.integer(3));
      trace_.ranges.push_back({interval(own, 0), own.text(2), own_domain, thread, thread, count(own, 4),
                               trace_.index_of({own.text(5), own.text(6)})});
    }
    if (!database_.has_table(tables::ranges.name)) return;
    Statement others = database_.prepare(
        "SELECT n.start, coalesce(n.end, n.start), n.text, coalesce(d.text, ''), n.globalTid, "
        "coalesce(n.endGlobalTid, "
        "n.globalTid) FROM NVTX_EVENTS n LEFT JOIN NVTX_EVENTS d ON d.eventType = ?1 AND d.domainId = "
        "n.domainId WHERE n.eventType != ?1 AND coalesce(d.text, '') != ?2 AND n.globalTid & ?3 = ?4 AND "
        "n.start BETWEEN ?5 AND ?6 ORDER BY n.rowid");
    others.bind(nsys::domain_created, own_domain, ~nsys::thread_mask, process_,
                trace_.window.start - session_start_, trace_.window.end - session_start_);
    while (others.step()) {
      trace_.ranges.push_back({interval(others, 0), others.text(2), others.text(3),
                               thread_of(others.integer(4)), thread_of(others.integer(5)), 0, nowhere});
    }
  }

  const Database& database_;
  bool found_ = false;
  std::int64_t session_start_ = 0;
  std::int64_t case_ = 0;
  std::int64_t process_ = 0;
  std::int64_t first_correlation_ = 0;
  std::int64_t last_correlation_ = 0;
  std::unordered_map<std::uint32_t, PlaceIndex> place_of_;
  Trace trace_;
};

}  // namespace

std::optional<Trace> read_trace(const std::filesystem::path& file, const std::string& case_id) {
  const Database database(file, sqlite::Mode::read);
  if (!database.has_table(tables::cases.name)) return std::nullopt;
  Reader reader(database, case_id);
  if (!reader.found()) return std::nullopt;
  return reader.read_all();
}

}  // namespace mprof::test
